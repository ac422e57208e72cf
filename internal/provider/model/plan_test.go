package model_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
)

// If a value is unknown at plan, only the manifest of its object is unknown too. After the apply, all manifests are
// known and the plan is empty.
func TestAccModelUnknown(t *testing.T) {
	t.Parallel()
	r := acc.NewRootFrom(t, "testdata/TestAccModelUnknown")
	const known = "kalypso_cluster_type.known"
	r.OutputManifests([]string{
		known, "kalypso_cluster_type.test", "kalypso_template.test", "kalypso_config.test", "kalypso_config.azure",
		"kalypso_config_schema.test", "kalypso_secret.test", "kalypso_secret.element", "kalypso_scheduling_policy.test",
		"kalypso_workload.test", "kalypso_workload_registration.test",
	})
	r.Plan()
	want := map[string]string{known: acc.ReadFile(t, "testdata/TestAccModelUnknown/known.yaml")}
	if diff := cmp.Diff(want, plannedManifests(r)); diff != "" {
		t.Errorf("known manifests (-want +got):\n%s", diff)
	}
	r.ApplyPlan()
	r.ExpectEmptyPlan()
	manifests := manifestsOf(r)
	for address, want := range map[string]string{
		"kalypso_workload.test": acc.ReadFile(t, "testdata/TestAccModelUnknown/workload.yaml"),
		"kalypso_config.azure":  "apiVersion: v1\ndata:\n  a.b.c: d\nkind: ConfigMap\nmetadata:\n  name: azure-app-config\n",
	} {
		if diff := cmp.Diff(want, manifests[address]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", address, diff)
		}
	}
}

// A selector from a null or empty variable is an error and never selects everything.
func TestAccNullVariableSelectsNothing(t *testing.T) {
	t.Parallel()
	r := acc.NewRootFrom(t, "testdata/TestAccNullVariableSelectsNothing")
	set := func(cases map[string]any) {
		r.Write("terraform.tfvars.json", acc.ToJSON(t, map[string]any{"cases": cases}))
	}
	set(map[string]any{
		"null":  map[string]any{},
		"empty": map[string]any{"labels": map[string]any{}},
		"both":  map[string]any{"everything": true, "labels": map[string]any{"a": "b"}},
	})
	r.ExpectErrors(map[string][]string{
		`kalypso_scheduling_policy.test["null"]`:  {"Selector selects everything"},
		`kalypso_scheduling_policy.test["empty"]`: {"Selector selects everything"},
		`kalypso_scheduling_policy.test["both"]`:  {"Contradictory selector"},
	}, "plan", "-no-color")
	set(map[string]any{
		"everything": map[string]any{"everything": true},
		"labels":     map[string]any{"labels": map[string]any{"a": "b"}},
	})
	r.Apply()
	r.ExpectEmptyPlan()
}
