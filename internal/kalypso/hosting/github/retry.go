package github

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting"
)

const (
	limitHeader     = "X-RateLimit-Limit"
	remainingHeader = "X-RateLimit-Remaining"
	resetHeader     = "X-RateLimit-Reset"
	retryHeader     = "Retry-After"
)

// The waits if GitHub gives none. Its documentation asks for at least a minute after a secondary rate limit, and for
// longer each time.
const (
	limitWait, maxLimitWait   = time.Minute, 16 * time.Minute
	serverWait, maxServerWait = time.Second, 30 * time.Second
)

// retryDecision says whether to retry a request. Without a kind there is no retry.
type retryDecision struct {
	kind    error // ErrRateLimited or ErrUnavailable
	status  int
	message string
	cause   error
	wait    time.Duration
	most    int // attempts, regardless of the deadline; 0: no bound
}

// decideRetry checks status and headers itself: go-github reports a 429 as a generic error, and recognizes a
// secondary limit by an outdated address.
func decideRetry(req *http.Request, resp *http.Response, err error, attempt int, now time.Time) retryDecision {
	if err != nil {
		return retryDecision{kind: hosting.ErrUnavailable, cause: err, wait: backoff(serverWait, maxServerWait, attempt),
			most: maxAttempts(err)}
	}
	v := retryDecision{status: resp.StatusCode}
	asked, says := retryAfter(resp.Header, now)
	switch code := resp.StatusCode; {
	case code == http.StatusInternalServerError, code == http.StatusBadGateway, code == http.StatusServiceUnavailable,
		code == http.StatusGatewayTimeout:
		v.kind, v.message = hosting.ErrUnavailable, parseAnswer(bodyOf(resp)).text()
		if v.message == "" {
			v.message = http.StatusText(code)
		}
		v.wait = backoff(serverWait, maxServerWait, attempt)
	case limited(req, resp, says):
		v.kind, v.message = hosting.ErrRateLimited, parseAnswer(bodyOf(resp)).text()
		v.wait = backoff(limitWait, maxLimitWait, attempt)
		if reset, ok := resetAt(resp.Header); ok && resp.Header.Get(remainingHeader) == "0" {
			// The header counts whole seconds.
			v.wait = max(reset.Sub(now), 0) + time.Second
		}
	}
	if says {
		v.wait = max(asked, serverWait)
	}
	return v
}

// maxDials bounds the connection attempts to a server not reached yet: it may be restarting, or its name may be
// wrong.
const maxDials = 5

// maxAttempts returns how often to try after a network error; 0 means until the deadline.
func maxAttempts(err error) int {
	var certificate *tls.CertificateVerificationError
	var noTLS tls.RecordHeaderError
	var lookup *net.DNSError
	var dial *net.OpError
	switch {
	case errors.As(err, &certificate), errors.As(err, &noTLS), errors.As(err, &lookup) && lookup.IsNotFound:
		return 1
	case errors.As(err, &dial) && dial.Op == "dial":
		return maxDials
	}
	return 0
}

// limited reports whether an answer signals a rate limit.
func limited(req *http.Request, resp *http.Response, saysWhen bool) bool {
	switch resp.StatusCode {
	case http.StatusTooManyRequests:
		return true
	case http.StatusForbidden:
		a := parseAnswer(bodyOf(resp))
		return saysWhen || resp.Header.Get(remainingHeader) == "0" ||
			strings.Contains(a.DocumentationURL, "rate-limit") || strings.Contains(strings.ToLower(a.Message), "rate limit")
	case http.StatusOK: // GraphQL's errors
		return strings.HasSuffix(req.URL.Path, "/graphql") && parseAnswer(bodyOf(resp)).of("RATE_LIMITED")
	}
	return false
}

// retryAfter returns the wait that an answer asks for.
func retryAfter(h http.Header, now time.Time) (time.Duration, bool) {
	text := h.Get(retryHeader)
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second, true
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(at.Sub(now), 0), true
	}
	return 0, false
}

func resetAt(h http.Header) (time.Time, bool) {
	seconds, err := strconv.ParseInt(h.Get(resetHeader), 10, 64)
	return time.Unix(seconds, 0), err == nil
}

// maxAnswer bounds the size of an answer, in bytes. A hundred pull requests with the longest descriptions take a
// fifth of it.
const maxAnswer = 64 << 20

// bufferedBody is the complete body of an answer. Since it is read before the answer is returned, a connection that
// breaks in the middle can be retried.
type bufferedBody struct {
	*bytes.Reader
	data []byte
}

func newBody(data []byte) *bufferedBody { return &bufferedBody{bytes.NewReader(data), data} }

func (*bufferedBody) Close() error { return nil }

func readAll(resp *http.Response) error {
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	_ = resp.Body.Close()
	resp.Body = newBody(data)
	return err
}

// bodyOf returns the body of an answer without consuming it.
func bodyOf(resp *http.Response) []byte {
	if b, ok := resp.Body.(*bufferedBody); ok {
		return b.data
	}
	return nil
}

// errorAnswer is an error answer, of REST or GraphQL.
type errorAnswer struct {
	Message          string          `json:"message"`
	DocumentationURL string          `json:"documentation_url"`
	Errors           json.RawMessage `json:"errors"`
}

// errorDetail is one of the errors in an answer.
type errorDetail struct {
	Type, Resource, Field, Code, Message string
}

func parseAnswer(data []byte) errorAnswer {
	var a errorAnswer
	_ = json.Unmarshal(data, &a) // not JSON: no message
	return a
}

// details returns the errors in an answer. Some are plain strings.
func (a errorAnswer) details() []errorDetail {
	var all []errorDetail
	var items []json.RawMessage
	_ = json.Unmarshal(a.Errors, &items) // absent: none
	for _, item := range items {
		var p errorDetail
		if json.Unmarshal(item, &p) != nil {
			_ = json.Unmarshal(item, &p.Message)
		}
		all = append(all, p)
	}
	return all
}

func (a errorAnswer) of(kind string) bool {
	return slices.ContainsFunc(a.details(), func(p errorDetail) bool { return p.Type == kind })
}

// text returns the messages of an answer, on one line.
func (a errorAnswer) text() string {
	texts := []string{a.Message}
	for _, p := range a.details() {
		if p.Message == "" {
			p.Message = strings.Join(strings.Fields(p.Resource+" "+p.Field+" "+p.Code), " ")
		}
		texts = append(texts, p.Message)
	}
	if texts[0] == "" {
		texts = texts[1:]
	}
	return strings.Join(strings.Fields(strings.Join(texts, ": ")), " ")
}
