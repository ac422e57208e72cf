package engine_test

import (
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/engine"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render/tree"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/seeds"
)

// TestKnownTreeOfUnknownValues makes parts of random fleets unknown, as in a plan, and then sets them to several
// values, as in applies. The tree of each apply must contain everything that the plan showed as known.
func TestKnownTreeOfUnknownValues(t *testing.T) {
	const concretisations = 4
	fleets, decided, partly, compared, sure := 0, 0, 0, 0, 0
	for seed := range seeds.Of(t, 100, 600) {
		fleets++
		r := rand.New(rand.NewPCG(seed, 3))
		planned := randomFleet(seed)
		all := sites(planned)
		var chosen []int
		var names []string
		for range 1 + r.IntN(3) {
			i := r.IntN(len(all))
			chosen = append(chosen, i)
			names = append(names, all[i].name)
			all[i].set(unknown.Text)
		}
		made, problems := engine.Run(t.Context(), planned, engine.Options{})
		known := made.Tree
		switch {
		case made.AssignmentsKnown:
			decided++
		case known != nil:
			partly++
		}
		for range concretisations {
			f := randomFleet(seed)
			places := sites(f)
			for _, i := range chosen {
				places[i].set(places[i].values[r.IntN(len(places[i].values))])
			}
			actual, actualProblems := build(t.Context(), f)
			if actualProblems.HasErrors() {
				continue
			}
			if err := problems.Err(); err != nil {
				t.Errorf("seed %d, unknown %q: the plan fails with %v, but the apply does not", seed, names, err)
				break
			}
			if known == nil {
				continue
			}
			compared++
			if d := cmp.Diff(assignmentsOf(known, known), assignmentsOf(actual, known)); d != "" {
				t.Errorf("seed %d, unknown %q: assignments (-planned +actual):\n%s", seed, names, d)
			}
			sure += compareKnown(t, seed, names, known, actual)
			if t.Failed() {
				return
			}
		}
	}
	t.Logf("%d of %d fleets decided, %d in part, %d comparisons, %d files known", decided, fleets, partly, compared, sure)
	if seeds.Single() {
		return
	}
	if decided < fleets/3 || partly < fleets/30 || compared < fleets || sure < compared {
		t.Errorf("%d fleets decided, %d in part, %d comparisons, %d files known: too few to test the plan",
			decided, partly, compared, sure)
	}
}

// assignmentsOf returns the assignments to the cluster types that are decided in another tree, and the targets without
// an assignment.
func assignmentsOf(built, decided *tree.Tree) (all []string) {
	for i, p := range built.Schedule.Placements {
		if decided.Folders[i].Undecided {
			continue
		}
		all = append(all, p.ClusterType.Name)
		for _, a := range p.Assignments {
			all = append(all, p.ClusterType.Name+"/"+a.Target.Name)
		}
	}
	for _, target := range built.Schedule.Unscheduled {
		if !slices.ContainsFunc(
			decided.Schedule.Undecided,
			func(t *fleet.DeploymentTarget) bool { return t.Name == target.Name },
		) {
			all = append(all, target.Name)
		}
	}
	return all
}

// compareKnown compares the known part of a planned tree with the actual tree, and returns the number of known files.
func compareKnown(t *testing.T, seed uint64, names []string, known, actual *tree.Tree) (sure int) {
	t.Helper()
	report := func(what string) {
		t.Helper()
		t.Errorf("seed %d, unknown %q: %s", seed, names, what)
	}
	if !known.Unknown && known.Hash != actual.Hash {
		report("the plan showed another hash of the tree")
	}
	for i, folder := range known.Folders {
		if !folder.Unknown && folder.Hash != actual.Folders[i].Hash {
			report("the plan showed another hash of the folder " + folder.ClusterType)
		}
		if folder.Undecided {
			continue
		}
		files := map[string]tree.File{}
		for f := range actual.Files(i) {
			files[f.Path] = f
		}
		mayLack := map[string]bool{} // the files that may be absent, without their extensions
		planned := map[string]bool{}
		unknown := map[string]bool{} // targets
		for f := range known.Files(i) {
			planned[f.Path] = true
			if f.Unknown || f.MayBeAbsent {
				unknown[path.Dir(f.Path)] = true
			}
			is, exists := files[f.Path]
			switch {
			case f.MayBeAbsent:
				mayLack[strings.TrimSuffix(f.Path, path.Ext(f.Path))] = true
			case !exists:
				report("the plan showed the file " + folder.ClusterType + "/" + f.Path + ", which does not exist")
			case !f.Unknown:
				sure++
				if d := cmp.Diff(string(f.Content), string(is.Content)); d != "" {
					report("the plan showed other content of " + folder.ClusterType + "/" + f.Path + " (-planned +actual):\n" + d)
				}
			}
		}
		for p := range files {
			if !planned[p] && !mayLack[strings.TrimSuffix(p, path.Ext(p))] {
				report("the plan did not show the file " + folder.ClusterType + "/" + p)
			}
		}
		for n, target := range folder.Targets {
			if !unknown[target.Name] && target != actual.Folders[i].Targets[n] {
				report("the plan showed another folder of " + target.Name)
			}
		}
	}
	return sure
}

