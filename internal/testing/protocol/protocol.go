// Package protocol runs a provider through Terraform's protocol 6 in this process. It makes the calls that Terraform's
// core makes: it validates, refreshes, proposes the new state, plans, plans again, and applies. Tests that need many
// runs use it instead of the CLI. TestAccProtocol of internal/provider compares its results with the CLI's.
//
// A provider that breaks the protocol, or a request that the provider's schemas don't allow, ends the test.
package protocol

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// Schemas are the schemas of a provider. Sessions share them, since it takes long to read them.
type Schemas struct {
	*tfprotov6.GetProviderSchemaResponse
	identities map[string]*tfprotov6.ResourceIdentitySchema
}

// ReadSchemas reads the schemas of a provider.
func ReadSchemas(t testing.TB, server tfprotov6.ProviderServer) *Schemas {
	t.Helper()
	read, err := server.GetProviderSchema(t.Context(), &tfprotov6.GetProviderSchemaRequest{})
	require(t, "read the schemas", err)
	identities, err := server.GetResourceIdentitySchemas(t.Context(), &tfprotov6.GetResourceIdentitySchemasRequest{})
	require(t, "read the schemas of identities", err)
	if ds := Diagnostics(append(read.Diagnostics, identities.Diagnostics...)); ds.HasErrors() {
		t.Fatalf("read the schemas: %s", ds)
	}
	return &Schemas{read, identities.IdentitySchemas}
}

