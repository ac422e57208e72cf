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
	// Rejections has one entry for each policy: the nearest policies first (see [sortByDistance]), then by name. If all
	// targets together have more than [MaxRejections] entries, only the first entries of each target are kept.
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
	// If no object is selected, these name the nearest object. They are empty if there are no objects.
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

// Brief explains at most limit unscheduled targets, each by the nearest policy, and at most limit policies that assign
// nothing. There may be more of both. All placements of the schedule must be decided.
func Brief(
	ctx context.Context, f *fleet.Fleet, s *schedule.Schedule, limit int,
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
	first.Unscheduled = s.Unscheduled[:min(len(s.Unscheduled), limit)]
	names := lists.Map(first.Unscheduled, func(t *fleet.DeploymentTarget) string { return t.Name })
	e := About(ctx, f, &first, names...)
	for _, t := range first.Unscheduled {
		e.Unscheduled = append(e.Unscheduled, UnscheduledTarget{t, e.rejectionsOf(t, 1)})
	}
	for _, p := range e.policies {
		if len(e.IdlePolicies) == limit || ctx.Err() != nil {
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
		policies[i].clusterTypes = policies[i].ofClusterTypes.find(clusterTypes(f.ClusterTypes))
		policies[i].noClusterTypes = policies[i].clusterTypes.sentence("cluster type", "")
	}
	return policies
}

// addIfIdle adds a policy to the idle policies if it selects no deployment targets or no cluster types.
func (e *Explanation) addIfIdle(p policy, environment string) {
	targets := p.ofTargets.find(deploymentTargets(e.Schedule.Targets))
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

// rejectionsOf returns at most limit rejections of a target that no policy assigns.
func (e *Explanation) rejectionsOf(t *fleet.DeploymentTarget, limit int) []Rejection {
	all := lists.Map(e.policies, func(p policy) Rejection {
		return Rejection{
			Policy: p.SchedulingPolicy, Mismatches: p.ofTargets.mismatches(t.Labels), noClusterTypes: p.noClusterTypes,
			ClusterTypeMismatches: p.clusterTypes.mismatches, NoClusterTypes: !p.clusterTypes.found,
		}
	})
	sortByDistance(all)
	all = all[:min(len(all), limit)]
	for i := range all {
		suggest(all[i].Mismatches, deploymentTargets(e.Schedule.Targets))
		all[i].Reason = sentences(notSelected("deployment target", all[i].Mismatches), all[i].noClusterTypes)
		if all[i].Reason == "" {
			all[i].Reason = e.keptOffAll(all[i].Policy, t)
		}
	}
	return all
}

// sortByDistance sorts policies by how far they are from placing a deployment target. A policy that selects the target
// comes first, even if its cluster types lack many labels, since it is the policy that should place the target. Equally
// near policies stay in their order, by name.
func sortByDistance(all []Rejection) {
	type distances struct{ target, clusterType distance }
	of := map[*fleet.SchedulingPolicy]distances{}
	for _, r := range all {
		of[r.Policy] = distances{distanceOf(r.Mismatches), distanceOf(r.ClusterTypeMismatches)}
	}
	slices.SortStableFunc(all, func(a, b Rejection) int {
		one, other := of[a.Policy], of[b.Policy]
		return cmp.Or(one.target.compare(other.target), one.clusterType.compare(other.clusterType))
	})
}

// objects are the objects that a selector searches.
type objects struct {
	count int
	at    func(int) (name string, labels map[string]string)
}

func clusterTypes(all []*fleet.ClusterType) objects {
	return objects{len(all), func(i int) (string, map[string]string) { return all[i].Name, all[i].Labels }}
}

func deploymentTargets(all []*fleet.DeploymentTarget) objects {
	return objects{len(all), func(i int) (string, map[string]string) { return all[i].Name, all[i].Labels }}
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
	// If nothing is found, nearest is the first of the nearest objects, and mismatches are its mismatches.
	nearest    string
	mismatches []Mismatch
}

// find searches the objects for one that meets the requirements.
func (rs requirements) find(o objects) selectorResult {
	var s selectorResult
	var nearest distance
	for i := range o.count {
		name, labels := o.at(i)
		mismatches := rs.mismatches(labels)
		if len(mismatches) == 0 {
			return selectorResult{found: true}
		}
		if d := distanceOf(mismatches); s.nearest == "" || d.compare(nearest) < 0 {
			s.nearest, s.mismatches, nearest = name, mismatches, d
		}
	}
	suggest(s.mismatches, o)
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
