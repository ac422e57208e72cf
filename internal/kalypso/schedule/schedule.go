// Package schedule assigns deployment targets to cluster types.
package schedule

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule/placement"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// Schedule contains the assignments of a fleet, sorted by cluster type and deployment target.
type Schedule struct {
	Placements      []Placement               // one for each cluster type, also without assignments
	Targets         []*fleet.DeploymentTarget // all targets of the environment
	Unscheduled     []*fleet.DeploymentTarget // targets without an assignment
	Undecided       []*fleet.DeploymentTarget // unassigned, but an undecided placement may contain them
	AssignmentCount int                       // of all placements
	// Unknown says that the assignments are not known at all, because names are not known yet.
	Unknown bool

	// placement is the input of the placement decisions, and outcome their result. Both are nil if each policy places on
	// all cluster types that it selects.
	placement *placement.Fleet
	outcome   *placement.Outcome
	// decisionsUnknown says that some decisions in outcome depend on unknown values.
	decisionsUnknown bool
}

// Placement contains the assignments of one cluster type.
type Placement struct {
	ClusterType *fleet.ClusterType
	Assignments []Assignment
	// Undecided means that the assignments depend on unknown values. The list of assignments is then empty.
	Undecided bool
}

// Assignment assigns a deployment target to a cluster type.
type Assignment struct {
	ClusterType *fleet.ClusterType
	Target      *fleet.DeploymentTarget
	Namespace   string
	Policies    []*fleet.SchedulingPolicy // the policies that made the assignment, by name
}

// New sorts and schedules a fleet whose names are known; see [NamesKnown]. A placement stays undecided if it depends on
// an unknown value, such as a label, a selector, or a property that placement reads. New reports deployment targets
// with the same name and invalid namespaces. It does not repeat the problems of [fleet.Fleet.Validate]: a policy with
// an invalid selector assigns nothing, and an object with an invalid name is not assigned. If the assignments exceed
// the fleet's limit, New makes none. It stops once ctx is done.
//
// prior contains the placement decisions of earlier runs.
func New(ctx context.Context, f *fleet.Fleet, prior placement.PriorResults) (*Schedule, problem.Problems) {
	f.Sort()
	targets, problems := f.DeploymentTargets()
	problems = append(problems, f.CheckEnvironment()...)
	s := &Schedule{Targets: targets}
	quota := quota{limit: f.Limits.WithDefaults().Assignments, by: make([]int, len(f.Policies))}

	selections := make([]selection, len(f.Policies))
	scheduled, maybeScheduled := make([]bool, len(targets)), make([]bool, len(targets))
	labelsOfTargets := lists.Map(targets, func(t *fleet.DeploymentTarget) labelSet { return newLabelSet(t.Labels) })
	for i, p := range f.Policies {
		if ctx.Err() != nil {
			return s, problems
		}
		selections[i] = selectTargets(p, targets, labelsOfTargets)
	}
	labelsOfClusterTypes := lists.Map(f.ClusterTypes, func(ct *fleet.ClusterType) labelSet {
		return newLabelSet(ct.Labels)
	})
	placementResult := s.place(ctx, f, prior, selections, labelsOfClusterTypes, &quota)
	policiesOf := make([][]*fleet.SchedulingPolicy, len(targets))
	invalid := invalidNamespaces{}
	for c, ct := range f.ClusterTypes {
		clear(policiesOf)
		undecided := false
		for i := range f.Policies {
			if ctx.Err() != nil {
				return s, problems
			}
			sure, maybe := selections[i].on(labelsOfClusterTypes[c])
			sure, maybe = placementResult.on(i, c, sure, maybe)
			quota.by[i] += len(sure)
			for _, t := range sure {
				policiesOf[t] = appendPolicy(policiesOf[t], f.Policies, i)
				scheduled[t] = true
			}
			for _, t := range maybe {
				undecided, maybeScheduled[t] = true, true
			}
		}
		if undecided {
			s.Placements = append(s.Placements, Placement{ClusterType: ct, Undecided: true})
			continue
		}
		count := 0
		for _, policies := range policiesOf {
			count += min(len(policies), 1)
		}
		quota.all += count
		if quota.all > quota.limit {
			s.Placements, s.AssignmentCount = nil, 0
			continue
		}
		assigned, ps := assign(f.Environment, ct, targets, policiesOf, count, invalid)
		s.Placements = append(s.Placements, assigned)
		s.AssignmentCount += len(assigned.Assignments)
		problems = append(problems, ps...)
	}
	for i, t := range targets {
		switch {
		case scheduled[i]:
		case maybeScheduled[i]:
			s.Undecided = append(s.Undecided, t)
		default:
			s.Unscheduled = append(s.Unscheduled, t)
		}
	}
	problems = append(problems, invalid.problems(f, targets)...)
	problems = append(problems, quota.problems(f.Policies)...)
	problems.Sort()
	return s, problems
}

