package fleet

import "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"

// SetAffected sets the targets of the fleet's environment that each team fault of a Workload affects: one target if the
// problem's path leads to it, otherwise all targets. If several problems affect all targets, only the first problem
// lists them.
func (f *Fleet) SetAffected(w *Workload, ps problem.Problems) {
	if len(ps) == 0 {
		return
	}
	affects, all := f.affects(w), false
	for i := range ps {
		p := &ps[i]
		switch target, ok := targetOf(w, p.Path); {
		case p.Fault != problem.TeamFault:
		case !ok && !all:
			all, p.Affects = true, f.affected(w)
		case ok && affects(target):
			p.Affects = []problem.AffectedTarget{{Name: w.Name + "-" + target.Name}}
		}
	}
}

// targetOf returns the target of a Workload that a path leads to.
func targetOf(w *Workload, path []problem.Step) (*Target, bool) {
	if len(path) > 1 && path[0] == problem.Attr("deployment_targets") {
		if i, ok := path[1].(problem.Index); ok {
			return &w.Targets[i], true
		}
	}
	return nil, false
}

// affected returns the targets of a Workload that a fault of the whole Workload affects.
func (f *Fleet) affected(w *Workload) (all []problem.AffectedTarget) {
	affects := f.affects(w)
	for i := range w.Targets {
		if t := &w.Targets[i]; affects(t) {
			all = append(all, problem.AffectedTarget{Name: w.Name + "-" + t.Name})
		}
	}
	return all
}

// affects returns a function that reports whether a Workload's target is, or may become, a target of the fleet's
// environment. A target without an environment is one, because its environment may have been removed by mistake, unless
// the environment has another target of the same name.
func (f *Fleet) affects(w *Workload) func(*Target) bool {
	names := make(map[string]bool, len(w.Targets))
	for i := range w.Targets {
		if f.MayRender(&w.Targets[i]) {
			names[w.Targets[i].Name] = true
		}
	}
	return func(t *Target) bool { return f.MayRender(t) || t.Environment == "" && !names[t.Name] }
}
