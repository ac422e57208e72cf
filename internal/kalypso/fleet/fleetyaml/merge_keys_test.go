package fleetyaml_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet/fleetyaml"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// TestMergeKeys checks that a map's own keys take precedence over the keys that a merge key adds, whether the merge key
// is first or last in the map.
func TestMergeKeys(t *testing.T) {
	const text = `apiVersion: scheduler.kalypso.io/v1alpha1
kind: Workload
metadata: {name: app}
spec:
  deploymentTargets:
  - &first
    name: one
    environment: dev
    labels: &labels {tier: front, size: "1"}
    manifests: &place {repo: r, branch: b}
  - &second
    <<: *first
    name: two
    labels: {<<: *labels, size: "2"}
  - name: three
    labels: {size: "3"}
    <<: [*second, {environment: stage}]
    manifests: {path: "<<", <<: [{branch: main}, *place]}
`
	objects, _, problems := fleetyaml.Parse(t.Context(), problem.Origin{}, text)
	if len(problems) > 0 || len(objects) != 1 {
		t.Fatalf("%d objects, %v", len(objects), problems)
	}
	w, ok := objects[0].(*fleet.Workload)
	if !ok {
		t.Fatalf("it is a %T", objects[0])
	}
	want := []fleet.Target{
		{
			Name:        "one",
			Environment: "dev",
			Labels:      map[string]string{"tier": "front", "size": "1"},
			Manifests:   map[string]string{"repo": "r", "branch": "b"},
		},
		{
			Name:        "two",
			Environment: "dev",
			Labels:      map[string]string{"tier": "front", "size": "2"},
			Manifests:   map[string]string{"repo": "r", "branch": "b"},
		},
		{
			Name:        "three",
			Environment: "dev",
			Labels:      map[string]string{"size": "3"},
			Manifests:   map[string]string{"repo": "r", "branch": "main", "path": "<<"},
		},
	}
	if diff := cmp.Diff(want, w.Targets); diff != "" {
		t.Errorf("targets (-want +got):\n%s", diff)
	}
}

// TestMergeKeysStrict checks that a duplicate key or a wrong type in a document with merge keys is an error at its
// line.
func TestMergeKeysStrict(t *testing.T) {
	for text, want := range map[string]string{
		"a: &a {x: 1}\nb:\n  <<: *a\n  x: 2\nc: 1\nc: 2\n": `line 6: mapping key "c" already defined at line 5`,
		"a: &a {<<: *a, x: 1, y: 2}\n":                     "line 1",
		"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  labels: &l {a: b, platform-config: yes}\n  annotations: " +
			"{<<: *l, a: c}\ndata: {}\n": "expected a string, got a bool",
		"a: <<\nb: 1\nb: 2\n": `line 3`,
		"a: &a {x: 1}\nb: {<<: *a, x: 2}\nc: {<<: 3, x: 1, x: 2}\n": "line 3",
	} {
		_, _, problems := fleetyaml.Parse(t.Context(), problem.Origin{}, text)
		if len(problems) != 1 || !strings.Contains(problems[0].Detail, want) {
			t.Errorf("%q: %v, want %s", text, problems, want)
		}
	}
}

// TestMergeKeysOfOwnAnchor merges a map that is a value of the same map.
func TestMergeKeysOfOwnAnchor(t *testing.T) {
	const text = "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: Workload\n" +
		"metadata: {labels: &own {name: merged}, name: app, <<: *own}\nspec: {}\n"
	objects, _, problems := fleetyaml.Parse(t.Context(), problem.Origin{}, text)
	if len(problems) > 0 || len(objects) != 1 || objects[0].Metadata().Name != "app" {
		t.Errorf("%v, %v", objects, problems)
	}
}
