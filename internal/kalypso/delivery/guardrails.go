package delivery

import (
	"fmt"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/limit"
)

// Guardrails bound what a change may take away.
type Guardrails struct {
	// MaxRemoved is how many deployment target folders may go: a number, or a percentage of those that are there.
	MaxRemoved Limit
	// AllowEmpty lets all of them go.
	AllowEmpty bool
}

// Limit bounds what may go; see [limit.Parse].
type Limit = limit.Limit

// DefaultLimit is what MaxRemoved is where nobody says.
var DefaultLimit = Limit{Number: 50, Percentage: true}

// ParseLimit reads "12" or "50%".
func ParseLimit(text string) (Limit, error) { return limit.Parse(text) }

// GuardrailError is a change that takes away more than the guardrails allow.
type GuardrailError struct {
	Removed []string // cluster type/deployment target
	Total   int
	Reason  string
}

const listed = 20

// Error implements error.
func (e *GuardrailError) Error() string {
	if len(e.Removed) == 0 {
		return e.Reason
	}
	return fmt.Sprintf("%s What would go:\n%s", e.Reason, fleet.IndentedList(e.Removed, listed))
}

// CheckFirst returns a *GuardrailError where the first delivery of a tree would bring nothing.
func (g Guardrails) CheckFirst(wanted Inventory) error {
	if g.AllowEmpty {
		return nil
	}
	for _, folder := range wanted {
		if folder.Undecided {
			return nil
		}
		for _, target := range folder.Targets {
			if !target.Empty || target.Unknown {
				return nil
			}
		}
	}
	return &GuardrailError{Reason: "The tree would be empty: no deployment target has a file with content. Check the environment's name, the " +
		"workloads and the scheduling policies. If that is meant, set guardrails.allow_empty = true."}
}

// Check returns a *GuardrailError where the change from before to after takes away too much. A target whose files all
// become empty is taken away; with replaced, as when the environment changes, all of before are.
func (g Guardrails) Check(before, after Inventory, replaced bool) error {
	removed, total := before.removedBy(after, replaced)
	switch {
	case len(removed) == 0:
		return nil
	case len(removed) == total && !g.AllowEmpty:
		return &GuardrailError{removed, total, fmt.Sprintf(
			"The change takes away %s. If that is meant, set %s.", allFolders(total), g.toRemoveAll(total))}
	case !g.MaxRemoved.Allows(len(removed), total):
		return &GuardrailError{removed, total, fmt.Sprintf(
			"The change takes away %d of %s, and guardrails.max_removed is %q. If that is meant, raise it.",
			len(removed), fleet.Count(total, "deployment target folder"), g.MaxRemoved)}
	}
	return nil
}

// CheckMove returns a *GuardrailError where a rendering may not leave a place, which loses all that it holds.
func (g Guardrails) CheckMove(from Destination, held Inventory) error {
	removed, total := held.removedBy(nil, true)
	if total == 0 || g.AllowEmpty && g.MaxRemoved.Allows(total, total) {
		return nil
	}
	return &GuardrailError{removed, total, fmt.Sprintf(
		"The rendering moves away from %s, and what that place loses counts as removed: %s. "+
			"Clusters that still follow it would delete what these folders brought them. "+
			"Set on_move = \"keep\" to leave folders and record there. If no cluster follows it, set %s.",
		from, allFolders(total), g.toRemoveAll(total))}
}

func allFolders(total int) string {
	if total == 1 {
		return "the only deployment target folder"
	}
	return fmt.Sprintf("all %d deployment target folders", total)
}

// toRemoveAll returns the arguments that allow that all targets go.
func (g Guardrails) toRemoveAll(total int) string {
	var arguments []string
	if !g.AllowEmpty {
		arguments = append(arguments, "guardrails.allow_empty = true")
	}
	if !g.MaxRemoved.Allows(total, total) {
		arguments = append(arguments, `guardrails.max_removed = "100%"`)
	}
	return strings.Join(arguments, " and ")
}

// removedBy returns the targets that go with a change, sorted, and how many there are before it. Of a folder of which it is
// not known yet which targets there are, none goes: the apply knows, and judges again.
func (inv Inventory) removedBy(after Inventory, replaced bool) (removed []string, total int) {
	for name, folder := range inv {
		total += len(folder.Targets)
		if !replaced && (after[name].Hash == folder.Hash || after[name].Undecided) {
			continue
		}
		for was, now := range pairs(folder.Targets, after[name].Targets) {
			if was != nil && (replaced || now == nil || now.Empty && !was.Empty) {
				removed = append(removed, name+"/"+was.Name)
			}
		}
	}
	slices.Sort(removed)
	return removed, total
}
