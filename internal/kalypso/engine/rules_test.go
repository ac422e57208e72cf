package engine_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet/fleetyaml"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render/tree"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// base is a fleet with one assignment. Each test adds the objects that it tests.
const base = `
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Template
metadata: {name: r}
spec: {type: reconciler, manifests: ["r: {{ .DeploymentTargetName }}"]}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Template
metadata: {name: "n"}
spec: {type: namespace, manifests: ["n: {{ .Namespace }}"]}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Template
metadata: {name: c}
spec: {type: config, manifests: ["{{ toYaml .ConfigData }}"]}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: ClusterType
metadata: {name: large, labels: {region: west, size: large}}
spec: {reconciler: r, namespaceService: "n", configType: c}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: SchedulingPolicy
metadata: {name: all}
spec: {deploymentTargetSelector: {labelSelector: {}}, clusterTypeSelector: {labelSelector: {}}}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Workload
metadata: {name: app, labels: {team: blue}}
spec:
  deploymentTargets:
  - name: test
    labels: {purpose: test, team: red}
    environment: dev
    manifests: {repo: https://example.com/app, branch: main, path: ./test}
`

func read(t testing.TB, environment string, texts ...string) *fleet.Fleet {
	t.Helper()
	f := &fleet.Fleet{Environment: environment}
	for _, text := range texts {
		objects, _, problems := fleetyaml.Parse(t.Context(), problem.Origin{Attribute: "manifests", Key: "fleet.yaml"}, text)
		if err := problems.Err(); err != nil {
			t.Fatal(err)
		}
		f.Add(objects...)
	}
	return f
}

// filesOf returns all files except the READMEs, by path.
func filesOf(built *tree.Tree) map[string]string {
	files := map[string]string{}
	for i, folder := range built.Folders {
		for f := range built.Files(i) {
			if f.Path != tree.ReadmeFile {
				files[folder.ClusterType+"/"+f.Path] = string(f.Content)
			}
		}
	}
	return files
}

