package requires_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitobject"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/seeds"
)

// randomFleet returns a fleet of workloads that require each other, and the targets that the branch contains. Each
// workload has one target. Some targets fail.
func randomFleet(r *rand.Rand) (f *optionedFleet, contains []string) {
	one := func(of ...string) string { return of[r.IntN(len(of))] }
	var workloads []*fleet.Workload
	n := 2 + r.IntN(7)
	for i := range n {
		w := workload(fmt.Sprint("w", i), one("large", "small", "both", "both", "nowhere"))
		t := &w.Targets[0]
		for range r.IntN(3) {
			t.Labels[one("a", "b")] = one("1", "2")
		}
		for range max(0, r.IntN(5)-1) {
			requirement := fleet.Requirement{}
			if r.IntN(2) == 0 {
				requirement.Workload = fmt.Sprint("w", r.IntN(n+1))
				requirement.DeploymentTarget = one("", "", "main", "other")
			}
			if requirement.Workload == "" || r.IntN(4) == 0 {
				requirement.MatchLabels = labels{one("a", "b"): one("1", "2")}
			}
			t.Requires = append(t.Requires, requirement)
		}
		switch r.IntN(8) {
		case 0:
			t.Manifests["fail"] = one("large", "small", "l")
		case 1: // an invalid manifest
			t.Manifests["path"] = "{{"
		}
		for _, on := range []string{"large/", "small/"} {
			if r.IntN(3) == 0 {
				contains = append(contains, on+w.Name+"-main")
			}
		}
		workloads = append(workloads, w)
	}
	f = newFleet(workloads...)
	f.Requires = problem.Reaction(one("ignore", "warn", "error", "error"))
	f.OnBranch = onBranch(contains...)
	return f, contains
}

// model returns the targets that the tree of a random fleet must contain, with their required targets, and the targets
// that must fail. It follows the documented rules, not the code. cyclicAt has the targets on a cluster type with a
// cycle, where waves have no order.
func model(f *optionedFleet, contains []string) (tree map[string]string, fails, cyclicAt map[string]bool) {
	tree, fails, cyclicAt = map[string]string{}, map[string]bool{}, map[string]bool{}
	for _, ct := range []string{"large", "small"} {
		here := map[string]*fleet.Workload{}  // the assigned workloads
		there := map[string]*fleet.Workload{} // the workloads that can satisfy requirements
		broken := map[string]bool{}
		kept := func(name string) bool { return slices.Contains(contains, ct+"/"+name+"-main") }
		for _, w := range f.Workloads {
			t := w.Targets[0]
			switch on := t.Labels["on"]; {
			case t.Manifests["path"] == "{{":
				if kept(w.Name) {
					there[w.Name] = w
				}
			case on == ct || on == "both":
				here[w.Name], there[w.Name] = w, w
				if t.Manifests["fail"] != "" && strings.Contains(ct, t.Manifests["fail"]) {
					broken[w.Name] = true
				}
			}
		}
		satisfies := func(w *fleet.Workload, r fleet.Requirement) bool {
			for k, v := range r.MatchLabels {
				if w.Targets[0].Labels[k] != v {
					return false
				}
			}
			return (r.Workload == "" || r.Workload == w.Name) && (r.DeploymentTarget == "" || r.DeploymentTarget == "main")
		}
		beside := func(w *fleet.Workload, r fleet.Requirement, among map[string]*fleet.Workload) (names []string) {
			for name, other := range among {
				if name != w.Name && satisfies(other, r) {
					names = append(names, name)
				}
			}
			return names
		}
		cyclic, loops := map[string]bool{}, false
		for name := range here { // a target is in a cycle if it can be reached from itself
			reached := map[string]bool{}
			for next := []string{name}; len(next) > 0; {
				w := here[next[0]]
				next = next[1:]
				for _, r := range w.Targets[0].Requires {
					for _, other := range beside(w, r, here) {
						if !reached[other] {
							reached[other] = true
							next = append(next, other)
						}
					}
				}
			}
			cyclic[name] = reached[name] && f.Requires != problem.Ignore
			loops = loops || reached[name]
		}
		var wave func(name string) int
		wave = func(name string) (n int) {
			for _, r := range here[name].Targets[0].Requires {
				for _, other := range beside(here[name], r, here) {
					n = max(n, 1+wave(other))
				}
			}
			return n
		}
		for changed := true; changed; {
			changed = false
			for name, w := range here {
				for _, r := range w.Targets[0].Requires {
					if f.Requires == problem.Fail && len(beside(w, r, there)) == 0 {
						broken[name] = true
					}
				}
				if (broken[name] || cyclic[name]) && !kept(name) && there[name] != nil {
					delete(there, name)
					changed = true
				}
			}
		}
		for name, w := range here {
			at := ct + "/" + name + "-main"
			if broken[name] || cyclic[name] {
				fails[at] = true
				continue
			}
			needs := map[string]bool{}
			for _, r := range w.Targets[0].Requires {
				for _, other := range beside(w, r, there) {
					text := fmt.Sprintf("dev-%s-%s-main/%s-main/%s", ct, other, other, other)
					if !loops && here[other] != nil {
						if n := wave(other); n > 0 {
							text += fmt.Sprint("@", n)
						}
					}
					needs[text] = true
				}
			}
			tree[at] = strings.Join(slices.Sorted(maps.Keys(needs)), " ")
			cyclicAt[at] = loops
		}
	}
	return tree, fails, cyclicAt
}

