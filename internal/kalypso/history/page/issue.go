package page

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// issue is something that is wrong now, or in progress.
type issue struct {
	Environment *environment
	State       string
	Where       string // cluster type or deployment target; "": the environment
	What        string
	Clusters    string
	Since       time.Time
}

// The page shows the first issues at once, and more of them after a click. The matrix has all of them.
const (
	shownIssues = 12
	mostIssues  = 200
)

// issues are the issues of the page, the worst first.
type issues []issue

// Listed returns the issues that the page lists. Only the matrix shows the others.
func (all issues) Listed() issues { return all[:min(mostIssues, len(all))] }

// First returns the issues that are shown at once.
func (all issues) First() issues { return all[:min(shownIssues, len(all))] }

// Rest returns the issues that are shown after a click.
func (all issues) Rest() issues { return all.Listed()[len(all.First()):] }

// Left returns the number of issues that only the matrix shows.
func (all issues) Left() int { return len(all) - len(all.Listed()) }

// findIssues lists what the data reports: problems of clusters, targets that are not current, deliveries that failed or
// did not complete.
func findIssues(all []*environment) (wrong, progressing issues) {
	var found []issue
	for _, e := range all {
		found = append(found, e.clusterIssues()...)
		found = append(found, e.targetIssues()...)
		found = append(found, e.deliveryIssues()...)
	}
	place := func(i issue) int { return slices.Index(all, i.Environment) }
	slices.SortFunc(found, func(a, b issue) int {
		return cmp.Or(cmp.Compare(rank(b.State), rank(a.State)), cmp.Compare(place(a), place(b)),
			cmp.Compare(a.Where, b.Where), cmp.Compare(a.What, b.What), cmp.Compare(a.Clusters, b.Clusters),
			cmp.Compare(a.State, b.State))
	})
	for _, i := range found {
		if i.State == string(deployment.StateProgressing) {
			progressing = append(progressing, i)
		} else {
			wrong = append(wrong, i)
		}
	}
	return wrong, progressing
}

// clusterIssues joins the problems of a folder that only differ in their clusters. A verdict other than success is an
// issue even without problems.
func (e *environment) clusterIssues() []issue {
	if e.State == nil {
		return nil
	}
	type key struct{ folder, state, message string }
	clusters := map[key][]string{}
	for _, p := range e.State.Problems {
		k := key{p.Folder, string(p.State.Reported(p.Failing)), p.Message}
		clusters[k] = append(clusters[k], p.Cluster)
	}
	var all []issue
	if len(clusters) == 0 && e.State.Verdict != deployment.Success { // a source did not answer, for example
		all = append(all, issue{Environment: e, State: string(e.State.Verdict), What: e.State.Summary})
	}
	for k, names := range clusters {
		slices.Sort(names)
		all = append(all, issue{
			Environment: e, State: k.state, Where: k.folder, What: k.message, Clusters: problem.First(names, 6),
			Since: e.State.Folders[k.folder].Since,
		})
	}
	return all
}

// targetIssues lists the versions of deployment targets that are not current. It adds the targets that the state
// reports as failed, unless the history does so too.
func (e *environment) targetIssues() []issue {
	all := e.versionIssues()
	if e.State == nil {
		return all
	}
	known := map[string]bool{}
	for _, i := range all {
		known[i.Where] = known[i.Where] || i.State == string(deployment.StateFailed)
	}
	names := map[int][]string{} // of targets, by their number of failed clusters
	for name, t := range e.State.Targets {
		if t.Failed > 0 && !known[name] {
			names[t.Failed] = append(names[t.Failed], name)
		}
	}
	for n, targets := range names {
		slices.Sort(targets)
		all = append(all, issue{Environment: e, State: string(deployment.StateFailed), Clusters: problem.Count(n, "cluster"),
			Where: problem.First(targets, 6), What: "the deployment state reports failed clusters"})
	}
	return all
}

func (e *environment) versionIssues() []issue {
	if e.History == nil {
		return nil
	}
	type key struct{ target, version, state string }
	clusters, messages := map[key][]string{}, map[key]string{}
	for _, r := range e.History.Runs {
		if r.Until.IsZero() {
			k := key{r.Target, r.Version.Version, r.State}
			clusters[k] = append(clusters[k], r.Cluster)
			if r.Message != "" && (messages[k] == "" || r.Message < messages[k]) {
				messages[k] = r.Message
			}
		}
	}
	var all []issue
	for _, v := range e.History.Versions {
		if rank(v.State) == 0 || v.Target == "" && e.State != nil {
			continue // clusterIssues has the problems of cluster types
		}
		k := key{v.Target, v.Version, v.State}
		slices.Sort(clusters[k])
		what := messages[k]
		if v.Version != "" {
			what = strings.TrimSuffix("version "+v.Version+": "+what, ": ")
		}
		names := problem.First(clusters[k], 6)
		if len(clusters[k]) < v.Clusters { // the argument limit cut off some runs
			names = problem.Count(v.Clusters, "cluster")
		}
		all = append(all, issue{Environment: e, State: v.State, Where: v.Target, What: what, Clusters: names,
			Since: v.Since})
	}
	return all
}

// deliveryIssues returns the newest failed delivery, unless a later delivery restored the environment. It also returns
// the newest delivery if it is in progress.
func (e *environment) deliveryIssues() []issue {
	var all []issue
	for i, d := range e.Deliveries {
		name := "Delivery of " + cmp.Or(d.Promoted.Short(), d.GitOps.Short())
		switch {
		case d.Failed && d.RestoredAt.IsZero():
			return append(all, issue{Environment: e, State: string(deployment.StateFailed),
				What: name + " failed: " + d.Reason, Since: cmp.Or(d.FailedAt, d.StartedAt)})
		case d.Failed || d.Complete():
			return all
		case i == 0:
			all = append(all, issue{Environment: e, State: string(deployment.StateProgressing),
				What: name + " is not complete: " + d.Reason, Since: d.StartedAt})
		}
	}
	return all
}
