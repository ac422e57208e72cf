package delivery

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/pullrequest"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// Validate reports invalid arguments. It skips arguments that are not known yet. It does not validate the fleet.
func (a *Arguments) Validate() problem.Problems {
	ps := a.Destination.Validate(a.Delivers())
	if _, err := parseLimit(a.Guardrails.MaxRemoved, DefaultMaxRemoved); err != nil {
		ps = append(ps, problem.At("Invalid limit", problem.Sentence(err), "guardrails", "max_removed"))
	}
	if _, err := parseLimit(a.Guardrails.MaxKept, DefaultMaxKept); err != nil {
		ps = append(ps, problem.At("Invalid limit", problem.Sentence(err), "guardrails", "max_kept"))
	}
	if a.Environment == "default" {
		ps = append(ps, problem.WarningAt("The environment has the name of Terraform's default workspace",
			"environment is \"default\". If it is terraform.workspace, the workspace is not selected: run terraform workspace "+
				"select with the environment's name. Otherwise give the environment a name of its own.", "environment"))
	}
	commit := a.Promotion.Commit
	if a.Promotion.Reason == (promotion.Reason{}) && !unknown.Is(commit) && strings.ContainsAny(commit, " \t\n\f\r") {
		ps = append(ps, problem.At("Invalid promoted commit",
			"promoted_commit contains spaces or line breaks. Usually it is a commit hash.", "promoted_commit"))
	}
	if a.Message != "" && gitbranch.CheckMessage(a.Message) != nil {
		ps = append(ps, problem.At("Invalid commit message",
			"commit_message is blank. Write a message, or remove the argument: the default message says what changes.",
			"commit_message"))
	}
	if a.Strategy == destination.PullRequest {
		ps = append(ps, pullrequest.ValidateRepo(a.Destination.Repo)...)
	}
	return slices.Concat(ps, a.AcceptedChanges.Validate(), ValidateTrailers(a.Trailers),
		pullrequest.Validate(a.PullRequest), a.Owners.Validate(), a.Sources.Validate(problem.Attr("sources")),
		validateVerified(a.Verified), a.validateFeedback())
}

// validateVerified reports keys of verified that are no commits.
func validateVerified(verified map[string]string) (ps problem.Problems) {
	for _, commit := range slices.Sorted(maps.Keys(verified)) {
		if err := githost.CheckCommit(commit); err != nil && !unknown.Is(commit) {
			p := problem.At("Invalid commit", fmt.Sprintf("%q: %s Usually verified is the output verified of a data source.",
				commit, problem.Sentence(err)), "verified")
			p.Path = append(p.Path, problem.Key(commit))
			ps = append(ps, p)
		}
	}
	return ps
}

// ValidateTrailers reports the trailers that no commit can have, each at its key of commit_trailers.
func ValidateTrailers(trailers map[string]string) problem.Problems {
	const argument, summary = "commit_trailers", "Invalid trailer"
	var ps problem.Problems
	for _, key := range slices.Sorted(maps.Keys(trailers)) {
		value := trailers[key]
		if unknown.Is(key) || unknown.Is(value) {
			continue
		}
		if err := gitbranch.CheckTrailer(key, value); err != nil {
			p := problem.At(summary, problem.Sentence(err), argument)
			p.Path = append(p.Path, problem.Key(key))
			ps = append(ps, p)
		}
	}
	if err := gitbranch.CheckTrailerKeys(trailers); err != nil {
		ps = append(ps, problem.At(summary, problem.Sentence(err), argument))
	}
	return ps
}

// ValidateDestroy reports that the rendering must not be destroyed. A rendering that is only computed needs no
// protection.
func (a *Arguments) ValidateDestroy() problem.Problems {
	if !a.Protected || a.Strategy == destination.None {
		return nil
	}
	return problem.Problems{problem.At("The rendering is protected", fmt.Sprintf(
		"The rendering of environment %q at %s must not be destroyed: clusters sync from its folders.\n%s\nIf the rendering "+
			"is to go, with all its folders, set deletion_protection = false, apply, and then destroy.",
		a.Environment, a.Destination, MovedAdvice), "deletion_protection")}
}

// MovedAdvice shows how to rename the resource of a rendering. The provider does not learn the addresses of resources.
const MovedAdvice = "If its resource has another address now, because it was renamed or is in another module, the " +
	"rendering stays if the configuration says so, with both addresses as the plan shows them, also an index " +
	"such as [0]:\n" +
	"  moved {\n" +
	"    from = kalypso_environment_rendering.<old name>\n" +
	"    to   = kalypso_environment_rendering.<new name>\n" +
	"  }"