// TestUnknownValueAffectsOnlyItsDependents checks that an unknown value makes only the files and folders unknown that
// depend on it.
func TestUnknownValueAffectsOnlyItsDependents(t *testing.T) {
	tests := []struct {
		name string
		set  func(f *fleet.Fleet)
		want []string // the undecided folders and the unknown files, with a question mark if a file may be absent
	}{
		{"nothing", func(*fleet.Fleet) {}, nil},
		{
			"a config value",
			func(f *fleet.Fleet) { f.Configs[0].Data["A"] = unknown.Text },
			[]string{"east/app-one/platform-config.yaml", "east/app-two/platform-config.yaml"},
		},
		{
			"a config value that no template reads", func(f *fleet.Fleet) { f.Configs[0].Data["X"] = unknown.Text },
			[]string{"east/app-one/platform-config.yaml", "east/app-two/platform-config.yaml"},
		},
		{"a config value that text replaces", func(f *fleet.Fleet) { f.Configs[1].Data["A"] = unknown.Text }, nil},
		{
			"a key that one template reads",
			func(f *fleet.Fleet) { f.Configs[3].Data["B"] = unknown.Text },
			[]string{"west/app-one/platform-config.yaml"},
		},
		{"a key that no template reads", func(f *fleet.Fleet) { f.Configs[3].Data["C"] = unknown.Text }, nil},
		{
			"a manifest of a target", func(f *fleet.Fleet) { f.Workloads[0].Targets[0].Manifests["repo"] = unknown.Text },
			[]string{"east/app-one/reconciler.yaml", "west/app-one/reconciler.yaml"},
		},
		{
			"a manifest of a target that no template reads",
			func(f *fleet.Fleet) { f.Workloads[0].Targets[0].Manifests["branch"] = unknown.Text },
			nil,
		},
		{
			"a manifest of a template",
			func(f *fleet.Fleet) { f.Templates[0].Manifests[0] = unknown.Text },
			[]string{
				"east/app-one/reconciler.yaml",
				"east/app-two/reconciler.yaml",
				"west/app-one/reconciler.yaml",
				"west/app-two/reconciler.yaml",
			},
		},
		{
			"a template's content type", func(f *fleet.Fleet) { f.Templates[3].ContentType = unknown.Text },
			[]string{"west/app-one/platform-config.yaml?", "west/app-two/platform-config.yaml?"},
		},
		{
			"a cluster type's template", func(f *fleet.Fleet) { f.ClusterTypes[0].ConfigType = unknown.Text },
			[]string{"east/app-one/platform-config.yaml?", "east/app-two/platform-config.yaml?"},
		},
		{
			"the whole data of a config",
			func(f *fleet.Fleet) { f.Configs[3].Data = map[string]string{unknown.Text: unknown.Text} },
			[]string{"west/app-one/platform-config.yaml"},
		},
		{"a policy's name", func(f *fleet.Fleet) { f.Policies[0].Name = unknown.Text }, nil},
		{
			"the label of a cluster type that configs select by",
			func(f *fleet.Fleet) {
				f.Configs[0].Data["B"] = "east"
				f.ClusterTypes[1].Labels["region"] = unknown.Text
			},
			[]string{"west/app-one/platform-config.yaml", "west/app-two/platform-config.yaml"},
		},
		{
			"the label of a cluster type that nothing selects by",
			func(f *fleet.Fleet) { f.ClusterTypes[1].Labels["zone"] = unknown.Text },
			nil,
		},
		{"the label of a cluster type that a policy selects by", func(f *fleet.Fleet) {
			f.Policies[0].ClusterTypes.MatchLabels = map[string]string{"region": "east"}
			f.ClusterTypes[1].Labels["region"] = unknown.Text
		}, []string{"west"}},
		{"all labels of a cluster type", func(f *fleet.Fleet) {
			f.Policies[0].ClusterTypes.MatchLabels = map[string]string{"region": "east"}
			f.ClusterTypes[1].Labels = map[string]string{unknown.Text: unknown.Text}
		}, []string{"west"}},
		{"the label of a target that nothing reads", func(f *fleet.Fleet) {
			f.Workloads[0].Targets[0].Labels = map[string]string{"tier": unknown.Text}
		}, nil},
		{"the label of a target that a policy for one cluster type selects by", func(f *fleet.Fleet) {
			f.Policies = append(f.Policies, &fleet.SchedulingPolicy{
				Meta:              meta("scheduling_policies", "gold", nil),
				DeploymentTargets: fleet.Selector{MatchLabels: map[string]string{"tier": "gold"}},
				ClusterTypes:      fleet.Selector{MatchLabels: map[string]string{"region": "west"}},
			})
			f.Workloads[0].Targets[0].Labels = map[string]string{"tier": unknown.Text}
		}, []string{"west"}},
		{"the label of a target that a template reads", func(f *fleet.Fleet) {
			f.Templates[1].Manifests[0] += "\ntier: {{ .Labels.tier }}"
			f.Workloads[0].Targets[0].Labels = map[string]string{"tier": unknown.Text}
			f.Workloads[0].Targets[1].Labels = map[string]string{"tier": "gold"}
		}, []string{"east/app-one/namespace.yaml", "west/app-one/namespace.yaml"}},
		{"the selector of a policy that may only concern one cluster type", func(f *fleet.Fleet) {
			f.Policies = append(f.Policies, &fleet.SchedulingPolicy{
				Meta:              meta("scheduling_policies", "late", nil),
				DeploymentTargets: fleet.Selector{MatchLabels: map[string]string{"tier": unknown.Text}},
				ClusterTypes:      fleet.Selector{MatchLabels: map[string]string{"region": "east"}},
			})
		}, []string{"east"}},
		{
			"the label of a target of another environment",
			func(f *fleet.Fleet) { f.Workloads[0].Targets[2].Labels = map[string]string{"a": unknown.Text} },
			nil,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := &fleet.Fleet{
				Environment: "dev",
				ClusterTypes: []*fleet.ClusterType{
					{
						Meta:             meta("cluster_types", "east", map[string]string{"region": "east"}),
						Reconciler:       "r",
						NamespaceService: "n",
						ConfigType:       "all",
					},
					{
						Meta:             meta("cluster_types", "west", map[string]string{"region": "west"}),
						Reconciler:       "r",
						NamespaceService: "n",
						ConfigType:       "b",
					},
				},
				Templates: []*fleet.Template{
					{Meta: meta("templates", "r", nil), Type: "reconciler", Manifests: []string{"url: {{ .Manifests.repo }}"}},
					{Meta: meta("templates", "n", nil), Type: "namespace", Manifests: []string{"name: {{ .Namespace }}"}},
					{Meta: meta("templates", "all", nil), Type: "config", Manifests: []string{"data: {{ toJson .ConfigData }}"}},
					{Meta: meta("templates", "b", nil), Type: "config", Manifests: []string{`data: {{ index .ConfigData "B" | ` +
						`default "none" }}`}},
				},
				Configs: []*fleet.Config{
					{
						Meta: meta("configs", "2", map[string]string{"platform-config": "true", "region": "east"}),
						Data: map[string]string{"A": "a"},
					},
					{Meta: meta("configs", "1", map[string]string{"platform-config": "true"}), Data: map[string]string{"B": "b"}},
					{
						Meta: meta("configs", "3", map[string]string{"platform-config": "true", "region": "north"}),
						Data: map[string]string{"A": unknown.Text},
					},
					{
						Meta: meta(
							"configs",
							"4",
							map[string]string{"platform-config": "true", "deployment-target": "app-one", "cluster-type": "west"},
						),
						Data: map[string]string{"D": "d"},
					},
				},
				Workloads: []*fleet.Workload{{Meta: meta("workloads", "app", nil), Targets: []fleet.Target{
					{Name: "one", Environment: "dev", Manifests: map[string]string{"repo": "one"}},
					{Name: "two", Environment: "dev", Manifests: map[string]string{"repo": "two"}},
					{Name: "three", Environment: "stage"},
				}}},
				Policies: []*fleet.SchedulingPolicy{{Meta: meta("scheduling_policies", "all", nil)}},
			}
			tt.set(f)
			built, problems := build(t.Context(), f)
			if err := problems.Err(); err != nil {
				t.Fatal(err)
			}
			var got []string
			for i, folder := range built.Folders {
				if folder.Undecided {
					got = append(got, folder.ClusterType)
					continue
				}
				for file := range built.Files(i) {
					switch {
					case file.MayBeAbsent:
						got = append(got, folder.ClusterType+"/"+file.Path+"?")
					case file.Unknown:
						got = append(got, folder.ClusterType+"/"+file.Path)
					}
				}
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("unknown files (-want +got):\n%s", d)
			}
		})
	}
}

// TestOrderDoesNotMatter builds random fleets in several orders of their objects and targets.
func TestOrderDoesNotMatter(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	for seed := range seeds.Of(t, 50, 150) {
		f := randomFleet(seed)
		want, wantProblems := build(t.Context(), f)
		for range 3 {
			shuffle(f, r)
			got, problems := build(t.Context(), f)
			if d := cmp.Diff(wantProblems.Error(), problems.Error()); d != "" {
				t.Fatalf("seed %d: problems (-want +got):\n%s", seed, d)
			}
			if want != nil && got.Hash != want.Hash {
				t.Fatalf("seed %d: the order of the input changes the tree", seed)
			}
		}
	}
}
