package problem

// Fault is the party that can cause a [Problem].
type Fault int

const (
	// PlatformFault is the zero value. It is a fault in a platform object, or a fault that can affect many deployment
	// targets, such as two Workloads of one name.
	PlatformFault Fault = iota
	// TeamFault is a fault in a team's data, or in the result of a template for that data. It affects only some deployment
	// targets.
	TeamFault
)

// AffectedTarget is a deployment target that a [TeamFault] affects.
type AffectedTarget struct {
	ClusterType string // empty: on every cluster type
	Name        string // <workload>-<target>
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
