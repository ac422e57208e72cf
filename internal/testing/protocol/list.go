package protocol

import (
	"context"
	"errors"
	"fmt"

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
func (s *Session) ValidateList(ctx context.Context, req ListRequest) (Diagnostics, error) {
	server, config, err := s.list(req)
	if err != nil {
		return nil, err
	}
	validated, err := server.ValidateListResourceConfig(ctx, &tfprotov6.ValidateListResourceConfigRequest{
		TypeName: req.Type, Config: config,
	})
	if err != nil {
		return nil, err
	}
	return validated.Diagnostics, nil
}

// list returns the provider's server for list resources, and the configuration of a list block.
func (s *Session) list(req ListRequest) (tfprotov6.ListResourceServer, *tfprotov6.DynamicValue, error) {
	server, ok := s.server.(tfprotov6.ListResourceServer)
	schema := s.schemas.lists[req.Type]
	if !ok || schema == nil {
		return nil, nil, fmt.Errorf("the provider has no list resource %q", req.Type)
	}
	config, err := dynamic(schema, req.Config)
	return server, config, err
}

// List validates a list block and reads its results. As terraform query does, it stops at the limit, and returns no
// results if there is an error.
func (s *Session) List(ctx context.Context, req ListRequest) ([]ListResult, Diagnostics, error) {
	all, err := s.ValidateList(ctx, req)
	if err != nil || all.HasErrors() {
		return nil, all, err
	}
	server, config, err := s.list(req)
	if err != nil {
		return nil, all, err
	}
	identity := s.schemas.identities[req.Type]
	if identity == nil {
		return nil, all, fmt.Errorf("the resource %q has no identity", req.Type)
	}
	stream, err := server.ListResource(ctx, &tfprotov6.ListResourceRequest{
		TypeName: req.Type, Config: config, Limit: req.Limit, IncludeResource: req.IncludeResource,
	})
	if err != nil {
		return nil, all, err
	}
	var results []ListResult
	if req.Limit == 0 {
		return nil, all, nil
	}
	for event := range stream.Results {
		ds := Diagnostics(event.Diagnostics)
		all = append(all, ds...)
		switch {
		case ds.HasErrors():
			return nil, all, nil
		case event.Identity == nil && len(ds) > 0:
			continue
		case event.Identity == nil:
			return nil, all, errors.New("a result has no identity")
		}
		result := ListResult{DisplayName: event.DisplayName}
		if result.Identity, err = event.Identity.IdentityData.Unmarshal(identity.ValueType()); err != nil {
			return nil, all, err
		}
		if req.IncludeResource {
			of, err := s.schema(req.Type)
			if err != nil {
				return nil, all, err
			}
			if result.Resource, err = event.Resource.Unmarshal(of.ValueType()); err != nil {
				return nil, all, err
			}
		}
		if results = append(results, result); int64(len(results)) >= req.Limit {
			break
		}
	}
	return results, all, nil
}
