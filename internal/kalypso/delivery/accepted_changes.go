package delivery

import (
	"crypto/sha256"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// The kinds of changes that an ID in accepted_changes allows.
const (
	IDRemoved  = "removed"  // more folders are removed than the guardrails allow
	IDEmpty    = "empty"    // the first delivery contains nothing
	IDEmptied  = "emptied"  // cluster types lose all their deployment targets
	IDOrphaned = "orphaned" // deployment targets of the fleet leave their last cluster types
	IDMoved    = "moved"    // deployment targets move between cluster types
	IDMove     = "move"     // the rendering moves away from a location
	IDDrift    = "drift"    // changes outside Terraform are overwritten
	IDOccupied = "occupied" // the destination contains folders that are not this rendering's
)

var idKinds = []string{IDRemoved, IDEmpty, IDEmptied, IDOrphaned, IDMoved, IDMove, IDDrift, IDOccupied}

var changeID = regexp.MustCompile(`^(` + strings.Join(idKinds, "|") + `)-[0-9a-f]{12}$`)

// ChangeID identifies one change that a guardrail, drift, an owner or a move refuses: its kind, and 12 hexadecimal
// digits of the hash of what is at stake. Any other change has another ID.
type ChangeID string

// newChangeID returns the ID of a change of a kind. stake lists what makes it this change.
func newChangeID(kind string, stake ...string) ChangeID {
	h := sha256.New()
	for _, part := range stake {
		fmt.Fprintf(h, "%q\n", part)
	}
	return ChangeID(fmt.Sprintf("%s-%x", kind, h.Sum(nil)[:6]))
}

// AcceptedChanges are the changes that people allow one by one: the argument accepted_changes.
type AcceptedChanges []string

// accepts reports whether the change may be made, although it is refused otherwise.
func (a AcceptedChanges) accepts(id ChangeID) bool { return slices.Contains(a, string(id)) }

// Unknown reports whether an ID is not known yet. Then the apply decides which changes are accepted.
func (a AcceptedChanges) Unknown() bool { return slices.ContainsFunc(a, unknown.Is) }

// mayAdopt reports whether an ID may allow the rendering to adopt what its destination contains.
func (a AcceptedChanges) mayAdopt() bool {
	return a.Unknown() ||
		slices.ContainsFunc(a, func(id string) bool { return strings.HasPrefix(id, IDOccupied+"-") })
}

// Allow reports whether the change is accepted, or may be. If it is, Allow adds its ID to accepted.
func (a AcceptedChanges) Allow(id ChangeID, accepted *[]ChangeID) bool {
	if !a.accepts(id) {
		return a.Unknown()
	}
	*accepted = append(*accepted, id)
	return true
}

// Validate reports elements that are no IDs.
func (a AcceptedChanges) Validate() (ps problem.Problems) {
	for i, id := range a {
		if unknown.Is(id) || changeID.MatchString(id) {
			continue
		}
		p := problem.At("Invalid ID of a change", fmt.Sprintf(
			"%q is not the ID of a change. Copy the ID from the error that refuses the change, such as drift-3f2a9c41d07b.",
			id), "accepted_changes")
		p.Path = append(p.Path, problem.Index(i))
		ps = append(ps, p)
	}
	return ps
}

// Spent returns the IDs that allow nothing. accepted are those that allow a part of the change.
func (a AcceptedChanges) Spent(accepted []ChangeID) []string {
	return slices.DeleteFunc(slices.Clone([]string(a)), func(id string) bool {
		return unknown.Is(id) || slices.Contains(accepted, ChangeID(id))
	})
}
