package clusters_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/clusters"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// labels returns a map of "key=value" pairs.
func labels(pairs ...string) map[string]string {
	set := map[string]string{}
	for _, pair := range pairs {
		key, value, _ := strings.Cut(pair, "=")
		set[key] = value
	}
	return set
}

// cluster returns a cluster from "source/namespace/name", whose namespace may be empty.
func cluster(at string, pairs ...string) clusters.Cluster {
	part := strings.Split(at, "/")
	return clusters.Cluster{Source: part[0], Namespace: part[1], Name: part[2], Labels: labels(pairs...)}
}

// rule returns a rule from "key=value" pairs.
func rule(clusterType string, pairs ...string) clusters.Rule {
	return clusters.Rule{ClusterType: clusterType, Selector: fleet.Selector{MatchLabels: labels(pairs...)}}
}

// expressions returns a rule from requirements such as "size In a,b".
func expressions(clusterType string, all ...string) clusters.Rule {
	r := clusters.Rule{ClusterType: clusterType}
	for _, text := range all {
		part := strings.Fields(text + " ")
		e := metav1.LabelSelectorRequirement{Key: part[0], Operator: metav1.LabelSelectorOperator(part[1])}
		if len(part) > 2 {
			e.Values = strings.Split(part[2], ",")
		}
		r.Selector.MatchExpressions = append(r.Selector.MatchExpressions, e)
	}
	return r
}

// TestJoin checks that the result has each cluster once, with the cluster type of the first rule that selects it.
func TestJoin(t *testing.T) {
	t.Parallel()
	healthy := func(c clusters.Cluster, is bool, reason string) clusters.Cluster {
		c.Healthy, c.Reason = &is, reason
		return c
	}
	properties := func(c clusters.Cluster, pairs ...string) clusters.Cluster {
		c.Properties = labels(pairs...)
		return c
	}
	sized := []clusters.Rule{rule("large", "size=large"), rule("small", "size=small")}
	for name, test := range map[string]struct {
		given     []clusters.Cluster
		rules     []clusters.Rule
		want      map[string]string // name to source, cluster type and health
		unmatched []string
		empty     []string
		ambiguous []string
		summary   string
	}{
		"no clusters": {rules: sized, want: map[string]string{}, empty: []string{"large", "small"},
			summary: "0 clusters of 0 cluster types."},
		"two rules that select a cluster": {
			given: []clusters.Cluster{cluster("hub/a/one", "size=large", "region=west"), cluster("hub/a/two", "size=large"),
				cluster("hub/a/three", "size=tiny")},
			rules: []clusters.Rule{rule("west", "region=west"), rule("large", "size=large")},
			want:  map[string]string{"one": "hub west", "two": "hub large", "three": "hub"}, unmatched: []string{"three"},
			summary: "3 clusters of 2 cluster types, 1 without a cluster type.",
		},
		"a property, and a label with the same key": {
			given: []clusters.Cluster{properties(cluster("hub/a/one"), "size=large"),
				properties(cluster("hub/a/two", "size=small"), "size=large")},
			rules: sized, want: map[string]string{"one": "hub large", "two": "hub small"},
			summary: "2 clusters of 2 cluster types.",
		},
		"one name with equal labels in three sources": {
			given: []clusters.Cluster{healthy(cluster("hub/a/one", "size=large"), true, ""),
				healthy(cluster("azure//one", "size=large"), false, "stopped"), cluster("clusters//one", "size=large")},
			rules: sized[:1], want: map[string]string{"one": "hub large false stopped"},
			summary: "1 cluster of 1 cluster type, 1 not healthy.",
		},
		"one name with different labels in two sources": {
			given: []clusters.Cluster{cluster("hub/a/one", "size=large"), cluster("azure//one", "size=small")},
			rules: sized, want: map[string]string{"hub/a/one": "hub large", "azure/one": "azure small"},
			ambiguous: []string{"azure/one", "hub/a/one"}, summary: "2 clusters of 2 cluster types, 2 ambiguous.",
		},
		"one name with equal labels in two namespaces of a source": {
			given: []clusters.Cluster{cluster("hub/a/one", "size=large"), cluster("hub/b/one", "size=large")},
			rules: sized[:1], want: map[string]string{"hub/a/one": "hub large", "hub/b/one": "hub large"},
			ambiguous: []string{"hub/a/one", "hub/b/one"}, summary: "2 clusters of 1 cluster type, 2 ambiguous.",
		},
		"one cluster listed twice": {
			given: []clusters.Cluster{cluster("hub/a/one", "size=large"), cluster("hub/a/one", "size=large")},
			rules: sized[:1], want: map[string]string{"one": "hub large"}, summary: "1 cluster of 1 cluster type.",
		},
		"a name that is the qualified name of another": {
			given: []clusters.Cluster{cluster("hub/a/one", "size=large"), cluster("hub/b/one", "size=large"),
				{Source: "x", Name: "hub/a/one", Labels: labels("size=small")}},
			rules: sized,
			want: map[string]string{"hub/a/one": "x small", "hub/hub/a/one": "hub large",
				"hub/b/one": "hub large"},
			ambiguous: []string{"hub/b/one", "hub/hub/a/one"}, summary: "3 clusters of 2 cluster types, 2 ambiguous.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for shuffled := range 10 {
				given := slices.Clone(test.given)
				if name != "one name with equal labels in three sources" { // the first source gives the name
					rand.New(rand.NewPCG(1, uint64(shuffled))).Shuffle(len(given), func(i, j int) {
						given[i], given[j] = given[j], given[i]
					})
				}
				all, err := clusters.Join([]clusters.List{{Clusters: given}}, test.rules)
				if err != nil {
					t.Fatal(err)
				}
				got := map[string]string{}
				for key, m := range all.Clusters {
					got[key] = strings.TrimSpace(m.Source + " " + m.ClusterType)
					if m.Healthy != nil {
						got[key] += fmt.Sprintf(" %t %s", *m.Healthy, m.Reason)
					}
					if m.ClusterType != "" && !slices.Contains(all.ClusterTypes[m.ClusterType], key) {
						t.Errorf("%s is not among the clusters of %s: %v", key, m.ClusterType, all.ClusterTypes)
					}
				}
				for what, diff := range map[string]string{
					"clusters":  cmp.Diff(test.want, got),
					"unmatched": cmp.Diff(test.unmatched, all.Unmatched, cmpopts.EquateEmpty()),
					"empty":     cmp.Diff(test.empty, all.Empty, cmpopts.EquateEmpty()),
					"ambiguous": cmp.Diff(test.ambiguous, all.Ambiguous, cmpopts.EquateEmpty()),
					"summary":   cmp.Diff(test.summary, all.Summary()),
				} {
					if diff != "" {
						t.Errorf("%s (-want +got):\n%s", what, diff)
					}
				}
			}
		})
	}
}

