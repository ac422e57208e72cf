package rendering_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/githubfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/seeds"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// placedFleet is the fleet of testdata/TestAccPlacement.
type placedFleet struct {
	ClusterTypes map[string]*placedClusterType `json:"cluster_types"`
	Policies     map[string]*placedPolicy      `json:"policies"`
	Workloads    map[string]string             `json:"workloads"` // name → team
	Guardrails   map[string]any                `json:"guardrails"`
	Adopt        bool                          `json:"adopt"`
}

type placedClusterType struct {
	Labels     map[string]string   `json:"labels"`
	Taints     []map[string]string `json:"taints"`
	Properties map[string]string   `json:"properties"`
}

type placedPolicy struct {
	Team      string         `json:"team"`
	Placement map[string]any `json:"placement"`
}

func in(region string) *placedClusterType {
	return &placedClusterType{Labels: map[string]string{"region": region}, Properties: map[string]string{"cost": "1"}}
}

var pciTaint = []map[string]string{{"key": "pci", "value": "true", "effect": "NoSelect"}}

// twoOfThree returns a fleet with three cluster types, which places each deployment target on two of them.
func twoOfThree() *placedFleet {
	return &placedFleet{
		ClusterTypes: map[string]*placedClusterType{"east": in("east"), "north": in("north"), "west": in("west")},
		Policies:     map[string]*placedPolicy{"web": {"web", map[string]any{"number_of_cluster_types": 2}}},
		Workloads:    map[string]string{"hello": "web", "shop": "web"},
		Guardrails:   map[string]any{"max_removed": "100%", "emptied": "ignore"},
	}
}

// placedRoot is a root module with a fleet, and the bare repo that it is delivered to.
type placedRoot struct {
	*acc.Root
	repo string
}

func newPlacedRoot(t *testing.T, f *placedFleet) *placedRoot {
	t.Helper()
	r := &placedRoot{acc.NewRootFrom(t, filepath.Join("testdata", "TestAccPlacement")), gitserver.InitBare(t)}
	r.Env = append(r.Env, "TF_VAR_repo="+r.repo)
	r.fleet(f)
	return r
}

func (r *placedRoot) fleet(f *placedFleet) {
	r.T.Helper()
	r.Write("fleet.json", acc.ToJSON(r.T, f))
}

const placedAddress = "kalypso_environment_rendering.this"

// placed returns the cluster types of each deployment target in state.
func (r *placedRoot) placed() map[string][]string {
	r.T.Helper()
	all := map[string][]string{}
	for clusterType, targets := range asMap(r.State()[placedAddress]["assignments"]) {
		for target := range asMap(targets) {
			all[target] = append(all[target], clusterType)
		}
	}
	for _, clusterTypes := range all {
		slices.Sort(clusterTypes)
	}
	return all
}

func (r *placedRoot) expectPlaced(want map[string][]string) {
	r.T.Helper()
	if diff := cmp.Diff(want, r.placed()); diff != "" {
		r.T.Errorf("cluster types of each deployment target (-want +got):\n%s", diff)
	}
}

// decisions returns the placement decisions in the record on the branch.
func (r *placedRoot) decisions() map[string]any {
	r.T.Helper()
	var record struct{ Decisions map[string]any }
	if err := json.Unmarshal([]byte(gitserver.Git(r.T, r.repo, "show", "dev:.kalypso/rendering.json")),
		&record); err != nil {
		r.T.Fatal(err)
	}
	return record.Decisions
}

// expectText compares what Terraform printed with a file of the test's data.
func (r *placedRoot) expectText(name string, o acc.Output) {
	r.T.Helper()
	text := devOverrides.ReplaceAllString(o.Stdout+o.Stderr, "")
	text = strings.TrimLeft(commitInPlan.ReplaceAllString(text, "${1}<commit>"), "\n")
	acc.ExpectText(r.T, filepath.Join("testdata", "TestAccPlacement", name), text)
}

