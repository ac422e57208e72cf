package configure_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/configure"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule/placement"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/seeds"
)

// TestConfigsApplyByLabels compares the configs and secrets of each assignment of random fleets with a plain check of
// each label of each config.
func TestConfigsApplyByLabels(t *testing.T) {
	for seed := range seeds.Of(t, 60, 60) {
		r := rand.New(rand.NewPCG(seed, 1))
		one := func(of ...string) string { return of[r.IntN(len(of))] }
		labels := func() map[string]string {
			l := map[string]string{}
			for range r.IntN(4) {
				l[one("a", "b", "c", "d")] = one("1", "2", "")
			}
			return l
		}
		f := &fleet.Fleet{Environment: "dev", Policies: []*fleet.SchedulingPolicy{{Meta: fleet.Meta{Name: "all"}}}}
		for i := range 5 {
			f.ClusterTypes = append(
				f.ClusterTypes,
				&fleet.ClusterType{Meta: fleet.Meta{Name: fmt.Sprint("ct", i), Labels: labels()}},
			)
			w := &fleet.Workload{Meta: fleet.Meta{Name: fmt.Sprint("w", i), Labels: labels()}}
			for j := range 2 {
				w.Targets = append(w.Targets, fleet.Target{Name: fmt.Sprint("t", j), Environment: "dev", Labels: labels()})
			}
			f.Workloads = append(f.Workloads, w)
		}
		for i := range 40 {
			l := labels()
			if r.IntN(3) == 0 {
				l[fleet.ClusterTypeLabel] = one("ct0", "ct1", "")
			}
			if r.IntN(3) == 0 {
				l[fleet.DeploymentTargetLabel] = one("w0-t0", "w1-t1")
			}
			if r.IntN(3) == 0 {
				l[fleet.WorkloadLabel] = one("w0", "w2", "w3")
			}
			l[fleet.PlatformConfigLabel] = one("true", "true", "true", "false")
			l[fleet.FluxOwnerLabel] = "owner"
			f.Configs = append(
				f.Configs,
				&fleet.Config{
					Meta: fleet.Meta{Name: fmt.Sprintf("%02d", i), Labels: l},
					Data: map[string]string{"L": fmt.Sprintf("[c%02d]", i)},
				},
			)
			f.Secrets = append(f.Secrets, &fleet.Secret{
				Meta: fleet.Meta{Name: fmt.Sprintf("%02d", i), Labels: l},
				Data: map[string]fleet.SecretReference{"S": {Store: "vault", Key: fmt.Sprintf("c%02d", i)}},
			})
		}
		s, problems := schedule.New(t.Context(), f, placement.PriorResults{})
		c, ps := configure.New(t.Context(), f, s)
		if err := append(problems, ps...).Err(); err != nil {
			t.Fatal(err)
		}
		for i, p := range s.Placements {
			for n := range p.Assignments {
				a := &p.Assignments[n]
				var want, got []string
				var values []any
				for _, config := range f.Configs {
					if config.Labels[fleet.PlatformConfigLabel] == "true" && applies(config.Labels, a) {
						want = append(want, config.Name)
						values = append(values, "c"+config.Name)
					}
				}
				found := c.Of(i, n).Values
				for _, config := range found.Objects {
					got = append(got, config.Metadata().Name)
				}
				list, _ := found.Merge().Data["L"].([]any)
				if d := cmp.Diff(want, got) + cmp.Diff(values, list); d != "" {
					t.Fatalf("seed %d: configs of %s (-want +got):\n%s", seed, a.Namespace, d)
				}
				want, got = nil, nil
				for _, secret := range f.Secrets {
					if applies(secret.Labels, a) {
						want = append(want, secret.Name)
					}
				}
				references := c.Of(i, n).Secrets
				for _, secret := range references.Objects {
					got = append(got, secret.Metadata().Name)
				}
				if d := cmp.Diff(want, got); d != "" {
					t.Fatalf("seed %d: secrets of %s (-want +got):\n%s", seed, a.Namespace, d)
				}
			}
		}
	}
}

