package engine_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/engine"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// TestLeaveOutFailed checks which faults are a team's, and which targets they affect. Only these targets are left out
// of the tree. A fault of the platform fails the fleet, as it does without LeaveOutFailed.
func TestLeaveOutFailed(t *testing.T) {
	t.Parallel()
	target := func(change func(*fleet.Workload, *fleet.Target)) func(*fleet.Fleet) {
		return func(f *fleet.Fleet) { change(f.Workloads[0], &f.Workloads[0].Targets[0]) }
	}
	const app = "large/app-test small/app-test"
	for _, tt := range []struct {
		name    string
		change  func(*fleet.Fleet)
		affects string // the targets that the faults affect; "-" if none; empty if the fleet fails
		tree    string
	}{
		{"a template that fails on its data", target(func(_ *fleet.Workload, t *fleet.Target) {
			delete(t.Manifests, "path")
		}), app, "large/other-test small/other-test"},
		{"a template that fails on one cluster type", target(func(_ *fleet.Workload, t *fleet.Target) {
			t.Manifests["breaks"] = "large"
		}), "large/app-test", "large/other-test small/app-test small/other-test"},
		{"text that changes the documents", target(func(_ *fleet.Workload, t *fleet.Target) {
			t.Manifests["path"] = "a: b"
		}), app, "large/other-test small/other-test"},
		{"values that violate the schema of the target", target(func(_ *fleet.Workload, t *fleet.Target) {
			t.ConfigSchemas = []string{`{"required": ["NONE"]}`}
		}), app, "large/other-test small/other-test"},
		{"values that violate the schema of the Workload", target(func(w *fleet.Workload, _ *fleet.Target) {
			w.ConfigSchemas = []string{`{"required": ["NONE"]}`}
		}), app, "large/other-test small/other-test"},
		{"a broken schema of the Workload", target(func(w *fleet.Workload, _ *fleet.Target) {
			w.ConfigSchemas = []string{"{"}
		}), "*/app-test", "large/other-test small/other-test"},
		{"a text that contains a template", target(func(_ *fleet.Workload, t *fleet.Target) {
			t.Manifests["path"] = "{{ .ConfigData }}"
		}), "*/app-test", "large/other-test small/other-test"},
		{"an invalid label of a target", target(func(_ *fleet.Workload, t *fleet.Target) {
			t.Labels = map[string]string{"a": "b c"}
		}), "*/app-test", "large/other-test small/other-test"},
		{"an invalid label of the Workload", target(func(w *fleet.Workload, _ *fleet.Target) {
			w.Labels = map[string]string{"a": "b c"}
		}), "*/app-test", "large/other-test small/other-test"},
		{"no environment", target(func(_ *fleet.Workload, t *fleet.Target) {
			t.Environment = ""
		}), "*/app-test", "large/other-test small/other-test"},
		{"more targets than a Workload may have", func(f *fleet.Fleet) {
			w := f.Workloads[0]
			w.Targets = append(w.Targets, fleet.Target{Name: "more", Environment: "dev"})
			f.Limits.TargetsPerWorkload = 1
		}, "*/app-test */app-more", "large/other-test small/other-test"},
		{"an invalid target with the same name in another environment", func(f *fleet.Fleet) {
			w := f.Workloads[0]
			w.Targets = append(w.Targets, fleet.Target{Name: "test", Environment: "prod", Labels: map[string]string{"a": "b c"}})
		}, "-", "large/app-test large/other-test small/app-test small/other-test"},
		{"a namespace with a dot", target(func(_ *fleet.Workload, t *fleet.Target) { t.Name = "test.x" }),
			"large/app-test.x small/app-test.x", "large/other-test small/other-test"},
		{"a namespace that is too long on one cluster type", func(f *fleet.Fleet) {
			f.ClusterTypes[1].Name = "small-" + strings.Repeat("x", 44) // room for 8 characters
			f.Workloads[0].Name = "apps"
			f.Workloads[1].Name = "api"
		}, "small-" + strings.Repeat("x", 44) + "/apps-test",
			"large/api-test large/apps-test small-" + strings.Repeat("x", 44) + "/api-test"},

		{"no environment, but another target with the same name has one", target(func(w *fleet.Workload, t *fleet.Target) {
			w.Targets = append(w.Targets, fleet.Target{Name: t.Name})
		}), "-", "large/app-test large/other-test small/app-test small/other-test"},

		{"a template that does not parse", func(f *fleet.Fleet) { f.Templates[0].Manifests = []string{"{{ end }}"} }, "", ""},
		{"values that violate a schema of the platform", func(f *fleet.Fleet) {
			addSchema(f, "strict", `{"required": ["NONE"]}`)
		}, "", ""},
		{"a broken schema of the platform", func(f *fleet.Fleet) { addSchema(f, "none", "{") }, "", ""},
		{"an invalid name of a target", target(func(_ *fleet.Workload, t *fleet.Target) { t.Name = "../a" }), "", ""},
		{"two targets with one name", target(func(w *fleet.Workload, t *fleet.Target) {
			w.Targets = append(w.Targets, *t)
		}), "", ""},
		{"a target whose name collides with a target that fails", func(f *fleet.Fleet) {
			f.Workloads[0].Targets[0].Name = "x-test"
			f.Workloads[0].Targets[0].Manifests["path"] = "{{"
			f.Workloads[1].Name = "app-x"
		}, "*/app-x-test */app-x-test", ""},
		{"a target whose name collides with a target without environment", func(f *fleet.Fleet) {
			f.Workloads[0].Targets = append(f.Workloads[0].Targets, fleet.Target{Name: "x-test"})
			f.Workloads[1].Name = "app-x"
		}, "*/app-x-test */app-x-test", "large/app-test small/app-test"},
		{"a target whose name collides with a target of another team", func(f *fleet.Fleet) {
			same := f.Workloads[0].Targets[0]
			same.Name = "x-test"
			f.Workloads[0].Targets = append(f.Workloads[0].Targets, same)
			f.Workloads[1].Name = "app-x"
		}, "*/app-x-test", "large/app-test small/app-test"},
		{"a cluster type whose name makes all namespaces invalid", func(f *fleet.Fleet) {
			f.ClusterTypes[1].Name = "small.x"
		}, "", ""},
		{"more assignments than the fleet may have", func(f *fleet.Fleet) { f.Limits.Assignments = 1 }, "", ""},
		{"a fault of a team and a fault of the platform", func(f *fleet.Fleet) {
			f.Workloads[0].Targets[0].Manifests["path"] = "{{"
			f.Templates[0].Manifests = []string{"{{ end }}"}
		}, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := twoTeams()
			tt.change(f)
			failing, problems := engine.Run(t.Context(), f, engine.Options{})
			if tt.affects != "-" && (failing.Tree != nil || !problems.HasErrors()) {
				t.Errorf("the fleet does not fail: %v", problems)
			}
			result, problems := engine.Run(t.Context(), f, engine.Options{LeaveOutFailed: true})
			if tt.affects == "" {
				if result.Tree != nil || !problems.HasErrors() {
					t.Fatalf("the fleet does not fail: %v, left out: %v", problems, result.LeftOut)
				}
				return
			}
			if problems.HasErrors() {
				t.Fatal(problems)
			}
			if diff := cmp.Diff(tt.affects, affected(result.LeftOut)); diff != "" {
				t.Errorf("affected (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.tree, targetsOf(result)); diff != "" {
				t.Errorf("tree (-want +got):\n%s", diff)
			}
			for i, folder := range result.Tree.Folders { // the files of the other targets must be the same
				for n, target := range folder.Targets {
					for file := range result.Tree.TargetFiles(i, n) {
						if file.Path == "namespace.yaml" && !strings.Contains(string(file.Content), target.Name) {
							t.Errorf("%s has the namespace %s", target.Name, file.Content)
						}
					}
				}
			}
		})
	}
}

