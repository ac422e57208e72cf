package engine_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// loseColon removes a colon in line 5 of the reconcilers, which makes them invalid YAML.
func loseColon(f *optionedFleet) {
	f.Templates[0].Manifests[0] = strings.Replace(f.Templates[0].Manifests[0], "namespace:", "namespace", 1)
}

// TestInvalidFiles: a file that no cluster can apply is an error if it is new or changed. It is a fault of the
// deployment targets that have the file.
func TestInvalidFiles(t *testing.T) {
	t.Parallel()
	const all = "large/shop-blue large/shop-green large/shop-red"
	for _, tt := range []struct {
		name    string
		change  func(*testing.T, *optionedFleet)
		affects string   // the targets that the problem affects, with LeaveOutFailed
		tree    string   // the targets of the tree, with LeaveOutFailed
		texts   []string // parts of the problem; nil if there must be no problem
		warning bool
	}{
		{name: "valid files", tree: all, change: func(*testing.T, *optionedFleet) {}},
		{name: "a lost colon", affects: all, texts: []string{`Template "flux" renders files that kustomize refuses`,
			"reconciler.yaml, line 5: could not find expected ':' (3 deployment target folders, such as large/shop-blue)",
			`guardrails.invalid_objects is "error"`},
			change: func(_ *testing.T, f *optionedFleet) { loseColon(f) }},
		{name: "a warning", tree: all, warning: true, texts: []string{`guardrails.invalid_objects is "warn"`},
			change: func(_ *testing.T, f *optionedFleet) {
				loseColon(f)
				f.Invalid = problem.Warn
			}},
		{name: "an unknown setting for invalid files", tree: all, change: func(_ *testing.T, f *optionedFleet) {
			loseColon(f)
			f.Invalid = ""
		}},
		{name: "a lost colon while duplicates are ignored", affects: all, texts: []string{"could not find expected ':'"},
			change: func(_ *testing.T, f *optionedFleet) {
				loseColon(f)
				f.Duplicates = problem.Ignore
			}},
		{name: "a fault in a later manifest", affects: all, texts: []string{"namespace.yaml, line 6: it has no apiVersion"},
			change: func(_ *testing.T, f *optionedFleet) {
				f.Templates[1].Manifests = append(f.Templates[1].Manifests, "kind: A\nmetadata:\n  name: b\n")
			}},
		{name: "names that are numbers", affects: all, texts: []string{
			"reconciler.yaml, line 4: metadata.name is a number, and must be a string. Quote it (3 deployment target folders, " +
				"such as large/shop-blue, GitRepository 1e3: write name: \"1e3\")"},
			change: func(_ *testing.T, f *optionedFleet) {
				f.Templates[0].Manifests[0] = strings.Replace(f.Templates[0].Manifests[0], "name: x-{{ .DeploymentTargetName }}",
					"name: 1e3", 1)
			}},
		{name: "names that are different numbers", affects: all, texts: []string{
			"reconciler.yaml, line 4: metadata.name is a number, and must be a string. Quote it (3 deployment target folders, " +
				"such as large/shop-blue, GitRepository 90: write name: \"90\")"},
			change: func(_ *testing.T, f *optionedFleet) {
				f.Templates[0].Manifests[0] = strings.Replace(f.Templates[0].Manifests[0], "name: x-{{ .DeploymentTargetName }}",
					"name: {{ .Manifests.branch }}", 1)
				for i := range f.Workloads[0].Targets {
					f.Workloads[0].Targets[i].Manifests["branch"] = strconv.Itoa(90 + i)
				}
			}},
		{name: "a label of one team that is a boolean", affects: "large/shop-green", tree: "large/shop-blue large/shop-red",
			texts: []string{`reconciler.yaml, line 4: metadata.labels["app"] is a boolean, and must be a string. Quote it ` +
				"(1 deployment target folder, such as large/shop-green, GitRepository x-shop-green: write app: \"true\")"},
			change: func(_ *testing.T, f *optionedFleet) {
				f.Templates[0].Manifests[0] = strings.Replace(f.Templates[0].Manifests[0], "metadata:\n",
					"metadata:\n  labels: {app: {{ .Manifests.branch }}}\n", 1)
				f.Workloads[0].Targets[1].Manifests["branch"] = "true"
			}},
		{name: "a fault of one team", affects: "large/shop-green", tree: "large/shop-blue large/shop-red",
			texts: []string{
				`mapping key "name" already defined at line 4 (1 deployment target folder, such as large/shop-green)`},
			change: func(_ *testing.T, f *optionedFleet) {
				f.Templates[0].Manifests[0] = strings.Replace(f.Templates[0].Manifests[0], "metadata:\n",
					"metadata:\n  {{ .Manifests.branch }}: x\n", 1)
				f.Workloads[0].Targets[1].Manifests["branch"] = "name"
			}},
		{name: "an unchanged file", tree: all, change: func(t *testing.T, f *optionedFleet) {
			loseColon(f)
			deliver(t, f)
		}},
		{name: "one changed and two unchanged files", affects: "large/shop-red",
			tree: "large/shop-blue large/shop-green", texts: []string{"(1 deployment target folder, such as large/shop-red)"},
			change: func(t *testing.T, f *optionedFleet) {
				loseColon(f)
				deliver(t, f)
				f.Workloads[0].Targets[2].Manifests["branch"] = "other"
			}},
		{name: "a shell script", tree: all, change: func(_ *testing.T, f *optionedFleet) {
			f.Templates[0].Manifests[0] = "a: b: c\n"
			f.Templates[0].ContentType = fleet.ContentShell
		}},
		{name: "an empty file and a file of comments", tree: all, change: func(_ *testing.T, f *optionedFleet) {
			f.Templates[0].Manifests[0], f.Templates[1].Manifests[0] = "", "\n# nothing\n---\n"
		}},
		{name: "a kustomization", tree: all, change: func(_ *testing.T, f *optionedFleet) {
			f.Templates[0].Manifests[0], f.Templates[0].FileName = "resources: [namespace.yaml]\n", "kustomization.yaml"
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := fluxFleet("x")
			f.Templates[0].Manifests[0] = strings.Replace(f.Templates[0].Manifests[0], "name: x",
				"name: x-{{ .DeploymentTargetName }}", 1)
			f.Invalid = problem.Fail
			tt.change(t, f)
			result, problems := f.run(t.Context())
			fails := len(tt.texts) > 0 && !tt.warning
			if problems.HasErrors() != fails || (result.Tree == nil) != fails || len(problems) != min(1, len(tt.texts)) {
				t.Fatalf("problems: %v", problems)
			}
			for _, want := range tt.texts {
				if !strings.Contains(problems[0].Detail, want) {
					t.Errorf("no %q in:\n%s", want, problems[0].Detail)
				}
			}
			f.LeaveOutFailed = true
			result, problems = f.run(t.Context())
			if result.Tree == nil {
				t.Fatal(problems)
			}
			if tt.affects == "" {
				tt.affects = "-"
			}
			if got := affected(result.LeftOut); got != tt.affects {
				t.Errorf("affected: %s, want %s", got, tt.affects)
			}
			if got := targetsOf(result); got != tt.tree {
				t.Errorf("tree: %s, want %s", got, tt.tree)
			}
		})
	}
}

// TestInvalidFilesOfManyFolders: folders are checked in parallel, but the problem does not depend on which was first.
func TestInvalidFilesOfManyFolders(t *testing.T) {
	t.Parallel()
	var texts []string
	for range 20 {
		f := fluxFleet("{{ .DeploymentTargetName }}")
		for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
			ct := *f.ClusterTypes[0]
			ct.Name = name
			f.ClusterTypes = append(f.ClusterTypes, &ct)
		}
		f.Invalid = problem.Fail
		f.Templates[0].Manifests[0] += "{{ if eq .ClusterType \"c\" }}a b\n{{ end }}x: {{ .ClusterType }}: 1\n"
		_, problems := f.run(t.Context())
		texts = append(texts, problems.Error())
	}
	if !strings.Contains(texts[0], "18 deployment target folders, such as a/shop-blue") {
		t.Error(texts[0])
	}
	if len(slices.Compact(texts)) > 1 {
		t.Error(texts)
	}
}
