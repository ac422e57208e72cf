package protocol

import (
	"context"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// ListRequest is a list block of a query.
type ListRequest struct {
	Type            string
	Config          map[string]any // see [Value]
	Limit           int64          // Terraform's default is 100
	IncludeResource bool
}

// ListResult is one result of a list.
type ListResult struct {
	DisplayName string
	Identity    tftypes.Value
	Resource    tftypes.Value // zero unless the request includes it
}

// ValidateList validates a list block, in which values may be unknown.
func (s *Session) ValidateList(ctx context.Context, req ListRequest) Diagnostics {
	s.t.Helper()
	server, _ := s.server.(tfprotov6.ListResourceServer)
	validated, err := server.ValidateListResourceConfig(ctx, &tfprotov6.ValidateListResourceConfigRequest{
		TypeName: req.Type, Config: dynamic(s.of(s.schemas.ListResourceSchemas, req.Type), req.Config),
	})
	require(s.t, "validate the list "+req.Type, err)
	return validated.Diagnostics
}

// List validates a list block and reads its results. As terraform query does, it stops at the limit, and returns no
// results if there is an error.
func (s *Session) List(ctx context.Context, req ListRequest) ([]ListResult, Diagnostics) {
	s.t.Helper()
	all := s.ValidateList(ctx, req)
	if all.HasErrors() {
		return nil, all
	}
	server, _ := s.server.(tfprotov6.ListResourceServer)
	stream, err := server.ListResource(ctx, &tfprotov6.ListResourceRequest{
		TypeName: req.Type, Config: dynamic(s.of(s.schemas.ListResourceSchemas, req.Type), req.Config), Limit: req.Limit,
		IncludeResource: req.IncludeResource,
	})
	require(s.t, "list "+req.Type, err)
	var results []ListResult
	if req.Limit == 0 {
		return nil, all
	}
	for event := range stream.Results {
		ds := Diagnostics(event.Diagnostics)
		all = append(all, ds...)
		switch {
		case ds.HasErrors():
			return nil, all
		case event.Identity == nil && len(ds) > 0:
			continue
		case event.Identity == nil || s.schemas.identities[req.Type] == nil:
			s.t.Fatalf("a result of %s has no identity", req.Type)
		}
		result := ListResult{
			DisplayName: event.DisplayName,
			Identity:    s.read(event.Identity.IdentityData, s.schemas.identities[req.Type].ValueType()),
		}
		if req.IncludeResource {
			result.Resource = s.read(event.Resource, s.of(s.schemas.ResourceSchemas, req.Type).ValueType())
		}
		results = append(results, result)
		if int64(len(results)) >= req.Limit {
			break
		}
	}
	return results, all
}
