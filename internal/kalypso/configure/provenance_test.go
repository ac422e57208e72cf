package configure_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/configure"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule/placement"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/seeds"
)

// provenance returns the provenance of the values of the only assignment of a fleet with these configs.
func provenance(t *testing.T, configs ...*fleet.Config) (map[string]*configure.Provenance, *configure.Values) {
	t.Helper()
	f := &fleet.Fleet{
		Environment:  "dev",
		ClusterTypes: []*fleet.ClusterType{{Meta: fleet.Meta{Name: "large", Labels: map[string]string{"region": "west"}}}},
		Policies:     []*fleet.SchedulingPolicy{{Meta: fleet.Meta{Name: "all"}}},
		Configs:      configs,
		Workloads: []*fleet.Workload{
			{Meta: fleet.Meta{Name: "app"}, Targets: []fleet.Target{{Name: "test", Environment: "dev"}}},
		},
	}
	s, _ := schedule.New(t.Context(), f, placement.PriorResults{})
	c, problems := configure.New(t.Context(), f, s)
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	values := c.Of(0, 0).Values
	return values.Provenance(), values
}

// TestProvenance checks which configs a value comes from, and which values it overrides.
func TestProvenance(t *testing.T) {
	const text, other, dict, list = "text", "other", "{a: 1, b: 1}", "[1]"
	azure := func(key string) string { return "azure " + key } // a key of the azure-app-config
	tests := []struct {
		name                      string
		given                     []string // the values of K in the configs 0, 1, …
		azure                     map[string]string
		value                     any
		contributions, overridden []string
	}{
		{"one config", []string{text}, nil, "text", []string{"0 K=text"}, nil},
		{"text over text", []string{text, other}, nil, "other", []string{"1 K=other"}, []string{"0 K=text"}},
		{"the same text again", []string{text, text}, nil, "text", []string{"1 K=text"}, []string{"0 K=text"}},
		{
			"map onto map",
			[]string{dict, "{a: 2}"},
			nil,
			map[string]any{"a": 2, "b": 1},
			[]string{"0 K=map[a:1 b:1]", "1 K=map[a:2]"},
			nil,
		},
		{"list onto list", []string{list, "[2]", "[3]"}, nil, []any{1, 2, 3}, []string{"0 K=[1]", "1 K=[2]", "2 K=[3]"}, nil},
		{
			"map over text",
			[]string{text, dict},
			nil,
			map[string]any{"a": 1, "b": 1},
			[]string{"1 K=map[a:1 b:1]"},
			[]string{"0 K=text"},
		},
		{
			"maps, then text, then maps",
			[]string{dict, "{a: 2}", text, "{c: 3}", "{d: 4}"},
			nil,
			map[string]any{"c": 3, "d": 4},
			[]string{"3 K=map[c:3]", "4 K=map[d:4]"},
			[]string{"0 K=map[a:1 b:1]", "1 K=map[a:2]", "2 K=text"},
		},
		{"list over map", []string{dict, list}, nil, []any{1}, []string{"1 K=[1]"}, []string{"0 K=map[a:1 b:1]"}},
		{
			"keys of an azure-app-config",
			[]string{text},
			map[string]string{"region.west.cluster-type.large.K": "c", "region.west.K": "b", "K": "a", "region.east.K": "z"},
			"c",
			[]string{azure("region.west.cluster-type.large.K=c")},
			[]string{"0 K=text", azure("K=a"), azure("region.west.K=b")},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var configs []*fleet.Config
			for i, value := range tt.given {
				configs = append(configs, &fleet.Config{
					Meta: fleet.Meta{Name: fmt.Sprint(i), Labels: map[string]string{fleet.PlatformConfigLabel: "true"}},
					Data: map[string]string{"K": value},
				})
			}
			if tt.azure != nil {
				configs = append(configs, &fleet.Config{Meta: fleet.Meta{Name: "azure-app-config"}, Data: tt.azure})
			}
			all, _ := provenance(t, configs...)
			texts := func(cs []configure.Contribution) (texts []string) {
				for _, c := range cs {
					name := c.Object.Metadata().Name
					if strings.HasPrefix(name, fleet.AzureAppConfigPrefix) {
						name = "azure"
					}
					texts = append(texts, fmt.Sprintf("%s %s=%v", name, c.Key, c.Value))
				}
				return texts
			}
			p := all["K"]
			if d := cmp.Diff(
				tt.value,
				p.Value,
			) + cmp.Diff(
				tt.contributions,
				texts(p.Contributions),
			) + cmp.Diff(
				tt.overridden,
				texts(p.Overridden),
			); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// TestProvenanceOfRandomValues checks random configs: the provenance has the values that are rendered, and each
// config's value occurs in it once, as a contribution or as overridden.
func TestProvenanceOfRandomValues(t *testing.T) {
	for seed := range seeds.Of(t, 100, 100) {
		r := rand.New(rand.NewPCG(seed, 1))
		var configs []*fleet.Config
		given := 0
		for i := range 8 {
			data := map[string]string{}
			for range r.IntN(4) {
				data[fmt.Sprint("K", r.IntN(3))] = []string{
					"text", "'[1]'", "{a: {b: 1}}", "{a: {c: 2}, d: 3}", "[1]", "[{name: x, y: 1}]", "[{name: x, z: 2}]",
				}[r.IntN(7)]
			}
			given += len(data)
			configs = append(
				configs,
				&fleet.Config{
					Meta: fleet.Meta{Name: fmt.Sprint(i), Labels: map[string]string{fleet.PlatformConfigLabel: "true"}},
					Data: data,
				},
			)
		}
		all, values := provenance(t, configs...)
		got := map[string]any{}
		for k, p := range maps.All(all) {
			got[k] = p.Value
			given -= len(p.Contributions) + len(p.Overridden)
		}
		if d := cmp.Diff(values.Merge().Data, got); d != "" {
			t.Errorf("seed %d (-merged +explained):\n%s", seed, d)
		}
		if given != 0 {
			t.Errorf("seed %d: %d values are missing in the provenance", seed, given)
		}
	}
}
