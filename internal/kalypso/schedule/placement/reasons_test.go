package placement

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestReasons checks the scores of cluster types, whether a target is kept, and the reasons against a placement.
// Balance is computed from the other targets on a cluster type, without the target itself.
func TestReasons(t *testing.T) {
	f := &Fleet{
		ClusterTypes: []ClusterType{
			{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "d", Taints: []Taint{{"k", "v", NoSelect}}}, {Name: "e"},
		},
		Targets: []string{"t", "x1", "x2", "x3"},
		Policies: []Policy{
			{Name: "others", Spec: &Spec{Number: new(1)}, ClusterTypes: []int{0, 1, 2}, Targets: []int{1, 2, 3}},
			{
				Name: "p", ClusterTypes: []int{0, 1, 2, 3, 4}, Targets: []int{0},
				Spec: &Spec{Number: new(1), Names: []string{"a", "b", "c", "d"}, Prefer: []Preference{{Balance: true, Weight: 2}}},
			},
		},
	}
	f.Prior.Decisions = Decisions{
		"others": {Targets: map[string][]string{"x1": {"a"}, "x2": {"a"}, "x3": {"b"}}},
		"p":      {Targets: map[string][]string{"t": {"a", "b"}}},
	}
	var got []Reason
	Reasons(t.Context(), f, func(_, target int) bool { return target == 0 },
		func(_, _ int, reasons []Reason) { got = reasons })
	want := []Reason{
		{ClusterType: 0, Fits: true, Score: -200, Scores: []int{-200},
			Off: "other cluster types already make up the number of 1"},
		{ClusterType: 1, Placed: true, Kept: true, Fits: true, Score: 0, Scores: []int{0}},
		{ClusterType: 2, Fits: true, Score: 200, Scores: []int{200},
			Off: "other cluster types already make up the number of 1"},
		{ClusterType: 3, Off: "the taint k=v:NoSelect is not tolerated"},
		{ClusterType: 4, Off: "placement names other cluster types"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	f.Prior.Decisions["others"].Targets["x2"] = []string{"c"} // each cluster type has a third of the targets
	f.Policies[0].Targets = []int{1, 1, 1, 2, 3}
	Reasons(t.Context(), f, func(_, target int) bool { return target == 0 },
		func(_, _ int, reasons []Reason) { got = reasons })
	if got[1].Scores[0] != 2*2*16 { // twice int(100 * (0.5 - 1/3)) is 32, not 33
		t.Errorf("the score of a cluster type with a third of the targets is %d", got[1].Scores[0])
	}
}

// TestDecisionsOfAnotherGeneration: decisions of another generation are ignored.
func TestDecisionsOfAnotherGeneration(t *testing.T) {
	f := &Fleet{
		ClusterTypes: []ClusterType{{Name: "a"}, {Name: "b"}}, Targets: []string{"known", "held"},
		Policies: []Policy{{Name: "p", ClusterTypes: []int{0, 1}, Targets: []int{0, 1},
			Spec: &Spec{Number: new(1), Generation: "1"}}},
		Prior: PriorResults{
			Decisions: Decisions{"p": {Generation: "1", Targets: map[string][]string{"known": {"b"}}}},
			Placed:    map[string][]string{"known": {"b"}, "held": {"b"}},
		},
	}
	for generation, want := range map[string]string{"1": "b", "2": "a", "": "a"} {
		f.Policies[0].Spec.Generation = generation
		got := Decide(t.Context(), f).Decisions()["p"].Targets
		if diff := cmp.Diff(map[string][]string{"known": {want}, "held": {want}}, got); diff != "" {
			t.Errorf("generation %q (-want +got):\n%s", generation, diff)
		}
	}
}
