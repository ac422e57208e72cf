package gitea

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host/httpapi"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/sets"
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

// SetStatus implements [githost.CommitStatuses].
func (r *statuses) SetStatus(ctx context.Context, commit string, s githost.Status) (githost.Status, error) {
	op := r.traits.StatusOp("set", s.Context, commit)
	// If the repo lacks the commit, Gitea answers with a server error, so check first whether the commit exists.
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
	return set.convert(httpapi.TimeOf(header)), nil
}

// statusPages bounds the pages of statuses of one commit that are read.
const statusPages = 40

// eachStatus calls f with the statuses of a commit, the newest first, until f returns true. Times are whole seconds, so
// the statuses are sorted by the order in which they were set.
func (r *statuses) eachStatus(
	ctx context.Context, op, commit string, f func(githost.Status) (done bool),
) (end, error) {
	end, err := each(ctx, r.repo, list{
		op: op, path: "/commits/" + url.PathEscape(commit) + "/statuses", pages: statusPages,
		query: url.Values{"sort": {"leastindex"}},
	}, func(s status, at time.Time) bool { return f(s.convert(at)) })
	return end, r.as(ctx, githost.ErrCommitNotFound, err)
}

// Status implements [githost.CommitStatuses].
func (r *statuses) Status(ctx context.Context, commit, name string) (found *githost.Status, err error) {
	op := r.traits.StatusOp("read", name, commit)
	_, err = r.eachStatus(ctx, op, commit, func(s githost.Status) bool {
		if strings.EqualFold(s.Context, name) {
			found = &s
		}
		return found != nil
	})
	return found, err
}

// LatestStatuses makes one request for each commit. If a commit has more than one page of statuses, further requests
// read on until each given name is found.
func (r *statuses) LatestStatuses(ctx context.Context, commits, names []string) (*githost.Statuses, error) {
	op := r.traits.LatestOp(len(commits))
	login, err := r.client.login(ctx, op)
	if err != nil {
		return nil, err
	}
	return githost.ReadLatest(commits, names, login, time.Time{}, func(commit string) (l githost.StatusList, err error) {
		missing := names
		end, err := r.eachStatus(ctx, op, commit, func(s githost.Status) bool {
			l.Statuses = append(l.Statuses, s)
			missing = sets.WithoutFold(missing, []string{s.Context})
			return len(l.Statuses) >= pageSize && len(missing) == 0
		})
		if l.SeenAt = end.at; end.more {
			l.Unread = fmt.Sprintf("it has more than %d statuses, and older ones are not read", statusPages*pageSize)
		}
		return l, err
	})
}

// StatusHistory implements [githost.CommitStatuses].
func (r *statuses) StatusHistory(ctx context.Context, commit string) (all []githost.Status, more bool, err error) {
	op := r.traits.HistoryOp(commit)
	end, err := r.eachStatus(ctx, op, commit, func(s githost.Status) bool {
		all = append(all, s)
		return false
	})
	return all, end.more, err
}
