package delivery

import (
	"crypto/sha1"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render/tree"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule/placement"
)

// TestDecisionsOfState: a decoded state contains the decisions that were encoded. They are stored only once, although
// both the state and the record contain them.
func TestDecisionsOfState(t *testing.T) {
	t.Parallel()
	written := record.New("dev", []string{"large"}, "", nil, nil)
	decided := placement.Decisions{"web": {Targets: map[string][]string{"hello-web": {"large"}}}}
	written.Decisions = decided
	s := NewState(destination.Destination{Repo: "file:///repo", Branch: "dev", Path: "."}, "dev")
	folder := inventory.Folder{Hash: tree.Hash{1}, Targets: []inventory.Target{{Name: "hello-web"}}}
	s.Delivered = inventory.Folders{"large": folder, "small": folder}
	s.DeliveredRecord, s.Decisions = written.Hash(), written.Decisions
	s.LastRead = Branch{Head: "1", Record: &written, RecordHash: written.Hash()}
	packed := s.with((*State).dropRepeats)
	if packed.LastRead.Record.Decisions != nil || s.LastRead.Record.Decisions == nil {
		t.Error("the decisions are stored twice, or encoding removes them from the state")
	}
	data, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	read, err := DecodeState(data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(written, *read.LastRead.Record); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
	earlier, known := read.earlier()
	want := placement.PriorResults{Decisions: decided, Placed: map[string][]string{"hello-web": {"large", "small"}}}
	if diff := cmp.Diff(want, earlier); diff != "" || !known {
		t.Errorf("earlier, known: %t (-want +got):\n%s", known, diff)
	}
	for name, s := range map[string]*State{"no state": nil, "state of another version": {Version: 1}} {
		if _, known := s.earlier(); known {
			t.Errorf("%s: the earlier decisions are known", name)
		}
	}
}

// TestWholeHashesInState: whole hashes are stored only with on_assignment_error = "keep". Even then, the state of
// 100,000 targets is small.
func TestWholeHashesInState(t *testing.T) {
	t.Parallel()
	inv := inventory.Folders{}
	const clusterTypes, targets = 100, 1000
	for c := range clusterTypes {
		folder := inventory.Folder{Hash: sha1.Sum(fmt.Append(nil, c))}
		for n := range targets {
			hash := sha1.Sum(fmt.Append(nil, c, n))
			folder.Targets = append(folder.Targets, inventory.NewTarget(fmt.Sprintf("workload-%04d-target", n), hash, false))
		}
		inv[fmt.Sprintf("ct-%03d", c)] = folder
	}
	for keep, most := range map[bool]int{false: 20, true: 40} {
		s := &State{Delivered: inv, LastRead: Branch{Folders: inv}, WholeHashes: keep}
		text, err := s.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if each := len(text) / (clusterTypes * targets); each > most {
			t.Errorf("whole hashes %t: %d bytes a target, more than %d", keep, each, most)
		} else {
			t.Logf("whole hashes %t: %d bytes a target", keep, each)
		}
		read, err := DecodeState(text)
		if err != nil {
			t.Fatal(err)
		}
		got, want := read.LastRead.Folders["ct-000"].Targets[7], inv["ct-000"].Targets[7]
		if got.Hash != want.Hash || (got.FullHash == want.FullHash) != keep {
			t.Errorf("whole hashes %t: decoded as %+v", keep, got)
		}
	}
}
