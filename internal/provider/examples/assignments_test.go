package examples_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
)

// The example prints the values and warnings that its comments describe.
func TestAccExampleAssignments(t *testing.T) {
	t.Parallel()
	r := acc.NewExample(t, filepath.Join(acc.Examples, "data-sources", "kalypso_assignments"))
	out := r.Succeed("plan", "-no-color", "-out=plan")
	for _, want := range []string{
		`+ value = "West US"`,
		`label \"purpose\" is \"load-test\" and must be \"performance-test\"`,
		`+ why_not = "No scheduling policy places it there; the closest is \"functional-test-policy\".`,
		`Warning: Check block assertion failed`,
		`performance-test-policy: No deployment target in environment "dev" is selected`,
	} {
		if !strings.Contains(out.Text(), want) {
			t.Errorf("no %s in:\n%s", want, out.Stdout)
		}
	}
	if warnings := strings.Count(out.Text(), "Warning: "); warnings > 1 { // the warning of the check block
		t.Errorf("%d warnings:\n%s", warnings, out.Text())
	}
	r.ApplyPlan()
	r.ExpectEmptyPlan()
}
