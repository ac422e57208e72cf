package requires

import (
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// label is a label with its value.
type label struct{ key, value string }

// match finds the targets that satisfy each requirement. It looks only at targets of the required workload, or at
// targets with the rarest of the required labels. It also looks at targets with unknown labels.
func (g *graph) match() {
	byWorkload, byLabel := map[string][]int32{}, map[label][]int32{}
	for _, r := range g.requirements {
		for k, v := range r.MatchLabels {
			byLabel[label{k, v}] = nil
		}
	}
	var partial, all []int32
	for n, target := range g.targets {
		t := int32(n) //nolint:gosec // bounded by the size of the fleet
		all = append(all, t)
		byWorkload[target.Workload.Name] = append(byWorkload[target.Workload.Name], t)
		if len(byLabel) == 0 {
			continue
		}
		if unknown.Any(target.Labels) {
			partial = append(partial, t)
			continue
		}
		for k, v := range target.Labels {
			if found, ok := byLabel[label{k, v}]; ok {
				byLabel[label{k, v}] = append(found, t)
			}
		}
	}
	for i := range g.requirements {
		r := &g.requirements[i]
		r.unknown = unknown.Is(r.Workload) || unknown.Is(r.DeploymentTarget) || unknown.Any(r.MatchLabels)
		switch {
		case r.unknown:
			g.add(r, all)
		case r.Workload != "":
			g.add(r, byWorkload[r.Workload])
		default:
			var rarest []int32
			first := true
			for k, v := range r.MatchLabels {
				if found := byLabel[label{k, v}]; first || len(found) < len(rarest) {
					rarest, first = found, false
				}
			}
			candidates := slices.Concat(rarest, partial)
			slices.Sort(candidates)
			g.add(r, candidates)
		}
	}
}

// add adds the candidates that satisfy a requirement.
func (g *graph) add(r *requirement, candidates []int32) {
	for _, t := range candidates {
		switch certainty(r.Requirement, g.targets[t]) {
		case yes:
			r.sure = append(r.sure, t)
		case maybe:
			r.possible = append(r.possible, t)
		}
	}
}

// The answers to the question whether a target satisfies a requirement. The answer about several parts is the smallest
// answer.
const (
	no = iota
	maybe
	yes
)

func certainty(r fleet.Requirement, t *fleet.DeploymentTarget) int {
	result := yes
	require := func(wanted, found string) {
		switch {
		case unknown.Is(wanted) || unknown.Is(found):
			result = min(result, maybe)
		case wanted != found:
			result = no
		}
	}
	if r.Workload != "" {
		require(r.Workload, t.Workload.Name)
	}
	if r.DeploymentTarget != "" && !unknown.Is(r.Workload) {
		require(r.DeploymentTarget, t.Name[min(len(t.Name), len(r.Workload)+1):])
	}
	_, mayHaveMore := t.Labels[unknown.Text]
	for k, v := range r.MatchLabels {
		found, ok := t.Labels[k]
		switch {
		case unknown.Is(k) || !ok && mayHaveMore:
			result = min(result, maybe)
		case !ok:
			result = no
		default:
			require(v, found)
		}
	}
	return result
}
