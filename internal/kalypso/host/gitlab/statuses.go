package gitlab

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	gitlab "gitlab.com/gitlab-org/api/client-go/v2"

	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host/httpapi"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/system/parallel"
)

// states maps our states to GitLab's.
var states = map[githost.StatusState]gitlab.BuildStateValue{
	githost.Pending: gitlab.Pending, githost.Success: gitlab.Success, githost.Failure: gitlab.Failed,
	githost.Errored: gitlab.Canceled,
}

// stateOf returns our state for one of GitLab's. Jobs of CI have more states than statuses: a job that has not ended is
// pending.
func stateOf(state string) githost.StatusState {
	switch state {
	case "success":
		return githost.Success
	case "failed":
		return githost.Failure
	case "canceled", "skipped":
		return githost.Errored
	}
	return githost.Pending
}

func statusOp(what, name, commit string, r *repo) string {
	return what + " status " + name + " of commit " + commit + " in " + r.String()
}

// SetStatus sets a status. GitLab updates a pending one only with texts that are not empty, so removing a text takes a
// second request.
func (r *repo) SetStatus(ctx context.Context, commit string, s githost.Status) (githost.Status, error) {
	op := statusOp("set", s.Context, commit, r)
	id, err := r.id(ctx)
	if err != nil {
		return githost.Status{}, r.wrapError(op, err)
	}
	options := &gitlab.SetCommitStatusOptions{State: states[s.State], Name: &s.Context}
	if s.Description != "" {
		options.Description = &s.Description
	}
	if s.TargetURL != "" {
		options.TargetURL = &s.TargetURL
	}
	for request := 1; ; request++ {
		got, err := r.postStatus(ctx, op, id, commit, options)
		switch {
		case says(err, saysPending), says(err, saysRunning):
			return r.pending(ctx, commit, s.Context, err)
		case err != nil, request == 2, r.SameStatus(s, got):
			return got, err
		}
	}
}

// postStatus posts a status, and tries again while GitLab processes another one of the commit.
func (r *repo) postStatus(
	ctx context.Context, op string, id int64, commit string, options *gitlab.SetCommitStatusOptions,
) (githost.Status, error) {
	for attempt := 1; ; attempt++ {
		set, resp, err := r.client.api.Commits.SetCommitStatus(id, commit, options, gitlab.WithContext(ctx))
		if err == nil {
			return convertStatus(set, resp), nil
		}
		err = r.wrapError(op, err)
		if !says(err, saysBusy) || attempt == maxAttempts ||
			r.client.clock.Sleep(ctx, httpapi.Backoff(attempt)) != nil {
			return githost.Status{}, err
		}
	}
}

// pending returns the pending or running status that GitLab does not set to pending again.
func (r *repo) pending(ctx context.Context, commit, name string, refusal error) (githost.Status, error) {
	s, err := r.Status(ctx, commit, name)
	if err == nil && s == nil {
		err = refusal
	}
	if err != nil {
		return githost.Status{}, err
	}
	return *s, nil
}

// SameStatus implements [githost.Repo]. GitLab does not set a pending status to pending again, so its description and
// its URL cannot be changed.
func (r *repo) SameStatus(want, have githost.Status) bool {
	return want.State == githost.Pending && have.State == githost.Pending || githost.EqualStatus(want, have)
}

func convertStatus(s *gitlab.CommitStatus, resp *gitlab.Response) githost.Status {
	c := githost.Status{
		Context: s.Name, State: stateOf(s.Status), Description: s.Description, TargetURL: s.TargetURL,
		Creator: s.Author.Username, SeenAt: timeOf(resp),
	}
	for _, at := range []*time.Time{s.CreatedAt, s.StartedAt, s.FinishedAt} {
		if at != nil {
			c.SetAt = *at
		}
	}
	return c
}

// timeOf returns the time of an answer by GitLab's clock.
func timeOf(resp *gitlab.Response) time.Time {
	at, err := http.ParseTime(resp.Header.Get("Date"))
	if err != nil {
		return time.Time{}
	}
	return at
}

