package provider

import "sync"

// lastPlan holds the rendering that was planned last and its result. Terraform plans a resource again right before it
// applies it, in the same process, so the same values need not be rendered twice. It holds only one, because trees are
// large.
type lastPlan struct {
	mu        sync.Mutex
	plan      environmentRenderingModel
	rendering *rendering
}

// keep stores a planned rendering.
func (l *lastPlan) keep(plan *environmentRenderingModel, r *rendering) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.plan, l.rendering = *plan, r
}

// take returns and removes the stored rendering, or nil if another plan was stored.
func (l *lastPlan) take(plan *environmentRenderingModel) *rendering {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.rendering == nil || !l.plan.sameAs(plan) {
		return nil
	}
	r := l.rendering
	l.plan, l.rendering = environmentRenderingModel{}, nil
	return r
}