// twoTeams returns a fleet of two Workloads, each with one target, on two cluster types.
func twoTeams() *fleet.Fleet {
	f := teamFleet("kind: K\npath: {{ .Manifests.path }}\n{{ if eq .ClusterType .Manifests.breaks }}"+
		"{{ .Manifests.none }}{{ end }}", "", map[string]string{"path": "a", "repo": "r", "breaks": "none"})
	f.ClusterTypes = append(f.ClusterTypes, &fleet.ClusterType{
		Meta: fleet.Meta{Name: "small"}, Reconciler: "r", NamespaceService: "n",
	})
	f.Workloads = append(f.Workloads, &fleet.Workload{Meta: fleet.Meta{Name: "other"}, Targets: []fleet.Target{
		{Name: "test", Environment: "dev", Manifests: map[string]string{"path": "b", "repo": "r", "breaks": "none"}},
	}})
	return f
}

// affected lists the targets that problems affect, as cluster type/target, or returns "-" if they affect none.
func affected(ps problem.Problems) string {
	var all []string
	for _, p := range ps {
		for _, a := range p.Affects {
			if a.ClusterType == "" {
				a.ClusterType = "*"
			}
			all = append(all, a.ClusterType+"/"+a.Name)
		}
	}
	if len(all) == 0 {
		return "-"
	}
	return strings.Join(all, " ")
}

func targetsOf(r *engine.Output) string {
	var all []string
	for _, folder := range r.Tree.Folders {
		for _, target := range folder.Targets {
			all = append(all, folder.ClusterType+"/"+target.Name)
		}
	}
	return strings.Join(all, " ")
}
