package hosting

import (
	"errors"
	"fmt"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/printable"
)

// What went wrong, for errors.Is.
var (
	// ErrOtherHost is a repo that does not lie on this host.
	ErrOtherHost = errors.New("the repo lies on another host")
	// ErrUnauthenticated is a host that does not know who asks.
	ErrUnauthenticated = errors.New("the host does not accept the credential")
	// ErrForbidden is a host that knows who asks, and does not let them.
	ErrForbidden = errors.New("the host does not allow it")
	// ErrNotVisible is a thing that is not there, or that whoever asks may not
	// see: hosts do not say which. It is never to be taken for absence.
	ErrNotVisible = errors.New("not there, or not visible to the credential")
	// ErrCommitNotFound is a commit that a repo, which can be read, does not have.
	ErrCommitNotFound = errors.New("the repo has no such commit")
	// ErrExists is an open pull request of the same branches.
	ErrExists = errors.New("there is an open pull request of these branches already")
	// ErrBranchNotFound is a branch to be merged that the host does not know: just after
	// a push, it may not know it yet.
	ErrBranchNotFound = errors.New("the host does not know the branch that is to be merged")
	// ErrNothingToMerge is a branch without a commit that its target has not.
	ErrNothingToMerge = errors.New("there are no commits between the branches")
	// ErrRejected is a request that the host refuses in words of its own.
	ErrRejected = errors.New("the host refuses")
	// ErrRateLimited is a rate limit that lasts longer than there was time.
	ErrRateLimited = errors.New("the host's rate limit lasts longer than there is time")
	// ErrUnavailable is a host that did not answer, or answered with an error of
	// its own, for as long as there was time.
	ErrUnavailable = errors.New("the host is not available")
)

// Field is a part of a proposal that a host refuses on its own.
type Field string

// The fields, called as arguments are.
const (
	FieldLabels    Field = "labels"
	FieldReviewers Field = "reviewers"
	FieldAutoMerge Field = "auto_merge"
)

// Error is what a host answered to one thing that was to be done. It holds no
// credential.
type Error struct {
	Op      string // "open a pull request in acme/gitops"
	Kind    error  // one of the above
	Status  int    // of HTTP; 0 where there was no answer
	Message string // the host's own
	Cause   error  // below it: the context's, the network's
	Field   Field  // "": the error is about no part of a proposal alone
	// Credential says where people set what the host was shown; "": that is not known.
	Credential string
}

func (e *Error) Error() string {
	text := e.Op + ": " + e.Kind.Error()
	if e.Message != "" {
		text += fmt.Sprintf(": %q", e.Message)
	}
	if e.Status != 0 {
		text += fmt.Sprintf(" (HTTP %d)", e.Status)
	}
	if e.Cause != nil && e.Cause.Error() != e.Message {
		text += ": " + e.Cause.Error()
	}
	return printable.Line(text)
}

// Unwrap has errors.Is find the kind and the cause.
func (e *Error) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Cause}
}
