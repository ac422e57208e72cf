package httpapi_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/httpapi"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/redact"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostingtest"
)

// TestProxyRefuses: if the proxy refuses the connection, the request fails soon, and the error names the proxy without
// its password.
func TestProxyRefuses(t *testing.T) {
	for _, tc := range []struct {
		scheme           string
		status, requests int
	}{
		{"https", 401, 1}, {"https", 403, 1}, {"https", 407, 1}, {"https", 500, 5}, {"http", 407, 1},
	} {
		requests := 0
		proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			requests++
			http.Error(w, "refused "+r.Header.Get("Proxy-Authorization"), tc.status)
		}))
		for _, name := range []string{"HTTPS_PROXY", "HTTP_PROXY"} {
			t.Setenv(name, strings.Replace(proxy.URL, "://", "://me:canary@", 1))
		}
		t.Setenv("NO_PROXY", "")
		clock := hostingtest.NewClockNow()
		client := httpapi.New(httpapi.Config{
			Access:  httpapi.Access{Clock: clock, Secrets: &redact.Secrets{}},
			Host:    "Host",
			Roots:   []*url.URL{{Scheme: tc.scheme, Host: "api.acme.test", Path: "/"}},
			Message: func([]byte) string { return "" },
			Limited: func(*http.Response, []byte) (time.Time, bool) { return time.Time{}, false },
		}).Client(httpapi.Authorization{
			Credential: func(context.Context) (string, error) { return "token", nil }, Set: httpapi.Bearer,
		})
		ctx, cancel := context.WithDeadline(t.Context(), clock.Now().Add(5*time.Minute))
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, tc.scheme+"://api.acme.test/user", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := client.Do(req)
		if err == nil {
			_ = resp.Body.Close()
		}
		cancel()
		proxy.Close()
		says := fmt.Sprintf("the proxy %s refuses the connection: HTTP status %d", proxy.URL, tc.status)
		if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s, %d: %v", tc.scheme, tc.status, err)
		}
		if requests != tc.requests {
			t.Errorf("%s, %d: %d requests", tc.scheme, tc.status, requests)
		}
	}
}
