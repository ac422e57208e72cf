package fleet

// Fault says who can cause a [Problem].
type Fault int

const (
	// PlatformFault is the zero value: a fault of a platform object, or one that affects more than some deployment
	// targets, such as names that collide.
	PlatformFault Fault = iota
	// TeamFault is a fault of what a team says, or of what a template makes of it. It affects some deployment targets
	// alone.
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

// Affected returns the targets of the fleet's environment that a problem at a path of a Workload affects: one target,
// or all of them. A target without an environment counts: it may have lost it.
func (f *Fleet) Affected(w *Workload, path []Step) (all []AffectedTarget) {
	for i := range w.Targets {
		t := &w.Targets[i]
		elsewhere := len(path) > 1 && path[1].kind == indexStep && path[0].Attribute == "deployment_targets" &&
			path[1].Index != i
		if !elsewhere && (t.Environment == "" || f.MayRender(t)) {
			all = append(all, AffectedTarget{Name: w.Name + "-" + t.Name})
		}
	}
	return all
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
