package gitremote

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// Remote is one [Repository], reached at its URL or a mirror's, with the
// credential that serves that.
type Remote struct {
	client *Client
	repo   Location // what it is called
	at     Location // where it is reached: there, or at a mirror
	with   *served  // of at; nil: none
	open   opener
}

// Remote gives the repository at a URL; see [ParseURL] for what that may be.
// Nothing is contacted.
func (c *Client) Remote(repo string) (*Remote, error) {
	name, err := ParseURL(repo)
	if err != nil {
		return nil, err
	}
	at := c.mirrors.locate(name)
	r := &Remote{client: c, repo: name, at: at, with: c.find(at)}
	switch at.Scheme {
	case schemeFile:
		r.open = localOpener(at)
	case schemeSSH:
		r.open = sshOpener(at, r.with, c.patience)
	default:
		r.open = c.httpOpener(at, r.with)
	}
	return r, nil
}

// String implements [Repository].
func (r *Remote) String() string { return r.repo.String() }

// Key implements [Repository].
func (r *Remote) Key() string { return r.repo.Key() }

// mirror is the URL where the repository is reached if that is not its own; else it is empty.
func (r *Remote) mirror() string {
	if r.at == r.repo {
		return ""
	}
	return r.at.String()
}

// Ref implements [Repository].
func (r *Remote) Ref(ctx context.Context, name plumbing.ReferenceName) (plumbing.Hash, error) {
	rd, err := r.Reader(ctx)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	defer rd.Close()
	return rd.Ref(name)
}

// Fetch implements [Repository].
func (r *Remote) Fetch(ctx context.Context, req FetchRequest, into Objects) error {
	rd, err := r.Reader(ctx)
	if err != nil {
		return err
	}
	defer rd.Close()
	return rd.Fetch(req, into)
}

// fail makes the error of an operation: one of our kinds, without secrets.
func (r *Remote) fail(ctx context.Context, op string, err error) error {
	var already *Error
	if errors.As(err, &already) {
		return err
	}
	if ctx.Err() != nil {
		// What broke, broke as the context ended.
		return &Error{Op: op, Repo: r.String(), Mirror: r.mirror(), Kind: ctx.Err()}
	}
	kind, note := kindOf(err), ""
	var retried *retriedError
	if errors.As(err, &retried) {
		note = retried.note()
	}
	var request *url.Error
	if errors.As(err, &request) {
		err = request.Err // without the address, which may be where a redirect led
	}
	e := &Error{Op: op, Repo: r.String(), Mirror: r.mirror(), Kind: kind, Text: r.client.clean(err.Error() + note)}
	var rejected *RejectedError
	if errors.As(err, &rejected) {
		clean := &RejectedError{Branch: rejected.Branch, Reason: r.client.clean(rejected.Reason)}
		for _, w := range rejected.Output {
			clean.Output = append(clean.Output, r.client.clean(w))
		}
		e.Kind, e.Text = clean, ""
	}
	if e.Kind != nil {
		if _, after, ok := strings.Cut(e.Text, e.Kind.Error()); ok { // what stands before it led there
			e.Text = strings.TrimPrefix(after, ": ")
		}
	}
	e.Hint = r.hint(e.Kind)
	var answer *statusError
	if errors.As(err, &answer) && answer.redirected {
		e.Hint = "if the repository moved there, set its URL to that"
	}
	return e
}

// hint says what to do about a kind of error.
func (r *Remote) hint(kind error) string {
	credential := "no credential is configured for it"
	switch {
	case r.at.ambiguous():
		credential = "no credential is sent, as the URL " + ambiguousPath
	case r.client.asked(r.at):
		credential = "the token or app in github of the provider was used"
	case r.with != nil && r.with.at.Host != "":
		credential = "the credential for " + r.with.at.String() + " was used"
	}
	switch {
	case errors.Is(kind, ErrUnauthorized) && r.at.Scheme != schemeFile:
		return credential + "; check git_credentials of the provider"
	case errors.Is(kind, ErrRepoNotFound) && r.at.Scheme != schemeFile:
		return credential + "; check the URL, and that the credential may see the repository"
	case errors.Is(kind, ErrRepoNotFound):
		return "check the path"
	}
	for _, known := range advice {
		if errors.Is(kind, known.kind) {
			return known.text
		}
	}
	return ""
}

// advice is what to do about kinds of errors, whatever the repository.
var advice = []struct {
	kind error
	text string
}{
	{ErrGitMissing, "install git, or use an https or ssh URL"},
	{ErrBranchLocked, "if no other push is running there, one broke off: remove the lock file that the server names"},
	{ErrServerFull, "free space on the server, or raise the quota of the repo"},
	{ErrRateLimited, "try again later, or raise timeouts"},
	{ErrEmptyAnswer, "look at the server, and at what stands in front of it; if the repo is empty, push a commit to it"},
	{ErrTooManyRefs, "have the server speak version 2 of Git's protocol (over SSH: AcceptEnv GIT_PROTOCOL), " +
		"or hide references (transfer.hideRefs)"},
	{ErrNoTempFile, "free space where temporary files go, or set TMPDIR to another folder"},
	{ErrCollision, "have the owner of the repo remove that object from its history"},
}
