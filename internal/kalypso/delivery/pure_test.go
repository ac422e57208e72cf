package delivery_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha1" // as Git does
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
)

// foldersOf returns an inventory of "cluster type/deployment target=hash". With the hash "-", all files of the target
// are empty.
func foldersOf(entries ...string) inventory.Folders {
	inv := inventory.Folders{}
	slices.SortFunc(entries, func(a, b string) int {
		one, _, _ := strings.Cut(a, "=")
		two, _, _ := strings.Cut(b, "=")
		return strings.Compare(one, two)
	})
	for _, entry := range entries {
		at, hash, _ := strings.Cut(entry, "=")
		name, target, ok := strings.Cut(at, "/")
		folder := inv[name]
		if ok {
			sum := sha1.Sum([]byte(hash))
			folder.Targets = append(folder.Targets,
				inventory.Target{Name: target, Hash: inventory.ShortHash(sum[:6]), Empty: hash == "-"})
		}
		folder.Hash = sha1.Sum([]byte(folder.Hash.String() + entry))
		inv[name] = folder
	}
	return inv
}

// kept returns the state as the next run reads it.
func kept(t *testing.T, s *delivery.State) *delivery.State {
	t.Helper()
	text, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	next, err := delivery.DecodeState(text)
	if err != nil {
		t.Fatal(err)
	}
	return next
}

// seen returns a branch that contains folders.
func seen(inv inventory.Folders) delivery.BranchState {
	return delivery.BranchState{Head: "1", Folders: inv}
}

// TestState encodes and decodes a state without loss, even if the branch differs from the delivered tree.
func TestState(t *testing.T) {
	one, two := foldersOf("large/a=1", "large/b=1", "small/c=2"), foldersOf("large/a=1", "small/c=2", "theirs/d=1")
	whole := foldersOf("large/a=1", "large/b=-", "large/c=3")
	for _, i := range []int{0, 1} { // not of c
		target := &whole["large"].Targets[i]
		target.Whole = sha1.Sum([]byte(target.Name))
		copy(target.Hash[:], target.Whole[:])
	}
	for name, want := range map[string]*delivery.State{
		"as delivered":            {Delivered: one, Seen: seen(one)},
		"drifted":                 {Delivered: one, Seen: seen(two)},
		"all folders are removed": {Delivered: one, Seen: seen(inventory.Folders{})},
		"empty":                   {Delivered: inventory.Folders{}, Seen: seen(inventory.Folders{})},
		"zero":                    {},
		"nested": {Delivered: one, Seen: seen(one),
			Proposal: &delivery.Proposal{Number: 7, Head: &delivery.State{Delivered: two, Seen: seen(two)}}},
		"odd names": {
			Delivered: foldersOf("large/my folder=1", "large/my folder empty=2", "large/a\nb=3", `large/"=4`, "large/ =5",
				"large/ä=6"),
			Seen: seen(foldersOf("large/b=1", "a b/a\x00=-")),
		},
		"whole hashes": {Delivered: whole, Seen: seen(whole), WholeHashes: true},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(want, kept(t, want), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("after the round trip (-want +got):\n%s", diff)
			}
		})
	}
}

// TestStateSize measures the private state of a large fleet. It must be small, since every step of a plan copies it.
func TestStateSize(t *testing.T) {
	entries := make([]string, 100_000)
	for i := range entries {
		entries[i] = fmt.Sprintf("ct-%03d/workload-%03d-target=%d", i/100, i%100, i)
	}
	of := foldersOf(entries...)
	text, err := (&delivery.State{Delivered: of, Seen: seen(of)}).Encode()
	if err != nil {
		t.Fatal(err)
	}
	if most := 7 * len(entries); len(text) > most {
		t.Errorf("the state of %d targets has %d bytes, more than %d", len(entries), len(text), most)
	}
}

// TestStateBroken decodes data that is not a state, or only a part of one. Each is an error.
func TestStateBroken(t *testing.T) {
	one := foldersOf("large/a=1", "large/b=-", "small/c=2")
	whole, err := (&delivery.State{Delivered: one, Seen: seen(one)}).Encode()
	if err != nil {
		t.Fatal(err)
	}
	for i := range whole {
		if _, err := delivery.DecodeState(whole[:i]); err == nil {
			t.Errorf("the first %d of %d bytes are taken for a state", i, len(whole))
		}
	}
	for name, data := range map[string][]byte{
		"nothing": nil, "JSON alone": []byte(`{"version": 2}`), "compressed text": stored(t, `none`, ""),
		"a hash too many": append(whole, 0),
	} {
		if _, err := delivery.DecodeState(data); err == nil {
			t.Errorf("%s is taken for a state", name)
		}
	}
}

