package model_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/unicode/norm"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet/fleetyaml"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
)

// resourceOf maps each kind of objects to its resource.
var resourceOf = map[fleet.Kind]string{
	fleet.KindClusterType:          "kalypso_cluster_type",
	fleet.KindTemplate:             "kalypso_template",
	fleet.KindConfig:               "kalypso_config",
	fleet.KindConfigSchema:         "kalypso_config_schema",
	fleet.KindSecret:               "kalypso_secret",
	fleet.KindSchedulingPolicy:     "kalypso_scheduling_policy",
	fleet.KindWorkload:             "kalypso_workload",
	fleet.KindWorkloadRegistration: "kalypso_workload_registration",
}

// Terraform generates HCL for a control plane with every difficult value. The plan contains only the imports, the next
// plan is empty, and each manifest equals the imported document.
func TestAccImportGeneratesConfiguration(t *testing.T) {
	const file = "control-plane.yaml"
	text := acc.ReadFile(t, filepath.Join("testdata", "TestAccImportGeneratesConfiguration", file))
	objects, _, ps := fleetyaml.Parse(t.Context(), problem.Origin{Key: file}, text)
	if err := ps.Err(); err != nil {
		t.Fatal(err)
	}
	want := map[string]fleet.Object{}
	var imports strings.Builder
	for i, o := range objects {
		address := fmt.Sprintf("%s.imported_%d", resourceOf[o.Kind()], i)
		fmt.Fprintf(&imports, "import {\n  to = %s\n  id = \"%s#%s\"\n}\n", address, file, o.Metadata().Name)
		want[address] = o
	}
	r := acc.NewRoot(t, map[string]string{"main.tf": acc.TerraformBlock, "imports.tf": imports.String(), file: text})
	r.OwnProcess() // the IDs are paths in the working directory

	planned := r.Succeed("plan", "-no-color", "-generate-config-out=generated.tf", "-out=plan")
	if summary := fmt.Sprintf("Plan: %d to import, 0 to add, 0 to change, 0 to destroy.",
		len(objects)); !strings.Contains(planned.Stdout, summary) {
		t.Errorf("the plan is not %q:\n%s", summary, planned.Stdout)
	}
	r.Succeed("apply", "-no-color", "plan")
	r.ExpectEmptyPlan()

	r.OutputManifests(slices.Sorted(maps.Keys(want)))
	r.Apply()
	for address, manifest := range manifestsOf(r) {
		objects, _, ps := fleetyaml.Parse(t.Context(), problem.Origin{}, manifest)
		if len(ps) > 0 || len(objects) != 1 {
			t.Fatalf("%s: %v\n%s", address, ps, manifest)
		}
		if diff := cmp.Diff(normalize(want[address]), normalize(objects[0])); diff != "" {
			t.Errorf("%s is another object (-document +manifest):\n%s", address, diff)
		}
		delete(want, address)
	}
	if len(want) > 0 {
		t.Errorf("not imported: %v", want)
	}
}

// The attribute import_blocks of the data source turns the same control plane into HCL.
func TestAccImportBlocksOfEverything(t *testing.T) {
	t.Parallel()
	const file = "control-plane/control-plane.yaml"
	text := acc.ReadFile(t, filepath.Join("testdata", "TestAccImportGeneratesConfiguration", "control-plane.yaml"))
	objects, _, ps := fleetyaml.Parse(t.Context(), problem.Origin{Key: file}, text)
	if err := ps.Err(); err != nil {
		t.Fatal(err)
	}
	r := acc.NewRoot(t, map[string]string{"main.tf": acc.TerraformBlock, file: text, "output.tf": `
data "kalypso_control_plane" "this" {
  directory            = "control-plane"
  follow_registrations = false
}
output "import_blocks" {
  value = data.kalypso_control_plane.this.import_blocks
}
`})
	r.OwnProcess() // the folder lies in the working directory
	r.Apply()
	r.Write("model.tf", r.Succeed("output", "-raw", "import_blocks").Stdout)
	r.Succeed("fmt", "-check", "-diff", "model.tf")
	planned := r.Succeed("plan", "-no-color", "-out=plan")
	summary := fmt.Sprintf("Plan: %d to import, 0 to add, 0 to change, 0 to destroy.", len(objects))
	if !strings.Contains(planned.Stdout, summary) {
		t.Errorf("the plan is not %q:\n%s", summary, planned.Stdout)
	}
	r.Succeed("apply", "-no-color", "plan")
	r.ExpectEmptyPlan()
}

// manifestsOf returns the manifests after an apply, by address. It needs [acc.Root.OutputManifests].
func manifestsOf(r *acc.Root) (all map[string]string) {
	r.T.Helper()
	r.Output("manifests", &all)
	return all
}

// plannedManifests returns the manifests that are known in the saved plan, by address.
func plannedManifests(r *acc.Root) map[string]string {
	r.T.Helper()
	var shown struct {
		OutputChanges struct {
			Manifests struct{ After map[string]string }
		} `json:"output_changes"`
	}
	r.Show(&shown, "plan")
	return shown.OutputChanges.Manifests.After
}

