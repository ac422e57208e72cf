package delivery

import (
	"maps"
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/drift"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/pullrequest"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/pullrequest/owners"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/rollout"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/origin"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// Arguments is a rendering as it is configured. An unknown string is [unknown.Text]. It is never modified.
type Arguments struct {
	Strategy    destination.Strategy
	Destination destination.Destination
	Environment string
	Fleet       *fleet.Fleet
	Promotion   promotion.Promotion // zero if there is none
	// NoCommit says that there is a promotion, and that it has no commit yet. PromotionUnknown says that its commit, or
	// its decision, is not known yet.
	NoCommit, PromotionUnknown bool
	Rejected                   []string          // promoted commits that people rejected
	Approved                   []string          // commits that people approved: they need no gate
	Origins                    []string          // keys of manifests that name a file in Git, for the record
	Sources                    origin.Sources    // the commits of these files
	Verified                   map[string]string // commit → its signer
	Review                     Review
	Preview                    string // how much the state shows, for the import ID; empty: the default
	Adopt                      bool
	CreateBranch               bool
	KeepOld                    bool // a move keeps the folders and the record at the old location
	KeepOnDestroy              bool // a destroy keeps the folders and the record on the branch
	Protected                  bool // a destroy is an error
	OnDrift                    drift.Reaction
	Guardrails                 Guardrails
	AcceptedChanges            AcceptedChanges
	PullRequest                pullrequest.Settings
	Owners                     owners.Owners     // whose folders changes are reviewed by whom
	Message                    string            // of the commit; empty for the default, which lists the changes
	Trailers                   map[string]string // of the commit; the author has the provider's too
	Author                     gitbranch.Author
	// Known is Partial if an argument that decides about the change, other than the fleet, is not known yet.
	Known inventory.Known
	// Shown is Partial if it is not known yet what the attributes show of the tree.
	Shown inventory.Known
	// Rollout brings the tree to the cluster types in waves. If it is nil, one apply delivers the whole tree.
	Rollout *rollout.Rollout
	// KeepFailed says that the branch keeps the folders of deployment targets that fail to render by a fault of their
	// team. Otherwise, or if it is not known yet, they are errors.
	KeepFailed bool
	// Feedback says where teams hear of their workloads; nil: nowhere.
	Feedback *Feedback
}

// Delivers reports whether the strategy is known to bring the tree to a branch.
func (a *Arguments) Delivers() bool {
	return a.Strategy == destination.Push || a.Strategy == destination.PullRequest
}

// Located reports whether the destination is known.
func (a *Arguments) Located() bool {
	at := a.Destination
	return !unknown.Is(at.Repo) && !unknown.Is(at.Branch) && !unknown.Is(at.Path)
}

// Stopped reports whether a [Stop] lets nothing go, whatever the fleet renders to: nothing is promoted yet, the
// environment is frozen, or the rollout is paused before anything was delivered. p is nil for a create.
func (a *Arguments) Stopped(p *Prior) bool {
	return stopOf(a, p) != nil
}

// frozen reports whether the promotion stops everything.
func (a *Arguments) frozen() bool { return a.NoCommit || a.Promotion.Frozen() != "" }

// ImportID returns the ID that imports the rendering after its state was lost.
func (a *Arguments) ImportID() string { return a.Destination.ImportID(a.Environment, a.Preview) }

// mayAdopt reports whether the rendering may adopt what its destination contains. With accepted_changes, only the
// contents of the branch decide.
func (a *Arguments) mayAdopt() bool { return a.Adopt || a.AcceptedChanges.mayAdopt() }

// ReactionTo returns the reaction to the foreign changes that s contains.
func (a *Arguments) ReactionTo(s *State) drift.Reaction {
	switch {
	case a.AcceptedChanges.accepts(DriftID(s)):
		return drift.Overwrite
	case a.replacesPromotion(s):
		return drift.Overwrite
	case a.OnDrift == drift.Fail && a.AcceptedChanges.Unknown():
		return unknown.Text
	}
	return a.OnDrift
}

// replacesPromotion reports whether the foreign changes in s are a promotion by one commit, and people chose the commit
// to promote: another one, or the same.
func (a *Arguments) replacesPromotion(s *State) bool {
	r := s.LastRead.Record
	return a.chosenByPeople() && len(s.Drift) == 1 && r != nil && r.FinalPromotion().Commit != s.PromotedCommit
}

// DriftID returns the ID of the foreign changes that s contains.
func DriftID(s *State) ChangeID {
	return newChangeID(
		IDDrift, s.Destination.String(), s.LastRead.Head, s.OwnFolders().TreeHash().String(), s.LastRead.RecordHash)
}

// chosenByPeople reports whether people pinned or approved the commit of the promotion. Then the record on the branch
// has no effect on the choice.
func (a *Arguments) chosenByPeople() bool {
	return a.Promotion.Decision == promotion.Pinned ||
		a.Promotion.Commit != "" && slices.Contains(a.Approved, a.Promotion.Commit)
}

// Signers returns the signers of the commits that the record names.
func (a *Arguments) Signers() map[string]string {
	named := slices.AppendSeq([]string{a.Promotion.Commit}, maps.Values(a.Sources))
	signers := maps.Clone(a.Verified)
	maps.DeleteFunc(signers, func(commit, _ string) bool { return !slices.Contains(named, commit) })
	return signers
}

// inWaves reports whether a rollout brings the tree to a branch.
func (a *Arguments) inWaves() bool { return a.Rollout != nil && a.Strategy != destination.None }
