package github

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/redact"
)

// transport adds the credential to requests and retries temporary failures until the deadline of the context, or
// [attempts] times if there is none.
type transport struct {
	base    http.RoundTripper
	clock   Clock
	api     endpoints
	auth    *authorization
	secrets *redact.Secrets
	onRetry func(ctx context.Context, reason error, wait time.Duration)
}

// authorization is the credential for GitHub.
type authorization struct {
	credential func(context.Context) (string, error) // "": none
	renew      func(rejected string)                 // nil: the credential cannot be renewed
}

// attempts bounds the attempts if there is no deadline.
const attempts = 10

// finalError is the result of the last attempt, after which there is no retry.
type finalError struct {
	kind    error
	status  int
	message string
	cause   error
}

func (e *finalError) Error() string {
	return (&hosting.Error{Op: "ask GitHub", Kind: e.kind, Status: e.status, Message: e.message, Cause: e.cause}).Error()
}

func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	renewed := false
	for attempt := 1; ; attempt++ {
		resp, token, err := t.attempt(req)
		var own *hosting.Error
		var up *finalError
		switch {
		case errors.As(err, &own), errors.As(err, &up): // from getting a token, which has its own retries, or a redirect
			return nil, err
		case req.Context().Err() != nil:
			discard(resp)
			return nil, &finalError{kind: hosting.ErrUnavailable, cause: req.Context().Err()}
		case err == nil && resp.StatusCode == http.StatusUnauthorized && t.auth.renew != nil && !renewed:
			discard(resp)
			t.auth.renew(token)
			renewed = true
			continue
		}
		v := decideRetry(req, resp, err, attempt, t.clock.Now())
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

// wait waits for the next attempt, or returns a [finalError].
func (t *transport) wait(ctx context.Context, v retryDecision, attempt int) error {
	up := &finalError{kind: v.kind, status: v.status, message: v.message, cause: v.cause}
	deadline, limited := ctx.Deadline()
	switch {
	case limited && t.clock.Now().Add(v.wait).After(deadline), !limited && attempt >= attempts,
		v.most > 0 && attempt >= v.most:
		return up
	case t.onRetry != nil:
		t.onRetry(ctx, up, v.wait)
	}
	if err := t.clock.Sleep(ctx, v.wait); err != nil {
		up.cause = err
		return up
	}
	return nil
}

// attempt sends a request once. It follows redirects within the API, with the same method, body and credential.
func (t *transport) attempt(req *http.Request) (resp *http.Response, token string, err error) {
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
			resp.Body = t.redacted(bodyOf(resp))
		}
		if !redirected(resp.StatusCode) {
			return resp, token, nil
		}
		next, err := resp.Location()
		discard(resp)
		switch {
		case err != nil || !t.api.contains(next):
			return nil, token, &finalError{kind: hosting.ErrRejected, status: resp.StatusCode, cause: errOutsideAPI}
		case redirects == maxRedirects:
			return nil, token, &finalError{kind: hosting.ErrRejected, status: resp.StatusCode, cause: errTooManyRedirects}
		}
		to = next
	}
}

func discard(resp *http.Response) {
	if resp != nil {
		_ = resp.Body.Close()
	}
}

// hideLimits removes the rate limit headers, so that go-github does not block requests by its own clock.
func hideLimits(h http.Header) {
	for _, name := range []string{limitHeader, remainingHeader, resetHeader} {
		h.Del(name)
	}
}

// backoff returns first, doubled with each attempt, up to most.
func backoff(first, most time.Duration, attempt int) time.Duration {
	for range attempt - 1 {
		if first *= 2; first >= most {
			return most
		}
	}
	return first
}
