package fleet_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet/fleetyaml"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// TestValidateReferences: a missing template is one problem, which lists the cluster types that name it: with snake
// case names for HCL, and camel case names for YAML.
func TestValidateReferences(t *testing.T) {
	t.Parallel()
	hcl := func(name string) fleet.Meta {
		return fleet.Meta{Name: name, Origin: problem.Origin{Attribute: "cluster_types", Key: name}}
	}
	yaml := func(name string) fleet.Meta {
		return fleet.Meta{Name: name, Origin: problem.Origin{Key: name + ".yaml", Document: 1, Line: 1}}
	}
	f := &fleet.Fleet{
		Environment: "dev",
		Templates:   []*fleet.Template{{Meta: hcl("flux"), Type: "reconciler"}},
		ClusterTypes: []*fleet.ClusterType{
			{Meta: hcl("large"), Reconciler: "gone", NamespaceService: "gone", ConfigType: "flux"},
			{Meta: yaml("small"), Reconciler: "flux", NamespaceService: "gone", ConfigType: "lost", SecretType: "flux"},
			{Meta: yaml("tiny"), Reconciler: "flux", NamespaceService: "flux", ConfigType: unknown.Text},
		},
	}
	const missing = `Missing template: The template "%s" does not exist. These cluster types name it:`
	for assigned, want := range map[string][]string{
		"": {
			`warning ClusterType "large" from cluster_types["large"]: ` + fmt.Sprintf(missing, "gone") + `
  large: reconciler, namespace_service
  small: namespaceService
Add it, or use one of: "flux". Nothing is assigned to these cluster types. Once something is, this is an error.`,
			`warning ClusterType "large" from cluster_types["large"]: Wrong template type: config_type names the template ` +
				`"flux", whose type is "reconciler" instead of "config".`,
			`warning ClusterType "small" from small.yaml, document 1, line 1: ` + fmt.Sprintf(missing, "lost") + `
  small: configType
Add it, or use one of: "flux". Nothing is assigned to these cluster types. Once something is, this is an error.`,
			`warning ClusterType "small" from small.yaml, document 1, line 1: Wrong template type: secretType names the ` +
				`template "flux", whose type is "reconciler" instead of "secret".`,
			`warning ClusterType "tiny" from tiny.yaml, document 1, line 1: Wrong template type: namespaceService names the ` +
				`template "flux", whose type is "reconciler" instead of "namespace".`,
		},
		"large": {
			`error ClusterType "large" from cluster_types["large"]: ` + fmt.Sprintf(missing, "gone") + `
  large: reconciler, namespace_service
  small: namespaceService
Add it, or use one of: "flux".`,
		},
	} {
		var got []string
		for _, p := range f.ValidateReferences(func(ct *fleet.ClusterType) bool { return ct.Name == assigned }) {
			severity := map[problem.Severity]string{problem.Error: "error", problem.Warning: "warning"}[p.Severity]
			if assigned == "" || p.Severity == problem.Error {
				got = append(got, severity+" "+p.Error())
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("with an assignment to %q (-want +got):\n%s", assigned, diff)
		}
	}
}

// TestYAMLPath: a problem of a document gives the path of the field in the YAML.
func TestYAMLPath(t *testing.T) {
	t.Parallel()
	f := fleet.Fleet{Environment: "dev"}
	objects, _, problems := fleetyaml.Parse(t.Context(), problem.Origin{Key: "fleet.yaml"}, strings.Join([]string{
		`{apiVersion: scheduler.kalypso.io/v1alpha1, kind: ClusterType, metadata: {name: "no name", labels: {a b: c}}, ` +
			`spec: {reconciler: r}}`,
		`{apiVersion: scheduler.kalypso.io/v1alpha1, kind: Workload, metadata: {name: app}, spec: {deploymentTargets: ` +
			`[{name: a, environment: dev, labels: {x: " "}}]}}`,
		`{apiVersion: scheduler.kalypso.io/v1alpha1, kind: SchedulingPolicy, metadata: {name: p}, spec: ` +
			`{clusterTypeSelector: {labelSelector: {matchExpressions: [{key: k, operator: In}]}}, deploymentTargetSelector: ` +
			`{workspace: " "}}}`,
		`{apiVersion: scheduler.kalypso.io/v1alpha1, kind: Template, metadata: {name: t}, spec: {type: reconciler, ` +
			`contentType: txt}}`,
		`{apiVersion: scheduler.kalypso.io/v1alpha1, kind: PlatformSecret, metadata: {name: s}, spec: ` +
			`{data: {A: {store: v}}}}`,
		`{apiVersion: v1, kind: ConfigMap, metadata: {name: c, labels: {platform-config: "true"}}, data: {a/b: c}}`,
	}, "\n---\n"))
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	f.Add(objects...)
	var got []string
	for _, p := range f.Validate(t.Context()) {
		got = append(got, fleet.YAMLPath(p)+": "+p.Summary)
	}
	if diff := cmp.Diff([]string{
		`metadata.labels["a b"]: Invalid label key`,
		"metadata.name: Invalid name",
		"spec.namespaceService: Missing namespaceService",
		`data["a/b"]: Invalid config key`,
		`spec.data["A"].key: Missing key`,
		"spec.clusterTypeSelector.labelSelector.matchExpressions[0].values: Invalid selector requirement",
		"spec.deploymentTargetSelector.workspace: Invalid workspace",
		`spec.deploymentTargets[0].labels["x"]: Invalid value of label "x"`,
		"spec.contentType: Unknown contentType",
	}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestCheckEnvironment: an environment that no workload names causes a warning, which lists the environments that
// workloads name.
func TestCheckEnvironment(t *testing.T) {
	t.Parallel()
	f := &fleet.Fleet{Environment: "dve", Workloads: []*fleet.Workload{
		{
			Targets: []fleet.Target{{Name: "a", Environment: "stage"}, {Name: "b", Environment: "dev"}},
		},
		{Targets: []fleet.Target{{Name: "c", Environment: "dev"}}},
	}}
	want := `Environment that no workload names: No workload has a deployment target for environment "dve". ` +
		`Workloads name these environments:
  dev
  stage
Check the spelling, or add targets.`
	if ps := f.CheckEnvironment(); len(ps) != 1 || ps[0].Severity != problem.Warning || ps[0].Error() != want {
		t.Errorf("%v", ps)
	}
	for _, f := range []*fleet.Fleet{
		{Environment: "dev", Workloads: f.Workloads}, {Environment: "dve"},
		{Environment: unknown.Text, Workloads: f.Workloads},
		{Environment: "dve", Workloads: []*fleet.Workload{{Targets: []fleet.Target{{Environment: unknown.Text},
			{Environment: "dev"}}}}},
	} {
		if ps := f.CheckEnvironment(); len(ps) > 0 {
			t.Errorf("%v", ps)
		}
	}
}
