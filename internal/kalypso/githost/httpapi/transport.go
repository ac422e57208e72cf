package httpapi

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/clock"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/webproxy"
)

// transport adds the credential to requests and retries temporary failures until the deadline of the context, or
// [attempts] times if there is none.
type transport struct {
	*API
	auth Authorization
}

// attempts bounds the attempts if there is no deadline.
const attempts = 10

type onceKey struct{}

// Once returns a context for requests that must not be repeated after a network error or a server error, because they
// may have taken effect. For example, a repeated request would open a second issue.
func Once(ctx context.Context) context.Context { return context.WithValue(ctx, onceKey{}, true) }

func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	renewed := false
	for attempt := 1; ; attempt++ {
		resp, credential, err := t.attempt(req)
		var failed *githost.Error
		switch {
		case errors.As(err, &failed): // final, or from Credential, which retries itself
			return nil, err
		case req.Context().Err() != nil:
			return nil, t.failure(githost.ErrUnavailable, 0, "", req.Context().Err())
		case err == nil && t.refused(resp) && t.auth.Renew != nil && !renewed:
			t.auth.Renew(credential)
			renewed = true
			continue
		case err == nil && t.isSignIn(resp):
			return nil, t.failure(githost.ErrUnauthenticated, resp.StatusCode, "", errSignIn)
		}
		v := t.decideRetry(resp, err, attempt)
		if v.failed == nil {
			t.note(resp.Request.URL, resp.Header)
			hideHeaders(resp.Header)
			return t.answer(resp)
		}
		if req.Context().Value(onceKey{}) != nil && errors.Is(v.failed, githost.ErrUnavailable) {
			v.limit = 1
		}
		if err := t.wait(req.Context(), v, attempt); err != nil {
			return nil, err
		}
	}
}

// answer returns an answer. An error answer has no secrets: the host or a proxy may repeat a credential. The headers
// are kept, since GitHub names the missing permission in a header.
func (t *transport) answer(resp *http.Response) (*http.Response, error) {
	if resp.StatusCode < http.StatusMultipleChoices {
		return resp, nil
	}
	for _, values := range resp.Header {
		for i := range values {
			values[i] = t.Secrets.Redact(values[i])
		}
	}
	if !t.RawRefusals {
		return nil, t.refusal(resp)
	}
	resp.Body = newBody([]byte(t.Secrets.Redact(string(bodyOf(resp)))))
	return resp, nil
}

var errSignIn = errors.New("the server answers with a sign-in page")

func (a *API) isSignIn(resp *http.Response) bool { return a.IsSignIn != nil && a.IsSignIn(resp) }

// refused reports whether the host does not accept the credential.
func (a *API) refused(resp *http.Response) bool {
	return resp.StatusCode == http.StatusUnauthorized || a.isSignIn(resp)
}

// wait waits for the next attempt, or returns the error of the failed one.
func (a *API) wait(ctx context.Context, v retryDecision, attempt int) error {
	deadline, limited := ctx.Deadline()
	switch {
	case limited && a.Clock.Now().Add(v.wait).After(deadline), !limited && attempt >= attempts,
		v.limit > 0 && attempt >= v.limit:
		return v.failed
	case a.OnRetry != nil:
		a.OnRetry(ctx, v.failed, v.wait)
	}
	if err := a.Clock.Sleep(ctx, v.wait); err != nil {
		v.failed.Cause = err
		return v.failed
	}
	return nil
}

// note notes the time of an answer, and the time from which the next request may be sent to the server of an address.
// Some hosts answer a request, but ask to slow down.
func (a *API) note(to *url.URL, h http.Header) {
	now := a.Clock.Now()
	asked, says := clock.RetryAfter(h, now)
	a.mu.Lock()
	defer a.mu.Unlock()
	if at, err := http.ParseTime(h.Get("Date")); err == nil {
		a.seenAt = at
	}
	if at := now.Add(asked); says && at.After(a.notBefore[address(to)]) {
		a.notBefore[address(to)] = at
	}
}

