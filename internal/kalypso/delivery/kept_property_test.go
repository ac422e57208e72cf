package delivery

import (
	"crypto/sha1"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/drift"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/engine"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render/tree"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/sets"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/seeds"
)

// keptModel is a fleet whose teams break and fix their targets, and the branch that follows from plain rules.
type keptModel struct {
	*testing.T
	seed    uint64
	random  *rand.Rand
	targets map[string]*modelTarget // by <workload>-<target>
	state   *State
	prior   *Prior
	branch  map[string]tree.Hash // hashes of folders by cluster type/deployment target
}

type modelTarget struct {
	workload, name string
	on             string // the label that a policy selects
	version        int
	fault          string // empty if the target is not broken
}

var modelClusterTypes = map[string][]string{
	"one": {"large"}, "two": {"large", "small"}, "three": {"edge", "large", "small"},
}

// faultsOnAll contains the faults that break a target on every cluster type, each with the change that causes it.
var faultsOnAll = map[string]func(*fleet.Workload, *fleet.Target){
	"template in a text": func(_ *fleet.Workload, t *fleet.Target) { t.Manifests["path"] = "{{ .ConfigData }}" },
	"label":              func(_ *fleet.Workload, t *fleet.Target) { t.Labels["on"] = "no label" },
	"no environment":     func(_ *fleet.Workload, t *fleet.Target) { t.Environment = "" },
	"no schema":          func(_ *fleet.Workload, t *fleet.Target) { t.ConfigSchemas = []string{"{"} },
}

// faultsOnSome contains the faults that break a target on some cluster types.
var faultsOnSome = map[string]func(*fleet.Workload, *fleet.Target){
	"missing value":    func(_ *fleet.Workload, t *fleet.Target) { delete(t.Manifests, "path") },
	"another document": func(_ *fleet.Workload, t *fleet.Target) { t.Manifests["path"] = "a: b" },
	"schema":           func(_ *fleet.Workload, t *fleet.Target) { t.ConfigSchemas = []string{`{"required": ["NONE"]}`} },
	"on large alone":   func(_ *fleet.Workload, t *fleet.Target) { t.Manifests["breaks"] = "large" },
}

// quotaFault is the fault of a Workload with more targets than the limit. It breaks all targets of the Workload.
const quotaFault = "quota"

func newKeptModel(t *testing.T, seed uint64) *keptModel {
	m := &keptModel{
		T: t, seed: seed, random: rand.New(rand.NewPCG(seed, 19)), targets: map[string]*modelTarget{},
		branch: map[string]tree.Hash{},
	}
	for i := range 3 {
		for _, name := range []string{"a", "b"}[:1+m.random.IntN(2)] {
			w := fmt.Sprintf("team%d", i)
			m.targets[w+"-"+name] = &modelTarget{workload: w, name: name, on: m.place()}
		}
	}
	return m
}

func (m *keptModel) place() string {
	return slices.Sorted(maps.Keys(modelClusterTypes))[m.random.IntN(len(modelClusterTypes))]
}

// fleet returns the fleet with its broken targets, without them, or as if no target was ever broken.
func (m *keptModel) fleet(which string) *fleet.Fleet {
	f := &fleet.Fleet{
		Environment: "dev", Limits: fleet.Limits{TargetsPerWorkload: 3},
		Templates: []*fleet.Template{
			{Meta: fleet.Meta{Name: "r"}, Type: fleet.TemplateReconciler, Manifests: []string{
				"kind: K\npath: {{ .Manifests.path }}\n{{ if eq .ClusterType .Manifests.breaks }}{{ .Manifests.none }}{{ end }}"}},
			{Meta: fleet.Meta{Name: "n"}, Type: fleet.TemplateNamespace, Manifests: []string{"kind: Namespace\n"}},
		},
		Configs: []*fleet.Config{{
			Meta: fleet.Meta{Name: "c", Labels: map[string]string{fleet.PlatformConfigLabel: "true"}},
			Data: map[string]string{"REGION": "west"},
		}},
	}
	for _, name := range []string{"edge", "large", "small"} {
		ct := &fleet.ClusterType{
			Meta: fleet.Meta{Name: name, Labels: map[string]string{}}, Reconciler: "r", NamespaceService: "n",
		}
		for on, names := range modelClusterTypes {
			if slices.Contains(names, name) {
				ct.Labels[on] = "true"
			}
		}
		f.ClusterTypes = append(f.ClusterTypes, ct)
	}
	for on := range modelClusterTypes {
		f.Policies = append(f.Policies, &fleet.SchedulingPolicy{
			Meta:              fleet.Meta{Name: on},
			DeploymentTargets: fleet.Selector{MatchLabels: map[string]string{"on": on}},
			ClusterTypes:      fleet.Selector{MatchLabels: map[string]string{on: "true"}},
		})
	}
	workloads := map[string]*fleet.Workload{}
	for _, key := range slices.Sorted(maps.Keys(m.targets)) {
		is := m.targets[key]
		if which == "without" && is.fault != "" {
			continue
		}
		w := workloads[is.workload]
		if w == nil {
			w = &fleet.Workload{Meta: fleet.Meta{Name: is.workload}}
			workloads[is.workload] = w
			f.Workloads = append(f.Workloads, w)
		}
		t := fleet.Target{Name: is.name, Environment: "dev", Labels: map[string]string{"on": is.on},
			Manifests: map[string]string{"path": fmt.Sprint("v", is.version), "breaks": "none"}}
		if which == "broken" && is.fault != "" {
			for _, faults := range []map[string]func(*fleet.Workload, *fleet.Target){faultsOnAll, faultsOnSome} {
				if change := faults[is.fault]; change != nil {
					change(w, &t)
				}
			}
		}
		w.Targets = append(w.Targets, t)
		for i := range 4 {
			if which == "broken" && is.fault == quotaFault {
				w.Targets = append(w.Targets, fleet.Target{Name: fmt.Sprint(is.name, "-more-", i), Environment: "dev"})
			}
		}
	}
	m.random.Shuffle(len(f.Workloads), func(i, j int) { f.Workloads[i], f.Workloads[j] = f.Workloads[j], f.Workloads[i] })
	return f
}

