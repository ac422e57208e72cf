package examples_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
)

// The tests of examples/testing pass without any server. They fail if the guardrails are misspelled, and if a policy
// selects other targets.
func TestAccExampleTesting(t *testing.T) {
	t.Parallel()
	r := acc.NewExample(t, filepath.Join(acc.Examples, "testing"))
	if out := r.Succeed("test", "-no-color").Text(); !strings.Contains(out, "Success! 9 passed, 0 failed.") {
		t.Errorf("not all tests ran:\n%s", out)
	}
	main := acc.ReadFile(t, filepath.Join(r.Folder, "main.tf"))
	r.Write("main.tf", strings.Replace(main, "max_removed", "max_remved", 1))
	r.ExpectError([]string{`run "guardrails_apply"... fail`, "The guardrails are"}, "test", "-no-color")
	r.Write("main.tf", strings.Replace(main, `operator = "In"`, `operator = "NotIn"`, 1))
	r.ExpectError([]string{
		`run "load_tests_stay_off_small_clusters"... fail`, "Small clusters run no load tests.",
		`run "web_goes_everywhere"... pass`,
	}, "test", "-no-color")
}
