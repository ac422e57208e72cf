package check

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/past"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// OwnershipError says that the rendering must not write to a destination, or to folders there.
type OwnershipError struct {
	Destination record.Destination
	Folders     []string // folders that adopt = true would adopt; empty if adoption does not help
	Reason      string
}

// Error implements error.
func (e *OwnershipError) Error() string {
	return fmt.Sprintf("At %s: %s", e.Destination, e.Reason)
}

// ExistsError says that the destination contains a rendering of the environment that the state does not know, with
// another tree. Equal trees are no error: the state was lost, or a create was killed, and the apply loses nothing.
type ExistsError struct {
	Destination record.Destination
	Environment string
	Changes     map[string]string // as [Changes] tells them, from what is there to what is desired
}

// Error implements error.
func (e *ExistsError) Error() string {
	lines := lists.Map(slices.Sorted(maps.Keys(e.Changes)), func(name string) string {
		return name + ": " + e.Changes[name]
	})
	return fmt.Sprintf(
		"At %s, the record %s names a rendering of environment %q. The state does not know it, and this configuration "+
			"renders another tree. Deployment targets that would be added (+), removed (-) and changed (~):\n%s",
		e.Destination, e.Destination.RecordPath(), e.Environment, problem.IndentedList(lines, problem.MaxListed))
}

// MovedError says that folders of ours changed on the branch after the plan was made.
type MovedError struct {
	Destination record.Destination
	Folders     []string
}

// Error implements error.
func (e *MovedError) Error() string {
	return fmt.Sprintf(
		"At %s, these folders of the rendering, or its record, changed after the plan was made: %s. The apply did not "+
			"change them. Make a new plan: it shows what changed.", e.Destination, strings.Join(e.Folders, ", "))
}

// EmptiedError means that cluster types stay and lose all their deployment targets.
type EmptiedError struct{ Folders inventory.Folders }

// Error implements error.
func (e *EmptiedError) Error() string {
	lines := make([]string, 0, len(e.Folders))
	for _, name := range e.Folders.Names() {
		lines = append(lines, fmt.Sprintf("%s: %s", name, problem.Count(len(e.Folders[name].Targets), "deployment target")))
	}
	return "These cluster types stay, and lose all their deployment targets:\n" +
		problem.IndentedList(lines, problem.MaxListed)
}

// DriftError means that the folders of a rendering have foreign changes, which on_drift does not allow to overwrite.
type DriftError struct{ State *past.State }

// Error implements error.
func (e *DriftError) Error() string {
	return fmt.Sprintf("the rendered folders at %s were changed outside Terraform", e.State.Destination)
}

// ReplacedError means that a plan destroys the rendering at a destination, and creates it again.
type ReplacedError struct {
	Destination record.Destination
	Environment string
}

// Error implements error.
func (e *ReplacedError) Error() string {
	return fmt.Sprintf("At %s, the apply would remove the rendering of environment %q in one commit, and write it again "+
		"in the next one. A cluster that fetches the first commit deletes all its workloads.", e.Destination, e.Environment)
}

// ErrNoRendering says that a path contains no record of a rendering.
var ErrNoRendering = errors.New("no rendering")

// ErrNested says that the folders of two renderings would contain each other.
var ErrNested = errors.New("two renderings at equal or nested paths")

// NestedError says that two renderings of one run write to equal or nested paths of a branch.
type NestedError struct{ Reason string }

// Error implements error.
func (e *NestedError) Error() string { return e.Reason }

// Unwrap returns [ErrNested].
func (e *NestedError) Unwrap() error { return ErrNested }

// RefusalErrors are all reasons why an apply must not change a branch.
type RefusalErrors []error

// Error implements error.
func (e RefusalErrors) Error() string { return errors.Join(e...).Error() }

// Unwrap returns the reasons.
func (e RefusalErrors) Unwrap() []error { return e }
