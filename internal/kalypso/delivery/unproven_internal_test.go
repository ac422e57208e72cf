package delivery

import (
	"errors"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/check"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/drift"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/past"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/rollout"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion"
)

// TestUnproven: the state knows that commit old is promoted. Afterwards the branch contains another tree, with a record
// that promotes commit new, and the promotion takes that for the current one. The branch contains exactly what is
// desired: because our own apply was killed after its push, or because a person who may push wrote it. A row says
// whether the rendering believes the record, if the gates of commit new are open, and if they are closed.
func TestUnproven(t *testing.T) {
	for name, row := range map[string]struct {
		change           func(s *situation)
		proven, unproven bool
	}{
		"a killed apply, or an edited record with its tree": {func(*situation) {}, true, false},
		"on_drift is overwrite": {func(s *situation) {
			s.desired.OnDrift = drift.Overwrite
		}, true, false},
		"an edited record alone": {func(s *situation) {
			s.state.LastRead.Folders = existing(delivered)
		}, false, false},
		"an edited record whose commit has the tree of the old one": {func(s *situation) {
			s.state.LastRead.Folders, s.desired.Tree = existing(delivered), rendered(delivered)
		}, true, false},
		"a newer commit is promoted": {func(s *situation) {
			s.desired.Promotion = promotion.Promotion{Commit: "newer", Unproven: s.desired.Promotion.Unproven,
				Reason: promotion.Reason{Decision: promotion.Promote}}
			s.desired.Tree = rendered("large/a=3 large/b=1 small/c=1")
		}, false, false},
		"an edited record of a wave": {func(s *situation) {
			r := *s.state.LastRead.Record
			r.PromotedCommit, r.Rollout = "old", &rollout.Progress{TargetTreeHash: "t", PromotedCommit: "new"}
			s.state.LastRead.Record, s.state.LastRead.RecordHash = &r, r.Hash()
		}, false, false},
		"a wave that the state knows": {func(s *situation) {
			s.state.Rollout = &rollout.StoredProgress{Progress: rollout.Progress{PromotedCommit: "new"}}
		}, true, true},
		"a pull request that the state knows": {func(s *situation) {
			s.state.Proposal = &past.Proposal{Head: &past.State{PromotedCommit: "new"}}
		}, true, true},
		"people reverted to an earlier delivery": {func(s *situation) {
			s.state.EarlierDeliveries = []past.Delivery{{
				Record: s.state.LastRead.RecordHash, Tree: s.state.OwnFolders().TreeHash().String(),
			}}
		}, true, false},
		"people reverted to an earlier delivery, and rejected the last": {func(s *situation) {
			s.state.EarlierDeliveries = []past.Delivery{{
				Record: s.state.LastRead.RecordHash, Tree: s.state.OwnFolders().TreeHash().String(),
			}}
			s.desired.Rejected = []string{"old"}
		}, true, true},
		"people rejected the last delivery, and the record is no earlier one": {func(s *situation) {
			s.desired.Rejected = []string{"old"}
		}, true, false},
		"the record promotes the same commit": {func(s *situation) {
			s.state.PromotedCommit = "new"
		}, true, true},
		"the state knows no promoted commit": {func(s *situation) { s.state.PromotedCommit = "" }, true, true},
		"an import":                          {func(s *situation) { s.state = imported(s.state) }, true, true},
		"without a state":                    {func(s *situation) { s.state, s.prior = nil, nil }, true, true},
		"the private state is lost":          {lostPrivateState, true, false},
		"the private state is lost, and on_drift is overwrite": {func(s *situation) {
			lostPrivateState(s)
			s.desired.OnDrift = drift.Overwrite
		}, true, false},
		"the private state is lost, and the record promotes the same commit": {func(s *situation) {
			lostPrivateState(s)
			s.prior.PromotedCommit = "new"
		}, true, true},
		"the private state is lost, and the last apply proposed the commit": {func(s *situation) {
			lostPrivateState(s)
			s.prior.Commit = ""
		}, true, true},
		"the private state was lost, and read again from the branch": {func(s *situation) {
			again := imported(s.state)
			lostPrivateState(s)
			s.state = again
		}, true, false},
		"the private state is lost, and people rejected the last delivery": {func(s *situation) {
			lostPrivateState(s)
			s.desired.Rejected = []string{"old"}
		}, true, true},
		"the private state is lost, and a newer commit is promoted": {func(s *situation) {
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
				var refused *check.UnknownRecordError
				if got := !errors.As(errors.Join(decision.Errors...), &refused); got != believed {
					t.Fatalf("the record is believed: %t, want %t (%v)", got, believed, decision.Errors)
				}
				if refused != nil && refused.Unproven != unproven {
					t.Errorf("the error says %q", refused.Unproven)
				}
			})
		}
	}
}

// lostPrivateState leaves the attributes alone: they know that commit old was delivered.
func lostPrivateState(s *situation) {
	s.state, s.prior.PromotedCommit = nil, "old"
	s.prior.Environment, s.prior.Destination = s.desired.Environment, s.desired.Destination
}

// imported returns the state after an import of what the branch contains.
func imported(s *past.State) *past.State {
	now := past.NewState(s.Destination, s.Environment)
	now.LastRead, now.Delivered, now.DeliveredRecord = s.LastRead, s.LastRead.Folders, s.LastRead.RecordHash
	now.PromotedCommit, now.Base = s.LastRead.Record.PromotedCommit, s.LastRead.Head
	return &now
}

// TestUnprovenIsNamed: the first run that takes the promoted commit from the record warns if its gates are closed.
func TestUnprovenIsNamed(t *testing.T) {
	const why = "ci: no status"
	for name, row := range map[string]struct {
		change func(s *situation)
		want   string
	}{
		"a create":        {func(s *situation) { s.state, s.prior = nil, nil }, why},
		"after an import": {func(*situation) {}, why},
		"a later run":     {func(s *situation) { s.prior.Promotes = true }, ""},
		"another commit is promoted": {func(s *situation) {
			s.desired.Promotion.Decision = promotion.Promote
		}, ""},
	} {
		s := usualSituation()
		s.desired.Promotion = promotion.Promotion{Commit: "c", Unproven: why,
			Reason: promotion.Reason{Decision: promotion.Hold}}
		row.change(s)
		if got := s.decide(t).Unproven; got != row.want {
			t.Errorf("%s: it says %q, want %q", name, got, row.want)
		}
	}
}
