package githost

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
)

// The kinds of errors from a host. Tell them apart with [errors.Is].
var (
	// ErrOtherHost: the repo is on another host.
	ErrOtherHost = errors.New("the repo is on another host")
	// ErrUnauthenticated: the host does not accept the credential.
	ErrUnauthenticated = errors.New("the host does not accept the credential")
	// ErrForbidden: the credential lacks permission.
	ErrForbidden = errors.New("the host does not allow this")
	// ErrNotVisible: the object does not exist, or the credential may not see it. Hosts do not say which of the two it is,
	// so never treat this error as proof of absence.
	ErrNotVisible = errors.New("not found, or not visible to the credential")
	// ErrCommitNotFound: the repo was read and has no such commit.
	ErrCommitNotFound = errors.New("the repo has no such commit")
	// ErrCommitOnNoBranch is the cause of an ErrCommitNotFound if the host accepts statuses only for commits that are on a
	// branch.
	ErrCommitOnNoBranch = errors.New("the commit is on no branch")
	// ErrExists: an open pull request between these branches already exists.
	ErrExists = errors.New("an open pull request between these branches already exists")
	// ErrBranchNotFound: the host does not know the branch to be merged. This can happen just after a push.
	ErrBranchNotFound = errors.New("the host does not know the branch to be merged")
	// ErrNothingToMerge: the branch has no commit that its target lacks.
	ErrNothingToMerge = errors.New("the branch has no commits to merge")
	// ErrRejected: the host rejected the request for another reason, which it states.
	ErrRejected = errors.New("the host rejected the request")
	// ErrRateLimited: a rate limit lasts beyond the deadline.
	ErrRateLimited = errors.New("the host's rate limit lasts beyond the timeout")
	// ErrUnavailable: until the deadline, the host did not answer or returned a server error.
	ErrUnavailable = errors.New("the host is not available")
)

// Field is a part of a proposal that a host can reject by itself.
type Field string

// The fields, named like the arguments.
const (
	FieldLabels    Field = "labels"
	FieldReviewers Field = "reviewers"
	FieldDraft     Field = "draft"
	FieldAutoMerge Field = "auto_merge"
)

// Error is a failed operation on a host. Its text contains no credential.
type Error struct {
	Op      string // such as "open a pull request in acme/gitops"; "": a request to the host
	Kind    error  // one of the sentinels above
	Status  int    // HTTP status; 0: no answer
	Message string // the host's error message
	Cause   error  // the underlying error, such as the context's or the network's
	Field   Field  // the rejected part of the proposal, or ""
	// Host is the host's name for people, and Block the name of the provider's block that configures it. They are empty if
	// unknown.
	Host, Block string
	// Grant advises users how to give the missing permission. It is set for an [ErrForbidden], and for an
	// [ErrUnauthenticated] that a missing permission may have caused.
	Grant string
	// Credential names where users configure the credential that was used. It is empty if that is unknown.
	Credential string
}

func (e *Error) Error() string {
	text := cmp.Or(e.Op, "ask "+e.Host) + ": " + e.Kind.Error()
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

// Unwrap returns the kind and the cause, for [errors.Is].
func (e *Error) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Cause}
}

// Says reports whether a host answered with an error message that matches a pattern.
func Says(err error, pattern *regexp.Regexp) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && pattern.MatchString(e.Message)
}

// StatusOf returns the HTTP status of an error of a host, or 0 without an answer.
func StatusOf(err error) int {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Status
	}
	return 0
}

// About sets the field of an error.
func About(field Field, err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		e.Field = field
	}
	return err
}
