package past_test

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

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/past"
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
func kept(t *testing.T, s *past.State) *past.State {
	t.Helper()
	text, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	next, err := past.DecodeState(text)
	if err != nil {
		t.Fatal(err)
	}
	return next
}

// seen returns a branch that contains folders.
func seen(inv inventory.Folders) past.Branch {
	return past.Branch{Head: "1", Folders: inv}
}

// TestState encodes and decodes a state without loss, even if the branch differs from the delivered tree.
func TestState(t *testing.T) {
	one, two := foldersOf("large/a=1", "large/b=1", "small/c=2"), foldersOf("large/a=1", "small/c=2", "theirs/d=1")
	whole := foldersOf("large/a=1", "large/b=-", "large/c=3")
	for _, i := range []int{0, 1} { // not of c
		target := &whole["large"].Targets[i]
		target.FullHash = sha1.Sum([]byte(target.Name))
		copy(target.Hash[:], target.FullHash[:])
	}
	for name, want := range map[string]*past.State{
		"as delivered":            {Delivered: one, LastRead: seen(one)},
		"drifted":                 {Delivered: one, LastRead: seen(two)},
		"all folders are removed": {Delivered: one, LastRead: seen(inventory.Folders{})},
		"empty":                   {Delivered: inventory.Folders{}, LastRead: seen(inventory.Folders{})},
		"zero":                    {},
		"nested": {Delivered: one, LastRead: seen(one),
			Proposal: &past.Proposal{Number: 7, Head: &past.State{Delivered: two, LastRead: seen(two)}}},
		"odd names": {
			Delivered: foldersOf("large/my folder=1", "large/my folder empty=2", "large/a\nb=3", `large/"=4`, "large/ =5",
				"large/ä=6"),
			LastRead: seen(foldersOf("large/b=1", "a b/a\x00=-")),
		},
		"whole hashes": {Delivered: whole, LastRead: seen(whole), WholeHashes: true},
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
	text, err := (&past.State{Delivered: of, LastRead: seen(of)}).Encode()
	if err != nil {
		t.Fatal(err)
	}
	if most := 7 * len(entries); len(text) > most {
		t.Errorf("the state of %d targets has %d bytes, more than %d", len(entries), len(text), most)
	}
}

// TestDecodeBrokenState decodes data that is not a state, or only a part of one. Each is an error.
func TestDecodeBrokenState(t *testing.T) {
	one := foldersOf("large/a=1", "large/b=-", "small/c=2")
	whole, err := (&past.State{Delivered: one, LastRead: seen(one)}).Encode()
	if err != nil {
		t.Fatal(err)
	}
	for i := range whole {
		if _, err := past.DecodeState(whole[:i]); err == nil {
			t.Errorf("the first %d of %d bytes are taken for a state", i, len(whole))
		}
	}
	for name, data := range map[string][]byte{
		"nothing": nil, "JSON alone": []byte(`{"version": 2}`), "compressed text": stored(t, `none`, ""),
		"a hash too many": append(whole, 0),
	} {
		if _, err := past.DecodeState(data); err == nil {
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
		if _, err := past.DecodeState(data); err == nil {
			t.Errorf("%v is taken for the targets of two folders", broken)
		}
	}
	data := stored(t, `{"delivered": {"large": {}}, "seen": {"folders": {"small": {}}},
		"targets": {"names": ["a"], "lists": "AgAA"}}`, hash)
	if s, err := past.DecodeState(data); err != nil || len(s.Delivered["large"].Targets) != 1 {
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
