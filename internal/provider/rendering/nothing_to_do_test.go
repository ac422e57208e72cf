package rendering_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/protocol"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// planOf plans with a version of the provider. It returns the diagnostics, and whether the plan has changes.
func planOf(p *acc.ProtocolRun, version string, r protocol.Resource, given map[string]any) (text string, changes bool) {
	p.T.Helper()
	plan, ds := p.StartVersion(version).Plan(p.T.Context(), &r, given)
	if plan == nil {
		p.T.Fatalf("plan: %s", ds)
	}
	return ds.String(), plan.Changes()
}

// privateKeys returns the keys of a private state with their values.
func privateKeys(t *testing.T, private []byte) (keys map[string][]byte) {
	t.Helper()
	if err := json.Unmarshal(private, &keys); err != nil {
		t.Fatal(err)
	}
	return keys
}

// withPrivate returns the resource with another value of a key of its private state, or without the key if the value is
// nil.
func withPrivate(t *testing.T, r protocol.Resource, key string, value []byte) protocol.Resource {
	t.Helper()
	keys := privateKeys(t, r.Private)
	keys[key] = value
	if value == nil {
		delete(keys, key)
	}
	private, err := json.Marshal(keys)
	if err != nil {
		t.Fatal(err)
	}
	r.Private = private
	return r
}

const nothingToDoKey = "nothing_to_do"

// A plan reuses the result that the apply has stored only if no input has changed. The test adds a warning to the
// stored result, by which it recognizes the result.
func TestNothingToDoInputs(t *testing.T) {
	t.Parallel()
	repo := gitserver.InitBare(t)
	p := acc.NewRenderingRun(t)
	given := fleetArguments(repo, "one")
	p.Run(given, given)
	var kept map[string]any
	if err := json.Unmarshal(privateKeys(t, p.Resource.Private)[nothingToDoKey], &kept); err != nil {
		t.Fatal(err)
	}
	const mark = "the kept result"
	kept["warnings"] = []map[string]any{{"summary": mark, "detail": "", "path": []any{"manifests", "a.yaml"}}}
	data, err := json.Marshal(kept)
	if err != nil {
		t.Fatal(err)
	}
	marked := withPrivate(t, p.Resource, nothingToDoKey, data)
	with := func(name string, value any) map[string]any {
		changed := maps.Clone(given)
		changed[name] = value
		return changed
	}
	edited := marked
	edited.State = withAttribute(t, marked.State, "tree_hash", tftypes.NewValue(tftypes.String, "0123"))
	for _, tt := range []struct {
		name, version string
		resource      protocol.Resource
		given         map[string]any
		reused        bool
	}{
		{"no change", "test", marked, given, true},
		{"another version of the provider", "next", marked, given, false},
		{"a development build", "dev", marked, given, false},
		{"another config value", "test", marked, fleetArguments(repo, "two"), false},
		{"another guardrail", "test", marked, with("guardrails", map[string]any{"max_removed": "1"}), false},
		{"no delivery argument", "test", marked, with("delivery", nil), false},
		{"an unknown argument", "test", marked, with("promoted_commit", protocol.Unknown), false},
		{"an edited state", "test", edited, given, false},
		{"another delivery", "test", withPrivate(t, marked, "delivery", []byte("another")), given, false},
		{"no private state", "test", withPrivate(t, marked, nothingToDoKey, nil), given, false},
		{"a broken private state", "test", withPrivate(t, marked, nothingToDoKey, []byte(`[1]`)), given, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			q := &acc.ProtocolRun{T: t, Config: p.Config}
			text, changes := planOf(q, tt.version, tt.resource, tt.given)
			if strings.Contains(text, mark) != tt.reused || tt.reused && changes {
				t.Errorf("the plan changes something: %t\n%s", changes, text)
			}
			if tt.reused && !strings.Contains(text, `ElementKeyString("a.yaml")`) {
				t.Errorf("the warning is at another attribute:\n%s", text)
			}
		})
	}
	t.Run("two renderings at one destination", func(t *testing.T) {
		s := p.Start()
		for i, want := range []string{mark, "Overlapping destinations"} {
			one := marked
			if _, ds := s.Plan(t.Context(), &one, given); !strings.Contains(ds.String(), want) {
				t.Errorf("rendering %d: %s", i, ds)
			}
		}
	})
	t.Run("a foreign commit", func(t *testing.T) {
		gitserver.Seed(t, repo, "dev", map[string]string{"theirs.yaml": "a: 1\n"})
		after := marked
		if ds := p.Start().Refresh(t.Context(), &after); ds.HasErrors() {
			t.Fatal(ds)
		}
		if text, changes := planOf(p, "test", after, given); strings.Contains(text, mark) || changes {
			t.Errorf("the plan changes something: %t\n%s", changes, text)
		}
	})
}