// appendPolicy appends policy i of all. The first policy takes no new memory, since most targets have only one.
func appendPolicy(to, all []*fleet.SchedulingPolicy, i int) []*fleet.SchedulingPolicy {
	if to == nil {
		return all[i : i+1 : i+1]
	}
	return append(to, all[i])
}

// Assigned reports whether a cluster type has assignments.
func (s *Schedule) Assigned(ct *fleet.ClusterType) bool {
	return slices.ContainsFunc(
		s.Placements,
		func(p Placement) bool { return p.ClusterType == ct && len(p.Assignments) > 0 },
	)
}

// MayUse reports whether a cluster type has assignments, or may have some once all values are known.
func (s *Schedule) MayUse(ct *fleet.ClusterType) bool {
	return s.Unknown || slices.ContainsFunc(s.Placements, func(p Placement) bool {
		return p.ClusterType == ct && (p.Undecided || len(p.Assignments) > 0)
	})
}

// Known reports whether any placement is decided, and whether all are. Without placements, both are true.
func (s *Schedule) Known() (some, all bool) {
	if s.Unknown {
		return false, false
	}
	undecided := 0
	for _, p := range s.Placements {
		if p.Undecided {
			undecided++
		}
	}
	return undecided == 0 || undecided < len(s.Placements), undecided == 0
}

// quota counts assignments.
type quota struct {
	limit, all int
	by         []int // by policy, including assignments that other policies make too
}

func (q *quota) problems(policies []*fleet.SchedulingPolicy) problem.Problems {
	if q.all <= q.limit {
		return nil
	}
	order := make([]int, len(policies))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(q.by[b], q.by[a]) })
	lines := lists.Map(order, func(i int) string { return fmt.Sprintf("%q: %d", policies[i].Name, q.by[i]) })
	const shown = 5
	return problem.Problems{{
		Path:    []problem.Step{problem.Attr("limits"), problem.Attr("assignments")},
		Summary: "Too many assignments",
		Detail: fmt.Sprintf("The policies make %d assignments; limits.assignments allows %d. Narrow their selectors, or "+
			"raise the limit. "+
			"The policies that make the most:\n%s", q.all, q.limit, problem.IndentedList(lines, shown)),
	}}
}

func assign(
	environment string,
	ct *fleet.ClusterType,
	targets []*fleet.DeploymentTarget,
	policiesOf [][]*fleet.SchedulingPolicy,
	count int,
	invalid invalidNamespaces,
) (Placement, problem.Problems) {
	defer problem.NamePanic(string(ct.Kind()), ct.Name)
	var problems problem.Problems
	assigned := Placement{ClusterType: ct, Assignments: make([]Assignment, 0, count)}
	for i, policies := range policiesOf {
		if len(policies) == 0 {
			continue
		}
		namespace, err := Namespace(environment, ct.Name, targets[i].Name)
		if err != nil {
			switch {
			case !namesAreValid(environment, ct.Name, targets[i].Name): // an invalid name is reported on its own
			case isTeamFault(environment, ct.Name, targets[i].Name):
				invalid[targets[i]] = append(invalid[targets[i]], ct)
			default:
				problems = append(problems, fleet.ProblemOf(ct, problem.Problem{
					Summary: "Invalid namespace", Detail: problem.Sentence(err), Err: err,
				}))
			}
			continue
		}
		assigned.Assignments = append(assigned.Assignments, Assignment{ct, targets[i], namespace, policies})
	}
	return assigned, problems
}
