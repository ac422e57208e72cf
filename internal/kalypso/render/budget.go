package render

import (
	"context"
	"fmt"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
)

// The bounds of one rendering of a file, all manifests of its template and all passes together. Its output, and any value
// that a function makes, is bounded by limits.file_size.
const (
	// maxSteps bounds the turns of loops, the calls of functions and the calls of templates that a template defines.
	maxSteps = 1_000_000
	// maxDepth bounds how deep these calls, and the values that functions read, may be nested.
	maxDepth = 100
	// maxPasses is how often a result that holds templates is rendered again.
	maxPasses = 8
	// maxActions bounds the actions of one manifest.
	maxActions = 10_000
	// workFactor times limits.file_size is how many bytes functions may read and write. Some count a byte several times; see
	// [prices].
	workFactor = 64
)

// BoundError is a rendering that exceeds a bound.
type BoundError struct{ text string }

// Error implements error.
func (e *BoundError) Error() string { return e.text }

func boundError(format string, args ...any) error { return &BoundError{fmt.Sprintf(format, args...)} }

// cost is what a rendering takes.
type cost struct {
	steps int
	work  int64 // bytes
}

// budget bounds one rendering of a file. Whatever takes time or memory charges it.
type budget struct {
	ctx   context.Context //nolint:containedctx // functions that templates call take no context
	size  int64           // limits.file_size, bytes
	spent cost
	depth int // of the calls of templates that are under way
}

// charge adds a cost. It is an error when that exceeds a bound, or the context is done.
func (b *budget) charge(c cost) error {
	before := b.spent
	b.spent.steps += c.steps
	b.spent.work += c.work
	if b.spent.steps > maxSteps {
		return boundError("the template takes more than %d steps (turns of loops, calls of functions and of templates). Check that it ends",
			maxSteps)
	}
	if most := workFactor * b.size; b.spent.work > most {
		return boundError("the functions of the template read and write more than %s, %d times limits.file_size (%s); does a loop repeat them?",
			fleet.FormatBytes(most), workFactor, fleet.FormatBytes(b.size))
	}
	const between = 4096 // steps between two looks at the context
	if before.steps/between != b.spent.steps/between || c.work >= between {
		return b.ctx.Err()
	}
	return nil
}

// afford is charge for what was rendered before, at that cost. If it exceeds a bound, nothing is charged: rendering it once
// more says where.
func (b *budget) afford(c cost) bool {
	if b.spent.steps+c.steps > maxSteps || b.spent.work+c.work > workFactor*b.size {
		return false
	}
	b.spent.steps += c.steps
	b.spent.work += c.work
	return true
}

// fits reports a value of n bytes that is larger than any may be.
func (b *budget) fits(what string, n int64) error {
	if n <= b.size {
		return nil
	}
	return boundError("%s %s; limits.file_size allows %s", what, fleet.FormatBytes(n), fleet.FormatBytes(b.size))
}

// enter begins the call of a template that the template defines, leave ends it.
func (b *budget) enter(nodes int) (string, error) {
	if b.depth++; b.depth > maxDepth {
		return "", boundError("templates call each other more than %d deep. Check that it ends", maxDepth)
	}
	return b.tick(nodes)
}

func (b *budget) leave() string {
	b.depth--
	return ""
}

// tick is a turn of a loop, or a call of a template, whose body has that many nodes.
func (b *budget) tick(nodes int) (string, error) {
	return "", b.charge(cost{steps: 1 + nodes/nodesPerStep})
}

// nodesPerStep is how many nodes of a template take about as long as one call of a function.
const nodesPerStep = 8
