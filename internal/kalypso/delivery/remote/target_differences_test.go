package remote

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
)

// TestDifferences specifies the text for each difference between the files of a target.
func TestDifferences(t *testing.T) {
	t.Parallel()
	const (
		flux      = "kind: GitRepository\n---\nkind: Kustomization\n"
		argo      = "kind: Application\n"
		config    = "kind: ConfigMap\ndata: {a: %s}\n"
		namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: %s}\n"
	)
	files := func(pairs ...string) map[string][]byte {
		all := map[string][]byte{}
		for i := 0; i < len(pairs); i += 2 {
			all[pairs[i]] = []byte(pairs[i+1])
		}
		return all
	}
	for _, test := range []struct {
		rule    string
		was, is map[string][]byte
		want    []string
	}{
		{"other content", files("reconciler.yaml", "a"), files("reconciler.yaml", "b"), nil},
		{"same content, other name", files("config.yaml", "a: b"), files("platform-config.yaml", "a: b"),
			[]string{"renames config.yaml → platform-config.yaml"}},
		{"objects of the same kinds, other name", files("config.yaml", fmt.Sprintf(config, "1")),
			files("platform-config.yaml", fmt.Sprintf(config, "2")),
			[]string{"renames config.yaml → platform-config.yaml"}},
		{"other extension", files("platform-config.yaml", "a"), files("platform-config.sh", "b"),
			[]string{"renames platform-config.yaml → platform-config.sh"}},
		{"removed file", files("notes.txt", "theirs", "reconciler.yaml", argo), files("reconciler.yaml",
			argo),
			[]string{"removes notes.txt"}},
		{"unchanged file with the same content as a changed file", files("a.yaml", argo, "b.yaml", "x"),
			files("a.yaml", argo, "b.yaml", argo), nil},
		{"reconciler of another kind", files("reconciler.yaml", flux), files("reconciler.yaml", argo),
			[]string{"reconciler GitRepository, Kustomization → Application"}},
		{"other namespace", files("namespace.yaml", fmt.Sprintf(namespace, "a")),
			files("namespace.yaml", fmt.Sprintf(namespace, "b")), []string{"namespace a → b"}},
		{"invalid YAML", files("reconciler.yaml", "{"), files("reconciler.yaml", argo), nil},
	} {
		if diff := cmp.Diff(test.want, differences(test.was, test.is)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.rule, diff)
		}
	}
}

// TestEffectLines: the number of lines about a branch is limited.
func TestEffectLines(t *testing.T) {
	t.Parallel()
	names := func(n int) (all []string) {
		for i := range n {
			all = append(all, fmt.Sprint("t", i))
		}
		return all
	}
	changes := []clusterTypeChange{
		{
			clusterType: inventory.ClusterType{Name: "large", Added: names(1), Removed: names(2), Changed: names(9)},
			files:       []string{"notes.txt"},
			differences: map[string]int{"renames a → b": 8, "namespace a → b": 1},
			notCompared: 1,
		},
		{clusterType: inventory.ClusterType{Name: "new", Kind: inventory.Added}, differences: map[string]int{}},
		{clusterType: inventory.ClusterType{Name: "old", Kind: inventory.Removed, Removed: names(6)}},
		{clusterType: inventory.ClusterType{Name: "small"}},
	}
	for i := range maxDifferences {
		changes[1].differences[fmt.Sprint("namespace ", i)] = 1
		changes[1].differences[fmt.Sprint("reconciler ", i)] = 1
	}
	want := []string{
		"large: 1 added, 2 removed, 9 changed",
		"  added: t0",
		"  removed: t0, t1",
		"  changed: t0, t1, t2, t3, t4 and 4 more",
		"  removed files: notes.txt",
		"  renames a → b (8 deployment targets)",
		"  namespace a → b (1 deployment target)",
		"  1 changed deployment target not compared file by file",
		"new: 0 added, 0 removed, 0 changed (a new folder)",
	}
	for i := range maxDifferences {
		want = append(want, fmt.Sprintf("  namespace %d (1 deployment target)", i))
	}
	want = append(
		want,
		"  and 8 more differences",
		"old: 0 added, 6 removed, 0 changed (the folder is removed)",
		"  removed: t0, t1, t2, t3, t4 and 1 more",
		"and 1 more cluster type",
	)
	if diff := cmp.Diff(want, effectLines(changes, nil, 3)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestUndecidedChangesAreNotKnown(t *testing.T) {
	if diff := cmp.Diff([]string{"not known before the apply: b"}, effectLines(nil, []string{"b"}, 1)); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}