// Status implements [githost.Repo].
func (r *repo) Status(ctx context.Context, commit, name string) (*githost.Status, error) {
	op := statusOp("read", name, commit, r)
	all, _, err := r.statuses(ctx, op, commit, gitlab.GetCommitStatusesOptions{Name: &name})
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return &all[0], nil
}

// statuses reads a page of the statuses of a commit, newest first, and whether there are more.
func (r *repo) statuses(ctx context.Context, op, commit string, options gitlab.GetCommitStatusesOptions) (
	all []githost.Status, more bool, err error,
) {
	id, err := r.id(ctx)
	if err != nil {
		return nil, false, r.wrapError(op, err)
	}
	// The host's times are those of jobs, which may start and end in any order. Its numbers grow.
	options.OrderBy, options.Sort, options.PerPage = "id", "desc", 100
	list, resp, err := r.client.api.Commits.GetCommitStatuses(id, commit, &options, gitlab.WithContext(ctx))
	if err != nil {
		return nil, false, r.wrapError(op, err)
	}
	for _, s := range list {
		all = append(all, convertStatus(s, resp))
	}
	return all, resp.NextPage != 0, nil
}

// maxStatusPages bounds the pages of a list.
const maxStatusPages = 20

// StatusHistory implements [githost.Repo].
func (r *repo) StatusHistory(ctx context.Context, commit string) (all []githost.Status, more bool, err error) {
	op := "read the statuses of commit " + commit + " in " + r.String()
	for page := int64(1); page <= maxStatusPages; page++ {
		options := gitlab.GetCommitStatusesOptions{All: gitlab.Ptr(true)}
		options.Page = page
		var some []githost.Status
		if some, more, err = r.statuses(ctx, op, commit, options); err != nil {
			return nil, false, err
		}
		if all = append(all, some...); !more {
			break
		}
	}
	return all, more, nil
}

// readers bounds the requests at the same time.
const readers = 8

// LatestStatuses makes one request for each commit.
func (r *repo) LatestStatuses(ctx context.Context, commits, names []string) (*githost.Statuses, error) {
	op := fmt.Sprintf("read the statuses of %d commits in %s", len(commits), r)
	got := &githost.Statuses{ByCommit: map[string][]githost.Status{}, Unread: map[string]string{}}
	user, resp, err := r.client.api.Users.CurrentUser(gitlab.WithContext(ctx))
	if err != nil {
		return nil, r.wrapError(op, err)
	}
	got.Viewer, got.SeenAt = user.Username, timeOf(resp)
	var mu sync.Mutex
	errs := make([]error, len(commits))
	parallel.Limited(len(commits), readers, func(i int) {
		latest, err := r.latest(ctx, op, commits[i], names)
		if err != nil {
			errs[i] = err
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if len(latest) > 0 {
			got.ByCommit[commits[i]] = latest
		}
	})
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		return nil, errs[i]
	}
	return got, nil
}

// latest reads the latest status of each context of a commit. If there are many, it reads only those with the given
// names.
func (r *repo) latest(ctx context.Context, op, commit string, names []string) ([]githost.Status, error) {
	all, more, err := r.statuses(ctx, op, commit, gitlab.GetCommitStatusesOptions{})
	if errors.Is(err, githost.ErrCommitNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if more {
		all = nil
		for _, name := range names {
			named, _, err := r.statuses(ctx, op, commit, gitlab.GetCommitStatusesOptions{Name: &name})
			if err != nil {
				return nil, err
			}
			all = append(all, named...)
		}
	}
	// Each pipeline of a commit has its own latest.
	var latest []githost.Status
	for _, s := range all {
		if !slices.ContainsFunc(latest, func(o githost.Status) bool { return strings.EqualFold(o.Context, s.Context) }) {
			latest = append(latest, s)
		}
	}
	return latest, nil
}
