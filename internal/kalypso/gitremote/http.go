package gitremote

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
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
)

// dialTimeout bounds how long a connection may take to open.
const dialTimeout = 30 * time.Second

// httpSession speaks Git's smart HTTP: a GET for the greeting, a POST for each
// exchange.
type httpSession struct {
	ctx      context.Context
	client   *http.Client
	asked    Location // the repository that was asked for
	base     string   // the repository's URL, after redirects
	service  string
	protocol string
	patience time.Duration // with the beginning of an answer
	hello    *bufio.Reader
	// redirected says where the repository is, if a redirect led there.
	redirected string
	open       []io.Closer
}

func (c *Client) httpOpener(repo Location, s *served) opener {
	client := &http.Client{
		Transport:     &authenticating{base: c.roundTripper(s), client: c, asked: repo, with: s},
		CheckRedirect: checkRedirect,
	}
	return func(ctx context.Context, service, protocol string) (session, error) {
		h := &httpSession{
			ctx: ctx, client: client, asked: repo, base: repo.String(),
			service: service, protocol: protocol, patience: c.patience,
		}
		if err := h.greet(); err != nil {
			_ = h.Close()
			return nil, err
		}
		return h, nil
	}
}

func (h *httpSession) greet() error {
	const path = "/info/refs"
	res, err := h.do(http.MethodGet, h.base+path+"?service="+h.service, nil, 0) //nolint:bodyclose // Close closes all of them
	if err != nil {
		return err
	}
	if got := res.Header.Get("Content-Type"); got != "application/x-"+h.service+"-advertisement" {
		return fmt.Errorf("the answer is not that of a Git server but of type %q", got)
	}
	final := *res.Request.URL
	if !strings.HasSuffix(final.Path, path) {
		return errors.New("the server redirects to an address that is not that of a repository")
	}
	final.RawQuery, final.User = "", nil
	h.base = strings.TrimSuffix(final.String(), path)
	h.redirected = h.redirect(res.Request.URL)
	h.hello = bufio.NewReaderSize(res.Body, 64<<10)
	if first, err := h.hello.Peek(6); err == nil && string(first[4:]) == "# " {
		if _, err := readPacket(h.hello); err != nil { // "# service=…"
			return err
		}
		if _, err := readPacket(h.hello); err != nil { // the flush after it
			return err
		}
	}
	return nil
}

func (h *httpSession) greeting() *bufio.Reader { return h.hello }

// exchange sends the request with its length where that is known, as a server
// behind CGI may take no other.
func (h *httpSession) exchange(request io.Reader, size int64, _ bool) (*bufio.Reader, error) {
	res, err := h.do(http.MethodPost, h.base+"/"+h.service, request, size) //nolint:bodyclose // Close closes all of them
	if err != nil {
		return nil, err
	}
	return bufio.NewReaderSize(res.Body, 64<<10), nil
}

func (h *httpSession) do(method, target string, body io.Reader, size int64) (*http.Response, error) {
	ctx, cancel := context.WithCancel(h.ctx)
	h.open = append(h.open, closeFunc(cancel))
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
	patience := h.patience
	if method == http.MethodPost && h.service == receivePack {
		patience = math.MaxInt64 // the pack takes its time, and so do hooks; what was sent may have been taken
	}
	hurry := time.AfterFunc(patience, cancel)
	res, err := h.client.Do(req)
	late := !hurry.Stop() && h.ctx.Err() == nil
	if err == nil {
		h.open = append(h.open, answerBody{res.Body})
	}
	switch {
	case late:
		return nil, fmt.Errorf("%w: the server did not begin to answer within %s", ErrUnreachable, patience)
	case err != nil:
		return nil, err
	}
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return nil, h.statusError(res)
	}
	return res, nil
}

