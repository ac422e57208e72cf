package delivery

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/rollout"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/seeds"
)

// shop returns the arguments of a fleet with three cluster types. The policy shop-web places the target shop-web on the
// two large ones, and shop-api places shop-api on all.
func shop() *Arguments {
	f := &fleet.Fleet{
		Environment: "dev",
		Workloads: []*fleet.Workload{{Meta: fleet.Meta{Name: "shop"}, Targets: []fleet.Target{
			{Name: "api", Environment: "dev", Labels: map[string]string{"app": "api"}},
			{Name: "web", Environment: "dev", Labels: map[string]string{"app": "web"}},
		}}},
		Templates: []*fleet.Template{
			{Meta: fleet.Meta{Name: "r"}, Type: fleet.TemplateReconciler, Manifests: []string{"name: {{ .Namespace }}"}},
			{Meta: fleet.Meta{Name: "n"}, Type: fleet.TemplateNamespace, Manifests: []string{"name: {{ .Namespace }}"}}},
	}
	for name, size := range map[string]string{"large-a": "large", "large-b": "large", "small": "small"} {
		f.ClusterTypes = append(f.ClusterTypes, &fleet.ClusterType{
			Meta: fleet.Meta{Name: name, Labels: map[string]string{"size": size}}, Reconciler: "r", NamespaceService: "n",
		})
	}
	for app, size := range map[string]string{"web": "large", "api": ""} {
		p := &fleet.SchedulingPolicy{Meta: fleet.Meta{Name: "shop-" + app}}
		p.DeploymentTargets.MatchLabels = map[string]string{"app": app}
		if size != "" {
			p.ClusterTypes.MatchLabels = map[string]string{"size": size}
		}
		f.Policies = append(f.Policies, p)
	}
	f.Sort()
	return &Arguments{
		Strategy: destination.Push, Destination: usualDestination, Environment: "dev", Fleet: f,
		Guardrails: Guardrails{MaxRemoved: "100%", Orphaned: problem.Fail},
	}
}

// renderedFrom renders the fleet of arguments.
func renderedFrom(t *testing.T, a *Arguments, s *State) *Rendered {
	t.Helper()
	r, ps := Render(t.Context(), a, nil, s, func(string, int, int) {})
	if err := ps.Err(); err != nil {
		t.Fatal(err)
	}
	return r
}

// stateAfter returns the state after the delivery of the arguments' tree.
func stateAfter(t *testing.T, a *Arguments) *State {
	t.Helper()
	folders := renderedFrom(t, a, nil).Folders
	written := record.New(a.Environment, folders.Names(), "", nil, nil)
	s := NewState(a.Destination, a.Environment)
	s.LastRead = Branch{Head: "head", Folders: folders, Record: &written, RecordHash: written.Hash()}
	s.Delivered, s.DeliveredRecord, s.Base, s.Inputs = folders, s.LastRead.RecordHash, "head", a.Inputs()
	return &s
}

func policyOf(a *Arguments, name string) *fleet.SchedulingPolicy {
	return a.Fleet.Policies[slices.IndexFunc(a.Fleet.Policies, func(p *fleet.SchedulingPolicy) bool {
		return p.Name == name
	})]
}

// dropPolicy removes policies from a fleet.
func dropPolicy(a *Arguments, names ...string) {
	a.Fleet.Policies = slices.DeleteFunc(a.Fleet.Policies, func(p *fleet.SchedulingPolicy) bool {
		return slices.Contains(names, p.Name)
	})
}

func webTarget(a *Arguments) *fleet.Target { return &a.Fleet.Workloads[0].Targets[1] }

