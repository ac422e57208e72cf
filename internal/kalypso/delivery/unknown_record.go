package delivery

import (
	"fmt"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/sets"
)

// foreignRecord refuses to depend on the record of a rendering, which lists changes that the rendering never made.
// unproven says why a gate of the record's promoted commit is closed; "": not known.
// id allows to overwrite it; "": nothing does.
func foreignRecord(
	at destination.Destination, importID string, differences []string, unproven string, id ChangeID,
) *Refusal {
	e := &Refusal{Kind: UnknownRecord, Names: differences, ID: id}
	e.Reason = fmt.Sprintf("At %s, the record %s lists changes that "+
		"this rendering never made: %s. It is ignored: nothing is written or removed, and on_drift does not change that.",
		at, at.RecordPath(), strings.Join(differences, "; "))
	e.Advice = "\nRevert the change on the branch; git log names who made it. If "
	if unproven != "" {
		e.Reason += " The gates of that commit are closed: " + printable.Line(unproven) + "."
		e.Advice += "the promoted commit is right, add it to approved of kalypso_promotion. To promote another commit, " +
			"approve that one, or set pinned_commit."
	} else {
		e.Advice += "it is right, because an apply was stopped after its push or people know why, remove the rendering " +
			"from the state (terraform state rm), and import it with the ID\n  " + importID
	}
	return e
}

// checkRecord returns an error for a record that this rendering did not write, unless accepted_changes allows to
// overwrite it. An apply that was killed after its push may have written a record that the state does not know: then
// the branch contains the desired tree, or an earlier wave of it. If the record promotes a commit, the desired tree
// depends on the record itself, so the gates of that commit must also be open.
func (c *Comparison) checkRecord() error {
	changes := c.Next.Args.AcceptedChanges
	if changes.Unknown() || changes.accepts(DriftID(c.Before)) {
		return nil
	}
	if err := checkProven(c.Next.Args, c.Before, c.Branch); err != nil {
		return err
	}
	if c.Next.IsContainedBy(c.Branch) || c.Next.continues(c.Branch.Record) {
		return nil
	}
	return unknownRecord(c.Next.Args, c.Before, c.Branch, DriftID(c.Before))
}

// unknownRecord is [Comparison.checkRecord] while the desired tree is not known.
func unknownRecord(a *Arguments, s *State, at *Branch, id ChangeID) error {
	r := at.Record
	if r == nil || !s.Current() || s.DeliveredRecord == "" || wrote(s, at.RecordHash) {
		return nil
	}
	differences := unknownPromotions(a, s, r)
	if more := sets.Without(r.ClusterTypes, s.Delivered.Names()); len(more) > 0 {
		differences = append(differences, "it also lists "+strings.Join(more, ", "))
	}
	if fewer := sets.Without(s.Delivered.Names(), r.ClusterTypes); len(fewer) > 0 {
		differences = append(differences, "it does not list "+strings.Join(fewer, ", "))
	}
	if len(differences) == 0 {
		return nil
	}
	return foreignRecord(s.Destination, s.Destination.ImportID(s.Environment, a.Preview), differences, "", id)
}

// checkProven returns an error if the record on a branch promotes a commit that the state does not know and
// that has a closed gate now. If the state knows no promoted commit, or people chose the commit, the record is
// accepted.
func checkProven(a *Arguments, s *State, at *Branch) error {
	if a.Promotion.Unproven == "" || at.Record == nil || !s.Current() || s.PromotedCommit == "" {
		return nil
	}
	differences := unknownPromotions(a, s, at.Record)
	if len(differences) == 0 {
		return nil
	}
	importID := s.Destination.ImportID(s.Environment, a.Preview)
	return foreignRecord(s.Destination, importID, differences, a.Promotion.Unproven, DriftID(s))
}

// checkProvenByAttributes is [checkProven] for a private state that was lost, or recovered from the branch. It
// compares the record's commit with the last promoted commit in the attributes of Terraform's state.
func checkProvenByAttributes(a *Arguments, p *Prior, s *State) error {
	if p == nil || p.Commit == "" || p.PromotedCommit == "" || a.Promotion.Unproven == "" ||
		s.Current() && (s.PromotedCommit == p.PromotedCommit || s.UnsavedCommit != "") ||
		!a.Promotion.KeepsCommit() || a.Promotion.Commit == p.PromotedCommit || !a.Destination.Same(p.Destination) ||
		a.Environment != p.Environment || slices.Contains(a.Rejected, p.PromotedCommit) {
		return nil
	}
	return foreignRecord(a.Destination, a.ImportID(), []string{promotes(a.Promotion.Commit)}, a.Promotion.Unproven, "")
}

func promotes(commit string) string {
	return fmt.Sprintf("it promotes commit %q", printable.Line(commit))
}

// unknownPromotions lists the record's promoted commits that neither the last delivery nor the pull request of a state
// promotes. There are none if people chose the commit to promote.
func unknownPromotions(a *Arguments, s *State, r *record.Record) []string {
	if a.chosenByPeople() {
		return nil
	}
	promoted, ours := []string{r.PromotedCommit}, []string(nil)
	if r.Rollout != nil {
		promoted = append(promoted, r.Rollout.PromotedCommit)
	}
	known := []*State{s}
	if s.Proposal != nil {
		known = append(known, s.Proposal.Head)
	}
	for _, s := range known {
		ours = append(ours, s.PromotedCommit)
		if s.Rollout != nil {
			ours = append(ours, s.Rollout.PromotedCommit)
		}
	}
	return lists.Map(sets.Without(promoted, ours), promotes)
}

// wrote reports whether the state knows that this rendering wrote a record: with the last delivery, an earlier one, or
// the pull request.
func wrote(s *State, hash string) bool {
	return hash == s.DeliveredRecord || s.Proposal != nil && hash == s.Proposal.Head.DeliveredRecord ||
		slices.ContainsFunc(s.EarlierDeliveries, func(e EarlierDelivery) bool { return e.Record == hash })
}

// checkDecisions returns an error if the record contains decisions that the state does not know, and the tree was
// rendered with other decisions. Adopting the record would move targets.
func (c *Comparison) checkDecisions() error {
	if c.Case.delivered() || c.Branch.Record == nil || len(c.Branch.Record.Decisions) == 0 {
		return nil
	}
	if !c.Next.Rendered.DecisionsKnown() || c.Next.Rendered.Decisions.Equal(c.Branch.Record.Decisions) {
		return nil
	}
	at := c.Next.Args.Destination
	return &Refusal{
		Kind: OtherDecisions,
		Reason: fmt.Sprintf("At %s, the record %s contains placement decisions that the state does not know. Placement "+
			"decided without them, so the apply would move deployment targets.", at, at.RecordPath()),
		Advice: "\nImport the rendering, to take over the decisions in its record; adopt = true can't take them over. The " +
			"ID of the import is\n  " + c.Next.Args.ImportID(),
	}
}
