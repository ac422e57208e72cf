package provider

import (
	"context"
	"errors"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// The framework gets the private state without the bulk data. It gets a private state that can't be decoded unchanged.
func TestWithoutBulk(t *testing.T) {
	for _, tt := range []struct{ private, framework, bulk string }{
		{"", "", ""},
		{`{}`, `{}`, ""},
		{`{"other":"MQ=="}`, `{"other":"MQ=="}`, ""},
		{`{"delivery":"AP8="}`, `{}`, "\x00\xff"},
		{"{ \"other\": \"MQ==\",\n \"delivery\": \"AP8=\" }", `{"other":"MQ=="}`, "\x00\xff"},
		{`{"delivery":""}`, `{}`, ""},
		{`{"delivery":null}`, `{}`, ""},
		{`{"delivery":"no"}`, `{"delivery":"no"}`, ""},
		{`{"delivery":"AP8="`, `{"delivery":"AP8="`, ""},
		{`none`, `none`, ""},
	} {
		bulk, framework := withoutBulk([]byte(tt.private))
		if string(framework) != tt.framework || string(bulk) != tt.bulk {
			t.Errorf("%s becomes %s with %q, not %s with %q", tt.private, framework, bulk, tt.framework, tt.bulk)
		}
	}
}

// The private state that Terraform stores contains the bulk data.
func TestWithBulk(t *testing.T) {
	for _, tt := range []struct{ framework, bulk, joined string }{
		{"", "", ""},
		{"", "\x00\xff", `{"delivery":"AP8="}`},
		{`{}`, "\x00\xff", `{"delivery":"AP8="}`},
		{`{"other":"MQ=="}`, "", `{"other":"MQ=="}`},
		{`{"other":"MQ=="}`, "\x00\xff", `{"delivery":"AP8=","other":"MQ=="}`},
	} {
		joined := withBulk([]byte(tt.bulk), []byte(tt.framework))
		if string(joined) != tt.joined {
			t.Errorf("%s with %q becomes %s, not %s", tt.framework, tt.bulk, joined, tt.joined)
		}
	}
}

// failing returns from each call an error, and no response.
type failing struct{ tfprotov6.ProviderServer }

var errFailing = errors.New("no answer")

func (failing) ImportResourceState(
	context.Context, *tfprotov6.ImportResourceStateRequest,
) (*tfprotov6.ImportResourceStateResponse, error) {
	return nil, errFailing
}

func (failing) ReadResource(
	context.Context, *tfprotov6.ReadResourceRequest,
) (*tfprotov6.ReadResourceResponse, error) {
	return nil, errFailing
}

func (failing) PlanResourceChange(
	context.Context, *tfprotov6.PlanResourceChangeRequest,
) (*tfprotov6.PlanResourceChangeResponse, error) {
	return nil, errFailing
}

func (failing) ApplyResourceChange(
	context.Context, *tfprotov6.ApplyResourceChangeRequest,
) (*tfprotov6.ApplyResourceChangeResponse, error) {
	return nil, errFailing
}

// If a call returns an error and no response, the server returns the same error.
func TestErrorWithoutResponse(t *testing.T) {
	s, ctx := server{ProviderServer: failing{}}, t.Context()
	_, imported := s.ImportResourceState(ctx, &tfprotov6.ImportResourceStateRequest{})
	_, read := s.ReadResource(ctx, &tfprotov6.ReadResourceRequest{})
	_, planned := s.PlanResourceChange(ctx, &tfprotov6.PlanResourceChangeRequest{})
	_, applied := s.ApplyResourceChange(ctx, &tfprotov6.ApplyResourceChangeRequest{})
	for call, err := range map[string]error{"import": imported, "read": read, "plan": planned, "apply": applied} {
		if !errors.Is(err, errFailing) {
			t.Errorf("%s: the error is %v", call, err)
		}
	}
}

// panicking has no server, so each call panics.
type panicking struct{ tfprotov6.ProviderServer }

// After a panic, the private state is unchanged, with its bulk data.
func TestPanicKeepsBulk(t *testing.T) {
	s, ctx := server{ProviderServer: panicking{}}, t.Context()
	private := []byte(`{"delivery":"AP8=","other":"MQ=="}`)
	read, _ := s.ReadResource(ctx, &tfprotov6.ReadResourceRequest{Private: private})
	planned, _ := s.PlanResourceChange(ctx, &tfprotov6.PlanResourceChangeRequest{PriorPrivate: private})
	applied, _ := s.ApplyResourceChange(ctx, &tfprotov6.ApplyResourceChangeRequest{PlannedPrivate: private})
	for name, after := range map[string][]byte{
		"read": read.Private, "plan": planned.PlannedPrivate, "apply": applied.Private,
	} {
		if string(after) != string(private) {
			t.Errorf("after the %s, the private state is %s", name, after)
		}
	}
}
