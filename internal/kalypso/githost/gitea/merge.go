package gitea

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/httpapi"
)

// scheduled returns [githost.UnknownMethod] if an open pull request will be merged automatically, and "" otherwise.
// Only the timeline shows that, and it does not contain the method.
func (r *pullRequests) scheduled(ctx context.Context, number int) (method githost.MergeMethod, err error) {
	err = r.timeline(ctx, number, func(e event) {
		switch e.Type {
		case "pull_scheduled_merge":
			method = githost.UnknownMethod
		case "pull_cancel_scheduled_merge":
			method = ""
		}
	})
	return method, err
}

// MergeWhenReady implements [githost.PullRequestCalls].
func (r *pullRequests) MergeWhenReady(
	ctx context.Context, now githost.PullRequest, method githost.MergeMethod,
) (*githost.PullRequest, error) {
	if method != "" {
		s, err := r.settings(ctx)
		if err == nil && !s.allows(method) {
			err = fmt.Errorf("the settings of the repo do not allow the merge method %q", method)
		}
		if err != nil {
			return nil, err
		}
	}
	if now.AutoMerge != "" {
		_, err := r.call(ctx, http.MethodDelete, pullPath(now.Number)+"/merge", nil, nil)
		if err != nil && !errors.Is(err, githost.ErrNotVisible) { // not visible means that auto-merge is already off
			return nil, r.server.Error(r.traits.Op("disable auto-merge of", now.Number), err)
		}
		now.AutoMerge = ""
	}
	if method == "" {
		return &now, nil
	}
	if err := r.scheduleMerge(ctx, now, method); err != nil {
		return nil, err
	}
	merging, err := r.Read(ctx, now.Number)
	if err == nil && merging.AutoMerge == githost.UnknownMethod {
		merging.AutoMerge = method
	}
	return merging, err
}

// scheduleMerge asks Gitea to merge once the checks have passed, at the commit that was read.
func (r *pullRequests) scheduleMerge(ctx context.Context, now githost.PullRequest, method githost.MergeMethod) error {
	for attempt := 1; ; attempt++ {
		p, err := r.read(ctx, now.Number)
		if err != nil {
			return err
		}
		// Gitea compares the head only if it merges at once, so compare it here.
		if read := r.convert(p); read.State != githost.Open || read.HeadCommit != now.HeadCommit {
			return fmt.Errorf("it is %s at %s; when it was read, it was open at %s", read.State, read.HeadCommit, now.HeadCommit)
		}
		_, err = r.call(ctx, http.MethodPost, pullPath(now.Number)+"/merge", map[string]any{
			"do": method, "merge_when_checks_succeed": true, "head_commit_id": now.HeadCommit,
		}, nil)
		var e *githost.Error
		switch {
		case err == nil, githost.Says(err, saysScheduled):
			return nil
		case !githost.Says(err, saysLater):
			return err
		case attempt == httpapi.MaxRefusals && errors.As(err, &e):
			e.Cause = fmt.Errorf("it conflicts with %s, or Gitea's check for conflicts takes too long", now.Target)
			return err
		case !r.server.NextAttempt(ctx, attempt):
			return err
		}
	}
}
