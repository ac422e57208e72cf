package artifacts

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/artifacts/registry"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/report"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/servertls"
)

// Problems turns an error of this package into problems at the arguments of a publication. Errors of several
// repositories that need the same are one problem.
func Problems(at destination.Destination, err error) (ps problem.Problems) {
	var all problem.Errors
	if !errors.As(err, &all) {
		all = problem.Errors{err}
	}
	type group struct{ summary, advice string }
	var groups []group
	members := map[group][]string{}
	for _, one := range all {
		var asked *githost.Error
		if !errors.As(one, &asked) {
			ps = append(ps, deliveryProblem(at, one))
			continue
		}
		g := group{}
		g.summary, g.advice = registryAdvice(asked)
		if !slices.Contains(groups, g) {
			groups = append(groups, g)
		}
		members[g] = append(members[g], problem.Sentence(one))
	}
	for _, g := range groups {
		detail := strings.TrimSpace(members[g][0] + " " + g.advice)
		if n := len(members[g]); n > 1 {
			detail = fmt.Sprintf("It happened in %d repositories. %s\n%s", n, g.advice,
				problem.IndentedList(members[g], problem.MaxListed))
		}
		ps = append(ps, problem.At(g.summary, detail, "repository"))
	}
	return ps
}

// deliveryProblem returns the problem of an error that no registry answers with.
func deliveryProblem(at destination.Destination, err error) problem.Problem {
	var name *nameError
	var unusable *record.Error
	detail := fmt.Sprintf("At %s. %s", at, problem.Sentence(err))
	var p problem.Problem
	switch {
	case errors.As(err, &name):
		p = problem.At("No repository can have the name of a cluster type", problem.Sentence(err), "repository")
	case errors.Is(err, ErrNoCommit):
		p = problem.At("The branch does not contain the commit", fmt.Sprintf(
			"Neither the head of branch %q of %s nor one of its ancestors is the commit. Only what was delivered is published: "+
				"use commit_sha of the rendering, or the hash of another commit of the branch.", at.Branch, at.Repo), "commit")
	case errors.Is(err, ErrNoRecord):
		p = problem.At("Nothing was delivered with the commit", detail+
			" Check gitops_repo, and use commit_sha of the rendering.", "commit")
	case errors.Is(err, ErrNoFolder):
		p = problem.At("A folder of the rendering was removed", detail+
			" Apply the rendering to restore it. Nothing was published.", "commit")
	case errors.As(err, &unusable):
		p = problem.At("The rendering's record can't be used", problem.Sentence(err), "commit")
	default:
		return report.Error(at, err)
	}
	p.Err = err
	return p
}

// registryAdvice returns the summary of an error of a registry, and how to fix it.
func registryAdvice(e *githost.Error) (summary, advice string) {
	const credential = "Set oci_credentials of the provider, or log in with docker login on the machine that runs " +
		"Terraform."
	switch {
	case errors.Is(e, registry.ErrNoCredential):
		return "No credential for the registry", credential
	case errors.Is(e, registry.ErrPlainHTTP):
		return "The registry does not use https", "Let it serve https, or publish to another registry."
	case errors.Is(e, registry.ErrTagsStay):
		return "The registry does not remove tags", ""
	case errors.Is(e, githost.ErrUnauthenticated):
		return "The registry does not accept the credential", "Check the credential. " + credential
	case errors.Is(e, githost.ErrForbidden):
		return "The registry denies the request", "Allow the credential to pull and push in the repositories below " +
			"repository; to remove tags, it also needs to delete."
	case errors.Is(e, githost.ErrNotVisible):
		return "Not found in the registry", "Check repository. Some registries need the repository to be created first, " +
			"and some give this answer if the credential lacks permission."
	case errors.Is(e, githost.ErrRateLimited):
		return "The registry's rate limit", "Apply again later, or raise timeouts."
	case errors.Is(e, githost.ErrUnavailable):
		if certificate := servertls.Advice(e); certificate != "" {
			return "The registry can't be reached", strings.ToUpper(certificate[:1]) + certificate[1:] +
				" in oci_credentials of the provider."
		}
		return "The registry can't be reached", "Check repository, the network and the server, and apply again: the next " +
			"apply uploads what is still missing."
	}
	return "The registry refused the request", "Fix what the registry names, and apply again: the next apply uploads " +
		"what is still missing."
}
