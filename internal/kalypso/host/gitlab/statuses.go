package gitlab

import (
	"context"
	"time"

	gitlab "gitlab.com/gitlab-org/api/client-go/v2"

	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host/httpapi"
)

// states maps our states to GitLab's.
var states = map[githost.StatusState]gitlab.BuildStateValue{
	githost.Pending: gitlab.Pending, githost.Success: gitlab.Success, githost.Failure: gitlab.Failed,
	githost.Errored: gitlab.Canceled,
}

// stateOf returns our state for one of GitLab's. CI jobs have more states than our statuses. A job that has not ended
// is pending.
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

// SetStatus sets a status. GitLab ignores empty texts when it updates a pending status, so it takes a second request to
// remove a text.
func (r *statuses) SetStatus(ctx context.Context, commit string, s githost.Status) (githost.Status, error) {
	options := &gitlab.SetCommitStatusOptions{State: states[s.State], Name: &s.Context}
	if s.Description != "" {
		options.Description = &s.Description
	}
	if s.TargetURL != "" {
		options.TargetURL = &s.TargetURL
	}
	for request := 1; ; request++ {
		got, err := r.postStatus(ctx, commit, options)
		switch {
		case githost.Says(err, saysPending), githost.Says(err, saysRunning):
			return r.pending(ctx, commit, s.Context, err)
		case err != nil, request == 2, r.traits.SameStatus(s, got):
			return got, err
		}
	}
}

// postStatus posts a status, and tries again while GitLab is busy with another status of the commit.
func (r *statuses) postStatus(
	ctx context.Context, commit string, options *gitlab.SetCommitStatusOptions,
) (githost.Status, error) {
	op := r.traits.StatusOp("set", *options.Name, commit)
	for attempt := 1; ; attempt++ {
		set, resp, err := onOne(ctx, r.repo, op, r.client.api.Commits.SetCommitStatus, commit, options)
		if err == nil {
			return convertStatus(set, resp), nil
		}
		if !githost.Says(err, saysBusy) || !r.server.NextAttempt(ctx, attempt) {
			return githost.Status{}, err
		}
	}
}

// pending returns the pending or running status that GitLab does not set to pending again.
func (r *statuses) pending(ctx context.Context, commit, name string, refusal error) (githost.Status, error) {
	s, err := r.Status(ctx, commit, name)
	if err == nil && s == nil {
		err = refusal
	}
	if err != nil {
		return githost.Status{}, err
	}
	return *s, nil
}

// staysPending reports whether both statuses are pending. GitLab does not set a pending status to pending again, so its
// description and its URL cannot be changed.
func staysPending(want, have githost.Status) bool {
	return want.State == githost.Pending && have.State == githost.Pending
}

func convertStatus(s *gitlab.CommitStatus, resp *gitlab.Response) githost.Status {
	c := githost.Status{
		Context: s.Name, State: stateOf(s.Status), Description: s.Description, TargetURL: s.TargetURL,
		Creator: s.Author.Username, SeenAt: httpapi.TimeOf(resp.Header),
	}
	for _, at := range []*time.Time{s.CreatedAt, s.StartedAt, s.FinishedAt} {
		if at != nil {
			c.SetAt = *at
		}
	}
	return c
}

// Status implements [githost.CommitStatuses].
func (r *statuses) Status(ctx context.Context, commit, name string) (*githost.Status, error) {
	op := r.traits.StatusOp("read", name, commit)
	all, _, err := r.list(ctx, op, commit, gitlab.GetCommitStatusesOptions{Name: &name})
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return &all[0], nil
}

// list reads a page of the statuses of a commit, newest first, and whether there are more.
func (r *statuses) list(ctx context.Context, op, commit string, options gitlab.GetCommitStatusesOptions) (
	all []githost.Status, more bool, err error,
) {
	// Sort by number, since numbers grow. GitLab's times are the times of jobs, which may start and end in any order.
	options.OrderBy, options.Sort, options.PerPage = "id", "desc", 100
	list, resp, err := onOne(ctx, r.repo, op, r.client.api.Commits.GetCommitStatuses, commit, &options)
	if err != nil {
		return nil, false, err
	}
	for _, s := range list {
		all = append(all, convertStatus(s, resp))
	}
	return all, resp.NextPage != 0, nil
}

// maxStatusPages limits how many pages of a commit's statuses are read.
const maxStatusPages = 20

// StatusHistory implements [githost.CommitStatuses].
func (r *statuses) StatusHistory(ctx context.Context, commit string) (all []githost.Status, more bool, err error) {
	op := r.traits.HistoryOp(commit)
	for page := int64(1); page <= maxStatusPages; page++ {
		options := gitlab.GetCommitStatusesOptions{All: gitlab.Ptr(true)}
		options.Page = page
		var some []githost.Status
		if some, more, err = r.list(ctx, op, commit, options); err != nil {
			return nil, false, err
		}
		if all = append(all, some...); !more {
			break
		}
	}
	return all, more, nil
}

// LatestStatuses makes one request for each commit.
func (r *statuses) LatestStatuses(ctx context.Context, commits, names []string) (*githost.Statuses, error) {
	op := r.traits.LatestOp(len(commits))
	user, resp, err := r.client.api.Users.CurrentUser(gitlab.WithContext(ctx))
	if err != nil {
		return nil, r.server.Error(op, err)
	}
	read := func(commit string) (githost.StatusList, error) { return r.latest(ctx, op, commit, names) }
	return githost.ReadLatest(commits, names, user.Username, httpapi.TimeOf(resp.Header), read)
}

// latest reads the latest statuses of a commit: of each pipeline, so there may be several of a context. If a commit has
// many statuses, it reads only the statuses with the given names.
func (r *statuses) latest(ctx context.Context, op, commit string, names []string) (l githost.StatusList, err error) {
	all, more, err := r.list(ctx, op, commit, gitlab.GetCommitStatusesOptions{})
	if err != nil || !more {
		return githost.StatusList{Statuses: all}, err
	}
	for _, name := range names {
		named, _, err := r.list(ctx, op, commit, gitlab.GetCommitStatusesOptions{Name: &name})
		if err != nil {
			return l, err
		}
		l.Statuses = append(l.Statuses, named...)
	}
	return l, nil
}
