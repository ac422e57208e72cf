package delivery_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha1" // as Git does
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
)

// reread encodes and decodes a state, as the next run does.
func reread(t *testing.T, s *delivery.State) *delivery.State {
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

// branchWith returns a branch that contains folders.
func branchWith(inv inventory.Folders) delivery.Branch {
	return delivery.Branch{Head: "1", Folders: inv}
}

// TestState: a state is encoded and decoded without loss, even if the branch differs from the delivered tree.
func TestState(t *testing.T) {
	one := delivery.FoldersOf("large/a=1", "large/b=1", "small/c=2")
	two := delivery.FoldersOf("large/a=1", "small/c=2", "theirs/d=1")
	whole := delivery.FoldersOf("large/a=1", "large/b=-", "large/c=3")
	for _, i := range []int{0, 1} { // the target c has no whole hash
		target := &whole["large"].Targets[i]
		target.FullHash = sha1.Sum([]byte(target.Name))
		copy(target.Hash[:], target.FullHash[:])
	}
	for name, want := range map[string]*delivery.State{
		"branch as delivered":    {Delivered: one, LastRead: branchWith(one)},
		"branch with drift":      {Delivered: one, LastRead: branchWith(two)},
		"branch without folders": {Delivered: one, LastRead: branchWith(inventory.Folders{})},
		"empty tree":             {Delivered: inventory.Folders{}, LastRead: branchWith(inventory.Folders{})},
		"zero state":             {},
		"state with a proposal": {Delivered: one, LastRead: branchWith(one),
			Proposal: &delivery.Proposal{Number: 7, Head: &delivery.State{Delivered: two, LastRead: branchWith(two)}}},
		"names with blanks and control characters": {
			Delivered: delivery.FoldersOf("large/my folder=1", "large/my folder empty=2", "large/a\nb=3", `large/"=4`,
				"large/ =5", "large/ä=6"),
			LastRead: branchWith(delivery.FoldersOf("large/b=1", "a b/a\x00=-")),
		},
		"whole hashes": {Delivered: whole, LastRead: branchWith(whole), WholeHashes: true},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(want, reread(t, want), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("after the round trip (-want +got):\n%s", diff)
			}
		})
	}
}

// TestStateSize: the private state of a large fleet must be small, since every step of a plan copies it.
func TestStateSize(t *testing.T) {
	entries := make([]string, 100_000)
	for i := range entries {
		entries[i] = fmt.Sprintf("ct-%03d/workload-%03d-target=%d", i/100, i%100, i)
	}
	of := delivery.FoldersOf(entries...)
	text, err := (&delivery.State{Delivered: of, LastRead: branchWith(of)}).Encode()
	if err != nil {
		t.Fatal(err)
	}
	if most := 7 * len(entries); len(text) > most {
		t.Errorf("the state of %d targets has %d bytes, more than %d", len(entries), len(text), most)
	}
}

// TestDecodeBrokenState: data that are not a state, or only a part of one, are an error.
func TestDecodeBrokenState(t *testing.T) {
	one := delivery.FoldersOf("large/a=1", "large/b=-", "small/c=2")
	whole, err := (&delivery.State{Delivered: one, LastRead: branchWith(one)}).Encode()
	if err != nil {
		t.Fatal(err)
	}
	for i := range whole {
		if _, err := delivery.DecodeState(whole[:i]); err == nil {
			t.Errorf("the first %d of %d bytes are decoded without an error", i, len(whole))
		}
	}
	for name, data := range map[string][]byte{
		"no data": nil, "JSON without compression": []byte(`{"version": 2}`), "compressed text": stored(t, `none`, ""),
		"one byte too many": append(whole, 0),
	} {
		if _, err := delivery.DecodeState(data); err == nil {
			t.Errorf("%s: decoded without an error", name)
		}
	}
}

// TestStateWithBrokenTargets: if the targets of a state do not belong to its folders, this is an error.
func TestStateWithBrokenTargets(t *testing.T) {
	const hash = "abcdef"
	for _, broken := range []struct{ targets, hashes string }{
		{targets: `{}`},
		{targets: `{"lists": "AA=="}`},                                           // a list is missing
		{targets: `{"lists": "AAAA"}`},                                           // one list too many
		{targets: `{"lists": "AAA="}`, hashes: hash},                             // one hash too many
		{targets: `{"names": ["a"], "lists": "AgAA"}`},                           // missing hash
		{targets: `{"names": ["a"], "lists": "AgAA"}`, hashes: hash[1:]},         // hash cut off
		{targets: `{"names": ["a"], "lists": "AwAA"}`, hashes: hash},             // missing whole hash
		{targets: `{"lists": "AgAA"}`, hashes: hash},                             // missing name
		{targets: `{"names": ["a"], "lists": "AgQA"}`, hashes: hash},             // index after the last name
		{targets: `{"names": ["a"], "lists": "AgMA"}`, hashes: hash},             // index before the first name
		{targets: `{"names": ["a"], "lists": "/////////////wEA"}`, hashes: hash}, // number too large
	} {
		data := stored(t, `{"delivered": {"large": {}}, "seen": {"folders": {"small": {}}}, "targets": `+broken.targets+`}`,
			broken.hashes)
		if _, err := delivery.DecodeState(data); err == nil {
			t.Errorf("%v: decoded without an error", broken)
		}
	}
	data := stored(t, `{"delivered": {"large": {}}, "seen": {"folders": {"small": {}}},
		"targets": {"names": ["a"], "lists": "AgAA"}}`, hash)
	if s, err := delivery.DecodeState(data); err != nil || len(s.Delivered["large"].Targets) != 1 {
		t.Errorf("%v, %v", s, err)
	}
}

// stored returns the bytes of a private state with a text and hashes.
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
