package httpapi_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/httpapi"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/redact"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostingtest"
)

// answer answers one request.
type answer func(w http.ResponseWriter, r *http.Request)

func status(code int, body string, headers ...string) answer {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(code)
		fmt.Fprint(w, body)
	}
}

func ok(w http.ResponseWriter, r *http.Request) { status(200, "fine")(w, r) }

// dropped closes the connection without an answer.
func dropped(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// incomplete closes the connection in the middle of an answer.
func incomplete(w http.ResponseWriter, r *http.Request) {
	status(200, "fi", "Content-Length", "4")(w, r)
}

func echo(w http.ResponseWriter, r *http.Request) {
	status(400, "no use for "+r.Header.Get("X-Key"))(w, r)
}

// host is a server whose API is below /api/. It answers the requests in order, and repeats the last answer.
type host struct {
	*httptest.Server
	clock   *hostingtest.Clock
	secrets redact.Secrets
	api     *httpapi.API

	mu      sync.Mutex
	answers []answer
	got     []string // method, path, key and body of the requests
}

func newHost(t *testing.T, answers ...answer) *host {
	t.Helper()
	h := &host{answers: answers, clock: hostingtest.NewClock(time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC))}
	h.Server = httptest.NewServer(http.HandlerFunc(h.serve))
	t.Cleanup(h.Close)
	root, err := url.Parse(h.URL + "/api/")
	if err != nil {
		t.Fatal(err)
	}
	h.api = httpapi.New(httpapi.Config{
		Access:  httpapi.Access{Clock: h.clock, Secrets: &h.secrets},
		Host:    "Forge",
		Roots:   []*url.URL{root},
		Message: func(body []byte) string { return string(body) }, RawRefusals: true,
		Limited: func(resp *http.Response, _ []byte) (time.Time, bool) {
			reset, err := time.Parse(time.RFC3339, resp.Header.Get("RateLimit-Ends"))
			if err != nil {
				reset = time.Time{}
			}
			return reset, resp.StatusCode == http.StatusTooManyRequests
		},
		IsSignIn: func(resp *http.Response) bool {
			return resp.StatusCode == http.StatusNonAuthoritativeInfo || strings.Contains(resp.Header.Get("Location"), "_signin")
		},
	})
	return h
}

func (h *host) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	h.mu.Lock()
	h.got = append(h.got, fmt.Sprintf("%s %s %s %s", r.Method, r.URL.Path, r.Header.Get("X-Key"), body))
	next := h.answers[0]
	if len(h.answers) > 1 {
		h.answers = h.answers[1:]
	}
	h.mu.Unlock()
	next(w, r)
}

// keys is a source of credentials. It issues "canary1", and a new one after each rejection: "canary2" and so on.
type keys struct{ rejected []string }

func (k *keys) auth() httpapi.Authorization {
	return httpapi.Authorization{
		Credential: func(context.Context) (string, error) { return fmt.Sprintf("canary%d", len(k.rejected)+1), nil },
		Renew:      func(rejected string) { k.rejected = append(k.rejected, rejected) },
		Set:        func(h http.Header, key string) { h.Set("X-Key", key) },
	}
}

// received is the response that the client returns.
type received struct {
	status int
	header http.Header
	text   string
}

// ask sends a POST to the API, with a deadline after an hour by the host's clock.
func (h *host) ask(t *testing.T, auth httpapi.Authorization) (received, error) {
	t.Helper()
	ctx, cancel := context.WithDeadline(t.Context(), h.clock.Now().Add(time.Hour))
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.URL+"/api/x", strings.NewReader("text"))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := h.api.Client(auth).Do(req)
	if err != nil {
		return received{}, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return received{resp.StatusCode, resp.Header, string(body)}, nil
}

