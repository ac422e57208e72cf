package provider

import (
	"context"
	"reflect"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

type diagnostics = []*tfprotov6.Diagnostic

// reportPanic passes a panic to answer as diagnostics. Call it with defer. Without it, a panic ends the provider's
// process, and all other resources fail too. Terraform adds the resource's address.
func reportPanic(answer func(diagnostics)) {
	if p := problem.Recovered(recover()); p != nil {
		found := p.Problem()
		answer(diagnostics{{
			Severity: tfprotov6.DiagnosticSeverityError, Summary: found.Summary, Detail: found.Detail,
		}})
	}
}

// guard calls the framework. If that panics, the response only has diagnostics.
func guard[Req, Resp any](
	ctx context.Context, call func(context.Context, *Req) (*Resp, error), req *Req,
) (resp *Resp, err error) {
	defer reportPanic(func(ds diagnostics) {
		resp = new(Resp)
		*part[diagnostics](resp, "Diagnostics") = ds
	})
	return call(ctx, req)
}

// part returns a field of a request or a response. The protocol's types share the names of fields, but have no methods.
func part[V any](of any, name string) *V {
	return reflect.ValueOf(of).Elem().FieldByName(name).Addr().Interface().(*V) //nolint:forcetypeassert // see callers
}

func (s server) ConfigureProvider(
	ctx context.Context, req *tfprotov6.ConfigureProviderRequest,
) (*tfprotov6.ConfigureProviderResponse, error) {
	return guard(ctx, s.ProviderServer.ConfigureProvider, req)
}

func (s server) ValidateProviderConfig(
	ctx context.Context, req *tfprotov6.ValidateProviderConfigRequest,
) (*tfprotov6.ValidateProviderConfigResponse, error) {
	return guard(ctx, s.ProviderServer.ValidateProviderConfig, req)
}

func (s server) ValidateResourceConfig(
	ctx context.Context, req *tfprotov6.ValidateResourceConfigRequest,
) (*tfprotov6.ValidateResourceConfigResponse, error) {
	return guard(ctx, s.ProviderServer.ValidateResourceConfig, req)
}

func (s server) ValidateDataResourceConfig(
	ctx context.Context, req *tfprotov6.ValidateDataResourceConfigRequest,
) (*tfprotov6.ValidateDataResourceConfigResponse, error) {
	return guard(ctx, s.ProviderServer.ValidateDataResourceConfig, req)
}

func (s server) ReadDataSource(
	ctx context.Context, req *tfprotov6.ReadDataSourceRequest,
) (*tfprotov6.ReadDataSourceResponse, error) {
	return guard(ctx, s.ProviderServer.ReadDataSource, req)
}

func (s server) CallFunction(
	ctx context.Context, req *tfprotov6.CallFunctionRequest,
) (resp *tfprotov6.CallFunctionResponse, err error) {
	defer reportPanic(func(ds diagnostics) {
		resp = &tfprotov6.CallFunctionResponse{Error: &tfprotov6.FunctionError{Text: ds[0].Detail}}
	})
	return s.ProviderServer.CallFunction(ctx, req)
}
