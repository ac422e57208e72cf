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

	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host/httpapi"
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
	if options.MergeStrategy == nil { // set by a client that only knows the option squash
		return map[bool]githost.MergeMethod{false: githost.Merge, true: githost.Squash}[deref(options.SquashMerge)]
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
	switch {
	case now.AutoMerge == method:
		return &now, nil
	case method == "":
		off, err := r.update(ctx, r.traits.Op("disable auto-merge of", now.Number), now.Number, git.GitPullRequest{
			AutoCompleteSetBy: &webapi.IdentityRef{Id: new(noIdentity)},
		})
		if err != nil {
			return nil, githost.About(githost.FieldAutoMerge, err)
		}
		return r.convert(off), nil
	}
	c := completion{pulls: r, op: r.traits.Op("enable auto-merge of", now.Number), now: now}
	merging, err := c.start(ctx, method)
	return merging, githost.About(githost.FieldAutoMerge, err)
}

// completion is a request to merge a pull request, as it was read.
type completion struct {
	pulls *pullRequests
	op    string
	now   githost.PullRequest
}

// start sets auto-complete.
func (c completion) start(ctx context.Context, method githost.MergeMethod) (*githost.PullRequest, error) {
	if err := c.awaitHead(ctx); err != nil {
		return nil, err
	}
	me, err := c.pulls.myself(ctx, c.op)
	if err != nil {
		return nil, err
	}
	policies, err := c.pulls.policies(ctx, c.op, c.now.Target)
	if err != nil {
		return nil, err
	}
	if reason := policies.allow(method); reason != nil {
		return nil, c.rejected(reason)
	}
	optional, waits := policies.divide()
	strategy := strategies[method]
	set, err := c.pulls.update(ctx, c.op, c.now.Number, git.GitPullRequest{
		AutoCompleteSetBy: &webapi.IdentityRef{Id: &me.id},
		CompletionOptions: &git.GitPullRequestCompletionOptions{
			MergeStrategy: &strategy, DeleteSourceBranch: new(bool), AutoCompleteIgnoreConfigIds: &optional,
			// By default, the message is the title and the description, which together may be too long.
			MergeCommitMessage: new(fmt.Sprintf("Merged PR %d: %s", c.now.Number, c.now.Title)),
		},
	})
	if err != nil {
		return nil, err
	}
	return c.awaitMerge(ctx, set, waits)
}

// rejected returns an error about auto-merge.
func (c completion) rejected(reason error) *githost.Error {
	return c.pulls.server.Rejected(c.op, githost.FieldAutoMerge, reason)
}

// awaitHead waits until Azure shows the expected head of an open pull request. This is necessary because Azure's
// request to merge does not name a commit, and a pull request shows a push later than the branch.
func (c completion) awaitHead(ctx context.Context) error {
	for attempt := 1; ; attempt++ {
		stored, err := c.pulls.read(ctx, c.op, c.now.Number)
		if err != nil {
			return err
		}
		read := c.pulls.convert(stored)
		if read.State == githost.Open && read.HeadCommit == c.now.HeadCommit {
			return nil
		}
		head := ""
		if read.State == githost.Open {
			if head, err = c.branchHead(ctx); err != nil {
				return err
			}
		}
		if head != c.now.HeadCommit {
			return c.rejected(fmt.Errorf(
				"it is %s at %s; when it was read, it was open at %s", read.State, cmp.Or(head, read.HeadCommit), c.now.HeadCommit))
		}
		wait := httpapi.Backoff(attempt)
		deadline, limited := ctx.Deadline()
		late := limited && c.pulls.server.Clock.Now().Add(wait).After(deadline)
		if late || c.pulls.server.Clock.Sleep(ctx, wait) != nil {
			e := c.rejected(fmt.Errorf("%s shows commit %s, and branch %s is at %s", hostName,
				read.HeadCommit, c.now.Branch, head))
			e.Kind = githost.ErrBranchNotFound
			return e
		}
	}
}

// branchHead returns the commit of the branch to be merged, or "" if there is no such branch.
func (c completion) branchHead(ctx context.Context) (string, error) {
	r, branch := c.pulls.repo, c.now.Branch
	found, err := r.git.GetRefs(ctx, git.GetRefsArgs{
		RepositoryId: &r.name, Project: &r.project, Filter: new(strings.TrimPrefix(branchPrefix, "refs/") + branch),
	})
	if err != nil {
		return "", r.server.Error(c.op, err)
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
func (c completion) awaitMerge(
	ctx context.Context, p *git.GitPullRequest, waits bool,
) (*githost.PullRequest, error) {
	until := c.pulls.server.Clock.Now().Add(mergeWait)
	for attempt := 1; ; attempt++ {
		now := c.pulls.convert(p)
		values, state := git.PullRequestAsyncStatusValues, deref(p.MergeStatus)
		pending := state == values.Queued || state == values.NotSet || state == ""
		switch {
		case now.State == githost.Merged:
			return now, nil
		case now.State == githost.Closed:
			return nil, c.rejected(errors.New("the pull request is closed"))
		case state == values.Conflicts, state == values.RejectedByPolicy, state == values.Failure:
			return nil, c.rejected(errors.New(
				strings.TrimSpace(fmt.Sprintf("its merge status is %q %s", state, deref(p.MergeFailureMessage)))))
		case waits && !pending, now.Draft, !c.pulls.server.Clock.Now().Before(until):
			return now, nil
		}
		if err := c.pulls.server.Clock.Sleep(ctx, httpapi.Backoff(attempt)); err != nil {
			return nil, c.pulls.server.Error(c.op, err)
		}
		var err error
		if p, err = c.pulls.read(ctx, c.op, deref(p.PullRequestId)); err != nil {
			return nil, err
		}
	}
}