// statusError keeps what the server says where it says it in plain text. It
// shows nothing of an answer that a redirect led to: whoever redirects could
// have a server answer that only this machine can reach.
func (h *httpSession) statusError(res *http.Response) error {
	e := &statusError{text: fmt.Sprintf("HTTP status %d %s", res.StatusCode, http.StatusText(res.StatusCode))}
	switch redirect := h.redirect(res.Request.URL); {
	case redirect != "":
		e.text, e.redirected = redirect+": "+e.text, true
	case strings.HasPrefix(res.Header.Get("Content-Type"), "text/plain"):
		said, _ := io.ReadAll(io.LimitReader(res.Body, 1<<10))
		if said := strings.Join(strings.Fields(string(said)), " "); said != "" {
			e.text += ": " + said
		}
	}
	switch res.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired:
		e.kind = ErrUnauthorized
	case http.StatusNotFound, http.StatusGone:
		e.kind = ErrRepoNotFound
	case http.StatusRequestEntityTooLarge:
		e.kind = ErrRejected
	case http.StatusInsufficientStorage:
		e.kind = ErrServerFull
	case http.StatusTooManyRequests:
		e.kind, e.busy, e.wait = ErrRateLimited, true, retryAfter(res.Header)
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		e.kind, e.busy, e.wait = ErrUnreachable, true, retryAfter(res.Header)
	}
	return e
}

// redirect says where a request went that was redirected; empty: it was not.
func (h *httpSession) redirect(u *url.URL) string {
	switch to := requested(u); {
	case !h.asked.sameServer(to):
		return fmt.Sprintf("after a redirect to %s, where no credential is sent", to.shown())
	case h.asked.Key() != to.Key():
		return "after a redirect to " + to.shown()
	}
	return ""
}

// statusError is an answer that is no success.
type statusError struct {
	kind       error // of this package; nil: none
	text       string
	redirected bool // the answer is not that of the repository that was asked for

	busy bool          // another attempt may do
	wait time.Duration // that the server asks for before it; negative: it does not say
}

func (e *statusError) Error() string { return e.text }
func (e *statusError) Unwrap() error { return e.kind }

// stateless: each request is answered by a process of its own, and so from what the repository holds now.
func (h *httpSession) stateless() bool { return true }

func (h *httpSession) explain(err error) error {
	if h.ctx.Err() != nil {
		return h.ctx.Err()
	}
	var answer *statusError
	if h.redirected != "" && !errors.As(err, &answer) { // it may hold the server's words
		return &statusError{
			kind: kindOf(err), text: h.redirected + ": no answer that can be used", redirected: true,
			busy: transient(err), wait: -1,
		}
	}
	return err
}

// Close frees the connections: the bodies of the answers before the contexts of
// their requests.
func (h *httpSession) Close() error {
	for _, c := range slices.Backward(h.open) {
		_ = c.Close()
	}
	h.open = nil
	return nil
}

// closeFunc is a function as a Closer.
type closeFunc func()

func (f closeFunc) Close() error { f(); return nil }

// answerBody is a body of which, if what is left is short, the end is read, so
// that the connection can be used again.
type answerBody struct{ io.ReadCloser }

func (b answerBody) Close() error {
	_, _ = io.CopyN(io.Discard, b.ReadCloser, 64<<10)
	return b.ReadCloser.Close()
}

// roundTripper is the connection pool of a credential, as its certificate
// authority is its own.
func (c *Client) roundTripper(s *served) *http.Transport {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t, ok := c.transports[s]; ok {
		return t
	}
	t := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}).DialContext,
		ForceAttemptHTTP2:     true,
		MaxIdleConns:          10,
		IdleConnTimeout:       90 * time.Second,
		TLSHandshakeTimeout:   15 * time.Second,
		ExpectContinueTimeout: time.Second,
		TLSClientConfig:       &tls.Config{MinVersion: tls.VersionTLS12},
	}
	if s != nil {
		t.TLSClientConfig.RootCAs = s.roots // nil: the system's
	}
	c.transports[s] = t
	return t
}

// buffered is a request that was put together in memory.
func buffered(b *bytes.Buffer) (io.Reader, int64) { return b, int64(b.Len()) }
