// Package provider is the Terraform provider: it converts, calls the domain, reports and saves.
package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/resource"
)

type kalypsoProvider struct{ version string }

// New returns the provider of that version.
func New(version string) func() provider.Provider {
	return func() provider.Provider { return &kalypsoProvider{version} }
}

func (p *kalypsoProvider) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName, resp.Version = "kalypso", p.version
}
func (p *kalypsoProvider) Schema(context.Context, provider.SchemaRequest, *provider.SchemaResponse) {}
func (p *kalypsoProvider) Configure(context.Context, provider.ConfigureRequest, *provider.ConfigureResponse) {
}
func (p *kalypsoProvider) Resources(context.Context) []func() resource.Resource {
	var all []func() resource.Resource
	for _, m := range models {
		all = append(all, newModelResource(m))
	}
	return all
}
func (p *kalypsoProvider) DataSources(context.Context) []func() datasource.DataSource { return nil }
