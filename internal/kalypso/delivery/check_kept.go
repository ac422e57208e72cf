package delivery

import (
	"fmt"
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// CheckKept returns the reasons why the apply must not keep targets that fail to render.
func CheckKept(t *NextTree) (errs []error) {
	k := t.Failing
	if k == nil || t.Known == inventory.Unread {
		return nil
	}
	if len(k.Lost) > 0 {
		errs = append(errs, &Refusal{Kind: CannotKeep, Reason: fmt.Sprintf(
			"The rendering moves to %s, and these deployment targets fail to render:\n%s\nThe old location contains them, and "+
				"the new one can't keep them. Fix them first, or remove them from their Workloads.",
			t.Args.Destination, problem.IndentedList(FailedLines(k.Lost), problem.MaxListed))})
	}
	if allowed := t.Args.Guardrails.KeptLimit(); !allowed.Allows(len(k.Kept), k.Existing) {
		errs = append(errs, &Refusal{Kind: Guardrail, Reason: fmt.Sprintf(
			"%d of %s fail to render and would be kept, and guardrails.max_kept is %q. A team rarely breaks that many: check "+
				"the templates and the configs. If the teams did break them, raise the limit.\n%s",
			len(k.Kept),
			problem.Count(k.Existing, "deployment target folder"),
			allowed,
			problem.IndentedList(FailedLines(k.Kept), problem.MaxListed),
		)})
	}
	return errs
}

// keptMoved returns the folders of kept targets that changed on the branch since the plan, because people merged the
// pull request.
func (c *Comparison) keptMoved() (moved []string) {
	k := c.Next.Failing
	if k == nil {
		return nil
	}
	for clusterType, folder := range k.Folders {
		for is, wanted := range inventory.Pairs(c.Branch.Folders[clusterType].Targets, folder.Targets) {
			if wanted != nil && k.keeps(clusterType, wanted.Name) && (is == nil || !is.SameHash(*wanted)) {
				moved = append(moved, clusterType+"/"+wanted.Name)
			}
		}
	}
	slices.Sort(moved)
	return moved
}

// checkLeftOut returns an error if the rendering is created where the branch contains targets that fail to render.
func (c *Comparison) checkLeftOut() error {
	k := c.Next.Failing
	if k == nil || c.Case.delivered() || c.Next.DependsOnBranch {
		return nil
	}
	existing := k.On(c.Next.Rendered, c.Branch.Folders.Only(c.Branch.RecordedFolders()), nil).Kept
	if len(existing) == 0 {
		return nil
	}
	at := c.Next.Args.Destination
	return &Refusal{
		Kind: CannotKeep,
		Reason: fmt.Sprintf("At %s, the branch contains the folders of these deployment targets, which fail to render:\n%s\n"+
			"A create does not know the branch, so it would remove them.",
			at, problem.IndentedList(FailedLines(existing), problem.MaxListed)),
		Advice: " Fix the targets, or import the rendering with the ID\n  " + c.Next.Args.ImportID(),
	}
}
