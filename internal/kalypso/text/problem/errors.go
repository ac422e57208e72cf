package problem

import "errors"

// Errors are several errors, each of which becomes a problem of its own.
type Errors []error

// Join returns errors as [Errors], or nil if all are nil.
func Join(errs ...error) error {
	var all Errors
	for _, err := range errs {
		var several Errors
		switch {
		case err == nil:
		case errors.As(err, &several):
			all = append(all, several...)
		default:
			all = append(all, err)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all
}

// Error implements error.
func (e Errors) Error() string { return errors.Join(e...).Error() }

// Unwrap returns the errors.
func (e Errors) Unwrap() []error { return e }
