package provider

import (
	"context"
	"encoding/json"
	"fmt"

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
	return panicReporter{privateStateChecker{served}, lists}
}

// privateStateChecker rejects a damaged private state. The framework does so too, but reports a bug in the provider
// without a way out.
type privateStateChecker struct{ tfprotov6.ProviderServer }

// checkPrivateState returns why a private state can't be read, or nil: it is not a JSON object with JSON values.
func checkPrivateState(private []byte) []*tfprotov6.Diagnostic {
	if len(private) == 0 {
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

func (s privateStateChecker) ReadResource(
	ctx context.Context, req *tfprotov6.ReadResourceRequest,
) (*tfprotov6.ReadResourceResponse, error) {
	if diags := checkPrivateState(req.Private); diags != nil {
		return &tfprotov6.ReadResourceResponse{NewState: req.CurrentState, Private: req.Private, Diagnostics: diags}, nil
	}
	return s.ProviderServer.ReadResource(ctx, req)
}

func (s privateStateChecker) PlanResourceChange(
	ctx context.Context, req *tfprotov6.PlanResourceChangeRequest,
) (*tfprotov6.PlanResourceChangeResponse, error) {
	if diags := checkPrivateState(req.PriorPrivate); diags != nil {
		return &tfprotov6.PlanResourceChangeResponse{
			PlannedState:   req.ProposedNewState,
			PlannedPrivate: req.PriorPrivate,
			Diagnostics:    diags,
		}, nil
	}
	return s.ProviderServer.PlanResourceChange(ctx, req)
}

func (s privateStateChecker) ApplyResourceChange(
	ctx context.Context, req *tfprotov6.ApplyResourceChangeRequest,
) (*tfprotov6.ApplyResourceChangeResponse, error) {
	if diags := checkPrivateState(req.PlannedPrivate); diags != nil {
		return &tfprotov6.ApplyResourceChangeResponse{
			NewState:    req.PriorState,
			Private:     req.PlannedPrivate,
			Diagnostics: diags,
		}, nil
	}
	return s.ProviderServer.ApplyResourceChange(ctx, req)
}
