package acc

import (
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/programs"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/must"
)

// versionOfCLI returns the name of the CLI and its minor version. The major version of Terraform and OpenTofu is 1.
func versionOfCLI(t *testing.T) (name string, minor int) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), programs.TerraformCLI(), "version").Output()
	must.Succeed(t, err)
	found := regexp.MustCompile(`^(\w+) v1\.(\d+)\.`).FindStringSubmatch(string(out))
	if found == nil {
		t.Fatalf("the CLI does not print its version: %s", out)
	}
	minor, err = strconv.Atoi(found[2])
	must.Succeed(t, err)
	return found[1], minor
}

// IsOpenTofu reports whether the CLI is OpenTofu.
func IsOpenTofu(t *testing.T) bool {
	t.Helper()
	name, _ := versionOfCLI(t)
	return name == "OpenTofu"
}

// knowsIdentity reports whether the CLI supports identities of resources, as Terraform and OpenTofu do since 1.12.
func knowsIdentity(t *testing.T) bool {
	t.Helper()
	_, minor := versionOfCLI(t)
	return minor >= 12
}

// ExpectIdentity fails the test unless the state contains this identity of a resource. With a CLI that does not support
// identities, the state must contain none.
func (r *Root) ExpectIdentity(address string, want map[string]any) {
	r.T.Helper()
	if !knowsIdentity(r.T) {
		want = nil
	}
	for _, resource := range r.StateFile().Resources {
		if resource.Type+"."+resource.Name == address {
			if diff := cmp.Diff(want, resource.Instances[0].Identity); diff != "" {
				r.T.Errorf("identity of %s (-want +got):\n%s", address, diff)
			}
			return
		}
	}
	r.T.Errorf("the state contains no %s", address)
}

// ImportByIdentity imports a resource of the configuration by its identity, and reports whether the CLI supports that.
// An older CLI refuses the import block.
func (r *Root) ImportByIdentity(address, identity string) bool {
	r.T.Helper()
	r.Write("import.tf", fmt.Sprintf("import {\n  to = %s\n  identity = %s\n}\n", address, identity))
	if !knowsIdentity(r.T) {
		r.ExpectError([]string{`"identity"`}, "plan", "-no-color")
		r.Write("import.tf", "")
		return false
	}
	r.Apply()
	r.Write("import.tf", "")
	return true
}

// NeedQuery skips the test unless the CLI is Terraform 1.14 or newer. OpenTofu has no queries.
func NeedQuery(t *testing.T) {
	t.Helper()
	NeedTerraform(t)
	if name, minor := versionOfCLI(t); name != "Terraform" || minor < 14 {
		programs.Program{
			Name: "Terraform 1.14 or newer, for terraform query", Add: "make testacc TERRAFORM=/path/to/terraform",
		}.Skip(t, "is needed")
	}
}
