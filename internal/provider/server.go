package provider

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// NewServer returns the provider as a server of Terraform's protocol 6.
func NewServer(version string, options ...Option) tfprotov6.ProviderServer {
	served := providerserver.NewProtocol6(New(version, options...)())()
	lists, ok := served.(tfprotov6.ListResourceServer)
	if !ok {
		panic("the framework serves no list resources")
	}
	return panicReporter{bulkKeeper{privateStateChecker{served}}, lists}
}

// privateStateChecker explains a private state that can't be read. The framework rejects it, but reports a bug in the
// provider without a way out.
type privateStateChecker struct{ tfprotov6.ProviderServer }

// explain returns why the private state of a failed call can't be read, or nil: it is not a JSON object with JSON
// values.
func explain(failed []*tfprotov6.Diagnostic, private []byte) []*tfprotov6.Diagnostic {
	isError := func(d *tfprotov6.Diagnostic) bool { return d.Severity == tfprotov6.DiagnosticSeverityError }
	if len(private) == 0 || !slices.ContainsFunc(failed, isError) {
		return nil
	}
	var keys map[string][]byte
	why, todo := "", "Restore the state from a backup"
	if err := json.Unmarshal(private, &keys); err != nil {
		why = "is damaged: " + err.Error()
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if !json.Valid(keys[key]) { // a version may keep a value in another form, as this one keeps schemas.BulkKey
			why = fmt.Sprintf("was written by another version of the provider: this one can't read the private key %q", key)
			todo = "Use the version that wrote it, or a newer one"
		}
	}
	if why == "" {
		return nil
	}
	return []*tfprotov6.Diagnostic{{
		Severity: tfprotov6.DiagnosticSeverityError,
		Summary:  "Private state can't be read",
		Detail: "The state of this resource " + why + ". Nothing was read or written. " + todo +
			". Or remove the resource from the state with \"terraform state rm\", and bring it back with \"terraform import\".",
	}}
}

func (s privateStateChecker) ReadResource(
	ctx context.Context, req *tfprotov6.ReadResourceRequest,
) (*tfprotov6.ReadResourceResponse, error) {
	resp, err := s.ProviderServer.ReadResource(ctx, req)
	if diags := explain(resp.Diagnostics, req.Private); diags != nil {
		resp.NewState, resp.Private, resp.Diagnostics = req.CurrentState, req.Private, diags
	}
	return resp, err
}

func (s privateStateChecker) PlanResourceChange(
	ctx context.Context, req *tfprotov6.PlanResourceChangeRequest,
) (*tfprotov6.PlanResourceChangeResponse, error) {
	resp, err := s.ProviderServer.PlanResourceChange(ctx, req)
	if diags := explain(resp.Diagnostics, req.PriorPrivate); diags != nil {
		resp.PlannedState, resp.PlannedPrivate, resp.Diagnostics = req.ProposedNewState, req.PriorPrivate, diags
	}
	return resp, err
}

func (s privateStateChecker) ApplyResourceChange(
	ctx context.Context, req *tfprotov6.ApplyResourceChangeRequest,
) (*tfprotov6.ApplyResourceChangeResponse, error) {
	resp, err := s.ProviderServer.ApplyResourceChange(ctx, req)
	if diags := explain(resp.Diagnostics, req.PlannedPrivate); diags != nil {
		resp.NewState, resp.Private, resp.Diagnostics = req.PriorState, req.PlannedPrivate, diags
	}
	return resp, err
}