// normalize removes differences between notations of the same document from an object.
func normalize(o fleet.Object) fleet.Object {
	o.Metadata().Origin = problem.Origin{}
	if len(o.Metadata().Labels) == 0 {
		o.Metadata().Labels = nil
	}
	switch o := o.(type) {
	case *fleet.ConfigSchema:
		o.Schema = normalizeJSON(o.Schema)
	case *fleet.SchedulingPolicy:
		for _, s := range []*fleet.Selector{&o.DeploymentTargets, &o.ClusterTypes} {
			if len(s.MatchLabels) == 0 {
				s.MatchLabels = nil
			}
		}
	case *fleet.Secret:
		if len(o.Data) == 0 {
			o.Data = nil
		}
	case *fleet.Workload:
		if len(o.Targets) == 0 {
			o.Targets = nil
		}
	}
	return o
}

// normalizeJSON returns a JSON text without spaces, with sorted keys, and with strings and numbers as Terraform
// normalizes them.
func normalizeJSON(s string) string {
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return s
	}
	var walk func(v any) any
	walk = func(v any) any {
		switch v := v.(type) {
		case map[string]any:
			for k, e := range v {
				v[k] = walk(e)
			}
		case []any:
			for i, e := range v {
				v[i] = walk(e)
			}
		case json.Number:
			if n, _, err := big.ParseFloat(v.String(), 10, 512, big.ToNearestEven); err == nil {
				return n.Text('g', 150)
			}
		}
		return v
	}
	text, err := json.Marshal(walk(v))
	if err != nil {
		return s
	}
	return norm.NFC.String(string(text))
}

// An import that finds no object of the kind, or several, is an error that names the objects in the file. One plan has
// all of these imports.
func TestAccImportErrors(t *testing.T) {
	const two = `apiVersion: scheduler.kalypso.io/v1alpha1
kind: ClusterType
metadata: {name: large}
spec: {reconciler: r, namespaceService: default}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: ClusterType
metadata: {name: small}
spec: {reconciler: r, namespaceService: default}
`
	const configMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\ndata: {a: b}\n"
	r := acc.NewRoot(t, map[string]string{
		"main.tf": acc.TerraformBlock + `
variable "cluster_types" { type = set(string) }
variable "configs" { type = set(string) }

import {
  for_each = var.cluster_types
  to       = kalypso_cluster_type.test[each.key]
  id       = each.key
}

import {
  for_each = var.configs
  to       = kalypso_config.test[each.key]
  id       = each.key
}

resource "kalypso_config" "test" {
  for_each = var.configs
  name     = "other"
}

resource "kalypso_cluster_type" "test" {
  for_each          = var.cluster_types
  name              = "large"
  reconciler        = "r"
  namespace_service = "n"
}
`,
		"two.yaml":    two,
		"twice.yaml":  two + "---\n" + two,
		"config.yaml": configMap,
		"empty.yaml":  "# nothing\n",
		"broken.yaml": two + "---\napiVersion: v1\nkind: [\n",
		"odd#.yaml":   strings.Split(two, "---")[0],
	})
	r.OwnProcess() // the IDs are paths in the working directory
	if err := errors.Join(syscall.Mkfifo(filepath.Join(r.Folder, "pipe.yaml"), 0o600),
		os.Symlink("/dev/zero", filepath.Join(r.Folder, "zero.yaml"))); err != nil {
		t.Fatal(err)
	}
	set := func(clusterTypes []string, configs ...string) {
		r.Write("terraform.tfvars.json", acc.ToJSON(t, map[string]any{"cluster_types": clusterTypes,
			"configs": append([]string{}, configs...)}))
	}
	missing := "there is no file " + filepath.Join(r.Folder, "missing.yaml")
	set([]string{
		"missing.yaml", "missing.yaml#large", "config.yaml", "empty.yaml", "two.yaml", "two.yaml#other", "twice.yaml#large",
		"broken.yaml#other", "pipe.yaml", "zero.yaml#large", "https://me:canary@acme.io/a\x1b.yaml",
	}, "config.yaml")
	const both = `ClusterType "large", ClusterType "small"`
	r.ExpectErrors(map[string][]string{
		"Cannot import missing.yaml " + missing:       nil,
		"Cannot import missing.yaml#large " + missing: nil,
		"Cannot import config.yaml config.yaml":       {`contains no ClusterType. It contains: ConfigMap "other"`},
		"Cannot import empty.yaml empty.yaml":         {"contains no ClusterType. It contains: no Kalypso object"},
		"Cannot import two.yaml two.yaml":             {"two.yaml#NAME", both},
		"Cannot import two.yaml#other two.yaml":       {`no ClusterType named "other"`, both},
		"Cannot import twice.yaml#large twice.yaml":   {`contains 2 objects of kind ClusterType named "large"`},
		"Cannot import pipe.yaml the file pipe.yaml":  {"can't be read: it is not a regular file"},
		"Cannot import zero.yaml#large the file":      {"zero.yaml can't be read: it is not a regular file"},
		"Cannot import broken.yaml#other broken.yaml": {"broken.yaml, document 3, line 10", "Invalid YAML", "line 1"},
		`Cannot import config.yaml ConfigMap "other"`: {`has no label platform-config: "true"`},
		// The ID is shown without its password.
		`Cannot import https://(secret)@acme.io/a\x1b.yaml there is no file`: {`acme.io/a\x1b.yaml`},
	}, "plan", "-no-color")

	set([]string{"odd#.yaml", "broken.yaml#large"}) // in the second file, a document that is not imported is broken
	if out := r.Succeed("plan", "-no-color").Text(); !strings.Contains(out, "2 to import") {
		t.Errorf("the plan does not import exactly the two objects:\n%s", out)
	}
}
