package delivery

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
)

func TestServedVersion(t *testing.T) {
	for version, want := range map[string]string{
		"source.toolkit.fluxcd.io/v1beta2":       "source.toolkit.fluxcd.io/v1",
		"source.toolkit.fluxcd.io/v1beta1":       "source.toolkit.fluxcd.io/v1",
		"kustomize.toolkit.fluxcd.io/v1beta2":    "kustomize.toolkit.fluxcd.io/v1",
		"helm.toolkit.fluxcd.io/v2beta2":         "helm.toolkit.fluxcd.io/v2",
		"source.toolkit.fluxcd.io/v1":            "",
		"source.toolkit.fluxcd.io/v2":            "",
		"notification.toolkit.fluxcd.io/v1beta3": "",
		"argoproj.io/v1alpha1":                   "",
		"v1":                                     "",
	} {
		if got := ServedVersion(version); got != want {
			t.Errorf("%s: %q, want %q", version, got, want)
		}
	}
}

// One warning names the templates of cluster types that render what Flux no longer serves.
func TestUnservedVersions(t *testing.T) {
	template := func(name string, manifests ...string) *fleet.Template {
		return &fleet.Template{Meta: fleet.Meta{Name: name}, Manifests: manifests}
	}
	d := &Desired{Fleet: &fleet.Fleet{
		ClusterTypes: []*fleet.ClusterType{{Reconciler: "flux", NamespaceService: "current"}, {Reconciler: "json"}},
		Templates: []*fleet.Template{
			template("flux", "apiVersion: source.toolkit.fluxcd.io/v1beta2\nkind: GitRepository\n---\n"+
				"apiVersion: \"kustomize.toolkit.fluxcd.io/v1beta2\"\n", "apiVersion: source.toolkit.fluxcd.io/v1beta2\n"),
			template("current", "apiVersion: kustomize.toolkit.fluxcd.io/v1\n# apiVersion: source.toolkit.fluxcd.io/v1beta2\n"),
			template("json", `{"kind": "Kustomization",`+"\n"+`  "apiVersion": "kustomize.toolkit.fluxcd.io/v1beta1"}`),
			template("unused", "apiVersion: source.toolkit.fluxcd.io/v1beta1\n"),
		},
	}}
	ps := d.unservedVersions()
	if len(ps) != 1 {
		t.Fatalf("%d warnings", len(ps))
	}
	var lines []string
	for line := range strings.Lines(ps[0].Detail) {
		if strings.HasPrefix(line, "  - ") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	if diff := cmp.Diff([]string{
		`- template "flux": kustomize.toolkit.fluxcd.io/v1beta2, now kustomize.toolkit.fluxcd.io/v1`,
		`- template "flux": source.toolkit.fluxcd.io/v1beta2, now source.toolkit.fluxcd.io/v1`,
		`- template "json": kustomize.toolkit.fluxcd.io/v1beta1, now kustomize.toolkit.fluxcd.io/v1`,
	}, lines); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	d.Fleet.Templates = d.Fleet.Templates[1:2]
	if ps := d.unservedVersions(); len(ps) != 0 {
		t.Errorf("with what Flux serves: %v", ps)
	}
}
