package provider_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// The tests of examples/testing pass without any server. They fail with a policy that places other targets.
func TestAccExampleTesting(t *testing.T) {
	t.Parallel()
	r := newExample(t, filepath.Join(examples, "testing"))
	if out := r.succeed("test", "-no-color").text(); !strings.Contains(out, "Success! 9 passed, 0 failed.") {
		t.Errorf("not all tests ran:\n%s", out)
	}
	main := readFile(t, filepath.Join(r.folder, "main.tf"))
	r.write("main.tf", strings.Replace(main, "max_removed", "max_remved", 1))
	r.expectError([]string{`run "guardrails_apply"... fail`, "The guardrails are"}, "test", "-no-color")
	r.write("main.tf", strings.Replace(main, `operator = "In"`, `operator = "NotIn"`, 1))
	r.expectError([]string{
		`run "load_tests_stay_off_small_clusters"... fail`, "Small clusters run no load tests.",
		`run "web_goes_everywhere"... pass`,
	}, "test", "-no-color")
}
