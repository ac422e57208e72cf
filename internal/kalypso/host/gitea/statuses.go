package gitea

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/system/parallel"
)

// status is a commit status in an answer.
type status struct {
	Context, Description string
	State                githost.StatusState `json:"status"`
	TargetURL            string              `json:"target_url"`
	Creator              user
	CreatedAt            time.Time `json:"created_at"`
}

// convert converts a status, and adds the time of the answer.
func (s status) convert(seen time.Time) githost.Status {
	c := githost.Status{
		Context: s.Context, State: s.State, Description: s.Description, TargetURL: s.TargetURL, Creator: s.Creator.Login,
		SetAt: s.CreatedAt, SeenAt: seen,
	}
	switch s.State {
	case githost.Pending, githost.Success, githost.Failure, githost.Errored:
	default: // warning, skipped, or any text
		c.State = githost.Errored
	}
	return c
}

// SetStatus implements [githost.Repo].
func (r *repo) SetStatus(ctx context.Context, commit string, s githost.Status) (githost.Status, error) {
	op := "set status " + s.Context + " of commit " + commit + " in " + r.String()
	// For a commit that it lacks, Gitea answers like a server that is out of order.
	_, err := r.eachStatus(ctx, op, commit, func(githost.Status) bool { return true })
	if err != nil {
		return githost.Status{}, err
	}
	var set status
	header, err := r.call(ctx, op, http.MethodPost, "/statuses/"+url.PathEscape(commit), map[string]any{
		"state": s.State, "context": s.Context, "description": s.Description, "target_url": s.TargetURL,
	}, &set)
	if err != nil {
		return githost.Status{}, err
	}
	return set.convert(timeOf(header)), nil
}

// SameStatus implements [githost.Repo].
func (r *repo) SameStatus(want, have githost.Status) bool { return githost.EqualStatus(want, have) }

// statusPages bounds the pages of statuses of one commit that are read.
const statusPages = 40

// eachStatus calls f with the statuses of a commit, the newest first, until f returns true. Times are whole seconds, so
// the order is the one in which they were set.
func (r *repo) eachStatus(
	ctx context.Context, op, commit string, f func(githost.Status) (done bool),
) (end, error) {
	end, err := each(ctx, r, list{
		op: op, path: "/commits/" + url.PathEscape(commit) + "/statuses", pages: statusPages,
		query: url.Values{"sort": {"leastindex"}},
	}, func(s status, at time.Time) bool { return f(s.convert(at)) })
	return end, r.as(ctx, githost.ErrCommitNotFound, err)
}

// Status implements [githost.Repo].
func (r *repo) Status(ctx context.Context, commit, name string) (found *githost.Status, err error) {
	op := "read status " + name + " of commit " + commit + " in " + r.String()
	_, err = r.eachStatus(ctx, op, commit, func(s githost.Status) bool {
		if strings.EqualFold(s.Context, name) {
			found = &s
		}
		return found != nil
	})
	return found, err
}

// atOnce is the number of commits whose statuses are read at once.
const atOnce = 8

// LatestStatuses implements [githost.Repo] with one request a commit. If a commit has more than a page, further
// requests read until each given name is found.
func (r *repo) LatestStatuses(ctx context.Context, commits, names []string) (*githost.Statuses, error) {
	op := fmt.Sprintf("read the statuses of %d commits in %s", len(commits), r)
	login, err := r.client.login(ctx, op)
	if err != nil {
		return nil, err
	}
	answers := make([]latest, len(commits))
	parallel.Limited(len(commits), atOnce, func(i int) { answers[i] = r.latest(ctx, op, commits[i], names) })
	all := &githost.Statuses{ByCommit: map[string][]githost.Status{}, Unread: map[string]string{}, Viewer: login}
	for i, answer := range answers {
		switch {
		case errors.Is(answer.err, githost.ErrCommitNotFound):
			continue
		case answer.err != nil:
			return nil, answer.err
		case answer.at.After(all.SeenAt):
			all.SeenAt = answer.at
		}
		if all.ByCommit[commits[i]] = answer.statuses; answer.unread != "" {
			all.Unread[commits[i]] = answer.unread
		}
	}
	return all, nil
}

// latest are the latest statuses of a commit.
type latest struct {
	statuses []githost.Status
	unread   string // why some of the names can't be read
	at       time.Time
	err      error
}

// latest reads the latest status of each context of a commit.
func (r *repo) latest(ctx context.Context, op, commit string, names []string) (l latest) {
	found := map[string]bool{}
	complete := func() bool {
		return !slices.ContainsFunc(names, func(name string) bool { return !found[strings.ToLower(name)] })
	}
	seen := 0
	end, err := r.eachStatus(ctx, op, commit, func(s githost.Status) bool {
		if seen++; seen > pageSize && complete() {
			return true
		}
		if key := strings.ToLower(s.Context); !found[key] {
			found[key] = true
			l.statuses = append(l.statuses, s)
		}
		return false
	})
	if l.at, l.err = end.at, err; end.more && !complete() {
		l.unread = fmt.Sprintf("it has more than %d statuses, and older ones are not read", statusPages*pageSize)
	}
	return l
}

// StatusHistory implements [githost.Repo].
func (r *repo) StatusHistory(ctx context.Context, commit string) (all []githost.Status, more bool, err error) {
	op := "read the statuses of commit " + commit + " in " + r.String()
	end, err := r.eachStatus(ctx, op, commit, func(s githost.Status) bool {
		all = append(all, s)
		return false
	})
	return all, end.more, err
}
