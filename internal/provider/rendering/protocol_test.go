package provider_test

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/gitserver"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/protocol"
)

// TestAccProtocol compares package protocol with Terraform: a rendering has the same plans and the same states when it
// is created, when it is changed, after drift, and with values that are unknown at plan.
func TestAccProtocol(t *testing.T) {
	t.Parallel()
	repo, other := gitserver.InitBare(t), gitserver.InitBare(t)
	r := newRoot(t, map[string]string{"terraform.tf": terraformBlock})
	p := newRenderingRun(t)
	step := func(name, value, planned string) {
		t.Helper()
		known := fleetArguments(repo, value)
		given := maps.Clone(known)
		unknown := fleetArguments(other, value)
		if planned != "" {
			given["promoted_commit"], known["promoted_commit"] = "${terraform_data.commit.output}", planned
			unknown["promoted_commit"] = protocol.Unknown
		}
		r.write("main.tf.json", toJSON(t, map[string]any{"resource": map[string]any{
			"kalypso_environment_rendering": map[string]any{"this": given},
			"terraform_data":                map[string]any{"commit": map[string]any{"input": planned}},
		}}))
		after := fleetArguments(other, value)
		if planned != "" {
			after["promoted_commit"] = planned
		}
		c := r.plan()[renderingAddress]
		r.applyPlan()
		state := r.state()[renderingAddress]
		wantPlan, wantState := map[string]string{}, map[string]string{}
		flattenJSON(wantPlan, "", c.After)
		flattenUnknown(wantPlan, "", c.Unknown)
		flattenJSON(wantState, "", state)
		gotPlan, gotState := p.run(unknown, after)
		for _, lines := range []map[string]string{wantPlan, wantState, gotPlan, gotState} {
			for _, differs := range []string{"gitops_repo.repo", "commit_sha"} { // repos and times differ
				if lines[differs] != "(known after apply)" {
					delete(lines, differs)
				}
			}
		}
		if diff := cmp.Diff(wantPlan, gotPlan); diff != "" {
			t.Errorf("%s: the plan (-Terraform +protocol):\n%s", name, diff)
		}
		if diff := cmp.Diff(wantState, gotState); diff != "" {
			t.Errorf("%s: the state (-Terraform +protocol):\n%s", name, diff)
		}
		if diff := cmp.Diff(gitserver.Tree(t, repo, "dev"), gitserver.Tree(t, other, "dev")); diff != "" {
			t.Errorf("%s: the branch (-Terraform +protocol):\n%s", name, diff)
		}
	}
	step("create", "one", "")
	step("nothing", "one", "")
	step("change", "two", "")
	for _, at := range []string{repo, other} {
		gitserver.Seed(t, at, "dev", map[string]string{"large/shop-web/r.yaml": "theirs\n"})
	}
	step("drift", "two", "")
	step("not known yet", "three", "a1b2")
}

// fleetArguments returns the arguments of a rendering with objects in typed maps and in YAML. value is a config value.
func fleetArguments(repo, value string) map[string]any {
	return map[string]any{
		"environment": "dev", "create_branch": true, "on_drift": "overwrite", "preview": "manifests",
		"gitops_repo": map[string]any{"repo": "file://" + repo, "branch": "dev"},
		"delivery":    map[string]any{"describe": "values"},
		"cluster_types": map[string]any{"large": map[string]any{
			"name": "large", "reconciler": "r", "namespace_service": "n", "config_type": "c",
		}},
		"templates": map[string]any{
			"r": map[string]any{"name": "r", "type": "reconciler", "manifests": []any{"# r: {{ .Namespace }}\n"}},
			"n": map[string]any{"name": "n", "type": "namespace", "manifests": []any{"# n: {{ .Namespace }}\n"}},
			"c": map[string]any{"name": "c", "type": "config", "manifests": []any{"# v: {{ .ConfigData.v }}\n"}},
		},
		"scheduling_policies": map[string]any{"all": map[string]any{
			"name": "all", "deployment_target_selector": map[string]any{"match_all": true},
			"cluster_type_selector": map[string]any{"match_all": true},
		}},
		"workloads": map[string]any{"shop": map[string]any{"name": "shop", "deployment_targets": []any{
			map[string]any{"name": "web", "environment": "dev"},
		}}},
		"manifests": map[string]any{"a.yaml": "kind: ConfigMap\napiVersion: v1\n" +
			"metadata: {name: a, labels: {platform-config: \"true\"}}\ndata: {v: " + value + "}\n"},
	}
}

