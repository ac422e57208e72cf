package placement

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSkewChange has the cases of KubeFleet's tests for topology spread constraints: how the skew changes with one more
// target in the first domain.
func TestSkewChange(t *testing.T) {
	for name, c := range map[string]struct {
		count        []int // the number of targets in each domain, first in the candidate's
		maxSkew      int
		wantViolated bool
		wantChange   int
	}{
		"equal counts":                                  {[]int{2, 2, 2}, 1, false, 1},
		"one domain only":                               {[]int{7}, 1, false, 1},
		"no cluster type chosen":                        {[]int{0, 0}, 1, false, 1},
		"one smallest count":                            {[]int{1, 2, 2}, 1, false, -1},
		"one smallest count, violated":                  {[]int{1, 4, 4}, 1, true, -1},
		"several smallest counts":                       {[]int{1, 1, 2}, 1, false, 0},
		"several smallest counts, violated":             {[]int{1, 1, 3}, 1, true, 0},
		"second smallest":                               {[]int{2, 1, 3}, 2, false, 0},
		"second smallest, violated":                     {[]int{2, 1, 3}, 1, true, 0},
		"between second smallest and largest":           {[]int{3, 1, 2, 5}, 5, false, 0},
		"between second smallest and largest, violated": {[]int{3, 1, 2, 5}, 3, true, 0},
		"largest":           {[]int{5, 1, 2}, 5, false, 1},
		"largest, violated": {[]int{5, 1, 2}, 2, true, 1},
		"two smallest counts, one of them after a larger one": {[]int{1, 3, 1}, 2, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			d := &domains{spread: Spread{MaxSkew: c.maxSkew}, count: c.count}
			d.summarize()
			change, violated := d.skewChange(0)
			if change != c.wantChange || violated != c.wantViolated {
				t.Errorf("change %d, violated %t; want %d, %t", change, violated, c.wantChange, c.wantViolated)
			}
		})
	}
}

// labelled returns cluster types from rows with a name, and pairs of a label's key and value.
func labelled(rows ...[]string) (all []ClusterType) {
	for _, row := range rows {
		ct := ClusterType{Name: row[0], Labels: map[string]string{}}
		for i := 1; i < len(row); i += 2 {
			ct.Labels[row[i]] = row[i+1]
		}
		all = append(all, ct)
	}
	return all
}

