// Package protocol runs a provider through Terraform's protocol 6 in this process. It makes the calls that Terraform's
// core makes: it validates, refreshes, proposes the new state, plans, plans again, and applies. Tests that need many
// runs use it instead of the CLI. TestAccProtocol of internal/provider compares its results with the CLI's.
package protocol

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// Schemas are the schemas of a provider. Sessions share them, since it takes long to read them.
type Schemas struct {
	provider                      *tfprotov6.Schema
	resources, dataSources, lists map[string]*tfprotov6.Schema
	identities                    map[string]*tfprotov6.ResourceIdentitySchema
}

// ReadSchemas reads the schemas of a provider.
func ReadSchemas(ctx context.Context, server tfprotov6.ProviderServer) (*Schemas, error) {
	read, err := server.GetProviderSchema(ctx, &tfprotov6.GetProviderSchemaRequest{})
	if err != nil {
		return nil, err
	}
	if ds := Diagnostics(read.Diagnostics); ds.HasErrors() {
		return nil, fmt.Errorf("read the schemas: %s", ds)
	}
	identities, err := server.GetResourceIdentitySchemas(ctx, &tfprotov6.GetResourceIdentitySchemasRequest{})
	if err != nil {
		return nil, err
	}
	if ds := Diagnostics(identities.Diagnostics); ds.HasErrors() {
		return nil, fmt.Errorf("read the schemas of identities: %s", ds)
	}
	return &Schemas{read.Provider, read.ResourceSchemas, read.DataSourceSchemas, read.ListResourceSchemas,
		identities.IdentitySchemas}, nil
}

