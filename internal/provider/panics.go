package provider

import (
	"context"

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

func (s server) ConfigureProvider(
	ctx context.Context, req *tfprotov6.ConfigureProviderRequest,
) (resp *tfprotov6.ConfigureProviderResponse, err error) {
	defer reportPanic(func(ds diagnostics) {
		resp = &tfprotov6.ConfigureProviderResponse{Diagnostics: ds}
	})
	return s.ProviderServer.ConfigureProvider(ctx, req)
}

func (s server) ValidateProviderConfig(
	ctx context.Context, req *tfprotov6.ValidateProviderConfigRequest,
) (resp *tfprotov6.ValidateProviderConfigResponse, err error) {
	defer reportPanic(func(ds diagnostics) {
		resp = &tfprotov6.ValidateProviderConfigResponse{Diagnostics: ds}
	})
	return s.ProviderServer.ValidateProviderConfig(ctx, req)
}

func (s server) ValidateResourceConfig(
	ctx context.Context, req *tfprotov6.ValidateResourceConfigRequest,
) (resp *tfprotov6.ValidateResourceConfigResponse, err error) {
	defer reportPanic(func(ds diagnostics) {
		resp = &tfprotov6.ValidateResourceConfigResponse{Diagnostics: ds}
	})
	return s.ProviderServer.ValidateResourceConfig(ctx, req)
}

func (s server) ValidateDataResourceConfig(
	ctx context.Context, req *tfprotov6.ValidateDataResourceConfigRequest,
) (resp *tfprotov6.ValidateDataResourceConfigResponse, err error) {
	defer reportPanic(func(ds diagnostics) {
		resp = &tfprotov6.ValidateDataResourceConfigResponse{Diagnostics: ds}
	})
	return s.ProviderServer.ValidateDataResourceConfig(ctx, req)
}

func (s server) ReadDataSource(
	ctx context.Context, req *tfprotov6.ReadDataSourceRequest,
) (resp *tfprotov6.ReadDataSourceResponse, err error) {
	defer reportPanic(func(ds diagnostics) {
		resp = &tfprotov6.ReadDataSourceResponse{Diagnostics: ds}
	})
	return s.ProviderServer.ReadDataSource(ctx, req)
}

func (s server) CallFunction(
	ctx context.Context, req *tfprotov6.CallFunctionRequest,
) (resp *tfprotov6.CallFunctionResponse, err error) {
	defer reportPanic(func(ds diagnostics) {
		resp = &tfprotov6.CallFunctionResponse{Error: &tfprotov6.FunctionError{Text: ds[0].Detail}}
	})
	return s.ProviderServer.CallFunction(ctx, req)
}
