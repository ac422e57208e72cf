package githost

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// Traits describe a host, and one repo on it: names, limits of texts, pages, and the supported settings. No method
// contacts a server.
type Traits struct {
	Host, Block string // the host's name for people, such as "GitHub", and the provider's block that configures it
	Noun        string // what the host calls a pull request
	Repository  string // the repo's name in errors, such as "acme/gitops"
	// MaxTitle and MaxBody are the maximum lengths of a title and a description, in characters.
	MaxTitle, MaxBody int
	// MarkerFirst says that a description begins with its marker, because the host's lists cut descriptions. On other
	// hosts, it ends with the marker. [HasMarker] finds a marker in any line.
	MarkerFirst bool
	// ReadyMessage changes the message of a commit of ours so that the host does not take it for a command. For example,
	// GitLab turns a merge request into a draft if the subject of a commit begins like a draft's title. It is nil if the
	// host knows no such commands.
	ReadyMessage func(message string) string
	// EscapeBody returns a description in which the host runs no command, or is nil if the host knows no commands there.
	EscapeBody func(body string) string

	Pages string // the address of the repo's web pages, with a slash at its end
	// ComparePage returns the page below Pages that compares two commits. If it is nil, the page is "compare/from...to".
	ComparePage func(from, to string) string

	// KeepsPending says that the host does not set a pending status to pending again, so that neither its description nor
	// its URL can be changed.
	KeepsPending bool

	// CheckReviewer and CheckLabel return an error if the host does not support a reviewer or a label. They are nil if the
	// host supports all.
	CheckReviewer, CheckLabel func(name string) error
	// ExactLabels says that labels that differ only in case are different labels.
	ExactLabels bool
	// Methods lists the merge methods that auto-merge supports. OtherMethods is advice for all other methods.
	Methods      []MergeMethod
	OtherMethods string
	// ForgetsAutoMerge says that the host turns auto-merge off some time after a push, so that it is requested again.
	ForgetsAutoMerge bool
}

// Settings are settings of pull requests that a host may not support.
type Settings struct {
	Reviewers, Labels []string
	AutoMerge         MergeMethod // "": off
}

// CheckSupport returns an error for settings that the host does not support. It reports all such reviewers. If there
// are none, it reports all such labels and, if there are none either, the merge method.
func (t Traits) CheckSupport(s Settings) error {
	var reviewers, labels []error
	for _, name := range s.Reviewers {
		reviewers = append(reviewers, t.check("ask for reviews in ", FieldReviewers, name, t.CheckReviewer))
	}
	for _, label := range s.Labels {
		labels = append(labels, t.check("label "+t.Noun+"s of ", FieldLabels, label, t.CheckLabel))
	}
	return cmp.Or(errors.Join(reviewers...), errors.Join(labels...),
		t.check("enable auto-merge in ", FieldAutoMerge, string(s.AutoMerge), t.checkMethod))
}

func (t Traits) check(op string, field Field, setting string, by func(string) error) error {
	if by == nil {
		return nil
	}
	reason := by(setting)
	if reason == nil {
		return nil
	}
	return &Error{Op: op + t.Repository, Kind: ErrRejected, Field: field, Cause: reason, Host: t.Host, Block: t.Block}
}

func (t Traits) checkMethod(method string) error {
	if method == "" || slices.Contains(t.Methods, MergeMethod(method)) {
		return nil
	}
	return fmt.Errorf("%s can't merge by %q%s", t.Host, method, t.OtherMethods)
}

// CheckTeam returns a function that checks reviewers on hosts whose teams belong to the owner of the repo.
func CheckTeam(owner string) func(reviewer string) error {
	return func(name string) error {
		if organisation, _, isTeam := strings.Cut(name, "/"); isTeam && !strings.EqualFold(organisation, owner) {
			return fmt.Errorf("team %s does not belong to %s, the owner of the repo", name, owner)
		}
		return nil
	}
}

// Op returns the name of an operation on a pull request, for errors. The argument what is a verb, such as "close".
func (t Traits) Op(what string, number int) string {
	return fmt.Sprintf("%s %s %d of %s", what, t.Noun, number, t.Repository)
}

// IssueOp returns the name of an operation on an issue, for errors. The argument what is a verb, such as "close".
func (t Traits) IssueOp(what string, number int) string {
	return fmt.Sprintf("%s issue %d of %s", what, number, t.Repository)
}

// IssuesOp returns the name of an operation on the issues of the repo, for errors.
func (t Traits) IssuesOp(what string) string { return what + " in " + t.Repository }

// CommitURL returns the web page of a commit.
func (t Traits) CommitURL(commit string) string { return t.Pages + "commit/" + url.PathEscape(commit) }

// CompareURL returns the web page that compares two commits.
func (t Traits) CompareURL(from, to string) string {
	if t.ComparePage != nil {
		return t.Pages + t.ComparePage(from, to)
	}
	return t.Pages + "compare/" + url.PathEscape(from) + "..." + url.PathEscape(to)
}

// CommitMessage returns the message of a commit of ours; see [Traits.ReadyMessage].
func (t Traits) CommitMessage(message string) string {
	if t.ReadyMessage == nil {
		return message
	}
	return t.ReadyMessage(message)
}

// escape returns a description; see [Traits.EscapeBody].
func (t Traits) escape(body string) string {
	if t.EscapeBody == nil {
		return body
	}
	return t.EscapeBody(body)
}

// SameStatus reports whether no new status is needed: have, the last status of the commit and context, equals want, or
// differs only in parts that the host can't change.
func (t Traits) SameStatus(want, have Status) bool {
	return EqualStatus(want, have) || t.KeepsPending && want.State == Pending && have.State == Pending
}
