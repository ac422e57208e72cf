package gitremote

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/giturl"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/clock"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/servertls"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/webproxy"
)

// dialTimeout bounds the time to open a connection.
const dialTimeout = 30 * time.Second

// httpSession speaks Git's smart HTTP protocol: a GET for the advertisement, a POST for each exchange.
type httpSession struct {
	ctx           context.Context
	client        *http.Client
	asked         giturl.URL // the requested repository
	base          string     // the repository URL after redirects
	service       string
	protocol      string
	answerTimeout time.Duration // until an answer begins
	newOutput     func() *serverOutput
	advertisement *bufio.Reader
	// redirected names the final repository, if a redirect was followed.
	redirected string
	open       []func() // close what was opened
}

func (c *Client) httpOpener(repo giturl.URL, s *auth) opener {
	client := &http.Client{
		Transport:     &authTransport{client: c, asked: repo, with: s},
		CheckRedirect: checkRedirect,
	}
	return func(ctx context.Context, service, protocol string) (session, error) {
		h := &httpSession{
			ctx: ctx, client: client, asked: repo, base: repo.String(),
			service: service, protocol: protocol, answerTimeout: c.settings.limits.answerTimeout,
			newOutput: c.newOutput,
		}
		if err := h.readAdvertisement(); err != nil {
			_ = h.Close()
			return nil, err
		}
		return h, nil
	}
}

func (h *httpSession) readAdvertisement() error {
	const path = "/info/refs"
	target := h.base + path + "?service=" + h.service
	res, err := h.do(http.MethodGet, target, nil, 0) //nolint:bodyclose // Close closes all of them
	if err != nil {
		return err
	}
	if got := contentType(res); got != "application/x-"+h.service+"-advertisement" {
		return fmt.Errorf("the answer is not from a Git server: its content type is %q", got)
	}
	final := *res.Request.URL
	if !strings.HasSuffix(final.Path, path) {
		return errors.New("the server redirects to an address that is not a repository")
	}
	final.RawQuery, final.User = "", nil
	h.base = strings.TrimSuffix(final.String(), path)
	h.redirected = h.redirect(res.Request.URL)
	h.advertisement = bufio.NewReaderSize(res.Body, 64<<10)
	if first, err := h.advertisement.Peek(6); err == nil && string(first[4:]) == "# " {
		if _, err := readPacket(h.advertisement); err != nil { // "# service=…"
			return err
		}
		if _, err := readPacket(h.advertisement); err != nil { // the flush after it
			return err
		}
	}
	return nil
}

func (h *httpSession) advertised() *bufio.Reader { return h.advertisement }

// exchange sends the request with its length if known, since a server behind CGI may require it.
func (h *httpSession) exchange(request io.Reader, size int64, _ bool) (*bufio.Reader, error) {
	res, err := h.do(http.MethodPost, h.base+"/"+h.service, request, size) //nolint:bodyclose // Close closes all of them
	if err != nil {
		return nil, err
	}
	return bufio.NewReaderSize(res.Body, 64<<10), nil
}