// TestLimits checks the bounds of a list of clusters. An object that can't be a cluster is left out, and the other
// objects are still clusters.
func TestLimits(t *testing.T) {
	t.Parallel()
	many := func(n int) map[string]string {
		set := map[string]string{}
		for i := range n {
			set[fmt.Sprint("l", i)] = "x"
		}
		return set
	}
	for name, test := range map[string]struct {
		cluster clusters.Cluster
		leftOut string
	}{
		"64 labels":            {clusters.Cluster{Name: "a", Labels: many(64)}, ""},
		"65 labels":            {clusters.Cluster{Name: "a", Labels: many(65)}, "it has 65 labels; at most 64 are allowed"},
		"257 properties":       {clusters.Cluster{Name: "a", Properties: many(257)}, "257 properties; at most 256"},
		"no name":              {clusters.Cluster{Labels: many(1)}, "it has no name"},
		"an invalid namespace": {clusters.Cluster{Name: "a", Namespace: "x/kube-system"}, "its namespace has no valid name"},
		"a qualified name": {clusters.Cluster{Name: "hub/kube-system/a"},
			"its name looks like the cluster a in the namespace kube-system"},
		"a longer qualified name": {clusters.Cluster{Name: "hub/argocd/kube-system/a.b"}, "the namespace kube-system"},
		"slashes at the start":    {clusters.Cluster{Name: "hub//kube-system/a"}, "the namespace kube-system"},
		"an ARM ID": {clusters.Cluster{
			Name: "/subscriptions/s/resourceGroups/g/providers/Microsoft.ContainerService/managedClusters/a"}, ""},
		"an ARN":               {clusters.Cluster{Name: "arn:aws:eks:eu-west-1:1:cluster/a"}, ""},
		"an OpenShift context": {clusters.Cluster{Name: "default/api-acme-io:6443/kube:admin"}, ""},
		"a long property": {clusters.Cluster{Name: "a", Properties: labels("a=" + strings.Repeat("x", 1025))},
			"1024 bytes"},
	} {
		var l clusters.List
		if err := l.Add("the object\x1b", test.cluster); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		said := strings.Join(l.LeftOut, "\n")
		if (said == "") != (test.leftOut == "") || !strings.Contains(said, test.leftOut) || strings.Contains(said, "\x1b") {
			t.Errorf("%s: left out %q", name, said)
		}
		if all, err := clusters.Join([]clusters.List{l}, nil); err != nil || len(all.Clusters)+len(l.LeftOut) != 1 ||
			strings.Contains(all.Summary(), "left out") != (test.leftOut != "") {
			t.Errorf("%s: %v %v", name, all, err)
		}
	}
	fill := func(c clusters.Cluster) (l clusters.List, err error) {
		for i := 0; err == nil && i < 20_000; i++ {
			if c.Name != "" {
				c.Name = fmt.Sprint("c", i)
			}
			err = l.Add("o", c)
		}
		return l, err
	}
	var long clusters.List
	name := strings.Repeat("ä", 1<<19)
	if err := long.LeaveOut(name, errors.New("canary")); err != nil || len(long.LeftOut[0]) > 1100 ||
		!strings.HasSuffix(long.LeftOut[0], "ä…: canary") {
		t.Errorf("an object with a long name: %d bytes, %v", len(long.LeftOut[0]), err)
	}
	large := many(100)
	for key := range large {
		large[key] = strings.Repeat("x", 1024)
	}
	for _, test := range []struct {
		want    string
		cluster clusters.Cluster
	}{
		{"more than 10000 clusters", clusters.Cluster{Name: "c"}}, {"lists more than 10000", clusters.Cluster{}},
		{"more than 64 MiB", clusters.Cluster{Name: "c", Properties: large}},
		{"more than 64 MiB", clusters.Cluster{Name: "c", Properties: many(256)}}, // short texts take memory too
		{"more than 64 MiB", clusters.Cluster{Name: "c", Reason: strings.Repeat("x", 10_000)}},
	} {
		if _, err := fill(test.cluster); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v, want %q", err, test.want)
		}
	}
	var half []clusters.List
	for _, source := range []string{"a", "b"} {
		var l clusters.List
		for i := range 6000 {
			l.Clusters = append(l.Clusters, cluster(fmt.Sprintf("%s//%s%d", source, source, i)))
		}
		half = append(half, l)
	}
	if _, err := clusters.Join(half, nil); err == nil ||
		!strings.Contains(err.Error(), "12000 clusters; at most 10000 are allowed") {
		t.Errorf("two lists of 6000 clusters: %v", err)
	}
}