// withAttribute returns an object with another value of an attribute.
func withAttribute(t *testing.T, object tftypes.Value, name string, value tftypes.Value) tftypes.Value {
	t.Helper()
	var all map[string]tftypes.Value
	if err := object.As(&all); err != nil {
		t.Fatal(err)
	}
	all = maps.Clone(all)
	all[name] = value
	return tftypes.NewValue(object.Type(), all)
}

// part returns an object in the arguments, at the path of its names.
func part(t *testing.T, given map[string]any, names ...string) map[string]any {
	t.Helper()
	for _, name := range names {
		next, ok := given[name].(map[string]any)
		if !ok {
			t.Fatalf("there is no object %s", name)
		}
		given = next
	}
	return given
}

// A plan that reuses the stored result of the apply has the same warnings, at the same attributes, as a plan that
// renders the fleet.
func TestNothingToDoWarnings(t *testing.T) {
	t.Parallel()
	object := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: same, namespace: same}\n"
	for _, tt := range []struct {
		name   string
		change func(given map[string]any)
		want   string // a text in the warnings; empty if there must be no warning
	}{
		{"no warning", func(map[string]any) {}, ""},
		{"strategy none", func(given map[string]any) {
			given["delivery"] = map[string]any{"strategy": "none"}
		}, ""},
		{"an unscheduled target", func(given map[string]any) {
			given["scheduling_policies"] = nil
			given["guardrails"] = map[string]any{"allow_empty": true}
		}, "shop"},
		{"an unused object in YAML", func(given map[string]any) {
			part(t, given, "manifests")["b.yaml"] = "kind: ConfigMap\napiVersion: v1\nmetadata: {name: b}\n"
		}, "From: manifests"},
		{"an accepted secret in a config", func(given map[string]any) {
			given["manifests"] = fleetArguments("", "ghp_"+strings.Repeat("a1B2", 9))["manifests"]
			given["guardrails"] = map[string]any{"secrets": "warn"}
		}, ""},
		{"an accepted duplicate object", func(given map[string]any) {
			part(t, given, "templates", "r")["manifests"] = []any{object}
			given["workloads"] = map[string]any{"shop": map[string]any{"name": "shop", "deployment_targets": []any{
				map[string]any{"name": "web", "environment": "dev"}, map[string]any{"name": "api", "environment": "dev"},
			}}}
			given["guardrails"] = map[string]any{"duplicate_objects": "warn"}
		}, ""},
		{"too few cluster types", func(given map[string]any) {
			part(t, given, "scheduling_policies", "all")["placement"] = map[string]any{"number_of_cluster_types": 2}
		}, "guardrails.unsatisfied"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := acc.NewRenderingRun(t)
			given := fleetArguments(gitserver.InitBare(t), "one")
			tt.change(given)
			p.Run(given, given)
			if privateKeys(t, p.Resource.Private)[nothingToDoKey] == nil {
				t.Error("the apply did not store that there is nothing to do")
			}
			kept, changes := planOf(p, "test", p.Resource, given)
			rendered, renderedChanges := planOf(p, "test", withPrivate(t, p.Resource, nothingToDoKey, nil), given)
			if diff := cmp.Diff(rendered, kept); diff != "" || changes || renderedChanges {
				t.Errorf("changes %t, rendered %t (-rendered +kept):\n%s", changes, renderedChanges, diff)
			}
			if !strings.Contains(kept, tt.want) || tt.want == "" && kept != "" {
				t.Errorf("%q is not in\n%s", tt.want, kept)
			}
		})
	}
}
