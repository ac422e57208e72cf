package azuredevops

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/microsoft/azure-devops-go-api/azuredevops/v7/git"
	"github.com/microsoft/azure-devops-go-api/azuredevops/v7/policy"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
)

// policyPages bounds the pages of policies that are read.
const policyPages = 10

// branchPolicies are the enabled policies of a branch.
type branchPolicies struct {
	branch  string
	enabled []policy.PolicyConfiguration
}

// policies returns the enabled policies of a branch.
func (r *repo) policies(ctx context.Context, branch string) (branchPolicies, error) {
	all := branchPolicies{branch: branch}
	stored, err := r.lookup(ctx)
	if err != nil {
		return all, err
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
			return all, err
		}
		for _, p := range deref(page.PolicyConfigurations) {
			if deref(p.IsEnabled) && !deref(p.IsDeleted) {
				all.enabled = append(all.enabled, p)
			}
		}
		token = deref(page.ContinuationToken)
		if token == "" {
			break
		}
	}
	return all, nil
}

// divide returns the optional policies, which auto-complete need not wait for, and whether there are required policies.
func (b branchPolicies) divide() (optional []int, blocking bool) {
	optional = []int{}
	for _, p := range b.enabled {
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

// allow returns an error if a required policy of the branch forbids the strategy of a merge method: auto-complete would
// wait for ever.
func (b branchPolicies) allow(method githost.MergeMethod) error {
	for _, p := range b.enabled {
		id := deref(p.Type).Id
		if !deref(p.IsBlocking) || id == nil || id.String() != limitsStrategies {
			continue
		}
		if allowed := allowedMethods(p.Settings); !slices.Contains(allowed, method) {
			return fmt.Errorf("a policy of branch %s does not allow the merge method %q; it allows %q", b.branch,
				method, allowed)
		}
	}
	return nil
}

// allowedMethods returns the merge methods that the settings of a policy allow. The settings of an old policy only
// choose between squash and merge.
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

// checkSettings checks the policies of the target branch, and that each reviewer has exactly one identity; see
// [githost.Repo].
func (r *pullRequests) checkSettings(
	ctx context.Context, target string, method githost.MergeMethod, reviewers []string,
) (errs []error) {
	if method != "" {
		if policies, err := r.policies(ctx, target); err == nil {
			if err := policies.allow(method); err != nil {
				errs = append(errs, r.server.Rejected("enable auto-merge in "+r.traits.Repository, githost.FieldAutoMerge, err))
			}
		}
	}
	for _, name := range reviewers {
		_, err := r.identityID(ctx, name)
		if e, ok := errors.AsType[*githost.Error](err); ok && e.Field == githost.FieldReviewers {
			errs = append(errs, r.server.Error("ask for reviews in "+r.traits.Repository, err))
		}
	}
	return errs
}

// lookup returns the repo as Azure describes it. It reads it only once.
func (r *repo) lookup(ctx context.Context) (*git.GitRepository, error) {
	return r.repos.Get(strings.ToLower(r.project+"/"+r.name), func() (*git.GitRepository, error) {
		return r.git.GetRepository(ctx, git.GetRepositoryArgs{RepositoryId: &r.name, Project: &r.project})
	})
}
