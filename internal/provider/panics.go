package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// panicReporter answers a request with an error if a resource, data source, list or function panics. Terraform adds the
// address. Without it, the provider's process ends, and all other resources fail too.
type panicReporter struct {
	tfprotov6.ProviderServer
	lists tfprotov6.ListResourceServer // of the same provider
}

var _ tfprotov6.ListResourceServer = panicReporter{}

// reportPanic passes a panic to answer as diagnostics. Defer it.
func reportPanic(answer func([]*tfprotov6.Diagnostic)) {
	if p := problem.Recovered(recover()); p != nil {
		found := p.Problem()
		answer([]*tfprotov6.Diagnostic{{
			Severity: tfprotov6.DiagnosticSeverityError, Summary: found.Summary, Detail: found.Detail,
		}})
	}
}

func (s panicReporter) ConfigureProvider(
	ctx context.Context, req *tfprotov6.ConfigureProviderRequest,
) (resp *tfprotov6.ConfigureProviderResponse, err error) {
	defer reportPanic(func(ds []*tfprotov6.Diagnostic) {
		resp = &tfprotov6.ConfigureProviderResponse{Diagnostics: ds}
	})
	return s.ProviderServer.ConfigureProvider(ctx, req)
}

func (s panicReporter) ValidateProviderConfig(
	ctx context.Context, req *tfprotov6.ValidateProviderConfigRequest,
) (resp *tfprotov6.ValidateProviderConfigResponse, err error) {
	defer reportPanic(func(ds []*tfprotov6.Diagnostic) {
		resp = &tfprotov6.ValidateProviderConfigResponse{Diagnostics: ds}
	})
	return s.ProviderServer.ValidateProviderConfig(ctx, req)
}

func (s panicReporter) ValidateResourceConfig(
	ctx context.Context, req *tfprotov6.ValidateResourceConfigRequest,
) (resp *tfprotov6.ValidateResourceConfigResponse, err error) {
	defer reportPanic(func(ds []*tfprotov6.Diagnostic) {
		resp = &tfprotov6.ValidateResourceConfigResponse{Diagnostics: ds}
	})
	return s.ProviderServer.ValidateResourceConfig(ctx, req)
}

func (s panicReporter) ValidateDataResourceConfig(
	ctx context.Context, req *tfprotov6.ValidateDataResourceConfigRequest,
) (resp *tfprotov6.ValidateDataResourceConfigResponse, err error) {
	defer reportPanic(func(ds []*tfprotov6.Diagnostic) {
		resp = &tfprotov6.ValidateDataResourceConfigResponse{Diagnostics: ds}
	})
	return s.ProviderServer.ValidateDataResourceConfig(ctx, req)
}

func (s panicReporter) ReadResource(
	ctx context.Context, req *tfprotov6.ReadResourceRequest,
) (resp *tfprotov6.ReadResourceResponse, err error) {
	defer reportPanic(func(ds []*tfprotov6.Diagnostic) {
		resp = &tfprotov6.ReadResourceResponse{
			NewState: req.CurrentState, Private: req.Private, NewIdentity: req.CurrentIdentity, Diagnostics: ds,
		}
	})
	return s.ProviderServer.ReadResource(ctx, req)
}

func (s panicReporter) PlanResourceChange(
	ctx context.Context, req *tfprotov6.PlanResourceChangeRequest,
) (resp *tfprotov6.PlanResourceChangeResponse, err error) {
	defer reportPanic(func(ds []*tfprotov6.Diagnostic) {
		resp = &tfprotov6.PlanResourceChangeResponse{
			PlannedState: req.ProposedNewState, PlannedPrivate: req.PriorPrivate, Diagnostics: ds,
		}
	})
	return s.ProviderServer.PlanResourceChange(ctx, req)
}

func (s panicReporter) ApplyResourceChange(
	ctx context.Context, req *tfprotov6.ApplyResourceChangeRequest,
) (resp *tfprotov6.ApplyResourceChangeResponse, err error) {
	defer reportPanic(func(ds []*tfprotov6.Diagnostic) {
		resp = &tfprotov6.ApplyResourceChangeResponse{
			NewState: req.PriorState, Private: req.PlannedPrivate, Diagnostics: ds,
		}
	})
	return s.ProviderServer.ApplyResourceChange(ctx, req)
}

func (s panicReporter) ImportResourceState(
	ctx context.Context, req *tfprotov6.ImportResourceStateRequest,
) (resp *tfprotov6.ImportResourceStateResponse, err error) {
	defer reportPanic(func(ds []*tfprotov6.Diagnostic) {
		resp = &tfprotov6.ImportResourceStateResponse{Diagnostics: ds}
	})
	return s.ProviderServer.ImportResourceState(ctx, req)
}

func (s panicReporter) ReadDataSource(
	ctx context.Context, req *tfprotov6.ReadDataSourceRequest,
) (resp *tfprotov6.ReadDataSourceResponse, err error) {
	defer reportPanic(func(ds []*tfprotov6.Diagnostic) {
		resp = &tfprotov6.ReadDataSourceResponse{Diagnostics: ds}
	})
	return s.ProviderServer.ReadDataSource(ctx, req)
}

func (s panicReporter) CallFunction(
	ctx context.Context, req *tfprotov6.CallFunctionRequest,
) (resp *tfprotov6.CallFunctionResponse, err error) {
	defer reportPanic(func(ds []*tfprotov6.Diagnostic) {
		resp = &tfprotov6.CallFunctionResponse{Error: &tfprotov6.FunctionError{Text: ds[0].Detail}}
	})
	return s.ProviderServer.CallFunction(ctx, req)
}