// TestCheckRules checks that each rule names a cluster type, and selects clusters that no earlier rule selects.
func TestCheckRules(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		rules []clusters.Rule
		want  string // path and beginning of the only problem
	}{
		{[]clusters.Rule{rule("a", "x=1"), rule("b", "x=2"), rule("a", "y=1")}, ""},
		{[]clusters.Rule{rule("a", "x=1"), rule("b", "x=1", "y=2")}, "match[1] Rule is never reached"},
		{[]clusters.Rule{rule("a", "x=1", "y=2"), rule("b", "x=1")}, ""},
		{[]clusters.Rule{rule("a", "x=1"), rule("a", "x=1")}, "match[1] Rule is never reached"},
		{[]clusters.Rule{rule("a"), rule("b", "x=1")}, "match[1] Rule is never reached"},
		{[]clusters.Rule{rule("b", "x=1"), rule("a")}, ""},
		{[]clusters.Rule{expressions("a", "x In 1,2"), rule("b", "x=1")}, "match[1] Rule is never reached"},
		{[]clusters.Rule{rule("b", "x=1"), expressions("a", "x In 1,2")}, ""},
		{[]clusters.Rule{expressions("a", "x Exists"), expressions("b", "x In 1,2")}, "match[1] Rule is never reached"},
		{[]clusters.Rule{expressions("a", "x NotIn 1"), expressions("b", "x NotIn 1,2")},
			"match[1] Rule is never reached"},
		{[]clusters.Rule{expressions("a", "x NotIn 1,2"), expressions("b", "x NotIn 1")}, ""},
		{[]clusters.Rule{expressions("a", "x NotIn 1"), rule("b", "x=2")}, "match[1] Rule is never reached"},
		{[]clusters.Rule{expressions("a", "x NotIn 1"), expressions("b", "x DoesNotExist")},
			"match[1] Rule is never reached"},
		{[]clusters.Rule{expressions("a", "x DoesNotExist"), expressions("b", "x NotIn 1")}, ""},
		// Two rules for one cluster type that contradict each other.
		{[]clusters.Rule{rule("a", "x=1"), expressions("a", "x NotIn 1")}, "match[1] Contradictory rules"},
		{[]clusters.Rule{expressions("a", "x Exists"), expressions("a", "x DoesNotExist")}, "match[1] Contradictory rules"},
		{[]clusters.Rule{rule("a", "x=1"), expressions("b", "x NotIn 1")}, ""},
		{[]clusters.Rule{rule("a", "x=1"), expressions("a", "x NotIn 1", "y Exists")}, ""},
		{[]clusters.Rule{expressions("a", "x In 1", "x NotIn 1")}, "match[0] Rule selects nothing"},
		{[]clusters.Rule{expressions("a", "x In 1", "x In 2")}, "match[0] Rule selects nothing"},
		{[]clusters.Rule{expressions("a", "x Exists", "x DoesNotExist")}, "match[0] Rule selects nothing"},
		{[]clusters.Rule{expressions("a", "x In 1,2", "x NotIn 1")}, ""},
		{[]clusters.Rule{rule("", "x=1")}, "match[0].cluster_type Missing cluster type"},
		{[]clusters.Rule{rule("A", "x=1")}, "match[0].cluster_type Invalid cluster type"},
		{[]clusters.Rule{expressions("a", "x in 1")}, "match[0].match_expressions[0].operator Invalid operator"},
		{[]clusters.Rule{rule(unknown.Text, "x=1"), rule("b", "x=2")}, ""},
		{[]clusters.Rule{rule("a", unknown.Text+"="+unknown.Text), rule("b", "x=2")}, ""},
		{[]clusters.Rule{expressions("a", "x In "+unknown.Text), rule("b", "x=2")}, ""},
	} {
		var got []string
		for _, p := range clusters.CheckRules(test.rules) {
			at := ""
			for _, s := range p.Path {
				switch s := s.(type) {
				case problem.Attr:
					at += "." + string(s)
				case problem.Index:
					at += fmt.Sprintf("[%d]", s)
				}
			}
			got = append(got, strings.TrimPrefix(at, ".")+" "+p.Summary)
		}
		if said := strings.Join(got, "; "); said != test.want {
			t.Errorf("%+v: %q, want %q", test.rules, said, test.want)
		}
	}
}