// TestOrphaned: a deployment target that its team still has must not leave its last cluster type, whatever the mistake.
// The plan says why, by the policy that placed it.
func TestOrphaned(t *testing.T) {
	label := func(a *Arguments, app string) {
		policyOf(a, "shop-web").DeploymentTargets.MatchLabels = map[string]string{"app": app}
	}
	for _, test := range []struct {
		name string
		with func(a *Arguments, s *State)
		want []string // the lines of the refusal; nil: none
	}{
		{"nothing changes", func(*Arguments, *State) {}, nil},
		{"a typing error in a policy's label", func(a *Arguments, _ *State) { label(a, "webb") },
			[]string{`shop-web: leaves large-a and 1 more cluster type; policy "shop-web" now selects app "webb" ` +
				`(did you mean "web"?)`}},
		{"another value in a policy's label", func(a *Arguments, _ *State) { label(a, "frontend") },
			[]string{`shop-web: leaves large-a and 1 more cluster type; policy "shop-web" now selects app "frontend"`}},
		{"a typing error in a policy's workspace", func(a *Arguments, _ *State) {
			policyOf(a, "shop-web").Workspace = "shopp"
		}, []string{`shop-web: leaves large-a and 1 more cluster type; policy "shop-web" now selects workspace "shopp"`}},
		{"another cluster type selector", func(a *Arguments, _ *State) {
			policyOf(a, "shop-web").ClusterTypes.MatchLabels = map[string]string{"size": "larg"}
		}, []string{`shop-web: leaves large-a and 1 more cluster type; policy "shop-web" now selects cluster types ` +
			`with size "larg" (did you mean "large"?)`}},
		{"a deleted policy", func(a *Arguments, _ *State) { dropPolicy(a, "shop-web") },
			[]string{`shop-web: leaves large-a and 1 more cluster type; policy "shop-web" is gone`}},
		{"all policies are deleted", func(a *Arguments, _ *State) {
			dropPolicy(a, "shop-web", "shop-api")
			a.Guardrails.AllowEmpty = true
		}, []string{
			`shop-api: leaves large-a and 2 more cluster types; policies "shop-api", "shop-web" are gone`,
			`shop-web: leaves large-a and 1 more cluster type; policies "shop-api", "shop-web" are gone`}},
		{"cluster types with other labels", func(a *Arguments, _ *State) {
			for _, ct := range a.Fleet.ClusterTypes {
				ct.Labels = map[string]string{"size": "medium"}
			}
		}, []string{`shop-web: leaves large-a and 1 more cluster type; policy "shop-web" still selects it. No cluster ` +
			`type is selected; the closest is "large-a": label "size" is "medium" and must be "large"`}},
		{"its cluster types are gone", func(a *Arguments, _ *State) {
			a.Fleet.ClusterTypes = slices.DeleteFunc(a.Fleet.ClusterTypes, func(ct *fleet.ClusterType) bool {
				return ct.Name != "small"
			})
		}, []string{`shop-web: leaves large-a and 1 more cluster type; policy "shop-web" still selects it. No cluster ` +
			`type is selected; the closest is "small": label "size" is "small" and must be "large"`}},
		{"its team gives it another label", func(a *Arguments, _ *State) {
			webTarget(a).Labels = map[string]string{"app": "wbe"}
		}, nil},
		{"its team gives it another label, while the platform adds a policy and a cluster type, and changes another one",
			func(a *Arguments, _ *State) {
				webTarget(a).Labels = map[string]string{"app": "wbe"}
				a.Fleet.Policies = append(a.Fleet.Policies, &fleet.SchedulingPolicy{
					Meta:              fleet.Meta{Name: "new"},
					DeploymentTargets: fleet.Selector{MatchLabels: map[string]string{"app": "new"}},
				})
				other := *a.Fleet.ClusterTypes[0]
				other.Name = "new"
				a.Fleet.ClusterTypes = append(a.Fleet.ClusterTypes, &other)
				for _, ct := range a.Fleet.ClusterTypes {
					if ct.Name == "small" {
						ct.Labels = map[string]string{"size": "small", "region": "west"}
					}
				}
				a.Fleet.Sort()
			}, nil},
		{"its team gives it another label, while a cluster type that it leaves changes", func(a *Arguments, _ *State) {
			webTarget(a).Labels = map[string]string{"app": "wbe"}
			a.Fleet.ClusterTypes[0].Labels = map[string]string{"size": "large", "region": "west"}
		}, []string{`shop-web: leaves large-a and 1 more cluster type; the nearest policy is "shop-web": label "app" is ` +
			`"wbe" and must be "web" (did you mean "wbe"?)`}},
		{"its team gives it another label, while a policy changes", func(a *Arguments, _ *State) {
			webTarget(a).Labels = map[string]string{"app": "wbe"}
			label(a, "webb")
		}, []string{`shop-web: leaves large-a and 1 more cluster type; policy "shop-web" now selects app "webb"`}},
		{"the inputs of the last apply are not known, as after an import", func(a *Arguments, s *State) {
			s.Inputs = nil
			dropPolicy(a, "shop-web")
		}, []string{`shop-web: leaves large-a and 1 more cluster type; the nearest policy is "shop-api": label "app" is ` +
			`"web" and must be "api"`}},
		{"it moves to another location in the same change", func(a *Arguments, _ *State) {
			label(a, "webb")
			a.Destination.Branch, a.Guardrails.AllowEmpty = "live", true
		}, []string{`shop-web: leaves large-a and 1 more cluster type; policy "shop-web" now selects app "webb" ` +
			`(did you mean "web"?)`}},

		{"it stays on one cluster type", func(a *Arguments, _ *State) {
			a.Fleet.ClusterTypes[0].Labels = map[string]string{"size": "small"}
		}, nil},
		{"it moves to another cluster type", func(a *Arguments, _ *State) {
			policyOf(a, "shop-web").ClusterTypes.MatchLabels = map[string]string{"size": "small"}
		}, nil},
		{"its team removes it", func(a *Arguments, _ *State) {
			a.Fleet.Workloads[0].Targets = a.Fleet.Workloads[0].Targets[:1]
		}, nil},
		{"its team moves it to another environment", func(a *Arguments, _ *State) {
			webTarget(a).Environment = "stage"
		}, nil},
		{"its team removes it while the policy changes", func(a *Arguments, _ *State) {
			a.Fleet.Workloads[0].Targets = a.Fleet.Workloads[0].Targets[:1]
			dropPolicy(a, "shop-web")
		}, nil},
		{"it was nowhere before", func(a *Arguments, s *State) {
			for _, folders := range []inventory.Folders{s.Delivered, s.LastRead.Folders} {
				for name, folder := range folders {
					folder.Targets = slices.DeleteFunc(slices.Clone(folder.Targets), func(t inventory.Target) bool {
						return t.Name == "shop-web"
					})
					folders[name] = folder
				}
			}
			label(a, "webb")
		}, nil},
		{"a new target that no policy selects", func(a *Arguments, _ *State) {
			a.Fleet.Workloads[0].Targets = append(a.Fleet.Workloads[0].Targets, fleet.Target{Name: "x", Environment: "dev"})
		}, nil},
		{"the guardrail ignores it", func(a *Arguments, _ *State) {
			label(a, "webb")
			a.Guardrails.Orphaned = problem.Ignore
		}, nil},
		{"the rendering moves", func(a *Arguments, _ *State) {
			a.Destination.Branch, a.Guardrails.AllowEmpty = "live", true
		}, nil},
		{"the rendering is only computed", func(a *Arguments, _ *State) {
			label(a, "webb")
			a.Strategy = destination.None
		}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, a := stateAfter(t, shop()), shop()
			test.with(a, s)
			tree := NewNextTree(renderedFrom(t, a, s), nil, s)
			branch := &s.LastRead
			if a.Destination.Branch == "live" {
				branch = &Branch{Head: "other"}
			}
			apply := func() ([]*Refusal, []error) {
				if a.Strategy == destination.None {
					return nil, Decide(tree.Rendered, &Prior{TreeHash: "tree", Commit: "commit"}, s).All().Errors
				}
				c, errs := newChange(NewComparison(tree, s, branch), nil)
				return c.Warnings, errs
			}
			_, errs := apply()
			var got []string
			for _, err := range errs {
				if e, is := errors.AsType[*Refusal](err); is && e.Kind == Orphaned {
					intro, list, _ := strings.Cut(e.Reason, "\n  ")
					if !strings.HasSuffix(intro, "places it any more:") && !strings.HasSuffix(intro, "places them any more:") {
						t.Errorf("the refusal begins with %s", intro)
					}
					got = strings.Split(list, "\n  ")
					tree.Args.AcceptedChanges = AcceptedChanges{string(e.ID)}
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("the lines of the refusal (-want +got):\n%s", diff)
			}
			if warnings, errs := apply(); test.want != nil && (slices.ContainsFunc(errs, isOrphaned) ||
				!slices.ContainsFunc(warnings, func(e *Refusal) bool { return isOrphaned(e) }) && len(errs) == 0) {
				t.Errorf("accepted: %v, warnings %v", errs, warnings)
			}
			if test.want != nil {
				tree.Args.AcceptedChanges, tree.Args.Guardrails.Orphaned = nil, problem.Warn
				if _, errs := apply(); slices.ContainsFunc(errs, isOrphaned) {
					t.Errorf("with a warning: %v", errs)
				}
			}
		})
	}
}

