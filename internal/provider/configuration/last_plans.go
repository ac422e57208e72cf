package configuration

import (
	"reflect"
	"sync"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// LastPlans contains the last plan of each rendering. Terraform plans a resource again right before it applies it, in
// the same process. So the apply takes this plan, and need not render again.
// Terraform may plan several resources before it applies the first of them, so the plans of all are kept.
type LastPlans struct{ last sync.Map } // renderingKey → lastPlan

// renderingKey identifies a rendering in one run of Terraform.
type renderingKey struct {
	environment string
	at          destination.Destination
}

type lastPlan struct {
	values any
	plan   delivery.Plan
	found  problem.Problems
}

// Keep stores a plan with its values, and the problems of its arguments and its fleet. The caller must not change the
// values afterwards.
func (l *LastPlans) Keep(
	environment string, at destination.Destination, values any, plan delivery.Plan, found problem.Problems,
) {
	l.last.Store(renderingKey{environment, at}, lastPlan{values, plan, found})
}

// Take returns and removes the plan with equal values and its problems, or nil if another plan of the rendering was
// stored.
func (l *LastPlans) Take(
	environment string, at destination.Destination, values any,
) (delivery.Plan, problem.Problems) {
	key := renderingKey{environment, at}
	kept, _ := l.last.Load(key)
	last, ok := kept.(lastPlan)
	if !ok || !reflect.DeepEqual(last.values, values) {
		return nil, nil
	}
	l.last.Delete(key)
	return last.plan, last.found
}
