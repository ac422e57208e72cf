package explain

import (
	"context"
	"fmt"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// UnplacedNames returns the names of the deployment targets that no policy assigns, in the order of the schedule.
func UnplacedNames(s *schedule.Schedule) []string {
	return lists.Map(s.Unscheduled, func(target *fleet.DeploymentTarget) string { return target.Name })
}

// Unplaced explains the deployment targets that no policy assigns, and the policies that assign nothing. Each text
// lists at most [problem.MaxListed] of them, and is empty if there are none.
func Unplaced(ctx context.Context, f *fleet.Fleet, s *schedule.Schedule) (targets, policies string) {
	unscheduled, idle := []UnscheduledTarget(nil), []IdlePolicy(nil)
	if _, all := s.Known(); all {
		unscheduled, idle = Brief(ctx, f, s, problem.MaxListed)
	}
	if names := UnplacedNames(s); len(names) > 0 {
		for i, u := range unscheduled {
			if len(u.Rejections) > 0 {
				names[i] += fmt.Sprintf(": the nearest policy is %q. %s", u.Rejections[0].Policy.Name, u.Rejections[0].Reason)
			}
		}
		list := problem.IndentedList(names, problem.MaxListed)
		targets = fmt.Sprintf(
			"No scheduling policy places %d of %s of environment %q:\n%s\nCompare their labels and workspace with the "+
				"policies' %s, and the labels of the cluster types with %s.",
			len(names), problem.Count(len(s.Targets), "deployment target"), f.Environment, list,
			f.PolicyField("deployment_target_selector"), f.PolicyField("cluster_type_selector"))
		if len(f.Policies) == 0 {
			targets = fmt.Sprintf(
				"%s No cluster type gets a deployment target of environment %q:\n%s", NoPolicies, f.Environment, list)
		}
	}
	lines := lists.Map(idle, func(p IdlePolicy) string { return fmt.Sprintf("%q: %s", p.Policy.Name, p.Reason) })
	if len(lines) > 0 {
		policies = fmt.Sprintf("These policies select no deployment target, or no cluster type:\n%s",
			problem.IndentedList(lines, problem.MaxListed))
	}
	return targets, policies
}