var (
	devOverrides = regexp.MustCompile(`(?s)\nWarning: Provider development overrides.*?published\nreleases\.\n`)
	commitInPlan = regexp.MustCompile(`(commit_sha +[=~ ]* ")[0-9a-f]{40}`)
)

// TestAccPlacement changes a fleet whose policy limits the number of cluster types: a new cluster type moves no target,
// a taint moves targets off, and a taint that leaves too few cluster types is refused.
func TestAccPlacement(t *testing.T) {
	t.Parallel()
	f := twoOfThree()
	r := newPlacedRoot(t, f)
	r.Apply()
	r.ExpectEmptyPlan()
	first := map[string][]string{"hello-web": {"east", "north"}, "shop-web": {"east", "north"}}
	r.expectPlaced(first)
	want := map[string]any{"web": map[string]any{"on": map[string]any{"east north": "hello-web shop-web"}}}
	if diff := cmp.Diff(want, r.decisions()); diff != "" {
		t.Errorf("decisions in the record (-want +got):\n%s", diff)
	}

	f.ClusterTypes["central"] = in("central") // the first by name
	r.fleet(f)
	r.expectText("new-cluster-type.txt", r.Succeed("plan", "-no-color"))
	r.Apply()
	r.ExpectEmptyPlan()
	r.expectPlaced(first)

	f.ClusterTypes["east"].Taints = pciTaint
	r.fleet(f)
	r.expectText("taint.txt", r.Succeed("plan", "-no-color"))
	f.Guardrails["moved"] = "error"
	r.fleet(f)
	r.ExpectError([]string{"Deployment targets move between cluster types", "hello-web: from east to central"}, "plan",
		"-no-color")
	f.Guardrails["moved"] = "ignore"
	r.fleet(f)
	if out := r.Succeed("plan", "-no-color"); strings.Contains(out.Text(), "Deployment targets move") {
		t.Errorf("the guardrail warns in spite of ignore:\n%s", out.Stdout)
	}
	r.Apply()
	r.ExpectEmptyPlan()
	second := map[string][]string{"hello-web": {"central", "north"}, "shop-web": {"central", "north"}}
	r.expectPlaced(second)

	f.ClusterTypes["east"].Taints = nil // targets that have moved do not move back
	r.fleet(f)
	r.Apply()
	r.expectPlaced(second)

	for _, ct := range f.ClusterTypes {
		ct.Taints = pciTaint
	}
	r.fleet(f)
	r.expectText("full-stop.txt", r.Terraform("plan", "-no-color"))
	for _, ct := range []string{"north", "west", "east"} {
		f.ClusterTypes[ct].Taints = nil
	}
	f.Policies["web"].Placement["number_of_cluster_types"] = 4
	r.fleet(f)
	if out := r.Succeed("plan", "-no-color"); !strings.Contains(out.Text(),
		`hello-web by "web": 3 of 4; central: the taint pci=true:NoSelect is not tolerated`) {
		t.Errorf("the warning is missing:\n%s\n%s", out.Stdout, out.Stderr)
	}
	f.Guardrails["unsatisfied"] = "error"
	r.fleet(f)
	r.ExpectError([]string{"Fewer cluster types than placement asks for", "hello-web by \"web\": 3 of 4"}, "plan",
		"-no-color")
}

