package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/engine"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render/tree"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// optionedFleet is a fleet with the options of its run.
type optionedFleet struct {
	*fleet.Fleet
	engine.Options
}

func (f *optionedFleet) run(ctx context.Context) (*engine.Output, problem.Problems) {
	return engine.Run(ctx, f.Fleet, f.Options)
}

// fluxFleet returns a fleet of a workload with the targets blue, green and red on the cluster type large. Each target
// has a GitRepository, whose name is the given template.
func fluxFleet(name string) *optionedFleet {
	f := &fleet.Fleet{
		Environment:  "dev",
		ClusterTypes: []*fleet.ClusterType{{Meta: fleet.Meta{Name: "large"}, Reconciler: "flux", NamespaceService: "ns"}},
		Templates: []*fleet.Template{
			{Meta: fleet.Meta{Name: "flux"}, Type: fleet.TemplateReconciler, Manifests: []string{
				"apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata:\n  name: " + name +
					"\n  namespace: flux-system\nspec:\n  ref:\n    branch: {{ .Manifests.branch }}\n"}},
			{Meta: fleet.Meta{Name: "ns"}, Type: fleet.TemplateNamespace, Manifests: []string{
				"apiVersion: v1\nkind: Namespace\nmetadata:\n  name: {{ .Namespace }}\n"}},
		},
		Policies:  []*fleet.SchedulingPolicy{{Meta: fleet.Meta{Name: "all"}}},
		Workloads: []*fleet.Workload{{Meta: fleet.Meta{Name: "shop"}}},
	}
	for _, target := range []string{"blue", "green", "red"} {
		f.Workloads[0].Targets = append(f.Workloads[0].Targets,
			fleet.Target{Name: target, Environment: "dev", Manifests: map[string]string{"branch": "main"}})
	}
	return &optionedFleet{f, engine.Options{Duplicates: problem.Warn}}
}

// deliver sets the fleet's delivered tree to its present tree, without the named targets.
func deliver(t *testing.T, f *optionedFleet, without ...string) {
	t.Helper()
	unchecked := f.Options
	unchecked.Duplicates, unchecked.Invalid = problem.Ignore, ""
	result, problems := engine.Run(t.Context(), f.Fleet, unchecked)
	if result.Tree == nil {
		t.Fatal(problems)
	}
	hashes := map[string][]byte{}
	for _, folder := range result.Tree.Folders {
		targets := map[string]tree.Hash{}
		for _, target := range folder.Targets {
			targets[target.Name] = target.Hash
		}
		for _, name := range without {
			delete(targets, name)
		}
		for name, hash := range targets {
			hashes[folder.ClusterType+"/"+name] = hash[:6]
		}
		hash := tree.ClusterTypeHash(targets)
		hashes[folder.ClusterType+"/"] = hash[:]
	}
	f.Delivered = func(clusterType, target string) []byte { return hashes[clusterType+"/"+target] }
}

