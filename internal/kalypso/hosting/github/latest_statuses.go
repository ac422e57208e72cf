package github

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/google/go-github/v53/github"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting"
)

const (
	// statusPage is the number of statuses and check runs that GitHub gives for one commit at once, and maxStatusRounds
	// how often more of them are asked for. GitHub counts them for its limit of 500,000 nodes a query.
	statusPage      = 100
	maxStatusRounds = 10
)

// rollupFields are the fields of a commit's statuses and check runs.
const rollupFields = `fragment rollup on StatusCheckRollupContextConnection {
  pageInfo { hasNextPage endCursor }
  nodes {
    __typename
    ... on StatusContext { context state description targetUrl createdAt creator { __typename login } }
    ... on CheckRun { name status conclusion startedAt completedAt detailsUrl checkSuite { app { slug } } }
  }
}`

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
			PageInfo struct {
				HasNextPage bool
				EndCursor   string
			}
			Nodes []rollupNode
		}
	}
}

// LatestStatuses implements [hosting.Repo] with one GraphQL query for all commits. Only if a commit has more than
// [statusPage] statuses, one more query reads the rest of all such commits.
func (r *repo) LatestStatuses(ctx context.Context, commits []string) (*hosting.Statuses, error) {
	op := fmt.Sprintf("read the statuses of %d commits in %s", len(commits), r)
	ctx = r.with(ctx, scope{contents: read, statuses: read, checks: read})
	all := &hosting.Statuses{ByCommit: map[string][]hosting.Status{}}
	after := make(map[string]string, len(commits)) // commit → cursor of its next page
	for _, commit := range commits {
		after[commit] = ""
	}
	for range maxStatusRounds {
		var fields strings.Builder
		for i, commit := range commits {
			if cursor, more := after[commit]; more {
				fmt.Fprintf(&fields,
					"    c%d: object(oid: %q) { ...on Commit { oid statusCheckRollup { contexts(first: %d%s) { ...rollup } } } }\n",
					i, commit, statusPage, afterArgument(cursor))
			}
		}
		if fields.Len() == 0 {
			return all, nil
		}
		var answer struct {
			Viewer     struct{ Login string }
			Repository map[string]*rollupCommit
		}
		resp, err := r.query(ctx, op,
			"query($owner: String!, $name: String!) {\n  viewer { login }\n  repository(owner: $owner, name: $name) {\n"+
				fields.String()+"  }\n}\n"+rollupFields, map[string]string{"owner": r.owner, "name": r.name}, &answer)
		if err != nil {
			return nil, err
		}
		clear(after)
		all.Viewer, all.SeenAt = answer.Viewer.Login, timeOf(resp)
		for _, c := range answer.Repository {
			if c == nil || c.StatusCheckRollup == nil {
				continue // the repo lacks the commit, or the commit has no statuses
			}
			contexts := c.StatusCheckRollup.Contexts
			for _, n := range contexts.Nodes {
				all.ByCommit[c.OID] = append(all.ByCommit[c.OID], n.status(all.SeenAt))
			}
			if contexts.PageInfo.HasNextPage {
				after[c.OID] = contexts.PageInfo.EndCursor
			}
		}
	}
	if len(after) > 0 {
		return nil, &hosting.Error{Op: op, Kind: hosting.ErrRejected, Credential: r.client.credential, Message: fmt.Sprintf(
			"a commit has more than %d statuses and check runs, which are not read", statusPage*maxStatusRounds)}
	}
	return all, nil
}

func afterArgument(cursor string) string {
	if cursor == "" {
		return ""
	}
	return fmt.Sprintf(", after: %q", cursor)
}

// timeOf returns the time of an answer by GitHub's clock, or zero.
func timeOf(resp *github.Response) time.Time {
	at, err := http.ParseTime(resp.Header.Get("Date"))
	if err != nil {
		return time.Time{}
	}
	return at
}

// botSuffix ends the login of an app in the REST API. GraphQL leaves it out.
const botSuffix = "[bot]"

// status converts a status or a check run.
func (n rollupNode) status(seen time.Time) hosting.Status {
	if n.Type == "CheckRun" {
		s := hosting.Status{Context: n.Name, CheckRun: true, TargetURL: n.DetailsURL, SetAt: n.CompletedAt, SeenAt: seen}
		s.State, s.Description = checkState(n.Status, n.Conclusion)
		if s.SetAt.IsZero() {
			s.SetAt = n.StartedAt
		}
		if app := n.CheckSuite.App; app != nil {
			s.Creator = app.Slug + botSuffix
		}
		return s
	}
	s := hosting.Status{
		Context: n.Context, State: hosting.StatusState(strings.ToLower(n.State)), Description: n.Description,
		TargetURL: n.TargetURL,
		SetAt:     n.CreatedAt, SeenAt: seen,
	}
	if s.State == "expected" { // a required status that nobody has set yet
		s.State = hosting.Pending
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
func checkState(status, conclusion string) (hosting.StatusState, string) {
	text := strings.ToLower(conclusion)
	switch {
	case status != "COMPLETED":
		return hosting.Pending, strings.ToLower(status)
	case conclusion == "SUCCESS":
		return hosting.Success, ""
	case conclusion == "FAILURE", conclusion == "TIMED_OUT", conclusion == "STARTUP_FAILURE":
		return hosting.Failure, text
	}
	return hosting.Errored, text // such as cancelled, neutral or skipped: nothing was proven
}

// StatusHistory implements [hosting.Repo].
func (r *repo) StatusHistory(ctx context.Context, commit string) (all []hosting.Status, more bool, err error) {
	ctx = r.with(ctx, scope{statuses: read})
	options := &github.ListOptions{PerPage: statusPage}
	for range maxStatusPages {
		found, resp, err := r.client.api.Repositories.ListStatuses(ctx, r.owner, r.name, commit, options)
		if err != nil {
			return nil, false, r.wrapError("read the statuses of commit "+commit+" in "+r.String(), err)
		}
		for _, s := range found {
			all = append(all, statusOf(s, resp))
		}
		if resp.NextPage == 0 {
			return all, false, nil
		}
		options.Page = resp.NextPage
	}
	return all, true, nil
}
