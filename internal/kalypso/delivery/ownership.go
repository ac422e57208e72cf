package delivery

import (
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/sets"
)

// otherEnvironment is the advice if the destination has the rendering of another environment.
const otherEnvironment = "Check the workspace (terraform workspace show) and the variables of this run, or choose " +
	"another branch or path"

// checkOccupied returns an error if the destination contains folders that are neither ours nor to be adopted, or nil.
func (c *Comparison) checkOccupied(owned []string) *Refusal {
	r, at := c.Branch.Record, c.Next.Args.Destination
	if r != nil && c.Case != Update && r.Environment != c.Next.Args.Environment {
		return occupied(at,
			"the record %s says that this is the rendering of environment %q, not of %q. "+otherEnvironment+".",
			at.RecordPath(), r.Environment, c.Next.Args.Environment)
	}
	if c.Next.Args.Adopt {
		return nil
	}
	recorded := c.Branch.Folders.Only(c.Branch.RecordedFolders())
	if r != nil && !c.Case.delivered() && !recorded.MayEqual(c.Next.Folders) {
		return exists(c.Next.Args, inventory.Changes(recorded, c.Next.Folders))
	}
	foreign := c.Branch.Folders.Only(sets.Without(c.Next.Folders.Names(), owned)).Names()
	if len(foreign) == 0 {
		return nil
	}
	refusal := occupied(at, "these folders exist and are not this rendering's: %s. Set adopt = true to adopt them: the "+
		"apply then removes everything in them that is not rendered.", strings.Join(foreign, ", "))
	refusal.Kind, refusal.Names = NotOwned, foreign
	return refusal
}

// occupants describes what an occupied destination contains: its record with the owner, and the folders that the
// rendering would take over.
func (c *Comparison) occupants(owned []string) []string {
	all := []string{c.Branch.RecordHash}
	if c.Branch.Record != nil {
		all = append(all, c.Branch.Record.Environment)
	}
	taken := sets.Union(sets.Union(owned, c.Next.Folders.Names()), c.Branch.OperatorFolders)
	return append(all, c.Branch.Folders.Only(taken).Stake()...)
}

// checkOwnership returns an error if the rendering must not write to the destination.
func (c *Comparison) checkOwnership() error {
	refuse := func(format string, args ...any) error {
		return occupied(c.Next.Args.Destination, format, args...)
	}
	switch {
	case c.Branch.Obstacle != "":
		return refuse("%s. Choose another path, or remove it from the branch.", c.Branch.Obstacle)
	case c.Branch.RecordObstacle != "":
		return refuse("%s, so the record %s can't be written. Remove it from the branch, or choose another path.",
			c.Branch.RecordObstacle, c.Next.Args.Destination.RecordPath())
	case c.Branch.PromotedCommitObstacle != "" && c.Next.Args.Promotion.Commit != "":
		return refuse("%s, so the promoted commit can't be written to %s. Remove it from the branch.",
			c.Branch.PromotedCommitObstacle, record.PromotedCommitFile)
	}
	for _, other := range c.Branch.OtherRenderings {
		removed := c.Case == MoveWithin && !c.Next.Args.KeepOld && other == c.Before.Destination.Path
		switch {
		case removed || !destination.Nested(other, c.Next.Args.Destination.Path):
		case c.Case == MoveWithin && other == c.Before.Destination.Path:
			return refuse(
				"on_move = \"keep\" also leaves this rendering at path %q of this branch: %s. Choose a path beside it.",
				other, Nested)
		default:
			return refuse(
				"another rendering writes to path %q of this branch: %s. Choose a path beside it.",
				other,
				Nested,
			)
		}
	}
	if r := c.Branch.Record; r != nil && c.Case == Update && r.Environment != c.Next.Args.Environment &&
		r.Environment != c.Before.Environment {
		return refuse("the record %s says that this is the rendering of environment %q, not of %q. "+otherEnvironment+
			". If the record is wrong, restore it from the branch's history.",
			c.Next.Args.Destination.RecordPath(), r.Environment, c.Next.Args.Environment)
	}
	if c.Branch.RecordError != "" && c.Case != Update {
		return RecordProblem(c.Next.Args.Destination, c.Branch)
	}
	return nil
}

// Adoption lists the folders at a destination that the rendering did not write, and that a change adopts.
type Adoption struct {
	Adopted []string // folders that become ours
	Removed []string // adopted folders that belong to no cluster type: the change removes them
}

// adoption finds the folders to adopt: folders that the tree needs and, with adopt, folders that the operator wrote.
func (c *Comparison) adoption(owned, wanted []string, adopt bool) (adopted Adoption, err error) {
	var obstacles []string
	for _, name := range sets.Without(wanted, owned) {
		if slices.Contains(c.Branch.Files, name) {
			obstacles = append(obstacles, name)
		} else if _, ok := c.Branch.Folders[name]; ok {
			adopted.Adopted = append(adopted.Adopted, name)
		}
	}
	switch {
	case len(obstacles) > 0:
		return Adoption{}, occupied(c.Next.Args.Destination,
			"these exist but are not directories: %s. The folders of the cluster types can't be written. Move or remove them.",
			strings.Join(obstacles, ", "))
	case !adopt || c.Case == Update &&
		c.Branch.Record != nil: // the first delivery adopted the operator's folders
		return adopted, nil
	}
	adopted.Removed = sets.Without(c.Branch.OperatorFolders, slices.Concat(owned, adopted.Adopted))
	adopted.Adopted = sets.Union(adopted.Adopted, adopted.Removed)
	return adopted, nil
}

// replacesEnvironment reports whether the folders at the destination belong to another environment.
func (c *Comparison) replacesEnvironment() bool {
	if c.Case.delivered() && c.Before.Environment != c.Next.Args.Environment {
		return true
	}
	r := c.Branch.Record
	return r != nil && c.Case != Update && r.Environment != c.Next.Args.Environment
}
