// Package provider is the Terraform provider: it converts Terraform's values, calls the domain, reports its problems
// and saves its results.
package provider

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/artifacts"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/assignments"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/configuration"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/functions"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/model"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/promotion"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/rendering"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/source"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

var (
	_ provider.ProviderWithValidateConfig = (*kalypsoProvider)(nil)
	_ provider.ProviderWithFunctions      = (*kalypsoProvider)(nil)
	_ provider.ProviderWithListResources  = (*kalypsoProvider)(nil)
)

type kalypsoProvider struct {
	version     string
	now         func() time.Time
	newProofKey func() string
}

// Option changes the provider.
type Option func(*kalypsoProvider)

// WithClock sets the clock, for the times of commits and observations. By default it is the machine's.
func WithClock(now func() time.Time) Option {
	return func(p *kalypsoProvider) { p.now = now }
}

// WithProofKeys sets the source of the keys with which the next run recognizes the commits of a killed apply. By
// default they are random. With nil, there are no keys, and the same story always makes the same commits.
func WithProofKeys(next func() string) Option {
	return func(p *kalypsoProvider) { p.newProofKey = next }
}

// New returns the provider with the version.
func New(version string, options ...Option) func() provider.Provider {
	p := kalypsoProvider{version, time.Now, rand.Text}
	for _, option := range options {
		option(&p)
	}
	return func() provider.Provider { return &p }
}

func (p *kalypsoProvider) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName, resp.Version = "kalypso", p.version
}

func (p *kalypsoProvider) Schema(_ context.Context, _ provider.SchemaRequest, resp *provider.SchemaResponse) {
	resp.Schema = configuration.Schema
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
	data.Version, data.NewProofKey = p.version, p.newProofKey
	if !data.Known {
		resp.Diagnostics.AddWarning("Provider configuration not known yet",
			"The configuration of provider kalypso depends on values that are known after apply. The plan contacts no repo, "+
				"and shows only what it can decide without one. So errors of a repo, such as a missing branch, appear only "+
				"during apply.")
	}
	resp.ResourceData, resp.DataSourceData, resp.ListResourceData = data, data, data
}

func (p *kalypsoProvider) read(
	ctx context.Context,
	config tfvalue.Getter,
	diags *diag.Diagnostics,
) *configuration.Data {
	var v types.Object
	diags.Append(config.Get(ctx, &v)...)
	if diags.HasError() {
		return nil
	}
	return configuration.Read(v, p.now, diags)
}

func (p *kalypsoProvider) Resources(context.Context) []func() resource.Resource {
	all := []func() resource.Resource{
		rendering.NewResource,
		source.NewBaseRepo,
		promotion.NewCommitStatus,
		promotion.NewGate,
		deployment.NewRecord,
		artifacts.NewResource,
	}
	for _, m := range model.All {
		all = append(all, model.NewResource(m))
	}
	return all
}

func (p *kalypsoProvider) DataSources(context.Context) []func() datasource.DataSource {
	return []func() datasource.DataSource{
		assignments.NewDataSource,
		source.NewControlPlane,
		deployment.NewClusters,
		deployment.NewComparison,
		deployment.NewHistory,
		deployment.NewState,
		promotion.NewDataSource,
		source.NewWorkloads,
	}
}

// ListResources implements provider.ProviderWithListResources. Gates and commit statuses have no list, because they
// exist only in Terraform.
func (p *kalypsoProvider) ListResources(context.Context) []func() list.ListResource {
	all := []func() list.ListResource{rendering.NewList, source.NewBaseRepoList}
	for _, m := range model.All {
		all = append(all, model.NewList(m))
	}
	return all
}

func (p *kalypsoProvider) Functions(context.Context) []func() function.Function {
	return functions.All()
}
