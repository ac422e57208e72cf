package delivery

import (
	"fmt"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/sets"
)

// UnknownRecordError means that the record on a branch names a promoted commit, or folders, that this rendering never
// delivered. Since the record decides what is promoted and which folders are ours, nothing may depend on it.
type UnknownRecordError struct {
	Destination record.Destination
	Environment string
	Differences []string
}

// Error implements error.
func (e *UnknownRecordError) Error() string {
	return fmt.Sprintf("At %s, the record %s says what this rendering never delivered: %s. So it is not believed: "+
		"nothing is written or removed, and on_drift does not change that.",
		e.Destination, e.Destination.RecordPath(), strings.Join(e.Differences, "; "))
}

// checkRecord returns an *UnknownRecordError for a record that this rendering did not write. An apply that was killed
// after its push may have written it unknown to the state: then the branch contains what is desired, or an earlier wave
// of it.
func (c *comparison) checkRecord() error {
	if c.IsContainedBy(c.branch) || continues(c.AppliedTree, c.branch.Record) {
		return nil
	}
	return checkRecord(c.before, c.branch)
}

// checkRecord is [comparison.checkRecord] if it is not known what is desired.
func checkRecord(s *State, at *BranchState) error {
	r := at.Record
	if r == nil || !s.Current() || s.DeliveredRecord == "" || wrote(s, at.RecordHash) {
		return nil
	}
	var differences []string
	promoted, ours := []string{r.PromotedCommit}, []string{s.PromotedCommit}
	if r.Rollout != nil {
		promoted = append(promoted, r.Rollout.PromotedCommit)
	}
	if s.Rollout != nil {
		ours = append(ours, s.Rollout.PromotedCommit)
	}
	for _, commit := range sets.Without(promoted, ours) {
		differences = append(differences, fmt.Sprintf("it promotes commit %q", printable.Line(commit)))
	}
	if more := sets.Without(r.ClusterTypes, s.Delivered.Names()); len(more) > 0 {
		differences = append(differences, "it also lists "+strings.Join(more, ", "))
	}
	if fewer := sets.Without(s.Delivered.Names(), r.ClusterTypes); len(fewer) > 0 {
		differences = append(differences, "it does not list "+strings.Join(fewer, ", "))
	}
	if len(differences) == 0 {
		return nil
	}
	return &UnknownRecordError{s.Destination, s.Environment, differences}
}

// wrote reports whether the state knows that this rendering wrote a record: with the last delivery, an earlier one, or
// the pull request.
func wrote(s *State, hash string) bool {
	return hash == s.DeliveredRecord || s.Proposal != nil && hash == s.Proposal.Head.DeliveredRecord ||
		slices.ContainsFunc(s.Past, func(e Delivery) bool { return e.Record == hash })
}
