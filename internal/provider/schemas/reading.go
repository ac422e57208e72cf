package schemas

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/datasource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	resource "github.com/hashicorp/terraform-plugin-framework/resource/schema"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/configuration"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

var (
	_ datasource.DataSourceWithConfigure      = (*dataSource)(nil)
	_ datasource.DataSourceWithValidateConfig = (*dataSource)(nil)
)

// DataSource defines a data source whose arguments are decoded, checked and then read.
type DataSource struct {
	Name string
	// Schema returns the attributes, as a resource's: so both kinds share them.
	Schema func() resource.Schema
	// Timeout describes timeouts.read, see [TimeoutText]. If it is empty, the data source has no timeout.
	Timeout string
	// Check reports problems of the known arguments; nil: there are none.
	Check func(Reading)
	// Read returns the computed attributes, see [tfvalue.Result], or nil. Terraform calls it when all arguments are known.
	Read func(context.Context, Reading) tfvalue.Values
}

// TimeoutText describes timeouts.read: what it limits, and more.
func TimeoutText(limits string, more ...string) string {
	const form = ", as a [duration](https://pkg.go.dev/time#ParseDuration) such as `30s` or `10m`. The default is `5m`."
	return strings.Join(append([]string{limits + form}, more...), " ")
}

// dataSource is a data source with the provider's configuration.
type dataSource struct {
	of   DataSource
	data *configuration.Data
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

// NewDataSource returns a data source.
func NewDataSource(of DataSource) datasource.DataSource { return &dataSource{of: of} }

// Metadata implements datasource.DataSource.
func (s *dataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_" + s.of.Name
}

// Schema implements datasource.DataSource.
func (s *dataSource) Schema(ctx context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	defined := s.of.Schema()
	resp.Schema = schema.Schema{
		MarkdownDescription: defined.MarkdownDescription, Attributes: dataSourceAttributes(defined.Attributes),
	}
	if s.of.Timeout != "" {
		resp.Schema.Attributes["timeouts"] = timeouts.AttributesWithOpts(ctx, timeouts.Opts{ReadDescription: s.of.Timeout})
	}
}

// Configure stores the provider's configuration.
func (s *dataSource) Configure(
	_ context.Context, req datasource.ConfigureRequest, _ *datasource.ConfigureResponse,
) {
	s.data = configuration.DataOf(req.ProviderData)
}

// ValidateConfig reports errors in the known arguments.
func (s *dataSource) ValidateConfig(
	ctx context.Context, req datasource.ValidateConfigRequest, resp *datasource.ValidateConfigResponse,
) {
	if s.of.Check != nil {
		r := s.reading(ctx, req.Config, &resp.Diagnostics)
		s.of.Check(r)
		r.Invalid()
	}
}

// Read implements datasource.DataSource.
func (s *dataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	r := s.reading(ctx, req.Config, &resp.Diagnostics)
	values := s.of.Read(ctx, r)
	if r.Invalid() || values == nil {
		return
	}
	attributes := resp.State.Schema.GetAttributes()
	for name, v := range values {
		r.Arguments[name] = tfvalue.Result(attributes[name].GetType(), v)
	}
	resp.Diagnostics.Append(tfvalue.SetObject(ctx, &resp.State, r.Arguments)...)
}

func (s *dataSource) reading(ctx context.Context, config tfvalue.Getter, diags *diag.Diagnostics) Reading {
	arguments := tfvalue.GetObject(ctx, config, diags)
	d := tfvalue.Decoder{Arguments: arguments, Problems: &problem.Problems{}}
	return Reading{d, s.data, readTimeout(ctx, arguments, diags), diags}
}

// SourceTimeout is the default of timeouts.read of data sources.
const SourceTimeout = 5 * time.Minute

// readTimeout returns timeouts.read of a data source, or [SourceTimeout] if it is not set. It reports one that leaves
// no time.
func readTimeout(ctx context.Context, arguments map[string]attr.Value, diags *diag.Diagnostics) time.Duration {
	given, ok := arguments["timeouts"].(timeouts.Value)
	if !ok {
		return SourceTimeout
	}
	limit, ds := given.Read(ctx, SourceTimeout)
	diags.Append(ds...)
	if limit <= 0 {
		diags.AddAttributeError(path.Root("timeouts").AtName("read"), "Invalid duration",
			fmt.Sprintf("%q is not greater than 0.", limit))
	}
	return limit
}
