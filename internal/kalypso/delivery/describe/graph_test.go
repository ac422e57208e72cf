package describe_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/describe"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
)

// numbered returns n names with a prefix, such as t-000.
func numbered(prefix string, n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("%s-%03d", prefix, i)
	}
	return names
}

var (
	clusterTypeNode = regexp.MustCompile(`(?m)^  c\d+\["`)
	targetNode      = regexp.MustCompile(`(?m)^  t\d+\(\["`)
	graphEdge       = regexp.MustCompile(`(?m)^  t\d+ (==>|-\.->|-->|---) c\d+$`)
)

// TestGraph: the graph contains all changes, or only cluster types, or it is left out. Unchanged targets of a cluster
// type are drawn if all of them fit.
func TestGraph(t *testing.T) {
	t.Parallel()
	type drawn struct {
		ClusterTypes, Targets, Edges int
		Legend                       string
	}
	for name, test := range map[string]struct {
		clusterTypes []inventory.ClusterType
		want         drawn
	}{
		"no change": {[]inventory.ClusterType{{Name: "a", Unchanged: numbered("t", 3)}}, drawn{}},
		"few targets": {[]inventory.ClusterType{
			{Name: "a", Changed: []string{"t-000"}, Unchanged: []string{"x"}}, {Name: "b", Unchanged: numbered("t", 3)},
		}, drawn{2, 4, 5, "Yellow: changed, grey: unchanged."}},
		"as many nodes as the limit": {[]inventory.ClusterType{{Name: "a", Added: numbered("t", 39)}},
			drawn{1, 39, 39, "Green and thick: added."}},
		"more nodes than the limit": {[]inventory.ClusterType{{Name: "a", Added: numbered("t", 40)}}, drawn{1, 0, 0,
			"Yellow: changed."}},
		"same targets on two cluster types": {[]inventory.ClusterType{
			{Name: "a", Added: numbered("t", 30)}, {Name: "b", Removed: numbered("t", 30)},
		}, drawn{2, 30, 60, "Green and thick: added, red and dotted: removed, or loses targets."}},
		"too many unchanged targets": {[]inventory.ClusterType{
			{Name: "a", Added: numbered("t", 30), Unchanged: numbered("u", 10)},
			{Name: "b", Unchanged: numbered("t", 30)},
			{Name: "c", Unchanged: numbered("v", 9)},
			{Name: "d", Unchanged: numbered("w", 7)},
		}, drawn{3, 37, 67, "Green and thick: added, grey: unchanged."}},
		"too many changes":       {changedTypes(40, 3), drawn{40, 0, 0, "Yellow: changed."}},
		"too many cluster types": {changedTypes(41, 3), drawn{}},
	} {
		text := describe.Markdown(describe.RenderingChange{Environment: "dev", ClusterTypes: test.clusterTypes})
		got := drawn{
			len(
				clusterTypeNode.FindAllString(text, -1),
			),
			len(targetNode.FindAllString(text, -1)),
			len(graphEdge.FindAllString(text, -1)),
			"",
		}
		if _, after, ok := strings.Cut(text, "```\n\n"); ok {
			got.Legend, _, _ = strings.Cut(after, "\n")
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s\n%s", name, diff, text)
		}
	}
}

// TestGraphRequires: an edge leads from a target to a target that it requires, if both are drawn. It is drawn only
// once. A removed target requires no other.
func TestGraphRequires(t *testing.T) {
	t.Parallel()
	text := describe.Markdown(describe.RenderingChange{
		Environment: "dev",
		ClusterTypes: []inventory.ClusterType{
			{Name: "a", Added: []string{"web"}, Removed: []string{"old"}, Unchanged: []string{"redis"}},
			{Name: "b", Changed: []string{"web"}},
		},
		Requires: func(_, target string) []string {
			return map[string][]string{"web": {"auth", "redis"}, "old": {"redis"}}[target]
		},
	})
	var got []string
	for _, line := range strings.Split(text, "\n") {
		if strings.Contains(line, "requires") || strings.HasPrefix(line, "  linkStyle") {
			got = append(got, strings.TrimSpace(line))
		}
	}
	want := []string{
		"t1 -->|requires| t4",
		"linkStyle 0 stroke:#2da44e,stroke-width:3px", "linkStyle 1 stroke:#e5534b,stroke-dasharray:4",
		"linkStyle 2 stroke:#d4a72c,stroke-width:2px", "linkStyle 3 stroke:#8c959f,stroke-width:1px",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s\n%s", d, text)
	}
}

// changedTypes returns cluster types, each with this number of changed targets.
func changedTypes(clusterTypes, targets int) []inventory.ClusterType {
	var all []inventory.ClusterType
	for _, name := range numbered("type", clusterTypes) {
		all = append(all, inventory.ClusterType{Name: name, Changed: numbered(name, targets)})
	}
	return all
}

// TestGraphRandom: no graph has more nodes than allowed, and each node occurs once. Each change has its own edge,
// unless only cluster types are drawn.
func TestGraphRandom(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		names := numbered("t", 1+r.IntN(60))
		var all []inventory.ClusterType
		changes := 0
		for _, name := range numbered("c", 1+r.IntN(12)) {
			ct := inventory.ClusterType{Name: name}
			for _, target := range names {
				for i, to := range []*[]string{&ct.Added, &ct.Removed, &ct.Changed, &ct.Unchanged} {
					if r.IntN(30) == 0 {
						*to = append(*to, target)
						if i < 3 {
							changes++
						}
						break
					}
				}
			}
			all = append(all, ct)
		}
		text := describe.Markdown(describe.RenderingChange{Environment: "dev", ClusterTypes: all})
		nodes := append(clusterTypeNode.FindAllString(text, -1), targetNode.FindAllString(text, -1)...)
		ids := map[string]bool{}
		for _, node := range nodes {
			ids[node] = true
		}
		edges := graphEdge.FindAllStringSubmatch(text, -1)
		drawn := 0
		for _, edge := range edges {
			if edge[1] != "---" {
				drawn++
			}
		}
		if len(nodes) > describe.MaxNodes || len(ids) != len(nodes) || len(edges) > 0 && drawn != changes ||
			len(nodes) == 0 && changes > 0 {
			t.Fatalf("%d nodes of %d ids, %d of %d changes are drawn:\n%s", len(nodes), len(ids), drawn, changes, text)
		}
	}
}