func isOrphaned(err error) bool {
	e, is := errors.AsType[*Refusal](err)
	return is && e.Kind == Orphaned
}

// TestOrphanedWithEmptied: a change that empties a cluster type by orphaning its target has both IDs in one plan, so
// that people accept both at once. The plan and the apply refuse the same.
func TestOrphanedWithEmptied(t *testing.T) {
	before, a := shop(), shop()
	dropPolicy(before, "shop-api")
	dropPolicy(a, "shop-api")
	only := func(a *Arguments, name, size string) {
		p := &fleet.SchedulingPolicy{Meta: fleet.Meta{Name: name}}
		p.DeploymentTargets.MatchLabels = map[string]string{"app": "api"}
		p.ClusterTypes.MatchLabels = map[string]string{"size": size}
		a.Fleet.Policies = append(a.Fleet.Policies, p)
	}
	only(before, "small", "small")
	only(a, "small", "smal")
	a.Guardrails.Emptied = problem.Fail
	s := stateAfter(t, before)
	prior := &Prior{TreeHash: "tree", Commit: "commit", Delivered: true}
	r := renderedFrom(t, a, s)
	refused := ids(Decide(r, prior, s).All().Errors)
	if len(refused) != 2 || !strings.HasPrefix(refused[0], "emptied-") || !strings.HasPrefix(refused[1], "orphaned-") {
		t.Fatalf("the plan has the IDs %v", refused)
	}
	a.AcceptedChanges = refused
	d := Decide(r, prior, s)
	if len(d.All().Errors) > 0 || len(a.AcceptedChanges.Spent(d.All().Accepted)) > 0 {
		t.Errorf("accepted: %v, %v", d.All().Errors, d.All().Accepted)
	}
	s.LastRead.Head = "next"
	if again := ids(Decide(r, prior, s).All().Errors); len(again) != 2 || again[1] == refused[1] {
		t.Errorf("another head: %v", again)
	}
}

