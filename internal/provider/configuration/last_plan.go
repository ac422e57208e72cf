package configuration

import (
	"reflect"
	"sync"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// LastPlan contains the plan that was made last, and its decision. Terraform plans a resource again right before it
// applies it, in the same process, so the apply does what this plan decided, and renders nothing again. It contains
// only one, because trees are large.
type LastPlan struct {
	mu       sync.Mutex
	plan     any
	decision *delivery.Decision
	found    problem.Problems
}

// Keep stores the values of a plan, which must not change any more, its decision, and the problems of its arguments and
// its fleet.
func (l *LastPlan) Keep(plan any, decision *delivery.Decision, found problem.Problems) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.plan, l.decision, l.found = plan, decision, found
}

// Take returns and removes the decision and the problems of the plan with equal values, or nil if another plan was
// stored.
func (l *LastPlan) Take(plan any) (*delivery.Decision, problem.Problems) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.decision == nil || !reflect.DeepEqual(l.plan, plan) {
		return nil, nil
	}
	decision, found := l.decision, l.found
	l.plan, l.decision, l.found = nil, nil, nil
	return decision, found
}
