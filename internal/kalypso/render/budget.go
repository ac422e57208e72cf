package render

import (
	"context"
	"fmt"
	"reflect"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
)

// The limits of rendering one file, with all manifests of its template and all passes. limits.file_size also limits
// its output and every value that a function returns. Templates are trusted, so the limits only stop mistakes: a
// rendering that does not end, or takes all memory.
const (
	// maxSteps limits loop iterations and calls, if limits.file_size has its default. A larger file_size allows more
	// steps.
	maxSteps = 1_000_000
	// bytesPerStep is the number of bytes that functions read or return in one step.
	bytesPerStep = 64
	// callSteps is charged for the call of a defined template, so that deeply nested calls end before they use up the
	// memory.
	callSteps = 20
	// maxDepth limits the nesting of the values that functions read.
	maxDepth = 100
	// maxPasses limits how often a result that contains templates is rendered again.
	maxPasses = 8
	// maxActions limits the actions of one manifest.
	maxActions = 10_000
)

// BoundError is the error of a rendering that exceeds a limit.
type BoundError struct{ text string }

// Error implements error.
func (e *BoundError) Error() string { return e.text }

func boundError(format string, args ...any) error { return &BoundError{fmt.Sprintf(format, args...)} }

// budget limits the cost of rendering one file. Everything that takes time or memory charges it.
type budget struct {
	ctx   context.Context //nolint:containedctx // functions that templates call take no context
	size  int64           // limits.file_size, bytes
	spent int64           // steps

	noted    error           // the error of a missing value in the pipeline of with
	template *fleet.Template // the template of the file
	forms    *goForms        // may be nil
}

// charge adds steps. It returns an error if the total exceeds the limit, or if the context is done.
func (b *budget) charge(steps int64) error {
	before := b.spent
	b.spent += steps
	if most := maxSteps * max(1, b.size/fleet.DefaultLimits.FileSize); b.spent > most {
		return boundError("the template takes more than %d steps (loop iterations, calls of functions and templates, and "+
			"each %d bytes that functions read or return). Check its loops, and whether it ends", most, bytesPerStep)
	}
	const between = 4096 // steps between two checks of the context
	if before/between != b.spent/between {
		return b.ctx.Err()
	}
	return nil
}

// chargeCached charges the steps of a cached result. If the total would exceed a limit, it charges nothing and returns
// false. Rendering again then fails at the right line.
func (b *budget) chargeCached(steps int64) bool {
	before := b.spent
	if b.charge(steps) != nil {
		b.spent = before
		return false
	}
	return true
}

// fits returns an error if a value of n bytes exceeds limits.file_size.
func (b *budget) fits(what string, n int64) error {
	if n <= b.size {
		return nil
	}
	return boundError("%s %s; limits.file_size allows %s", what, fleet.FormatBytes(n), fleet.FormatBytes(b.size))
}

// tick charges a loop iteration, or the call of a template.
func (b *budget) tick(steps int64) (string, error) { return "", b.charge(steps) }

// read charges for a value that a comparison, a lookup or a loop reads, and returns it. It charges more for a map,
// since a loop sorts its keys.
func (b *budget) read(v reflect.Value) (reflect.Value, error) {
	var bytes int64
	if r := elem(v); r.Kind() == reflect.Map || r.Kind() == reflect.String {
		bytes = firstLevel(r)
	}
	return v, b.charge(1 + bytes/bytesPerStep)
}

// present charges for the value that an action prints, and returns it.
func (b *budget) present(of string, v any) (any, error) { return b.presentOfKey(of, nil, v) }

// presentOfKey is [budget.present] for the value of a key.
func (b *budget) presentOfKey(of string, key, v any) (any, error) {
	if v == nil {
		return nil, missingValue(of, key)
	}
	if r := reflect.ValueOf(v); composite(r) {
		if hasGoForm(r) {
			b.reportForm(of, key)
		}
		bytes, err := b.measure(r)
		if err != nil {
			return nil, err
		}
		return v, b.charge(bytes / bytesPerStep)
	}
	return v, nil
}
