package delivery

import (
	"crypto/sha1"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
)

func TestChanges(t *testing.T) {
	for _, test := range []struct {
		name          string
		before, after inventory.Folders
		want          map[string]string
	}{
		{"no change", FoldersOf("large/a=1"), FoldersOf("large/a=1"), map[string]string{}},
		{"first delivery", nil, FoldersOf("large/a=1", "large/b=1", "small"),
			map[string]string{"large": "+2 -0 ~0", "small": "+0 -0 ~0"}},
		{"added, removed and changed target", FoldersOf("large/a=1", "large/b=1", "large/c=1"),
			FoldersOf("large/a=1", "large/b=2", "large/d=1"),
			map[string]string{"large": "+1 -1 ~1"}},
		{"removed cluster type", FoldersOf("large/a=1", "small/b=1"), FoldersOf("large/a=1"),
			map[string]string{"small": "+0 -1 ~0"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, inventory.Changes(test.before, test.after)); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestGuardrails(t *testing.T) {
	four := FoldersOf("large/a=1", "large/b=1", "small/c=1", "small/d=1")
	empty := Guardrails{MaxRemoved: "100%", AllowEmpty: true}
	number := func(n string) Guardrails { return Guardrails{MaxRemoved: n} }
	usual := Guardrails{MaxRemoved: DefaultMaxRemoved}
	for _, test := range []struct {
		name          string
		guardrails    Guardrails
		before, after inventory.Folders
		replaced      bool
		removed       []string // removed targets in the error; nil if the change is allowed
		reason        string
	}{
		{"empty branch", usual, nil, four, false, nil, ""},
		{"all targets changed", usual, four, FoldersOf("large/a=2", "large/b=2", "small/c=2", "small/d=2"), false, nil, ""},
		{"half of the targets removed", usual, four, FoldersOf("large/a=1", "small/c=1"), false, nil, ""},
		{"more than half of the targets removed", usual, four, FoldersOf("large/a=1"), false,
			[]string{"large/b", "small/c", "small/d"},
			`removes 3 of 4 deployment target folders, and guardrails.max_removed is "50%"`},
		{"targets moved to another cluster type", usual, four, FoldersOf("small/a=1", "small/b=1", "small/c=1", "large/d=1"),
			false,
			[]string{"large/a", "large/b", "small/d"}, "3 of 4"},
		{"more targets removed than max_removed", number("1"), four, FoldersOf("large/a=1", "small/c=1"), false,
			[]string{"large/b", "small/d"}, `is "1"`},
		{"as many targets removed as max_removed", number("2"), four, FoldersOf("large/a=1", "small/c=1"), false, nil, ""},
		{"a target removed, max_removed is 0", number("0"), four, FoldersOf("large/a=1", "large/b=1", "small/c=1"), false,
			[]string{"small/d"}, `1 of 4`},
		{"all targets removed, max_removed is 100", number("100"), four, FoldersOf("large", "small"), false,
			[]string{"large/a", "large/b", "small/c", "small/d"},
			"all 4 deployment target folders, and guardrails.allow_empty is false. It"},
		{"the only target removed", number("1"), FoldersOf("large/a=1"), FoldersOf("large"), false, []string{"large/a"},
			"removes the only deployment target folder, and guardrails.allow_empty is false. It"},
		{"all targets removed, more than max_removed", usual, four, nil, false, []string{"large/a", "large/b", "small/c",
			"small/d"},
			"all 4 deployment target folders"},
		{"all targets removed, allow_empty", empty, four, nil, false, nil, ""},
		{"all files of a target empty", number("0"), four, FoldersOf("large/a=-", "large/b=1", "small/c=1", "small/d=1"),
			false,
			[]string{"large/a"}, "1 of 4"},
		{"all files of a target empty, as before", number("0"), FoldersOf("large/a=-", "large/b=1"), FoldersOf("large/a=-",
			"large/b=1"), false, nil,
			""},
		{"another environment", usual, four, four, true, []string{"large/a", "large/b", "small/c", "small/d"}, "all 4"},
		{"another environment, allow_empty", empty, four, four, true, nil, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := checkRemoved(test.guardrails, test.before, test.after, test.replaced)
			if test.removed == nil {
				if err != nil {
					t.Errorf("refused: %v", err)
				}
				return
			}
			if err == nil {
				t.Fatal("the change is allowed")
			}
			if diff := cmp.Diff(test.removed, err.Names); diff != "" {
				t.Errorf("removed (-want +got):\n%s", diff)
			}
			for _, text := range append(test.removed, test.reason) {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("the error does not say %q: %v", text, err)
				}
			}
		})
	}
}

// FoldersOf returns the folders of entries such as "large/web=1": the deployment target web of the cluster type large,
// with the hash 1. With the hash "-", all files of the target are empty.
func FoldersOf(entries ...string) inventory.Folders {
	inv := inventory.Folders{}
	slices.SortFunc(entries, func(a, b string) int {
		one, _, _ := strings.Cut(a, "=")
		two, _, _ := strings.Cut(b, "=")
		return strings.Compare(one, two)
	})
	for _, entry := range entries {
		at, hash, _ := strings.Cut(entry, "=")
		name, target, ok := strings.Cut(at, "/")
		folder := inv[name]
		if ok {
			sum := sha1.Sum([]byte(hash))
			folder.Targets = append(folder.Targets,
				inventory.Target{Name: target, Hash: inventory.ShortHash(sum[:6]), Empty: hash == "-"})
		}
		folder.Hash = sha1.Sum([]byte(folder.Hash.String() + entry))
		inv[name] = folder
	}
	return inv
}
