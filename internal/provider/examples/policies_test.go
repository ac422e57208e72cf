package examples_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/programs"
)

// TestAccExamplePolicies: the policies of examples/policies accept the plan of examples/testing. Each policy refuses a
// plan that violates it.
func TestAccExamplePolicies(t *testing.T) {
	t.Parallel()
	conftest := programs.Built(t, "conftest")
	policies, err := filepath.Abs(filepath.Join(acc.Examples, "policies"))
	if err != nil {
		t.Fatal(err)
	}
	r := acc.NewExample(t, filepath.Join(acc.Examples, "testing"))
	check := func(variables ...string) (string, error) {
		t.Helper()
		arguments := []string{"plan", "-no-color", "-out=plan", "-var=delivery_strategy=none"}
		r.Succeed(append(arguments, variables...)...)
		r.Write("plan.json", r.Succeed("show", "-json", "plan").Stdout)
		out, err := exec.CommandContext(t.Context(), conftest, "test", "--no-color", "--policy", policies,
			filepath.Join(r.Folder, "plan.json")).CombinedOutput()
		return string(out), err
	}
	if said, err := check(); err != nil || !strings.Contains(said, "0 failures") {
		t.Errorf("%v: %s", err, said)
	}
	main := acc.ReadFile(t, filepath.Join(r.Folder, "main.tf"))
	r.Write("main.tf", strings.NewReplacer(`max_removed = "20%", unscheduled = "error"`, "",
		`match_labels = { tier = "web" }`, `match_labels = { tier = "wep" }`, "= var.load_test_sizes",
		`= ["small"]`).Replace(main))
	said, err := check("-var=environment=dev")
	for _, want := range []string{
		"The rendering of dev has no limit for removals.", "In dev, no policy places shop-web.",
		"In dev, shop-load-test would run on the restricted cluster type drone.",
	} {
		if err == nil || !strings.Contains(said, want) {
			t.Errorf("%v: %q is not in %s", err, want, said)
		}
	}
	r.Write("main.tf", main)
	if said, err := check("-var=environment=prod"); err == nil ||
		!strings.Contains(said, "The environment prod is delivered by pull request only.") ||
		!strings.Contains(said, "1 failure") {
		t.Errorf("%v: %s", err, said)
	}
}
