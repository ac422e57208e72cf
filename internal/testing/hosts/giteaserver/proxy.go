package giteaserver

import (
	_ "embed"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"strings"
	"sync"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/requesttable"
)

const apiPrefix = "/api/v1"

// The requests that the provider may send.
//
//go:embed testdata/openapi.yaml
var description []byte

var requests = requesttable.MustParse(description)

// proxy lies in front of Gitea.
type proxy struct {
	gitea *httputil.ReverseProxy

	mu      sync.Mutex
	traffic map[string]*hostfake.Traffic // by token
}

func newProxy(to http.RoundTripper) *proxy {
	rewrite := func(req *httputil.ProxyRequest) {
		req.Out.URL.Scheme, req.Out.URL.Host, req.Out.Host = "http", req.In.Host, req.In.Host
	}
	return &proxy{
		gitea: &httputil.ReverseProxy{Transport: to, Rewrite: rewrite}, traffic: map[string]*hostfake.Traffic{},
	}
}

// Folder is a folder of the server's address below which Gitea is served too.
const Folder = "/forge"

// trafficOf is the traffic with a token.
func (p *proxy) trafficOf(token string) *hostfake.Traffic {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.traffic[token] == nil {
		p.traffic[token] = &hostfake.Traffic{Check: func(r hostfake.Request) error {
			return requests.Check(r.Method, apiPrefix+r.Path, r.Query, []byte(r.Body))
		}}
	}
	return p.traffic[token]
}

// ServeHTTP implements [http.Handler].
func (p *proxy) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	req.URL.Path, req.URL.RawPath = strings.TrimPrefix(req.URL.Path, Folder), strings.TrimPrefix(req.URL.RawPath, Folder)
	_, token, basic := req.BasicAuth()
	if !basic {
		token = strings.TrimPrefix(req.Header.Get("Authorization"), "Bearer ")
	}
	path, isAPI := strings.CutPrefix(req.URL.EscapedPath(), apiPrefix)
	if !isAPI {
		p.trafficOf(token).RunBefore(req.Method, path)
		p.gitea.ServeHTTP(w, req)
		return
	}
	p.trafficOf(token).Serve(w, req, path, func(answer *httptest.ResponseRecorder, req *http.Request, _ []byte) {
		p.gitea.ServeHTTP(answer, req)
	})
}
