package acc

import (
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/protocol"
)

// ProtocolRun runs a resource through package protocol.
type ProtocolRun struct {
	T        *testing.T
	Resource protocol.Resource
	Config   map[string]any // the arguments of the provider
}

// NewRenderingRun returns a run of a rendering that does not exist yet.
func NewRenderingRun(t *testing.T) *ProtocolRun {
	return &ProtocolRun{T: t, Resource: protocol.Resource{Type: "kalypso_environment_rendering"}}
}

// Start starts and configures the provider, as each command of Terraform does.
func (p *ProtocolRun) Start() *protocol.Session { return p.StartVersion("test") }

// StartVersion starts and configures the provider with a version.
func (p *ProtocolRun) StartVersion(version string) *protocol.Session {
	p.T.Helper()
	server := provider.NewServer(version)
	s, ds := protocol.ReadSchemas(p.T, server).Start(p.T, server, p.Config)
	if ds.HasErrors() {
		p.T.Fatal(ds)
	}
	return s
}

// Run refreshes, plans and applies the resource, and returns the plan and the state. planned has the arguments in the
// plan, known those in the apply.
func (p *ProtocolRun) Run(planned, known map[string]any) (plan, state map[string]string) {
	p.T.Helper()
	s := p.Start()
	if ds := s.Refresh(p.T.Context(), &p.Resource); ds.HasErrors() {
		p.T.Fatalf("refresh: %s", ds)
	}
	made, ds := s.Plan(p.T.Context(), &p.Resource, planned)
	if made == nil {
		p.T.Fatalf("plan: %s", ds)
	}
	if made.Changes() {
		p.apply(made, known)
	}
	return protocol.Lines(made.Planned), protocol.Lines(p.Resource.State)
}

// apply applies a plan.
func (p *ProtocolRun) apply(made *protocol.Plan, known map[string]any) {
	p.T.Helper()
	after, ds := p.Start().Apply(p.T.Context(), made, known)
	if ds.HasErrors() {
		p.T.Fatalf("apply: %s", ds)
	}
	p.Resource = *after
}

// Destroy plans and applies a destroy.
func (p *ProtocolRun) Destroy() {
	p.T.Helper()
	made, ds := p.Start().Plan(p.T.Context(), &p.Resource, nil)
	if ds.HasErrors() {
		p.T.Fatalf("plan of a destroy: %s", ds)
	}
	p.apply(made, nil)
}

// TryRun plans and applies a new resource. It returns the diagnostics, and whether there was a plan to apply.
func (p *ProtocolRun) TryRun(given map[string]any) (applied bool, ds protocol.Diagnostics) {
	p.T.Helper()
	made, ds := p.Start().Plan(p.T.Context(), &p.Resource, given)
	if made != nil {
		_, ds = p.Start().Apply(p.T.Context(), made, given)
	}
	return made != nil, ds
}