// TestTree builds whole fleets, and compares all files.
func TestTree(t *testing.T) {
	tests := []struct {
		name, environment string
		input             []string
		want              map[string]string
	}{
		{"no targets in the environment", "stage", []string{base}, map[string]string{}},
		{"two policies that select the same target and cluster type", "dev", []string{base, `
apiVersion: scheduler.kalypso.io/v1alpha1
kind: SchedulingPolicy
metadata: {name: again}
spec:
  deploymentTargetSelector:
    labelSelector:
      matchExpressions: [{key: purpose, operator: In, values: [test, perf]}, {key: edge, operator: DoesNotExist}]
  clusterTypeSelector:
    labelSelector:
      matchLabels: {region: west}
      matchExpressions: [{key: size, operator: Exists}, {key: region, operator: NotIn, values: [east]}]
`}, map[string]string{
			"large/app-test/reconciler.yaml": "r: app-test", "large/app-test/namespace.yaml": "n: dev-large-app-test",
			"large/app-test/platform-config.yaml": "{}",
		}},
		{
			"workspaces of registrations, in an environment whose name has dashes",
			"dev-eu-1",
			[]string{base, `
apiVersion: v1
kind: List
items:
- apiVersion: scheduler.kalypso.io/v1alpha1
  kind: WorkloadRegistration
  metadata: {name: team-a-app}
  spec: {workload: {repo: r, branch: b, path: p}, workspace: team-a}
- apiVersion: scheduler.kalypso.io/v1alpha1
  kind: WorkloadRegistration
  metadata: {name: nobody}
  spec: {workload: {repo: r, branch: b, path: p}}
- apiVersion: scheduler.kalypso.io/v1alpha1
  kind: Workload
  metadata: {name: one, labels: {kustomize.toolkit.fluxcd.io/name: dev-eu-1-team-a-app, workspace: ignored}}
  spec: {deploymentTargets: [{name: t, environment: dev-eu-1, labels: {workspace: ignored, workload: ignored}}]}
- apiVersion: scheduler.kalypso.io/v1alpha1
  kind: Workload
  metadata: {name: two, labels: {kustomize.toolkit.fluxcd.io/name: dev-eu-1-nobody, workspace: ignored}}
  spec: {deploymentTargets: [{name: t, environment: dev-eu-1}]}
- apiVersion: scheduler.kalypso.io/v1alpha1
  kind: Workload
  metadata: {name: three, labels: {kustomize.toolkit.fluxcd.io/name: dev-eu-1-gone, workspace: own}}
  spec: {deploymentTargets: [{name: t, environment: dev-eu-1}]}
- apiVersion: scheduler.kalypso.io/v1alpha1
  kind: Workload
  metadata: {name: four}
  spec: {deploymentTargets: [{name: t, environment: dev-eu-1}, {name: t, environment: dev}]}
- apiVersion: scheduler.kalypso.io/v1alpha1
  kind: Template
  metadata: {name: w}
  spec:
    type: reconciler
    manifests: ["{{ .Workspace }}|{{ .Labels.workspace }}|{{ .Labels.workload }}|{{ .Workload }}"]
- apiVersion: scheduler.kalypso.io/v1alpha1
  kind: Template
  metadata: {name: none}
  spec: {type: namespace, manifests: []}
- apiVersion: scheduler.kalypso.io/v1alpha1
  kind: Template
  metadata: {name: empty}
  spec: {type: config, manifests: ["{{ if .Labels.none }}x{{ end }}"]}
- apiVersion: scheduler.kalypso.io/v1alpha1
  kind: ClusterType
  metadata: {name: large, labels: {a: b}}
  spec: {reconciler: w, namespaceService: none, configType: empty}
`},
			map[string]string{
				"large/one-t/reconciler.yaml":   "team-a|team-a|one|one",
				"large/two-t/reconciler.yaml":   "||two|two",
				"large/three-t/reconciler.yaml": "own|own|three|three",
				"large/four-t/reconciler.yaml":  "||four|four",
				"large/one-t/namespace.yaml":    "",
				"large/two-t/namespace.yaml":    "",
				"large/three-t/namespace.yaml":  "",
				"large/four-t/namespace.yaml":   "",
			},
		},
		{
			"older templates and content types",
			"dev",
			[]string{base, `
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Template
metadata: {name: old}
spec:
  type: reconciler
  manifests:
  - kind: Kustomization
    apiVersion: kustomize.toolkit.fluxcd.io/v1
    metadata:
      name: "{{ .DeploymentTargetName }}"
      port: 8080
      on: true
    spec: {path: "{{ .Path }}", url: "{{ .Repo }}", html: "<&>", del: "\x7f", list: ["{{ .Branch }}", 1.0]}
  - "second: {{ .Workload }}"
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Template
metadata: {name: script}
spec: {type: namespace, contentType: sh, manifests: ["export A=1", "export B=2\n", "export C=3"]}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: ClusterType
metadata: {name: small}
spec: {reconciler: old, namespaceService: script, configType: script}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: data, labels: {platform-config: "true"}}
data: {TEXT: "two\nlines\n", NUMBER: "1", MAP: "{a: [1, {b: ~}]}"}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: ClusterType
metadata: {name: plain}
spec: {reconciler: r, namespaceService: "n"}
`},
			map[string]string{
				"large/app-test/reconciler.yaml": "r: app-test",
				"large/app-test/namespace.yaml":  "n: dev-large-app-test",
				"large/app-test/platform-config.yaml": "MAP:\n    a:\n        - 1\n        - b: null\nNUMBER: \"1\"\nTEXT: |\n" +
					"    two\n    lines",
				"small/app-test/reconciler.yaml": `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: 'app-test'
  port: 8080
  "true": true
spec:
  del: "\x7F"
  html: <&>
  list:
  - 'main'
  - 1
  path: './test'
  url: 'https://example.com/app'
---
second: app`,
				"small/app-test/namespace.sh":       "export A=1\nexport B=2\nexport C=3",
				"small/app-test/platform-config.sh": "export A=1\nexport B=2\nexport C=3",
				"plain/app-test/reconciler.yaml":    "r: app-test",
				"plain/app-test/namespace.yaml":     "n: dev-plain-app-test",
				"plain/app-test/platform-config.yaml": `apiVersion: v1
kind: ConfigMap
metadata:
  name: platform-config
  namespace: dev-plain-app-test
data:
  MAP: |
      a:
          - 1
          - b: null
  NUMBER: "1"
  TEXT: |
      two
      lines
`,
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := read(t, tt.environment, tt.input...)
			if len(tt.input) > 1 { // an object of the test replaces the object of the base with the same name
				f.ClusterTypes = last(f.ClusterTypes)
			}
			built, problems := build(t.Context(), f)
			if err := problems.Err(); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, filesOf(built)); d != "" {
				t.Errorf("files (-want +got):\n%s", d)
			}
			for i, folder := range built.Folders {
				for file := range built.Files(i) {
					if file.Path == tree.ReadmeFile &&
						string(file.Content) != "This folder contains deployment targets scheduled on the cluster type" {
						t.Errorf("the README of %s is %q", folder.ClusterType, file.Content)
					}
				}
			}
		})
	}
}

// last keeps only the last of the objects with the same name.
func last(objects []*fleet.ClusterType) (kept []*fleet.ClusterType) {
	for i, o := range objects {
		again := false
		for _, later := range objects[i+1:] {
			again = again || later.Name == o.Name
		}
		if !again {
			kept = append(kept, o)
		}
	}
	return kept
}
