package provider

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
)

// privateState passes the bulk data of a private state by the framework, see [schemas.Bulk]. It also explains a damaged
// private state: the framework rejects it, but reports a bug in the provider without a way out.
type privateState struct{ tfprotov6.ProviderServer }

// withBulk returns a context with the bulk data of a private state, and the private state without them: what the
// framework gets. A private state that can't be read stays as it is.
func withBulk(ctx context.Context, private []byte) (context.Context, []byte) {
	keys := map[string][]byte{}
	if json.Unmarshal(private, &keys) != nil || keys[schemas.BulkKey] == nil {
		return schemas.WithBulk(ctx, nil), private
	}
	data := keys[schemas.BulkKey]
	delete(keys, schemas.BulkKey)
	return schemas.WithBulk(ctx, data), encodeKeys(keys)
}

// joinBulk returns the private state with the bulk data of the context.
func joinBulk(ctx context.Context, private []byte) []byte {
	data := *schemas.Bulk(ctx)
	if len(data) == 0 {
		return private
	}
	keys := map[string][]byte{}
	_ = json.Unmarshal(private, &keys) // fails if the framework has no keys
	keys[schemas.BulkKey] = data
	return encodeKeys(keys)
}

func encodeKeys(keys map[string][]byte) []byte {
	private, err := json.Marshal(keys)
	if err != nil {
		panic(err) // bytes always have a JSON
	}
	return private
}

// explain returns why the private state of a failed call can't be read, or nil: it is not a JSON object with JSON
// values.
func explain(failed []*tfprotov6.Diagnostic, private []byte) []*tfprotov6.Diagnostic {
	isError := func(d *tfprotov6.Diagnostic) bool { return d.Severity == tfprotov6.DiagnosticSeverityError }
	if len(private) == 0 || !slices.ContainsFunc(failed, isError) {
		return nil
	}
	var keys map[string][]byte
	err := json.Unmarshal(private, &keys)
	for key, value := range keys {
		if !json.Valid(value) {
			err = fmt.Errorf("the value of the private key %q is not JSON", key)
		}
	}
	if err == nil {
		return nil
	}
	return []*tfprotov6.Diagnostic{{
		Severity: tfprotov6.DiagnosticSeverityError,
		Summary:  "Private state can't be read",
		Detail: "The state of this resource is damaged: " + err.Error() + ". Nothing was read or written. Restore the " +
			"state from a backup. Or remove the resource from the state with \"terraform state rm\", and bring it back with " +
			"\"terraform import\".",
	}}
}

func (s privateState) ImportResourceState(
	ctx context.Context, req *tfprotov6.ImportResourceStateRequest,
) (*tfprotov6.ImportResourceStateResponse, error) {
	ctx, _ = withBulk(ctx, nil)
	resp, err := s.ProviderServer.ImportResourceState(ctx, req)
	for _, imported := range resp.ImportedResources { // there is one at most
		imported.Private = joinBulk(ctx, imported.Private)
	}
	return resp, err
}

func (s privateState) ReadResource(
	ctx context.Context, req *tfprotov6.ReadResourceRequest,
) (*tfprotov6.ReadResourceResponse, error) {
	ctx, req.Private = withBulk(ctx, req.Private)
	resp, err := s.ProviderServer.ReadResource(ctx, req)
	if diags := explain(resp.Diagnostics, req.Private); diags != nil {
		resp.NewState, resp.Private, resp.Diagnostics = req.CurrentState, req.Private, diags
	}
	resp.Private = joinBulk(ctx, resp.Private)
	return resp, err
}

func (s privateState) PlanResourceChange(
	ctx context.Context, req *tfprotov6.PlanResourceChangeRequest,
) (*tfprotov6.PlanResourceChangeResponse, error) {
	ctx, req.PriorPrivate = withBulk(ctx, req.PriorPrivate)
	resp, err := s.ProviderServer.PlanResourceChange(ctx, req)
	if diags := explain(resp.Diagnostics, req.PriorPrivate); diags != nil {
		resp.PlannedState, resp.PlannedPrivate, resp.Diagnostics = req.ProposedNewState, req.PriorPrivate, diags
	}
	resp.PlannedPrivate = joinBulk(ctx, resp.PlannedPrivate)
	return resp, err
}

func (s privateState) ApplyResourceChange(
	ctx context.Context, req *tfprotov6.ApplyResourceChangeRequest,
) (*tfprotov6.ApplyResourceChangeResponse, error) {
	ctx, req.PlannedPrivate = withBulk(ctx, req.PlannedPrivate)
	resp, err := s.ProviderServer.ApplyResourceChange(ctx, req)
	if diags := explain(resp.Diagnostics, req.PlannedPrivate); diags != nil {
		resp.NewState, resp.Private, resp.Diagnostics = req.PriorState, req.PlannedPrivate, diags
	}
	resp.Private = joinBulk(ctx, resp.Private)
	return resp, err
}
