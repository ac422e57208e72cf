// Package registryserver runs Debian's docker-registry for tests, behind a server in the test's process that counts
// requests and can let them fail.
package registryserver

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/crypto/bcrypt"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/programs"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/must"
)

var program = programs.Program{Name: "docker-registry", Add: "apt-get install docker-registry"}

// Server is a registry on loopback.
type Server struct {
	Host string // the host and the port

	config  map[string]any
	tlsWith func(http.Handler) (host string)

	mu       sync.Mutex
	requests map[string]int // by method, since they were read
	fault    func(http.ResponseWriter, *http.Request) bool
}

// Option changes the registry.
type Option func(t testing.TB, s *Server, folder string)

// WithBasic makes the registry require a user and a password.
func WithBasic(user, password string) Option {
	return func(t testing.TB, s *Server, folder string) {
		t.Helper()
		hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
		must.Succeed(t, err)
		file := filepath.Join(folder, "htpasswd")
		programs.WriteFile(t, file, user+":"+string(hash)+"\n")
		s.config["auth"] = map[string]any{"htpasswd": map[string]any{"realm": "registry", "path": file}}
	}
}

// WithTokens makes the registry require tokens of a token server.
func WithTokens(tokens *TokenServer) Option {
	return func(t testing.TB, s *Server, folder string) {
		t.Helper()
		file := filepath.Join(folder, "tokens.pem")
		programs.WriteFile(t, file, tokens.authority.PEM)
		s.config["auth"] = map[string]any{"token": map[string]any{
			"realm": tokens.URL + "/token", "service": service, "issuer": issuer, "rootcertbundle": file,
		}}
	}
}

// WithServer lets the test serve the registry, for example over TLS. serve starts a server with the handler, and
// returns its host and port.
func WithServer(serve func(http.Handler) (host string)) Option {
	return func(_ testing.TB, s *Server, _ string) { s.tlsWith = serve }
}

// Start starts a registry. It stops when the test ends.
func Start(t testing.TB, options ...Option) *Server {
	t.Helper()
	binary := program.Find(t, "docker-registry")
	folder, err := os.MkdirTemp("", "registry") //nolint:usetesting // the path of a socket must be short
	must.Succeed(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	socket := filepath.Join(folder, "socket")
	s := &Server{requests: map[string]int{}, config: map[string]any{
		"version": "0.1", "log": map[string]any{"level": "error", "accesslog": map[string]any{"disabled": true}},
		"storage": map[string]any{
			"filesystem": map[string]any{"rootdirectory": filepath.Join(folder, "data")},
			"delete":     map[string]any{"enabled": true},
		},
		"http": map[string]any{"net": "unix", "addr": socket, "relativeurls": true},
	}}
	for _, option := range options {
		option(t, s, folder)
	}
	config, err := json.Marshal(s.config) // JSON is YAML
	must.Succeed(t, err)
	programs.WriteFile(t, filepath.Join(folder, "config.yml"), string(config))
	process := programs.Run(t, filepath.Join(folder, "log"),
		exec.Command(binary, "serve", filepath.Join(folder, "config.yml")), os.Kill)
	process.AwaitListening(t, "unix", socket)
	s.serve(t, &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: "http", Host: "registry"})
			r.Out.Host = r.In.Host
		},
		Transport: &http.Transport{
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, "unix", socket)
			},
			MaxIdleConnsPerHost: 32,
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	})
	return s
}

func (s *Server) serve(t testing.TB, registry http.Handler) {
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.requests[r.Method]++
		fault := s.fault
		s.mu.Unlock()
		if fault == nil || !fault(w, r) {
			registry.ServeHTTP(w, r)
		}
	})
	if s.tlsWith != nil {
		s.Host = s.tlsWith(handler)
		return
	}
	front := httptest.NewServer(handler)
	t.Cleanup(front.Close)
	s.Host = strings.TrimPrefix(front.URL, "http://")
}

// Fail lets fault answer requests before the registry gets them. If fault returns false, the registry answers the
// request. If fault is nil, the registry answers all requests.
func (s *Server) Fail(fault func(http.ResponseWriter, *http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = fault
}

// Requests returns the number of requests since the last call, by method.
func (s *Server) Requests() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.requests
	s.requests = map[string]int{}
	return found
}

// Cut breaks the connection of a request after the server has read a part of the body.
func Cut(w http.ResponseWriter, r *http.Request) {
	_, _ = r.Body.Read(make([]byte, 100))
	panic(http.ErrAbortHandler)
}
