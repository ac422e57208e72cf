package schedule

import (
	"context"
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule/placement"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// Places reports whether any placement or taint in the fleet may keep a policy from placing on all cluster types that
// it selects. If not, earlier decisions have no effect.
func Places(f *fleet.Fleet) bool {
	return slices.ContainsFunc(f.ClusterTypes, func(ct *fleet.ClusterType) bool { return len(ct.Taints) > 0 }) ||
		slices.ContainsFunc(f.Policies, func(p *fleet.SchedulingPolicy) bool { return p.Placement != nil })
}

// placementResult says where policies place the targets that they select.
type placementResult struct {
	// undecided is true, for each policy and cluster type, if it is not known yet which targets the policy places there.
	undecided [][]bool
	// targets lists the targets that a policy places on a cluster type: policy → cluster type → targets.
	targets [][][]int
}

// on returns which of the selected targets a policy places on a cluster type, and which ones it may place there. sure
// and maybe are the targets that its selectors select, or may select.
func (p *placementResult) on(policy, clusterType int, sure, maybe []int) (placed, mayBePlaced []int) {
	switch {
	case p == nil:
		return sure, maybe
	case p.undecided[policy][clusterType]:
		return nil, slices.Concat(sure, maybe)
	case p.targets == nil:
		return nil, maybe
	}
	return p.targets[policy][clusterType], maybe
}

// place decides on which of the selected cluster types each policy places its targets. It returns nil if each policy
// places on all cluster types that it selects.
func (s *Schedule) place(
	ctx context.Context, f *fleet.Fleet, prior placement.PriorResults, selections []selection, clusterTypes []labelSet,
	quota *quota,
) *placementResult {
	if !Places(f) {
		return nil
	}
	p := &placementResult{undecided: s.unsurePlacements(f, prior, selections, clusterTypes)}
	s.placement = s.placementFleet(f, prior, selections, clusterTypes, p.undecided)
	s.outcome = placement.Decide(ctx, s.placement)
	s.decisionsUnknown = decisionsUnknown(f, selections, p.undecided)
	switch {
	case s.outcome.Exceeds >= 0:
		quota.all, quota.by[s.outcome.Exceeds] = s.outcome.Chosen, s.outcome.Chosen
	case ctx.Err() == nil:
		p.targets = byClusterType(s.placement, s.outcome)
	}
	return p
}

// placementFleet returns the known part of the fleet as input of placement.
func (s *Schedule) placementFleet(
	f *fleet.Fleet, prior placement.PriorResults, selections []selection, clusterTypes []labelSet, unsure [][]bool,
) *placement.Fleet {
	p := &placement.Fleet{Prior: prior, Most: f.Limits.WithDefaults().Assignments}
	for _, ct := range f.ClusterTypes {
		p.ClusterTypes = append(p.ClusterTypes, placement.ClusterType{
			Name: ct.Name, Labels: ct.Labels, Taints: ct.Taints, Properties: ct.Properties,
		})
	}
	p.Targets = make([]string, len(s.Targets))
	for i, t := range s.Targets {
		p.Targets[i] = t.Name
	}
	p.Policies = make([]placement.Policy, len(f.Policies))
	for i, policy := range f.Policies {
		p.Policies[i] = placement.Policy{Name: policy.Name, Spec: policy.Placement}
		for c, labels := range clusterTypes {
			if sure, _ := selections[i].on(labels); len(sure) > 0 && !unsure[i][c] {
				p.Policies[i].ClusterTypes = append(p.Policies[i].ClusterTypes, c)
			}
		}
		if !policy.Placement.Decides() || !slices.Contains(unsure[i], true) {
			p.Policies[i].Targets = selections[i].targets
		}
	}
	return p
}

// byClusterType regroups an outcome by cluster type: policy → cluster type → targets.
func byClusterType(f *placement.Fleet, o *placement.Outcome) [][][]int {
	all := make([][][]int, len(f.Policies))
	for i := range f.Policies {
		counts, total := make([]int, len(f.ClusterTypes)), 0
		o.Each(i, func(_ int, clusterTypes []int32) {
			total += len(clusterTypes)
			for _, c := range clusterTypes {
				counts[c]++
			}
		})
		all[i] = make([][]int, len(f.ClusterTypes))
		memory := make([]int, total)
		for c, n := range counts {
			all[i][c], memory = memory[:0:n], memory[n:]
		}
		o.Each(i, func(target int, clusterTypes []int32) {
			for _, c := range clusterTypes {
				all[i][c] = append(all[i][c], target)
			}
		})
	}
	return all
}

// unsurePlacements reports, for each policy and cluster type, whether the placement there depends on values that are
// not known yet: policy → cluster type. A policy that chooses among cluster types depends on all cluster types that
// it may select. If any policy balances, one uncertain policy with a number makes all policies with a number uncertain.
func (s *Schedule) unsurePlacements(
	f *fleet.Fleet, prior placement.PriorResults, selections []selection, clusterTypes []labelSet,
) [][]bool {
	unsure := make([][]bool, len(f.Policies))
	keepersUnknown := slices.ContainsFunc(f.Policies, keepsUnknown)
	balances, numbers := false, false
	for i, p := range f.Policies {
		unsure[i] = make([]bool, len(f.ClusterTypes))
		some := false
		for c, ct := range f.ClusterTypes {
			sure, maybe := selections[i].on(clusterTypes[c])
			if len(sure)+len(maybe) > 0 && mayAllow(p.Placement, ct) {
				unsure[i][c] = !p.Placement.Allows(ct.Name) || fitUnknown(p.Placement, ct) || p.Placement.Decides() &&
					(len(maybe) > 0 || scoreUnknown(p.Placement, ct))
				some = some || unsure[i][c]
			}
		}
		some = some || len(p.PlacementUnknown()) > 0 || unknown.Is(p.Name) ||
			keepersUnknown && s.adoptsPlacement(prior, p, &selections[i])
		if some && p.Placement.Decides() {
			markSelected(unsure[i], f, i, &selections[i], clusterTypes)
		}
		numbers = numbers || some && hasNumber(p)
		balances = balances || hasBalance(p)
	}
	if balances && numbers {
		for i, p := range f.Policies {
			if hasNumber(p) || hasBalance(p) {
				markSelected(unsure[i], f, i, &selections[i], clusterTypes)
			}
		}
	}
	return unsure
}

// keepsUnknown reports whether it is still unknown if the policy keeps earlier decisions, because its name is not
// known, or the arguments by which it chooses among cluster types.
func keepsUnknown(p *fleet.SchedulingPolicy) bool {
	s := p.Placement
	if !s.Decides() {
		return false
	}
	surely := s.Number != nil && *s.Number != unknown.Number || slices.ContainsFunc(s.Spread,
		func(s placement.Spread) bool {
			return s.WhenUnsatisfiable != placement.ScheduleAnyway && !unknown.Is(s.WhenUnsatisfiable)
		})
	return unknown.Is(p.Name) || !surely
}

// adoptsPlacement reports whether the policy selects a deployment target that is on a cluster type already, although
// the policy has no earlier decision about it. The policy then adopts the cluster types that no other policy's
// decisions explain.
func (s *Schedule) adoptsPlacement(
	prior placement.PriorResults, p *fleet.SchedulingPolicy, selected *selection,
) bool {
	return p.Placement.Decides() && slices.ContainsFunc(selected.targets, func(target int) bool {
		name := s.Targets[target].Name
		_, decided := prior.Decisions[p.Name].Targets[name]
		return !decided && len(prior.Placed[name]) > 0
	})
}

func hasNumber(p *fleet.SchedulingPolicy) bool {
	return p.Placement != nil && p.Placement.Number != nil
}

// hasBalance reports whether the policy prefers cluster types by their number of deployment targets.
func hasBalance(p *fleet.SchedulingPolicy) bool {
	return p.Placement.Decides() &&
		slices.ContainsFunc(p.Placement.Prefer, func(p placement.Preference) bool { return p.Balance })
}

// markSelected marks the cluster types that a policy may select.
func markSelected(marks []bool, f *fleet.Fleet, policy int, s *selection, clusterTypes []labelSet) {
	for c, labels := range clusterTypes {
		sure, maybe := s.on(labels)
		marks[c] = marks[c] || len(sure)+len(maybe) > 0 && mayAllow(f.Policies[policy].Placement, f.ClusterTypes[c])
	}
}

// mayAllow reports whether the placement allows a cluster type, or may allow it once all names are known.
func mayAllow(s *placement.Spec, ct *fleet.ClusterType) bool {
	return s.Allows(ct.Name) || slices.ContainsFunc(s.Names, unknown.Is)
}

// fitUnknown reports whether it depends on unknown values if a cluster type fits. It looks only at cluster types that
// the placement names.
func fitUnknown(s *placement.Spec, ct *fleet.ClusterType) bool {
	return slices.ContainsFunc(ct.Taints, func(taint placement.Taint) bool {
		switch {
		case surelyTolerates(s, taint):
			return false
		case fleet.TaintUnknown(taint):
			return true
		}
		return s != nil && slices.ContainsFunc(s.Tolerations, fleet.TolerationUnknown)
	})
}

// surelyTolerates reports whether the placement tolerates a taint, whatever the unknown parts of both turn out to be.
// An unknown value of a toleration may differ from the taint's value.
func surelyTolerates(s *placement.Spec, taint placement.Taint) bool {
	return s != nil && slices.ContainsFunc(s.Tolerations, func(t placement.Toleration) bool {
		return t.Tolerates(taint) && (!fleet.TaintUnknown(taint) || !fleet.TolerationUnknown(t))
	})
}

// scoreUnknown reports whether the placement reads a property or label of the cluster type that is not known yet.
func scoreUnknown(s *placement.Spec, ct *fleet.ClusterType) bool {
	properties, labels := labelSet{Set: ct.Properties}, labelSet{Set: ct.Labels}
	return slices.ContainsFunc(s.Prefer, func(p placement.Preference) bool {
		return !p.Balance && properties.unknown(p.Property)
	}) || slices.ContainsFunc(s.Spread, func(s placement.Spread) bool { return labels.unknown(s.Key) })
}

// Decisions returns the decisions that the next run should keep: the decisions of all policies that choose among
// cluster types.
func (s *Schedule) Decisions() placement.Decisions {
	if s.outcome == nil {
		return placement.Decisions{}
	}
	return s.outcome.Decisions()
}

// DecisionsKnown reports whether the result of [Schedule.Decisions] is independent of unknown values. It may depend on
// them even if all placements are decided, since a policy may select no cluster type.
func (s *Schedule) DecisionsKnown() bool { return !s.decisionsUnknown }

func decisionsUnknown(f *fleet.Fleet, selections []selection, unsure [][]bool) bool {
	for i, p := range f.Policies {
		if p.Placement.Decides() && (unknown.Is(p.Name) || len(p.PlacementUnknown()) > 0 ||
			len(selections[i].possible) > 0 || slices.Contains(unsure[i], true)) {
			return true
		}
	}
	return false
}

// KeepsEarlier reports whether earlier decisions affect this run, because a policy chooses among cluster types, or a
// taint repels only new deployment targets.
func KeepsEarlier(f *fleet.Fleet) bool {
	return slices.ContainsFunc(f.Policies, func(p *fleet.SchedulingPolicy) bool { return p.Placement.Decides() }) ||
		slices.ContainsFunc(f.ClusterTypes, func(ct *fleet.ClusterType) bool {
			return slices.ContainsFunc(ct.Taints, func(t placement.Taint) bool { return t.Effect == placement.NoSelectIfNew })
		})
}

// Placed explains why a policy that selects both a deployment target and a cluster type places the target there, or why
// not.
type Placed struct {
	Policy      *fleet.SchedulingPolicy
	Target      *fleet.DeploymentTarget
	ClusterType *fleet.ClusterType
	placement.Reason
}

// Reasons returns, policy by policy, why placement chose or rejected each cluster type for each wanted deployment
// target. It returns nothing if every policy places on all cluster types that it selects.
func (s *Schedule) Reasons(
	ctx context.Context, f *fleet.Fleet, wanted func(*fleet.DeploymentTarget) bool,
) (all []Placed) {
	if s.placement == nil {
		return nil
	}
	placement.Reasons(ctx, s.placement, func(_, target int) bool {
		return wanted(s.Targets[target])
	}, func(policy, target int, reasons []placement.Reason) {
		for _, r := range reasons {
			all = append(all, Placed{f.Policies[policy], s.Targets[target], f.ClusterTypes[r.ClusterType], r})
		}
	})
	return all
}
