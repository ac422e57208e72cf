package provider

import (
	"maps"
	"sync"

	"github.com/hashicorp/terraform-plugin-framework/attr"
)

// lastPlan is the rendering that was planned last, and what it renders to. Terraform plans a resource again right before it
// applies it, in the same process: what follows from the same values is not computed twice. One is kept, as trees are large.
type lastPlan struct {
	mu      sync.Mutex
	values  map[string]attr.Value
	outcome *renderingOutcome
}

// keep keeps what was planned.
func (l *lastPlan) keep(values map[string]attr.Value, outcome *renderingOutcome) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.values, l.outcome = maps.Clone(values), outcome
}

// take gives away the outcome of the plan with the values; nil where another one was kept.
func (l *lastPlan) take(values map[string]attr.Value) *renderingOutcome {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.outcome == nil || !maps.EqualFunc(l.values, values, attr.Value.Equal) {
		return nil
	}
	o := l.outcome
	l.values, l.outcome = nil, nil
	return o
}
