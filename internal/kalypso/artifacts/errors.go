package artifacts

import (
	"errors"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
)

// Errors are errors of several folders. Nil errors are left out.
type Errors []error

// join returns errors as [Errors], or nil if all are nil.
func join(errs ...error) error {
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
func (e Errors) Error() string {
	return strings.Join(lists.Map(e, error.Error), "\n")
}

// Unwrap returns the errors.
func (e Errors) Unwrap() []error { return e }
