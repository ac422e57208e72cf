// Package provider is the Terraform provider: it converts, calls the domain, reports and saves.
package provider

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

var (
	_ provider.ProviderWithValidateConfig = (*kalypsoProvider)(nil)
	_ provider.ProviderWithFunctions      = (*kalypsoProvider)(nil)
	_ provider.ProviderWithListResources  = (*kalypsoProvider)(nil)
)

type kalypsoProvider struct {
	version string
	now     func() time.Time
}

// Option changes the provider.
type Option func(*kalypsoProvider)

// WithClock sets the clock, for the times of commits and observations. By default it is the machine's.
func WithClock(now func() time.Time) Option {
	return func(p *kalypsoProvider) { p.now = now }
}

// New returns the provider with the version.
func New(version string, options ...Option) func() provider.Provider {
	p := kalypsoProvider{version, time.Now}
	for _, option := range options {
		option(&p)
	}
	return func() provider.Provider { return &p }
}

func (p *kalypsoProvider) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName, resp.Version = "kalypso", p.version
}

func (p *kalypsoProvider) Schema(_ context.Context, _ provider.SchemaRequest, resp *provider.SchemaResponse) {
	resp.Schema = providerSchema
}

// ValidateConfig reports errors in the known part of the configuration.
func (p *kalypsoProvider) ValidateConfig(
	ctx context.Context, req provider.ValidateConfigRequest, resp *provider.ValidateConfigResponse,
) {
	p.read(ctx, req.Config, &resp.Diagnostics)
}

// Configure passes a *providerData to resources and data sources.
func (p *kalypsoProvider) Configure(
	ctx context.Context, req provider.ConfigureRequest, resp *provider.ConfigureResponse,
) {
	data := p.read(ctx, req.Config, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	if !data.known {
		resp.Diagnostics.AddWarning("Provider configuration not known yet",
			"The configuration of provider kalypso depends on values that are known after apply. Everything that needs no "+
				"repo is planned. No repo is contacted, so errors of a repo, such as a missing branch, appear only during apply.")
	}
	resp.ResourceData, resp.DataSourceData, resp.ListResourceData = data, data, data
}

func (p *kalypsoProvider) read(ctx context.Context, config getter, diags *diag.Diagnostics) *providerData {
	var v types.Object
	diags.Append(config.Get(ctx, &v)...)
	if diags.HasError() {
		return nil
	}
	return readProviderData(v, p.now, diags)
}

func (p *kalypsoProvider) Resources(context.Context) []func() resource.Resource {
	all := []func() resource.Resource{newEnvironmentRendering, newBaseRepo, newCommitStatus, newDeploymentGate,
		newDeploymentRecord}
	for _, m := range models {
		all = append(all, newModelResource(m))
	}
	return all
}

func (p *kalypsoProvider) DataSources(context.Context) []func() datasource.DataSource {
	return []func() datasource.DataSource{
		newAssignments,
		newControlPlane,
		newDeploymentHistory,
		newDeploymentState,
		newPromotion,
		newWorkloads,
	}
}

// ListResources implements provider.ProviderWithListResources. Gates and commit statuses have no list: they exist in
// Terraform alone.
func (p *kalypsoProvider) ListResources(context.Context) []func() list.ListResource {
	all := []func() list.ListResource{newRenderingList, newBaseRepoList}
	for _, m := range models {
		all = append(all, newModelList(m))
	}
	return all
}

func (p *kalypsoProvider) Functions(context.Context) []func() function.Function {
	return []func() function.Function{
		newNamespaceFunction,
		newSelectorMatchesFunction,
		newRenderTemplateFunction,
		newClusterSyncFunction,
		newFleetPageFunction,
	}
}
