package provider

import "sync"

// lastPlan is the rendering that was planned last, and what it renders to. Terraform plans a resource again right before it
// applies it, in the same process: what follows from the same values is not computed twice. One is kept, as trees are large.
type lastPlan struct {
	mu        sync.Mutex
	plan      environmentRenderingModel
	rendering *rendering
}

// keep keeps what was planned.
func (l *lastPlan) keep(plan *environmentRenderingModel, r *rendering) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.plan, l.rendering = *plan, r
}

// take gives away what the plan rendered; nil where another one was kept.
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
