package delivery

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
)

// TestUndecided: if the targets of a folder are not known yet, the folder counts as unchanged, and as not empty. The
// other folders are compared as usual.
func TestUndecided(t *testing.T) {
	t.Parallel()
	target := func(name string, hash byte) inventory.Target {
		return inventory.Target{Name: name, Hash: inventory.ShortHash{hash}}
	}
	folder := func(hash byte, targets ...inventory.Target) inventory.Folder {
		f := inventory.Folder{Targets: targets}
		f.Hash[0] = hash
		return f
	}
	undecided := inventory.Folder{Known: inventory.Unread}
	existing := inventory.Folders{"a": folder(1, target("x", 1), target("y", 2)), "b": folder(2, target("x", 3))}
	strict := Guardrails{MaxRemoved: "0"}

	same := inventory.Folders{"a": existing["a"], "b": undecided}
	if !existing.MayEqual(same) {
		t.Error("MayEqual is false for a tree that may be the same")
	}
	if err := checkRemoved(strict, existing, same, false); err != nil {
		t.Errorf("no target is known to be removed: %v", err)
	}
	if changes := inventory.Changes(existing, same); len(changes) > 0 {
		t.Errorf("no target is known to change: %v", changes)
	}
	if err := checkEmpty(strict, inventory.Folders{"b": undecided}, nil); err != nil {
		t.Errorf("the tree is not known to be empty: %v", err)
	}

	fewer := inventory.Folders{"a": folder(3, target("x", 1)), "b": undecided}
	if existing.MayEqual(fewer) {
		t.Error("MayEqual is true for a tree that differs")
	}
	if err := checkRemoved(strict, existing, fewer, false); err == nil {
		t.Error("a removed target is allowed")
	}
	if diff := cmp.Diff(map[string]string{"a": "+0 -1 ~0"}, inventory.Changes(existing, fewer)); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}
