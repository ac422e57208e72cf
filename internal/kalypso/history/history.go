// Package history computes the deliveries to an environment from the commits of its GitOps branch and of its control
// plane, and the runs on clusters from observations. It does no I/O; the implementations of [Store] are in packages
// below this one.
package history

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/rollout"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
)

// Kind is the kind of a delivery.
type Kind string

// The kinds.
const (
	First     Kind = "first"     // nothing was delivered before
	Rollback  Kind = "rollback"  // it restores the state before the previous delivery
	Promotion Kind = "promotion" // the promoted commit changes
	Change    Kind = "change"    // the promoted commit stays
)

// Input contains the inputs of a history.
type Input struct {
	// Branch is the first-parent history of the GitOps branch, newest first.
	Branch []Commit
	// Complete says that Branch reaches back to the first commit. Otherwise, the oldest commit only shows the state before
	// the deliveries.
	Complete bool
	// ControlPlane is the first-parent history of the control plane's branch, newest first. It may be cut off at its
	// end.
	ControlPlane []Source
	// Observed lists the observations in the store, oldest first. It is empty without a store.
	Observed []RecordedVerdict
	// Since and Until limit the deliveries to those that started at or after Since and before Until.
	Since, Until time.Time
}

// Commit is a commit of the GitOps branch.
type Commit struct {
	Hash    string
	Time    time.Time // the committer's
	Author  string    // Name <mail>
	Subject string    // the first line of the message
	// Record is the record on the branch: its environment, promotion and rollout. It is nil if the commit has none.
	Record *record.Record
	// Folders contains the hash of the tree of each cluster type's folder that the record lists. The values are not
	// used without a record.
	Folders map[string]string
	// Changes lists the fleet's objects that changed, as the commit message names them. It is empty if they are not known.
	Changes []string
}

// rollout returns the rollout in the record of a commit, or the zero value without one.
func (c Commit) rollout() rollout.Progress {
	if c.Record == nil || c.Record.Rollout == nil {
		return rollout.Progress{}
	}
	return *c.Record.Rollout
}

// Source is a commit of the control plane.
type Source struct {
	Hash string
	Time time.Time // the committer's
}

// Delivery is a change of the tree that an environment should run: one commit, or the commits of one rollout. A store
// keeps those of its fields that are columns, with the names of its JSON. Zero values are unknown.
type Delivery struct {
	FirstCommit string    `json:"first_commit"`
	Commit      string    `json:"commit"` // the last one
	StartedAt   time.Time `json:"started_at"`
	DeliveredAt time.Time `json:"delivered_at,omitzero"` // zero: the rollout never completed
	Author      string    `json:"author,omitempty"`
	Kind        Kind      `json:"kind"`
	// PromotedCommit and PreviousCommit are the promoted commits of this delivery and of the previous delivery. They are
	// empty without promotion. CompareURL is the web page that compares the two.
	PromotedCommit string `json:"promoted_commit,omitempty"`
	PreviousCommit string `json:"previous_commit,omitempty"`
	CompareURL     string `json:"compare_url,omitempty"`
	// Commits is the number of commits of the control plane that this delivery contains and no earlier one does. It is nil
	// if the control plane's history does not reach back far enough. LeadTimeSeconds is the median time from these commits
	// to the delivery.
	Commits         *int     `json:"commits,omitempty"`
	LeadTimeSeconds *int     `json:"lead_time_seconds,omitempty"`
	Folders         []string `json:"folders,omitempty"` // the folders that it changed, sorted
	Changes         []string `json:"changes,omitempty"` // the objects of the fleet that changed
	Reason          string   `json:"reason,omitempty"`
	// DecidedBy is [promotion.ByRollback] if an automatic rollback made the delivery. It is empty if gates or people
	// decided.
	DecidedBy string `json:"decided_by,omitempty"`
	// RunningAt is the time at which the delivery was first observed to succeed.
	RunningAt time.Time `json:"running_at,omitzero"`
	// Failed says that the next delivery rolled this one back, or that this delivery was observed to fail. FailedAt is the
	// time of the failure. RestoredAt is the time at which the environment was good again.
	Failed     bool      `json:"failed"`
	FailedAt   time.Time `json:"failed_at,omitzero"`
	RestoredAt time.Time `json:"restored_at,omitzero"`
}

// Complete reports whether all cluster types got the delivery.
func (d *Delivery) Complete() bool { return !d.DeliveredAt.IsZero() }

