// Package hub fakes a hub for tests: a Kubernetes API server on loopback with TLS, whose lists a handler of the test
// answers. Tests use it for hubs that misbehave, or that have more objects than a real API server could get in a test.
package hub

import (
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
)

// Server is the fake.
type Server struct {
	URL       string
	authority string
}

// New starts a server that describes the group multicluster.x-k8s.io, and lets list answer all other requests. It stops
// when the test ends.
func New(t testing.TB, list http.HandlerFunc) *Server {
	t.Helper()
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/apis/multicluster.x-k8s.io" {
			fmt.Fprint(w, `{"kind":"APIGroup","apiVersion":"v1","preferredVersion":{"version":"v1alpha1"}}`)
			return
		}
		list(w, r)
	}))
	t.Cleanup(s.Close)
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	return &Server{s.URL, base64.StdEncoding.EncodeToString(authority)}
}

// Kubeconfig returns a kubeconfig for a user with a token.
func (s *Server) Kubeconfig(token string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: %q, certificate-authority-data: %s}}]
users: [{name: u, user: {token: %q}}]
contexts: [{name: hub, context: {cluster: c, user: u}}]
current-context: hub
`, s.URL, s.authority, token)
}
