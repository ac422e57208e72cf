package rendering_test

import (
	"bytes"
	"maps"
	"slices"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/protocol"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// The private state of a rendering has all its parts after an apply. A refresh that finds no change keeps the same
// private state.
func TestRenderingPrivateState(t *testing.T) {
	t.Parallel()
	repo := gitserver.InitBare(t)
	p := acc.NewRenderingRun(t)
	given := fleetArguments(repo, "one")
	p.Run(given, given)
	applied := p.Resource.Private
	keys := privateKeys(t, applied)
	s, err := delivery.DecodeState(keys["delivery"])
	if err != nil || !s.Current() || keys[nothingToDoKey] == nil {
		t.Fatalf("after an apply: %v, and the keys %v", err, slices.Sorted(maps.Keys(keys)))
	}
	p.Run(given, given)
	if !bytes.Equal(p.Resource.Private, applied) {
		t.Errorf("after a refresh, the private state is\n%s\nnot\n%s", p.Resource.Private, applied)
	}
}

// An import stores the delivery in the private state, so that the following refresh need not read the branch again.
func TestImportedPrivateState(t *testing.T) {
	t.Parallel()
	repo := gitserver.InitBare(t)
	p := acc.NewRenderingRun(t)
	given := fleetArguments(repo, "one")
	p.Run(given, given)
	server := provider.NewServer("test")
	schemas := protocol.ReadSchemas(t, server)
	if _, ds := schemas.Start(t, server, nil); ds.HasErrors() {
		t.Fatal(ds)
	}
	resp, err := server.ImportResourceState(t.Context(), &tfprotov6.ImportResourceStateRequest{
		TypeName: p.Resource.Type, ID: "dev@file://" + repo + "?ref=dev",
	})
	if err != nil || len(resp.ImportedResources) != 1 {
		t.Fatalf("%v\n%s", err, protocol.Diagnostics(resp.Diagnostics))
	}
	s, err := delivery.DecodeState(privateKeys(t, resp.ImportedResources[0].Private)["delivery"])
	if err != nil || !s.Current() {
		t.Errorf("the private state has no delivery: %v", err)
	}
}

// A create does not use the private state of an earlier rendering, on the same branch or on another one. Terraform
// passes this private state if a refresh found that the rendering no longer exists, and for a replacement.
func TestCreateWithPrivateState(t *testing.T) {
	t.Parallel()
	for _, branch := range []string{"dev", "other"} {
		t.Run(branch, func(t *testing.T) {
			t.Parallel()
			repo := gitserver.InitBare(t)
			p := acc.NewRenderingRun(t)
			given := fleetArguments(repo, "one")
			p.Run(given, given)
			gitserver.Git(t, repo, "update-ref", "-d", "refs/heads/dev")
			p.Resource.State = tftypes.Value{}

			given["gitops_repo"] = map[string]any{"repo": "file://" + repo, "branch": branch}
			waiting := maps.Clone(given)
			waiting["promotion"] = map[string]any{"decision": "wait", "reason": "not yet"}
			p.Run(waiting, waiting)
			p.Run(given, given)
			if gitserver.Branch(repo, branch) == "" {
				t.Errorf("there is no branch %s", branch)
			}
		})
	}
}
