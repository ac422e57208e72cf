package versions_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/versions"
)

// object is an object, with its name as reports have it.
type object struct {
	name  string
	place versions.Place
}

func find(files map[string][]byte) (all []object) {
	for _, o := range versions.Find(files) {
		all = append(all, object{o.Reference.String(), o.Place})
	}
	return all
}

func TestFind(t *testing.T) {
	t.Parallel()
	const git = `---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: web, namespace: flux-system}
spec: {url: "https://git.acme.io/apps/web", ref: {branch: prod}}
`
	for name, test := range map[string]struct {
		text string
		want []object
	}{
		"no object of Flux or Argo CD": {"kind: Namespace\n", nil},
		"Kustomization of a GitRepository": {git + `---
apiVersion: kustomize.toolkit.fluxcd.io/v1beta2
kind: Kustomization
metadata: {name: web, namespace: flux-system}
spec: {path: "./deploy/web/", sourceRef: {kind: GitRepository, name: web}}
`, []object{
			{"Kustomization flux-system/web", versions.Place{"https://git.acme.io/apps/web", "prod", "deploy/web"}},
		}},
		"source in another namespace, no path": {git + `---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: web, namespace: apps}
spec: {sourceRef: {kind: GitRepository, name: web, namespace: flux-system}}
`, []object{{"Kustomization apps/web", versions.Place{"https://git.acme.io/apps/web", "prod", "."}}}},
		"source that is not in the folder": {git + `---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: web, namespace: apps}
spec: {path: ../../x, sourceRef: {kind: GitRepository, name: web}}
`, []object{{"Kustomization apps/web", versions.Place{"", "", "x"}}}},
		"names by aliases and merges": {`kind: Kustomization
x: [&meta {namespace: apps}, &name web]
apiVersion: kustomize.toolkit.fluxcd.io/v1
metadata: {<<: *meta, name: *name}
`, []object{{"Kustomization apps/web", versions.Place{"", "", "."}}}},
		"Kustomization of an OCIRepository": {`apiVersion: v1
kind: List
items:
- apiVersion: source.toolkit.fluxcd.io/v1
  kind: OCIRepository
  metadata: {name: web, namespace: flux-system}
  spec: {url: "oci://acme.io/web"}
- apiVersion: kustomize.toolkit.fluxcd.io/v1
  kind: Kustomization
  metadata: {name: web, namespace: flux-system}
  spec: {path: ./, sourceRef: {kind: OCIRepository, name: web}}
`, []object{{"Kustomization flux-system/web", versions.Place{"oci://acme.io/web", "", "."}}}},
		"HelmRelease": {`apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata: {name: charts, namespace: flux-system}
spec: {url: "https://user:canary@charts.acme.io/x?sig=canary"}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: web, namespace: flux-system}
spec: {chart: {spec: {chart: web, version: 1.x, sourceRef: {kind: HelmRepository, name: charts}}}}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: other, namespace: flux-system}
spec: {chartRef: {kind: OCIRepository, name: elsewhere}}
`, []object{
			{"HelmRelease flux-system/other", versions.Place{}},
			{"HelmRelease flux-system/web", versions.Place{"https://charts.acme.io/x", "", "web"}},
		}},
		"Application of Argo CD": {`apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: one, namespace: argocd}
spec: {source: {repoURL: "git@git.acme.io:apps/web.git", path: deploy, targetRevision: prod}}
---
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: several, namespace: argocd}
spec: {sources: [{repoURL: "https://git.acme.io/values", ref: values}, {repoURL: "ssh://git@git.acme.io/web", path: a}]}
---
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: chart, namespace: argocd}
spec: {source: {repoURL: "https://charts.acme.io", chart: web, targetRevision: 1.2.3}}
---
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: dry, namespace: argocd}
spec:
  sourceHydrator: {drySource: {repoURL: "https://git.acme.io/web", path: a}, syncSource: {targetBranch: b, path: c}}
`, []object{
			{"Application argocd/chart", versions.Place{"https://charts.acme.io", "", "web"}},
			{"Application argocd/dry", versions.Place{"https://git.acme.io/web", "b", "c"}},
			{"Application argocd/one", versions.Place{"git@git.acme.io:apps/web.git", "prod", "deploy"}},
			{"Application argocd/several", versions.Place{"ssh://git@git.acme.io/web", "", "a"}},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// Each document may be in a file of its own.
			files := map[string][]byte{"all.yaml": []byte(test.text)}
			if diff := cmp.Diff(test.want, find(files), cmp.AllowUnexported(object{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			files = map[string][]byte{"broken.yaml": []byte("argoproj.io/: [")}
			for i, document := range strings.Split(test.text, "---\n") {
				files[string(rune('a'+i))+".yaml"] = []byte(document)
			}
			if diff := cmp.Diff(test.want, find(files), cmp.AllowUnexported(object{})); diff != "" {
				t.Errorf("in several files (-want +got):\n%s", diff)
			}
		})
	}
}