// TestFaults: after a temporary failure, the whole request is sent again with the credential, after the time that the
// host asks for. Any other response is returned at once, as an answer or an error.
func TestFaults(t *testing.T) {
	t.Parallel()
	const canary = "POST /api/x canary1 text"
	again := func(n int, last ...string) (all []string) {
		for range n {
			all = append(all, canary)
		}
		return append(all, last...)
	}
	s := time.Second
	for name, tt := range map[string]struct {
		answers []answer
		waits   []time.Duration
		got     []string
		status  int    // the status of the answer
		kind    error  // the kind of the error
		text    string // a part of the answer or the error
	}{
		"success":             {[]answer{ok}, nil, again(1), 200, nil, "fine"},
		"dropped connections": {[]answer{dropped, dropped, ok}, []time.Duration{s, 2 * s}, again(3), 200, nil, "fine"},
		"incomplete answer":   {[]answer{incomplete, ok}, []time.Duration{s}, again(2), 200, nil, "fine"},
		"502":                 {[]answer{status(502, ""), ok}, []time.Duration{s}, again(2), 200, nil, "fine"},
		"503 with Retry-After": {[]answer{status(503, "", "Retry-After", "17"), ok}, []time.Duration{17 * s}, again(2), 200,
			nil,
			"fine"},
		"rate limit": {[]answer{status(429, "slow"), ok}, []time.Duration{60 * s}, again(2), 200, nil,
			"fine"},
		"rate limit with Retry-After": {[]answer{status(429, "", "Retry-After", "5"), ok}, []time.Duration{5 * s}, again(2),
			200, nil, "fine"},
		"rate limit with its end": {[]answer{status(429, "", "RateLimit-Ends", "2100-01-01T00:00:09Z"), ok},
			[]time.Duration{10 * s}, again(2), 200, nil, "fine"},
		"rate limit beyond the deadline": {[]answer{status(429, "slow down", "Retry-After", "4000")}, nil, again(1), 0,
			githost.ErrRateLimited,
			`ask Forge: the host's rate limit lasts beyond the timeout: "slow down" (HTTP 429)`},
		"rejected request":           {[]answer{status(422, "no")}, nil, again(1), 422, nil, "no"},
		"answer with the credential": {[]answer{echo}, nil, again(1), 400, nil, "no use for (secret)"},
		"answer that is too large": {[]answer{status(200, strings.Repeat("x", 64<<20+1))}, nil, again(1), 0,
			githost.ErrRejected,
			"the answer is larger than 64 MiB"},
		"expired credential": {[]answer{status(401, "who?"), ok}, nil, again(1, "POST /api/x canary2 text"), 200, nil,
			"fine"},
		"invalid credential": {[]answer{status(401, "who?")}, nil, again(1, "POST /api/x canary2 text"), 401, nil, "who?"},
		"sign-in page, invalid credential": {[]answer{status(203, "<html>")}, nil, again(1, "POST /api/x canary2 text"), 0,
			githost.ErrUnauthenticated,
			"ask Forge: the host does not accept the credential (HTTP 203): the server answers with a sign-in page"},
		"sign-in page, expired credential": {[]answer{status(203, "<html>"), ok}, nil, again(1, "POST /api/x canary2 text"),
			200,
			nil, "fine"},
		"redirect to a sign-in page": {[]answer{status(302, "", "Location", "https://login.acme.io/_signin")}, nil,
			again(1, "POST /api/x canary2 text"), 0, githost.ErrUnauthenticated, "(HTTP 302)"},
		"redirect in the API": {[]answer{status(301, "", "Location", "/api/y"), ok}, nil,
			again(1, "POST /api/y canary1 text"), 200, nil,
			"fine"},
		"redirect outside the API": {[]answer{status(301, "", "Location", "/apis")}, nil, again(1), 0, githost.ErrRejected,
			"outside its API"},
		"redirect to itself": {[]answer{status(307, "", "Location", "/api/x")}, nil, again(4), 0, githost.ErrRejected,
			"more than 3 times"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHost(t, tt.answers...)
			h.secrets.Add("canary1", "canary2")
			got, err := h.ask(t, (&keys{}).auth())
			if err != nil {
				got.text = err.Error()
			}
			if !errors.Is(err, tt.kind) || got.status != tt.status || !strings.Contains(got.text, tt.text) ||
				strings.Contains(got.text, "canary") {
				t.Errorf("status %d, %.300q, %v", got.status, got.text, err)
			}
			if diff := cmp.Diff(tt.got, h.got); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.waits, h.clock.Waited()); diff != "" {
				t.Errorf("waits (-want +got):\n%s", diff)
			}
		})
	}
}

