package clustersync_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/clustersync"
)

func TestObjects(t *testing.T) {
	folder := clustersync.SyncedFolder{Repo: "https://github.com/acme/gitops", Branch: "dev", Path: "fleet/large"}
	for _, tt := range []struct {
		name, kind string
		folder     clustersync.SyncedFolder
		options    clustersync.Options
		want       string
	}{
		{"Flux", "flux", folder, clustersync.Options{}, `
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: large, namespace: flux-system}
spec: {interval: 1m, url: https://github.com/acme/gitops, ref: {branch: dev}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: large, namespace: flux-system}
spec: {interval: 10m, retryInterval: 1m, path: ./fleet/large, prune: true,
  sourceRef: {kind: GitRepository, name: large}}
`},
		{"Flux with all options", "flux",
			clustersync.SyncedFolder{Repo: "git@github.com:acme/gitops.git", Branch: "dev", Path: "./large/"},
			clustersync.Options{Name: "dev", Namespace: "gitops", Interval: "30s", Secret: "key", Decryption: "sops-age"}, `
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: dev, namespace: gitops}
spec: {interval: 30s, url: "ssh://git@github.com/acme/gitops.git", ref: {branch: dev}, secretRef: {name: key}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: dev, namespace: gitops}
spec: {interval: 10m, retryInterval: 1m, path: ./large, prune: true, sourceRef: {kind: GitRepository, name: dev},
  decryption: {provider: sops, secretRef: {name: sops-age}}}
`},
		{"Flux with an artifact", "flux-oci",
			clustersync.SyncedFolder{Repository: "oci://registry.acme.io/fleet/dev", Path: "fleet/large"},
			clustersync.Options{}, `
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: large, namespace: flux-system}
spec: {interval: 1m, url: "oci://registry.acme.io/fleet/dev/large", ref: {tag: latest}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: large, namespace: flux-system}
spec: {interval: 10m, retryInterval: 1m, path: ./, prune: true, sourceRef: {kind: OCIRepository, name: large}}
`},
		{"Flux with an artifact and all options", "flux-oci",
			clustersync.SyncedFolder{Repository: "oci://localhost:5000/fleet", Path: "large"},
			clustersync.Options{Name: "dev", Namespace: "gitops", Interval: "30s", Secret: "registry", Verify: "cosign",
				Tag: strings.Repeat("a1", 20), Decryption: "sops-age"}, `
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: dev, namespace: gitops}
spec: {interval: 30s, url: "oci://localhost:5000/fleet/large", insecure: true,
  ref: {tag: a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1}, secretRef: {name: registry},
  verify: {provider: cosign, secretRef: {name: cosign}}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: dev, namespace: gitops}
spec: {interval: 10m, retryInterval: 1m, path: ./, prune: true, sourceRef: {kind: OCIRepository, name: dev},
  decryption: {provider: sops, secretRef: {name: sops-age}}}
`},
		{"Argo CD", "argocd", folder, clustersync.Options{}, `
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: large, namespace: argocd}
spec:
  project: default
  source:
    {repoURL: "https://github.com/acme/gitops", targetRevision: dev, path: fleet/large, directory: {recurse: true}}
  destination: {server: "https://kubernetes.default.svc"}
  syncPolicy: {automated: {prune: true, selfHeal: true}}
`},
		{"Rancher Fleet", "fleet", folder, clustersync.Options{Secret: "key"}, `
apiVersion: fleet.cattle.io/v1alpha1
kind: GitRepo
metadata: {name: large, namespace: fleet-default}
spec:
  repo: https://github.com/acme/gitops
  branch: dev
  paths: [fleet/large]
  clientSecretName: key
  targets: [{clusterSelector: {matchLabels: {cluster-type: large}}}]
`},
		{"Rancher Fleet on each cluster", "fleet", folder, clustersync.Options{Namespace: "fleet-local"}, `
apiVersion: fleet.cattle.io/v1alpha1
kind: GitRepo
metadata: {name: large, namespace: fleet-local}
spec: {repo: "https://github.com/acme/gitops", branch: dev, paths: [fleet/large]}
`},
		{"Rancher Fleet with labels of clusters", "fleet", folder,
			clustersync.Options{ClusterLabels: map[string]string{"size": "xl"}}, `
apiVersion: fleet.cattle.io/v1alpha1
kind: GitRepo
metadata: {name: large, namespace: fleet-default}
spec:
  repo: https://github.com/acme/gitops
  branch: dev
  paths: [fleet/large]
  targets: [{clusterSelector: {matchLabels: {size: xl}}}]
`},
	} {
		got, err := clustersync.Objects(tt.kind, tt.folder, tt.options)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		var want []map[string]any
		for text := range strings.SplitSeq(tt.want, "---\n") {
			var object map[string]any
			if err := yaml.Unmarshal([]byte(text), &object); err != nil {
				t.Fatal(err)
			}
			want = append(want, object)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestObjectsInvalid(t *testing.T) {
	good := clustersync.SyncedFolder{Repo: "https://github.com/acme/gitops", Branch: "dev", Path: "large"}
	for _, tt := range []struct {
		kind    string
		change  func(*clustersync.SyncedFolder)
		options clustersync.Options
		want    string
	}{
		{"Flux", nil, clustersync.Options{}, `kind is "Flux", not one of flux, flux-oci, argocd, fleet`},
		{"flux", func(f *clustersync.SyncedFolder) { f.Repo = "file:///srv/gitops" }, clustersync.Options{},
			"a cluster can't read"},
		{"flux", func(f *clustersync.SyncedFolder) { f.Repo = "" }, clustersync.Options{}, "repo"},
		{"flux", func(f *clustersync.SyncedFolder) { f.Branch = " " }, clustersync.Options{}, "the branch is missing"},
		{"flux", func(f *clustersync.SyncedFolder) { f.Path = "." }, clustersync.Options{}, `the folder "." is not`},
		{"flux", func(f *clustersync.SyncedFolder) { f.Path = "a/../.." }, clustersync.Options{}, "is not the folder"},
		{"flux", nil, clustersync.Options{Name: "A"}, `name is "A"`},
		{"flux", nil, clustersync.Options{Secret: "a b"}, `secret is "a b"`},
		{"argocd", nil, clustersync.Options{Namespace: "a.b"}, `namespace is "a.b"`},
		{"fleet", func(f *clustersync.SyncedFolder) { f.Branch = "dev.lock" }, clustersync.Options{}, "no .lock at its end"},
		{"argocd", func(f *clustersync.SyncedFolder) { f.Branch = "a b" }, clustersync.Options{}, "no spaces"},
		{"flux", func(f *clustersync.SyncedFolder) { f.Branch = "refs/heads/dev" }, clustersync.Options{}, "reference name"},
		{"flux", func(f *clustersync.SyncedFolder) { f.Path = "a\tb/large" }, clustersync.Options{}, "control character"},
		{"flux", func(f *clustersync.SyncedFolder) { f.Path = strings.Repeat("a", 254) }, clustersync.Options{}, "name is"},
		{"argocd", nil, clustersync.Options{Decryption: "a"}, "decryption is only possible with flux"},
		{"flux", nil, clustersync.Options{Verify: "cosign"}, "tag and verify are only possible with flux-oci"},
		{"argocd", nil, clustersync.Options{Tag: "latest"}, "tag and verify are only possible with flux-oci"},
		{"flux-oci", nil, clustersync.Options{}, "repository: a repository begins with oci://"},
		{"flux-oci", func(f *clustersync.SyncedFolder) { f.Repository = "oci://acme.io/fleet:1" }, clustersync.Options{},
			"has a tag or digest"},
		{"flux-oci", func(f *clustersync.SyncedFolder) { f.Repository, f.Path = "oci://acme.io/fleet", "Large" },
			clustersync.Options{Name: "large"}, "is not the name of a repository"},
		{"flux-oci", func(f *clustersync.SyncedFolder) { f.Repository = "oci://acme.io/fleet" },
			clustersync.Options{Tag: "a b"}, `tag: "a b" is not a tag`},
	} {
		folder := good
		if tt.change != nil {
			tt.change(&folder)
		}
		_, err := clustersync.Objects(tt.kind, folder, tt.options)
		if !errors.Is(err, clustersync.ErrInvalid) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s %v %v: %v, want %q", tt.kind, folder, tt.options, err, tt.want)
		}
	}
}
