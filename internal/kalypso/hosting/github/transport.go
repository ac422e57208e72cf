package github

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/redact"
)

// transport puts the credential on requests, and tries again what a later
// attempt may mend: within the deadline of the request's context, and where it
// has none, [attempts] times.
type transport struct {
	base    http.RoundTripper
	clock   Clock
	api     endpoints
	auth    *authorisation
	secrets *redact.Secrets
	told    func(ctx context.Context, reason error, wait time.Duration)
}

// authorisation is what is shown to GitHub.
type authorisation struct {
	credential func(context.Context) (string, error) // "": nothing
	renew      func(refused string)                  // nil: there is nothing else to show
}

// attempts are made where no deadline ends them.
const attempts = 10

// gaveUp is an answer, or none, that was not worth or had no time for another
// attempt.
type gaveUp struct {
	kind   error
	status int
	words  string
	cause  error
}

func (e *gaveUp) Error() string {
	return (&hosting.Error{Op: "ask GitHub", Kind: e.kind, Status: e.status, Message: e.words, Cause: e.cause}).Error()
}

func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	renewed := false
	for attempt := 1; ; attempt++ {
		resp, token, err := t.try(req)
		var own *hosting.Error
		var up *gaveUp
		switch {
		case errors.As(err, &own), errors.As(err, &up): // of the credential, which was tried again already; or a redirect
			return nil, err
		case req.Context().Err() != nil:
			discard(resp)
			return nil, &gaveUp{kind: hosting.ErrUnavailable, cause: req.Context().Err()}
		case err == nil && resp.StatusCode == http.StatusUnauthorized && t.auth.renew != nil && !renewed:
			discard(resp)
			t.auth.renew(token)
			renewed = true
			continue
		}
		v := judge(req, resp, err, attempt, t.clock.Now())
		if v.kind == nil {
			if resp != nil {
				hideLimits(resp.Header)
			}
			return resp, err
		}
		discard(resp)
		if err := t.wait(req.Context(), v, attempt); err != nil {
			return nil, err
		}
	}
}

// wait waits for the next attempt, or gives up.
func (t *transport) wait(ctx context.Context, v verdict, attempt int) error {
	up := &gaveUp{kind: v.kind, status: v.status, words: v.words, cause: v.cause}
	deadline, limited := ctx.Deadline()
	switch {
	case limited && t.clock.Now().Add(v.wait).After(deadline), !limited && attempt >= attempts,
		v.most > 0 && attempt >= v.most:
		return up
	case t.told != nil:
		t.told(ctx, up, v.wait)
	}
	if err := t.clock.Sleep(ctx, v.wait); err != nil {
		up.cause = err
		return up
	}
	return nil
}

// try makes one attempt, following redirects within the API, which alone gets
// the credential: with the same method and body, as GitHub means them.
func (t *transport) try(req *http.Request) (resp *http.Response, token string, err error) {
	token, err = t.auth.credential(req.Context())
	if err != nil {
		return nil, "", err
	}
	to := req.URL
	for redirects := 0; ; redirects++ {
		one := req.Clone(req.Context())
		one.URL, one.Host = to, ""
		if req.GetBody != nil {
			if one.Body, err = req.GetBody(); err != nil {
				return nil, token, err
			}
		}
		if token != "" {
			one.Header.Set("Authorization", "Bearer "+token)
		}
		if resp, err = t.base.RoundTrip(one); err == nil {
			err = readAll(resp)
		}
		if err != nil {
			return nil, token, &redactedError{t.secrets.Redact(err.Error()), err}
		}
		if resp.StatusCode >= http.StatusMultipleChoices || to.Path == t.api.graphql.Path {
			resp.Body = t.redacted(peek(resp))
		}
		if !redirected(resp.StatusCode) {
			return resp, token, nil
		}
		next, err := resp.Location()
		discard(resp)
		switch {
		case err != nil || !t.api.hold(next):
			return nil, token, &gaveUp{kind: hosting.ErrRejected, status: resp.StatusCode, cause: errElsewhere}
		case redirects == maxRedirects:
			return nil, token, &gaveUp{kind: hosting.ErrRejected, status: resp.StatusCode, cause: errEndless}
		}
		to = next
	}
}

func discard(resp *http.Response) {
	if resp != nil {
		_ = resp.Body.Close()
	}
}

// hideLimits keeps go-github from stopping requests by a clock of its own.
func hideLimits(h http.Header) {
	for _, name := range []string{limitHeader, remainingHeader, resetHeader} {
		h.Del(name)
	}
}

// backoff doubles from first with each attempt, up to most.
func backoff(first, most time.Duration, attempt int) time.Duration {
	for range attempt - 1 {
		if first *= 2; first >= most {
			return most
		}
	}
	return first
}
