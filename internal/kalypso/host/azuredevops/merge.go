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
	"github.com/microsoft/azure-devops-go-api/azuredevops/v7/policy"
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

// CheckAutoMerge implements [githost.Repo].
func (r *repo) CheckAutoMerge(method githost.MergeMethod) error {
	if method == "" || strategies[method] != "" {
		return nil
	}
	return r.rejected("enable auto-merge in "+r.String(), githost.FieldAutoMerge,
		fmt.Errorf("%s can't merge by %q", hostName, method))
}

// autoMerge returns the method of auto-complete; "": it is off.
func autoMerge(p *git.GitPullRequest) githost.MergeMethod {
	if by := deref(deref(p.AutoCompleteSetBy).Id); by == "" || by == noIdentity ||
		deref(p.Status) != git.PullRequestStatusValues.Active {
		return ""
	}
	options := deref(p.CompletionOptions)
	if options.MergeStrategy == nil { // set by a client that only knows squashes
		return map[bool]githost.MergeMethod{false: githost.Merge, true: githost.Squash}[deref(options.SquashMerge)]
	}
	for method, strategy := range strategies {
		if strategy == *options.MergeStrategy {
			return method
		}
	}
	return githost.UnknownMethod
}

// MergeWhenReady sets auto-complete. It never completes by itself, and bypasses no policy.
func (r *repo) MergeWhenReady(
	ctx context.Context, now githost.PullRequest, method githost.MergeMethod,
) (*githost.PullRequest, error) {
	switch {
	case now.AutoMerge == method:
		return &now, nil
	case method == "":
		off, err := r.update(ctx, r.op("disable auto-merge of", now.Number), now.Number, git.GitPullRequest{
			AutoCompleteSetBy: &webapi.IdentityRef{Id: new(noIdentity)},
		})
		if err != nil {
			return nil, about(githost.FieldAutoMerge, err)
		}
		return r.convert(off), nil
	}
	merging, err := r.autoComplete(ctx, r.op("enable auto-merge of", now.Number), now, method)
	return merging, about(githost.FieldAutoMerge, err)
}

