package tree

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

type failure struct {
	render.Failure
	assignment *schedule.Assignment
}

// maxListedAssignments limits the assignments that an error names.
const maxListedAssignments = 100

// problemsOf groups the failures by cause, into one problem for each cause with all affected assignments.
func problemsOf(failures []failure) (problems problem.Problems) {
	groups := map[string][]failure{}
	for _, f := range failures {
		groups[f.cause()] = append(groups[f.cause()], f)
	}
	for cause, group := range groups {
		slices.SortFunc(group, func(a, b failure) int { return cmp.Compare(a.on(), b.on()) })
		p := problem.Problem{Summary: "Values violate their schema", Err: group[0].Err}
		if t := group[0].Template; t != nil {
			p = fleet.ProblemOf(t, p)
			p.Summary = "Template rendering failed"
			if !strings.HasPrefix(t.Name, "(") {
				p.Path = []problem.Step{problem.Attr("manifests"), problem.Index(group[0].Manifest)}
			}
		} else {
			p = fleet.ProblemOf(group[0].Violation.Object, p)
		}
		hit := make([]string, len(group))
		ofTeam := group[0].ofTeam()
		for i, f := range group {
			hit[i] = f.on()
			if ofTeam {
				p.Affects = append(p.Affects, problem.AffectedTarget{
					ClusterType: f.assignment.ClusterType.Name, Name: f.assignment.Target.Name,
				})
			}
		}
		if ofTeam {
			p.Fault, p.Cause = problem.TeamFault, cause
		}
		p.Detail = fmt.Sprintf(
			"%s\n\nAffected assignments (%d), as cluster type / deployment target:\n%s",
			cause,
			len(group),
			problem.IndentedList(hit, maxListedAssignments),
		)
		problems = append(problems, p)
	}
	return problems
}

// ofTeam reports whether the team's data can cause the failure. The team is not at fault if a schema of the platform
// rejects values of the platform, or if the time of a file is over: no result may depend on the speed of the machine.
func (f *failure) ofTeam() bool {
	if f.Template != nil {
		return !errors.Is(f.Err, render.ErrTooSlow)
	}
	return f.Violation.Object.Kind() == fleet.KindWorkload
}

func (f *failure) on() string {
	return f.assignment.ClusterType.Name + " / " + f.assignment.Target.Name
}

func (f *failure) cause() string {
	if f.Template == nil {
		return fmt.Sprintf(
			"%s rejects these values. Change the configs or the schema:\n  %s",
			f.Violation.Schema,
			strings.Join(f.Violation.Keys, "\n  "),
		)
	}
	return problem.Sentence(fmt.Errorf("manifest %d of template %q, %w", f.Manifest+1, f.Template.Name, f.Err))
}
