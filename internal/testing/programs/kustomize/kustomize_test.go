package kustomize_test

import (
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/programs/kustomize"
)

// TestBuild shows how a cluster treats the faults that the provider checks for. If an object occurs twice, in any
// files, the folder can't be built. An empty file is no fault.
func TestBuild(t *testing.T) {
	const a = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: n\n"
	for _, tt := range []struct {
		name    string
		files   map[string]string
		objects int
		failed  string
	}{
		{"two objects", map[string]string{"a/a.yaml": a, "b/b.yaml": strings.Replace(a, "name: a", "name: b", 1),
			"README.md":    "x",
			"c/empty.yaml": ""}, 2, ""},
		{"one object twice", map[string]string{"a/a.yaml": a, "b/a.yaml": a}, 0,
			"already registered id: ConfigMap.v1.[noGrp]/a.n"},
		{"no kind", map[string]string{"a.yaml": "apiVersion: v1\nmetadata: {name: a}\n"}, 0, "kind"},
		{"no name", map[string]string{"a.yaml": "apiVersion: v1\nkind: A\n"}, 0, "name"},
		{"no YAML map", map[string]string{"a.yaml": "text\n"}, 0, "a.yaml"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			objects, failed := kustomize.Build(t, tt.files)
			if len(objects) != tt.objects || (failed == "") != (tt.failed == "") || !strings.Contains(failed, tt.failed) {
				t.Errorf("%d objects, %s", len(objects), failed)
			}
		})
	}
}