func applies(labels map[string]string, a *schedule.Assignment) bool {
	for k, v := range labels {
		contains := true
		switch k {
		case fleet.PlatformConfigLabel, fleet.FluxOwnerLabel, fleet.FluxNamespaceLabel:
		case fleet.ClusterTypeLabel:
			contains = v == a.ClusterType.Name
		case fleet.DeploymentTargetLabel:
			contains = v == a.Target.Name
		case fleet.WorkloadLabel:
			contains = v == a.Target.Workload.Name
		default:
			contains = a.ClusterType.Labels[k] == v || a.Target.Labels[k] == v
		}
		if !contains {
			return false
		}
	}
	return true
}

// oneAssignment returns the values and the schemas of the only assignment of a fleet with these configs and schemas.
func oneAssignment(t *testing.T, configs []*fleet.Config, schemas ...string) (configure.Merged, []configure.Violation) {
	t.Helper()
	f := &fleet.Fleet{
		Environment:  "dev",
		ClusterTypes: []*fleet.ClusterType{{Meta: fleet.Meta{Name: "large", Labels: map[string]string{"region": "west"}}}},
		Policies:     []*fleet.SchedulingPolicy{{Meta: fleet.Meta{Name: "all"}}},
		Configs:      configs,
		Workloads: []*fleet.Workload{{Meta: fleet.Meta{Name: "app"}, Targets: []fleet.Target{
			{Name: "test", Environment: "dev", ConfigSchemas: schemas},
		}}},
	}
	s, _ := schedule.New(t.Context(), f, placement.PriorResults{})
	c, problems := configure.New(t.Context(), f, s)
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	configured := c.Of(0, 0)
	merged := configured.Values.Merge()
	return merged, configured.Violations(merged)
}

// TestUnknownValues checks which keys of the values are unknown.
func TestUnknownValues(t *testing.T) {
	platform := func(name string, data map[string]string, labels ...string) *fleet.Config {
		l := map[string]string{fleet.PlatformConfigLabel: "true"}
		for i := 0; i < len(labels); i += 2 {
			l[labels[i]] = labels[i+1]
		}
		return &fleet.Config{Meta: fleet.Meta{Name: name, Labels: l}, Data: data}
	}
	type data = map[string]string
	tests := []struct {
		name    string
		configs []*fleet.Config
		want    []string
	}{
		{"unknown value", []*fleet.Config{platform("1", data{"A": unknown.Text, "B": "b"})}, []string{"A"}},
		{
			"unknown value, then text",
			[]*fleet.Config{platform("1", data{"A": unknown.Text}), platform("2", data{"A": "a"})},
			nil,
		},
		{
			"unknown value, then a map",
			[]*fleet.Config{platform("1", data{"A": unknown.Text}), platform("2", data{"A": "{a: 1}"})},
			[]string{"A"},
		},
		{
			"text, then an unknown value",
			[]*fleet.Config{platform("1", data{"A": "a"}), platform("2", data{"A": unknown.Text})},
			[]string{"A"},
		},
		{
			"unknown value in a config that does not apply",
			[]*fleet.Config{platform("1", data{"A": unknown.Text}, "region", "east")},
			nil,
		},
		{
			"unknown label of a config",
			[]*fleet.Config{platform("1", data{"A": "a"}, "size", unknown.Text), platform("2", data{"B": "b"})},
			[]string{"A"},
		},
		{
			"unknown label of a config that another label excludes",
			[]*fleet.Config{platform("1", data{"A": "a"}, "size", unknown.Text, "region", "east")},
			nil,
		},
		{
			"unknown label of a config, then text",
			[]*fleet.Config{platform("1", data{"A": "a"}, "size", unknown.Text), platform("2", data{"A": "b"})},
			nil,
		},
		{
			"unknown platform-config label",
			[]*fleet.Config{platform("1", data{"A": "a"}, fleet.PlatformConfigLabel, unknown.Text)},
			[]string{"A"},
		},
		{
			"unknown label of a ConfigMap that is no platform config",
			[]*fleet.Config{platform("1", data{"A": "a"}, fleet.PlatformConfigLabel, "false", "size", unknown.Text)},
			nil,
		},
		{"unknown key", []*fleet.Config{platform("1", data{unknown.Text: "a", "B": "b"})}, []string{unknown.Text}},
		{"unknown key and value", []*fleet.Config{platform("1", data{unknown.Text: unknown.Text})}, []string{unknown.Text}},
		{"unknown name of a config", []*fleet.Config{platform(unknown.Text, data{"A": "a"}, "region", "east")},
			[]string{unknown.Text}},
		{
			"unknown values of an azure-app-config",
			[]*fleet.Config{
				{
					Meta: fleet.Meta{Name: "azure-app-config"},
					Data: data{"region.west.A": unknown.Text, "region.east.B": unknown.Text},
				},
			},
			[]string{"A"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			merged, _ := oneAssignment(t, tt.configs)
			if d := cmp.Diff(tt.want, slices.Sorted(maps.Keys(merged.Unknown))); d != "" {
				t.Errorf("unknown keys (-want +got):\n%s", d)
			}
		})
	}
}

