package gitbranch

import (
	"context"
	"errors"
)

// InterruptedError means that the run was stopped before the branch contained its commit. It is a [context.Canceled].
type InterruptedError struct {
	Branch string // for messages
	// Open says that the result is unknown: the server got the push and may still accept it, or the branch could not be
	// read again.
	Open bool
	Err  error
}

// Error implements error.
func (e *InterruptedError) Error() string {
	if e.Open {
		return "the push to " + e.Branch + " was sent, and the server may still take it"
	}
	return "nothing was pushed to " + e.Branch
}

// Unwrap implements errors.Unwrap.
func (e *InterruptedError) Unwrap() error { return e.Err }

// interrupted returns an error of a push as an [InterruptedError] if the run was stopped.
func (b *Branch) interrupted(err error, open bool) error {
	if _, already := errors.AsType[*InterruptedError](err); already || !errors.Is(err, context.Canceled) {
		return err
	}
	return &InterruptedError{Branch: b.String(), Open: open, Err: err}
}
