package delivery

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/record"
)

// maxFailedListed limits the assignments and the reasons that the warning lists.
const maxFailedListed = 100

// failureProblems warns about the deployment targets that fail to render: one warning lists all of them with object,
// reason and time.
func (decision *Decision) failureProblems() problem.Problems {
	t := decision.Applied
	k := t.kept
	if k == nil {
		return nil
	}
	var b strings.Builder
	b.WriteString("What fails to render stays as the branch holds it, or stays out if the branch does not hold it. " +
		"The next good render puts it right.\n")
	for i, p := range t.failed {
		if i == maxFailedListed {
			fmt.Fprintf(&b, "\nAnd %s.\n", problem.Count(len(t.failed)-i, "more reason"))
			break
		}
		reason := strings.TrimRight(cmp.Or(p.Cause, p.Detail), "\n")
		fmt.Fprintf(&b, "\n%s: %s: %s\n%s\n", p.Subject(), p.Summary, reason,
			problem.IndentedList(k.lines(p, t.uncertain), maxFailedListed))
	}
	return problem.Problems{warning(fmt.Sprintf("%s to render", fails(len(k.kept)+len(k.leftOut))), b.String(),
		"on_assignment_error")}
}

func fails(n int) string {
	if n == 1 {
		return "A deployment target fails"
	}
	return fmt.Sprintf("%d deployment targets fail", n)
}

// lines describes what happens to the assignments that a problem affects.
func (k *keptTree) lines(p problem.Problem, uncertain bool) (lines []string) {
	affected := failuresOf(problem.Problems{p})
	names := map[string]bool{}
	for _, t := range p.Affects {
		names[t.Name] = true
	}
	add := func(all []record.FailedAssignment, becomes string) {
		for _, f := range all {
			// A target that can't join a cluster type is kept on others.
			joins := k.waiting[f.DeploymentTarget] && !k.failures.include(f.ClusterType, f.DeploymentTarget)
			if !affected.include(f.ClusterType, f.DeploymentTarget) && (!joins || !names[f.DeploymentTarget]) {
				continue
			}
			line := fmt.Sprintf("%s: %s", f, becomes)
			if f.Since != "" {
				line += ", fails since " + printable.Line(f.Since)
			}
			lines = append(lines, line)
		}
	}
	add(k.kept, "kept")
	add(k.lost, "the old location holds it, and the new one can't keep it")
	switch {
	case len(k.lost) > 0:
	case uncertain:
		add(k.leftOut, "the apply reads whether the branch holds it")
	default:
		add(k.leftOut, "left out")
	}
	return lines
}