// render returns the hashes of the folders of a fleet without faults.
func (m *keptModel) render(which string) map[string]tree.Hash {
	m.Helper()
	result, ps := engine.Run(m.Context(), m.fleet(which), engine.Options{})
	if ps.HasErrors() {
		m.Fatalf("seed %d: %s: %v", m.seed, which, ps)
	}
	return folders(inventory.Of(result.Tree))
}

func folders(inv inventory.Folders) map[string]tree.Hash {
	all := map[string]tree.Hash{}
	for name, folder := range inv {
		for _, t := range folder.Targets {
			all[name+"/"+t.Name] = t.FullHash
		}
	}
	return all
}

// edit breaks, fixes, changes or moves some targets.
func (m *keptModel) edit() {
	var names []string
	for _, all := range []map[string]func(*fleet.Workload, *fleet.Target){faultsOnAll, faultsOnSome} {
		names = append(names, slices.Sorted(maps.Keys(all))...)
	}
	for _, key := range slices.Sorted(maps.Keys(m.targets)) {
		t := m.targets[key]
		switch m.random.IntN(10) {
		case 0, 1:
			t.fault = names[m.random.IntN(len(names))]
		case 2, 3:
			t.fault = ""
		case 4:
			t.version++
		case 5:
			t.on = m.place()
		case 6:
			for _, other := range m.targets { // too many targets break the whole Workload
				if other.workload == t.workload {
					other.fault = quotaFault
				}
			}
		}
	}
	for _, t := range m.targets { // a team fixes the whole Workload
		if t.fault == quotaFault && m.random.IntN(3) == 0 {
			for _, other := range m.targets {
				if other.workload == t.workload {
					other.fault = ""
				}
			}
		}
	}
	for _, t := range m.targets {
		if t.fault == quotaFault {
			for _, other := range m.targets {
				if other.workload == t.workload {
					other.fault = quotaFault
				}
			}
		}
	}
}

// drift lets people change or remove a folder on the branch.
func (m *keptModel) drift() {
	if m.state == nil || m.random.IntN(3) > 0 || len(m.branch) == 0 {
		return
	}
	keys := slices.Sorted(maps.Keys(m.branch))
	key := keys[m.random.IntN(len(keys))]
	if m.random.IntN(4) == 0 {
		delete(m.branch, key)
	} else {
		m.branch[key] = sha1.Sum(fmt.Append(nil, m.random.Uint64()))
	}
	m.state.LastRead.Folders = m.inventory()
	m.state.Drift = []drift.Commit{{Commit: "theirs"}}
}

// inventory returns the folders as they are read from the branch.
func (m *keptModel) inventory() inventory.Folders {
	inv := inventory.Folders{}
	for _, ct := range []string{"edge", "large", "small"} {
		hashes := map[string]tree.Hash{}
		folder := inventory.Folder{}
		for _, key := range slices.Sorted(maps.Keys(m.branch)) {
			if name, ok := strings.CutPrefix(key, ct+"/"); ok {
				hashes[name] = m.branch[key]
				folder.Targets = append(folder.Targets, inventory.NewTarget(name, m.branch[key], false))
			}
		}
		folder.Hash = tree.ClusterTypeHash(hashes)
		inv[ct] = folder
	}
	return inv
}

// fails says in plain rules whether a target fails on a cluster type.
func (t *modelTarget) fails(ct string) bool {
	_, all := faultsOnAll[t.fault]
	switch {
	case t.fault == "":
		return false
	case all || t.fault == quotaFault:
		return true
	case t.fault == "on large alone" && ct != "large":
		return false
	}
	return slices.Contains(modelClusterTypes[t.on], ct)
}

