package gitea

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
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

func (r *statuses) convert(s status) githost.Status {
	c := githost.Status{
		Context: s.Context, State: s.State, Description: s.Description, TargetURL: s.TargetURL, Creator: s.Creator.Login,
		SetAt: s.CreatedAt, SeenAt: r.server.SeenAt(),
	}
	switch s.State {
	case githost.Pending, githost.Success, githost.Failure, githost.Errored:
	default: // warning, skipped, or any text
		c.State = githost.Errored
	}
	return c
}

func (r *statuses) set(ctx context.Context, commit string, s githost.Status) (githost.Status, error) {
	// If the repo lacks the commit, Gitea answers with a server error, so check first whether the commit exists.
	if _, err := r.list(ctx, commit, nil, false); err != nil {
		return githost.Status{}, err
	}
	var set status
	_, err := r.call(ctx, http.MethodPost, "/statuses/"+url.PathEscape(commit), map[string]any{
		"state": s.State, "context": s.Context, "description": s.Description, "target_url": s.TargetURL,
	}, &set)
	if err != nil {
		return githost.Status{}, err
	}
	return r.convert(set), nil
}

// statusPages bounds the pages of statuses of one commit that are read.
const statusPages = 40

// list lists the statuses of a commit. Times are whole seconds, so the statuses are sorted by the order in which they
// were set. Of the latest, it reads a page, and further ones until each name is found.
func (r *statuses) list(
	ctx context.Context, commit string, names []string, all bool,
) (l githost.StatusList, err error) {
	more, err := each(ctx, r.repo, list{
		path: "/commits/" + url.PathEscape(commit) + "/statuses", pages: statusPages,
		query: url.Values{"sort": {"leastindex"}},
	}, func(s status) bool {
		l.Statuses = append(l.Statuses, r.convert(s))
		names = sets.WithoutFold(names, []string{s.Context})
		return !all && len(l.Statuses) >= pageSize && len(names) == 0
	})
	if more {
		l.Unread = fmt.Sprintf("it has more than %d statuses, and older ones are not read", statusPages*pageSize)
	}
	return l, r.as(ctx, githost.ErrCommitNotFound, err)
}
