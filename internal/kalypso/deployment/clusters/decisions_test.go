package clusters_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/clusters"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/seeds"
)

// decision is a PlacementDecision, as its CRD defines it.
type decision struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name, Namespace string
		Labels          map[string]string
	} `json:"metadata"`
	SchedulerName string `json:"schedulerName"`
	Decisions     []struct {
		Reason            string `json:"reason"`
		ClusterProfileRef struct{ Namespace, Name string }
	} `json:"decisions"`
}

// decodeDecisions decodes the decisions. A field that the type lacks fails the test.
func decodeDecisions(t *testing.T, made []map[string]any) (all []decision) {
	t.Helper()
	text, err := json.Marshal(made)
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.DisallowUnknownFields()
	if err := d.Decode(&all); err != nil {
		t.Fatal(err)
	}
	return all
}

// TestDecisionsRandom checks that the decisions for random assignments contain each deployment target with each cluster
// of its cluster types, and no other pair. Each object but a target's last one has 100 clusters. The order of the input
// must not matter.
func TestDecisionsRandom(t *testing.T) {
	t.Parallel()
	sliced, empty := 0, 0
	for seed := range seeds.Of(t, 1000, 20_000) {
		r := rand.New(rand.NewPCG(seed, 64))
		assignments, types := map[string][]string{}, map[string][]string{}
		want := map[string][]string{} // target to its clusters
		next := 0
		for i := range r.IntN(4) {
			name := fmt.Sprint("type-", i)
			types[name] = []string{}
			for range []int{0, 0, 0, 1, 1, 2, 3, 5, 100, 101, 201}[r.IntN(11)] {
				types[name] = append(types[name], fmt.Sprintf("cluster-%04d", next))
				next++
			}
			for j := range 3 {
				if target := fmt.Sprint("app-", j); r.IntN(2) == 0 {
					assignments[name] = append(assignments[name], target)
					want[target] = append(want[target], types[name]...)
				}
			}
		}
		objects, err := clusters.Decisions(assignments, types, clusters.DecisionOptions{Namespace: "fleet"})
		if err != nil {
			t.Fatal(err)
		}

		got := map[string][]string{}
		sizes := map[string][]int{}
		names := map[string]bool{}
		for _, d := range decodeDecisions(t, objects) {
			target := d.Metadata.Labels["multicluster.x-k8s.io/decision-key"]
			if index := fmt.Sprint(len(sizes[target])); d.Metadata.Labels["multicluster.x-k8s.io/decision-index"] != index ||
				d.APIVersion != "multicluster.x-k8s.io/v1alpha1" || d.Kind != "PlacementDecision" ||
				d.Metadata.Namespace != "fleet" || names[d.Metadata.Name] || d.Decisions == nil {
				t.Fatalf("object %+v, want the index %s", d, index)
			}
			names[d.Metadata.Name] = true
			sizes[target] = append(sizes[target], len(d.Decisions))
			got[target] = append(got[target], []string{}...)
			for _, c := range d.Decisions {
				got[target] = append(got[target], c.ClusterProfileRef.Name)
				if c.ClusterProfileRef.Namespace != "fleet" || !strings.Contains(c.Reason, `"type-`) {
					t.Fatalf("decision %+v", c)
				}
			}
		}
		for target, all := range want {
			slices.Sort(all)
			n := len(all)
			if n == 0 {
				empty++
			}
			var full []int
			for ; n > 100; n -= 100 {
				full = append(full, 100)
				sliced++
			}
			if diff := cmp.Diff(append(full, n), sizes[target]); diff != "" {
				t.Fatalf("sizes of %s (-want +got):\n%s", target, diff)
			}
			if diff := cmp.Diff(strings.Join(all, " "), strings.Join(got[target], " ")); diff != "" {
				t.Fatalf("clusters of %s (-want +got):\n%s", target, diff)
			}
			delete(got, target)
		}
		if len(got) > 0 {
			t.Fatalf("targets that are not assigned: %v", got)
		}
		for _, all := range []map[string][]string{assignments, types} {
			for _, names := range all {
				r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
			}
		}
		again, err := clusters.Decisions(assignments, types, clusters.DecisionOptions{Namespace: "fleet"})
		if err != nil || !reflect.DeepEqual(objects, again) {
			t.Fatalf("the order of the input matters (%v):\n%s", err, cmp.Diff(objects, again))
		}
	}
	if !seeds.Single() && (sliced < 100 || empty < 100) {
		t.Errorf("only %d full slices, and %d targets without a cluster", sliced, empty)
	}
}

// TestDecisions checks that decisions without an inventory name the cluster types, and that a name which no Kubernetes
// object can have is an error.
func TestDecisions(t *testing.T) {
	t.Parallel()
	type in = map[string][]string
	for _, test := range []struct {
		assignments, types in
		options            clusters.DecisionOptions
		want               string // the references, or the beginning of the error
	}{
		{in{"large": {"a-b"}, "small": {"a-b"}}, nil, clusters.DecisionOptions{},
			"a-b-0 in default: default/large default/small"},
		{in{"large": {"a-b"}}, in{"large": {"one", "hub/cluster_profile/ocm/two"}, "other": {"x"}},
			clusters.DecisionOptions{Namespace: "argocd", ProfilesNamespace: "fleet"},
			"a-b-0 in argocd: fleet/one ocm/two"},
		{in{"large": {"a-b"}, "small": {"a-b"}}, in{"large": {"one"}, "small": {"one"}}, clusters.DecisionOptions{},
			"a-b-0 in default: default/one"},
		{in{"large": {"a-b"}}, in{"large": {}}, clusters.DecisionOptions{}, "a-b-0 in default:"},
		{in{"large": {}}, in{}, clusters.DecisionOptions{}, ""},
		{nil, nil, clusters.DecisionOptions{}, ""},
		{in{"large": {"a-b"}}, in{}, clusters.DecisionOptions{}, `error: invalid: cluster_types has no cluster type "large"`},
		{in{"large": {"a-b"}}, in{"large": {"/subscriptions/s/managedClusters/a"}}, clusters.DecisionOptions{},
			`error: invalid: no ClusterProfile can have the name of the cluster "/subscriptions`},
		{in{"large": {"A"}}, nil, clusters.DecisionOptions{}, `error: invalid: the deployment target "A"`},
		{in{"large": {strings.Repeat("a", 64)}}, nil, clusters.DecisionOptions{},
			`error: invalid: the deployment target "aaa`},
		{in{"large": {"a"}}, nil, clusters.DecisionOptions{Namespace: "a.b"},
			`error: invalid: "a.b" is not a valid namespace`},
	} {
		var got string
		if made, err := clusters.Decisions(test.assignments, test.types, test.options); err != nil {
			got = "error: " + err.Error()
			got = got[:min(len(got), len(test.want))]
		} else if len(made) > 0 {
			d := decodeDecisions(t, made)[0]
			got = d.Metadata.Name + " in " + d.Metadata.Namespace + ":"
			for _, c := range d.Decisions {
				got += " " + c.ClusterProfileRef.Namespace + "/" + c.ClusterProfileRef.Name
			}
		}
		if got != test.want {
			t.Errorf("%v %v: %q, want %q", test.assignments, test.types, got, test.want)
		}
	}
}
