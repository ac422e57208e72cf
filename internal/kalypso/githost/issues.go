package githost

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
)

// Issues are the issues of a repo. Each method looks up the account that the credential belongs to. If the host does
// not name it, the method fails, since the issues of other accounts must not be taken for our own.
type Issues interface {
	// List returns the newest issues that the credential's account opened, open and closed ones, newest first: at most
	// [MaxListedIssues].
	List(ctx context.Context) ([]Issue, error)
	// Read returns an issue by number.
	Read(ctx context.Context, number int) (*Issue, error)
	// Open opens an issue. It never repeats the request, so if the answer is lost, the issue may be open. If the issue was
	// opened but its labels could not be set, Open returns both the issue and the error.
	Open(ctx context.Context, content IssueContent) (*Issue, error)
	// Edit changes the title, the body and the state of an issue. It keeps all labels.
	Edit(ctx context.Context, number int, content IssueContent) (*Issue, error)
	// Comment adds a comment to an issue. It never repeats the request.
	Comment(ctx context.Context, number int, text string) error
}

// Issue is an issue as read from the host.
type Issue struct {
	Number      int
	Title, Body string
	Closed      bool
	Own         bool // the credential's account opened it
}

// Check returns an error if the issue has no number. Later requests could not name the issue.
func (i *Issue) Check() error {
	if i.Number < 1 {
		return errors.New("the server's answer has an issue without a number")
	}
	return nil
}

// IssueContent is the desired content of an issue.
type IssueContent struct {
	Title, Body string
	Labels      []string // used when an issue is opened
	Closed      bool     // used when an issue is edited
}

// MaxListedIssues bounds the number of issues that are read from a repo. IssuesPage is the number of issues in one
// answer.
const (
	MaxListedIssues = 1000
	IssuesPage      = 100
)

// MaxIssueTitle is the maximum length of the title of an issue, in UTF-16 units. Every host accepts at least this
// length.
const MaxIssueTitle = 125

// IssueMarker returns the line that identifies the issue of a workload that an environment cannot render. key
// distinguishes environments of the same name.
func IssueMarker(environment, key, workload string) string {
	return marker("issue", environment, key, workload)
}

// IssueID contains the arguments of [IssueMarker].
type IssueID struct{ Environment, Key, Workload string }

// FindIssueMarker returns what the last marker in the body of an issue identifies.
func FindIssueMarker(body string) (id IssueID, ok bool) {
	for line := range strings.SplitSeq(body, "\n") {
		line = strings.TrimRight(line, " \t\r")
		text, is := strings.CutPrefix(line, markerStart("issue"))
		var of markerFields
		if !is || json.Unmarshal([]byte(strings.TrimSuffix(text, " -->")), &of) != nil {
			continue
		}
		if found := (IssueID{of.Environment, of.Branch, of.Path}); line == IssueMarker(of.Environment, of.Branch, of.Path) {
			id, ok = found, true
		}
	}
	return id, ok
}
