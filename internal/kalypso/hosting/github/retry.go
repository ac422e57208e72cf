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

// How long to wait where GitHub does not say: its documentation asks for a
// minute at least after a secondary limit, and for more each time.
const (
	limitWait, maxLimitWait   = time.Minute, 16 * time.Minute
	serverWait, maxServerWait = time.Second, 30 * time.Second
)

// verdict says whether an answer is worth another attempt. Without a kind it is
// not.
type verdict struct {
	kind   error // ErrRateLimited or ErrUnavailable
	status int
	words  string
	cause  error
	wait   time.Duration
	most   int // attempts, whatever the deadline; 0 for no bound
}

// judge looks at status and headers first: go-github takes a 429 for any error,
// and knows a secondary limit by an address that GitHub has since changed.
func judge(req *http.Request, resp *http.Response, err error, attempt int, now time.Time) verdict {
	if err != nil {
		return verdict{kind: hosting.ErrUnavailable, cause: err, wait: backoff(serverWait, maxServerWait, attempt), most: mendable(err)}
	}
	v := verdict{status: resp.StatusCode}
	asked, says := retryAfter(resp.Header, now)
	switch code := resp.StatusCode; {
	case code == http.StatusInternalServerError, code == http.StatusBadGateway, code == http.StatusServiceUnavailable, code == http.StatusGatewayTimeout:
		v.kind, v.words = hosting.ErrUnavailable, said(peek(resp)).text()
		if v.words == "" {
			v.words = http.StatusText(code)
		}
		v.wait = backoff(serverWait, maxServerWait, attempt)
	case limited(req, resp, says):
		v.kind, v.words = hosting.ErrRateLimited, said(peek(resp)).text()
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

// maxDials are made to a server that nobody has reached yet: it may be starting
// again, or its name may be wrong.
const maxDials = 5

// mendable is how many attempts an error of the network is worth, 0 for as many
// as there is time for.
func mendable(err error) int {
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

// limited reports whether an answer is that of a rate limit.
func limited(req *http.Request, resp *http.Response, saysWhen bool) bool {
	switch resp.StatusCode {
	case http.StatusTooManyRequests:
		return true
	case http.StatusForbidden:
		a := said(peek(resp))
		return saysWhen || resp.Header.Get(remainingHeader) == "0" ||
			strings.Contains(a.DocumentationURL, "rate-limit") || strings.Contains(strings.ToLower(a.Message), "rate limit")
	case http.StatusOK: // GraphQL's errors
		return strings.HasSuffix(req.URL.Path, "/graphql") && said(peek(resp)).of("RATE_LIMITED")
	}
	return false
}

// retryAfter is how long an answer asks to wait.
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

// maxAnswer is how many bytes an answer may have: a hundred pull requests with
// the longest descriptions are a fifth of it.
const maxAnswer = 64 << 20

// body is an answer's, all of it: a connection that breaks within an answer is
// found here, where there may be another attempt.
type body struct {
	*bytes.Reader
	data []byte
}

func newBody(data []byte) *body { return &body{bytes.NewReader(data), data} }

func (*body) Close() error { return nil }

func readAll(resp *http.Response) error {
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	_ = resp.Body.Close()
	resp.Body = newBody(data)
	return err
}

// peek is what an answer holds, without taking it out.
func peek(resp *http.Response) []byte {
	if b, ok := resp.Body.(*body); ok {
		return b.data
	}
	return nil
}

// answer is the form of GitHub's errors, of REST and of GraphQL.
type answer struct {
	Message          string          `json:"message"`
	DocumentationURL string          `json:"documentation_url"`
	Errors           json.RawMessage `json:"errors"`
}

// problem is one of an answer's errors.
type problem struct {
	Type, Resource, Field, Code, Message string
}

func said(data []byte) answer {
	var a answer
	_ = json.Unmarshal(data, &a) // what is no JSON says nothing
	return a
}

// problems are the errors of an answer. Some are bare texts.
func (a answer) problems() []problem {
	var all []problem
	var items []json.RawMessage
	_ = json.Unmarshal(a.Errors, &items) // absent: none
	for _, item := range items {
		var p problem
		if json.Unmarshal(item, &p) != nil {
			_ = json.Unmarshal(item, &p.Message)
		}
		all = append(all, p)
	}
	return all
}

func (a answer) of(kind string) bool {
	return slices.ContainsFunc(a.problems(), func(p problem) bool { return p.Type == kind })
}

// text is an answer in GitHub's words, on one line.
func (a answer) text() string {
	texts := []string{a.Message}
	for _, p := range a.problems() {
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
