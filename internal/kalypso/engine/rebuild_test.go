package engine_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/engine"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/tree"
)

// TestRebuildIsBuild edits random fleets over and over: the tree and the problems are those of a build from nothing, whatever
// was rendered before, of this fleet or of others. That is worth something only where much is kept, and much is not, which is
// counted.
func TestRebuildIsBuild(t *testing.T) {
	const fleets, edits = 250, 20
	rendered := tree.Rendered{}
	var builds, folders, kept, refused, unknown int
	for seed := range uint64(fleets) {
		e := &fleetEditor{fleetGenerator: &fleetGenerator{rand.New(rand.NewPCG(seed, 5))}, fleet: randomFleet(seed)}
		for n := range edits {
			before := cloneFleet(t, e.fleet)
			what := "as it was made"
			if n > 0 {
				what = e.edit()
			}
			if !schedule.Decided(e.fleet) {
				e.fleet = before
				continue
			}
			built, problems := build(t.Context(), cloneFleet(t, e.fleet))
			heard := 0
			made, sameProblems := engine.Run(t.Context(), e.fleet, engine.Options{Rendered: rendered, Progress: func(done, total int) {
				if heard++; done != heard || total < done {
					t.Fatalf("fleet %d: heard of folder %d of %d after %d", seed, done, total, heard-1)
				}
			}})
			again := made.Tree
			ignore := cmp.Options{cmpopts.IgnoreFields(fleet.Problem{}, "Err"), cmp.AllowUnexported(fleet.Step{}), cmpopts.EquateEmpty()}
			if d := cmp.Diff(problems, sameProblems, ignore); d != "" {
				t.Fatalf("fleet %d, edit %d, %s: other problems (-from nothing +incrementally):\n%s", seed, n, what, d)
			}
			if (built == nil) != (again == nil) {
				t.Fatalf("fleet %d, edit %d, %s: a tree from nothing: %t, incrementally: %t", seed, n, what, built != nil, again != nil)
			}
			if built == nil {
				refused++
				if e.IntN(4) > 0 {
					e.fleet = before
				}
				continue
			}
			if d := differences(built, again); d != "" {
				t.Fatalf("fleet %d, edit %d, %s: %s", seed, n, what, d)
			}
			if heard != len(again.Folders) {
				t.Fatalf("fleet %d: heard of %d folders of %d", seed, heard, len(again.Folders))
			}
			builds++
			for i, folder := range again.Folders {
				folders++
				if _, ok := rendered[folder.Digest]; ok {
					kept++
				}
				switch {
				case built.Folders[i].Unknown && !folder.Digest.IsZero():
					t.Fatalf("fleet %d, edit %d, %s: folder %s is not all known and has a digest", seed, n, what, folder.ClusterType)
				case folder.Digest.IsZero():
					unknown++
				case e.IntN(3) > 0: // else the apply failed
					folder.Targets = folder.Targets.Cut(1 + e.IntN(tree.HashSize))
					rendered[folder.Digest] = folder
				}
			}
			if slices.ContainsFunc(again.Folders, func(f tree.Folder) bool { return f.Digest.IsZero() }) {
				e.fleet = before
			}
		}
	}
	t.Logf("%d builds of %d folders, %d of them kept, %d not all known; %d fleets refused", builds, folders, kept, unknown, refused)
	if builds < fleets*edits/2 || kept < folders/4 || kept > folders*9/10 || refused < 100 || unknown < 100 {
		t.Errorf("%d builds of %d folders, %d of them kept, %d not all known; %d fleets refused: the edits are not what they should be", builds, folders, kept, unknown, refused)
	}
}

// differences are those of two trees, in their hashes, their targets and their files.
func differences(built, again *tree.Tree) string {
	if d := cmp.Diff(built.Folders, again.Folders); d != "" {
		return "other folders (-from nothing +incrementally):\n" + d
	}
	if built.Hash != again.Hash || built.Unknown != again.Unknown {
		return fmt.Sprintf("the tree is %s from nothing, incrementally %s", built.Hash, again.Hash)
	}
	for i := range built.Folders {
		if d := cmp.Diff(built.WholeTargets(i), again.WholeTargets(i)); d != "" {
			return "other targets (-from nothing +incrementally):\n" + d
		}
	}
	return cmp.Diff(filesOf(built), filesOf(again))
}

func cloneFleet(t *testing.T, f *fleet.Fleet) *fleet.Fleet {
	t.Helper()
	text, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	clone := &fleet.Fleet{}
	if err := json.Unmarshal(text, clone); err != nil {
		t.Fatal(err)
	}
	return clone
}

type fleetEditor struct {
	*fleetGenerator
	fleet *fleet.Fleet
}

// edit changes the fleet, and says what.
func (e *fleetEditor) edit() string {
	f := e.fleet
	switch e.IntN(12) {
	case 0:
		shuffle(f, e.Rand)
		return "shuffled"
	case 1:
		from := f.Environment
		f.Environment = e.one("dev", "dev", "stage", "test")
		if e.IntN(2) == 0 {
			return "environment " + f.Environment
		}
		for _, w := range f.Workloads {
			for i := range w.Targets {
				if w.Targets[i].Environment == from {
					w.Targets[i].Environment = f.Environment
				}
			}
		}
		return "everything to environment " + f.Environment
	case 2:
		o := f.Objects()[e.IntN(len(f.Objects()))]
		o.Metadata().Origin.Key += "-moved"
		return fmt.Sprintf("the origin of %s %s", o.Kind(), o.Metadata().Name)
	case 3:
		all := f.Objects()
		gone := e.IntN(len(all))
		*f = fleet.Fleet{Environment: f.Environment}
		f.Add(slices.Delete(slices.Clone(all), gone, gone+1)...)
		return fmt.Sprintf("%s %s removed", all[gone].Kind(), all[gone].Metadata().Name)
	case 4:
		all := randomFleet(e.Uint64()).Objects()
		o := all[e.IntN(len(all))]
		o.Metadata().Name += e.one("", "-new", "-new", "-new")
		f.Add(o)
		return fmt.Sprintf("%s %s added", o.Kind(), o.Metadata().Name)
	case 5:
		schema := &fleet.ConfigSchema{
			Meta:   meta("config_schemas", fmt.Sprintf("s%d", e.IntN(9)), e.labels()),
			Schema: e.one("true", `{"type": "object"}`, `{"required": ["A"]}`, `{"properties": {"B": {"type": "number"}}}`, "{"),
		}
		f.Add(schema)
		return "schema " + schema.Schema
	case 6:
		w := f.Workloads
		if len(w) == 0 {
			return "nothing"
		}
		w[0].ConfigSchemas = []string{e.one("true", `{"required": ["A"]}`)}
		return "a workload's schema"
	}
	places := sites(f)
	place := places[e.IntN(len(places))]
	value := e.one(place.values...)
	if e.IntN(4) == 0 {
		value = fleet.Unknown
	}
	place.set(value)
	return fmt.Sprintf("%s = %q", place.name, value)
}