// require ends the test if there is an error.
func require(t testing.TB, what string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// Session is a configured provider, as one command of Terraform has it.
type Session struct {
	// WriteOnly is whether the CLI supports write-only arguments, as Terraform does since 1.11.
	WriteOnly bool

	t       testing.TB // the test that started the session
	server  tfprotov6.ProviderServer
	schemas *Schemas
}

// Diagnostics are the diagnostics of a provider, in the order in which it returned them.
type Diagnostics []*tfprotov6.Diagnostic

// HasErrors reports whether one of them is an error.
func (ds Diagnostics) HasErrors() bool {
	return slices.ContainsFunc(ds, func(d *tfprotov6.Diagnostic) bool {
		return d.Severity == tfprotov6.DiagnosticSeverityError
	})
}

// String returns the text of all diagnostics, with the paths of the attributes.
func (ds Diagnostics) String() string {
	var b strings.Builder
	for _, d := range ds {
		fmt.Fprintf(&b, "%s: %s", d.Severity, d.Summary)
		if d.Attribute != nil {
			fmt.Fprintf(&b, " [%s]", d.Attribute)
		}
		fmt.Fprintf(&b, "\n  %s\n", strings.ReplaceAll(d.Detail, "\n", "\n  "))
	}
	return b.String()
}

// Start configures a provider that has the schemas. config contains the arguments of the provider's block, see [Value].
// If there are errors, the session is nil.
func (schemas *Schemas) Start(
	t testing.TB, server tfprotov6.ProviderServer, config map[string]any,
) (*Session, Diagnostics) {
	t.Helper()
	given := dynamic(schemas.Provider, config)
	validated, err := server.ValidateProviderConfig(t.Context(), &tfprotov6.ValidateProviderConfigRequest{Config: given})
	require(t, "validate the provider", err)
	if Diagnostics(validated.Diagnostics).HasErrors() {
		return nil, validated.Diagnostics
	}
	configured, err := server.ConfigureProvider(t.Context(), &tfprotov6.ConfigureProviderRequest{
		TerraformVersion: "1.11.0", Config: given,
	})
	require(t, "configure the provider", err)
	all := append(Diagnostics(validated.Diagnostics), configured.Diagnostics...)
	if all.HasErrors() {
		return nil, all
	}
	return &Session{t: t, server: server, schemas: schemas}, all
}

// Resource is a resource in Terraform's state. If State is null or zero, the resource does not exist.
type Resource struct {
	Type     string
	State    tftypes.Value
	Private  []byte
	identity *tfprotov6.ResourceIdentityData
}

// Exists reports whether the state contains the resource.
func (r *Resource) Exists() bool { return r.State.Type() != nil && !r.State.IsNull() }

// of returns the schema with a name.
func (s *Session) of(schemas map[string]*tfprotov6.Schema, name string) *tfprotov6.Schema {
	s.t.Helper()
	if schemas[name] == nil {
		s.t.Fatalf("the provider has no %s", name)
	}
	return schemas[name]
}

// read decodes a value that the provider returned.
func (s *Session) read(v *tfprotov6.DynamicValue, of tftypes.Type) tftypes.Value {
	s.t.Helper()
	decoded, err := v.Unmarshal(of)
	require(s.t, "decode a value of the provider", err)
	return decoded
}

// Refresh reads the resource.
func (s *Session) Refresh(ctx context.Context, r *Resource) Diagnostics {
	s.t.Helper()
	if !r.Exists() {
		return nil
	}
	resp, err := s.server.ReadResource(ctx, &tfprotov6.ReadResourceRequest{
		TypeName: r.Type, CurrentState: encode(r.State), Private: r.Private, CurrentIdentity: r.identity,
	})
	require(s.t, "refresh "+r.Type, err)
	if !Diagnostics(resp.Diagnostics).HasErrors() {
		r.State, r.Private, r.identity = s.read(resp.NewState, r.State.Type()), resp.Private, resp.NewIdentity
	}
	return resp.Diagnostics
}

// Import imports a resource by its ID, and refreshes it. If there are errors, the resource is nil.
func (s *Session) Import(ctx context.Context, typeName, id string) (*Resource, Diagnostics) {
	s.t.Helper()
	return s.imported(ctx, &tfprotov6.ImportResourceStateRequest{TypeName: typeName, ID: id})
}

// ImportIdentity imports a resource by its identity, and refreshes it. If there are errors, the resource is nil.
func (s *Session) ImportIdentity(
	ctx context.Context, typeName string, identity tftypes.Value,
) (*Resource, Diagnostics) {
	s.t.Helper()
	return s.imported(ctx, &tfprotov6.ImportResourceStateRequest{
		TypeName: typeName, Identity: &tfprotov6.ResourceIdentityData{IdentityData: encode(identity)},
	})
}

func (s *Session) imported(ctx context.Context, req *tfprotov6.ImportResourceStateRequest) (*Resource, Diagnostics) {
	s.t.Helper()
	resp, err := s.server.ImportResourceState(ctx, req)
	require(s.t, "import "+req.TypeName, err)
	all := Diagnostics(resp.Diagnostics)
	if all.HasErrors() || len(resp.ImportedResources) != 1 {
		return nil, all
	}
	imported := resp.ImportedResources[0]
	state := s.read(imported.State, s.of(s.schemas.ResourceSchemas, req.TypeName).ValueType())
	r := &Resource{req.TypeName, state, imported.Private, imported.Identity}
	return r, append(all, s.Refresh(ctx, r)...)
}

// Plan is one resource's part of a plan.
type Plan struct {
	Planned  tftypes.Value // null if the plan destroys the resource
	Replaces []string      // the paths of the attributes that make it a replacement
	config   tftypes.Value
	prior    Resource
	private  []byte
	identity *tfprotov6.ResourceIdentityData
}

// Changes reports whether the plan changes anything.
func (p *Plan) Changes() bool { return !p.Planned.Equal(p.prior.State) || len(p.Replaces) > 0 }

// Plan validates and plans a configuration: the arguments of the resource, or nil to destroy it. If there are errors,
// the plan is nil.
func (s *Session) Plan(ctx context.Context, r *Resource, config map[string]any) (*Plan, Diagnostics) {
	s.t.Helper()
	schema := s.of(s.schemas.ResourceSchemas, r.Type)
	null := tftypes.NewValue(schema.ValueType(), nil)
	prior := *r
	if !r.Exists() {
		prior.State = null
	}
	if config == nil {
		return s.plan(ctx, &prior, null, null)
	}
	given := Value(schema.ValueType(), config)
	validated, err := s.server.ValidateResourceConfig(ctx, &tfprotov6.ValidateResourceConfigRequest{
		TypeName: r.Type, Config: encode(given),
		ClientCapabilities: &tfprotov6.ValidateResourceConfigClientCapabilities{WriteOnlyAttributesAllowed: s.WriteOnly},
	})
	require(s.t, "validate "+r.Type, err)
	if Diagnostics(validated.Diagnostics).HasErrors() {
		return nil, validated.Diagnostics
	}
	plan, ds := s.plan(ctx, &prior, given, propose(schema, prior.State, given))
	return plan, append(Diagnostics(validated.Diagnostics), ds...)
}

func (s *Session) plan(ctx context.Context, prior *Resource, config, proposed tftypes.Value) (*Plan, Diagnostics) {
	s.t.Helper()
	resp, err := s.server.PlanResourceChange(ctx, &tfprotov6.PlanResourceChangeRequest{
		TypeName: prior.Type, PriorState: encode(prior.State), Config: encode(config), ProposedNewState: encode(proposed),
		PriorPrivate: prior.Private, PriorIdentity: prior.identity,
	})
	require(s.t, "plan "+prior.Type, err)
	if Diagnostics(resp.Diagnostics).HasErrors() {
		return nil, resp.Diagnostics
	}
	p := &Plan{Planned: s.read(resp.PlannedState, config.Type()), config: config, prior: *prior,
		private: resp.PlannedPrivate, identity: resp.PlannedIdentity}
	for _, path := range resp.RequiresReplace {
		p.Replaces = append(p.Replaces, path.String())
	}
	return p, resp.Diagnostics
}

// Apply applies a plan with a configuration in which every value is known. Like Terraform, it plans again first. It
// ends the test if a value that the plan knew has changed, or if the result does not match the plan. If there are
// diagnostics, the resource is the one that the provider returned.
func (s *Session) Apply(ctx context.Context, p *Plan, config map[string]any) (*Resource, Diagnostics) {
	s.t.Helper()
	if len(p.Replaces) > 0 {
		s.t.Fatalf("the plan replaces the resource because of %s: destroy and create it", strings.Join(p.Replaces, ", "))
	}
	final := p
	var all Diagnostics
	if config != nil {
		again, ds := s.Plan(ctx, &p.prior, config)
		all = onlyErrors(ds)
		if again == nil {
			return &p.prior, all
		}
		require(s.t, "the plan during apply differs from the plan", conforms(p.Planned, again.Planned))
		final = again
	}
	resp, err := s.server.ApplyResourceChange(ctx, &tfprotov6.ApplyResourceChangeRequest{
		TypeName: p.prior.Type, PriorState: encode(p.prior.State), PlannedState: encode(final.Planned),
		Config: encode(final.config), PlannedPrivate: final.private, PlannedIdentity: final.identity,
	})
	require(s.t, "apply "+p.prior.Type, err)
	r := &Resource{p.prior.Type, s.read(resp.NewState, p.Planned.Type()), resp.Private, resp.NewIdentity}
	if !Diagnostics(resp.Diagnostics).HasErrors() {
		require(s.t, "the result of the apply is not what was planned", conforms(final.Planned, r.State))
	}
	return r, append(all, resp.Diagnostics...)
}

// onlyErrors returns the errors among diagnostics. Terraform does not show the plan's warnings a second time.
func onlyErrors(ds Diagnostics) Diagnostics {
	return slices.DeleteFunc(slices.Clone(ds), func(d *tfprotov6.Diagnostic) bool {
		return d.Severity != tfprotov6.DiagnosticSeverityError
	})
}

// ValidateData validates a data source, in which values may be unknown.
func (s *Session) ValidateData(ctx context.Context, typeName string, config map[string]any) Diagnostics {
	s.t.Helper()
	validated, err := s.server.ValidateDataResourceConfig(ctx, &tfprotov6.ValidateDataResourceConfigRequest{
		TypeName: typeName, Config: dynamic(s.of(s.schemas.DataSourceSchemas, typeName), config),
	})
	require(s.t, "validate "+typeName, err)
	return validated.Diagnostics
}

// ReadData reads a data source. If there are errors, the result is zero.
func (s *Session) ReadData(ctx context.Context, typeName string, config map[string]any) (tftypes.Value, Diagnostics) {
	s.t.Helper()
	schema := s.of(s.schemas.DataSourceSchemas, typeName)
	given := dynamic(schema, config)
	all := s.ValidateData(ctx, typeName, config)
	if all.HasErrors() {
		return tftypes.Value{}, all
	}
	resp, err := s.server.ReadDataSource(ctx, &tfprotov6.ReadDataSourceRequest{TypeName: typeName, Config: given})
	require(s.t, "read "+typeName, err)
	all = append(all, resp.Diagnostics...)
	if all.HasErrors() {
		return tftypes.Value{}, all
	}
	return s.read(resp.State, schema.ValueType()), all
}
