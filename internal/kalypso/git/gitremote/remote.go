package gitremote

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/giturl"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/servertls"
)

// Remote is a Git repository, accessed at its URL or at a mirror, with the credential for that URL. It implements the
// protocol itself. go-git 5 cannot: it dials SSH without a context, does not support protocol version 2, which serves
// objects by hash, copies a pack before it sends it, does not bound the data that a server sends, and takes two to
// three times as long to read it (BenchmarkUnpack). A later version of go-git may.
type Remote struct {
	client *Client
	repo   giturl.URL // name of the repository
	at     giturl.URL // the accessed URL: its own, or a mirror's
	with   *auth      // credential for at; nil: none
	open   opener
}

// Remote returns the repository at a URL; see [giturl.Parse] for valid URLs. It contacts no server.
func (c *Client) Remote(repo string) (*Remote, error) {
	name, err := giturl.Parse(repo)
	if err != nil {
		return nil, err
	}
	at := c.settings.Mirrors.locate(name)
	r := &Remote{client: c, repo: name, at: at, with: c.findAuth(at)}
	switch {
	case at.IsLocal():
		r.open = c.localOpener(at)
	case at.Scheme == giturl.SchemeSSH:
		r.open = c.sshOpener(at, r.with)
	default:
		r.open = c.httpOpener(at, r.with)
	}
	return r, nil
}

// String returns the normalized URL.
func (r *Remote) String() string { return r.repo.String() }

// Key returns the same string for all URLs that are known to lead to the same repository.
func (r *Remote) Key() string { return r.repo.Key() }

// IsLocal reports whether a git program on this machine serves the repository.
func (r *Remote) IsLocal() bool { return r.at.IsLocal() }

// mirror returns the URL at which the repository is accessed if that is not its own, or "".
func (r *Remote) mirror() string {
	if r.at == r.repo {
		return ""
	}
	return r.at.String()
}

// wrapError returns the [Error] of an operation, without secrets, or nil.
func (r *Remote) wrapError(ctx context.Context, op string, err error) error {
	if _, already := errors.AsType[*Error](err); already || err == nil {
		return err
	}
	e := &Error{Op: op, Repo: r.String(), Mirror: r.mirror(), Kind: ctx.Err()}
	if e.Kind != nil {
		return e // the end of the context caused the error
	}
	e.Kind = kindOf(err)
	e.Text = r.client.sanitize(err.Error())
	if rejected, ok := errors.AsType[*RejectedError](err); ok {
		clean := &RejectedError{Reason: r.client.sanitize(rejected.Reason)}
		for _, line := range rejected.Output {
			clean.Output = append(clean.Output, r.client.sanitize(line))
		}
		e.Kind, e.Text = clean, ""
	}
	if e.Kind != nil {
		if _, after, ok := strings.Cut(e.Text, e.Kind.Error()); ok { // drop the wrapping before it
			e.Text = strings.TrimPrefix(after, ": ")
		}
	}
	answer, _ := errors.AsType[*statusError](err)
	e.Hint = servertls.Advice(err)
	switch {
	case answer != nil && answer.redirected:
		e.Hint = "if the repository moved there, use its new URL"
	case e.Hint == "":
		e.Hint = r.hint(e.Kind, answer != nil && answer.status == http.StatusForbidden)
	}
	return e
}

// hint returns what to do about a kind of error. forbidden says that the server knows the credential's account.
func (r *Remote) hint(kind error, forbidden bool) string {
	credential, doubt := "no credential matches it", ""
	token := false // or a password
	switch {
	case r.at.Ambiguous():
		credential = "no credential is sent because the URL " + ambiguousPath
	case r.client.loginSource(r.at) != "":
		credential, token = r.client.loginSource(r.at)+" was used", true
	case r.with != nil && r.with.at.Host != "":
		credential, token = "the credential for "+r.with.at.String()+" was used", !r.with.login.IsZero()
		if r.at.Scheme == giturl.SchemeSSH && r.with.signer != nil {
			doubt = ", and the server may not know its key"
		}
	}
	if r.at.Scheme != giturl.SchemeSSH && token && !forbidden {
		doubt = ", and may have expired"
	}
	switch {
	case errors.Is(kind, ErrUnauthorized) && !r.at.IsLocal():
		return credential + doubt + "; check the provider's git_credentials"
	case errors.Is(kind, ErrRepoNotFound) && !r.at.IsLocal():
		return credential + "; check the URL and the permissions of the credential"
	case errors.Is(kind, ErrRepoNotFound):
		return "check the path"
	}
	for _, known := range kinds {
		if known.advice != "" && errors.Is(kind, known.err) {
			return known.advice
		}
	}
	return ""
}
