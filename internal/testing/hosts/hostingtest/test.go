package hostingtest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
)

// Test is a test of features that only one host has.
type Test struct {
	*testing.T
	clock *Clock
}

// NewTest returns a test of a host with a clock.
func NewTest(t *testing.T, clock *Clock) Test {
	t.Helper()
	return Test{t, clock}
}

// Marker is the marker of the pull request that [Proposal] proposes. Query finds that pull request.
var (
	Marker = githost.Marker("dev", "main", ".")
	Query  = githost.Query{Branch: "change", Target: "main", Marker: Marker}
)

// Proposal proposes the branch change for main.
func Proposal() githost.PullRequestContent {
	return githost.PullRequestContent{Branch: "change", Target: "main", Title: "Title", Body: Marker + "\n\nText"}
}

// Within returns a context with a deadline after this time on the clock.
func (t Test) Within(d time.Duration) context.Context {
	ctx, cancel := context.WithDeadline(t.Context(), t.clock.Now().Add(d))
	t.Cleanup(cancel)
	return ctx
}

// Must returns the pull request, and fails the test with an error.
func (t Test) Must(pr *githost.PullRequest, err error) githost.PullRequest {
	t.Helper()
	if err != nil || pr == nil {
		t.Fatalf("%v, %v", pr, err)
	}
	return *pr
}

// Refused fails the test unless an error is of this kind, about this field, and contains the text. It must not contain
// a token, which has the word canary. It returns the error.
func (t Test) Refused(err, kind error, field githost.Field, text string) githost.Error {
	t.Helper()
	var e *githost.Error
	if !errors.As(err, &e) {
		e = &githost.Error{}
	}
	if !errors.Is(err, kind) || e.Field != field || !strings.Contains(err.Error(), text) ||
		strings.Contains(err.Error(), "canary") {
		t.Errorf("the error is %v, want %v at %q that says %q", err, kind, field, text)
	}
	return *e
}