// TestCheck validates values by a schema. A string that looks like a number is validated as a number, even if it is
// quoted, but not if it is nested in a map or list.
func TestCheck(t *testing.T) {
	values := map[string]string{
		"PORT":   "8080",
		"RATIO":  "1e-3",
		"NAME":   "app",
		"FLAG":   "true",
		"ZERO":   "007",
		"QUOTED": "'12'",
		"NAN":    "NaN",
		"BIG":    "12345678901234567890",
		"MAP":    "{port: 5432, text: '5', inf: .inf}",
		"LIST":   "[1, two]",
		"HUGE":   "12345678901234567890123",
		"HUGES":  "[12345678901234567890123]",
	}
	tests := []struct {
		name, schema string
		want         []string
	}{
		{"numbers", `{"properties": {"PORT": {"type": "integer", "minimum": 8080}, "RATIO": {"type": "number"}, "ZERO": ` +
			`{"const": 7}, "QUOTED": {"type": "integer"}, "BIG": {"type": "number"}}}`, nil},
		{"integers beyond 64 bits", `{"properties": {"HUGE": {"type": "integer", "const": 12345678901234567890123}, ` +
			`"HUGES": {"items": {"type": "integer", "maximum": 12345678901234567890122}}}}`,
			[]string{"HUGES.0: maximum: got 1.2345678901234568×10²², want 1.2345678901234568×10²²"}},
		{"text", `{"properties": {"NAME": {"type": "string"}, "FLAG": {"type": "string"}, "NAN": {"type": "string"}}}`, nil},
		{"quoted number in a map", `{"properties": {"MAP": {"properties": {"port": {"type": "integer"}, "text": {"type": ` +
			`"string"}}}, "LIST": {"type": "array"}}}`, nil},
		{"all offending keys, sorted", `{"required": ["HOST", "USER"], "properties": {"PORT": {"type": "string"}, "NAME": ` +
			`{"pattern": "^b", "maxLength": 2}, "MAP": {"required": ["host"], "properties": {"port": {"maximum": 1024}}}}}`,
			[]string{"MAP.port: maximum: got 5,432, want 1,024", "MAP: missing property 'host'",
				"NAME: 'app' does not match pattern '^b'", "NAME: maxLength: got 3, want 2", "PORT: got number, want string",
				"the values: missing properties 'HOST', 'USER'"}},
		{"additional properties",
			`{"properties": {"PORT": {}}, "patternProperties": {"^[A-LN-Z]": {}}, "additionalProperties": ` +
				`false}`, []string{"the values: additional properties 'MAP' not allowed"}},
		{"a schema that refers to itself", `{"$ref": "#"}`, []string{`the values: both /$ref and  resolve to ` +
			`"schema:///schema.json#" causing reference cycle`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, violations := oneAssignment(t,
				[]*fleet.Config{
					{Meta: fleet.Meta{Name: "c", Labels: map[string]string{fleet.PlatformConfigLabel: "true"}}, Data: values},
				},
				tt.schema,
			)
			var got []string
			for _, o := range violations {
				if o.Object.Metadata().Name != "app" {
					t.Errorf("the violation is reported for %v", o.Object)
				}
				got = append(got, o.Keys...)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("violations (-want +got):\n%s", d)
			}
		})
	}
}

