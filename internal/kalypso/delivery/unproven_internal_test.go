package delivery

import (
	"errors"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/drift"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/rollout"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion"
)

// TestUnproven: the state says that the commit old is promoted. The branch contains another tree, and its record says
// that the commit new is promoted. This tree is exactly what the fleet renders with the commit new. Either our own
// apply was killed after its push, or a person who may push wrote it. So the promotion takes new for the current
// commit. A row says whether the rendering believes the record: proven if the gates of the commit new are open,
// unproven if they are closed.
func TestUnproven(t *testing.T) {
	for name, row := range map[string]struct {
		change           func(s *situation)
		proven, unproven bool
	}{
		"killed apply or edited record, with the tree of the commit": {func(*situation) {}, true, false},
		"on_drift is overwrite": {func(s *situation) {
			s.desired.OnDrift = drift.Overwrite
		}, true, false},
		"edited record, old tree": {func(s *situation) {
			s.state.LastRead.Folders = existing(delivered)
		}, false, false},
		"edited record, both commits have the same tree": {func(s *situation) {
			s.state.LastRead.Folders, s.desired.Tree = existing(delivered), rendered(delivered)
		}, true, false},
		"promotion of a newer commit": {func(s *situation) {
			s.desired.Promotion = promotion.Promotion{Commit: "newer", Unproven: s.desired.Promotion.Unproven,
				Reason: promotion.Reason{Decision: promotion.Promote}}
			s.desired.Tree = rendered("large/a=3 large/b=1 small/c=1")
		}, false, false},
		"pin of the last commit": {func(s *situation) { pins(s, "old") }, true, true},
		"pin of the last commit, edited record, old tree": {func(s *situation) {
			pins(s, "old")
			s.state.LastRead.Folders = existing(delivered)
		}, true, true},
		"pin of the last commit, on_drift is overwrite": {func(s *situation) {
			pins(s, "old")
			s.desired.OnDrift = drift.Overwrite
		}, true, true},
		"approval of a newer commit": {func(s *situation) {
			s.desired.Promotion = promotion.Promotion{Commit: "newer", Unproven: s.desired.Promotion.Unproven,
				Reason: promotion.Reason{Decision: promotion.Promote}}
			s.desired.Approved = []string{"newer"}
			s.desired.Tree = rendered("large/a=3 large/b=1 small/c=1")
		}, true, true},
		"approval of the commit, fleet changed since": {func(s *situation) {
			s.desired.Approved = []string{"new"}
			s.desired.Tree = rendered("large/a=3 large/b=1 small/c=1")
		}, true, true},
		"approval of another commit than the chosen one": {func(s *situation) {
			s.desired.Approved = []string{"old"}
		}, true, false},
		"commit of an apply that was killed": {func(s *situation) {
			s.state = s.state.AsLastRead()
			s.state.UnsavedCommit = s.state.LastRead.Head
		}, true, true},
		"accepted change": {func(s *situation) {
			s.desired.AcceptedChanges = AcceptedChanges{string(DriftID(s.state))}
		}, true, true},
		"edited record of a wave": {func(s *situation) {
			r := *s.state.LastRead.Record
			r.PromotedCommit, r.Rollout = "old", &rollout.Progress{TargetTreeHash: "t", PromotedCommit: "new"}
			s.state.LastRead.Record, s.state.LastRead.RecordHash = &r, r.Hash()
		}, false, false},
		"wave that the state contains": {func(s *situation) {
			s.state.Rollout = &rollout.StoredProgress{Progress: rollout.Progress{PromotedCommit: "new"}}
		}, true, true},
		"pull request that the state contains": {func(s *situation) {
			s.state.Proposal = &Proposal{Head: &State{PromotedCommit: "new"}}
		}, true, true},
		"revert to an earlier delivery": {func(s *situation) {
			s.state.EarlierDeliveries = []EarlierDelivery{{
				Record: s.state.LastRead.RecordHash, Tree: s.state.OwnFolders().TreeHash().String(),
			}}
		}, true, false},
		"revert to an earlier delivery, last commit rejected": {func(s *situation) {
			s.state.EarlierDeliveries = []EarlierDelivery{{
				Record: s.state.LastRead.RecordHash, Tree: s.state.OwnFolders().TreeHash().String(),
			}}
			s.desired.Rejected = []string{"old"}
		}, true, true},
		"last commit rejected, no earlier delivery": {func(s *situation) {
			s.desired.Rejected = []string{"old"}
		}, true, false},
		"record with the same promoted commit": {func(s *situation) {
			s.state.PromotedCommit = "new"
		}, true, true},
		"state without a promoted commit": {func(s *situation) { s.state.PromotedCommit = "" }, true, true},
		"import":                          {func(s *situation) { s.state = imported(s.state) }, true, true},
		"no state":                        {func(s *situation) { s.state, s.prior = nil, nil }, true, true},
		"lost private state":              {lostPrivateState, true, false},
		"lost private state, on_drift is overwrite": {func(s *situation) {
			lostPrivateState(s)
			s.desired.OnDrift = drift.Overwrite
		}, true, false},
		"lost private state, record with the same promoted commit": {func(s *situation) {
			lostPrivateState(s)
			s.prior.PromotedCommit = "new"
		}, true, true},
		"lost private state, commit proposed by the last apply": {func(s *situation) {
			lostPrivateState(s)
			s.prior.Commit = ""
		}, true, true},
		"lost private state, recovered from the branch": {func(s *situation) {
			again := imported(s.state)
			lostPrivateState(s)
			s.state = again
		}, true, false},
		"lost private state, last commit rejected": {func(s *situation) {
			lostPrivateState(s)
			s.desired.Rejected = []string{"old"}
		}, true, true},
		"lost private state, promotion of a newer commit": {func(s *situation) {
			lostPrivateState(s)
			s.desired.Promotion.Decision = promotion.Promote
		}, true, true},
	} {
		for unproven, believed := range map[string]bool{"": row.proven, "ci: no status": row.unproven} {
			t.Run(name+", unproven "+unproven, func(t *testing.T) {
				s := usualSituation()
				s.desired.Tree = rendered("large/a=2 large/b=1 small/c=1")
				s.desired.Promotion = promotion.Promotion{Commit: "new", Unproven: unproven,
					Reason: promotion.Reason{Decision: promotion.UpToDate}}
				s.state.PromotedCommit, s.state.Drift = "old", []drift.Commit{{}}
				written := record.New("dev", []string{"large", "small"}, "new", nil, nil)
				s.state.LastRead.Folders = existing("large/a=2 large/b=1 small/c=1")
				s.state.LastRead.Record, s.state.LastRead.RecordHash = &written, written.Hash()
				row.change(s)
				decision := s.decide(t)
				refused, ok := errors.AsType[*Refusal](errors.Join(decision.All().Errors...))
				if ok && refused.Kind != UnknownRecord || ok == believed {
					t.Fatalf("the record is believed: %t, want %t (%v)", !ok, believed, decision.All().Errors)
				}
				closed := "The gates of that commit are closed: " + unproven + "."
				if ok && strings.Contains(refused.Reason, closed) != (unproven != "") {
					t.Errorf("the error says %q", refused.Reason)
				}
			})
		}
	}
}

