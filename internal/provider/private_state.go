package provider

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/resources"
)

func (s server) ImportResourceState(
	ctx context.Context, req *tfprotov6.ImportResourceStateRequest,
) (resp *tfprotov6.ImportResourceStateResponse, err error) {
	defer reportPanic(func(ds diagnostics) {
		resp = &tfprotov6.ImportResourceStateResponse{Diagnostics: ds}
	})
	ctx, bulk := resources.WithBulk(ctx, nil)
	resp, err = s.ProviderServer.ImportResourceState(ctx, req)
	if err != nil {
		return resp, err
	}
	for _, imported := range resp.ImportedResources { // there is one at most
		imported.Private = withBulk(bulk.Data, imported.Private)
	}
	return resp, nil
}

func (s server) ReadResource(
	ctx context.Context, req *tfprotov6.ReadResourceRequest,
) (*tfprotov6.ReadResourceResponse, error) {
	given := *req
	return passPrivate(ctx, s.ProviderServer.ReadResource, &given, &given.Private,
		&tfprotov6.ReadResourceResponse{
			NewState: req.CurrentState, Private: req.Private, NewIdentity: req.CurrentIdentity,
		},
		func(resp *tfprotov6.ReadResourceResponse) (*[]byte, *diagnostics) {
			return &resp.Private, &resp.Diagnostics
		})
}

func (s server) PlanResourceChange(
	ctx context.Context, req *tfprotov6.PlanResourceChangeRequest,
) (*tfprotov6.PlanResourceChangeResponse, error) {
	given := *req
	return passPrivate(ctx, s.ProviderServer.PlanResourceChange, &given, &given.PriorPrivate,
		&tfprotov6.PlanResourceChangeResponse{
			PlannedState: req.ProposedNewState, PlannedPrivate: req.PriorPrivate,
		},
		func(resp *tfprotov6.PlanResourceChangeResponse) (*[]byte, *diagnostics) {
			return &resp.PlannedPrivate, &resp.Diagnostics
		})
}

func (s server) ApplyResourceChange(
	ctx context.Context, req *tfprotov6.ApplyResourceChangeRequest,
) (*tfprotov6.ApplyResourceChangeResponse, error) {
	given := *req
	return passPrivate(ctx, s.ProviderServer.ApplyResourceChange, &given, &given.PlannedPrivate,
		&tfprotov6.ApplyResourceChangeResponse{
			NewState: req.PriorState, Private: req.PlannedPrivate,
		},
		func(resp *tfprotov6.ApplyResourceChangeResponse) (*[]byte, *diagnostics) {
			return &resp.Private, &resp.Diagnostics
		})
}

// passPrivate takes the bulk data out of the private state of a request, calls the framework, and adds them to the
// private state of its response. If the framework panics, or can't read the private state, it returns failed with
// diagnostics. parts returns the private state and the diagnostics of a response.
func passPrivate[Req, Resp any](
	ctx context.Context, call func(context.Context, *Req) (*Resp, error), req *Req, private *[]byte,
	failed *Resp, parts func(*Resp) (*[]byte, *diagnostics),
) (resp *Resp, err error) {
	fail := func(why diagnostics) {
		_, ds := parts(failed)
		resp, *ds = failed, why
	}
	defer reportPanic(fail)
	data, rest := withoutBulk(*private)
	ctx, bulk := resources.WithBulk(ctx, data)
	*private = rest
	resp, err = call(ctx, req)
	if err != nil {
		return resp, err
	}
	after, ds := parts(resp)
	if why := explain(*ds, *private); why != nil {
		fail(why)
	} else {
		*after = withBulk(bulk.Data, *after)
	}
	return resp, nil
}

// bulkKey is the key of the bulk data in a private state, see [resources.Bulk]. So far only renderings have bulk data.
const bulkKey = "delivery"

// withoutBulk returns the bulk data of a private state, and the private state without them. A private state that can't
// be read stays as it is, for the framework to reject.
func withoutBulk(private []byte) (data, rest []byte) {
	keys := map[string][]byte{}
	err := json.Unmarshal(private, &keys)
	data, ok := keys[bulkKey]
	if err != nil || !ok {
		return nil, private
	}
	delete(keys, bulkKey)
	return data, encodeKeys(keys)
}

// withBulk returns the private state with bulk data.
func withBulk(data, private []byte) []byte {
	if len(data) == 0 {
		return private
	}
	keys := map[string][]byte{bulkKey: data}
	_ = json.Unmarshal(private, &keys) // adds the framework's keys; fails if there are none
	return encodeKeys(keys)
}

func encodeKeys(keys map[string][]byte) []byte {
	private, err := json.Marshal(keys)
	if err != nil {
		panic(err) // bytes can always be encoded
	}
	return private
}

// explain returns why the private state of a failed call can't be read, because it is not a JSON object with JSON
// values. It returns nil if the call failed for another reason. The framework reports such a private state as a bug in
// the provider, and does not say what to do.
func explain(failed diagnostics, private []byte) diagnostics {
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
		if !json.Valid(keys[key]) { // another version may store a value in a form other than JSON
			why = fmt.Sprintf("was written by another version of the provider: this one can't read the private key %q", key)
			todo = "Use the version that wrote it, or a newer one"
		}
	}
	if why == "" {
		return nil
	}
	return diagnostics{{
		Severity: tfprotov6.DiagnosticSeverityError,
		Summary:  "Private state can't be read",
		Detail: "The state of this resource " + why + ". Nothing was read or written. " + todo +
			". Or remove the resource from the state with \"terraform state rm\", and bring it back with \"terraform import\".",
	}}
}
