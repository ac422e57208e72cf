package tree

import (
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/configure"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render"
)

// Check returns what is wrong, as far as it is known, with a fleet whose schedule is not decided yet.
func Check(f *fleet.Fleet) fleet.Problems {
	problems := f.Validate()
	for _, t := range f.Templates {
		problems = append(problems, render.Check(t)...)
	}
	_, ps := configure.New(f)
	problems = append(problems, ps...)
	problems.Sort()
	return problems
}
