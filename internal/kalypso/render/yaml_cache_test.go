package render

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/configure"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/seeds"
)

// yamlKeys are keys that are difficult to order: the YAML library orders them by the numbers in them, and puts letters
// after other characters.
var yamlKeys = []string{
	"", " ", "a", "a b", "a:b", "a#b", "'", `\`, ",a", "[a", "{}", "&a", "*a", "!a", "|", "?", ":", "-", "--", "-a", "+",
	".", "..", ".a", "/a", "_a", "<", "<<", "=", "~", "$a", "(a)", ";", "^", "0", "00", "7", "08", "017", "1.", "1.5",
	"1..5", "10.0.0.1", "1e3", "0x1F", "1_000", "12:30", "500m", "2Gi", "2001-02-03", "nan", "true", "null", "y",
	"a1", "a2", "a10", "a01", "a001", "a1b", "a1_", "a1-b", "a_b", "A_B", "AB", "aB", "a-10", "a-9", "a.10", "a0", "a00",
	"a1.b", "a1.0", "1a", "1b", "a" + strings.Repeat("9", 30), "a" + strings.Repeat("9", 31), strings.Repeat("x", 129),
}

// TestYAMLCache prints each pair of keys, and all keys, entry by entry. The result must be the same as the library's.
func TestYAMLCache(t *testing.T) {
	c := newYAMLCache(toYAML)
	check := func(data map[string]any) {
		want, err := toYAML(data)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := c.marshal(data); err != nil || got != want {
			t.Errorf("%q gives %q, %v; want %q", data, got, err, want)
		}
	}
	all := map[string]any{}
	for _, a := range yamlKeys {
		all[a] = []any{a, map[string]any{"b": a}}
		for _, b := range yamlKeys {
			check(map[string]any{a: "first", b: map[string]any{"c": "second"}})
		}
	}
	check(all)
}

func newYAMLCache(write func(any) (string, error)) *yamlCache {
	return &yamlCache{executor: newExecutor(fleet.DefaultLimits.FileSize), write: write}
}

// TestYAMLCacheKeepsEntries counts how often entries are written. An entry with the same value in memory is written
// once, unless the template may have changed it.
func TestYAMLCacheKeepsEntries(t *testing.T) {
	written := 0
	c := newYAMLCache(func(v any) (string, error) {
		written++
		return toYAML(v)
	})
	nested, list := map[string]any{"a": "b"}, []any{"a", "b"}
	expect := func(data map[string]any, want string, writes int) {
		t.Helper()
		written = 0
		if got, err := c.marshal(data); err != nil || got != want || written != writes {
			t.Errorf("%q gives %q, %v, with %d writes; want %q with %d", data, got, err, written, want, writes)
		}
	}
	expect(map[string]any{"k": "v", "m": nested, "l": list}, "k: v\nl:\n    - a\n    - b\nm:\n    a: b", 3)
	expect(map[string]any{"k": "v", "m": nested, "l": list}, "k: v\nl:\n    - a\n    - b\nm:\n    a: b", 0)
	expect(map[string]any{"k": "w", "m": nested, "l": list[:1]}, "k: w\nl:\n    - a\nm:\n    a: b", 2)
	expect(map[string]any{"k": 1, "o": nil}, "k: 1\no: null", 2)
	expect(map[string]any{"k": 1, "o": nil}, "k: 1\no: null", 2)
	c.executor.mutates, nested["a"] = true, "c"
	expect(map[string]any{"k": "v", "m": nested}, "k: v\nm:\n    a: c", 1)
	c.executor.mutates, c.size = false, maxCachedBytes+1
	expect(map[string]any{"k": "v", "m": nested}, "k: v\nm:\n    a: c", 2)
}

// TestRenderingCommonValues renders random templates for assignments with many common values, whose YAML is kept. The
// result must be the same as text/template renders for all values.
func TestRenderingCommonValues(t *testing.T) {
	printed := 0
	for seed := range seeds.Of(t, 200, 2000) {
		r := rand.New(rand.NewPCG(seed, 11))
		text := templateOfEntries(r)
		f := fleetWithCommonConfigs(r, text)
		s, _ := schedule.New(t.Context(), f)
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
			merged := config.Of(0, n).Values.Merge()
			n++
			want, wantErr := renderWhole(text, Data{
				Namespace: a.Namespace, ConfigData: merged.Data, ClusterType: a.ClusterType.Name,
			})
			if failed := len(result.Failures) > 0; failed != (wantErr != nil) {
				t.Errorf("seed %d: %q on %s gives %v, want the error %v", seed, text, a.Target.Name, result, wantErr)
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
			if merged.Base != nil && got != "" {
				printed++
			}
		}
	}
	if !seeds.Single() && printed < 300 {
		t.Errorf("%d results of values with a base: too few to test them", printed)
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
			fmt.Fprintf(&b, "{{- %s .ConfigData | %s %d -}}\n", function, one("indent", "nindent"), r.IntN(5))
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
