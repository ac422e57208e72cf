package seeds_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/seeds"
)

func TestOf(t *testing.T) {
	t.Setenv(seeds.Variable, "") // restores the variable at the end
	if err := os.Unsetenv(seeds.Variable); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]uint64{0, 1}, slices.Collect(seeds.Of(t, 2, 3))); diff != "" || seeds.Long() {
		t.Errorf("in a usual run (-want +got):\n%s", diff)
	}
	t.Setenv(seeds.Variable, "100")
	want := []uint64{0, 1, 2, 100, 101, 102}
	if diff := cmp.Diff(want, slices.Collect(seeds.Of(t, 2, 3))); diff != "" || !seeds.Long() {
		t.Errorf("in a long run (-want +got):\n%s", diff)
	}
}

// TestFailure fails with the seed 3 if KALYPSO_FAIL is set. [TestRepeat] runs it.
func TestFailure(t *testing.T) {
	if os.Getenv("KALYPSO_FAIL") == "" {
		return
	}
	for seed := range seeds.Of(t, 5, 5) {
		if seed == 3 {
			t.Fatal("it fails")
		}
	}
}

// TestRepeat checks that a failure prints the command that repeats it, and that -seed runs only this seed.
func TestRepeat(t *testing.T) {
	run := func(args ...string) string {
		cmd := exec.CommandContext(t.Context(), os.Args[0], append([]string{"-test.run=^TestFailure$"}, args...)...)
		cmd.Env = append(os.Environ(), "KALYPSO_FAIL=1")
		out, _ := cmd.CombinedOutput()
		return string(out)
	}
	out := run()
	if !strings.Contains(out, "Repeat it: go test ") || !strings.Contains(out, "-run '^TestFailure$' -seed 3") {
		t.Errorf("no command in:\n%s", out)
	}
	if out := run("-seed=3"); !strings.Contains(out, "it fails") {
		t.Errorf("the seed does not fail:\n%s", out)
	}
	if out := run("-seed=4"); strings.Contains(out, "it fails") {
		t.Errorf("another seed fails:\n%s", out)
	}
}
