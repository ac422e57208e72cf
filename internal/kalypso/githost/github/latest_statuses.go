package github

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/httpapi"
)

const (
	// pageSize is the number of entries in one answer of GitHub, such as the statuses and check runs of a commit.
	pageSize = 100
	// namedCommits is the number of commits whose statuses and check runs are read by name in one query. Each name of each
	// commit has up to maxSuites times maxRuns check runs, and GitHub allows 500,000 nodes per query.
	namedCommits = 100
	maxSuites    = 20
	maxRuns      = 10
)

// The fields of statuses and of check runs.
const (
	statusFields = `fragment status on StatusContext {
  context state description targetUrl createdAt creator { __typename login }
}`
	checkRunFields = `fragment run on CheckRun {
  name status conclusion startedAt completedAt detailsUrl checkSuite { app { slug } }
}`
)

const checkRunType = "CheckRun"

// rollupNode is a StatusContext or a CheckRun.
type rollupNode struct {
	Type string `json:"__typename"`

	Context, State, Description, TargetURL string
	CreatedAt                              time.Time
	Creator                                *struct {
		Type  string `json:"__typename"`
		Login string
	}

	Name, Status, Conclusion, DetailsURL string
	StartedAt, CompletedAt               time.Time
	CheckSuite                           struct{ App *struct{ Slug string } }
}

// rollupCommit is a commit in an answer.
type rollupCommit struct {
	OID               string
	StatusCheckRollup *struct {
		Contexts struct {
			PageInfo pageInfo
			Nodes    []rollupNode
		}
	}
}

type pageInfo struct{ HasNextPage bool }

// latest makes one GraphQL query for all commits. If the answer is too large, it makes one for each half of them.
func (r *statuses) latest(ctx context.Context, commits, names []string) (*githost.Statuses, error) {
	all, err := r.queryLatest(ctx, commits, names)
	if len(commits) == 1 || !errors.Is(err, httpapi.ErrTooLarge) {
		return all, err
	}
	half := len(commits) / 2
	all, err = r.latest(ctx, commits[:half], names)
	if err != nil {
		return nil, err
	}
	rest, err := r.latest(ctx, commits[half:], names)
	if err != nil {
		return nil, err
	}
	maps.Copy(all.ByCommit, rest.ByCommit)
	maps.Copy(all.Unread, rest.Unread)
	return all, nil
}

