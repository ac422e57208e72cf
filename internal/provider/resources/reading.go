package resources

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	resource "github.com/hashicorp/terraform-plugin-framework/resource/schema"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/configuration"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

var (
	_ datasource.DataSourceWithConfigure      = (*dataSource[any])(nil)
	_ datasource.DataSourceWithValidateConfig = (*dataSource[any])(nil)
)

// DataSource defines a data source that reads what a request of type R asks for.
type DataSource[R any] struct {
	Name        string
	Description string // Markdown
	// Arguments and Computed return the attributes, as a resource's: the framework takes the same ones in a data source.
	Arguments, Computed func() map[string]resource.Attribute
	// Timeout describes timeouts.read, see [schemas.TimeoutText]. If it is empty, the data source has no timeout.
	Timeout string
	Waits   bool // Read keeps to timeouts.read itself
	// Credentials says why the provider's configuration has to be known. If it is empty, Read decides.
	Credentials string
	// Request converts the arguments, and reports problems of the known ones; nil: there are none.
	Request func(Reading) R
	// Read returns the computed attributes, see [tfvalue.Result], or nil. Those that it leaves out are null. Terraform
	// calls it when all arguments are known.
	Read func(context.Context, Reading, R) tfvalue.Values
}

// dataSource is a data source with the provider's configuration.
type dataSource[R any] struct {
	of   DataSource[R]
	data *configuration.Data
}

// Reading has the arguments of a data source or a list, and reports their faults.
type Reading struct {
	tfvalue.Decoder
	Data  *configuration.Data // nil while Terraform validates
	Now   time.Time           // zero while Terraform validates
	Limit time.Duration       // timeouts.read
	Diags *diag.Diagnostics
}

// Invalid reports the problems of the arguments so far, and whether there is an error.
func (r Reading) Invalid() bool {
	tfvalue.AppendProblems(r.Diags, *r.Problems)
	*r.Problems = nil
	return r.Diags.HasError()
}

// NewDataSource returns a data source.
func NewDataSource[R any](of DataSource[R]) datasource.DataSource { return &dataSource[R]{of: of} }

// Metadata implements datasource.DataSource.
func (s *dataSource[R]) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_" + s.of.Name
}

// Schema implements datasource.DataSource.
func (s *dataSource[R]) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{MarkdownDescription: s.of.Description, Attributes: map[string]schema.Attribute{}}
	for _, attributes := range []map[string]resource.Attribute{s.of.Arguments(), s.of.Computed()} {
		for name, a := range attributes {
			resp.Schema.Attributes[name] = a
		}
	}
	if s.of.Timeout != "" {
		resp.Schema.Attributes["timeouts"] = schemas.Timeouts(timeouts.Opts{Read: true, ReadDescription: s.of.Timeout})
	}
}

// Configure stores the provider's configuration.
func (s *dataSource[R]) Configure(
	_ context.Context, req datasource.ConfigureRequest, _ *datasource.ConfigureResponse,
) {
	s.data = configuration.DataOf(req.ProviderData)
}

// ValidateConfig reports errors in the known arguments.
func (s *dataSource[R]) ValidateConfig(
	ctx context.Context, req datasource.ValidateConfigRequest, resp *datasource.ValidateConfigResponse,
) {
	r := newReading(ctx, s.data, req.Config, &resp.Diagnostics)
	s.request(r)
	r.Invalid()
}

func (s *dataSource[R]) request(r Reading) (request R) {
	if s.of.Request != nil {
		request = s.of.Request(r)
	}
	return request
}

// Read implements datasource.DataSource.
func (s *dataSource[R]) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	r := newReading(ctx, s.data, req.Config, &resp.Diagnostics)
	request := s.request(r)
	if r.Invalid() || s.of.Credentials != "" && !s.data.CheckKnown(s.of.Credentials, r.Diags) {
		return
	}
	if s.of.Timeout != "" && !s.of.Waits {
		limited, cancel := context.WithTimeout(ctx, r.Limit)
		defer cancel()
		ctx = limited
	}
	values := s.of.Read(ctx, r, request)
	if r.Invalid() || values == nil {
		return
	}
	for name, a := range resp.State.Schema.GetAttributes() {
		if a.IsComputed() {
			r.Arguments[name] = tfvalue.Result(a.GetType(), values[name])
		}
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, Model(r.Arguments).Object())...)
}

// newReading reads the arguments of a data source or a list. data is nil while Terraform validates.
func newReading(
	ctx context.Context, data *configuration.Data, config tfvalue.Getter, diags *diag.Diagnostics,
) Reading {
	arguments := tfvalue.GetObject(ctx, config, diags)
	d := tfvalue.Decoder{Arguments: arguments, Problems: &problem.Problems{}}
	limit, ds := readTimeout(ctx, arguments, timeouts.Value.Read, schemas.SourceTimeout)
	diags.Append(ds...)
	r := Reading{Decoder: d, Data: data, Limit: limit, Diags: diags}
	if data != nil {
		r.Now = data.Now()
	}
	return r
}
