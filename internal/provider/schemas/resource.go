package schemas

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/configuration"
)

// Resource has the methods that are the same in all resources. A resource embeds it.
type Resource struct {
	Data     *configuration.Data // nil until the provider is configured
	name     string
	schema   func(context.Context) schema.Schema
	identity Identity
}

// NewResource returns the methods of the resource of a name.
func NewResource(name string, schema func(context.Context) schema.Schema, identity Identity) Resource {
	return Resource{name: name, schema: schema, identity: identity}
}

// Named returns the methods of a list of the resources of a name.
func Named(name string) *Resource { return &Resource{name: name} }

// Metadata implements resource.Resource. The identity changes with the arguments: no argument replaces a resource.
func (r *Resource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_" + r.name
	resp.ResourceBehavior = resource.ResourceBehavior{MutableIdentity: true}
}

// Schema implements resource.Resource.
func (r *Resource) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = r.schema(ctx)
}

// IdentitySchema implements resource.ResourceWithIdentity.
func (r *Resource) IdentitySchema(
	_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse,
) {
	resp.IdentitySchema = r.identity.Schema()
}

// Configure stores the provider's configuration.
func (r *Resource) Configure(_ context.Context, req resource.ConfigureRequest, _ *resource.ConfigureResponse) {
	r.Data = configuration.DataOf(req.ProviderData)
}

// The default timeouts of the operations.
const (
	ReadTimeout  = 10 * time.Minute
	WriteTimeout = 30 * time.Minute
)

// Timeouts returns the argument timeouts of a resource with these operations, and with its defaults.
func Timeouts(ctx context.Context, operations timeouts.Opts, read, write time.Duration) schema.Attribute {
	text := func(limit time.Duration) string {
		return fmt.Sprintf("How long it may take, such as `90s` or `1h`. The default is `%dm`.", limit/time.Minute)
	}
	operations.ReadDescription = text(read)
	operations.CreateDescription, operations.UpdateDescription = text(write), text(write)
	operations.DeleteDescription = text(write)
	return timeouts.Attributes(ctx, operations)
}

// PrivateState is Terraform's private state of a resource.
type PrivateState interface {
	GetKey(ctx context.Context, key string) ([]byte, diag.Diagnostics)
	SetKey(ctx context.Context, key string, value []byte) diag.Diagnostics
}

// GetPrivate reads a value of private state. It returns the zero value if there is none, or if another version of the
// provider wrote it.
func GetPrivate[V any](ctx context.Context, private PrivateState, key string, diags *diag.Diagnostics) (v V) {
	data, ds := private.GetKey(ctx, key)
	diags.Append(ds...)
	if json.Unmarshal(data, &v) != nil {
		return *new(V)
	}
	return v
}

// SetPrivate writes a value of private state.
func SetPrivate(ctx context.Context, private PrivateState, key string, v any, diags *diag.Diagnostics) {
	data, err := json.Marshal(v)
	if err != nil {
		diags.AddError("Private state can't be written", err.Error())
		return
	}
	diags.Append(private.SetKey(ctx, key, data)...)
}

type bulkData struct{}

// WithBulk returns the context of one call of a resource whose private state has these bulk data.
func WithBulk(ctx context.Context, data []byte) context.Context {
	return context.WithValue(ctx, bulkData{}, &data)
}

// Bulk returns the bulk data in the private state of a resource, for the caller to read or set. They need not be JSON.
// They bypass the framework, which parses and encodes all other private state in each call. With the delivery of
// 100,000 assignments in the framework's part, a plan with nothing to do would take 9% more processor time, and
// Terraform's state would be 27% larger.
func Bulk(ctx context.Context) *[]byte {
	return ctx.Value(bulkData{}).(*[]byte) //nolint:forcetypeassert // the provider's server passes such a context
}
