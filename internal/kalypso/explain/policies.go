package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
)

// UnscheduledTarget is a deployment target that no policy places.
type UnscheduledTarget struct {
	Target *fleet.DeploymentTarget
	// Rejections are one for each policy: those that come nearest to placing the target first, equal ones by name. Where all
	// targets would have more than [MaxRejections], the first alone.
	Rejections []Rejection
}

// MaxRejections is how many refusals an explanation holds, unless there are more unscheduled targets: a fleet in which hardly
// anything is placed would have millions.
const MaxRejections = 20_000

// Rejection is why a policy does not place a deployment target.
type Rejection struct {
	Policy         *fleet.SchedulingPolicy
	Mismatches     []Mismatch // what the target's labels and workspace do not meet
	NoClusterTypes bool       // the policy selects no cluster type
	Reason         string     // both, in sentences
}

// IdlePolicy is a policy that places nothing: it selects no deployment targets, or no cluster types, or neither.
type IdlePolicy struct {
	Policy              *fleet.SchedulingPolicy
	NoDeploymentTargets bool
	NoClusterTypes      bool
	// What comes nearest to being selected on a side where nothing is; empty where there is nothing to select from.
	NearestDeploymentTarget string
	NearestClusterType      string
	Reason                  string // in sentences
}

// policy is a policy with what it asks for.
type policy struct {
	*fleet.SchedulingPolicy
	ofTargets      requirements
	clusterTypes   selectorResult
	noClusterTypes string // the sentence that says so, else empty
}

func (e *Explanation) explainPolicies(f *fleet.Fleet) {
	policies := make([]policy, len(f.Policies))
	for i, p := range f.Policies {
		policies[i] = policy{SchedulingPolicy: p, ofTargets: requirementsOf(p.Workspace, &p.DeploymentTargets)}
		policies[i].clusterTypes = requirementsOf("", &p.ClusterTypes).find(len(f.ClusterTypes), func(n int) (string, map[string]string) {
			return f.ClusterTypes[n].Name, f.ClusterTypes[n].Labels
		})
		policies[i].noClusterTypes = policies[i].clusterTypes.sentence("cluster type", "")
	}
	for _, t := range e.Schedule.Unscheduled {
		most := max(1, MaxRejections/len(e.Schedule.Unscheduled))
		e.Unscheduled = append(e.Unscheduled, UnscheduledTarget{t, rejectionsOf(t, policies, most)})
	}
	for _, p := range policies {
		targets := p.ofTargets.find(len(e.Schedule.Targets), func(n int) (string, map[string]string) {
			return e.Schedule.Targets[n].Name, e.Schedule.Targets[n].Labels
		})
		if targets.found && p.clusterTypes.found {
			continue
		}
		e.IdlePolicies = append(e.IdlePolicies, IdlePolicy{
			Policy:                  p.SchedulingPolicy,
			NoDeploymentTargets:     !targets.found,
			NoClusterTypes:          !p.clusterTypes.found,
			NearestDeploymentTarget: targets.nearest,
			NearestClusterType:      p.clusterTypes.nearest,
			Reason: sentences(
				targets.sentence("deployment target", fmt.Sprintf(" in environment %q", f.Environment)),
				p.noClusterTypes,
			),
		})
	}
}

// rejectionsOf tells of the policies, none of which places the target, why, at most of so many.
func rejectionsOf(t *fleet.DeploymentTarget, policies []policy, most int) []Rejection {
	type candidate struct {
		Rejection
		clusterTypes string
	}
	all := make([]candidate, len(policies))
	for i, p := range policies {
		all[i] = candidate{
			Rejection{Policy: p.SchedulingPolicy, Mismatches: p.ofTargets.mismatches(t.Labels), NoClusterTypes: !p.clusterTypes.found},
			p.noClusterTypes,
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(a.distance(), b.distance()) })
	told := make([]Rejection, min(len(all), most))
	for i := range told {
		told[i] = all[i].Rejection
		labels := ""
		if len(told[i].Mismatches) > 0 {
			labels = "The deployment target is not selected: " + joinMismatches(told[i].Mismatches) + "."
		}
		told[i].Reason = sentences(labels, all[i].clusterTypes)
	}
	return told
}

// distance is how many things would have to change.
func (r *Rejection) distance() int {
	if r.NoClusterTypes {
		return len(r.Mismatches) + 1
	}
	return len(r.Mismatches)
}

// selectorResult is what a selector finds.
type selectorResult struct {
	found bool
	// Where nothing is found: what meets all but the fewest requirements, of those the first, and what it does not meet.
	nearest    string
	mismatches []Mismatch
}

// find looks for one of count things that meets the requirements.
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

// sentence says that nothing of a kind is selected, and what comes nearest; it is empty where something is.
func (s *selectorResult) sentence(kind, where string) string {
	switch {
	case s.found:
		return ""
	case s.nearest == "":
		return fmt.Sprintf("There is no %s%s.", kind, where)
	}
	return fmt.Sprintf("No %s%s is selected; %q comes nearest: %s.", kind, where, s.nearest, joinMismatches(s.mismatches))
}

func sentences(all ...string) string {
	return strings.Join(slices.DeleteFunc(all, func(s string) bool { return s == "" }), " ")
}
