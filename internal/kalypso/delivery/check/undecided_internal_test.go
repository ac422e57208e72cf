package check

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/wish"
)

// TestUndecided: a folder whose targets are not known yet removes nothing, shows no changes, and never makes a create
// fail. The other folders are judged as usual.
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
	strict := wish.Guardrails{MaxRemoved: "0"}

	same := inventory.Folders{"a": existing["a"], "b": undecided}
	if !existing.MayEqual(same) {
		t.Error("a tree that may be the same is taken for another")
	}
	if err := checkRemoved(strict, existing, same, false); err != nil {
		t.Errorf("nothing is known to go: %v", err)
	}
	if changes := inventory.Changes(existing, same); len(changes) > 0 {
		t.Errorf("nothing is known to change: %v", changes)
	}
	if err := checkFirstDelivery(strict, inventory.Folders{"b": undecided}, nil); err != nil {
		t.Errorf("the tree may not be empty: %v", err)
	}

	fewer := inventory.Folders{"a": folder(3, target("x", 1)), "b": undecided}
	if existing.MayEqual(fewer) {
		t.Error("another tree is taken for the same")
	}
	if err := checkRemoved(strict, existing, fewer, false); err == nil {
		t.Error("a target that goes is not seen")
	}
	if diff := cmp.Diff(map[string]string{"a": "+0 -1 ~0"}, inventory.Changes(existing, fewer)); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}