func TestCheckSchema(t *testing.T) {
	tests := []struct{ schema, want string }{
		{`{}`, ""},
		{`true`, ""},
		{`{"type": "object"}`, ""},
		{`{"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": {"p": {"type": "integer"}}, "properties": ` +
			`{"a": {"$ref": "#/$defs/p"}}}`, ""},
		{`{"$id": "https://example.com/a.json", "definitions": {"x": {}}, "properties": {"a": {"$ref": ` +
			`"a.json#/definitions/x"}}}`, ""},
		{``, "not valid JSON"},
		{`{`, "not valid JSON"},
		{`type: object`, "not valid JSON"},
		{`{} {}`, "not valid JSON"},
		{`3`, "not a valid JSON Schema"},
		{`[]`, "not a valid JSON Schema"},
		{`null`, "not a valid JSON Schema"},
		{
			`{"type": "strange"}`,
			"not a valid JSON Schema",
		},
		{`{"properties": {"a": {"minimum": "x"}}}`, "properties.a.minimum: got string, want number"},
		{`{"properties": {"a": {"pattern": "("}}}`, "not valid regex"},
		{`{"$ref": "#/definitions/none"}`, "not found"},
		{
			`{"$ref": "https://example.com/s.json"}`,
			"outside",
		},
		{`{"$ref": "file:///etc/passwd"}`, "outside"},
		{`{"$ref": "other.json"}`, "outside"},
		{`{"$schema": "https://example.com/schema"}`, "outside"},
	}
	for _, tt := range tests {
		err := configure.CheckSchema(tt.schema)
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("%s: %v", tt.schema, err)
		case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%s: %v, want an error that contains %q", tt.schema, err, tt.want)
		}
	}
}

// TestSharedValues checks that Shared is known before the values are merged: it is true if several assignments have the
// same values.
func TestSharedValues(t *testing.T) {
	platform := func(name string, labels map[string]string) *fleet.Config {
		labels[fleet.PlatformConfigLabel] = "true"
		return &fleet.Config{Meta: fleet.Meta{Name: name, Labels: labels}, Data: map[string]string{"K": name}}
	}
	f := &fleet.Fleet{
		Environment:  "dev",
		ClusterTypes: []*fleet.ClusterType{{Meta: fleet.Meta{Name: "large"}}, {Meta: fleet.Meta{Name: "small"}}},
		Policies:     []*fleet.SchedulingPolicy{{Meta: fleet.Meta{Name: "all"}}},
		Configs: []*fleet.Config{
			platform("1", map[string]string{}),
			platform("2", map[string]string{fleet.ClusterTypeLabel: "small", fleet.DeploymentTargetLabel: "app-b"}),
		},
		Workloads: []*fleet.Workload{{Meta: fleet.Meta{Name: "app"}, Targets: []fleet.Target{
			{Name: "a", Environment: "dev"}, {Name: "b", Environment: "dev"},
		}}},
	}
	s, _ := schedule.New(t.Context(), f, placement.PriorResults{})
	c, problems := configure.New(t.Context(), f, s)
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	first, own := c.Of(0, 0).Values, c.Of(1, 1).Values
	if !first.Shared || c.Of(0, 1).Values != first || c.Of(1, 0).Values != first {
		t.Error("three assignments do not share their values")
	}
	if own.Shared || own == first {
		t.Error("the values of only one assignment are reported as shared")
	}
}

