package fleetyaml_test

import (
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet/fleetyaml"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// FuzzMarshal: an object that is read from YAML and written again is the same object.
func FuzzMarshal(f *testing.F) {
	const head = "apiVersion: scheduler.kalypso.io/v1alpha1\nmetadata:\n  name: a\n"
	for _, text := range []string{
		head + "kind: Workload\nspec:\n  deploymentTargets:\n  - {name: x, environment: dev, labels: {a: b}}\n",
		head + "  annotations: {kalypso.io/requires: '{\"dev/x\": [{\"labels\": {\"a\": \"b\"}}]}'}\nkind: Workload\n" +
			"spec: {deploymentTargets: [{name: x, environment: dev}]}\n",
		head + "kind: Template\nspec: {type: reconciler, manifests: ['{{ .Namespace }}']}\n",
		head + "kind: ClusterType\nspec: {reconciler: a, namespaceService: b}\n---\n" + head + "kind: Environment\n",
		head + "kind: SchedulingPolicy\nspec: {clusterTypeSelector: {labelSelector: {matchLabels: {a: b}}}}\n",
		"a: &a [*a]\n", "{", "kind: ConfigMap\napiVersion: v1\nmetadata: {name: x, labels: {platform-config: 'true'}}\n" +
			"data: {a: b}\n",
	} {
		f.Add(text)
	}
	parse := func(t *testing.T, text string) (written []string, failed bool) {
		t.Helper()
		objects, _, ps := fleetyaml.Parse(t.Context(), problem.Origin{Attribute: "manifests", Key: "test"}, text)
		for _, o := range objects {
			text, err := fleetyaml.Marshal(o)
			if err != nil {
				return nil, true
			}
			written = append(written, text)
		}
		return written, ps.HasErrors()
	}
	f.Fuzz(func(t *testing.T, text string) {
		written, failed := parse(t, text)
		if failed {
			return
		}
		for _, text := range written {
			if again, failed := parse(t, text); failed || len(again) != 1 || again[0] != text {
				t.Errorf("%q is read and written again as %q, failed %t", text, again, failed)
			}
		}
	})
}
