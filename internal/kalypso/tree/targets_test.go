package tree_test

import (
	"crypto/sha1" // as Git does
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/tree"
)

// targets are those of the names, each with a hash after an equals sign; a hash of "-" says that the files are empty.
func targets(entries ...string) (all tree.Targets) {
	for _, entry := range entries {
		name, hash, _ := strings.Cut(entry, "=")
		all.Add(name, sha1.Sum([]byte(hash)), hash == "-")
	}
	return all
}

// Hashes that are cut short show what changes.
func TestTargetsPairs(t *testing.T) {
	was := targets("a=1", "b=1", "c=1", "d=-", "e=1")
	now := targets("b=1", "c=2", "d=1", "e=-", "f=1")
	want := []string{"a goes", "b stays", "c changes", "d changes", "e changes", "e is empty", "f comes"}
	for _, sizes := range [][2]int{{20, 20}, {4, 20}, {20, 4}, {4, 7}} {
		var got []string
		for a, b := range was.Cut(sizes[0]).Pairs(now.Cut(sizes[1])) {
			switch {
			case b == nil:
				got = append(got, a.Name+" goes")
			case a == nil:
				got = append(got, b.Name+" comes")
			case a.Same(*b):
				got = append(got, a.Name+" stays")
			default:
				got = append(got, a.Name+" changes")
			}
			if b != nil && b.Empty {
				got = append(got, b.Name+" is empty")
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("cut to %v (-want +got):\n%s", sizes, diff)
		}
	}
}

func TestTargetsEqual(t *testing.T) {
	one := targets("a=1", "b=-")
	for _, test := range []struct {
		other tree.Targets
		want  bool
	}{
		{one, true},
		{targets("a=1", "b=-"), true},
		{one.Cut(4), true},
		{targets("a=1"), false},
		{targets("a=1", "b=-", "c=1"), false},
		{targets("a=1", "c=-"), false},
		{targets("a=2", "b=-"), false},
		{targets("a=2", "b=-").Cut(4), false},
		{tree.Targets{}, false},
	} {
		if one.Equal(test.other) != test.want || test.other.Equal(one) != test.want {
			t.Errorf("equal to %v: %t", test.other, !test.want)
		}
	}
}

// What is empty is known of each, wherever it stands.
func TestTargetsEmpty(t *testing.T) {
	var all tree.Targets
	empty := func(i int) bool { return i == 3 || i >= 16 && i%7 == 0 }
	for i := range 100 {
		all.Add(fmt.Sprintf("%02d", i), tree.Hash{byte(i)}, empty(i))
	}
	for i := range all.Len() {
		if target := all.At(i); target.Empty != empty(i) || target.Hash[0] != byte(i) || !all.Whole() {
			t.Errorf("target %d is %v", i, target)
		}
	}
	if cut := all.Cut(1); cut.Whole() || cut.At(3).Hash[0] != 3 || len(cut.At(3).Hash) != 1 || !cut.At(3).Empty {
		t.Errorf("cut it is %v", cut.At(3))
	}
}
