package apiserver

import (
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// NewHub fakes the API server of a hub, whose lists a handler of the test answers. Tests use it for hubs that
// misbehave, or that have more objects than a real API server could get in a test. It describes the group
// multicluster.x-k8s.io, and lets list answer all other requests. It stops when the test ends.
func NewHub(t testing.TB, list http.HandlerFunc) *Server {
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
	return &Server{Host: strings.TrimPrefix(s.URL, "https://"), ca: authority}
}
