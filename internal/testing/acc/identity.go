package provider_test

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/gitserver"
)

// versionOfCLI returns the name of the CLI and its minor version: Terraform and OpenTofu are at 1.
func versionOfCLI(t *testing.T) (name string, minor int) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), terraformCLI(), "version").Output()
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`^(\w+) v1\.(\d+)\.`).FindStringSubmatch(string(out))
	if found == nil {
		t.Fatalf("the CLI does not tell its version: %s", out)
	}
	minor, err = strconv.Atoi(found[2])
	if err != nil {
		t.Fatal(err)
	}
	return found[1], minor
}

// knowsIdentity reports whether the CLI knows the identity of resources: Terraform and OpenTofu do from 1.12 on.
func knowsIdentity(t *testing.T) bool {
	t.Helper()
	_, minor := versionOfCLI(t)
	return minor >= 12
}

// expectIdentity fails the test unless the state contains an identity of a resource. A CLI that knows no identities
// keeps none.
func (r *root) expectIdentity(address string, want map[string]any) {
	r.t.Helper()
	if !knowsIdentity(r.t) {
		want = nil
	}
	var state struct {
		Resources []struct {
			Type, Name string
			Instances  []struct {
				Identity map[string]any `json:"identity"`
			}
		}
	}
	if err := json.Unmarshal([]byte(r.succeed("state", "pull").stdout), &state); err != nil {
		r.t.Fatal(err)
	}
	for _, resource := range state.Resources {
		if resource.Type+"."+resource.Name == address {
			if diff := cmp.Diff(want, resource.Instances[0].Identity); diff != "" {
				r.t.Errorf("identity of %s (-want +got):\n%s", address, diff)
			}
			return
		}
	}
	r.t.Errorf("the state contains no %s", address)
}

// importByIdentity imports a resource that the configuration has, and reports whether the CLI can. An older one refuses
// the block.
func (r *root) importByIdentity(address, identity string) bool {
	r.t.Helper()
	r.write("import.tf", fmt.Sprintf("import {\n  to = %s\n  identity = %s\n}\n", address, identity))
	if !knowsIdentity(r.t) {
		r.expectError([]string{`"identity"`}, "plan", "-no-color")
		r.write("import.tf", "")
		return false
	}
	r.apply()
	r.write("import.tf", "")
	return true
}

// Every resource has an identity, which follows its arguments.
func TestEveryResourceHasAnIdentity(t *testing.T) {
	ctx := t.Context()
	for _, create := range provider.New("test")().Resources(ctx) {
		made := create()
		var metadata resource.MetadataResponse
		made.Metadata(ctx, resource.MetadataRequest{ProviderTypeName: "kalypso"}, &metadata)
		if _, ok := made.(resource.ResourceWithIdentity); !ok || !metadata.ResourceBehavior.MutableIdentity {
			t.Errorf("%s has no identity that can change", metadata.TypeName)
		}
	}
}

// The identity of a rendering is its destination. It follows the arguments, and works for an import.
func TestAccRenderingIdentity(t *testing.T) {
	t.Parallel()
	const address = "kalypso_environment_rendering.this"
	r := newRendering(t, gitserver.InitBare(t))
	identity := map[string]any{"environment": "dev", "repo": "file://" + r.repo, "branch": "dev", "path": nil}
	r.options("create_branch", true, "guardrails", anyRemoval)
	r.apply()
	r.expectIdentity(address, identity)

	r.setDestination("path", "clusters", "branch", "feature&x=1")
	r.apply()
	identity["path"], identity["branch"] = "clusters", "feature&x=1"
	r.expectIdentity(address, identity)
	r.expectEmptyPlan()

	r.emptyState()
	imported := r.importByIdentity(address, fmt.Sprintf(
		`{ environment = "dev", repo = "file://%s", branch = "feature&x=1", path = "clusters" }`, r.repo))
	if imported {
		r.expectEmptyPlan()
		r.expectIdentity(address, identity)
	}
}

// modelIdentity returns the identity of an object in a state, which does not keep the place from which an import read
// it.
func modelIdentity(name string) map[string]any {
	return map[string]any{"name": name, "file": nil, "repo": nil, "branch": nil, "commit": nil}
}

// The identity of an object is its name. For an import, the file is added.
func TestAccModelIdentity(t *testing.T) {
	t.Parallel()
	const address = "kalypso_config.this"
	object := func(name string) string {
		return fmt.Sprintf("resource \"kalypso_config\" \"this\" {\n  name = %q\n  data = { region = \"west\" }\n}\n", name)
	}
	r := newRoot(t, map[string]string{"terraform.tf": terraformBlock, "main.tf": object("first")})
	r.ownProcess() // the import ID is a path in the working directory
	r.apply()
	r.expectIdentity(address, modelIdentity("first"))
	r.write("main.tf", object("second"))
	r.apply()
	r.expectIdentity(address, modelIdentity("second"))
	r.expectEmptyPlan()

	r.emptyState()
	r.write("objects.yaml", `apiVersion: v1
kind: ConfigMap
metadata: {name: first, labels: {platform-config: "true"}}
data: {region: east}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: second, labels: {platform-config: "true"}}
data: {region: west}
`)
	if r.importByIdentity(address, `{ name = "second", file = "objects.yaml" }`) {
		r.expectEmptyPlan()
		r.expectIdentity(address, modelIdentity("second"))
	}
}