func TestDuplicateObjects(t *testing.T) {
	t.Parallel()
	const unique, colliding = "{{ .DeploymentTargetName }}", "{{ .Workload }}"
	const all = "large/shop-blue large/shop-green large/shop-red"
	twice := func(f *optionedFleet) {
		f.Templates[1].Manifests = append(f.Templates[1].Manifests, f.Templates[1].Manifests[0])
	}
	for _, tt := range []struct {
		name, object string
		change       func(*testing.T, *optionedFleet)
		errors       bool
		affects      string   // the targets that the problems affect, with LeaveOutFailed
		tree         string   // the targets of the tree, with LeaveOutFailed
		texts        []string // parts of the problems
	}{
		{name: "unique names", object: unique, tree: all},
		{name: "one name for all targets", object: colliding, tree: all, texts: []string{
			`Template "flux"`, "GitRepository.source.toolkit.fluxcd.io flux-system/shop in shop-blue/reconciler.yaml and " +
				"shop-green/reconciler.yaml", "in shop-blue/reconciler.yaml and shop-red/reconciler.yaml", "is \"warn\""}},
		{name: "duplicates that are ignored", object: colliding, tree: all, change: func(_ *testing.T, f *optionedFleet) {
			f.Duplicates = problem.Ignore
			twice(f)
		}},
		{name: "an unknown setting for duplicates", object: colliding, tree: all, change: func(_ *testing.T,
			f *optionedFleet) {
			f.Duplicates = ""
		}},
		{name: "duplicates as errors", object: colliding, errors: true, affects: "large/shop-green large/shop-red",
			tree:   "large/shop-blue",
			change: func(_ *testing.T, f *optionedFleet) { f.Duplicates = problem.Fail },
			texts:  []string{"is \"error\""}},
		{name: "two new targets, one of them first in the alphabet", object: colliding, errors: true,
			affects: "large/shop-blue " +
				"large/shop-red",
			tree: "large/shop-green", change: func(t *testing.T, f *optionedFleet) {
				deliver(t, f, "shop-blue", "shop-red")
				f.Duplicates = problem.Fail
			}},
		{name: "two delivered targets that change", object: colliding, errors: true,
			affects: "large/shop-blue large/shop-green",
			tree:    "large/shop-red", change: func(t *testing.T, f *optionedFleet) {
				deliver(t, f)
				f.Workloads[0].Targets[0].Manifests["branch"] = "other"
				f.Workloads[0].Targets[1].Manifests["branch"] = "other"
				f.Duplicates = problem.Fail
			}},
		{name: "a delivered folder that does not change", object: colliding, tree: all,
			change: func(t *testing.T, f *optionedFleet) {
				f.Duplicates = problem.Fail
				twice(f)
				deliver(t, f)
			}},
		{name: "one object in two files of a target", object: "a", errors: true,
			affects: "large/shop-blue", tree: "large/shop-green", texts: []string{
				`Templates "ns" and "flux"`, "flux-system/a in shop-blue/namespace.yaml and shop-blue/reconciler.yaml"},
			change: func(_ *testing.T, f *optionedFleet) {
				f.Workloads[0].Targets = f.Workloads[0].Targets[:2]
				f.Templates[0].Manifests[0] = `{{ if eq .DeploymentTargetName "shop-blue" }}` + f.Templates[0].Manifests[0] +
					"{{ end }}"
				f.Templates[1].Manifests = append(f.Templates[1].Manifests, f.Templates[0].Manifests[0])
				f.Templates[1].Manifests[1] = strings.ReplaceAll(f.Templates[1].Manifests[1], "main", "other")
			}},
		{name: "one object twice in a file", object: unique, errors: true,
			affects: "large/shop-blue large/shop-green large/shop-red",
			texts:   []string{"Namespace dev-large-shop-blue in shop-blue/namespace.yaml and shop-blue/namespace.yaml"},
			change:  func(_ *testing.T, f *optionedFleet) { twice(f) }},
		{name: "a cluster-scoped object with the namespaces of its targets", object: unique, errors: true,
			affects: "large/shop-green large/shop-red", tree: "large/shop-blue", texts: []string{
				"ClusterRole.rbac.authorization.k8s.io viewer in shop-blue/namespace.yaml and shop-green/namespace.yaml"},
			change: func(_ *testing.T, f *optionedFleet) {
				f.Duplicates = problem.Fail
				f.Templates[1].Manifests = append(f.Templates[1].Manifests, "apiVersion: rbac.authorization.k8s.io/v1\n"+
					"kind: ClusterRole\nmetadata:\n  name: viewer\n  namespace: {{ .Namespace }}\n")
			}},
		{name: "the same in a list, and in JSON", object: unique, errors: true,
			affects: "large/shop-green large/shop-red", tree: "large/shop-blue", texts: []string{
				"PersistentVolume disk in shop-blue/namespace.yaml and shop-green/namespace.yaml"},
			change: func(_ *testing.T, f *optionedFleet) {
				f.Duplicates = problem.Fail
				f.Templates[1].Manifests = append(f.Templates[1].Manifests, `{{ if eq .DeploymentTargetName "shop-blue" }}`+
					`{"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "disk", "namespace": "x"}}{{ else }}`+
					"apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: PersistentVolumeList\n  items:\n"+
					"  - apiVersion: v1\n    kind: PersistentVolume\n    metadata: {name: disk, namespace: \"{{ .Namespace }}\"}\n"+
					"{{ end }}")
			}},
		{name: "an object of an unknown kind with the namespaces of its targets", object: unique, tree: all,
			change: func(_ *testing.T, f *optionedFleet) {
				f.Duplicates = problem.Fail
				f.Templates[1].Manifests = append(f.Templates[1].Manifests, "apiVersion: acme.io/v1\nkind: ClusterRole\n"+
					"metadata:\n  name: viewer\n  namespace: {{ .Namespace }}\n")
			}},
		{name: "one object in two API versions", object: colliding, tree: all, texts: []string{"shop-green/reconciler.yaml"},
			change: func(_ *testing.T, f *optionedFleet) {
				f.Templates[0].Manifests[0] = strings.Replace(f.Templates[0].Manifests[0], "io/v1",
					`io/{{ if eq .DeploymentTargetName "shop-blue" }}v1beta2{{ else }}v1{{ end }}`, 1)
			}},
		{name: "a shell script", object: colliding, tree: all, change: func(_ *testing.T, f *optionedFleet) {
			f.Templates[0].ContentType = fleet.ContentShell
		}},
		{name: "an object in another namespace", object: unique, tree: all, texts: []string{"outside of their namespace",
			"large / shop-red/namespace.yaml, document 1: Role.rbac.authorization.k8s.io kube-system/a is not in " +
				"dev-large-shop-red"},
			change: func(_ *testing.T, f *optionedFleet) {
				f.Templates[1].Manifests = []string{"apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata:\n" +
					"  name: a\n  namespace: {{ if eq .DeploymentTargetName \"shop-red\" }}kube-system{{ else }}{{ .Namespace }}{{ " +
					"end }}\n"}
			}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := fluxFleet(tt.object)
			if tt.change != nil {
				tt.change(t, f)
			}
			result, problems := f.run(t.Context())
			if problems.HasErrors() != tt.errors || (result.Tree == nil) != tt.errors {
				t.Errorf("errors: %v", problems)
			}
			text := problems.Error()
			for _, want := range tt.texts {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in:\n%s", want, text)
				}
			}
			if len(tt.texts) == 0 && !tt.errors && len(problems) > 0 {
				t.Errorf("problems: %v", problems)
			}
			f.LeaveOutFailed = true
			result, problems = f.run(t.Context())
			if result.Tree == nil {
				t.Fatal(problems)
			}
			if tt.affects == "" {
				tt.affects = "-"
			}
			if diff := cmp.Diff(tt.affects, affected(result.LeftOut)); diff != "" {
				t.Errorf("affected (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.tree, targetsOf(result)); diff != "" {
				t.Errorf("tree (-want +got):\n%s", diff)
			}
			if len(result.Tree.Folders[0].Targets) < 3 {
				return
			}
			if want := tree.ClusterTypeHash(map[string]tree.Hash{
				"shop-blue": result.Tree.Folders[0].Targets[0].Hash, "shop-green": result.Tree.Folders[0].Targets[1].Hash,
				"shop-red": result.Tree.Folders[0].Targets[2].Hash,
			}); result.Tree.Folders[0].Hash != want {
				t.Error("the hash of the folder does not follow from the hashes of its targets")
			}
		})
	}
}