// Session is a configured provider, as one command of Terraform has it.
type Session struct {
	// WriteOnly is whether the CLI supports write-only arguments, as Terraform does since 1.11.
	WriteOnly bool

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
func (schemas *Schemas) Start(
	ctx context.Context, server tfprotov6.ProviderServer, config map[string]any,
) (*Session, Diagnostics, error) {
	s := &Session{server: server, schemas: schemas}
	given, err := dynamic(schemas.provider, config)
	if err != nil {
		return nil, nil, err
	}
	validated, err := server.ValidateProviderConfig(ctx, &tfprotov6.ValidateProviderConfigRequest{Config: given})
	if err != nil {
		return nil, nil, err
	}
	if Diagnostics(validated.Diagnostics).HasErrors() {
		return nil, validated.Diagnostics, nil
	}
	configured, err := server.ConfigureProvider(ctx, &tfprotov6.ConfigureProviderRequest{
		TerraformVersion: "1.11.0", Config: given,
	})
	if err != nil {
		return nil, nil, err
	}
	return s, append(Diagnostics(validated.Diagnostics), configured.Diagnostics...), nil
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

func (s *Session) schema(typeName string) (*tfprotov6.Schema, error) {
	schema := s.schemas.resources[typeName]
	if schema == nil {
		return nil, fmt.Errorf("the provider has no resource %q", typeName)
	}
	return schema, nil
}

// state returns the state of the resource, which is null if there is none.
func (r *Resource) state(of *tfprotov6.Schema) tftypes.Value {
	if !r.Exists() {
		return tftypes.NewValue(of.ValueType(), nil)
	}
	return r.State
}

// Refresh reads the resource.
func (s *Session) Refresh(ctx context.Context, r *Resource) (Diagnostics, error) {
	schema, err := s.schema(r.Type)
	if err != nil || !r.Exists() {
		return nil, err
	}
	resp, err := s.server.ReadResource(ctx, &tfprotov6.ReadResourceRequest{
		TypeName: r.Type, CurrentState: encode(r.State), Private: r.Private, CurrentIdentity: r.identity,
	})
	if err != nil {
		return nil, err
	}
	if Diagnostics(resp.Diagnostics).HasErrors() {
		return resp.Diagnostics, nil
	}
	r.Private, r.identity = resp.Private, resp.NewIdentity
	r.State, err = resp.NewState.Unmarshal(schema.ValueType())
	return resp.Diagnostics, err
}

// Import imports a resource by its ID, and refreshes it.
func (s *Session) Import(ctx context.Context, typeName, id string) (*Resource, Diagnostics, error) {
	return s.imported(ctx, &tfprotov6.ImportResourceStateRequest{TypeName: typeName, ID: id})
}

// ImportIdentity imports a resource by its identity, and refreshes it.
func (s *Session) ImportIdentity(
	ctx context.Context, typeName string, identity tftypes.Value,
) (*Resource, Diagnostics, error) {
	return s.imported(ctx, &tfprotov6.ImportResourceStateRequest{
		TypeName: typeName, Identity: &tfprotov6.ResourceIdentityData{IdentityData: encode(identity)},
	})
}

func (s *Session) imported(
	ctx context.Context, req *tfprotov6.ImportResourceStateRequest,
) (*Resource, Diagnostics, error) {
	typeName := req.TypeName
	schema, err := s.schema(typeName)
	if err != nil {
		return nil, nil, err
	}
	resp, err := s.server.ImportResourceState(ctx, req)
	if err != nil {
		return nil, nil, err
	}
	all := Diagnostics(resp.Diagnostics)
	if all.HasErrors() || len(resp.ImportedResources) != 1 {
		return nil, all, nil
	}
	imported := resp.ImportedResources[0]
	r := &Resource{Type: typeName, Private: imported.Private, identity: imported.Identity}
	if r.State, err = imported.State.Unmarshal(schema.ValueType()); err != nil {
		return nil, all, err
	}
	ds, err := s.Refresh(ctx, r)
	return r, append(all, ds...), err
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
func (s *Session) Plan(ctx context.Context, r *Resource, config map[string]any) (*Plan, Diagnostics, error) {
	schema, err := s.schema(r.Type)
	if err != nil {
		return nil, nil, err
	}
	prior := r.state(schema)
	if config == nil {
		null := tftypes.NewValue(schema.ValueType(), nil)
		return s.plan(ctx, schema, r, prior, null, null)
	}
	given, err := Value(schema.ValueType(), config)
	if err != nil {
		return nil, nil, err
	}
	validated, err := s.server.ValidateResourceConfig(ctx, &tfprotov6.ValidateResourceConfigRequest{
		TypeName: r.Type, Config: encode(given),
		ClientCapabilities: &tfprotov6.ValidateResourceConfigClientCapabilities{WriteOnlyAttributesAllowed: s.WriteOnly},
	})
	if err != nil {
		return nil, nil, err
	}
	if Diagnostics(validated.Diagnostics).HasErrors() {
		return nil, validated.Diagnostics, nil
	}
	proposed, err := propose(schema, prior, given)
	if err != nil {
		return nil, nil, err
	}
	plan, ds, err := s.plan(ctx, schema, r, prior, given, proposed)
	return plan, append(Diagnostics(validated.Diagnostics), ds...), err
}

func (s *Session) plan(
	ctx context.Context, schema *tfprotov6.Schema, r *Resource, prior, config, proposed tftypes.Value,
) (*Plan, Diagnostics, error) {
	resp, err := s.server.PlanResourceChange(ctx, &tfprotov6.PlanResourceChangeRequest{
		TypeName: r.Type, PriorState: encode(prior), Config: encode(config), ProposedNewState: encode(proposed),
		PriorPrivate: r.Private, PriorIdentity: r.identity,
	})
	if err != nil {
		return nil, nil, err
	}
	ds := Diagnostics(resp.Diagnostics)
	if ds.HasErrors() {
		return nil, ds, nil
	}
	p := &Plan{config: config, prior: Resource{r.Type, prior, r.Private, r.identity}, private: resp.PlannedPrivate,
		identity: resp.PlannedIdentity}
	if p.Planned, err = resp.PlannedState.Unmarshal(schema.ValueType()); err != nil {
		return nil, ds, err
	}
	for _, path := range resp.RequiresReplace {
		p.Replaces = append(p.Replaces, path.String())
	}
	return p, ds, nil
}

// Apply applies a plan with a configuration in which every value is known. Like Terraform, it plans again first. It
// returns an error if a value that the plan knew has changed, or if the result does not match the plan. If there are
// diagnostics, the resource is the one that the provider returned.
func (s *Session) Apply(
	ctx context.Context, p *Plan, config map[string]any,
) (*Resource, Diagnostics, error) {
	if len(p.Replaces) > 0 {
		return nil, nil, fmt.Errorf("the plan replaces the resource because of %s: destroy and create it",
			strings.Join(p.Replaces, ", "))
	}
	final := p
	var all Diagnostics
	if config != nil {
		again, ds, err := s.Plan(ctx, &p.prior, config)
		all = onlyErrors(ds)
		if err != nil || again == nil {
			return &p.prior, all, err
		}
		if err := conforms("the resource", p.Planned, again.Planned); err != nil {
			return nil, all, fmt.Errorf("the plan during apply differs from the plan: %w", err)
		}
		final = again
	}
	resp, err := s.server.ApplyResourceChange(ctx, &tfprotov6.ApplyResourceChangeRequest{
		TypeName: p.prior.Type, PriorState: encode(p.prior.State), PlannedState: encode(final.Planned),
		Config: encode(final.config), PlannedPrivate: final.private, PlannedIdentity: final.identity,
	})
	if err != nil {
		return nil, all, err
	}
	all = append(all, resp.Diagnostics...)
	r := &Resource{Type: p.prior.Type, Private: resp.Private, identity: resp.NewIdentity}
	if r.State, err = resp.NewState.Unmarshal(p.Planned.Type()); err != nil {
		return nil, all, err
	}
	if !Diagnostics(resp.Diagnostics).HasErrors() {
		if err := conforms("the resource", final.Planned, r.State); err != nil {
			return nil, all, fmt.Errorf("the result of the apply is not what was planned: %w", err)
		}
	}
	return r, all, nil
}

// onlyErrors returns the errors among diagnostics. Terraform does not show the plan's warnings a second time.
func onlyErrors(ds Diagnostics) Diagnostics {
	return slices.DeleteFunc(slices.Clone(ds), func(d *tfprotov6.Diagnostic) bool {
		return d.Severity != tfprotov6.DiagnosticSeverityError
	})
}

// ReadData reads a data source. If there are errors, the result is zero.
func (s *Session) ReadData(
	ctx context.Context, typeName string, config map[string]any,
) (tftypes.Value, Diagnostics, error) {
	schema := s.schemas.dataSources[typeName]
	if schema == nil {
		return tftypes.Value{}, nil, fmt.Errorf("the provider has no data source %q", typeName)
	}
	given, err := dynamic(schema, config)
	if err != nil {
		return tftypes.Value{}, nil, err
	}
	validated, err := s.server.ValidateDataResourceConfig(ctx, &tfprotov6.ValidateDataResourceConfigRequest{
		TypeName: typeName, Config: given,
	})
	if err != nil {
		return tftypes.Value{}, nil, err
	}
	if Diagnostics(validated.Diagnostics).HasErrors() {
		return tftypes.Value{}, validated.Diagnostics, nil
	}
	resp, err := s.server.ReadDataSource(ctx, &tfprotov6.ReadDataSourceRequest{TypeName: typeName, Config: given})
	if err != nil {
		return tftypes.Value{}, nil, err
	}
	all := append(Diagnostics(validated.Diagnostics), resp.Diagnostics...)
	if all.HasErrors() {
		return tftypes.Value{}, all, nil
	}
	v, err := resp.State.Unmarshal(schema.ValueType())
	return v, all, err
}