var wave = regexp.MustCompile(`@\d+`)

// TestRandomFleets compares the trees and the faults of random fleets with an independent model.
func TestRandomFleets(t *testing.T) {
	t.Parallel()
	runs, missing, cycles, kept := 0, 0, 0, 0
	for seed := range seeds.Of(t, 1000, 20_000) {
		runs++
		r := rand.New(rand.NewPCG(seed, 65))
		f, contains := randomFleet(r)
		wantTree, wantFails, cyclicAt := model(f, contains)
		f.LeaveOutFailed = true
		result, problems := f.run(t.Context())
		if problems.HasErrors() {
			t.Fatalf("seed %d: %v", seed, problems)
		}
		gotTree, gotFails := map[string]string{}, map[string]bool{}
		for i, folder := range result.Tree.Folders {
			for n, target := range folder.Targets {
				var entries []gitobject.Entry[gitobject.Hash]
				hasher := gitobject.NewHasher()
				for file := range result.Tree.TargetFiles(i, n) {
					entries = append(entries, gitobject.Entry[gitobject.Hash]{
						Mode: gitobject.ModeFile, Name: file.Path, Hash: hasher.Object(gitobject.Blob, file.Content),
					})
					if _, needs, ok := strings.Cut(string(file.Content), "dependsOn: ["); ok {
						needs, _, _ = strings.Cut(needs, "]")
						at := folder.ClusterType + "/" + target.Name
						gotTree[at] = strings.TrimSpace(needs)
						if cyclicAt[at] {
							gotTree[at] = wave.ReplaceAllString(gotTree[at], "")
						}
					}
				}
				if hash := hasher.Tree(entries); hash != target.Hash {
					t.Fatalf("seed %d: the hash of %s/%s does not match its files", seed, folder.ClusterType, target.Name)
				}
			}
		}
		for _, p := range result.LeftOut {
			switch p.Summary {
			case "Required deployment targets are missing":
				missing++
			case "Deployment targets require each other":
				cycles++
			}
			for _, a := range p.Affects {
				if a.ClusterType != "" {
					gotFails[a.ClusterType+"/"+a.Name] = true
				}
			}
		}
		for name := range wantFails {
			if slices.Contains(contains, name) {
				kept++
			}
		}
		if d := cmp.Diff(wantTree, gotTree); d != "" {
			t.Fatalf("seed %d: tree (-want +got):\n%s", seed, d)
		}
		if d := cmp.Diff(wantFails, gotFails); d != "" {
			t.Fatalf("seed %d: fails (-want +got):\n%s", seed, d)
		}
		warns := len(result.Requires.Warning(t.Context())) > 0
		if warns && f.Requires != problem.Warn {
			t.Fatalf("seed %d: there are warnings with the guardrail %s", seed, f.Requires)
		}
	}
	if !seeds.Single() && (missing < runs/5 || cycles < runs/20 || kept < runs/20) {
		t.Errorf("%d fleets have only %d missing targets, %d cycles, %d kept targets", runs, missing, cycles, kept)
	}
}
