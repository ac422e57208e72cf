package delivery

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestUndecided: a folder whose targets are not known yet removes nothing, shows no changes, and never makes a create
// fail. The other folders are judged as usual.
func TestUndecided(t *testing.T) {
	t.Parallel()
	target := func(name string, hash byte) InventoryTarget {
		return InventoryTarget{Name: name, Hash: ShortHash{hash}}
	}
	folder := func(hash byte, targets ...InventoryTarget) InventoryFolder {
		f := InventoryFolder{Targets: targets}
		f.Hash[0] = hash
		return f
	}
	undecided := InventoryFolder{Unknown: true, Undecided: true}
	existing := Inventory{"a": folder(1, target("x", 1), target("y", 2)), "b": folder(2, target("x", 3))}
	strict := Guardrails{MaxRemoved: "0"}

	same := Inventory{"a": existing["a"], "b": undecided}
	if !existing.mayEqual(same) {
		t.Error("a tree that may be the same is taken for another")
	}
	if err := strict.Check(existing, same, false); err != nil {
		t.Errorf("nothing is known to go: %v", err)
	}
	if changes := Changes(existing, same); len(changes) > 0 {
		t.Errorf("nothing is known to change: %v", changes)
	}
	if err := strict.CheckFirstDelivery(Inventory{"b": undecided}, nil); err != nil {
		t.Errorf("the tree may not be empty: %v", err)
	}

	fewer := Inventory{"a": folder(3, target("x", 1)), "b": undecided}
	if existing.mayEqual(fewer) {
		t.Error("another tree is taken for the same")
	}
	if err := strict.Check(existing, fewer, false); err == nil {
		t.Error("a target that goes is not seen")
	}
	if diff := cmp.Diff(map[string]string{"a": "+0 -1 ~0"}, Changes(existing, fewer)); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}