// TestOrphanedInWaves: with a rollout, the first apply refuses what a later wave would do. Once it is accepted, the
// following waves to the same tree only warn.
func TestOrphanedInWaves(t *testing.T) {
	s, a := stateAfter(t, shop()), shop()
	dropPolicy(a, "shop-web")
	of := func(size string) fleet.Selector { return fleet.Selector{MatchLabels: map[string]string{"size": size}} }
	a.Rollout = &rollout.Rollout{Stages: []rollout.Stage{
		{Name: "first", Selector: of("small")}, {Name: "rest", Selector: of("large")},
	}}
	r := renderedFrom(t, a, s)
	apply := func() (*Change, []error) {
		return newChange(NewComparison(NewNextTree(r, nil, s), s, &s.LastRead), nil)
	}
	if _, errs := apply(); len(errs) != 1 || !isOrphaned(errs[0]) {
		t.Fatalf("the first wave: %v", errs)
	}
	s.Rollout = &rollout.StoredProgress{Progress: rollout.Progress{
		TargetTreeHash: NewNextTree(r, nil, s).TargetTreeHash(), Stage: "first",
	}}
	if change, errs := apply(); len(errs) > 0 || !slices.ContainsFunc(change.Warnings, func(e *Refusal) bool {
		return isOrphaned(e)
	}) {
		t.Errorf("the next wave to the same tree: %v, warnings %v", errs, change.Warnings)
	}
	s.Rollout.TargetTreeHash = "another tree"
	if _, errs := apply(); len(errs) != 1 || !isOrphaned(errs[0]) {
		t.Errorf("a rollout to another tree: %v", errs)
	}
}

// TestRandomOrphans: a target is orphaned exactly if the fleet has it, some folder has it before, and no folder after.
func TestRandomOrphans(t *testing.T) {
	found, stayed := 0, 0
	for seed := range seeds.Of(t, 200, 2000) {
		random := rand.New(rand.NewPCG(seed, 81))
		pick := func(all ...string) string { return all[random.IntN(len(all))] }
		fleetOf := func() *Arguments {
			a := shop()
			a.Guardrails.AllowEmpty = true
			var targets []fleet.Target
			for i := range 6 {
				if random.IntN(5) > 0 {
					targets = append(targets, fleet.Target{Name: fmt.Sprint("t", i), Environment: pick("dev", "dev", "dev", "stage"),
						Labels: map[string]string{"app": pick("web", "api", "job")}})
				}
			}
			a.Fleet.Workloads[0].Targets = targets
			for _, p := range a.Fleet.Policies {
				p.DeploymentTargets.MatchLabels = map[string]string{"app": pick("web", "api", "job")}
				p.ClusterTypes.MatchLabels = map[string]string{"size": pick("small", "large", "none")}
			}
			return a
		}
		before, after := fleetOf(), fleetOf()
		if random.IntN(4) == 0 {
			dropPolicy(after, "shop-web")
		}
		s := stateAfter(t, before)
		s.Inputs = nil // else a change of the team's own workload is no reason
		r := renderedFrom(t, after, s)
		was, is := s.Delivered.Placed(), r.Folders.Placed()
		var want, got []string
		for _, target := range r.Tree.Schedule.Targets {
			switch {
			case len(was[target.Name]) > 0 && len(is[target.Name]) == 0:
				want = append(want, target.Name+": leaves "+was[target.Name][0])
				found++
			case len(was[target.Name]) > 0:
				stayed++
			}
		}
		_, errs := newChange(NewComparison(NewNextTree(r, nil, s), s, &s.LastRead), nil)
		for _, err := range errs {
			if isOrphaned(err) {
				_, list, _ := strings.Cut(err.Error(), "\n  ")
				for _, line := range strings.Split(list, "\n  ") {
					line, _, _ = strings.Cut(line, ";")
					line, _, _ = strings.Cut(line, " and ")
					got = append(got, line)
				}
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("seed %d (-want +got):\n%s", seed, diff)
		}
	}
	if !seeds.Single() && (found < 50 || stayed < 50) {
		t.Errorf("%d orphans and %d targets that stay are too few", found, stayed)
	}
}
