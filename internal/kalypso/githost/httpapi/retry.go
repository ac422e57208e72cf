package httpapi

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/clock"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/servertls"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/webproxy"
)

// The waits if the host does not say how long to wait. GitHub's documentation asks for at least a minute after a
// secondary rate limit, and for longer each time.
const (
	limitWait, maxLimitWait   = time.Minute, 16 * time.Minute
	serverWait, maxServerWait = time.Second, 30 * time.Second
)

// retryDecision is the decision whether to retry a request.
type retryDecision struct {
	failed *githost.Error // why to retry: ErrRateLimited or ErrUnavailable; nil: don't retry
	wait   time.Duration
	limit  int // of attempts, regardless of the deadline; 0: no limit
}

func (a *API) decideRetry(resp *http.Response, err error, attempt int) retryDecision {
	if err != nil {
		return retryDecision{a.failure(githost.ErrUnavailable, 0, "", err), Backoff(attempt), maxAttempts(err)}
	}
	now := a.Clock.Now()
	var v retryDecision
	code, reset, limited := resp.StatusCode, time.Time{}, false
	if a.Limited != nil {
		reset, limited = a.Limited(resp, bodyOf(resp))
	}
	switch {
	case limited, code == http.StatusTooManyRequests:
		v.failed = a.failure(githost.ErrRateLimited, code, a.message(resp), nil)
		v.wait = clock.Backoff(limitWait, maxLimitWait, attempt)
		if !reset.IsZero() {
			// Hosts name whole seconds, so wait one second longer.
			v.wait = max(reset.Sub(now), 0) + time.Second
		}
	case code == http.StatusInternalServerError, code == http.StatusBadGateway, code == http.StatusServiceUnavailable,
		code == http.StatusGatewayTimeout:
		message := cmp.Or(a.message(resp), http.StatusText(code))
		v.failed = a.failure(githost.ErrUnavailable, code, message, nil)
		v.wait = Backoff(attempt)
	}
	if asked, says := clock.RetryAfter(resp.Header, now); says {
		v.wait = max(asked, serverWait)
	}
	return v
}

// maxDials bounds the connection attempts to a server that was never reached. It may be restarting, but its name may
// also be wrong.
const maxDials = 5

// maxAttempts returns the number of attempts after a network error; 0 means until the deadline.
func maxAttempts(err error) int {
	var certificate *tls.CertificateVerificationError
	var noTLS tls.RecordHeaderError
	var lookup *net.DNSError
	var dial *net.OpError
	var proxy *webproxy.Refused
	switch {
	case errors.As(err, &proxy) && !proxy.Temporary():
		return 1
	case errors.As(err, &proxy):
		return maxDials
	case servertls.Refused(err), errors.As(err, &certificate), errors.As(err, &noTLS),
		errors.As(err, &lookup) && lookup.IsNotFound:
		return 1
	case errors.As(err, &dial) && slices.Contains([]string{"dial", "proxyconnect", "socks connect"}, dial.Op):
		return maxDials
	}
	return 0
}

// maxAnswer is the default of [Access.MaxAnswer]. A hundred pull requests of GitHub with the longest descriptions take
// a fifth of it. On other hosts, they may take more: see [EachPage].
const maxAnswer = 64 << 20

// bufferedBody is the complete body of an answer. Since it is read before the answer is returned, a connection that
// breaks in the middle can be retried.
type bufferedBody struct {
	*bytes.Reader
	data []byte
}

func newBody(data []byte) *bufferedBody { return &bufferedBody{bytes.NewReader(data), data} }

func (*bufferedBody) Close() error { return nil }

// ErrTooLarge is the cause of the error about an answer that is larger than [Access.MaxAnswer].
var ErrTooLarge = errors.New("the answer is larger")

func (a *API) readAll(resp *http.Response) error {
	limit := cmp.Or(a.MaxAnswer, maxAnswer)
	data, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	_ = resp.Body.Close()
	resp.Body = newBody(data)
	if int64(len(data)) > limit {
		cause := fmt.Errorf("%w than %d MiB", ErrTooLarge, limit>>20)
		return a.failure(githost.ErrRejected, resp.StatusCode, "", cause)
	}
	return err
}

// errNull means that an answer contains null where an object must be. Libraries would return a nil object, or a zero
// object without an error.
var errNull = errors.New("the server's answer is null, or a list with null")

// errAfterEnd means that something follows the JSON of an answer. Libraries would ignore it.
var errAfterEnd = errors.New("the server's answer has text after its JSON")

// endsAfterJSON reports whether a body that begins with a JSON object or list contains nothing else.
func endsAfterJSON(body []byte) bool {
	d := json.NewDecoder(bytes.NewReader(body))
	if d.Decode(new(json.RawMessage)) != nil {
		return true // the caller reports an answer that is not JSON
	}
	return len(bytes.TrimSpace(body[d.InputOffset():])) == 0
}

// Null returns an error if an answer is null, or a list that contains null, or if it does not end after its JSON.
func Null(_ *http.Request, body []byte) error {
	isNull := func(part []byte) bool { return string(bytes.TrimSpace(part)) == "null" }
	body = bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\ufeff")))
	var list []json.RawMessage
	switch {
	case bytes.HasPrefix(body, []byte("[")):
		_ = json.Unmarshal(body, &list) // the caller reports an answer that is not JSON
	case bytes.HasPrefix(body, []byte("{")):
		var of struct{ Value json.RawMessage } // Azure DevOps wraps its lists in an object
		if json.Unmarshal(body, &of) == nil {
			_ = json.Unmarshal(of.Value, &list)
		}
	}
	if (bytes.HasPrefix(body, []byte("[")) || bytes.HasPrefix(body, []byte("{"))) && !endsAfterJSON(body) {
		return errAfterEnd
	}
	// Libraries ignore what follows null.
	if bytes.HasPrefix(body, []byte("null")) ||
		slices.ContainsFunc(list, func(part json.RawMessage) bool { return isNull(part) }) {
		return errNull
	}
	return nil
}

// bodyOf returns the body of an answer without consuming it.
func bodyOf(resp *http.Response) []byte {
	if b, ok := resp.Body.(*bufferedBody); ok {
		return b.data
	}
	return nil
}

// message returns the host's error message without secrets.
func (a *API) message(resp *http.Response) string { return a.Secrets.Redact(a.Message(bodyOf(resp))) }