// TestAccPlacementAfterLostState loses the state: a refresh and an import read the decisions from the record again. A
// create does not, even with adopt.
func TestAccPlacementAfterLostState(t *testing.T) {
	t.Parallel()
	f := twoOfThree()
	r := newPlacedRoot(t, f)
	r.Apply()
	f.ClusterTypes["central"] = in("central")
	r.fleet(f)
	r.Apply()
	kept := map[string][]string{"hello-web": {"east", "north"}, "shop-web": {"east", "north"}}
	r.expectPlaced(kept)

	// Private state that can't be read.
	rendering := &rendering{Root: r.Root}
	rendering.replacePrivateState()
	r.ExpectError([]string{"Earlier placement decisions can't be read", "Plan with a refresh"}, "plan", "-no-color",
		"-refresh=false")
	rendering.replacePrivateState()
	r.ExpectNoChanges()
	r.expectPlaced(kept)

	// A lost state.
	r.EmptyState()
	for _, adopt := range []bool{false, true} {
		f.Adopt = adopt
		r.fleet(f)
		texts := []string{"contains other placement decisions: import the rendering", "?ref=dev"}
		if !adopt {
			texts = nil // the trees differ too, and that is reported first
		}
		r.ExpectError(texts, "plan", "-no-color")
	}
	f.Adopt = false
	r.fleet(f)
	r.Succeed("import", "-no-color", placedAddress, "dev@file://"+r.repo+"//.?ref=dev")
	commits := len(gitserver.Log(t, r.repo, "dev"))
	r.Apply()
	r.ExpectEmptyPlan()
	r.expectPlaced(kept)
	if made := len(gitserver.Log(t, r.repo, "dev")) - commits; made != 0 {
		t.Errorf("the import led to %d commits", made)
	}

	// A policy with another name adopts the existing placements. If only the decisions change, the commit contains only
	// the record.
	f.Policies["renamed"] = f.Policies["web"]
	delete(f.Policies, "web")
	r.fleet(f)
	r.Apply()
	r.ExpectEmptyPlan()
	r.expectPlaced(kept)
	want := map[string]any{"renamed": map[string]any{"on": map[string]any{"east north": "hello-web shop-web"}}}
	if diff := cmp.Diff(want, r.decisions()); diff != "" {
		t.Errorf("decisions in the record (-want +got):\n%s", diff)
	}

	// With another generation, the earlier decisions do not count.
	f.Policies["renamed"].Placement["generation"] = "2"
	r.fleet(f)
	r.Apply()
	r.ExpectEmptyPlan()
	r.expectPlaced(map[string][]string{"hello-web": {"central", "east"}, "shop-web": {"central", "east"}})
}

// TestAccPlacementByPullRequest proposes decisions by pull request. While the pull request is open, the plan is empty.
// After the merge, plans keep the decisions.
func TestAccPlacementByPullRequest(t *testing.T) {
	t.Parallel()
	acc.NeedTerraform(t)
	fake := githubfake.New(t)
	on := fake.AddRepo(t, "acme/gitops")
	gitserver.Seed(t, on.Path, "dev", map[string]string{"README.md": "hello\n"})
	f := twoOfThree()
	r := newPlacedRoot(t, f)
	r.repo = on.Path
	r.Write("terraform.tfvars.json", acc.ToJSON(t, map[string]any{
		"url": on.URL, "github": map[string]any{"base_url": fake.URL, "token": fake.Token},
	}))
	merge := func() {
		t.Helper()
		all := on.PullRequests()
		on.Merge(t, all[len(all)-1].Number, "merge")
	}
	r.Apply()
	r.ExpectEmptyPlan()
	merge()
	r.Apply()
	r.ExpectEmptyPlan()
	kept := map[string][]string{"hello-web": {"east", "north"}, "shop-web": {"east", "north"}}
	r.expectPlaced(kept)

	f.ClusterTypes["central"] = in("central")
	r.fleet(f)
	r.Apply()
	r.ExpectEmptyPlan()
	merge()
	r.Apply()
	r.ExpectEmptyPlan()
	r.expectPlaced(kept)
	want := map[string]any{"web": map[string]any{"on": map[string]any{"east north": "hello-web shop-web"}}}
	if diff := cmp.Diff(want, r.decisions()); diff != "" {
		t.Errorf("decisions in the record (-want +got):\n%s", diff)
	}
}

