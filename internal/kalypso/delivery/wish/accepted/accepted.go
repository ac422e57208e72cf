// Package accepted identifies changes that a guardrail, drift, an owner or a move refuses, so that people can allow
// exactly one of them: by its ID in the argument accepted_changes.
package accepted

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
	Removed  = "removed"  // more folders are removed than the guardrails allow
	Empty    = "empty"    // the first delivery contains nothing
	Emptied  = "emptied"  // cluster types lose all their deployment targets
	Orphaned = "orphaned" // deployment targets of the fleet leave their last cluster types
	Moved    = "moved"    // deployment targets move between cluster types
	Move     = "move"     // the rendering moves away from a location
	Drift    = "drift"    // changes outside Terraform are overwritten
	Occupied = "occupied" // the destination contains folders that are not this rendering's
)

var kinds = []string{Removed, Empty, Emptied, Orphaned, Moved, Move, Drift, Occupied}

var ids = regexp.MustCompile(`^(` + strings.Join(kinds, "|") + `)-[0-9a-f]{12}$`)

// ID identifies one change that a guardrail, drift, an owner or a move refuses: its kind, and 12 hexadecimal
// digits of the hash of what is at stake. Any other change has another ID.
type ID string

// NewID returns the ID of a change of a kind. stake lists what makes it this change.
func NewID(kind string, stake ...string) ID {
	h := sha256.New()
	for _, part := range stake {
		fmt.Fprintf(h, "%q\n", part)
	}
	return ID(fmt.Sprintf("%s-%x", kind, h.Sum(nil)[:6]))
}

// Changes are the changes that people allow one by one: the argument accepted_changes.
type Changes []string

// Accepts reports whether the change may be made, although it is refused otherwise.
func (a Changes) Accepts(id ID) bool { return slices.Contains(a, string(id)) }

// Unknown reports whether an ID is not known yet. Then the apply decides which changes are accepted.
func (a Changes) Unknown() bool { return slices.ContainsFunc(a, unknown.Is) }

// MayAdopt reports whether an ID may allow the rendering to adopt what its destination contains.
func (a Changes) MayAdopt() bool {
	return a.Unknown() ||
		slices.ContainsFunc(a, func(id string) bool { return strings.HasPrefix(id, Occupied+"-") })
}

// Allow reports whether the change is accepted, or may be. If it is, Allow adds its ID to accepted.
func (a Changes) Allow(id ID, accepted *[]ID) bool {
	if !a.Accepts(id) {
		return a.Unknown()
	}
	*accepted = append(*accepted, id)
	return true
}

// Validate reports elements that are no IDs.
func (a Changes) Validate() (ps problem.Problems) {
	for i, id := range a {
		if unknown.Is(id) || ids.MatchString(id) {
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
func (a Changes) Spent(accepted []ID) []string {
	return slices.DeleteFunc(slices.Clone([]string(a)), func(id string) bool {
		return unknown.Is(id) || slices.Contains(accepted, ID(id))
	})
}
