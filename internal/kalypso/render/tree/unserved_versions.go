package tree

import (
	"fmt"
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// unservedVersion is a version of Flux objects that Flux no longer serves: see objects.Object.ServedVersion.
type unservedVersion struct{ template, rendered, served string }

// unservedProblem warns of templates that render versions that Flux no longer serves.
func unservedProblem(versions []unservedVersion) problem.Problem {
	lines := lists.Map(versions, func(v unservedVersion) string {
		return fmt.Sprintf("template %q: %s, now %s", v.template, v.rendered, v.served)
	})
	slices.Sort(lines)
	return problem.Problem{
		Severity: problem.Warning, Summary: "Flux no longer serves this version", Detail: fmt.Sprintf(
			"Flux 2.8 and later reject objects of these versions, and with them the whole folder. Change apiVersion in the "+
				"templates; the release notes of Flux list the few fields that changed their names:\n%s",
			problem.IndentedList(lines, problem.MaxListed)),
	}
}
