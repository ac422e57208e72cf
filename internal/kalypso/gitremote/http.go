package gitremote

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
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
	base     string // the repository's URL, after redirects
	service  string
	protocol string
	hello    *bufio.Reader
	open     []io.ReadCloser
}

func (c *Client) httpOpener(repo Location, s *served) opener {
	client := &http.Client{
		Transport:     &authenticating{base: c.roundTripper(s), with: s, ask: c.ask},
		CheckRedirect: checkRedirect,
	}
	return func(ctx context.Context, service, protocol string) (session, error) {
		h := &httpSession{ctx: ctx, client: client, base: repo.String(), service: service, protocol: protocol}
		if err := h.greet(); err != nil {
			_ = h.Close()
			return nil, err
		}
		return h, nil
	}
}

// checkRedirect follows the redirects of a GET alone, as Git does, and none
// from https to http.
func checkRedirect(next *http.Request, via []*http.Request) error {
	switch before := via[len(via)-1]; {
	case next.Method != http.MethodGet:
		return errors.New("the server redirects a request that is not the first; use the URL that it redirects to")
	case before.URL.Scheme == schemeHTTPS && next.URL.Scheme != schemeHTTPS:
		return errors.New("the server redirects from https to " + next.URL.Scheme)
	case len(via) >= 10:
		return errors.New("the server redirects without an end")
	}
	return nil
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
	req, err := http.NewRequestWithContext(h.ctx, method, target, body)
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
	res, err := h.client.Do(req)
	if err != nil {
		return nil, err
	}
	h.open = append(h.open, res.Body)
	if res.StatusCode < 200 || res.StatusCode > 299 {
		err := statusError(res)
		if from, to := requested(req.URL), requested(res.Request.URL); from.address() != to.address() {
			err = fmt.Errorf("after a redirect to %s, where no credential is sent: %w", to, err)
		}
		return nil, err
	}
	return res, nil
}

// statusError keeps what the server says where it says it in plain text.
func statusError(res *http.Response) error {
	text := fmt.Sprintf("HTTP status %s", res.Status)
	if strings.HasPrefix(res.Header.Get("Content-Type"), "text/plain") {
		said, _ := io.ReadAll(io.LimitReader(res.Body, 1<<10))
		if said := strings.Join(strings.Fields(string(said)), " "); said != "" {
			text += ": " + said
		}
	}
	switch res.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired:
		return &statusKind{ErrUnauthorized, text}
	case http.StatusNotFound, http.StatusGone:
		return &statusKind{ErrRepoNotFound, text}
	case http.StatusRequestEntityTooLarge:
		return &statusKind{ErrRejected, text}
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return &statusKind{ErrUnreachable, text}
	}
	return errors.New(text)
}

type statusKind struct {
	kind error
	text string
}

func (e *statusKind) Error() string { return e.text }
func (e *statusKind) Unwrap() error { return e.kind }

func (h *httpSession) explain(err error) error {
	if h.ctx.Err() != nil {
		return h.ctx.Err()
	}
	return err
}

// Close frees the connections. What is left of a short answer is read, so that
// the connection can be used again.
func (h *httpSession) Close() error {
	for _, body := range h.open {
		_, _ = io.CopyN(io.Discard, body, 64<<10)
		_ = body.Close()
	}
	h.open = nil
	return nil
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

// authenticating adds a credential to the requests that it serves and to no
// other. It decides for each request anew, so whatever a redirect leads to
// another host, port, scheme or path goes there without.
type authenticating struct {
	base http.RoundTripper
	with *served
	ask  func(context.Context, Location) (username, password string, err error)
}

func (a *authenticating) RoundTrip(req *http.Request) (*http.Response, error) {
	at := requested(req.URL)
	with := &served{fallback: true}
	if a.with != nil && a.with.at.serves(at) {
		with = a.with
	}
	username, password := with.username, with.password
	if with.fallback || with.bearer == "" && password == "" {
		name, word, err := a.ask(req.Context(), at)
		switch {
		case err != nil:
			return nil, err
		case word != "":
			username, password = name, word
		}
	}
	switch {
	case with.bearer != "":
		req = req.Clone(req.Context())
		req.Header.Set("Authorization", "Bearer "+with.bearer)
	case password != "":
		req = req.Clone(req.Context())
		req.SetBasicAuth(username, password)
	}
	return a.base.RoundTrip(req)
}

// requested is the repository that a request is for.
func requested(u *url.URL) Location {
	bare := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	for _, service := range []string{"/info/refs", "/" + uploadPack, "/" + receivePack} {
		bare.Path = strings.TrimSuffix(bare.Path, service)
	}
	loc, err := ParseURL(bare.String())
	if err != nil {
		return Location{}
	}
	return loc
}

// buffered is a request that was put together in memory.
func buffered(b *bytes.Buffer) (io.Reader, int64) { return b, int64(b.Len()) }
