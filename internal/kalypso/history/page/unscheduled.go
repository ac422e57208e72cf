package page

import (
	"cmp"
	"fmt"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
)

// Assignments is the result of the data source kalypso_assignments.
type Assignments struct {
	Name        string // "": Environment
	Environment string
	Unscheduled []struct {
		DeploymentTarget, Workspace string
		Reasons                     []struct{ Policy, Reason string } // the nearest policy first
	}
}

// unscheduled is a deployment target that no policy places in an environment.
type unscheduled struct{ Environment, Target, Workspace, Policy, Reason string }

// maxUnscheduled limits the rows of the deployment targets that are not placed.
const maxUnscheduled = 500

// unscheduledTargets lists the deployment targets that are not placed, with the number of all.
func unscheduledTargets(all []Assignments) (listed []unscheduled, n int) {
	for _, a := range all {
		n += len(a.Unscheduled)
		for _, t := range a.Unscheduled {
			if len(listed) == maxUnscheduled {
				break
			}
			u := unscheduled{Environment: cmp.Or(printable.Line(a.Name), a.Environment), Target: t.DeploymentTarget,
				Workspace: t.Workspace}
			if len(t.Reasons) > 0 {
				u.Policy, u.Reason = t.Reasons[0].Policy, t.Reasons[0].Reason
			}
			if more := len(t.Reasons) - 1; more > 0 {
				u.Policy += fmt.Sprintf(" and %d more", more)
			}
			listed = append(listed, u)
		}
	}
	return listed, n
}
