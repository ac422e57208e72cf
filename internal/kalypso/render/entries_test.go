package render

import (
	"errors"
	"fmt"
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

// TestRenderingByEntries renders random templates for assignments with many common values. The common values are
// rendered once, entry by entry. The result must be the same as text/template renders for all values.
func TestRenderingByEntries(t *testing.T) {
	joined, whole := 0, 0
	for seed := range seeds.Of(t, 200, 2000) {
		r := rand.New(rand.NewPCG(seed, 11))
		text := templateOfEntries(r)
		f := fleetWithCommonConfigs(r, text)
		s, _ := schedule.New(t.Context(), f, placement.PriorResults{})
		config, problems := configure.New(t.Context(), f, s)
		if err := problems.Err(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		renderer, problems := New(t.Context(), f, s, config, nil)
		if problems.HasErrors() {
			continue // a random loop may not parse
		}
		n := 0
		for a, result := range renderer.Placement(t.Context(), 0, 0, len(s.Placements[0].Assignments), &Buffer{}) {
			values := config.Of(0, n).Values
			merged := values.Merge()
			n++
			want, wantErr := renderWhole(text, Data{
				DeploymentTargetName: a.Target.Name, Namespace: a.Namespace, Environment: "dev", ClusterType: a.ClusterType.Name,
				Workspace: a.Target.Workspace, Workload: a.Target.Workload.Name, Labels: a.Target.Labels,
				Manifests: a.Target.Manifests, ConfigData: merged.Data, more: More{ClusterTypeLabels: a.ClusterType.Labels},
			})
			failed := len(result.Failures) > 0
			if errors.Is(wantErr, errMayBeMissing) {
				wantErr = nil
				if failed {
					wantErr = result.Failures[0].Err
				}
			}
			if failed != (wantErr != nil) {
				t.Errorf("seed %d: %q on %s gives %v, want the error %v", seed, text, a.Target.Name, result, wantErr)
			}
			if !values.Shared && merged.Base != nil && merged.Base.Continued >= worthEntries {
				renderer.cacheOf(merged.Base).entries.Range(func(_, found any) bool {
					if entries, ok := found.(*renderedEntries); ok && entries != nil {
						joined++
					} else {
						whole++
					}
					return true
				})
			}
			if wantErr != nil {
				continue
			}
			got := ""
			if len(result.Files) > 0 {
				got = string(result.Files[0].Content)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("seed %d: %q on %s, values %q (-want +got):\n%s", seed, text, a.Target.Name, merged.Data, d)
			}
		}
	}
	if !seeds.Single() && (joined < 300 || whole < 10) {
		t.Errorf("%d results were joined from entries and %d were not: too few of one of them to test it", joined, whole)
	}
}

// templateOfEntries returns a template that prints all values in one or several ways.
func templateOfEntries(r *rand.Rand) string {
	one := func(of ...string) string { return of[r.IntN(len(of))] }
	var b strings.Builder
	for range 1 + r.IntN(3) {
		b.WriteString(one("", "data:\n", "# {{ .Namespace }}\n", "{{ .ClusterType }} "))
		function := one("toYaml", "stringify", "hash", "toJson")
		switch r.IntN(5) {
		case 0:
			fmt.Fprintf(&b, "{{ %s .ConfigData }}\n", function)
		case 1:
			fmt.Fprintf(&b, "{{ .ConfigData | %s }}\n", function)
		case 2:
			fmt.Fprintf(&b, "{{- %s .ConfigData | %s %s -}}\n", function, one("indent", "nindent"),
				one("0", "1", "2", "3", "4", "010", "0x3", "1.0", "-1"))
		case 3:
			fmt.Fprintf(&b, "{{ range $k, $v := .ConfigData }}{{ $k }}={{ %s }};{{ end }}\n",
				one("$v", "$v | quote", "$v | toJson", "$.Namespace", "len $.ConfigData", `fail "no"`, `.missing | default "d"`,
					"hash .", `if eq $k "a" }}{{ break }}{{ end`, `if eq $k "a" }}{{ continue }}{{ end`))
		case 4:
			g := &generator{Rand: r, loops: 1}
			b.WriteString("{{ range .ConfigData }}" + g.nodes(2) + one("{{ end }}", "{{ else }}none{{ end }}"))
		}
	}
	return b.String()
}

// fleetWithCommonConfigs returns a fleet with the template as config template. The same configs come first for all
// assignments.
func fleetWithCommonConfigs(r *rand.Rand, text string) *fleet.Fleet {
	keys := []string{"a", "A", "a1", "a10", "a2", "0", "-", "a.b", "true", "z_", "b", strings.Repeat("k", 130)}
	if r.IntN(4) == 0 {
		keys = append(keys, "ümlaut", "line\nbreak", "\ufeff")
	}
	texts := []string{
		"", "text", "0x1F", "1.0", "a\n\n", " lead", "- a\n- b\n", "k: v\nl: [1, x]\n", "|", "ümlaut", "null", "'quoted'",
		strings.Repeat("long line ", 20), "{{ .Namespace }}", "<<", "2001-01-01", "- name: n\n  v: 1\n",
		"https://a.b:80/c?d=e",
	}
	config := func(name string, labels map[string]string) *fleet.Config {
		labels[fleet.PlatformConfigLabel] = "true"
		c := &fleet.Config{Meta: fleet.Meta{Name: name, Labels: labels}, Data: map[string]string{}}
		for range r.IntN(5) {
			c.Data[keys[r.IntN(len(keys))]] = texts[r.IntN(len(texts))]
		}
		return c
	}
	f := &fleet.Fleet{
		Environment: "dev",
		ClusterTypes: []*fleet.ClusterType{{
			Meta: fleet.Meta{Name: "large"}, Reconciler: "none", NamespaceService: "none", ConfigType: "config",
		}},
		Policies: []*fleet.SchedulingPolicy{{Meta: fleet.Meta{Name: "all"}}},
		Templates: []*fleet.Template{
			{Meta: fleet.Meta{Name: "config"}, Type: fleet.TemplateConfig, Manifests: []string{text}},
		},
		Configs: []*fleet.Config{config("0", map[string]string{}), config("1", map[string]string{})},
	}
	w := &fleet.Workload{Meta: fleet.Meta{Name: "app"}}
	for i := range 7 {
		w.Targets = append(w.Targets, fleet.Target{Name: fmt.Sprint(i), Environment: "dev"})
		if i > 0 {
			f.Configs = append(f.Configs, config(fmt.Sprint("2-", i), map[string]string{
				fleet.DeploymentTargetLabel: fmt.Sprint("app-", i),
			}))
		}
	}
	f.Workloads = []*fleet.Workload{w}
	return f
}
