package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// ValidateListResourceConfig implements tfprotov6.ListResourceServer.
func (s server) ValidateListResourceConfig(
	ctx context.Context, req *tfprotov6.ValidateListResourceConfigRequest,
) (resp *tfprotov6.ValidateListResourceConfigResponse, err error) {
	defer reportPanic(func(ds diagnostics) {
		resp = &tfprotov6.ValidateListResourceConfigResponse{Diagnostics: ds}
	})
	return s.lists.ValidateListResourceConfig(ctx, req)
}

// ListResource implements tfprotov6.ListResourceServer. The list runs while Terraform reads the stream, so a panic is
// an error at the end of the stream.
func (s server) ListResource(
	ctx context.Context, req *tfprotov6.ListResourceRequest,
) (stream *tfprotov6.ListResourceServerStream, err error) {
	stream, err = s.lists.ListResource(ctx, req)
	if err != nil {
		return nil, err
	}
	results := stream.Results
	stream.Results = func(push func(tfprotov6.ListResourceResult) bool) {
		more := true
		defer reportPanic(func(ds diagnostics) {
			if more {
				push(tfprotov6.ListResourceResult{Diagnostics: ds})
			}
		})
		for result := range results {
			more = push(result)
			if !more {
				return
			}
		}
	}
	return stream, nil
}