// TestAccPlacementRandom edits random fleets. After each edit, the apply does what the plan shows, and the next plan is
// empty. Targets stay on cluster types that still fit, and get the number of cluster types that the policy asks for if
// there are enough. An import, or a lost private state, changes nothing.
func TestAccPlacementRandom(t *testing.T) {
	t.Parallel()
	for seed := range seeds.Of(t, 1, 2) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			random, rounds := rand.New(rand.NewPCG(seed, 20)), 5
			if seeds.Long() {
				rounds = 8
			}
			f := twoOfThree()
			f.Guardrails = map[string]any{"max_removed": "100%", "allow_empty": true, "emptied": "ignore",
				"unsatisfied": "ignore"}
			r := newPlacedRoot(t, f)
			var before map[string][]string
			for step := range rounds {
				edits := []string{"create"}
				if step > 0 {
					edits = f.edit(random, step)
				}
				r.fleet(f)
				switch step % 4 {
				case 2:
					(&rendering{Root: r.Root}).replacePrivateState()
				case 3:
					r.EmptyState()
					r.Succeed("import", "-no-color", placedAddress, "dev@file://"+r.repo+"//.?ref=dev")
				}
				c := r.Plan()[placedAddress]
				r.ApplyPlan()
				state := r.State()[placedAddress]
				expectApplied(t, c, state)
				expectOnBranch(t, r.repo, "dev", ".", state)
				r.ExpectEmptyPlan()
				after := r.placed()
				f.expectKept(t, before, after)
				before = after
				if t.Failed() {
					t.Fatalf("step %d, after the edits: %s", step, strings.Join(edits, ", "))
				}
			}
		})
	}
}

// edit makes random edits, and returns their names.
func (f *placedFleet) edit(r *rand.Rand, step int) (names []string) {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	anyType := func() *placedClusterType {
		return f.ClusterTypes[pick(slices.Sorted(maps.Keys(f.ClusterTypes))...)]
	}
	for n := range 1 + r.IntN(3) {
		name := fmt.Sprintf("%s%d%d", pick("a", "m", "z"), step, n)
		switch r.IntN(7) {
		case 0:
			f.ClusterTypes[name] = in(pick("east", "west", "north"))
			names = append(names, "add cluster type "+name)
		case 1:
			if len(f.ClusterTypes) > 2 {
				gone := pick(slices.Sorted(maps.Keys(f.ClusterTypes))...)
				delete(f.ClusterTypes, gone)
				names = append(names, "remove cluster type "+gone)
			}
		case 2:
			anyType().Taints = []map[string]string{
				{"key": "pci", "value": "true", "effect": pick("NoSelect", "NoSelectIfNew")},
			}
			names = append(names, "taint")
		case 3:
			anyType().Taints = nil
			names = append(names, "remove a taint")
		case 4:
			anyType().Properties["cost"] = pick("1", "2", "500m")
			names = append(names, "change a property")
		case 5:
			f.Workloads[name] = "web"
			names = append(names, "add workload "+name)
		default:
			f.Policies["web"].Placement = map[string]any{
				"number_of_cluster_types": 1 + r.IntN(3), "prefer": []any{map[string]any{"property": "cost", "weight": -2},
					map[string]any{"balance": true}},
			}
			names = append(names, "another number")
		}
	}
	return names
}

// expectKept checks that each deployment target stays on the cluster types that still fit, and is on the wanted number
// of cluster types if enough of them fit.
func (f *placedFleet) expectKept(t *testing.T, before, after map[string][]string) {
	t.Helper()
	number := 2
	switch n := f.Policies["web"].Placement["number_of_cluster_types"].(type) {
	case int:
		number = n
	case float64:
		number = int(n)
	}
	for workload := range f.Workloads {
		target := workload + "-web"
		fit, keep, stayed := 0, 0, 0
		for name, ct := range f.ClusterTypes {
			there := slices.Contains(before[target], name)
			if len(ct.Taints) > 0 && (!there || ct.Taints[0]["effect"] == "NoSelect") {
				continue
			}
			fit++
			if there {
				keep++
				if slices.Contains(after[target], name) {
					stayed++
				}
			}
		}
		if stayed != min(keep, number) || len(after[target]) != min(fit, number) {
			t.Errorf("%s was on %v and is on %v: %d of %d that fit stayed, %d fit, and the number is %d",
				target, before[target], after[target], stayed, keep, fit, number)
		}
	}
}

