package sets_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/sets"
)

func TestWithout(t *testing.T) {
	list := []string{"c", "a", "b", "a"}
	if diff := cmp.Diff([]string{"c", "b"}, sets.Without(list, []string{"a", "z"})); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"c", "a", "b", "a"}, list); diff != "" {
		t.Errorf("the list was changed: %s", diff)
	}
}

func TestWithoutFold(t *testing.T) {
	if diff := cmp.Diff([]string{"Bob"}, sets.WithoutFold([]string{"Ann", "Bob", "ann"}, []string{"ANN"})); diff != "" {
		t.Error(diff)
	}
	if left := sets.WithoutFold([]string{"Ann"}, []string{"ann"}); left != nil {
		t.Errorf("%q are left, although all names are removed", left)
	}
}

func TestUnion(t *testing.T) {
	if diff := cmp.Diff([]string{"a", "b", "c"}, sets.Union([]string{"c", "a"}, []string{"b", "a"})); diff != "" {
		t.Error(diff)
	}
}

func TestKeys(t *testing.T) {
	a, b := map[string]int{"a": 1, "b": 2}, map[string]int{"b": 3, "c": 4}
	if diff := cmp.Diff([]string{"a", "b", "c"}, slices.Sorted(sets.Keys(a, b))); diff != "" {
		t.Error(diff)
	}
}