// TestSharedBaseValues configures random assignments that share configs, and each of them alone. The values and the
// violations of schemas must be the same.
func TestSharedBaseValues(t *testing.T) {
	schemas := []string{
		`{"required": ["A"]}`, `{"properties": {"A": {"type": "object"}, "B": {"minimum": 3}}}`,
		`{"minProperties": 3}`, `{"maxProperties": 2}`, `{"additionalProperties": {"type": "number"}}`,
		`{"propertyNames": {"enum": ["A", "B"]}}`, `{"patternProperties": {"[AC]": {"minLength": 3}}}`,
		`{"not": {"required": ["A", "B"]}}`, `{"if": {"required": ["C"]}, "then": {"required": ["D"]}}`,
		`{"dependencies": {"A": ["B"]}}`, `{"enum": [{}]}`, `{"anyOf": [{"required": ["A"]}, {"required": ["B"]}]}`, `false`,
	}
	texts := []string{
		"", "1", "5", "text", "a: 1\nb: [x]\n", "b: {c: 2}\n", "- name: n\n  v: 1\n", "- name: n\n  w: 2\n- name: m\n",
		unknown.Text,
	}
	withBase, invalid := 0, 0
	for seed := range seeds.Of(t, 300, 3000) {
		r := rand.New(rand.NewPCG(seed, 5))
		w := &fleet.Workload{Meta: fleet.Meta{Name: "app"}}
		var configs []*fleet.Config
		for i := range 12 {
			labels := map[string]string{fleet.PlatformConfigLabel: "true"}
			if i > 2 {
				labels[fleet.DeploymentTargetLabel] = fmt.Sprint("app-", r.IntN(4))
			}
			if r.IntN(20) == 0 {
				labels["size"] = unknown.Text
			}
			data := map[string]string{}
			for range r.IntN(4) {
				data[string(rune('A'+r.IntN(4)))] = texts[r.IntN(len(texts)-r.IntN(2))]
			}
			configs = append(configs, &fleet.Config{Meta: fleet.Meta{Name: fmt.Sprint(100 + i), Labels: labels}, Data: data})
		}
		configs = append(configs, &fleet.Config{Meta: fleet.Meta{Name: "azure-app-config"}, Data: map[string]string{
			"n.0.A": "zero", "n.1.A": "one", "size.big.B": "big", "C": "all",
		}})
		for i := range 4 {
			w.Targets = append(w.Targets, fleet.Target{
				Name: fmt.Sprint(i), Environment: "dev", ConfigSchemas: schemas[r.IntN(len(schemas)):],
				Labels: map[string]string{"n": fmt.Sprint(r.IntN(2)), "size": []string{"big", "small", unknown.Text}[r.IntN(3)]},
			})
		}
		configured := func(targets ...fleet.Target) *configure.Configuration {
			alone := *w
			alone.Targets = targets
			f := &fleet.Fleet{
				Environment:  "dev",
				ClusterTypes: []*fleet.ClusterType{{Meta: fleet.Meta{Name: "large"}}},
				Policies:     []*fleet.SchedulingPolicy{{Meta: fleet.Meta{Name: "all"}}},
				Configs:      slices.Clone(configs), Workloads: []*fleet.Workload{&alone},
			}
			s, _ := schedule.New(t.Context(), f, placement.PriorResults{})
			c, problems := configure.New(t.Context(), f, s)
			if err := problems.Err(); err != nil {
				t.Fatal(err)
			}
			return c
		}
		together := configured(w.Targets...)
		for i, target := range w.Targets {
			got, want := together.Of(0, i), configured(target).Of(0, 0)
			merged, alone := got.Values.Merge(), want.Values.Merge()
			violations := got.Violations(merged)
			if merged.Base != nil {
				withBase++
				invalid += min(len(violations), 1)
			}
			merged.Base, merged.Own = nil, nil
			if d := cmp.Diff(alone, merged, cmpopts.EquateEmpty()); d != "" {
				t.Errorf("seed %d, target %d: values configured alone and together (-want +got):\n%s", seed, i, d)
			}
			texts := func(all []configure.Violation) (texts []string) {
				for _, v := range all {
					texts = append(texts, fmt.Sprint(v.Schema, v.Keys))
				}
				return texts
			}
			if d := cmp.Diff(texts(want.Violations(alone)), texts(violations)); d != "" {
				t.Errorf("seed %d, target %d: violations configured alone and together (-want +got):\n%s", seed, i, d)
			}
		}
	}
	if !seeds.Single() && (withBase < 500 || invalid < 100) {
		t.Errorf("%d values have a base, %d of them are invalid: too few to test the base", withBase, invalid)
	}
}