// waitTurn waits until a request may be sent to the server of an address.
func (a *API) waitTurn(ctx context.Context, to *url.URL) error {
	a.mu.Lock()
	at := a.notBefore[address(to)]
	a.mu.Unlock()
	left := at.Sub(a.Clock.Now())
	if left <= 0 {
		return nil
	}
	return a.wait(ctx, retryDecision{failed: a.failure(githost.ErrRateLimited, 0, "", nil), wait: left}, 1)
}

// attempt sends a request once. It follows redirects within the API, with the same method, body and credential.
func (t *transport) attempt(req *http.Request) (resp *http.Response, credential string, err error) {
	credential, err = t.credential(req.Context())
	if err != nil {
		return nil, "", err
	}
	to := req.URL
	for redirects := 0; ; redirects++ {
		one := req.Clone(req.Context())
		one.URL, one.Host = to, ""
		if req.GetBody != nil {
			one.Body, err = req.GetBody()
			if err != nil {
				return nil, credential, err
			}
		}
		if t.UserAgent != "" {
			one.Header.Set("User-Agent", t.UserAgent)
		}
		if credential != "" {
			t.auth.Set(one.Header, credential)
		}
		if err = t.waitTurn(req.Context(), to); err != nil {
			return nil, credential, err
		}
		resp, err = t.send(one)
		if err != nil {
			return nil, credential, err
		}
		if !redirected(resp.StatusCode) || t.isSignIn(resp) {
			return resp, credential, nil
		}
		next, err := resp.Location()
		switch {
		case err != nil || !t.contains(next):
			resp, err = t.outside(req, next, resp.StatusCode)
			return resp, credential, err
		case redirects == maxRedirects:
			return nil, credential, t.failure(githost.ErrRejected, resp.StatusCode, "", errTooManyRedirects)
		}
		to = next
	}
}

// credential returns the credential for a request. If it can't be had, the error is about the request.
func (t *transport) credential(ctx context.Context) (string, error) {
	credential, err := t.auth.Credential(ctx)
	failed, ok := errors.AsType[*githost.Error](err)
	if !ok {
		return credential, err
	}
	e := t.failure(failed.Kind, 0, "", failed.Cause)
	if failed.Op != "" {
		e.Cause = failed
	}
	return "", e
}

// outside answers a request that the server redirects outside the API. to is nil if the address can't be parsed.
func (t *transport) outside(req *http.Request, to *url.URL, status int) (*http.Response, error) {
	if to != nil && t.Redirected != nil {
		if resp, ok, err := t.Redirected(req, to); ok {
			return resp, err
		}
	}
	return nil, t.failure(githost.ErrRejected, status, "", errOutsideAPI)
}

// send sends a request, and returns its whole answer.
func (t *transport) send(req *http.Request) (*http.Response, error) {
	resp, err := t.Transport.RoundTrip(req)
	if err == nil {
		resp.Request = req
		err = t.readAll(resp)
	}
	if err == nil {
		err = webproxy.Answered(resp)
	}
	if err != nil {
		return nil, t.Secrets.Error(err)
	}
	if resp.StatusCode < http.StatusMultipleChoices {
		if err := t.Unusable(req, bodyOf(resp)); err != nil {
			return nil, t.failure(githost.ErrUnavailable, resp.StatusCode, "", err)
		}
	}
	return resp, nil
}

// hideHeaders removes headers that libraries would misuse: go-github blocks requests by its own clock after a rate
// limit, and azure-devops-go-api writes the session to a global without a lock.
func hideHeaders(h http.Header) {
	for _, name := range []string{"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "X-TFS-Session"} {
		h.Del(name)
	}
}

// MaxRefusals bounds the attempts at a request that a host refuses for a moment: for example because it has not
// processed a push yet, has not checked whether branches can be merged, or is busy with another request.
const MaxRefusals = 5

// NextAttempt waits after an attempt that the host refused for a moment, and reports whether there is another attempt.
func (a *API) NextAttempt(ctx context.Context, attempt int) bool {
	return attempt < MaxRefusals && a.Clock.Sleep(ctx, Backoff(attempt)) == nil
}

// Backoff returns the wait after an attempt that failed with a server error. It starts with one second, doubles with
// each attempt, and is at most half a minute.
func Backoff(attempt int) time.Duration { return clock.Backoff(serverWait, maxServerWait, attempt) }
