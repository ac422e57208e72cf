package kubernetes_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
)

// serveCluster starts a server that answers as the API server of a cluster, and returns its URL. answer returns the
// body for a path. Without a body, the path is not found.
func serveCluster(t testing.TB, answer func(http.ResponseWriter, string) []byte) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		text := answer(w, r.URL.Path)
		if text == nil {
			w.WriteHeader(http.StatusNotFound)
			text = []byte(`{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404}`)
		}
		_, _ = w.Write(text)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// groupAnswer returns the API server's answer about a group of custom resources with one version.
func groupAnswer(t testing.TB, name, version string) []byte {
	t.Helper()
	served := map[string]any{"groupVersion": name + "/" + version, "version": version}
	return answer(t, map[string]any{
		"kind": "APIGroup", "apiVersion": "v1", "name": name, "versions": []any{served}, "preferredVersion": served,
	})
}

// listAnswer returns the API server's answer with a list of objects.
func listAnswer(t testing.TB, kind string, items ...map[string]any) []byte {
	t.Helper()
	return answer(t, map[string]any{
		"apiVersion": "v1", "kind": kind + "List", "metadata": map[string]any{}, "items": items,
	})
}

func answer(t testing.TB, v map[string]any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Error(err) // not Fatal, since a server may call this
	}
	return text
}
