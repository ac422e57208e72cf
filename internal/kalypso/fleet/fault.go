package fleet

// Fault says who can cause a [Problem].
type Fault int

const (
	// PlatformFault is the zero value: a fault of a platform object, or one that affects more than a few deployment
	// targets, such as colliding names.
	PlatformFault Fault = iota
	// TeamFault is a fault in a team's data, or in the result of a template for that data. It only affects some deployment
	// targets.
	TeamFault
)

// AffectedTarget is a deployment target that a [TeamFault] affects.
type AffectedTarget struct {
	ClusterType string // empty: on every cluster type
	Name        string // <workload>-<target>
}

// faults returns the problems that check adds, as faults of a team.
func faults(check func(*Problems)) (ps Problems) {
	check(&ps)
	for i := range ps {
		ps[i].Fault = TeamFault
	}
	return ps
}

// SetAffected sets which targets of the fleet's environment the faults in a Workload's problems affect: the target that
// the path of a problem leads to, or all of them. Of the problems that affect all, only the first lists them.
func (f *Fleet) SetAffected(w *Workload, ps Problems) {
	all := false
	var here map[string]bool
	for i := range ps {
		p := &ps[i]
		switch target, ok := targetOf(w, p.Path); {
		case p.Fault != TeamFault:
		case !ok && !all:
			all, p.Affects = true, f.affected(w)
		case ok:
			if here == nil {
				here = f.names(w)
			}
			if f.MayRender(target) || target.Environment == "" && !here[target.Name] {
				p.Affects = []AffectedTarget{{Name: w.Name + "-" + target.Name}}
			}
		}
	}
}

// targetOf returns the target of a Workload that a path leads to.
func targetOf(w *Workload, path []Step) (*Target, bool) {
	if len(path) < 2 || path[0].Attribute != "deployment_targets" || path[1].kind != indexStep {
		return nil, false
	}
	return &w.Targets[path[1].Index], true
}

// affected returns the targets of a Workload in the fleet's environment. A target without an environment counts,
// because it may have lost it, unless the environment has a target of its name.
func (f *Fleet) affected(w *Workload) (all []AffectedTarget) {
	here := f.names(w)
	for i := range w.Targets {
		if t := &w.Targets[i]; f.MayRender(t) || t.Environment == "" && !here[t.Name] {
			all = append(all, AffectedTarget{Name: w.Name + "-" + t.Name})
		}
	}
	return all
}

// names returns the names of the targets that the fleet's environment has, or may have, of a Workload.
func (f *Fleet) names(w *Workload) map[string]bool {
	names := make(map[string]bool, len(w.Targets))
	for i := range w.Targets {
		if f.MayRender(&w.Targets[i]) {
			names[w.Targets[i].Name] = true
		}
	}
	return names
}

// SplitTeamFaults returns the errors that are faults of teams, and all other problems.
func (ps Problems) SplitTeamFaults() (ofTeams, others Problems) {
	for _, p := range ps {
		if p.Severity == Error && p.Fault == TeamFault {
			ofTeams = append(ofTeams, p)
		} else {
			others = append(others, p)
		}
	}
	return ofTeams, others
}

// AffectedEverywhere returns the names of the deployment targets that faults of teams affect on every cluster type.
func (ps Problems) AffectedEverywhere() map[string]bool {
	names := map[string]bool{}
	for _, p := range ps {
		for _, target := range p.Affects {
			if target.ClusterType == "" {
				names[target.Name] = true
			}
		}
	}
	return names
}
