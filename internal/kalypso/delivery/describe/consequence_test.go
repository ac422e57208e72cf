package describe_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/describe"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
)

// bigFleet returns a fleet of 12 cluster types, a third of them edge, and 20 workloads with a target web. Policies
// place the first four workloads on the edge, and the others everywhere.
func bigFleet() *fleet.Fleet {
	f := &fleet.Fleet{Environment: "dev", Templates: []*fleet.Template{
		{Meta: fleet.Meta{Name: "r"}, Type: fleet.TemplateReconciler, Manifests: []string{reconcilerText}},
		{Meta: fleet.Meta{Name: "n"}, Type: fleet.TemplateNamespace, Manifests: []string{
			"kind: Namespace\nname: {{ .Namespace }}\nlabels:\n  app: {{ index .Labels \"app\" }}\n" +
				"  workload: {{ .Workload }}\n"}},
	}}
	for i := range 12 {
		site := "cloud"
		if i%3 == 0 {
			site = "edge"
		}
		f.ClusterTypes = append(f.ClusterTypes, &fleet.ClusterType{
			Meta:       fleet.Meta{Name: fmt.Sprintf("type-%02d", i), Labels: map[string]string{"site": site}},
			Reconciler: "r", NamespaceService: "n",
		})
	}
	for i := range 20 {
		app := "web"
		if i < 4 {
			app = "till"
		}
		f.Workloads = append(f.Workloads, &fleet.Workload{
			Meta:    fleet.Meta{Name: fmt.Sprintf("shop-%02d", i)},
			Targets: []fleet.Target{{Name: "web", Environment: "dev", Labels: map[string]string{"app": app}}},
		})
	}
	for app, site := range map[string]string{"till": "edge", "web": ""} {
		p := &fleet.SchedulingPolicy{Meta: fleet.Meta{Name: app}}
		p.DeploymentTargets.MatchLabels = map[string]string{"app": app}
		if site != "" {
			p.ClusterTypes.MatchLabels = map[string]string{"site": site}
		}
		f.Policies = append(f.Policies, p)
	}
	f.Sort()
	return f
}

// TestConsequenceFirst: after a usual mistake or change, the description begins with what is lost, and the hashes are
// its end.
func TestConsequenceFirst(t *testing.T) {
	t.Parallel()
	policy := func(f *fleet.Fleet, name string) *fleet.SchedulingPolicy {
		for _, p := range f.Policies {
			if p.Name == name {
				return p
			}
		}
		panic(name)
	}
	why := ": `policy \"till\" now selects app \"tilll\" (did you mean \"till\"?)`\n"
	for _, test := range []struct {
		name   string
		change func(f *fleet.Fleet)
		want   string
	}{
		{"a typing error in a policy's label", func(f *fleet.Fleet) {
			policy(f, "till").DeploymentTargets.MatchLabels = map[string]string{"app": "tilll"}
		}, "**4 targets leave 4 cluster types and then run nowhere:**\n\n" +
			"- `shop-00-web` leaves `type-00`, `type-03` and 2 more: `policy \"till\" now selects app \"tilll\" (did you " +
			"mean \"till\"?)`\n- `shop-01-web` leaves `type-00`, `type-03` and 2 more" + why},
		{"a deleted policy", func(f *fleet.Fleet) { f.Policies = f.Policies[1:] },
			"**4 targets leave 4 cluster types and then run nowhere:**\n\n" +
				"- `shop-00-web` leaves `type-00`, `type-03` and 2 more: `policy \"till\" is gone`\n"},
		{"a renamed workload", func(f *fleet.Fleet) { f.Workloads[0].Name = "store" },
			"**1 target has another name: clusters delete the old namespaces with all data in them, and create new " +
				"ones:**\n\n- `shop-00-web` → `store-web`, so 4 namespaces go: `dev-type-00-shop-00-web`, " +
				"`dev-type-03-shop-00-web` and 2 more\n\nRenders"},
		{"a renamed target", func(f *fleet.Fleet) { f.Workloads[19].Targets[0].Name = "front" },
			"**1 target has another name: clusters delete the old namespaces with all data in them, and create new " +
				"ones:**\n\n- `shop-19-web` → `shop-19-front`, so 12 namespaces go: `dev-type-00-shop-19-web`, " +
				"`dev-type-01-shop-19-web` and 10 more\n\nRenders"},
		{"a renamed workload with other files", func(f *fleet.Fleet) {
			f.Workloads[0].Name, f.Workloads[0].Targets[0].Manifests = "store", map[string]string{}
			f.Workloads[0].Targets[0].Labels = map[string]string{"app": "till", "more": "x"}
			f.Templates[1].Manifests = []string{f.Templates[1].Manifests[0] + "  more: x\n"}
		}, "**1 target leaves 4 cluster types.**\n\nRenders"},
		{"a removed workload", func(f *fleet.Fleet) { f.Workloads = f.Workloads[1:] },
			"**1 target leaves 4 cluster types.**\n\nRenders"},
		{"a removed cluster type", func(f *fleet.Fleet) { f.ClusterTypes = f.ClusterTypes[1:] },
			"**1 cluster type loses all its targets:** `type-00` (gone).\n\n**20 targets leave 1 cluster type.**\n"},
		{"a new workload", func(f *fleet.Fleet) {
			f.Workloads = append(f.Workloads, &fleet.Workload{Meta: fleet.Meta{Name: "zoo"}, Targets: []fleet.Target{
				{Name: "web", Environment: "dev", Labels: map[string]string{"app": "web"}}}})
		}, "Renders environment `dev`.\n\n**Deployment targets:** 12 added, 0 removed, 0 changed on 12 cluster types.\n"},
	} {
		before := storedState(t, renderLines(t, bigFleet(), nil))
		f := bigFleet()
		test.change(f)
		text := describe.Rendering(t.Context(), renderLines(t, f, before), before)
		if got := text[:min(len(text), len(test.want))]; !strings.HasPrefix(text, test.want) && got != "" {
			t.Errorf("%s (-want +got):\n%s\n%s", test.name, cmp.Diff(test.want, got), text[:min(len(text), 1200)])
		}
		lines := strings.Split(strings.TrimSpace(text), "\n")
		if hashes := lines[len(lines)-3]; !strings.HasPrefix(hashes, "**Tree:** ") {
			t.Errorf("%s: before the marker stands %q", test.name, hashes)
		}
	}
}

// TestLosingClusterTypesAreRed: a graph draws each cluster type that loses a target in red, also if it draws no
// targets.
func TestLosingClusterTypesAreRed(t *testing.T) {
	t.Parallel()
	for _, targets := range []int{1, describe.MaxNodes} {
		text := describe.Markdown(describe.RenderingChange{ClusterTypes: []inventory.ClusterType{
			{Name: "gains", Added: numbered("a", targets)},
			{Name: "loses", Added: []string{"b"}, Removed: numbered("c", targets), Changed: []string{"d"}},
		}})
		red, id := "", ""
		for line := range strings.Lines(text) {
			if strings.HasSuffix(line, " removed\n") {
				red = strings.Fields(line)[1]
			}
			if strings.Contains(line, `["loses`) {
				id, _, _ = strings.Cut(strings.TrimSpace(line), "[")
			}
		}
		if red == "" || red != id {
			t.Errorf("%d targets: red are %q, want %q:\n%s", targets, red, id, text)
		}
	}
}
