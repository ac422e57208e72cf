package delivery

import (
	"context"
	"fmt"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// checkTree reports parts of the rendered tree that the guardrails or the path forbid.
func checkTree(ctx context.Context, r *Rendered) problem.Problems {
	switch {
	case r.Assignments < inventory.Whole && r.Args.Guardrails.RequireKnown:
		return problem.Problems{problem.At("Assignments not known", fmt.Sprintf(
			"The assignments depend on values that are known after apply:\n%s\nguardrails.require_known refuses such a plan. "+
				"Apply the resources that give these values first, or use values that are known.",
			problem.IndentedList(schedule.UnknownInputs(r.Args.Fleet), problem.MaxListed)), "guardrails", "require_known")}
	case r.Tree == nil:
		return nil
	}
	ps := checkUnscheduled(ctx, r.Args.Guardrails.Unscheduled, r.Args.Fleet, r.Tree.Schedule)
	ps = append(ps, r.Tree.Schedule.CheckUnsatisfied(ctx, r.Args.Fleet, r.Args.Guardrails.Unsatisfied)...)
	ps = append(ps, r.Requires.Warning(ctx)...)
	if unknown.Is(r.Args.Destination.Path) || unknown.Is(r.Args.Promotion.Commit) {
		return ps
	}
	if err := checkPromotedCommit(r.Args, r.Folders); err != nil {
		const summary = "Path conflicts with the promoted commit's file"
		ps = append(ps, problem.At(summary, problem.Sentence(err), "gitops_repo", "path"))
	}
	return ps
}

// checkPromotedCommit returns an error if one of the folders, or the record, would contain the file of the
// promoted commit, or lie inside it. Without a promoted commit, that file does not exist.
func checkPromotedCommit(a *Arguments, folders inventory.Folders) error {
	if a.Promotion.Commit == "" {
		return nil
	}
	for _, name := range append([]string{record.File}, folders.Names()...) {
		if path := a.Destination.Join(name); destination.Nested(path, record.PromotedCommitFile) {
			return fmt.Errorf("%q conflicts with the file of the promoted commit, %s; choose another path",
				path, record.PromotedCommitFile)
		}
	}
	return nil
}

// CheckClearSecrets reports config values that are plainly secrets, except those that the branch already contains, as
// the state s shows.
func CheckClearSecrets(r *Rendered, s *State) problem.Problems {
	reaction := r.Args.Guardrails.Secrets
	if reaction == problem.Ignore || unknown.Is(string(reaction)) {
		return nil
	}
	ps := r.Secrets.Problems(s)
	for i := range ps {
		ps[i].Severity = reaction.Severity()
	}
	return ps
}
