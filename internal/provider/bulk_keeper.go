package provider

import (
	"context"
	"encoding/json"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
)

// bulkKeeper keeps the bulk data of private states away from the framework, see [schemas.Bulk].
type bulkKeeper struct{ tfprotov6.ProviderServer }

// withBulk returns a context with the bulk data of a private state, and the private state without them. A private state
// that can't be read stays as it is, for the framework to reject.
func withBulk(ctx context.Context, private []byte) (context.Context, []byte) {
	keys := map[string][]byte{}
	err := json.Unmarshal(private, &keys)
	data, ok := keys[schemas.BulkKey]
	if err != nil || !ok {
		return schemas.WithBulk(ctx, nil), private
	}
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
		panic(err) // bytes can always be encoded
	}
	return private
}

func (s bulkKeeper) ImportResourceState(
	ctx context.Context, req *tfprotov6.ImportResourceStateRequest,
) (*tfprotov6.ImportResourceStateResponse, error) {
	ctx = schemas.WithBulk(ctx, nil)
	resp, err := s.ProviderServer.ImportResourceState(ctx, req)
	if err != nil {
		return resp, err
	}
	for _, imported := range resp.ImportedResources { // there is one at most
		imported.Private = joinBulk(ctx, imported.Private)
	}
	return resp, nil
}

func (s bulkKeeper) ReadResource(
	ctx context.Context, req *tfprotov6.ReadResourceRequest,
) (*tfprotov6.ReadResourceResponse, error) {
	given := *req
	ctx, given.Private = withBulk(ctx, req.Private)
	resp, err := s.ProviderServer.ReadResource(ctx, &given)
	if err != nil {
		return resp, err
	}
	resp.Private = joinBulk(ctx, resp.Private)
	return resp, nil
}

func (s bulkKeeper) PlanResourceChange(
	ctx context.Context, req *tfprotov6.PlanResourceChangeRequest,
) (*tfprotov6.PlanResourceChangeResponse, error) {
	given := *req
	ctx, given.PriorPrivate = withBulk(ctx, req.PriorPrivate)
	resp, err := s.ProviderServer.PlanResourceChange(ctx, &given)
	if err != nil {
		return resp, err
	}
	resp.PlannedPrivate = joinBulk(ctx, resp.PlannedPrivate)
	return resp, nil
}

func (s bulkKeeper) ApplyResourceChange(
	ctx context.Context, req *tfprotov6.ApplyResourceChangeRequest,
) (*tfprotov6.ApplyResourceChangeResponse, error) {
	given := *req
	ctx, given.PlannedPrivate = withBulk(ctx, req.PlannedPrivate)
	resp, err := s.ProviderServer.ApplyResourceChange(ctx, &given)
	if err != nil {
		return resp, err
	}
	resp.Private = joinBulk(ctx, resp.Private)
	return resp, nil
}