// TestPinWithForeignFolder: a pin makes no difference to a record that lists a folder of other people.
func TestPinWithForeignFolder(t *testing.T) {
	s := usualSituation()
	pins(s, "old")
	s.state.PromotedCommit, s.state.Drift = "old", []drift.Commit{{}}
	written := record.New("dev", []string{"large", "small", "theirs"}, "new", nil, nil)
	s.state.LastRead.Record, s.state.LastRead.RecordHash = &written, written.Hash()
	refused, ok := errors.AsType[*Refusal](errors.Join(s.decide(t).All().Errors...))
	if !ok || !strings.Contains(refused.Reason, "it also lists theirs") || refused.ID != DriftID(s.state) {
		t.Errorf("the refusal is %+v", refused)
	}
}

// pins lets people pin the commit that the state contains, and the fleet render its tree.
func pins(s *situation, commit string) {
	s.desired.Promotion.Commit, s.desired.Promotion.Decision = commit, promotion.Pinned
	s.desired.Tree = rendered(delivered)
}

// lostPrivateState removes the private state. The attributes remain, which say that the commit old was delivered.
func lostPrivateState(s *situation) {
	s.state, s.prior.PromotedCommit = nil, "old"
	s.prior.Environment, s.prior.Destination = s.desired.Environment, s.desired.Destination
}

// imported returns the state after an import of the branch.
func imported(s *State) *State {
	now := NewState(s.Destination, s.Environment)
	now.LastRead, now.Delivered, now.DeliveredRecord = s.LastRead, s.LastRead.Folders, s.LastRead.RecordHash
	now.PromotedCommit, now.Base = s.LastRead.Record.PromotedCommit, s.LastRead.Head
	return &now
}

// TestUnprovenWarning: the first run that takes the promoted commit from the record warns if the commit's gates are
// closed.
func TestUnprovenWarning(t *testing.T) {
	const why = "ci: no status"
	for name, row := range map[string]struct {
		change func(s *situation)
		want   string
	}{
		"create":                    {func(s *situation) { s.state, s.prior = nil, nil }, why},
		"first run after an import": {func(*situation) {}, why},
		"later run":                 {func(s *situation) { s.prior.Promotes = true }, ""},
		"promotion of another commit": {func(s *situation) {
			s.desired.Promotion.Decision = promotion.Promote
		}, ""},
	} {
		s := usualSituation()
		s.desired.Promotion = promotion.Promotion{Commit: "c", Unproven: why,
			Reason: promotion.Reason{Decision: promotion.Hold}}
		row.change(s)
		if got := s.decide(t).All().Unproven; got != row.want {
			t.Errorf("%s: the warning is %q, want %q", name, got, row.want)
		}
	}
}