// protocolRun runs a resource through package protocol.
type protocolRun struct {
	t        *testing.T
	resource protocol.Resource
	config   map[string]any // of the provider
}

// newRenderingRun returns a run of a rendering that does not exist yet.
func newRenderingRun(t *testing.T) *protocolRun {
	return &protocolRun{t: t, resource: protocol.Resource{Type: "kalypso_environment_rendering"}}
}

// start configures the provider, as each command of Terraform does.
func (p *protocolRun) start() *protocol.Session { return p.startVersion("test") }

// startVersion configures a version of the provider.
func (p *protocolRun) startVersion(version string) *protocol.Session {
	p.t.Helper()
	server := provider.NewServer(version)
	schemas, err := protocol.ReadSchemas(p.t.Context(), server)
	if err != nil {
		p.t.Fatal(err)
	}
	s, ds, err := schemas.Start(p.t.Context(), server, p.config)
	if err != nil || ds.HasErrors() {
		p.t.Fatalf("%v\n%s", err, ds)
	}
	return s
}

// run refreshes, plans and applies, and returns the plan and the state.
func (p *protocolRun) run(planned, known map[string]any) (plan, state map[string]string) {
	p.t.Helper()
	s := p.start()
	if ds, err := s.Refresh(p.t.Context(), &p.resource); err != nil || ds.HasErrors() {
		p.t.Fatalf("refresh: %v\n%s", err, ds)
	}
	made, ds, err := s.Plan(p.t.Context(), &p.resource, planned)
	if err != nil || made == nil {
		p.t.Fatalf("plan: %v\n%s", err, ds)
	}
	if made.Changes() {
		p.apply(made, known)
	}
	return protocol.Lines(made.Planned), protocol.Lines(p.resource.State)
}

// apply applies a plan.
func (p *protocolRun) apply(made *protocol.Plan, known map[string]any) {
	p.t.Helper()
	after, ds, err := p.start().Apply(p.t.Context(), made, known)
	if err != nil || ds.HasErrors() {
		p.t.Fatalf("apply: %v\n%s", err, ds)
	}
	p.resource = *after
}

// destroy plans and applies a destroy.
func (p *protocolRun) destroy() {
	p.t.Helper()
	made, ds, err := p.start().Plan(p.t.Context(), &p.resource, nil)
	if err != nil || ds.HasErrors() {
		p.t.Fatalf("plan of a destroy: %v\n%s", err, ds)
	}
	p.apply(made, nil)
}

// tryRun plans and applies a new resource, and returns the diagnostics.
func (p *protocolRun) tryRun(given map[string]any) (applied bool, ds protocol.Diagnostics) {
	p.t.Helper()
	made, ds, err := p.start().Plan(p.t.Context(), &p.resource, given)
	if err != nil || made == nil {
		return false, ds
	}
	_, ds, err = p.start().Apply(p.t.Context(), made, given)
	return err == nil, ds
}

// flattenJSON adds the leaves of a value in the form of [protocol.Lines].
func flattenJSON(all map[string]string, at string, v any) {
	name := strings.TrimPrefix(at, ".")
	switch v := v.(type) {
	case nil:
	case map[string]any:
		if len(v) == 0 {
			all[name] = "{}"
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			flattenJSON(all, at+"."+key, v[key])
		}
	case []any:
		if len(v) == 0 {
			all[name] = "[]"
		}
		for i, part := range v {
			flattenJSON(all, at+"["+strconv.Itoa(i)+"]", part)
		}
	case string:
		all[name] = strconv.Quote(v)
	case bool:
		all[name] = strconv.FormatBool(v)
	case float64:
		all[name] = strconv.FormatFloat(v, 'g', -1, 64)
	}
}

// flattenUnknown adds the unknown values of a plan.
func flattenUnknown(all map[string]string, at string, v any) {
	switch v := v.(type) {
	case bool:
		if v {
			all[strings.TrimPrefix(at, ".")] = "(known after apply)"
		}
	case map[string]any:
		for key, part := range v {
			flattenUnknown(all, at+"."+key, part)
		}
	case []any:
		for i, part := range v {
			flattenUnknown(all, at+"["+strconv.Itoa(i)+"]", part)
		}
	}
}