// queryLatest makes one GraphQL query for all commits, which reads up to [pageSize] statuses and check runs of
// each. If commits have more, further queries read only the statuses and check runs with the given names, for
// [namedCommits] commits each.
func (r *statuses) queryLatest(ctx context.Context, commits, names []string) (*githost.Statuses, error) {
	ctx = r.with(ctx, "checks: read, contents: read, statuses: read")
	all := &githost.Statuses{ByCommit: map[string][]githost.Status{}, Unread: map[string]string{}}
	var fields strings.Builder
	for i, commit := range commits {
		fmt.Fprintf(&fields, "    c%d: object(oid: %q) { ...on Commit { oid statusCheckRollup { contexts(first: %d) {\n"+
			"      pageInfo { hasNextPage } nodes { __typename ...status ...run } } } } }\n", i, commit, pageSize)
	}
	var found map[string]*rollupCommit
	if err := r.queryCommits(ctx, fields.String(), nil, all, &found); err != nil {
		return nil, err
	}
	var long []string
	for _, c := range found {
		if c == nil || c.StatusCheckRollup == nil {
			continue // the repo lacks the commit, or the commit has no statuses
		}
		contexts := c.StatusCheckRollup.Contexts
		for _, n := range contexts.Nodes {
			all.ByCommit[c.OID] = append(all.ByCommit[c.OID], n.status(all.SeenAt))
		}
		if contexts.PageInfo.HasNextPage {
			long = append(long, c.OID)
		}
	}
	slices.Sort(long)
	for some := range slices.Chunk(long, namedCommits) {
		if err := r.readNamed(ctx, some, names, all); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// namedStatuses contains the status and the check runs of one commit that have the same name.
type namedStatuses struct {
	OID    string
	Status *struct{ Context *rollupNode }
	Suites struct {
		PageInfo pageInfo
		Nodes    []struct {
			CheckRuns struct {
				PageInfo pageInfo
				Nodes    []rollupNode
			}
		}
	}
}

// readNamed replaces the statuses of commits by the statuses with the given names.
func (r *statuses) readNamed(ctx context.Context, commits, names []string, all *githost.Statuses) error {
	var fields strings.Builder
	given := variables{}
	for j, name := range names {
		given[fmt.Sprintf("n%d", j)] = name
	}
	for i, commit := range commits {
		delete(all.ByCommit, commit)
		for j := range names {
			fmt.Fprintf(&fields, "    c%[1]dn%[2]d: object(oid: %[3]q) { ...on Commit {\n"+
				"      oid status { context(name: $n%[2]d) { ...status } }\n"+
				"      suites: checkSuites(first: %[4]d, filterBy: {checkName: $n%[2]d}) { pageInfo { hasNextPage } nodes {\n"+
				"        checkRuns(first: %[5]d, filterBy: {checkName: $n%[2]d, checkType: LATEST}) { pageInfo { hasNextPage }\n"+
				"          nodes { ...run } } } } } }\n", i, j, commit, maxSuites, maxRuns)
		}
	}
	if len(names) == 0 {
		return nil
	}
	var found map[string]*namedStatuses
	if err := r.queryCommits(ctx, fields.String(), given, all, &found); err != nil {
		return err
	}
	for i := range commits {
		for j, name := range names {
			c := found[fmt.Sprintf("c%dn%d", i, j)]
			if c == nil {
				continue
			}
			if c.Status != nil && c.Status.Context != nil {
				all.ByCommit[c.OID] = append(all.ByCommit[c.OID], c.Status.Context.status(all.SeenAt))
			}
			more := c.Suites.PageInfo.HasNextPage
			for _, suite := range c.Suites.Nodes {
				more = more || suite.CheckRuns.PageInfo.HasNextPage
				for _, n := range suite.CheckRuns.Nodes {
					n.Type = checkRunType
					all.ByCommit[c.OID] = append(all.ByCommit[c.OID], n.status(all.SeenAt))
				}
			}
			if more {
				all.Unread[c.OID] = fmt.Sprintf("it has more than %d check suites or %d check runs %q, which are not read",
					maxSuites, maxRuns, name)
			}
		}
	}
	return nil
}

// queryCommits runs a query for fields of the repo's commits, and decodes them by alias.
func (r *statuses) queryCommits(
	ctx context.Context, fields string, named variables, all *githost.Statuses, into any,
) error {
	declared, given := "", variables{"owner": r.owner, "name": r.name}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		declared, given[name] = declared+", $"+name+": String!", named[name]
	}
	answer := struct {
		Viewer     struct{ Login string }
		Repository any
	}{Repository: into}
	err := r.query(ctx,
		"query($owner: String!, $name: String!"+declared+") {\n  viewer { login }\n"+
			"  repository(owner: $owner, name: $name) {\n"+fields+"  }\n}\n"+statusFields+"\n"+checkRunFields, given, &answer)
	if err == nil {
		all.Viewer, all.SeenAt = answer.Viewer.Login, r.server.SeenAt()
	}
	return err
}

// botSuffix ends the login of an app in the REST API. GraphQL leaves it out.
const botSuffix = "[bot]"

// status converts a status or a check run.
func (n rollupNode) status(seen time.Time) githost.Status {
	if n.Type == checkRunType {
		s := githost.Status{Context: n.Name, CheckRun: true, TargetURL: n.DetailsURL, SetAt: n.CompletedAt, SeenAt: seen}
		s.State, s.Description = checkState(n.Status, n.Conclusion)
		if s.SetAt.IsZero() {
			s.SetAt = n.StartedAt
		}
		if app := n.CheckSuite.App; app != nil {
			s.Creator = app.Slug + botSuffix
		}
		return s
	}
	s := githost.Status{
		Context: n.Context, State: githost.StatusState(strings.ToLower(n.State)), Description: n.Description,
		TargetURL: n.TargetURL,
		SetAt:     n.CreatedAt, SeenAt: seen,
	}
	if s.State == "expected" { // a required status that was not set yet
		s.State = githost.Pending
	}
	if n.Creator != nil {
		s.Creator = n.Creator.Login
		if n.Creator.Type == "Bot" && !strings.HasSuffix(s.Creator, botSuffix) {
			s.Creator += botSuffix
		}
	}
	return s
}

// checkState converts the state of a check run, with the conclusion as the description unless it is a success.
func checkState(status, conclusion string) (githost.StatusState, string) {
	text := strings.ToLower(conclusion)
	switch {
	case status != "COMPLETED":
		return githost.Pending, strings.ToLower(status)
	case conclusion == "SUCCESS":
		return githost.Success, ""
	case conclusion == "FAILURE", conclusion == "TIMED_OUT", conclusion == "STARTUP_FAILURE":
		return githost.Failure, text
	}
	return githost.Errored, text // such as cancelled, neutral or skipped: the check has not shown anything
}