func (h *httpSession) do(method, target string, body io.Reader, size int64) (*http.Response, error) {
	ctx, cancel := context.WithCancel(h.ctx)
	h.open = append(h.open, cancel)
	req, err := http.NewRequestWithContext(ctx, method, target, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", "git/terraform-provider-kalypso")
	if h.protocol != "" {
		req.Header.Set("Git-Protocol", h.protocol)
	}
	if body != nil {
		req.ContentLength = size
		req.Header.Set("Content-Type", "application/x-"+h.service+"-request")
		req.Header.Set("Accept", "application/x-"+h.service+"-result")
	}
	answerTimeout := h.answerTimeout
	if method == http.MethodPost && h.service == receivePack {
		answerTimeout = math.MaxInt64 // packs and hooks take time, and the server may already have accepted the push
	}
	timer := time.AfterFunc(answerTimeout, cancel)
	res, err := h.client.Do(req)
	late := !timer.Stop() && h.ctx.Err() == nil
	if err == nil {
		h.open = append(h.open, func() {
			_, _ = io.CopyN(io.Discard, res.Body, 64<<10) // a short rest, so that the connection can be reused
			_ = res.Body.Close()
		})
	}
	switch {
	case late:
		return nil, fmt.Errorf("%w: the server did not begin to answer within %s", ErrUnreachable, answerTimeout)
	case err != nil:
		if request, ok := errors.AsType[*url.Error](err); ok { // without the address, which may be a redirect's target
			err = fmt.Errorf("%w: %w", ErrUnreachable, request.Err)
		}
		return nil, err
	}
	switch {
	case res.StatusCode < 200 || res.StatusCode > 299:
		return nil, h.statusError(res)
	case isSignIn(res):
		return nil, h.signInError(res)
	}
	return res, nil
}

func contentType(res *http.Response) string { return strings.ToLower(res.Header.Get("Content-Type")) }

// isSignIn reports whether a successful answer is a web page, such as to sign in.
func isSignIn(res *http.Response) bool {
	return res.StatusCode == http.StatusNonAuthoritativeInfo ||
		res.StatusCode == http.StatusOK && strings.HasPrefix(contentType(res), "text/html")
}

// signInError returns the error for a web page in place of Git's answer. Azure Repos answers a missing or wrong
// credential with status 203, other servers and proxies with a redirect to a page.
func (h *httpSession) signInError(res *http.Response) error {
	text := fmt.Sprintf("the answer is a web page, such as to sign in (HTTP status %d, %s)", res.StatusCode,
		res.Header.Get("Content-Type"))
	if redirect := h.redirect(res.Request.URL); redirect != "" {
		text = redirect + ": " + text
	}
	return &statusError{kind: ErrUnauthorized, text: text}
}

// maxStatusText bounds what is read of the text of an error, in bytes.
const maxStatusText = 8 << 20

// statusError returns the error for a status. It includes a plain-text body, but never one behind a redirect: a
// malicious redirect could lead to a server that only this machine can reach.
func (h *httpSession) statusError(res *http.Response) error {
	if err := webproxy.Answered(res); err != nil {
		return fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	status := res.StatusCode
	e := &statusError{status: status, text: fmt.Sprintf("HTTP status %d %s", status, http.StatusText(status))}
	switch redirect := h.redirect(res.Request.URL); {
	case redirect != "":
		e.text, e.redirected = redirect+": "+e.text, true
	case strings.HasPrefix(res.Header.Get("Content-Type"), "text/plain"):
		output := h.newOutput()
		_, _ = io.Copy(output, io.LimitReader(res.Body, maxStatusText))
		if text := strings.Join(strings.Fields(strings.Join(output.lines(), " ")), " "); text != "" {
			e.text += ": " + text
		}
	}
	switch res.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired:
		e.kind = ErrUnauthorized
	case http.StatusTemporaryRedirect, http.StatusPermanentRedirect: // net/http cannot send the pack a second time
		e.kind = ErrRedirected
	case http.StatusNotFound, http.StatusGone:
		e.kind = ErrRepoNotFound
	case http.StatusRequestEntityTooLarge:
		e.kind = ErrRequestTooLarge
	case http.StatusInsufficientStorage:
		e.kind = ErrServerFull
	case http.StatusTooManyRequests:
		e.kind, e.busy = ErrRateLimited, true
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		e.kind, e.busy = ErrUnreachable, true
	}
	e.wait, e.asks = clock.RetryAfter(res.Header, time.Time{})
	return e
}

// redirect describes the redirect that a request followed, or returns an empty string.
func (h *httpSession) redirect(u *url.URL) string {
	switch to := requestedRepo(u); {
	case !h.asked.SameServer(to):
		return fmt.Sprintf("after a redirect to %s, where no credential is sent", displayTarget(to))
	case h.asked.Key() != to.Key():
		return "after a redirect to " + displayTarget(to)
	}
	return ""
}

// statusError is an answer with an error status.
type statusError struct {
	kind       error // a sentinel of this package, or nil
	status     int   // of HTTP, or 0
	text       string
	redirected bool // the answer is not from the requested repository

	busy bool // another attempt may succeed
	asks bool // for a wait
	wait time.Duration
}

func (e *statusError) Error() string { return e.text }
func (e *statusError) Unwrap() error { return e.kind }

// stateless returns true: a new process answers each request from the current state of the repository.
func (h *httpSession) stateless() bool { return true }

func (h *httpSession) explain(err error) error {
	if h.ctx.Err() != nil {
		return h.ctx.Err()
	}
	if _, ok := errors.AsType[*statusError](err); !ok && h.redirected != "" { // its text may contain the server's output
		return &statusError{
			kind: kindOf(err), text: h.redirected + ": unusable answer", redirected: true,
			busy: transient(err), wait: -1,
		}
	}
	return err
}

// Close releases the connections: first the bodies of the answers, then the contexts of their requests.
func (h *httpSession) Close() error {
	for _, end := range slices.Backward(h.open) {
		end()
	}
	h.open = nil
	return nil
}

// roundTripper returns the connection pool for certificates. Connections with other certificates must not be reused.
func (c *Client) roundTripper(with *servertls.Config) *http.Transport {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t, ok := c.transports[with]; ok {
		return t
	}
	t := &http.Transport{
		DialContext:           (&net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}).DialContext,
		ForceAttemptHTTP2:     true,
		MaxIdleConns:          10,
		IdleConnTimeout:       90 * time.Second,
		TLSHandshakeTimeout:   15 * time.Second,
		ExpectContinueTimeout: time.Second,
		TLSClientConfig:       with.ForClient(),
	}
	webproxy.Configure(t)
	c.transports[with] = t
	return t
}