// TestSpread checks whole decisions: with the combinations of constraints in KubeFleet's tests, and with cluster types
// that are new and kept.
func TestSpread(t *testing.T) {
	twoOfEach := labelled(
		[]string{"a1", "region", "a"}, []string{"a2", "region", "a"}, []string{"a3", "region", "a"},
		[]string{"b1", "region", "b"}, []string{"b2", "region", "b"},
	)
	for name, c := range map[string]struct {
		clusterTypes []ClusterType
		spec         Spec
		earlier      []string
		want         []string
	}{
		"two of two regions": {twoOfEach, Spec{Number: new(2), Spread: []Spread{{Key: "region"}}}, nil, []string{"a1", "b1"}},
		"a number larger than the number of regions": {
			twoOfEach, Spec{Number: new(4), Spread: []Spread{{Key: "region"}}}, nil, []string{"a1", "a2", "b1", "b2"},
		},
		"a number larger than the number of cluster types": {
			twoOfEach, Spec{Number: new(9), Spread: []Spread{{Key: "region"}}}, nil, []string{"a1", "a2", "a3", "b1", "b2"},
		},
		"a cluster type that would exceed max_skew": {
			labelled([]string{"a1", "r", "a"}, []string{"a2", "r", "a"}, []string{"a3", "r", "a"}, []string{"b1", "r", "b"}),
			Spec{Number: new(4), Spread: []Spread{{Key: "r", MaxSkew: 1}}}, nil, []string{"a1", "a2", "b1"},
		},
		"a greater max_skew": {
			labelled([]string{"a1", "r", "a"}, []string{"a2", "r", "a"}, []string{"a3", "r", "a"}, []string{"b1", "r", "b"}),
			Spec{Number: new(4), Spread: []Spread{{Key: "r", MaxSkew: 2}}}, nil, []string{"a1", "a2", "a3", "b1"},
		},
		"a soft spread that exceeds max_skew": {
			labelled([]string{"a1", "r", "a"}, []string{"a2", "r", "a"}, []string{"a3", "r", "a"}, []string{"b1", "r", "b"}),
			Spec{Number: new(4), Spread: []Spread{{Key: "r", WhenUnsatisfiable: ScheduleAnyway}}},
			nil, []string{"a1", "a2", "a3", "b1"},
		},
		"a soft spread against the score": {
			[]ClusterType{
				{Name: "a1", Labels: map[string]string{"r": "a"}, Properties: map[string]string{"cpu": "9"}},
				{Name: "a2", Labels: map[string]string{"r": "a"}, Properties: map[string]string{"cpu": "8"}},
				{Name: "b1", Labels: map[string]string{"r": "b"}, Properties: map[string]string{"cpu": "1"}},
			},
			Spec{
				Number: new(2), Prefer: []Preference{{Property: "cpu", Weight: 10}},
				Spread: []Spread{{Key: "r", WhenUnsatisfiable: ScheduleAnyway}},
			},
			nil, []string{"a1", "b1"},
		},
		"equal skews and different scores": {
			[]ClusterType{
				{Name: "a1", Labels: map[string]string{"r": "a"}, Properties: map[string]string{"cpu": "1"}},
				{Name: "b1", Labels: map[string]string{"r": "b"}, Properties: map[string]string{"cpu": "2"}},
			},
			Spec{Number: new(1), Prefer: []Preference{{Property: "cpu", Weight: 1}}, Spread: []Spread{{Key: "r"}}},
			nil, []string{"b1"},
		},
		"a soft spread above max_skew that would shrink the skew": {
			labelled(
				[]string{"a1", "r", "a"}, []string{"b1", "r", "b"}, []string{"b2", "r", "b"}, []string{"b3", "r", "b"},
				[]string{"none"},
			),
			Spec{Number: new(4), Spread: []Spread{{Key: "r", MaxSkew: 1, WhenUnsatisfiable: ScheduleAnyway}}},
			[]string{"b1", "b2", "b3"}, []string{"b1", "b2", "b3", "none"},
		},
		"a hard spread, and a cluster type without the label": {
			labelled([]string{"a1"}, []string{"b1", "r", "b"}),
			Spec{Number: new(2), Spread: []Spread{{Key: "r"}}}, nil, []string{"b1"},
		},
		"a soft spread, and a cluster type without the label": {
			labelled([]string{"a1"}, []string{"b1", "r", "b"}),
			Spec{Number: new(1), Spread: []Spread{{Key: "r", WhenUnsatisfiable: ScheduleAnyway}}}, nil, []string{"a1"},
		},
		"a domain whose only cluster type is tainted": {
			[]ClusterType{
				{Name: "a1", Labels: map[string]string{"r": "a"}}, {Name: "a2", Labels: map[string]string{"r": "a"}},
				{Name: "b1", Labels: map[string]string{"r": "b"}, Taints: []Taint{{"k", "", NoSelect}}},
			},
			Spec{Number: new(2), Spread: []Spread{{Key: "r"}}}, nil, []string{"a1"},
		},
		"earlier decisions above max_skew": {
			twoOfEach, Spec{Number: new(3), Spread: []Spread{{Key: "region"}}}, []string{"a1", "a2", "a3"},
			[]string{"a1", "a2", "a3"},
		},
		"an earlier decision, and a cluster type in another region": {
			twoOfEach, Spec{Number: new(2), Spread: []Spread{{Key: "region"}}}, []string{"b2"}, []string{"a1", "b2"},
		},
		"no number": {
			labelled([]string{"a1", "r", "a"}, []string{"a2", "r", "a"}, []string{"a3", "r", "a"}, []string{"b1", "r", "b"}),
			Spec{Spread: []Spread{{Key: "r"}}}, nil, []string{"a1", "a2", "b1"},
		},
		"two hard spreads, every cluster type violates one": {
			labelled(
				[]string{"c1", "x", "1", "y", "2"}, []string{"c2", "x", "2", "y", "2"},
				[]string{"c3", "x", "2", "y", "2"}, []string{"c4", "x", "2", "y", "1"}, []string{"c5", "x", "1", "y", "2"},
			),
			Spec{Number: new(4), Spread: []Spread{{Key: "x", MaxSkew: 2}, {Key: "y", MaxSkew: 1}}},
			[]string{"c2", "c3", "c4"}, []string{"c2", "c3", "c4"},
		},
		"two hard spreads, several cluster types violate neither": {
			labelled(
				[]string{"c1", "x", "1", "y", "3"}, []string{"c2", "x", "2", "y", "2"},
				[]string{"c3", "x", "3", "y", "2"}, []string{"c4", "x", "2", "y", "1"},
			),
			Spec{Number: new(3), Spread: []Spread{{Key: "x", MaxSkew: 1}, {Key: "y", MaxSkew: 1}}},
			[]string{"c1", "c4"}, []string{"c1", "c3", "c4"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := &Fleet{ClusterTypes: c.clusterTypes, Targets: []string{"t"}}
			policy := Policy{Name: "p", Spec: &c.spec, Targets: []int{0}}
			for i := range c.clusterTypes {
				policy.ClusterTypes = append(policy.ClusterTypes, i)
			}
			f.Policies = []Policy{policy}
			f.Prior.Decisions = Decisions{"p": {Targets: map[string][]string{"t": c.earlier}}}
			got := Decide(t.Context(), f).Decisions()["p"].Targets["t"]
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("decision (-want +got):\n%s", diff)
			}
		})
	}
}
