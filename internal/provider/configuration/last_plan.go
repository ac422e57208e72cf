package configuration

import (
	"reflect"
	"sync"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
)

// LastPlan contains the plan that was made last, and its decision. Terraform plans a resource again right before it
// applies it, in the same process, so the apply does what this plan decided, and renders nothing again. It contains
// only one, because trees are large.
type LastPlan struct {
	mu       sync.Mutex
	plan     any
	decision *delivery.Decision
}

// Keep stores the values of a plan, which must not change any more, and its decision.
func (l *LastPlan) Keep(plan any, decision *delivery.Decision) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.plan, l.decision = plan, decision
}

// Take returns and removes the decision of the plan with equal values, or nil if another plan was stored.
func (l *LastPlan) Take(plan any) *delivery.Decision {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.decision == nil || !reflect.DeepEqual(l.plan, plan) {
		return nil
	}
	decision := l.decision
	l.plan, l.decision = nil, nil
	return decision
}
