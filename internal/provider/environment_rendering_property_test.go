package provider_test

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/gitserver"
)

// change is what a saved plan does to a resource.
type change struct {
	Actions []string
	Before  map[string]any
	After   map[string]any
	// Unknown is true, or the members that are, for each attribute of which something is not known.
	Unknown map[string]any `json:"after_unknown"`
}

// plan makes a saved plan, and returns what it changes by address.
func (r *root) plan(args ...string) map[string]change {
	r.t.Helper()
	r.succeed(append([]string{"plan", "-no-color", "-out=plan"}, args...)...)
	var shown struct {
		ResourceChanges []struct {
			Address string
			Change  change
		} `json:"resource_changes"`
	}
	r.show(&shown, "plan")
	all := map[string]change{}
	for _, c := range shown.ResourceChanges {
		all[c.Address] = c.Change
	}
	return all
}

// applyPlan applies the saved plan.
func (r *root) applyPlan() {
	r.t.Helper()
	r.succeed("apply", "-no-color", "plan")
}

// state is the values of the resources in state, by address.
func (r *root) state() map[string]map[string]any {
	r.t.Helper()
	var shown struct {
		Values struct {
			RootModule struct {
				Resources []struct {
					Address string
					Values  map[string]any
				}
			} `json:"root_module"`
		}
	}
	r.show(&shown)
	all := map[string]map[string]any{}
	for _, resource := range shown.Values.RootModule.Resources {
		all[resource.Address] = resource.Values
	}
	return all
}

func (r *root) show(into any, args ...string) {
	r.t.Helper()
	out := r.succeed(append([]string{"show", "-json"}, args...)...)
	if err := json.Unmarshal([]byte(out.stdout), into); err != nil {
		r.t.Fatal(err)
	}
}

// archive is every file of a branch, read by one git.
func archive(t *testing.T, repo, branch string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for all := tar.NewReader(strings.NewReader(gitserver.Git(t, repo, "archive", branch))); ; {
		header, err := all.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(all)
		if err != nil {
			t.Fatal(err)
		}
		if header.Typeflag == tar.TypeReg {
			files[header.Name] = string(content)
		}
	}
}