// TestStateWithBrokenTargets decodes states whose targets are not those of their folders. Each is an error.
func TestStateWithBrokenTargets(t *testing.T) {
	const hash = "abcdef"
	for _, broken := range []struct{ targets, hashes string }{
		{targets: `{}`},
		{targets: `{"lists": "AA=="}`},                                           // a list is missing
		{targets: `{"lists": "AAAA"}`},                                           // a list of no folder
		{targets: `{"lists": "AAA="}`, hashes: hash},                             // a hash of no target
		{targets: `{"names": ["a"], "lists": "AgAA"}`},                           // no hash
		{targets: `{"names": ["a"], "lists": "AgAA"}`, hashes: hash[1:]},         // a short hash
		{targets: `{"names": ["a"], "lists": "AwAA"}`, hashes: hash},             // no whole hash
		{targets: `{"lists": "AgAA"}`, hashes: hash},                             // no name
		{targets: `{"names": ["a"], "lists": "AgQA"}`, hashes: hash},             // an index after the names
		{targets: `{"names": ["a"], "lists": "AgMA"}`, hashes: hash},             // an index before them
		{targets: `{"names": ["a"], "lists": "/////////////wEA"}`, hashes: hash}, // too large a number
	} {
		data := stored(t, `{"delivered": {"large": {}}, "seen": {"folders": {"small": {}}}, "targets": `+broken.targets+`}`,
			broken.hashes)
		if _, err := delivery.DecodeState(data); err == nil {
			t.Errorf("%v is taken for the targets of two folders", broken)
		}
	}
	data := stored(t, `{"delivered": {"large": {}}, "seen": {"folders": {"small": {}}},
		"targets": {"names": ["a"], "lists": "AgAA"}}`, hash)
	if s, err := delivery.DecodeState(data); err != nil || len(s.Delivered["large"].Targets) != 1 {
		t.Errorf("%v, %v", s, err)
	}
}

// stored returns what a private state contains.
func stored(t *testing.T, text, hashes string) []byte {
	t.Helper()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return append(packed.Bytes(), hashes...)
}

func TestChanges(t *testing.T) {
	for _, test := range []struct {
		name          string
		before, after inventory.Folders
		want          map[string]string
	}{
		{"nothing", foldersOf("large/a=1"), foldersOf("large/a=1"), map[string]string{}},
		{"first", nil, foldersOf("large/a=1", "large/b=1", "small"),
			map[string]string{"large": "+2 -0 ~0", "small": "+0 -0 ~0"}},
		{"all", foldersOf("large/a=1", "large/b=1", "large/c=1"), foldersOf("large/a=1", "large/b=2", "large/d=1"),
			map[string]string{"large": "+1 -1 ~1"}},
		{"a cluster type is removed", foldersOf("large/a=1", "small/b=1"), foldersOf("large/a=1"),
			map[string]string{"small": "+0 -1 ~0"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, inventory.Changes(test.before, test.after)); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestGuardrails(t *testing.T) {
	four := foldersOf("large/a=1", "large/b=1", "small/c=1", "small/d=1")
	empty := delivery.Guardrails{MaxRemoved: "100%", AllowEmpty: true}
	number := func(n delivery.Limit) delivery.Guardrails { return delivery.Guardrails{MaxRemoved: n} }
	usual := delivery.Guardrails{MaxRemoved: delivery.DefaultLimit}
	for _, test := range []struct {
		name          string
		guardrails    delivery.Guardrails
		before, after inventory.Folders
		replaced      bool
		removed       []string // nil: allowed
		reason        string
	}{
		{"an empty branch", usual, nil, four, false, nil, ""},
		{"changed", usual, four, foldersOf("large/a=2", "large/b=2", "small/c=2", "small/d=2"), false, nil, ""},
		{"half", usual, four, foldersOf("large/a=1", "small/c=1"), false, nil, ""},
		{"more than half", usual, four, foldersOf("large/a=1"), false, []string{"large/b", "small/c", "small/d"},
			`removes 3 of 4 deployment target folders, and guardrails.max_removed is "50%"`},
		{"moved to another cluster type", usual, four, foldersOf("small/a=1", "small/b=1", "small/c=1", "large/d=1"), false,
			[]string{"large/a", "large/b", "small/d"}, "3 of 4"},
		{"number", number("1"), four, foldersOf("large/a=1", "small/c=1"), false, []string{"large/b", "small/d"}, `is "1"`},
		{"number allows", number("2"), four, foldersOf("large/a=1", "small/c=1"), false, nil, ""},
		{"zero", number("0"), four, foldersOf("large/a=1", "large/b=1", "small/c=1"), false, []string{"small/d"}, `1 of 4`},
		{"all", number("100"), four, foldersOf("large", "small"), false, []string{"large/a", "large/b", "small/c", "small/d"},
			"all 4 deployment target folders, and guardrails.allow_empty is false. It"},
		{"the only target", number("1"), foldersOf("large/a=1"), foldersOf("large"), false, []string{"large/a"},
			"removes the only deployment target folder, and guardrails.allow_empty is false. It"},
		{"all targets, which is more than half", usual, four, nil, false, []string{"large/a", "large/b", "small/c",
			"small/d"},
			"all 4 deployment target folders"},
		{"all targets, which is allowed", empty, four, nil, false, nil, ""},
		{"emptied", number("0"), four, foldersOf("large/a=-", "large/b=1", "small/c=1", "small/d=1"), false,
			[]string{"large/a"}, "1 of 4"},
		{"an empty tree after an empty one", number("0"), foldersOf("large/a=-", "large/b=1"), foldersOf("large/a=-",
			"large/b=1"), false, nil,
			""},
		{"another environment", usual, four, four, true, []string{"large/a", "large/b", "small/c", "small/d"}, "all 4"},
		{"another environment, which is allowed", empty, four, four, true, nil, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := test.guardrails.Check(test.before, test.after, test.replaced)
			if test.removed == nil {
				if err != nil {
					t.Errorf("refused: %v", err)
				}
				return
			}
			if err == nil {
				t.Fatal("allowed")
			}
			if diff := cmp.Diff(test.removed, err.Removed); diff != "" {
				t.Errorf("removed (-want +got):\n%s", diff)
			}
			for _, text := range append(test.removed, test.reason) {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("the error does not say %q: %v", text, err)
				}
			}
		})
	}
}
