package registry

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/giturl"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/httpapi"
)

// TestPlainHTTP: a registry refers to a token server, to a storage, and to another place for uploads, all on this
// machine and without TLS. Only a registry on this machine may do so, and only with a token server or a storage.
func TestPlainHTTP(t *testing.T) {
	t.Parallel()
	var got atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { got.Add(1) }))
	defer server.Close()
	port := server.URL[strings.LastIndex(server.URL, ":"):]
	for registry, local := range map[string]bool{
		"http://localhost:5000": true, "http://127.0.0.1:5000": true, "https://127.0.0.2:5000": true,
		"https://registry.acme.test": false, "https://10.0.0.1:5000": false, "https://localhost.acme.test": false,
		"https://127.0.0.1.acme.test": false, "https://0.0.0.0": false,
	} {
		at, err := giturl.Parse(registry)
		if err != nil {
			t.Fatal(err)
		}
		r := newRouter(New(nil, httpapi.Access{UserAgent: "test"}), at)
		for _, host := range []string{"127.0.0.1", "localhost", "registry.acme.test"} {
			to := "http://" + host + port
			allowed := local && !strings.Contains(to, "acme")
			request := func(method, path string) *http.Request {
				req, err := http.NewRequestWithContext(t.Context(), method, to+path, nil)
				if err != nil {
					t.Fatal(err)
				}
				return req
			}
			for what, tt := range map[string]struct {
				send    func() (*http.Response, error)
				allowed bool
			}{
				"a token server": {func() (*http.Response, error) {
					return r.RoundTrip(request(http.MethodGet, "/token"))
				}, allowed},
				"a token server, by POST": {func() (*http.Response, error) {
					return r.RoundTrip(request(http.MethodPost, "/token"))
				}, allowed},
				"a storage": {func() (*http.Response, error) {
					from := request(http.MethodGet, "/x").URL
					resp, _, err := r.download(request(http.MethodGet, "/v2/x/blobs/y"), from)
					return resp, err
				}, allowed},
				"the location of an upload": {func() (*http.Response, error) {
					return r.RoundTrip(request(http.MethodPut, "/v2/x/blobs/uploads/y"))
				}, false},
			} {
				before := got.Load()
				resp, err := tt.send()
				if err == nil {
					_ = resp.Body.Close()
				}
				if sent := got.Load() > before; sent != tt.allowed || (err == nil) != tt.allowed {
					t.Errorf("%s names %s at %s: sent %v, want %v; %v", registry, what, to, sent, tt.allowed, err)
				}
				if !tt.allowed && !errors.Is(err, errRealm) && !errors.Is(err, errStorage) && !errors.Is(err, errOtherServer) {
					t.Errorf("%s names %s at %s: %v", registry, what, to, err)
				}
			}
		}
	}
}