// TestAccPlacementReasons compares the reasons that kalypso_assignments returns for each cluster type that a policy
// selects: whether the target is placed there, whether it is kept there, the scores, and the taint, the spread or the
// number that excluded the cluster type.
func TestAccPlacementReasons(t *testing.T) {
	t.Parallel()
	r := acc.NewRoot(t, map[string]string{"main.tf": acc.TerraformBlock + `
data "kalypso_assignments" "this" {
  environment = "dev"
  explain     = true
  record = jsonencode({
    version = 1, environment = "dev", cluster_types = []
    decisions = { web = { on = { c = "app-web" } } }
  })
  why = [
    { target = "app-web", cluster_type = "a" },
    { target = "app-web", cluster_type = "c" },
    { target = "app-lost", cluster_type = "a" },
  ]
  cluster_types = { for name, region in { a = "1", b = "1", c = "1", d = "2", e = null } : name => {
    name = name, labels = region == null ? null : { region = region }, reconciler = "r", namespace_service = "n"
    properties = { cost = name == "b" ? "9" : "1" }
    taints     = name == "d" ? [{ key = "pci", effect = "NoSelect" }] : null
  } }
  templates = {
    for type, name in { reconciler = "r", namespace = "n" } :
    name => { name = name, type = type, manifests = ["# a: b"] }
  }
  scheduling_policies = {
    web = {
      name                       = "web"
      deployment_target_selector = { match_labels = { lost = "no" } }
      cluster_type_selector      = { match_all = true }
      placement = {
        number_of_cluster_types = 2
        spread                  = [{ key = "region" }]
        prefer                  = [{ property = "cost", weight = -2 }, { balance = true }]
      }
    }
    lost = {
      name                       = "lost"
      deployment_target_selector = { match_labels = { lost = "yes" } }
      cluster_type_selector      = { match_labels = { region = "2" } }
    }
  }
  workloads = { app = { name = "app", deployment_targets = [
    { name = "web", environment = "dev", labels = { lost = "no" } },
    { name = "lost", environment = "dev", labels = { lost = "yes" } },
  ] } }
}

output "placements" {
  value = [for p in data.kalypso_assignments.this.placements : join(" ", [
    p.policy, p.deployment_target, p.cluster_type, p.placed ? "placed" : "-", p.kept ? "kept" : "-",
    p.score == null ? "-" : "${p.score} (${join(", ", coalesce(p.scores, []))})", p.reason == null ? "" : p.reason,
  ])]
}
output "answers" {
  value = [for a in data.kalypso_assignments.this.answers : "${a.assigned} ${a.reason}"]
}
output "unscheduled" {
  value = [
    for u in data.kalypso_assignments.this.unscheduled :
    "${u.deployment_target}: ${u.reasons[0].policy}: ${u.reasons[0].reason}"
  ]
}
`})
	r.Apply()
	var got map[string]struct{ Value []string }
	if err := json.Unmarshal([]byte(r.Succeed("output", "-json").Stdout), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]struct{ Value []string }{
		"placements": {
			[]string{
				`lost app-lost d - - - the taint pci:NoSelect is not tolerated`,
				`web app-web a - - 300 (200, 100) one more with the label "region" "1" would exceed the spread's maximum skew of 1`,
				`web app-web b - - -100 (-200, 100) one more with the label "region" "1" would exceed the spread's maximum skew ` +
					`of 1`,
				`web app-web c placed kept 300 (200, 100) `,
				`web app-web d - - - the taint pci:NoSelect is not tolerated`,
				`web app-web e - - - it has no label "region", which the spread needs`,
			},
		},
		"answers": {
			[]string{
				`false No scheduling policy places it there; the closest is "web". Its placement excludes the cluster type "a": ` +
					`one more with the label "region" "1" would exceed the spread's maximum skew of 1.`,
				`true It is placed there by "web".`,
				`false No scheduling policy places it there; the closest is "lost". The cluster type is not selected: label ` +
					`"region" is "1" and must be "2".`,
			},
		},
		"unscheduled": {[]string{
			`app-lost: lost: Its placement excludes the cluster type "d": the taint pci:NoSelect is not tolerated.`,
		}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
