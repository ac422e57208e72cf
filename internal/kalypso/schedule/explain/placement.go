package explain

import (
	"context"
	"fmt"
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule"
)

// triple is a policy, a deployment target and a cluster type, by name.
type triple struct{ policy, target, clusterType string }

// Placements returns the reasons of placement for the deployment targets, or for all targets if none is given. It
// returns nothing if every policy places on all cluster types that it selects.
func (e *Explanation) Placements(ctx context.Context, f *fleet.Fleet, targets []string) []schedule.Placed {
	return e.Schedule.Reasons(ctx, f, func(t *fleet.DeploymentTarget) bool {
		return len(targets) == 0 || slices.Contains(targets, t.Name)
	})
}

// recordKeptOff records why the placement of a policy excludes cluster types for the deployment targets.
func (e *Explanation) recordKeptOff(ctx context.Context, f *fleet.Fleet, targets []string) {
	e.off = map[triple]string{}
	if len(targets) == 0 {
		return
	}
	for _, p := range e.Placements(ctx, f, targets) {
		if !p.Placed {
			e.off[triple{p.Policy.Name, p.Target.Name, p.ClusterType.Name}] = p.Off
		}
	}
}

// keptOff returns why a policy does not place a target on a cluster type although it selects both, or "" if it places
// the target there.
func (e *Explanation) keptOff(p *fleet.SchedulingPolicy, t *fleet.DeploymentTarget, ct *fleet.ClusterType) string {
	off := e.off[triple{p.Name, t.Name, ct.Name}]
	if off == "" {
		return ""
	}
	return fmt.Sprintf("Its placement excludes the cluster type %q: %s.", ct.Name, off)
}

// mostKeptOff limits the cluster types that a rejection lists.
const mostKeptOff = 5

// keptOffAll returns why a policy does not place a target on the cluster types that it selects.
func (e *Explanation) keptOffAll(p *fleet.SchedulingPolicy, t *fleet.DeploymentTarget) string {
	var all []string
	for _, ct := range e.clusterTypes {
		if text := e.keptOff(p, t, ct); text != "" {
			all = append(all, text)
		}
	}
	if more := len(all) - mostKeptOff; more > 0 {
		all = append(all[:mostKeptOff], fmt.Sprintf("And %d more.", more))
	}
	return sentences(all...)
}
