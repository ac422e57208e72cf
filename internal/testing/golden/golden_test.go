package golden_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/golden"
)

var own = []string{
	"large-100k", "large-10k", "random-00", "random-34", "sample-dev", "sample-dev-existing", "sample-stage-uat",
	"tricky-01-expressions", "tricky-03-workspaces", "tricky-06-config-layering", "tricky-09-schema-pass",
	"tricky-11-env-file", "tricky-13-manifest-joining", "tricky-15-nothing-scheduled",
}

func names(fleets []*golden.Fleet) (all []string) {
	for _, f := range fleets {
		all = append(all, f.Name)
	}
	return all
}

// TestAll checks that every golden fleet of the repo has objects, and that its tree has the hash in its summary. Only
// the large fleets have no tree.
func TestAll(t *testing.T) {
	t.Setenv(golden.Variable, "")
	all := golden.All(t)
	if d := cmp.Diff(own, names(all)); d != "" {
		t.Errorf("golden fleets (-want +got):\n%s", d)
	}
	for _, f := range all {
		if hash := golden.SHA256(f.Tree); len(f.Tree) > 0 && hash != f.Summary.TreeSHA256 {
			t.Errorf("the tree of %s has the hash %s, want %s", f.Name, hash, f.Summary.TreeSHA256)
		}
		if objects, err := f.Read(); err != nil || len(objects.ClusterTypes) == 0 || objects.Environment == "" {
			t.Errorf("%s: %v, %d cluster types, environment %q", f.Name, err, len(objects.ClusterTypes), objects.Environment)
		}
	}
	large := strings.Join(names(slices.DeleteFunc(all, func(f *golden.Fleet) bool { return len(f.Tree) > 0 })), " ")
	if large != "large-100k large-10k" {
		t.Errorf("these fleets have no tree: %s", large)
	}
}

// TestMoreFleets adds the fleets of another folder, without duplicates.
func TestMoreFleets(t *testing.T) {
	more := t.TempDir()
	const from = "../../kalypso/engine/testdata/golden/tricky-15-nothing-scheduled"
	for _, name := range []string{"tricky-15-nothing-scheduled", "sample-dev", "zz-new"} {
		if err := os.CopyFS(filepath.Join(more, name), os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv(golden.Variable, more)
	want := slices.Sorted(slices.Values(append(slices.Clone(own), "sample-dev-more", "zz-new")))
	if d := cmp.Diff(want, names(golden.All(t))); d != "" {
		t.Errorf("golden fleets (-want +got):\n%s", d)
	}
	t.Setenv(golden.Variable, filepath.Join(more, "none"))
	if _, err := golden.Find("sample-dev"); err == nil || !strings.Contains(err.Error(), golden.Variable) {
		t.Errorf("a missing folder: %v", err)
	}
}
