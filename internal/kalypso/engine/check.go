package engine

import (
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/configure"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render"
)

// Check returns what is wrong with one object by itself, sorted: its fields, templates that do not parse, schemas that
// can't be used. [Run] finds the same, and what is wrong between objects.
func Check(o fleet.Object) fleet.Problems {
	problems := append(o.Validate(), configure.Check(o)...)
	if t, ok := o.(*fleet.Template); ok {
		problems = append(problems, render.Check(t)...)
	}
	problems.Sort()
	return problems
}
