package explain

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
)

// UnscheduledTarget is a deployment target that no policy assigns.
type UnscheduledTarget struct {
	Target *fleet.DeploymentTarget
	// Rejections has one entry for each policy: the policies with the fewest mismatches first (see [compareDistance]),
	// then by name. If all targets together have more than [MaxRejections] entries, only the first entries of each target
	// are kept.
	Rejections []Rejection
}

// MaxRejections limits the number of rejections in an explanation. Each unscheduled target has at least one. Without
// the limit, a large fleet with few assignments would have millions.
const MaxRejections = 20_000

// Rejection is the reason why a policy does not assign a deployment target, to any cluster type or to one.
type Rejection struct {
	Policy     *fleet.SchedulingPolicy
	Mismatches []Mismatch // the requirements that the target does not meet
	// ClusterTypeMismatches lists the requirements that the cluster type does not meet, or the nearest one if the policy
	// selects none.
	ClusterTypeMismatches []Mismatch
	NoClusterTypes        bool   // whether the policy selects no cluster type
	Reason                string // all reasons, in sentences

	noClusterTypes string // see [policy]
}

// IdlePolicy is a policy that assigns nothing: it selects no deployment targets, no cluster types, or neither.
type IdlePolicy struct {
	Policy              *fleet.SchedulingPolicy
	NoDeploymentTargets bool
	NoClusterTypes      bool
	// If no object is selected, these name the object with the fewest mismatches. They are empty if there are no objects.
	NearestDeploymentTarget string
	NearestClusterType      string
	Reason                  string // in sentences
}

// policy is a policy with its requirements.
type policy struct {
	*fleet.SchedulingPolicy
	ofTargets      requirements
	ofClusterTypes requirements
	clusterTypes   selectorResult
	noClusterTypes string // why the policy selects no cluster type, or ""
}

// Brief explains at most most unscheduled targets, each by the nearest policy, and at most most policies that assign
// nothing. There may be more of both. All placements of the schedule must be decided.
func Brief(
	ctx context.Context, f *fleet.Fleet, s *schedule.Schedule, most int,
) (targets []UnscheduledTarget, idle []IdlePolicy) {
	assigned := map[*fleet.SchedulingPolicy]bool{}
	for _, p := range s.Placements {
		for _, a := range p.Assignments {
			for _, policy := range a.Policies {
				assigned[policy] = true
			}
		}
	}
	if len(s.Unscheduled) == 0 && len(assigned) == len(f.Policies) {
		return nil, nil
	}
	first := *s
	first.Unscheduled = s.Unscheduled[:min(len(s.Unscheduled), most)]
	names := lists.Map(first.Unscheduled, func(t *fleet.DeploymentTarget) string { return t.Name })
	e := About(ctx, f, &first, names...)
	for _, t := range first.Unscheduled {
		e.Unscheduled = append(e.Unscheduled, UnscheduledTarget{t, e.rejectionsOf(t, 1)})
	}
	for _, p := range e.policies {
		if len(e.IdlePolicies) == most || ctx.Err() != nil {
			break
		}
		if !assigned[p.SchedulingPolicy] {
			e.addIfIdle(p, f.Environment)
		}
	}
	return e.Unscheduled, e.IdlePolicies
}

func policiesOf(f *fleet.Fleet) []policy {
	policies := make([]policy, len(f.Policies))
	for i, p := range f.Policies {
		policies[i] = policy{
			SchedulingPolicy: p,
			ofTargets:        requirementsOf(p.Workspace, &p.DeploymentTargets),
			ofClusterTypes:   requirementsOf("", &p.ClusterTypes),
		}
		policies[i].clusterTypes = policies[i].ofClusterTypes.find(
			len(f.ClusterTypes),
			func(n int) (string, map[string]string) {
				return f.ClusterTypes[n].Name, f.ClusterTypes[n].Labels
			},
		)
		policies[i].noClusterTypes = policies[i].clusterTypes.sentence("cluster type", "")
	}
	return policies
}