// want returns the branch that an apply must leave, by plain rules.
func (m *keptModel) want() map[string]tree.Hash {
	want := m.render("without")
	var whole map[string]tree.Hash
	for key, t := range m.targets {
		if t.fault == "" {
			continue
		}
		waits := false
		for _, ct := range modelClusterTypes[t.on] {
			_, existing := m.branch[ct+"/"+key]
			waits = waits || t.fails(ct) && !existing
			if t.fails(ct) {
				continue
			}
			if whole == nil {
				whole = m.render("never broken")
			}
			want[ct+"/"+key] = whole[ct+"/"+key]
		}
		_, all := faultsOnAll[t.fault]
		for _, ct := range []string{"edge", "large", "small"} {
			hash, existing := m.branch[ct+"/"+key]
			_, renders := want[ct+"/"+key]
			waitsHere := waits && !all && t.fault != quotaFault
			if existing && !renders && (t.fails(ct) || waitsHere) {
				want[ct+"/"+key] = hash
			}
		}
	}
	return want
}

// apply plans and applies, and compares the result with the plain rules.
func (m *keptModel) apply() {
	m.Helper()
	want := m.want()
	rendered := m.rendered("broken")
	decision := Decide(rendered, m.prior, m.state)
	d := decision.All().Next
	if len(decision.All().Errors) > 0 {
		m.Fatalf("seed %d: %v", m.seed, decision.All().Errors)
	}
	if diff := cmp.Diff(want, folders(d.Folders)); diff != "" {
		m.Fatalf("seed %d: the tree of the apply (-want +got):\n%s", m.seed, diff)
	}
	for name, folder := range d.Folders {
		if folder.Known < inventory.Whole {
			m.Fatalf("seed %d: the hash of %s is unknown", m.seed, name)
		}
	}
	before, at := m.state, &Branch{Head: "head", Folders: inventory.Folders{}}
	if before != nil {
		at = &before.LastRead
		m.checkDrift(decision)
	}
	change, errs := newChange(NewComparison(d, before, at), nil)
	if len(errs) > 0 {
		m.Fatalf("seed %d: %v", m.seed, errs)
	}
	m.branch = want
	if diff := cmp.Diff(m.inventory().TreeHash(), d.Folders.TreeHash()); diff != "" {
		m.Fatalf("seed %d: the hash of the tree (-want +got):\n%s", m.seed, diff)
	}
	if before == nil {
		change.Before = &State{}
	}
	m.state = change.Delivered(d.Args.Destination, "head")
	m.prior = &Prior{TreeHash: d.Folders.TreeHash().String(), Commit: "commit", Delivered: true}
	m.reload()
	if planKind(Decide(rendered, m.prior, m.state)) != "keep" {
		m.Fatalf("seed %d: the plan after the apply is not empty", m.seed)
	}
}

// checkDrift checks that drift is reported if the apply overwrites it. It must not be reported if people changed only
// folders that the apply keeps.
func (m *keptModel) checkDrift(decision Plan) {
	m.Helper()
	was, now, want := folders(m.state.Delivered), m.branch, folders(decision.All().Next.Folders)
	overwrites, others := false, false
	for key := range sets.Keys(was, now) {
		ct, name, _ := strings.Cut(key, "/")
		changed := was[key] != now[key]
		overwrites = overwrites || changed && now[key] != want[key]
		others = others || changed && !m.targets[name].fails(ct)
	}
	if told := len(decision.All().Drift) > 0; overwrites && !told || !others && told {
		m.Fatalf("seed %d: foreign changes are overwritten: %t, reported: %t", m.seed, overwrites, told)
	}
}

// reload stores the private state, and reads it again.
func (m *keptModel) reload() {
	m.Helper()
	text, err := m.state.Encode()
	if err == nil {
		m.state, err = DecodeState(text)
	}
	if err != nil {
		m.Fatal(err)
	}
}

func (m *keptModel) rendered(which string) *Rendered {
	m.Helper()
	a := &Arguments{
		Strategy:    destination.Push,
		Destination: usualDestination, Environment: "dev", Fleet: m.fleet(which), OnDrift: drift.Overwrite,
		KeepFailed: true,
		Guardrails: Guardrails{MaxRemoved: "100%", AllowEmpty: true, MaxKept: "100%",
			Unscheduled: problem.Ignore},
	}
	a.Author.When = time.Unix(1_800_000_000, 0)
	r, ps := Render(m.Context(), a, m.prior, m.state, func(string, int, int) {})
	if ps.HasErrors() {
		m.Fatalf("seed %d: %v", m.seed, ps)
	}
	return r
}

// TestTeamsBreakAndFix lets teams break and fix their targets, change and move them, and push to the branch at random.
// Files of other targets are as if the broken targets did not exist, and kept files never change. Once all is fixed,
// the tree is as if no target was ever broken.
func TestTeamsBreakAndFix(t *testing.T) {
	t.Parallel()
	for seed := range seeds.Of(t, 40, 500) {
		m := newKeptModel(t, seed)
		for range 20 {
			m.edit()
			m.drift()
			m.apply()
		}
		for _, target := range m.targets {
			target.fault = ""
		}
		m.apply()
		if diff := cmp.Diff(m.render("never broken"), m.branch); diff != "" {
			t.Fatalf("seed %d: after all is fixed (-want +got):\n%s", seed, diff)
		}
		if r := m.state.LastRead.Record; len(r.Kept)+len(r.LeftOut) > 0 {
			t.Fatalf("seed %d: the record still lists %v", seed, r)
		}
	}
}
