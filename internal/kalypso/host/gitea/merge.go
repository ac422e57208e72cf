package gitea

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host/httpapi"
)

// scheduled returns [githost.UnknownMethod] if an open pull request will be merged automatically, and "" otherwise.
// Only the timeline shows that, and it does not contain the method.
func (r *pullRequests) scheduled(ctx context.Context, op string, number int) (method githost.MergeMethod, err error) {
	err = r.timeline(ctx, op, number, func(e event) {
		switch e.Type {
		case "pull_scheduled_merge":
			method = githost.UnknownMethod
		case "pull_cancel_scheduled_merge":
			method = ""
		}
	})
	return method, err
}

// MergeWhenReady implements [githost.PullRequests].
func (r *pullRequests) MergeWhenReady(
	ctx context.Context, now githost.PullRequest, method githost.MergeMethod,
) (*githost.PullRequest, error) {
	if now.AutoMerge == method {
		return &now, nil
	}
	op := r.traits.Op("enable auto-merge of", now.Number)
	if method != "" {
		s, err := r.settings(ctx, op)
		if err == nil && !s.allows(method) {
			err = r.server.Rejected(op, githost.FieldAutoMerge,
				fmt.Errorf("the settings of the repo do not allow the merge method %q", method))
		}
		if err != nil {
			return nil, githost.About(githost.FieldAutoMerge, err)
		}
	}
	if now.AutoMerge != "" {
		op := r.traits.Op("disable auto-merge of", now.Number)
		_, err := r.call(ctx, op, http.MethodDelete, pullPath(now.Number)+"/merge", nil, nil)
		if err != nil && !errors.Is(err, githost.ErrNotVisible) { // not visible means that auto-merge is already off
			return nil, githost.About(githost.FieldAutoMerge, err)
		}
		now.AutoMerge = ""
	}
	if method == "" {
		return &now, nil
	}
	if err := r.scheduleMerge(ctx, op, now, method); err != nil {
		return nil, githost.About(githost.FieldAutoMerge, err)
	}
	merging, err := r.Read(ctx, now.Number)
	if err == nil && merging.AutoMerge == githost.UnknownMethod {
		merging.AutoMerge = method
	}
	return merging, err
}

// scheduleMerge asks Gitea to merge once the checks have passed, at the commit that was read.
func (r *pullRequests) scheduleMerge(
	ctx context.Context, op string, now githost.PullRequest, method githost.MergeMethod,
) error {
	for attempt := 1; ; attempt++ {
		p, err := r.read(ctx, op, now.Number)
		if err != nil {
			return err
		}
		// Gitea compares the head only if it merges at once, so compare it here.
		if read := r.convert(p); read.State != githost.Open || read.HeadCommit != now.HeadCommit {
			return r.server.Rejected(op, githost.FieldAutoMerge, fmt.Errorf(
				"it is %s at %s; when it was read, it was open at %s", read.State, read.HeadCommit, now.HeadCommit))
		}
		_, err = r.call(ctx, op, http.MethodPost, pullPath(now.Number)+"/merge", map[string]any{
			"do": method, "merge_when_checks_succeed": true, "head_commit_id": now.HeadCommit,
		}, nil)
		var e *githost.Error
		switch {
		case !errors.As(err, &e) || strings.Contains(e.Message, saysScheduled):
			return nil
		case !strings.Contains(e.Message, saysLater) && !strings.Contains(e.Message, saysOutOfDate):
			return err
		case attempt == httpapi.MaxRefusals:
			e.Cause = fmt.Errorf("it conflicts with %s, or Gitea's check for conflicts takes too long", now.Target)
			return err
		case !r.server.NextAttempt(ctx, attempt):
			return err
		}
	}
}