// HasNews reports whether a delivery of now is new or has changed. Removed deliveries don't count.
func HasNews(was, now []Delivery) bool {
	known := make(map[string]Delivery, len(was))
	for _, d := range was {
		known[d.FirstCommit] = d
	}
	return slices.ContainsFunc(now, func(d Delivery) bool {
		old, there := known[d.FirstCommit]
		return !there || !reflect.DeepEqual(old, d)
	})
}

// DefaultWindow is how far a history reaches back by default.
const DefaultWindow = 720 * time.Hour

// History is the history of an environment, as its branch contains it.
type History struct {
	Since, Until time.Time
	Environment  string // as the newest record names it; "": there is none
	// Deliveries lists the deliveries that started in the window, newest first.
	Deliveries []*Delivery
	Metrics    Metrics
	// Complete says that no delivery of the window is missing, because the branch was read back to its beginning.
	Complete bool
}

// Of returns the history of a branch.
func Of(in Input) History {
	all := deliveriesOf(in.Branch, in.Complete)
	setKinds(all)
	bring(all, in.ControlPlane)
	observe(all, in.Branch, in.Observed)
	setFailures(all)

	h := History{Since: in.Since, Until: in.Until}
	h.Complete = in.Complete || len(in.Branch) > 0 && in.Branch[len(in.Branch)-1].Time.Before(in.Since)
	if newest := slices.IndexFunc(in.Branch, func(c Commit) bool { return c.Record != nil }); newest >= 0 {
		h.Environment = in.Branch[newest].Record.Environment
	}
	var leads []time.Duration
	for _, d := range slices.Backward(all) {
		if !d.unseen && !d.StartedAt.Before(in.Since) && d.StartedAt.Before(in.Until) {
			h.Deliveries, leads = append(h.Deliveries, d.Delivery), append(leads, d.leads...)
		}
	}
	h.Metrics = MetricsOf(h.Deliveries, leads)
	h.Metrics.DeploymentsPerDay = float64(h.Metrics.Deployments) * float64(24*time.Hour) / float64(in.Until.Sub(in.Since))
	return h
}

// delivery is a delivery with the facts that later deliveries are compared with.
type delivery struct {
	*Delivery
	unseen bool   // it began before the commits that were read
	from   Commit // the parent of its first commit
	to     Commit // its last commit
	leads  []time.Duration
}

// deliveriesOf returns all deliveries of a branch, oldest first, without the fields that depend on other deliveries.
func deliveriesOf(branch []Commit, whole bool) []*delivery {
	var all []*delivery
	parent := Commit{}
	for i, c := range slices.Backward(branch) {
		var last *delivery
		if len(all) > 0 {
			last = all[len(all)-1]
		}
		changes := c.Record != nil && !sameTree(parent, c)
		switch {
		case !whole && i == len(branch)-1:
			if c.Record != nil {
				all = append(all, &delivery{Delivery: &Delivery{}, unseen: true})
				all[0].take(c)
			}
		case last != nil && last.goesOn(c) && (changes || !c.Record.Rollout.UnderWay()):
			last.take(c)
		case changes:
			all = append(all, &delivery{Delivery: &Delivery{FirstCommit: c.Hash, StartedAt: c.Time}, from: parent})
			all[len(all)-1].take(c)
		}
		parent = c
	}
	return all
}

// sameTree reports whether a commit contains the tree and the promoted commit of its parent.
func sameTree(parent, c Commit) bool {
	return parent.Record != nil && parent.Record.PromotedCommit == c.Record.PromotedCommit &&
		maps.Equal(parent.Folders, c.Folders)
}

// goesOn reports whether a commit belongs to the rollout of d that is in progress.
func (d *delivery) goesOn(c Commit) bool {
	return c.Record != nil && c.rollout().RolledBack == "" && d.to.Record.Rollout.UnderWay() &&
		c.rollout().TargetTreeHash == d.to.rollout().TargetTreeHash
}

// take adds a commit to d, as its last commit.
func (d *delivery) take(c Commit) {
	d.to, d.Commit, d.Author, d.PromotedCommit, d.Changes = c, c.Hash, c.Author, c.Record.PromotedCommit, c.Changes
	d.Reason = cmp.Or(printable.Text(c.Record.Promotion.Explanation), c.Subject)
	if back := c.rollout().RolledBack; back != "" {
		d.Reason = printable.Text("automatic rollback: " + back)
	}
	if !c.Record.Rollout.UnderWay() {
		d.DeliveredAt = c.Time
	}
	d.Folders = nil
	for _, names := range []map[string]string{d.from.Folders, c.Folders} {
		for name := range names {
			if d.from.Folders[name] != c.Folders[name] && !slices.Contains(d.Folders, name) {
				d.Folders = append(d.Folders, name)
			}
		}
	}
	slices.Sort(d.Folders)
}

