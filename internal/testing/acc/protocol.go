package acc

import (
	"maps"
	"slices"
	"strconv"
	"strings"
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
	return startSession(p.T, version, p.Config)
}

func startSession(t testing.TB, version string, config map[string]any) *protocol.Session {
	t.Helper()
	server := provider.NewServer(version)
	schemas, err := protocol.ReadSchemas(t.Context(), server)
	if err != nil {
		t.Fatal(err)
	}
	s, ds, err := schemas.Start(t.Context(), server, config)
	if err != nil || ds.HasErrors() {
		t.Fatalf("%v\n%s", err, ds)
	}
	return s
}

// Run refreshes, plans and applies the resource, and returns the plan and the state. planned has the arguments in the
// plan, known those in the apply.
func (p *ProtocolRun) Run(planned, known map[string]any) (plan, state map[string]string) {
	p.T.Helper()
	s := p.Start()
	if ds, err := s.Refresh(p.T.Context(), &p.Resource); err != nil || ds.HasErrors() {
		p.T.Fatalf("refresh: %v\n%s", err, ds)
	}
	made, ds, err := s.Plan(p.T.Context(), &p.Resource, planned)
	if err != nil || made == nil {
		p.T.Fatalf("plan: %v\n%s", err, ds)
	}
	if made.Changes() {
		p.apply(made, known)
	}
	return protocol.Lines(made.Planned), protocol.Lines(p.Resource.State)
}

// apply applies a plan.
func (p *ProtocolRun) apply(made *protocol.Plan, known map[string]any) {
	p.T.Helper()
	after, ds, err := p.Start().Apply(p.T.Context(), made, known)
	if err != nil || ds.HasErrors() {
		p.T.Fatalf("apply: %v\n%s", err, ds)
	}
	p.Resource = *after
}

// Destroy plans and applies a destroy.
func (p *ProtocolRun) Destroy() {
	p.T.Helper()
	made, ds, err := p.Start().Plan(p.T.Context(), &p.Resource, nil)
	if err != nil || ds.HasErrors() {
		p.T.Fatalf("plan of a destroy: %v\n%s", err, ds)
	}
	p.apply(made, nil)
}

// TryRun plans and applies a new resource, and returns the diagnostics.
func (p *ProtocolRun) TryRun(given map[string]any) (applied bool, ds protocol.Diagnostics) {
	p.T.Helper()
	made, ds, err := p.Start().Plan(p.T.Context(), &p.Resource, given)
	if err != nil || made == nil {
		return false, ds
	}
	_, ds, err = p.Start().Apply(p.T.Context(), made, given)
	return err == nil, ds
}

// ReadData reads a data source through the protocol. It returns its attributes in the form of [protocol.Lines], and the
// text of the diagnostics.
func ReadData(t testing.TB, config map[string]any, typeName string, arguments map[string]any) (
	attributes map[string]string, diagnostics string,
) {
	t.Helper()
	v, ds, err := startSession(t, "test", config).ReadData(t.Context(), typeName, arguments)
	if err != nil {
		t.Fatal(err)
	}
	if ds.HasErrors() {
		return nil, ds.String()
	}
	return protocol.Lines(v), ds.String()
}

// FlattenJSON adds the leaves of a JSON value to all, in the form of [protocol.Lines].
func FlattenJSON(all map[string]string, at string, v any) {
	name := strings.TrimPrefix(at, ".")
	switch v := v.(type) {
	case nil:
	case map[string]any:
		if len(v) == 0 {
			all[name] = "{}"
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			FlattenJSON(all, at+"."+key, v[key])
		}
	case []any:
		if len(v) == 0 {
			all[name] = "[]"
		}
		for i, part := range v {
			FlattenJSON(all, at+"["+strconv.Itoa(i)+"]", part)
		}
	case string:
		all[name] = strconv.Quote(v)
	case bool:
		all[name] = strconv.FormatBool(v)
	case float64:
		all[name] = strconv.FormatFloat(v, 'g', -1, 64)
	}
}
