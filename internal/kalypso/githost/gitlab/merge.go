package gitlab

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	gitlab "gitlab.com/gitlab-org/api/client-go/v2"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
)

// autoMerge returns the method of auto-merge, or "" if it is off.
func autoMerge(m *gitlab.BasicMergeRequest) githost.MergeMethod {
	switch {
	case !m.MergeWhenPipelineSucceeds:
		return ""
	case m.Squash:
		return githost.Squash
	}
	return githost.Merge
}

// MergeWhenReady sends the request even if auto-merge is already on, because GitLab turns auto-merge off some time
// after a push. It stays on if it was requested for the pushed commit.
func (r *mergeRequests) MergeWhenReady(ctx context.Context, now githost.PullRequest,
	method githost.MergeMethod) (*githost.PullRequest, error) {
	if method == "" {
		return r.cancel(ctx, now)
	}
	if err := r.traits.CheckSupport(githost.Settings{AutoMerge: method}); err != nil {
		return nil, err
	}
	squash := method == githost.Squash
	// The request to merge can turn squash on, but not off.
	state, err := r.update(ctx, now.Number, &gitlab.UpdateMergeRequestOptions{Squash: &squash})
	if err != nil {
		return nil, err
	}
	auto := true
	for attempt := 1; ; attempt++ {
		switch state.State {
		case stateClosed:
			return nil, errors.New("the merge request is closed")
		case stateMerged:
			return answer(state, nil)
		}
		merging, err := r.merge(ctx, now, squash, auto)
		if !mayPass(err) {
			return merging, err
		}
		more := r.server.NextAttempt(ctx, attempt)
		read, failed := r.read(ctx, now.Number)
		switch refusal, _ := errors.AsType[*githost.Error](err); {
		case failed != nil && more:
			return nil, failed
		case failed != nil:
			return nil, err
		case !more && read.State != stateMerged:
			refusal.Cause = fmt.Errorf("its state is %q", read.DetailedMergeStatus)
			return nil, err
		}
		// Without a pipeline, many versions of GitLab refuse auto-merge. Other versions merge at once.
		auto = githost.StatusOf(err) != http.StatusMethodNotAllowed || read.DetailedMergeStatus != statusMergeable ||
			read.HeadPipeline != nil
		state = read
	}
}

// statusMergeable is GitLab's detailed merge status of a merge request that can be merged now.
const statusMergeable = "mergeable"

// mayPass reports whether GitLab may accept the refused merge a little later.
func mayPass(err error) bool {
	switch githost.StatusOf(err) {
	case http.StatusMethodNotAllowed, http.StatusConflict, http.StatusUnprocessableEntity:
		return !githost.Says(err, saysMoved)
	}
	return false
}

// merge sends one request to merge the commit that was read. If auto is set, GitLab merges once the pipeline has
// passed. Otherwise it merges at once.
func (r *mergeRequests) merge(
	ctx context.Context, now githost.PullRequest, squash, auto bool,
) (*githost.PullRequest, error) {
	options := &gitlab.AcceptMergeRequestOptions{SHA: &now.HeadCommit}
	if auto {
		options.AutoMerge = &auto
		options.MergeWhenPipelineSucceeds = &auto //nolint:staticcheck // servers before 17.11 only know this name
	}
	if squash {
		options.Squash = &squash
	}
	id, err := r.id(ctx)
	if err != nil {
		return nil, err
	}
	merging, _, err := r.client.api.MergeRequests.AcceptMergeRequest(
		id, int64(now.Number), options, gitlab.WithContext(ctx))
	return answer(merging, mergeError(err))
}

// mergeError refines an error of a merge. The status 401 means a missing permission in this case.
func mergeError(err error) error {
	if e, ok := errors.AsType[*githost.Error](err); ok && e.Status == http.StatusUnauthorized {
		e.Kind = githost.ErrForbidden
		advise(e, nil)
	}
	return err
}

// cancel disables auto-merge. If it is already off, some versions of GitLab answer with an error, so only the state of
// the merge request decides.
func (r *mergeRequests) cancel(ctx context.Context, now githost.PullRequest) (*githost.PullRequest, error) {
	id, err := r.id(ctx)
	if err != nil {
		return nil, err
	}
	_, _, err = r.client.api.MergeRequests.CancelMergeWhenPipelineSucceeds(
		id, int64(now.Number), gitlab.WithContext(ctx))
	err = mergeError(err)
	code := githost.StatusOf(err)
	if err != nil && code != http.StatusMethodNotAllowed && code != http.StatusNotAcceptable {
		return nil, err
	}
	state, failed := r.read(ctx, now.Number)
	if failed != nil {
		return nil, failed
	}
	if read := convert(&state.BasicMergeRequest); read.AutoMerge == "" {
		return read, nil
	}
	if err == nil {
		err = errors.New("auto-merge is still on")
	}
	return nil, err
}
