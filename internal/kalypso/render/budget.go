package render

import (
	"context"
	"fmt"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
)

// The limits of rendering one file, with all manifests of its template and all passes. limits.file_size also limits
// its output and every value that a function returns.
const (
	// maxSteps limits loop iterations, function calls and calls of defined templates.
	maxSteps = 1_000_000
	// maxDepth limits the nesting of calls of defined templates, and of the values that functions read.
	maxDepth = 100
	// maxPasses limits how often a result that contains templates is rendered again.
	maxPasses = 8
	// maxActions limits the actions of one manifest.
	maxActions = 10_000
	// workFactor times limits.file_size limits the bytes that functions read and write. Some functions count a byte
	// several times; see [functionCosts].
	workFactor = 64
)

// BoundError is the error of a rendering that exceeds a limit.
type BoundError struct{ text string }

// Error implements error.
func (e *BoundError) Error() string { return e.text }

func boundError(format string, args ...any) error { return &BoundError{fmt.Sprintf(format, args...)} }

// cost is the cost of a rendering.
type cost struct {
	steps int
	work  int64 // bytes
}

// budget limits the cost of rendering one file. Everything that takes time or memory charges it.
type budget struct {
	ctx   context.Context //nolint:containedctx // functions that templates call take no context
	size  int64           // limits.file_size, bytes
	spent cost
	depth int // of nested calls of defined templates
}

// charge adds a cost. It returns an error if the total exceeds a limit, or if the context is done.
func (b *budget) charge(c cost) error {
	before := b.spent
	b.spent.steps += c.steps
	b.spent.work += c.work
	if b.spent.steps > maxSteps {
		return boundError("the template takes more than %d steps (loop iterations, calls of functions and templates). "+
			"Check that it ends", maxSteps)
	}
	if most := workFactor * b.size; b.spent.work > most {
		return boundError("the functions of the template read and write more than %s, %d times limits.file_size (%s). "+
			"Check its loops",
			fleet.FormatBytes(most), workFactor, fleet.FormatBytes(b.size))
	}
	const between = 4096 // steps between two checks of the context
	if before.steps/between != b.spent.steps/between || c.work >= between {
		return b.ctx.Err()
	}
	return nil
}

// chargeCached charges the cost of a cached result. If the total would exceed a limit, it charges nothing and returns
// false: rendering again then reports where.
func (b *budget) chargeCached(c cost) bool {
	if b.spent.steps+c.steps > maxSteps || b.spent.work+c.work > workFactor*b.size {
		return false
	}
	b.spent.steps += c.steps
	b.spent.work += c.work
	return true
}

// fits returns an error if a value of n bytes exceeds limits.file_size.
func (b *budget) fits(what string, n int64) error {
	if n <= b.size {
		return nil
	}
	return boundError("%s %s; limits.file_size allows %s", what, fleet.FormatBytes(n), fleet.FormatBytes(b.size))
}

// enter begins the call of a defined template. leave ends it.
func (b *budget) enter(nodes int) (string, error) {
	if b.depth++; b.depth > maxDepth {
		return "", boundError("templates call each other more than %d levels deep. Check that the recursion ends", maxDepth)
	}
	return b.tick(nodes)
}

func (b *budget) leave() string {
	b.depth--
	return ""
}

// tick charges a loop iteration, or the call of a template, whose body has that many nodes.
func (b *budget) tick(nodes int) (string, error) {
	return "", b.charge(cost{steps: 1 + nodes/nodesPerStep})
}

// nodesPerStep is the number of template nodes that take as long as one function call.
const nodesPerStep = 8
