package gitea

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host/httpapi"
)

// CheckAutoMerge implements [githost.Repo].
func (r *repo) CheckAutoMerge(method githost.MergeMethod) error {
	if method == "" || slices.Contains(githost.MergeMethods, method) {
		return nil
	}
	return r.rejected("enable auto-merge in "+r.String(), githost.FieldAutoMerge,
		fmt.Errorf("%s can't merge by %q", hostName, method))
}

// scheduled reports whether an open pull request will be merged automatically: [githost.UnknownMethod] or "". Only its
// timeline shows that, without the method.
func (r *repo) scheduled(ctx context.Context, op string, number int) (method githost.MergeMethod, err error) {
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

// MergeWhenReady implements [githost.Repo].
func (r *repo) MergeWhenReady(
	ctx context.Context, now githost.PullRequest, method githost.MergeMethod,
) (*githost.PullRequest, error) {
	if now.AutoMerge == method {
		return &now, nil
	}
	op := r.op("enable auto-merge of", now.Number)
	if method != "" {
		if err := r.checkAllowed(ctx, op, method); err != nil {
			return nil, about(githost.FieldAutoMerge, err)
		}
	}
	if now.AutoMerge != "" {
		op := r.op("disable auto-merge of", now.Number)
		_, err := r.call(ctx, op, http.MethodDelete, pullPath(now.Number)+"/merge", nil, nil)
		if err != nil && !errors.Is(err, githost.ErrNotVisible) { // which says that it is disabled
			return nil, about(githost.FieldAutoMerge, err)
		}
		now.AutoMerge = ""
	}
	if method == "" {
		return &now, nil
	}
	if err := r.schedule(ctx, op, now, method); err != nil {
		return nil, about(githost.FieldAutoMerge, err)
	}
	merging, err := r.Read(ctx, now.Number)
	if err == nil && merging.AutoMerge == githost.UnknownMethod {
		merging.AutoMerge = method
	}
	return merging, err
}

// checkAllowed returns an error if the repo's settings forbid a method: Gitea would schedule the merge, and not merge.
func (r *repo) checkAllowed(ctx context.Context, op string, method githost.MergeMethod) error {
	s, err := r.settings(ctx, op)
	if err != nil {
		return err
	}
	allowed := map[githost.MergeMethod]bool{githost.Merge: s.Merge, githost.Squash: s.Squash, githost.Rebase: s.Rebase}
	if !allowed[method] {
		return r.rejected(op, githost.FieldAutoMerge,
			fmt.Errorf("the settings of the repo do not allow the merge method %q", method))
	}
	return nil
}

// maxMergeAttempts bounds the attempts to schedule a merge while Gitea checks for conflicts.
const maxMergeAttempts = 5

// schedule asks Gitea to merge a pull request once its checks have passed, at the commit that was read.
func (r *repo) schedule(ctx context.Context, op string, now githost.PullRequest, method githost.MergeMethod) error {
	for attempt := 1; ; attempt++ {
		p, err := r.read(ctx, op, now.Number)
		if err != nil {
			return err
		}
		// Gitea compares the head only if it merges now.
		if read := r.convert(p); read.State != githost.Open || read.HeadCommit != now.HeadCommit {
			return r.rejected(op, githost.FieldAutoMerge, fmt.Errorf("it is %s at %s; when it was read, it was open at %s",
				read.State, read.HeadCommit, now.HeadCommit))
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
		case attempt == maxMergeAttempts:
			e.Cause = fmt.Errorf("it conflicts with %s, or Gitea's check for conflicts lasts too long", now.Target)
			return err
		}
		if failed := r.client.Clock.Sleep(ctx, httpapi.Backoff(attempt)); failed != nil {
			return err
		}
	}
}
