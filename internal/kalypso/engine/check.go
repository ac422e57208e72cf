package engine

import (
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/configure"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// CheckObject returns the sorted problems of a single object: invalid fields, templates and schemas. [Run] also finds
// problems between objects.
func CheckObject(o fleet.Object) (problems problem.Problems) {
	defer problem.ReportPanic(func(p *problem.Panic) {
		problems = append(problems, fleet.PanicProblem([]fleet.Object{o}, p))
	})
	problems = append(o.Validate(), configure.CheckObject(o)...)
	if t, ok := o.(*fleet.Template); ok {
		problems = append(problems, render.CheckTemplate(t)...)
	}
	problems.Sort()
	return problems
}
