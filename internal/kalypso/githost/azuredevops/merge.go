package azuredevops

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/microsoft/azure-devops-go-api/azuredevops/v7/git"
	"github.com/microsoft/azure-devops-go-api/azuredevops/v7/webapi"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/httpapi"
)

// strategies are Azure's names of the merge methods.
var strategies = map[githost.MergeMethod]git.GitPullRequestMergeStrategy{
	githost.Merge:  git.GitPullRequestMergeStrategyValues.NoFastForward,
	githost.Squash: git.GitPullRequestMergeStrategyValues.Squash,
	githost.Rebase: git.GitPullRequestMergeStrategyValues.Rebase,
}

// noIdentity is the identity that disables auto-complete.
const noIdentity = "00000000-0000-0000-0000-000000000000"

// autoMerge returns the method of auto-complete, or "" if it is off.
func autoMerge(p *git.GitPullRequest) githost.MergeMethod {
	if by := deref(deref(p.AutoCompleteSetBy).Id); by == "" || by == noIdentity ||
		deref(p.Status) != git.PullRequestStatusValues.Active {
		return ""
	}
	options := deref(p.CompletionOptions)
	switch { // without a strategy, it was set by a client that only knows the option squash
	case options.MergeStrategy == nil && deref(options.SquashMerge):
		return githost.Squash
	case options.MergeStrategy == nil:
		return githost.Merge
	}
	for method, strategy := range strategies {
		if strategy == *options.MergeStrategy {
			return method
		}
	}
	return githost.UnknownMethod
}

// MergeWhenReady sets auto-complete. It never completes the pull request itself, and bypasses no policy.
func (r *pullRequests) MergeWhenReady(
	ctx context.Context, now githost.PullRequest, method githost.MergeMethod,
) (*githost.PullRequest, error) {
	if method == "" {
		return r.answer(r.update(ctx, now.Number, git.GitPullRequest{
			AutoCompleteSetBy: &webapi.IdentityRef{Id: new(noIdentity)},
		}))
	}
	if err := r.awaitHead(ctx, now); err != nil {
		return nil, err
	}
	me, err := r.myself(ctx)
	if err != nil {
		return nil, err
	}
	policies, err := r.policies(ctx, now.Target)
	if err != nil {
		return nil, err
	}
	if reason := policies.allow(method); reason != nil {
		return nil, reason
	}
	optional, waits := policies.divide()
	strategy := strategies[method]
	set, err := r.update(ctx, now.Number, git.GitPullRequest{
		AutoCompleteSetBy: &webapi.IdentityRef{Id: &me.id},
		CompletionOptions: &git.GitPullRequestCompletionOptions{
			MergeStrategy: &strategy, DeleteSourceBranch: new(bool), AutoCompleteIgnoreConfigIds: &optional,
			// By default, the message is the title and the description, which together may be too long.
			MergeCommitMessage: new(fmt.Sprintf("Merged PR %d: %s", now.Number, now.Title)),
		},
	})
	if err != nil {
		return nil, err
	}
	return r.awaitMerge(ctx, set, waits)
}

// awaitHead waits until Azure shows the expected head of an open pull request. This is necessary because Azure's
// request to merge does not name a commit, and a pull request shows a push later than the branch.
func (r *pullRequests) awaitHead(ctx context.Context, now githost.PullRequest) error {
	for attempt := 1; ; attempt++ {
		stored, err := r.read(ctx, now.Number)
		if err != nil {
			return err
		}
		read := r.convert(stored)
		if read.State == githost.Open && read.HeadCommit == now.HeadCommit {
			return nil
		}
		head := ""
		if read.State == githost.Open {
			head, err = r.branchHead(ctx, now.Branch)
			if err != nil {
				return err
			}
		}
		if head != now.HeadCommit {
			return fmt.Errorf("it is %s at %s; when it was read, it was open at %s", read.State,
				cmp.Or(head, read.HeadCommit), now.HeadCommit)
		}
		wait := httpapi.Backoff(attempt)
		deadline, limited := ctx.Deadline()
		late := limited && r.server.Clock.Now().Add(wait).After(deadline)
		if late || r.server.Clock.Sleep(ctx, wait) != nil {
			e := r.server.Rejected("", "", fmt.Errorf("%s shows commit %s, and branch %s is at %s", hostName, read.HeadCommit,
				now.Branch, head))
			e.Kind = githost.ErrBranchNotFound
			return e
		}
	}
}

// branchHead returns the commit of the branch to be merged, or "" if there is no such branch.
func (r *pullRequests) branchHead(ctx context.Context, branch string) (string, error) {
	found, err := r.git.GetRefs(ctx, git.GetRefsArgs{
		RepositoryId: &r.name, Project: &r.project, Filter: new(strings.TrimPrefix(branchPrefix, "refs/") + branch),
	})
	if err != nil {
		return "", err
	}
	for _, ref := range found.Value { // the list includes branches whose names only start with the same text
		if deref(ref.Name) == branchPrefix+branch {
			return deref(ref.ObjectId), nil
		}
	}
	return "", nil
}

// mergeWait bounds the wait for a merge that Azure makes in the background.
const mergeWait = time.Minute

// awaitMerge waits until Azure has merged, or until it is known that the pull request waits for policies.
func (r *pullRequests) awaitMerge(
	ctx context.Context, p *git.GitPullRequest, waits bool,
) (*githost.PullRequest, error) {
	until := r.server.Clock.Now().Add(mergeWait)
	for attempt := 1; ; attempt++ {
		now := r.convert(p)
		values, state := git.PullRequestAsyncStatusValues, deref(p.MergeStatus)
		pending := state == values.Queued || state == values.NotSet || state == ""
		switch {
		case now.State == githost.Merged:
			return now, nil
		case now.State == githost.Closed:
			return nil, errors.New("the pull request is closed")
		case state == values.Conflicts, state == values.RejectedByPolicy, state == values.Failure:
			return nil, errors.New(
				strings.TrimSpace(fmt.Sprintf("its merge status is %q %s", state, deref(p.MergeFailureMessage))))
		case waits && !pending, now.Draft, !r.server.Clock.Now().Before(until):
			return now, nil
		}
		err := r.server.Clock.Sleep(ctx, httpapi.Backoff(attempt))
		if err != nil {
			return nil, err
		}
		p, err = r.read(ctx, deref(p.PullRequestId))
		if err != nil {
			return nil, err
		}
	}
}
