package examples_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/url"
	"os/exec"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
)

// otherProvider has the data sources http, external and kubernetes_resources of the providers http, external and
// kubernetes, as far as the examples use them. They send the request, run the program and list the objects.
type otherProvider struct {
	server string // the URL of the Kubernetes API
	folder string // of the root module, in which programs run
}

func (p *otherProvider) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName = "other"
}

func (p *otherProvider) Schema(context.Context, provider.SchemaRequest, *provider.SchemaResponse) {}

func (p *otherProvider) Configure(context.Context, provider.ConfigureRequest, *provider.ConfigureResponse) {
}

func (p *otherProvider) Resources(context.Context) []func() resource.Resource { return nil }

func (p *otherProvider) DataSources(context.Context) []func() datasource.DataSource {
	argument := schema.StringAttribute{Optional: true}
	text := schema.StringAttribute{Computed: true}
	texts := schema.MapAttribute{ElementType: types.StringType, Optional: true}
	all := []*otherDataSource{
		{"http", map[string]schema.Attribute{
			"url": argument, "method": argument, "request_headers": texts, "request_body": argument,
			"response_body": text, "status_code": schema.Int64Attribute{Computed: true},
		}, request},
		{"external", map[string]schema.Attribute{
			"program": schema.ListAttribute{ElementType: types.StringType, Required: true}, "query": texts,
			"result": schema.MapAttribute{ElementType: types.StringType, Computed: true},
		}, p.run},
		{"kubernetes_resources", map[string]schema.Attribute{
			"api_version": argument, "kind": argument, "namespace": argument, "label_selector": argument,
			"objects": schema.DynamicAttribute{Computed: true},
		}, p.list},
	}
	made := make([]func() datasource.DataSource, len(all))
	for i, d := range all {
		made[i] = func() datasource.DataSource { return d }
	}
	return made
}

// otherDataSource is a data source. The function read computes its results from its arguments.
type otherDataSource struct {
	name       string
	attributes map[string]schema.Attribute
	read       func(ctx context.Context, arguments map[string]attr.Value) (map[string]attr.Value, error)
}

func (d *otherDataSource) Metadata(_ context.Context, _ datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = d.name
}

func (d *otherDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{Attributes: d.attributes}
}

func (d *otherDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var given types.Object
	resp.Diagnostics.Append(req.Config.Get(ctx, &given)...)
	all := given.Attributes()
	results, err := d.read(ctx, all)
	if err != nil {
		resp.Diagnostics.AddError("Failed", err.Error())
		return
	}
	for name, v := range results {
		all[name] = v
	}
	object, diags := types.ObjectValue(given.AttributeTypes(ctx), all)
	resp.Diagnostics.Append(diags...)
	resp.Diagnostics.Append(resp.State.Set(ctx, object)...)
}

func textOf(v attr.Value) string { return acc.As[types.String](v).ValueString() }

func request(ctx context.Context, arguments map[string]attr.Value) (map[string]attr.Value, error) {
	body := strings.NewReader(textOf(arguments["request_body"]))
	req, err := http.NewRequestWithContext(ctx, textOf(arguments["method"]), textOf(arguments["url"]), body)
	if err != nil {
		return nil, err
	}
	for name, v := range acc.As[types.Map](arguments["request_headers"]).Elements() {
		req.Header.Set(name, textOf(v))
	}
	status, text, err := do(req)
	return map[string]attr.Value{"response_body": types.StringValue(string(text)),
		"status_code": types.Int64Value(int64(status))}, err
}

func do(req *http.Request) (status int, body []byte, err error) {
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err = io.ReadAll(resp.Body)
	return resp.StatusCode, body, err
}

func (p *otherProvider) run(ctx context.Context, arguments map[string]attr.Value) (map[string]attr.Value, error) {
	var words []string
	for _, v := range acc.As[types.List](arguments["program"]).Elements() {
		words = append(words, textOf(v))
	}
	query := map[string]string{}
	for name, v := range acc.As[types.Map](arguments["query"]).Elements() {
		query[name] = textOf(v)
	}
	input, err := json.Marshal(query)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Dir = p.folder
	cmd.Stdin = bytes.NewReader(input)
	output, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	var result map[string]string
	if err := json.Unmarshal(output, &result); err != nil {
		return nil, fmt.Errorf("%w in %s", err, output)
	}
	v, diags := types.MapValueFrom(ctx, types.StringType, result)
	return map[string]attr.Value{"result": v}, failed(diags)
}

func failed(diags diag.Diagnostics) error {
	if diags.HasError() {
		return fmt.Errorf("%v", diags)
	}
	return nil
}

func (p *otherProvider) list(ctx context.Context, arguments map[string]attr.Value) (map[string]attr.Value, error) {
	at := fmt.Sprintf(
		"%s/apis/%s/namespaces/%s/%ss?labelSelector=%s",
		p.server,
		textOf(arguments["api_version"]),
		textOf(
			arguments["namespace"],
		),
		strings.ToLower(textOf(arguments["kind"])),
		url.QueryEscape(textOf(arguments["label_selector"])),
	)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return nil, err
	}
	status, text, err := do(req)
	if err != nil || status != http.StatusOK {
		return nil, fmt.Errorf("%s: %d, %w", at, status, err)
	}
	var found struct{ Items []any }
	if err := json.Unmarshal(text, &found); err != nil {
		return nil, err
	}
	return map[string]attr.Value{"objects": types.DynamicValue(dynamicOf(found.Items))}, nil
}

// dynamicOf converts a value of JSON to a value of the framework.
func dynamicOf(v any) attr.Value {
	switch v := v.(type) {
	case string:
		return types.StringValue(v)
	case bool:
		return types.BoolValue(v)
	case float64:
		return types.NumberValue(big.NewFloat(v))
	case []any:
		kinds, all := make([]attr.Type, len(v)), make([]attr.Value, len(v))
		for i, e := range v {
			all[i] = dynamicOf(e)
			kinds[i] = all[i].Type(context.Background())
		}
		return types.TupleValueMust(kinds, all)
	case map[string]any:
		kinds, all := map[string]attr.Type{}, map[string]attr.Value{}
		for name, e := range v {
			all[name] = dynamicOf(e)
			kinds[name] = all[name].Type(context.Background())
		}
		return types.ObjectValueMust(kinds, all)
	}
	return types.DynamicNull()
}

// usesOtherProviders reports whether an example needs other providers besides Kalypso's.
func usesOtherProviders(folder string) bool {
	return slices.Contains(strings.Split(folder, "/"), "schedulers")
}