// source is a source that lists clusters or fails.
type source struct {
	clusters.Given
	err error
}

func (s source) Clusters(ctx context.Context) (clusters.List, error) {
	if s.err != nil {
		return clusters.List{}, s.err
	}
	return s.Given.Clusters(ctx)
}

// TestRead checks that the clusters of an earlier run replace those of a source that does not answer, and that they are
// not used after any other failure.
func TestRead(t *testing.T) {
	t.Parallel()
	one, two := cluster("a//one"), cluster("b//two")
	old := cluster("b//old")
	_, unknownHub := clusters.Unknown("b").Clusters(t.Context())
	silent := fmt.Errorf("%w: HTTP 503", deployment.ErrNoAnswer)
	for name, test := range map[string]struct {
		err  error
		last []clusters.Cluster
		want string // names, then severity and beginning of the problem
	}{
		"an answer": {nil, []clusters.Cluster{old}, "one two"},
		"no answer, clusters of an earlier run": {silent, []clusters.Cluster{old, cluster("c//x")},
			"one old 1 A source did not answer"},
		"no answer, no earlier run":                {silent, nil, "one 0 A source did not answer"},
		"no answer, source not in the earlier run": {silent, []clusters.Cluster{one}, "one 0 A source did not answer"},
		"timeout": {context.DeadlineExceeded, []clusters.Cluster{old},
			"one old 1 A source did not answer"},
		"refused request": {errors.New("refused"), []clusters.Cluster{old},
			"one 0 A source can't be used"},
		"too many clusters of an earlier run": {silent, slices.Repeat([]clusters.Cluster{old}, 10_001),
			"0 A source can't be used"},
		"source known after apply": {unknownHub, nil, "one 0 A source did not answer"},
	} {
		lists, ps := clusters.Read(t.Context(), []clusters.Source{
			clusters.Given{Of: "a", All: []clusters.Cluster{one}},
			source{clusters.Given{Of: "b", All: []clusters.Cluster{two}}, test.err},
		}, test.last)
		var got []string
		for _, l := range lists {
			for _, c := range l.Clusters {
				got = append(got, c.Name)
			}
		}
		for _, p := range ps {
			got = append(got, fmt.Sprintf("%d %s", p.Severity, p.Summary))
			if !strings.HasPrefix(p.Detail, "Source b: ") && !strings.HasPrefix(p.Detail, "Last: ") {
				t.Errorf("%s: the problem does not name the source: %s", name, p.Detail)
			}
		}
		if said := strings.Join(got, " "); said != test.want && !strings.HasPrefix(name, "too many") ||
			!strings.HasSuffix(said, test.want) {
			t.Errorf("%s: %s, want %s", name, said[:min(len(said), 200)], test.want)
		}
	}
}