// TestDelayAfterSuccess: a successful answer may have Retry-After. Then no client of the API sends a request before
// that time, and a request that would wait beyond its deadline fails at once.
func TestDelayAfterSuccess(t *testing.T) {
	t.Parallel()
	h := newHost(t, status(200, "slower", "Retry-After", "30"), ok, status(200, "much slower", "Retry-After", "3601"), ok)
	var first, second keys
	for i, want := range []struct {
		auth  httpapi.Authorization
		text  string
		waits []time.Duration
	}{{first.auth(), "slower", nil}, {second.auth(), "fine", []time.Duration{30 * time.Second}},
		{first.auth(), "much slower", nil}} {
		got, err := h.ask(t, want.auth)
		if waits := h.clock.Waited(); err != nil || got.text != want.text || !slices.Equal(waits, want.waits) {
			t.Errorf("request %d: %q, %v, waited %v", i, got.text, err, waits)
		}
	}
	if _, err := h.ask(t, second.auth()); !errors.Is(err, githost.ErrRateLimited) {
		t.Errorf("a delay beyond the deadline: %v", err)
	}
	if len(h.got) != 3 {
		t.Errorf("the server got %q", h.got)
	}
}

// TestDelayByServer: if a host has several servers, the answer of one delays only requests to this server, also after a
// redirect.
func TestDelayByServer(t *testing.T) {
	t.Parallel()
	second := newHost(t, status(200, "slower", "Retry-After", "30"), ok)
	first := newHost(t, status(307, "", "Location", second.URL+"/api/x"), ok,
		status(307, "", "Location", second.URL+"/api/x"))
	first.api.Roots = append(first.api.Roots, second.api.Roots...)
	for i, waits := range []int{0, 0, 1} {
		_, err := first.ask(t, (&keys{}).auth())
		if waited := first.clock.Waited(); err != nil || len(waited) != waits {
			t.Errorf("request %d: %v, waited %v", i, err, waited)
		}
	}
	if len(first.got) != 3 || len(second.got) != 2 {
		t.Errorf("the servers got %q and %q", first.got, second.got)
	}
}

// TestHiddenHeaders: headers that libraries would act on, such as a rate limit, are removed from answers.
func TestHiddenHeaders(t *testing.T) {
	t.Parallel()
	for _, code := range []int{200, 404} {
		h := newHost(t, status(code, "", "X-TFS-Session", "1", "X-RateLimit-Remaining", "0", "X-Other", "kept"))
		got, err := h.ask(t, (&keys{}).auth())
		if err != nil {
			t.Fatal(err)
		}
		if got.header.Get("X-TFS-Session") != "" || got.header.Get("X-RateLimit-Remaining") != "" ||
			got.header.Get("X-Other") != "kept" {
			t.Errorf("%d: %v", code, got.header)
		}
	}
}

// TestHeader: a host chooses the header for the credential. Without a credential, the request has no such header.
func TestHeader(t *testing.T) {
	t.Parallel()
	for credential, want := range map[string]string{"canary": "Basic OmNhbmFyeQ==", "": ""} {
		h := newHost(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Header.Get("Authorization")) })
		got, err := h.ask(t, httpapi.Authorization{
			Credential: func(context.Context) (string, error) { return credential, nil },
			Set: func(h http.Header, c string) {
				h.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(":"+c)))
			},
		})
		if err != nil || got.text != want {
			t.Errorf("%q: got %q, %v", credential, got.text, err)
		}
	}
}

// TestAnswerWithTextAfterItsJSON: an answer with text after its JSON can't be used.
func TestAnswerWithTextAfterItsJSON(t *testing.T) {
	for body, usable := range map[string]bool{
		`{"a": 1}`: true, "[1, 2]\n": true, "\ufeff{}\r\n": true, "": true, "<html>": true, "{broken": true, `"text" x`: true,
		`{"a": 1} x`: false, `{"a": 1}{"a": 2}`: false, "[]]": false, "[1]\n[2]": false, "\ufeff{} 1": false,
	} {
		if err := httpapi.Null(nil, []byte(body)); (err == nil) != usable {
			t.Errorf("%q: %v", body, err)
		}
	}
}