// setKinds sets the fields that depend on earlier deliveries.
func setKinds(all []*delivery) {
	for i, d := range all {
		switch {
		case d.unseen:
			continue
		case i == 0:
			d.Kind = First
			continue
		}
		before := all[i-1]
		d.PreviousCommit = before.PromotedCommit
		switch {
		case d.decidesToGoBack(before), before.Kind != Rollback && d.goesBack(before, all[:i-1]):
			d.Kind = Rollback
			if d.to.Record.Promotion.By == promotion.ByRollback || d.to.rollout().RolledBack != "" {
				d.DecidedBy = promotion.ByRollback
			}
		case d.PromotedCommit != d.PreviousCommit:
			d.Kind = Promotion
		default:
			d.Kind = Change
		}
	}
}

// decidesToGoBack reports whether the record of d says that d is a rollback: of the promoted commit, or of a rollout.
func (d *delivery) decidesToGoBack(before *delivery) bool {
	return d.to.rollout().RolledBack != "" ||
		d.to.Record.Promotion.Decision == promotion.Rollback && d.PromotedCommit != before.PromotedCommit
}

// goesBack reports whether d restores the state before the previous delivery. This is so if d pins an earlier commit,
// or if its tree or its promoted commit is the one that the previous delivery replaced.
func (d *delivery) goesBack(before *delivery, earlier []*delivery) bool {
	is, was := d.to.Record.Promotion, before.to.Record.Promotion
	if is.Decision == promotion.Pinned && is.RolledBack != "" && is.RolledBack != was.RolledBack {
		return true
	}
	if len(earlier) == 0 {
		return false
	}
	two := earlier[len(earlier)-1]
	if maps.Equal(d.to.Folders, two.to.Folders) && !maps.Equal(d.to.Folders, before.to.Folders) {
		return true
	}
	return is.Decision == "" && d.PromotedCommit == two.PromotedCommit && d.PromotedCommit != before.PromotedCommit
}

// observe sets the times from the observations. An observation belongs to the newest delivery that is contained in the
// observed head of the branch.
func observe(all []*delivery, branch []Commit, records []RecordedVerdict) {
	age := make(map[string]int, len(branch)) // 0: the newest
	for i, c := range branch {
		age[c.Hash] = i
	}
	for _, o := range records {
		head, there := age[o.Head]
		if !there {
			continue
		}
		for _, d := range slices.Backward(all) {
			if !d.unseen && age[d.FirstCommit] < head {
				continue
			}
			switch deployment.Verdict(o.Verdict) {
			case deployment.Success:
				d.RunningAt = cmp.Or(d.RunningAt, o.VerdictSince)
			case deployment.Failure:
				if !d.Failed {
					d.Failed, d.FailedAt = true, o.VerdictSince
				}
			case deployment.Pending:
			}
			break
		}
	}
}

// setFailures sets which deliveries failed, and for each of them when the environment was good again.
func setFailures(all []*delivery) {
	for i, d := range all[:max(0, len(all)-1)] {
		if all[i+1].Kind != Rollback || d.Failed {
			continue
		}
		d.Failed, d.FailedAt = true, cmp.Or(d.DeliveredAt, d.StartedAt)
	}
	var good time.Time // the time of the next delivery that is complete and did not fail
	for _, d := range slices.Backward(all) {
		switch {
		case d.Failed:
			d.RestoredAt = good
		case d.Complete():
			good = cmp.Or(d.RunningAt, d.DeliveredAt)
		}
	}
}

// bring sets, for each delivery, the number of commits of the control plane that no earlier delivery contains, and
// their lead time.
func bring(all []*delivery, branch []Source) {
	if len(branch) == 0 {
		return
	}
	position := make(map[string]int, len(branch))
	for i, c := range branch {
		position[c.Hash] = i
	}
	brought := make([]bool, len(branch))
	for _, d := range all {
		to, ok := position[d.PromotedCommit]
		from, known := position[d.PreviousCommit]
		first := d.Kind == First || d.unseen // all commits up to its own count as delivered earlier
		if first {
			from = len(branch)
		}
		known = first || ok && known || d.PromotedCommit == d.PreviousCommit
		n := 0
		for i := to; ok && known && i < from; i++ {
			if !brought[i] && !first {
				n++
				d.leads = append(d.leads, d.DeliveredAt.Sub(branch[i].Time))
			}
			brought[i] = true
		}
		if known {
			d.Commits = &n
		}
		if !d.Complete() {
			d.leads = nil
		}
		d.LeadTimeSeconds = median(d.leads)
	}
}
