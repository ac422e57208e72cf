package schemas

import (
	"context"
	"maps"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/configuration"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

var (
	_ datasource.DataSourceWithConfigure      = (*dataSource)(nil)
	_ datasource.DataSourceWithValidateConfig = (*dataSource)(nil)
)

// dataSource is a data source whose arguments are decoded, checked and then read.
type dataSource struct {
	data   *configuration.Data
	name   string
	schema func(context.Context) schema.Schema
	check  func(Reading)
	read   func(context.Context, Reading) map[string]attr.Value
}

// Reading has the arguments of a data source, and reports their faults.
type Reading struct {
	tfvalue.Decoder
	Data  *configuration.Data // nil while Terraform validates
	Limit time.Duration       // timeouts.read
	Diags *diag.Diagnostics
}

// Within returns ctx limited by timeouts.read.
func (r Reading) Within(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, r.Limit)
}

// Invalid reports the problems of the arguments so far, and whether there is an error.
func (r Reading) Invalid() bool {
	tfvalue.AppendProblems(r.Diags, *r.Problems)
	*r.Problems = nil
	return r.Diags.HasError()
}

// NewDataSource returns the data source of a name. check reports problems of the known arguments, if not nil. read
// returns the computed attributes; Terraform calls it when all arguments are known.
func NewDataSource(
	name string, schema func(context.Context) schema.Schema, check func(Reading),
	read func(context.Context, Reading) map[string]attr.Value,
) datasource.DataSource {
	return &dataSource{name: name, schema: schema, check: check, read: read}
}

// Metadata implements datasource.DataSource.
func (s *dataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_" + s.name
}

// Schema implements datasource.DataSource.
func (s *dataSource) Schema(ctx context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = s.schema(ctx)
}

// Configure stores the provider's configuration.
func (s *dataSource) Configure(
	_ context.Context, req datasource.ConfigureRequest, resp *datasource.ConfigureResponse,
) {
	s.data = configuration.DataOf(req.ProviderData, &resp.Diagnostics)
}

// ValidateConfig reports errors in the known arguments.
func (s *dataSource) ValidateConfig(
	ctx context.Context, req datasource.ValidateConfigRequest, resp *datasource.ValidateConfigResponse,
) {
	if s.check != nil {
		r := s.reading(ctx, req.Config, &resp.Diagnostics)
		s.check(r)
		r.Invalid()
	}
}

// Read implements datasource.DataSource.
func (s *dataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	r := s.reading(ctx, req.Config, &resp.Diagnostics)
	values := s.read(ctx, r)
	if r.Invalid() || values == nil {
		return
	}
	maps.Copy(r.Arguments, values)
	resp.Diagnostics.Append(tfvalue.SetObject(ctx, &resp.State, r.Arguments)...)
}

func (s *dataSource) reading(ctx context.Context, config tfvalue.Getter, diags *diag.Diagnostics) Reading {
	arguments := tfvalue.GetObject(ctx, config, diags)
	d := tfvalue.Decoder{Arguments: arguments, Problems: &problem.Problems{}}
	return Reading{d, s.data, readTimeout(ctx, arguments, diags), diags}
}