// addIfIdle adds a policy to the idle policies if it selects no deployment targets or no cluster types.
func (e *Explanation) addIfIdle(p policy, environment string) {
	targets := p.ofTargets.find(len(e.Schedule.Targets), func(n int) (string, map[string]string) {
		return e.Schedule.Targets[n].Name, e.Schedule.Targets[n].Labels
	})
	if targets.found && p.clusterTypes.found {
		return
	}
	e.IdlePolicies = append(e.IdlePolicies, IdlePolicy{
		Policy:                  p.SchedulingPolicy,
		NoDeploymentTargets:     !targets.found,
		NoClusterTypes:          !p.clusterTypes.found,
		NearestDeploymentTarget: targets.nearest,
		NearestClusterType:      p.clusterTypes.nearest,
		Reason: sentences(
			targets.sentence("deployment target", fmt.Sprintf(" in environment %q", environment)),
			p.noClusterTypes,
		),
	})
}

// rejectionsOf returns at most most rejections of a target that no policy assigns.
func (e *Explanation) rejectionsOf(t *fleet.DeploymentTarget, most int) []Rejection {
	all := lists.Map(e.policies, func(p policy) Rejection {
		return Rejection{
			Policy: p.SchedulingPolicy, Mismatches: p.ofTargets.mismatches(t.Labels), noClusterTypes: p.noClusterTypes,
			ClusterTypeMismatches: p.clusterTypes.mismatches, NoClusterTypes: !p.clusterTypes.found,
		}
	})
	slices.SortStableFunc(all, compareDistance)
	all = all[:min(len(all), most)]
	for i := range all {
		all[i].Reason = sentences(notSelected("deployment target", all[i].Mismatches), all[i].noClusterTypes)
		if all[i].Reason == "" {
			all[i].Reason = e.keptOffAll(all[i].Policy, t)
		}
	}
	return all
}

// compareDistance compares how far two policies are from placing a deployment target. A policy that selects the target
// comes first, even if its cluster types lack many labels, since it is the policy that should place the target.
func compareDistance(a, b Rejection) int {
	return cmp.Or(cmp.Compare(len(a.Mismatches), len(b.Mismatches)),
		cmp.Compare(len(a.ClusterTypeMismatches), len(b.ClusterTypeMismatches)))
}

// notSelected states which requirements an object does not meet. It is empty if the object meets all of them.
func notSelected(kind string, mismatches []Mismatch) string {
	if len(mismatches) == 0 {
		return ""
	}
	return fmt.Sprintf("The %s is not selected: %s.", kind, joinMismatches(mismatches))
}

// selectorResult is the result of a selector.
type selectorResult struct {
	found bool
	// If nothing is found, nearest is the first object with the fewest mismatches, and mismatches are its mismatches.
	nearest    string
	mismatches []Mismatch
}

// find searches the objects for one that meets the requirements. count is their number.
func (rs requirements) find(count int, at func(int) (name string, labels map[string]string)) selectorResult {
	var s selectorResult
	for i := range count {
		name, labels := at(i)
		mismatches := rs.mismatches(labels)
		if len(mismatches) == 0 {
			return selectorResult{found: true}
		}
		if s.nearest == "" || len(mismatches) < len(s.mismatches) {
			s.nearest, s.mismatches = name, mismatches
		}
	}
	return s
}

// sentence states that no object of a kind is selected, and which is closest. It is empty if one is selected.
func (s *selectorResult) sentence(kind, where string) string {
	switch {
	case s.found:
		return ""
	case s.nearest == "":
		return fmt.Sprintf("There is no %s%s.", kind, where)
	}
	return fmt.Sprintf("No %s%s is selected; the closest is %q: %s.", kind, where, s.nearest, joinMismatches(s.mismatches))
}

func sentences(all ...string) string {
	return strings.Join(slices.DeleteFunc(all, func(s string) bool { return s == "" }), " ")
}
