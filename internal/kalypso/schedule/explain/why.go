package explain

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
)

// Answer contains the reasons why a deployment target is on a cluster type, or why it is not.
type Answer struct {
	Target      *fleet.DeploymentTarget
	ClusterType *fleet.ClusterType
	// Policies lists the policies that place the target there, sorted by name.
	Policies []*fleet.SchedulingPolicy
	// Nearest lists the policies that are nearest by the labels of the target, then of the cluster type, then by name (see
	// [sortByDistance]). It has at most [MaxNearest] policies. It is empty if a policy places the target there.
	Nearest []Rejection
	Reason  string // the policies that place it, or the mismatches of the nearest ones, as sentences
}

// MaxNearest limits the policies in an [Answer].
const MaxNearest = 10

// Errors for a pair that does not exist.
var (
	ErrNoTarget      = errors.New("no such deployment target")
	ErrNoClusterType = errors.New("no such cluster type")
)

// Explain answers for one deployment target and one cluster type, by name. Its errors are [ErrNoTarget] and
// [ErrNoClusterType].
func (e *Explanation) Explain(target, clusterType string) (*Answer, error) {
	t := slices.IndexFunc(e.Schedule.Targets, func(t *fleet.DeploymentTarget) bool { return t.Name == target })
	ct := slices.IndexFunc(e.clusterTypes, func(ct *fleet.ClusterType) bool { return ct.Name == clusterType })
	switch {
	case t < 0:
		return nil, ErrNoTarget
	case ct < 0:
		return nil, ErrNoClusterType
	}
	a := &Answer{Target: e.Schedule.Targets[t], ClusterType: e.clusterTypes[ct]}
	for _, p := range e.policies {
		r := Rejection{
			Policy: p.SchedulingPolicy, Mismatches: p.ofTargets.mismatches(a.Target.Labels),
			ClusterTypeMismatches: p.ofClusterTypes.mismatches(a.ClusterType.Labels),
		}
		selected := len(r.Mismatches)+len(r.ClusterTypeMismatches) == 0
		if selected {
			r.Reason = e.keptOff(p.SchedulingPolicy, a.Target, a.ClusterType)
		}
		if selected && r.Reason == "" {
			a.Policies = append(a.Policies, p.SchedulingPolicy)
		} else {
			a.Nearest = append(a.Nearest, r)
		}
	}
	if len(a.Policies) > 0 {
		a.Nearest = nil
	}
	sortByDistance(a.Nearest)
	a.Nearest = a.Nearest[:min(len(a.Nearest), MaxNearest)]
	for i, r := range a.Nearest {
		if r.Reason == "" {
			suggest(r.Mismatches, deploymentTargets(e.Schedule.Targets))
			suggest(r.ClusterTypeMismatches, clusterTypes(e.clusterTypes))
			a.Nearest[i].Reason = sentences(notSelected("deployment target", r.Mismatches),
				notSelected("cluster type", r.ClusterTypeMismatches))
		}
	}
	a.Reason = a.reason()
	return a, nil
}

// NoPolicies is the reason why nothing is placed in a fleet without policies.
const NoPolicies = "There is no scheduling policy."

func (a *Answer) reason() string {
	switch {
	case len(a.Policies) > 0:
		names := lists.Map(a.Policies, func(p *fleet.SchedulingPolicy) string { return fmt.Sprintf("%q", p.Name) })
		return "It is placed there by " + strings.Join(names, ", ") + "."
	case len(a.Nearest) == 0:
		return NoPolicies
	}
	return fmt.Sprintf(
		"No scheduling policy places it there; the closest is %q. %s",
		a.Nearest[0].Policy.Name,
		a.Nearest[0].Reason,
	)
}