func (r *repo) autoComplete(
	ctx context.Context, op string, now githost.PullRequest, method githost.MergeMethod,
) (*githost.PullRequest, error) {
	if err := r.CheckAutoMerge(method); err != nil {
		return nil, err
	}
	if err := r.awaitHead(ctx, op, now); err != nil {
		return nil, err
	}
	me, err := r.myself(ctx, op)
	if err != nil {
		return nil, err
	}
	policies, err := r.policies(ctx, op, now.Target)
	if err == nil {
		err = r.checkStrategy(op, policies, now.Target, method)
	}
	if err != nil {
		return nil, err
	}
	optional, waits := divide(policies)
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

// awaitHead waits until Azure shows the head of an open pull request as it was read: Azure's request to merge names no
// commit, and Azure shows a push late. The branch shows it at once.
func (r *repo) awaitHead(ctx context.Context, op string, now githost.PullRequest) error {
	for attempt := 1; ; attempt++ {
		stored, err := r.read(ctx, op, now.Number)
		if err != nil {
			return err
		}
		read := r.convert(stored)
		if read.State == githost.Open && read.HeadCommit == now.HeadCommit {
			return nil
		}
		head := ""
		if read.State == githost.Open {
			if head, err = r.branchHead(ctx, op, now.Branch); err != nil {
				return err
			}
		}
		if head != now.HeadCommit {
			return r.rejected(op, githost.FieldAutoMerge, fmt.Errorf(
				"it is %s at %s; when it was read, it was open at %s", read.State, cmp.Or(head, read.HeadCommit), now.HeadCommit))
		}
		wait := httpapi.Backoff(attempt)
		deadline, limited := ctx.Deadline()
		late := limited && r.client.Clock.Now().Add(wait).After(deadline)
		if late || r.client.Clock.Sleep(ctx, wait) != nil {
			e := r.rejected(op, githost.FieldAutoMerge, fmt.Errorf("%s shows commit %s, and branch %s is at %s", hostName,
				read.HeadCommit, now.Branch, head))
			e.Kind = githost.ErrBranchNotFound
			return e
		}
	}
}

// branchHead returns the commit of a branch, or "" if there is no such branch.
func (r *repo) branchHead(ctx context.Context, op, branch string) (string, error) {
	found, err := r.git.GetRefs(ctx, git.GetRefsArgs{
		RepositoryId: &r.name, Project: &r.project, Filter: new(strings.TrimPrefix(branchPrefix, "refs/") + branch),
	})
	if err != nil {
		return "", r.wrapError(op, err)
	}
	for _, ref := range found.Value { // also branches whose names begin like it
		if deref(ref.Name) == branchPrefix+branch {
			return deref(ref.ObjectId), nil
		}
	}
	return "", nil
}

// mergeWait bounds the wait for a merge that Azure makes in the background.
const mergeWait = time.Minute

// awaitMerge waits until Azure has merged, or until it is known that the pull request waits for policies.
func (r *repo) awaitMerge(
	ctx context.Context, op string, p *git.GitPullRequest, waits bool,
) (*githost.PullRequest, error) {
	until := r.client.Clock.Now().Add(mergeWait)
	for attempt := 1; ; attempt++ {
		now := r.convert(p)
		values, state := git.PullRequestAsyncStatusValues, deref(p.MergeStatus)
		pending := state == values.Queued || state == values.NotSet || state == ""
		switch {
		case now.State == githost.Merged:
			return now, nil
		case now.State == githost.Closed:
			return nil, r.rejected(op, githost.FieldAutoMerge, errors.New("the pull request is closed"))
		case state == values.Conflicts, state == values.RejectedByPolicy, state == values.Failure:
			return nil, r.rejected(op, githost.FieldAutoMerge, errors.New(
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

// policies returns the enabled policies of a branch.
func (r *repo) policies(ctx context.Context, op, branch string) (all []policy.PolicyConfiguration, err error) {
	stored, err := r.lookup(ctx, op)
	if err != nil {
		return nil, err
	}
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
			return nil, r.wrapError(op, err)
		}
		for _, p := range deref(page.PolicyConfigurations) {
			if deref(p.IsEnabled) && !deref(p.IsDeleted) {
				all = append(all, p)
			}
		}
		if token = deref(page.ContinuationToken); token == "" {
			break
		}
	}
	return all, nil
}

// divide returns the policies that auto-complete need not wait for, and whether there are required ones.
func divide(policies []policy.PolicyConfiguration) (optional []int, blocking bool) {
	optional = []int{}
	for _, p := range policies {
		if deref(p.IsBlocking) {
			blocking = true
		} else {
			optional = append(optional, deref(p.Id))
		}
	}
	slices.Sort(optional)
	return optional, blocking
}

// limitsStrategies is the type of policies that limit the merge strategies.
const limitsStrategies = "fa4e907d-c16b-4a4c-9dfa-4916e5d171ab"

// checkStrategy returns an error if a required policy of a branch forbids the strategy of a merge method: auto-complete
// would wait for ever.
func (r *repo) checkStrategy(
	op string, policies []policy.PolicyConfiguration, branch string, method githost.MergeMethod,
) error {
	for _, p := range policies {
		id := deref(p.Type).Id
		if !deref(p.IsBlocking) || id == nil || id.String() != limitsStrategies {
			continue
		}
		if allowed := allowedMethods(p.Settings); !slices.Contains(allowed, method) {
			return r.rejected(op, githost.FieldAutoMerge, fmt.Errorf(
				"a policy of branch %s does not allow the merge method %q; of ours, it allows %q", branch, method, allowed))
		}
	}
	return nil
}

// allowedMethods returns the merge methods that the settings of a policy allow. Those of old policies only choose
// between squash and merge.
func allowedMethods(settings any) []githost.MergeMethod {
	of, _ := settings.(map[string]any)
	allowed := map[githost.MergeMethod]any{
		githost.Merge: of["allowNoFastForward"], githost.Squash: of["allowSquash"], githost.Rebase: of["allowRebase"],
	}
	if squash, old := of["useSquashMerge"].(bool); old && of["allowSquash"] == nil {
		allowed[githost.Merge], allowed[githost.Squash] = !squash, squash
	}
	return slices.DeleteFunc(slices.Clone(githost.MergeMethods), func(method githost.MergeMethod) bool {
		return allowed[method] != true
	})
}

// CheckSettings implements [githost.SettingsChecker]: for the policies of the target branch, and for reviewers with
// none or several identities.
func (r *repo) CheckSettings(
	ctx context.Context, target string, method githost.MergeMethod, reviewers []string,
) (errs []error) {
	if method != "" {
		op := "enable auto-merge in " + r.String()
		if policies, err := r.policies(ctx, op, target); err == nil {
			if err := r.checkStrategy(op, policies, target, method); err != nil {
				errs = append(errs, err)
			}
		}
	}
	for _, name := range reviewers {
		_, err := r.find(ctx, "ask for reviews in "+r.String(), name)
		var e *githost.Error
		if errors.As(err, &e) && e.Field == githost.FieldReviewers {
			errs = append(errs, err)
		}
	}
	return errs
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
