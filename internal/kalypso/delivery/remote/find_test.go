package remote_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/remote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// TestEachRendering finds each record on each branch that a glob matches, with the same state as after an import. An
// unusable record does not affect other records.
func TestEachRendering(t *testing.T) {
	t.Parallel()
	b := newBranch(t)
	seed := func(branch, path, environment string) {
		at := destination.Destination{Branch: branch, Path: path}
		gitserver.Seed(t, b.repo, branch, map[string]string{
			at.RecordPath():               string(record.New(environment, []string{"large"}, "", nil, nil).Marshal()),
			at.Join("large/web/app.yaml"): "a: " + environment + "\n",
		})
	}
	seed("dev", ".", "dev")
	seed("prod", "clusters/west", "prod-west")
	seed("prod", "clusters/east", "prod-east")
	seed("other", ".", "other")
	gitserver.Seed(t, b.repo, "prod", map[string]string{"broken/" + record.File: "{"})
	gitserver.Seed(t, b.repo, "prow", map[string]string{"README.md": "no rendering\n"})

	const url = "file://"
	var got []string
	err := remote.EachRendering(t.Context(), b.client, url+b.repo, []string{"dev", "pro*", "stage"},
		func(at destination.Destination, found *remote.Rendering, err error) bool {
			var unusable *record.Error
			switch {
			case errors.As(err, &unusable):
				got = append(got, at.Branch+" "+at.Path+": unusable")
			case errors.Is(err, gitbranch.ErrBranchNotFound):
				got = append(got, at.Branch+": no branch")
			case err != nil:
				t.Errorf("%s: %v", at, err)
			default:
				got = append(got, at.Branch+" "+at.Path+": "+found.Environment)
				state, err := found.State()
				imported, failed := remote.Import(t.Context(), b.client, found.At, found.Environment)
				if err != nil || failed != nil || state.Delivered.TreeHash() != imported.Delivered.TreeHash() ||
					state.Base != imported.Base || state.Delivered.Count() != 1 {
					t.Errorf("%s: the state differs from the state after an import: %v, %v", at, err, failed)
				}
			}
			return true
		})
	want := []string{"dev .: dev", "prod broken: unusable", "prod clusters/east: prod-east",
		"prod clusters/west: prod-west", "stage: no branch"}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}

	got = nil
	err = remote.EachRendering(t.Context(), b.client, url+b.repo, []string{"*"},
		func(at destination.Destination, _ *remote.Rendering, _ error) bool {
			got = append(got, at.Branch)
			return len(got) < 3
		})
	if diff := cmp.Diff([]string{"dev", "other", "prod"}, got); diff != "" || err != nil {
		t.Errorf("visits until the function returns false: %v (-want +got):\n%s", err, diff)
	}
}
