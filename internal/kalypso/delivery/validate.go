package delivery

import (
	"context"
	"fmt"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion"
	"maps"
	"regexp"
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/pullrequest"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/strategy"
	gitbranch "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/branch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// Validate reports invalid arguments. It skips arguments that are not known yet. It does not validate the fleet.
func (a *Arguments) Validate() problem.Problems {
	ps := a.Destination.Validate(a.Delivers())
	if err := a.Guardrails.MaxRemoved.check(); err != nil {
		ps = append(ps, problem.At("Invalid limit", problem.Sentence(err), "guardrails", "max_removed"))
	}
	if err := a.Guardrails.maxKept().check(); err != nil {
		ps = append(ps, problem.At("Invalid limit", problem.Sentence(err), "guardrails", "max_kept"))
	}
	if a.Promotion.Commit != "" && a.Promotion.Reason == (promotion.Reason{}) && !oneWord(a.Promotion.Commit) {
		ps = append(ps, problem.At("Invalid promoted commit",
			"promoted_commit contains spaces or line breaks. Usually it is a commit hash.", "promoted_commit"))
	}
	if a.Message != "" && gitbranch.CheckMessage(a.Message) != nil {
		ps = append(ps, problem.At("Invalid commit message",
			"commit_message is blank. Write a message, or remove the argument: the default message says what changes.",
			"commit_message"))
	}
	return slices.Concat(ps, a.AcceptedChanges.Validate(), ValidateTrailers(a.Trailers),
		pullrequest.Validate(a.PullRequest), pullrequest.ValidateRepo(a.Strategy, a.Destination.Repo),
		a.Sources.Validate(problem.Attr("sources")))
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

// validateTree reports parts of the rendered tree that the guardrails or the path forbid.
func (r *Rendered) validateTree(ctx context.Context, assignmentsKnown bool) problem.Problems {
	switch {
	case !assignmentsKnown && r.Guardrails.RequireKnown:
		return problem.Problems{unknownProblem(r.Fleet)}
	case r.Tree == nil:
		return nil
	}
	ps := r.Guardrails.checkUnscheduled(ctx, r.Fleet, r.Tree.Schedule)
	ps = append(ps, r.Tree.Schedule.CheckUnsatisfied(ctx, r.Fleet, r.Guardrails.Unsatisfied)...)
	if unknown.Is(r.Destination.Path) || unknown.Is(r.Promotion.Commit) {
		return ps
	}
	if err := r.checkPromotedCommit(r.inventory); err != nil {
		const summary = "Path conflicts with the promoted commit's file"
		ps = append(ps, problem.At(summary, problem.Sentence(err), "gitops_repo", "path"))
	}
	return ps
}

// PlanDestroy is [Arguments.ValidateDestroy], or lists the paths that the destroy removes, as far as s shows.
func (a *Arguments) PlanDestroy(s *State) problem.Problems {
	if ps := a.ValidateDestroy(); len(ps) > 0 || !a.Delivers() || a.KeepOnDestroy || !s.Current() {
		return ps
	}
	paths, err := PathsToRemove(s, &s.Seen)
	if err != nil || len(paths) == 0 {
		return nil //nolint:nilerr // the destroy reads the branch, and reports its errors
	}
	does := "The destroy removes"
	if a.Strategy == strategy.PullRequest {
		does = "The destroy opens a pull request that removes"
	}
	return problem.Problems{problem.WarningAt("Folders will be removed", fmt.Sprintf(
		"%s these paths from %s. Clusters that sync from the folders delete their objects. To keep them, set on_destroy = "+
			"\"keep\", apply, and then destroy:\n%s",
		does, s.Destination, listPaths(s, paths)), "on_destroy")}
}

// listPaths lists paths of ours at the destination of a state, with the number of deployment targets in each folder.
func listPaths(s *State, paths []string) string {
	lines := slices.Sorted(slices.Values(paths))
	for name, folder := range s.Ours() {
		if i, there := slices.BinarySearch(lines, s.Destination.Join(name)); there {
			lines[i] += fmt.Sprintf(" (%s)", problem.Count(len(folder.Targets), "deployment target"))
		}
	}
	return problem.IndentedList(lines, maxPathsListed)
}

// maxPathsListed limits the paths that the plan of a destroy or a move lists.
const maxPathsListed = 200

// ValidateDestroy reports that the rendering must not be destroyed. A rendering that is only computed needs no
// protection.
func (a *Arguments) ValidateDestroy() problem.Problems {
	if !a.Protected || a.Strategy == strategy.None {
		return nil
	}
	return problem.Problems{problem.At("The rendering is protected", fmt.Sprintf(
		"The rendering of environment %q at %s must not be destroyed: clusters sync from its folders.\n%s\nIf the rendering "+
			"is to go, with all its folders, set deletion_protection = false, apply, and then destroy.",
		a.Environment, a.Destination, MovedAdvice), "deletion_protection")}
}

// MovedAdvice shows how to rename the resource of a rendering. The provider does not learn the addresses of resources.
const MovedAdvice = "If its resource has another address now, because it was renamed or is in another module, the " +
	"rendering stays if the configuration says so, with the old and the new address:\n" +
	"  moved {\n" +
	"    from = kalypso_environment_rendering.<old name>\n" +
	"    to   = kalypso_environment_rendering.<new name>\n" +
	"  }"

var word = regexp.MustCompile(`^\S+$`)

func oneWord(text string) bool { return unknown.Is(text) || word.MatchString(text) }

// checkPromotedCommit returns an error if one of the folders, or the record, would contain the file of the
// promoted commit, or lie inside it. Without a promoted commit, that file does not exist.
func (a *Arguments) checkPromotedCommit(folders inventory.Folders) error {
	if a.Promotion.Commit == "" {
		return nil
	}
	paths := []string{a.Destination.RecordPath()}
	for _, name := range folders.Names() {
		paths = append(paths, a.Destination.Join(name))
	}
	return record.CheckPaths(paths)
}