// TestUnservedVersions: one warning lists the templates that render API versions which Flux no longer serves, with the
// version to use. A version in a comment or a text is not reported.
func TestUnservedVersions(t *testing.T) {
	t.Parallel()
	const flux = "source.toolkit.fluxcd.io/"
	fromValue := func(f *optionedFleet) {
		f.Templates[0].Manifests[0] = strings.Replace(f.Templates[0].Manifests[0], flux+"v1",
			`{{ .Manifests.api }}`, 1)
		for i := range f.Workloads[0].Targets {
			f.Workloads[0].Targets[i].Manifests["api"] = flux + "v1"
		}
		f.Workloads[0].Targets[2].Manifests["api"] = flux + "v1beta2"
	}
	const ofFlux = `template "flux": source.toolkit.fluxcd.io/v1beta2, now source.toolkit.fluxcd.io/v1`
	for _, tt := range []struct {
		name   string
		change func(*testing.T, *optionedFleet)
		want   []string
	}{
		{"a served version", func(*testing.T, *optionedFleet) {}, nil},
		{"an unserved version in a comment and in a text", func(_ *testing.T, f *optionedFleet) {
			f.Templates[0].Manifests[0] = "# apiVersion: " + flux + "v1beta2\n" + f.Templates[0].Manifests[0] +
				"  text: |\n    apiVersion: " + flux + "v1beta2\n"
		}, nil},
		{"an unserved version in a value that a template prints", func(_ *testing.T, f *optionedFleet) { fromValue(f) },
			[]string{ofFlux}},
		{"an unserved version in a template that no cluster type uses", func(_ *testing.T, f *optionedFleet) {
			unused := *f.Templates[0]
			unused.Name, unused.Manifests = "unused", []string{"apiVersion: " + flux + "v1beta2\nkind: GitRepository\n"}
			f.Templates = append(f.Templates, &unused)
		}, nil},
		{"an unserved version in a folder that does not change", func(t *testing.T, f *optionedFleet) {
			fromValue(f)
			deliver(t, f)
		}, nil},
		{"unserved versions in two templates", func(_ *testing.T, f *optionedFleet) {
			fromValue(f)
			f.Templates[1].Manifests = append(f.Templates[1].Manifests, "{\"apiVersion\": "+
				"\"kustomize.toolkit.fluxcd.io/v1beta1\", \"kind\": \"Kustomization\", \"metadata\": {\"name\": \"a\", "+
				"\"namespace\": \"{{ .Namespace }}\"}}", "apiVersion: helm.toolkit.fluxcd.io/v2beta2\nkind: HelmRelease\n"+
				"metadata:\n  name: a\n  namespace: {{ .Namespace }}\n")
		}, []string{
			ofFlux,
			`template "ns": helm.toolkit.fluxcd.io/v2beta2, now helm.toolkit.fluxcd.io/v2`,
			`template "ns": kustomize.toolkit.fluxcd.io/v1beta1, now kustomize.toolkit.fluxcd.io/v1`,
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := fluxFleet("{{ .DeploymentTargetName }}")
			tt.change(t, f)
			_, problems := f.run(t.Context())
			var lines []string
			for _, p := range problems {
				if p.Severity != problem.Warning || p.Summary != "Flux no longer serves this version" || lines != nil {
					t.Fatal(problems)
				}
				for line := range strings.Lines(p.Detail) {
					if strings.HasPrefix(line, "  ") {
						lines = append(lines, strings.TrimSpace(line))
					}
				}
			}
			if diff := cmp.Diff(tt.want, lines); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
		})
	}
}

