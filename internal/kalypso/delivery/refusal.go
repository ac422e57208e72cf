package delivery

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// Refusal is a reason why an apply must not write.
type Refusal struct {
	Kind   RefusalKind
	Reason string   // what is the case
	Advice string   // what to do; "": Reason says it
	Names  []string // the folders or deployment targets that Reason is about
	// ID allows exactly this change in accepted_changes; "": nothing does.
	ID ChangeID

	stake []string // what the change takes away, for the ID
}

// RefusalKind is the kind of a refusal. It is the summary of its problem.
type RefusalKind string

// The kinds.
const (
	// NotOwned names folders that adopt = true would adopt. Adoption does not help if the destination is Occupied.
	NotOwned RefusalKind = "Folders are not owned by this rendering"
	Occupied RefusalKind = "Destination is occupied"
	// Exists: the destination contains a rendering of the environment that the state does not know, with another tree.
	// Equal trees are no error: the state was lost, or a create was killed, and the apply loses nothing.
	Exists RefusalKind = "The branch contains a rendering of this environment: import it, or adopt it"
	// OtherDecisions: it contains one with other decisions of placement.
	OtherDecisions RefusalKind = "The branch contains other placement decisions: import the rendering"
	// UnknownRecord: the record on a branch names a promoted commit, or folders, that this rendering never delivered.
	// Since the record decides what is promoted and which folders are ours, nothing may depend on it.
	UnknownRecord RefusalKind = "Drift: the rendering's record changed outside Terraform"
	BranchMoved   RefusalKind = "The branch moved after the plan was made"
	Emptied       RefusalKind = "Cluster types lose all their deployment targets"
	Orphaned      RefusalKind = "Deployment targets leave their last cluster types"
	TargetsMove   RefusalKind = "Deployment targets move between cluster types"
	Guardrail     RefusalKind = "Change exceeds guardrails" // more is removed or kept than the guardrails allow
	InRollout     RefusalKind = "A rollout is under way"
	CannotKeep    RefusalKind = "Cannot keep deployment targets" // that fail to render
	Replaced      RefusalKind = "The plan destroys and creates the same rendering"
	Overlapping   RefusalKind = "Overlapping destinations"
)

// Error implements error.
func (e *Refusal) Error() string { return e.Reason }

// Acceptable returns the ID of the refused change if err is a refusal that accepted_changes can allow, or "".
func Acceptable(err error) ChangeID {
	refusal, refused := errors.AsType[*Refusal](err)
	drifted, isDrift := errors.AsType[*DriftError](err)
	switch {
	case refused:
		return refusal.ID
	case isDrift:
		return DriftID(drifted.State)
	}
	return ""
}

// occupied refuses a destination.
func occupied(at destination.Destination, format string, args ...any) *Refusal {
	return &Refusal{Kind: Occupied, Reason: fmt.Sprintf("At %s: %s", at, fmt.Sprintf(format, args...))}
}

// exists refuses to change a rendering from what is there to what is desired.
func exists(a *Arguments, changes map[string]string) *Refusal {
	at := a.Destination
	names := lists.Map(slices.Sorted(maps.Keys(changes)), func(name string) string { return name + ": " + changes[name] })
	return &Refusal{
		Kind: Exists, Names: names,
		Reason: fmt.Sprintf(
			"At %s, the record %s names a rendering of environment %q. The state does not know it, and this configuration "+
				"renders another tree. Deployment targets that would be added (+), removed (-) and changed (~):\n%s",
			at, at.RecordPath(), a.Environment, problem.IndentedList(names, problem.MaxListed)),
		Advice: "\nAnother configuration may own it, and this one would undo its changes. If this configuration owns it " +
			"and its state was lost, import it with the ID\n  " + a.ImportID() +
			"\nIf the resource was renamed, add a moved block. Or set adopt = true to adopt the rendering.",
	}
}

// moved refuses to write where folders of ours changed after the plan was made.
func moved(at destination.Destination, folders []string) *Refusal {
	return &Refusal{Kind: BranchMoved, Names: folders, Reason: fmt.Sprintf(
		"At %s, these folders of the rendering, or its record, changed after the plan was made: %s. The apply did not "+
			"change them. Make a new plan: it shows what changed.", at, strings.Join(folders, ", "))}
}

// unlessAccepted returns the refusal with its ID, or nil if accepted_changes contains that ID. Then it adds the ID to
// used. The ID depends on the destination, on its head, and on what the change takes away.
func (e *Refusal) unlessAccepted(a *Arguments, used *[]ChangeID, kind, head string) error {
	id := newChangeID(kind, append([]string{a.Destination.String(), head}, e.stake...)...)
	if a.AcceptedChanges.Allow(id, used) {
		return nil
	}
	e.ID = id
	return e
}

// react returns the refusal as an error if a guardrail's reaction is an error and refuse does not accept the change, or
// as a warning. Both are nil if the guardrail does not report the change.
func (e *Refusal) react(reaction problem.Reaction, refuse func() error) (warnings []*Refusal, err error) {
	if !reaction.Reports() {
		return nil, nil
	}
	if reaction == problem.Fail {
		if err := refuse(); err != nil {
			return nil, err
		}
	}
	return []*Refusal{e}, nil
}

// emptiesClusterTypes refuses that cluster types stay and lose all their deployment targets.
func emptiesClusterTypes(folders inventory.Folders) *Refusal {
	lines := lists.Map(folders.Names(), func(name string) string {
		return fmt.Sprintf("%s: %s", name, problem.Count(len(folders[name].Targets), "deployment target"))
	})
	return &Refusal{
		Kind: Emptied, Names: folders.Names(), stake: folders.Stake(),
		Reason: "These cluster types stay, and lose all their deployment targets:\n" +
			problem.IndentedList(lines, problem.MaxListed),
		Advice: "\nTheir clusters delete everything that they run. Compare the labels of these cluster types with the " +
			"scheduling policies. If a cluster type is no longer needed, remove it.",
	}
}

// Replaces refuses a plan that destroys the rendering at a destination, and creates it again.
func Replaces(at destination.Destination, environment string) *Refusal {
	return &Refusal{
		Kind: Replaced,
		Reason: fmt.Sprintf("At %s, the apply would remove the rendering of environment %q in one commit, and write it "+
			"again in the next one. A cluster that fetches the first commit deletes all its workloads.", at, environment),
		Advice: "\n" + MovedAdvice + "\nA rendering never has to be replaced, with -replace or as a tainted resource: " +
			"an apply writes what is missing. Run terraform untaint if it is tainted.",
	}
}

// Nested says that the folders of two renderings would contain each other.
const Nested = "two renderings at equal or nested paths"

// DriftError means that the folders of a rendering have foreign changes, which on_drift does not allow to overwrite.
type DriftError struct{ State *State }

// Error implements error.
func (e *DriftError) Error() string {
	return fmt.Sprintf("the rendered folders at %s were changed outside Terraform", e.State.Destination)
}

// ErrNoRendering says that a path contains no record of a rendering.
var ErrNoRendering = errors.New("no rendering")
