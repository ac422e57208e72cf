package render

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
)

// The limits of rendering a file. limits.file_size also limits its output and every value that a function returns.
// Templates are trusted, so the limits only stop mistakes: a rendering that does not end, or takes all memory.
const (
	// maxReturned limits the bytes that functions return while a piece is rendered, as a multiple of limits.file_size.
	maxReturned = 64
	// maxDepth limits the nesting of the values that functions read.
	maxDepth = 100
	// maxPasses limits how often a result that contains templates is rendered again.
	maxPasses = 8
	// maxActions limits the actions of one manifest.
	maxActions = 10_000
	// maxNumbers limits the numbers that a function counts to.
	maxNumbers = 1_000_000
)

// BoundError is the error of a rendering that exceeds a limit.
type BoundError struct {
	text string
	err  error // may be nil
}

// Error implements error.
func (e *BoundError) Error() string { return e.text }

// Unwrap returns the cause.
func (e *BoundError) Unwrap() error { return e.err }

func boundError(format string, args ...any) error {
	return &BoundError{fmt.Sprintf(format, args...), nil}
}

// ErrTooSlow is the cause of the [BoundError] of a file that is not rendered within its time. It depends on the
// machine, so it must fail the whole run: no deployment target may be left out for it.
var ErrTooSlow = errors.New("too slow")

// bounds limits the time and memory of rendering files, one after another.
type bounds struct {
	ctx      context.Context //nolint:containedctx // functions that templates call take no context
	size     int64           // limits.file_size, bytes
	fileTime time.Duration   // for a file
	limited  bool            // the current file has a deadline
	deadline time.Time       // zero until the first tick of the current file
	late     error           // the error of the current file, once it exceeds the deadline
	ticks    int
	returned int64 // bytes

	noted    error           // the error of a missing value in the pipeline of with
	template *fleet.Template // the template of the file
	forms    *goForms        // may be nil
}

// start begins a file. Only the first rendering of a file has a deadline: rendering it again takes no longer, and must
// not fail.
func (b *bounds) start(t *fleet.Template, first bool) {
	b.template, b.limited, b.deadline, b.late = t, first, time.Time{}, nil
}

// tick returns an error after the deadline, or if the context is done. Everything that can be repeated calls it.
func (b *bounds) tick() error {
	if b.limited && b.late == nil {
		b.checkTime()
	}
	if b.late != nil {
		return b.late
	}
	const between = 64 // ticks between two checks of the context, which take longer
	b.ticks++
	if b.ticks%between == 0 {
		return b.ctx.Err()
	}
	return nil
}

// checkTime notes that the deadline is over. Nothing else depends on the clock.
func (b *bounds) checkTime() {
	now := time.Now() //nolint:forbidigo // no clock of a test passes while a template loops
	switch {
	case b.deadline.IsZero():
		b.deadline = now.Add(b.fileTime)
	case now.After(b.deadline):
		b.late = &BoundError{fmt.Sprintf("the template takes more than %s for one file. Check its loops, and whether it "+
			"ends", b.fileTime), ErrTooSlow}
	}
}

// repeat is [bounds.tick] as an action, which prints nothing.
func (b *bounds) repeat() (string, error) { return "", b.tick() }

// fits returns an error if a value of n bytes exceeds limits.file_size.
func (b *bounds) fits(what string, n int64) error {
	if n <= b.size {
		return nil
	}
	return boundError("%s %s; limits.file_size allows %s", what, fleet.FormatBytes(n), fleet.FormatBytes(b.size))
}

// present returns the value that an action prints.
func (b *bounds) present(of string, v any) (any, error) { return b.presentOfKey(of, nil, v) }

// presentOfKey is [bounds.present] for the value of a key.
func (b *bounds) presentOfKey(of string, key, v any) (any, error) {
	if v == nil {
		return nil, missingValue(of, key)
	}
	if r := reflect.ValueOf(v); composite(r) {
		if hasGoForm(r) {
			b.reportForm(of, key)
		}
		_, err := b.measure(r)
		return v, err
	}
	return v, nil
}