// TestManyDuplicateObjects: a template that is wrong for a whole fleet is one problem of limited length. The files of a
// delivered folder that changes are kept to be compared later, up to 16 MiB; the files here are larger.
func TestManyDuplicateObjects(t *testing.T) {
	t.Parallel()
	const targets = 400
	f := fluxFleet("{{ .Workload }}")
	f.Workloads[0].Targets = nil
	for n := range targets {
		f.Workloads[0].Targets = append(f.Workloads[0].Targets, fleet.Target{
			Name: fmt.Sprintf("t%03d", n), Environment: "dev", Manifests: map[string]string{"branch": "main"}})
	}
	f.Templates[1].Manifests = append(f.Templates[1].Manifests, "kind: X\nspec:\n  text: "+strings.Repeat("x",
		64<<10)+"\n")
	f.Limits.TargetsPerWorkload = targets
	f.Invalid = problem.Warn
	for _, delivered := range []func(clusterType, target string) []byte{
		nil, func(string, string) []byte { return []byte("before") },
	} {
		f.Delivered = delivered
		_, problems := f.run(t.Context())
		if len(problems) != 2 || problems.HasErrors() {
			t.Fatalf("%d problems: %.4000s", len(problems), problems.Error())
		}
		for _, p := range problems {
			if len(p.Detail) > 4000 || !strings.Contains(p.Detail, "and 379 more") &&
				!strings.Contains(p.Detail, "(400 deployment target folders, such as large/shop-t000)") {
				t.Errorf("the problem has %d bytes: %s", len(p.Detail), p.Detail)
			}
		}
	}
}
