package gitlab

import (
	"context"
	"time"

	gitlab "gitlab.com/gitlab-org/api/client-go/v2"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
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

// requests returns the requests for statuses.
func (r *statuses) requests() githost.StatusRequests {
	return githost.StatusRequests{
		Traits: r.traits, Set: r.set, List: r.list, Login: r.client.login, SeenAt: r.server.SeenAt, Failed: r.server.Error,
	}
}

// set sets a status. GitLab ignores empty texts when it updates a pending status, so it takes a second request to
// remove a text.
func (r *statuses) set(ctx context.Context, commit string, s githost.Status) (githost.Status, error) {
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
		case githost.Says(err, saysPending):
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
	id, err := r.id(ctx)
	if err != nil {
		return githost.Status{}, err
	}
	for attempt := 1; ; attempt++ {
		set, _, err := r.client.api.Commits.SetCommitStatus(id, commit, options, gitlab.WithContext(ctx))
		if err == nil {
			return r.convert(set), nil
		}
		if !githost.Says(err, saysBusy) || !r.server.NextAttempt(ctx, attempt) {
			return githost.Status{}, err
		}
	}
}

// pending returns the pending or running status that GitLab does not set to pending again.
func (r *statuses) pending(ctx context.Context, commit, name string, refusal error) (githost.Status, error) {
	s, err := r.requests().Status(ctx, commit, name)
	if err == nil && s == nil {
		err = refusal
	}
	if err != nil {
		return githost.Status{}, err
	}
	return *s, nil
}

func (r *statuses) convert(s *gitlab.CommitStatus) githost.Status {
	c := githost.Status{
		Context: s.Name, State: stateOf(s.Status), Description: s.Description, TargetURL: s.TargetURL,
		Creator: s.Author.Username, SeenAt: r.server.SeenAt(),
	}
	for _, at := range []*time.Time{s.CreatedAt, s.StartedAt, s.FinishedAt} {
		if at != nil {
			c.SetAt = *at
		}
	}
	return c
}

// maxStatusPages limits how many pages of a commit's statuses are read.
const maxStatusPages = 20

// list lists the statuses of a commit. GitLab lists the latest statuses of each pipeline, so there may be several of a
// context. If a page of them is not enough, it reads those with the given names.
func (r *statuses) list(
	ctx context.Context, commit string, names []string, all bool,
) (l githost.StatusList, err error) {
	if all {
		return r.pages(ctx, commit, maxStatusPages, gitlab.GetCommitStatusesOptions{All: &all})
	}
	l, err = r.pages(ctx, commit, 1, gitlab.GetCommitStatusesOptions{})
	if err != nil || l.Unread == "" {
		return l, err
	}
	l = githost.StatusList{}
	for _, name := range names {
		named, err := r.pages(ctx, commit, 1, gitlab.GetCommitStatusesOptions{Name: &name})
		if err != nil {
			return l, err
		}
		l.Statuses = append(l.Statuses, named.Statuses...)
	}
	return l, nil
}

// pages reads pages of the statuses of a commit, newest first.
func (r *statuses) pages(
	ctx context.Context, commit string, pages int, options gitlab.GetCommitStatusesOptions,
) (l githost.StatusList, err error) {
	// Sort by number, since numbers grow. GitLab's times are the times of jobs, which may start and end in any order.
	options.OrderBy, options.Sort = "id", "desc"
	id, err := r.id(ctx)
	if err != nil {
		return githost.StatusList{}, err
	}
	more, err := eachPage(pageSize, pages*pageSize, &options.ListOptions,
		func() ([]*gitlab.CommitStatus, *gitlab.Response, error) {
			return r.client.api.Commits.GetCommitStatuses(id, commit, &options, gitlab.WithContext(ctx))
		}, func(s *gitlab.CommitStatus) (done bool) {
			l.Statuses = append(l.Statuses, r.convert(s))
			return false
		})
	if err != nil {
		return githost.StatusList{}, err
	}
	if more {
		l.Unread = "it has more statuses, which are not read"
	}
	return l, nil
}
