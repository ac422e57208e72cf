package azuredevops

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/microsoft/azure-devops-go-api/azuredevops/v7/git"
	"github.com/microsoft/azure-devops-go-api/azuredevops/v7/webapi"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting/httpapi"
)

// strategies are Azure's names of the merge methods.
var strategies = map[hosting.MergeMethod]git.GitPullRequestMergeStrategy{
	hosting.Merge:  git.GitPullRequestMergeStrategyValues.NoFastForward,
	hosting.Squash: git.GitPullRequestMergeStrategyValues.Squash,
	hosting.Rebase: git.GitPullRequestMergeStrategyValues.Rebase,
}

// noIdentity is the identity that disables auto-complete.
const noIdentity = "00000000-0000-0000-0000-000000000000"

// CheckAutoMerge implements [hosting.Repo].
func (r *repo) CheckAutoMerge(method hosting.MergeMethod) error {
	if method == "" || strategies[method] != "" {
		return nil
	}
	return r.rejected("enable auto-merge in "+r.String(), hosting.FieldAutoMerge,
		fmt.Errorf("%s can't merge by %q", hostName, method))
}

// autoMerge returns the method of auto-complete; "": it is off.
func autoMerge(p *git.GitPullRequest) hosting.MergeMethod {
	if by := deref(deref(p.AutoCompleteSetBy).Id); by == "" || by == noIdentity ||
		deref(p.Status) != git.PullRequestStatusValues.Active {
		return ""
	}
	options := deref(p.CompletionOptions)
	if options.MergeStrategy == nil { // set by a client that only knows squashes
		return map[bool]hosting.MergeMethod{false: hosting.Merge, true: hosting.Squash}[deref(options.SquashMerge)]
	}
	for method, strategy := range strategies {
		if strategy == *options.MergeStrategy {
			return method
		}
	}
	return hosting.UnknownMethod
}

// MergeWhenReady sets auto-complete. It never completes by itself, and bypasses no policy.
func (r *repo) MergeWhenReady(
	ctx context.Context, now hosting.PullRequest, method hosting.MergeMethod,
) (*hosting.PullRequest, error) {
	switch {
	case now.AutoMerge == method:
		return &now, nil
	case method == "":
		off, err := r.update(ctx, r.op("disable auto-merge of", now.Number), now.Number, git.GitPullRequest{
			AutoCompleteSetBy: &webapi.IdentityRef{Id: new(noIdentity)},
		})
		if err != nil {
			return nil, about(hosting.FieldAutoMerge, err)
		}
		return r.convert(off), nil
	}
	merging, err := r.autoComplete(ctx, r.op("enable auto-merge of", now.Number), now, method)
	return merging, about(hosting.FieldAutoMerge, err)
}

func (r *repo) autoComplete(
	ctx context.Context, op string, now hosting.PullRequest, method hosting.MergeMethod,
) (*hosting.PullRequest, error) {
	if err := r.CheckAutoMerge(method); err != nil {
		return nil, err
	}
	stored, err := r.read(ctx, op, now.Number)
	if err != nil {
		return nil, err
	}
	// Azure's request names no commit to merge.
	if read := r.convert(stored); read.State != hosting.Open || read.HeadCommit != now.HeadCommit {
		return nil, r.rejected(op, hosting.FieldAutoMerge, fmt.Errorf("it is %s at %s; when it was read, it was open at %s",
			read.State, read.HeadCommit, now.HeadCommit))
	}
	me, err := r.myself(ctx, op)
	if err != nil {
		return nil, err
	}
	optional, waits, err := r.policies(ctx, op, now.Target)
	if err != nil {
		return nil, err
	}
	strategy := strategies[method]
	set, err := r.update(ctx, op, now.Number, git.GitPullRequest{
		AutoCompleteSetBy: &webapi.IdentityRef{Id: &me.id},
		CompletionOptions: &git.GitPullRequestCompletionOptions{
			MergeStrategy: &strategy, DeleteSourceBranch: new(bool), AutoCompleteIgnoreConfigIds: &optional,
			// The default is title and description, which may be too long together.
			MergeCommitMessage: new(fmt.Sprintf("Merged PR %d: %s", now.Number, now.Title)),
		},
	})
	if err != nil {
		return nil, err
	}
	return r.awaitMerge(ctx, op, set, waits)
}

// mergeWait bounds the wait for a merge that Azure makes in the background.
const mergeWait = time.Minute

// awaitMerge waits until Azure has merged, or until it is known that the pull request waits for policies.
func (r *repo) awaitMerge(
	ctx context.Context, op string, p *git.GitPullRequest, waits bool,
) (*hosting.PullRequest, error) {
	until := r.client.Clock.Now().Add(mergeWait)
	for attempt := 1; ; attempt++ {
		now := r.convert(p)
		values, state := git.PullRequestAsyncStatusValues, deref(p.MergeStatus)
		pending := state == values.Queued || state == values.NotSet || state == ""
		switch {
		case now.State == hosting.Merged:
			return now, nil
		case now.State == hosting.Closed:
			return nil, r.rejected(op, hosting.FieldAutoMerge, errors.New("the pull request is closed"))
		case state == values.Conflicts, state == values.RejectedByPolicy, state == values.Failure:
			return nil, r.rejected(op, hosting.FieldAutoMerge, errors.New(
				strings.TrimSpace(fmt.Sprintf("its merge status is %q %s", state, deref(p.MergeFailureMessage)))))
		case waits && !pending, now.Draft, !r.client.Clock.Now().Before(until):
			return now, nil
		}
		if err := r.client.Clock.Sleep(ctx, httpapi.Backoff(attempt)); err != nil {
			return nil, r.wrapError(op, err)
		}
		var err error
		if p, err = r.read(ctx, op, deref(p.PullRequestId)); err != nil {
			return nil, err
		}
	}
}

// policyPages bounds the pages of policies that are read.
const policyPages = 10

// policies returns the policies of a branch that auto-complete need not wait for, and whether there are required ones.
func (r *repo) policies(ctx context.Context, op, branch string) (optional []int, blocking bool, err error) {
	stored, err := r.lookup(ctx, op)
	if err != nil {
		return nil, false, err
	}
	optional = []int{}
	token := ""
	for range policyPages {
		arguments := git.GetPolicyConfigurationsArgs{
			Project: &r.project, RepositoryId: stored.Id, RefName: new(branchPrefix + branch),
		}
		if token != "" {
			arguments.ContinuationToken = &token
		}
		page, err := r.git.GetPolicyConfigurations(ctx, arguments)
		if err != nil {
			return nil, false, r.wrapError(op, err)
		}
		for _, p := range deref(page.PolicyConfigurations) {
			switch {
			case !deref(p.IsEnabled) || deref(p.IsDeleted):
			case deref(p.IsBlocking):
				blocking = true
			default:
				optional = append(optional, deref(p.Id))
			}
		}
		if token = deref(page.ContinuationToken); token == "" {
			break
		}
	}
	slices.SortFunc(optional, cmp.Compare[int])
	return optional, blocking, nil
}

// lookup returns the repo as Azure describes it. It is read once.
func (r *repo) lookup(ctx context.Context, op string) (*git.GitRepository, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := strings.ToLower(r.project + "/" + r.name)
	if stored := r.repos[key]; stored != nil {
		return stored, nil
	}
	stored, err := r.git.GetRepository(ctx, git.GetRepositoryArgs{RepositoryId: &r.name, Project: &r.project})
	if err != nil {
		return nil, r.wrapError(op, err)
	}
	r.repos[key] = stored
	return stored, nil
}
