package azure_test

import (
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
)

// writeCA writes the certificate of all httptest servers into a file, and returns its path.
func writeCA() (string, error) {
	s := httptest.NewTLSServer(http.NotFoundHandler())
	defer s.Close()
	file, err := os.CreateTemp("", "azure-ca-")
	if err != nil {
		return "", err
	}
	defer file.Close()
	return file.Name(), pem.Encode(file, &pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
}

// newActions starts a server that issues tokens of jobs as GitHub Actions does, and returns its URL.
func newActions(t *testing.T) string {
	t.Helper()
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer canary-request" ||
			r.URL.Query().Get("audience") != "api://AzureADTokenExchange" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]string{"value": "canary-assertion"})
	}))
	t.Cleanup(s.Close)
	return s.URL
}
