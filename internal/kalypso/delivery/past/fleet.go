package past

import (
	"encoding/json"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
)

// storedFleet is the part of a fleet that its tree depends on. Schemas only refuse values.
type storedFleet struct {
	Environment   string
	ClusterTypes  []*fleet.ClusterType
	Templates     []*fleet.Template
	Configs       []*fleet.Config
	Secrets       []*fleet.Secret `json:",omitempty"`
	Policies      []*fleet.SchedulingPolicy
	Workloads     []*fleet.Workload
	Registrations []*fleet.WorkloadRegistration `json:",omitempty"`
	Limits        fleet.Limits
}

// SetFleet sets the fleet that the tree is rendered from. It must not contain secrets.
func (in *Inputs) SetFleet(f *fleet.Fleet) {
	data, err := json.Marshal(storedFleet{
		f.Environment, f.ClusterTypes, f.Templates, f.Configs, f.Secrets, f.Policies, f.Workloads, f.Registrations, f.Limits,
	})
	if err != nil {
		panic(err) // texts and numbers always marshal
	}
	in.StoredFleet = data
}

// Fleet returns a copy of the fleet that the tree was rendered from, or nil if it is not known.
func (in *Inputs) Fleet() *fleet.Fleet {
	var s storedFleet
	if in == nil || json.Unmarshal(in.StoredFleet, &s) != nil {
		return nil
	}
	return &fleet.Fleet{
		Environment: s.Environment, ClusterTypes: s.ClusterTypes, Templates: s.Templates, Configs: s.Configs,
		Secrets: s.Secrets, Policies: s.Policies, Workloads: s.Workloads, Registrations: s.Registrations, Limits: s.Limits,
	}
}
