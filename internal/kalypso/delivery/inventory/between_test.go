package inventory_test

import (
	"crypto/sha1" // as Git does
	"slices"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
)

// folderOf returns a folder of targets such as "web=1". A word without a value is a file beside the targets.
func folderOf(entries string) inventory.Folder {
	var f inventory.Folder
	foreign := ""
	for _, entry := range strings.Fields(entries) {
		name, content, isTarget := strings.Cut(entry, "=")
		if !isTarget {
			foreign += name
			continue
		}
		f.Targets = append(f.Targets, inventory.NewTarget(name, sha1.Sum([]byte(content)), false))
	}
	slices.SortFunc(f.Targets, func(a, b inventory.Target) int { return strings.Compare(a.Name, b.Name) })
	f.Hash, _ = inventory.FolderHash(f.Targets)
	if foreign != "" {
		f.Hash = sha1.Sum([]byte(foreign))
	}
	return f
}

// TestBetween: a folder is between two others if each of its targets is in one of them.
func TestBetween(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		folder, before, after string
		want                  bool
	}{
		{"a=1 b=1", "a=1 b=1", "a=2 b=2", true},
		{"a=2 b=2", "a=1 b=1", "a=2 b=2", true},
		{"a=1 b=2", "a=1 b=1", "a=2 b=2", true},
		{"a=3 b=2", "a=1 b=1", "a=2 b=2", false},
		{"a=1", "a=1 b=1", "a=1 b=2", false},
		{"a=1", "a=1 b=1", "a=1", true},
		{"a=1", "a=1", "a=1 b=2", true},
		{"a=1 b=2", "a=1", "a=1 b=2", true},
		{"a=1 c=1", "a=1", "a=1 b=2", false},
		{"a=1 theirs", "a=1", "a=2", false},
		{"", "a=1", "a=2", false},
		{"", "a=1", "", true},
	} {
		if got := folderOf(row.folder).Between(folderOf(row.before), folderOf(row.after)); got != row.want {
			t.Errorf("%q is between %q and %q: %t, want %t", row.folder, row.before, row.after, got, row.want)
		}
	}
	short := inventory.WithoutWholeHashes("", folderOf("a=1"))
	if short.Between(folderOf("a=1"), folderOf("a=2")) {
		t.Error("a folder without whole hashes is between two others")
	}
}
