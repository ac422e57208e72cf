package gitlabfake

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestSpec: a request or an answer that differs from the table of requests is a problem.
func TestSpec(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ method, path, body, want string }{
		{"GET", "/api/v4/projects/acme%2Fgitops", "", ""},
		{"DELETE", "/api/v4/projects/3", "", "is not in the table"},
		{"GET", "/api/v4/projects/3/merge_requests?state=opened&source_branch=x", "", ""},
		{"GET", "/api/v4/projects/3/merge_requests?head=x", "", "query head is unknown"},
		{"GET", "/api/v4/projects/3/merge_requests?per_page=many", "", "query per_page"},
		{"POST", "/api/v4/projects/3/statuses/abc", `{"state": "success", "name": "dev"}`, ""},
		{"POST", "/api/v4/projects/3/statuses/abc", `{"state": "succeeded"}`, "at '/state'"},
		{"POST", "/api/v4/projects/3/statuses/abc", `{"context": 1}`, "at '/context'"},
		{"PUT", "/api/v4/projects/3/merge_requests/1", `{"body": "x"}`, "'body' not allowed"},
	} {
		req := httptest.NewRequest(tt.method, tt.path, http.NoBody)
		var got string
		if err := requests.Check(tt.method, req.URL.EscapedPath(), req.URL.RawQuery, []byte(tt.body)); err != nil {
			got = err.Error()
		}
		if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s %s %s: %q, want %q", tt.method, tt.path, tt.body, got, tt.want)
		}
	}
	err := requests.CheckAnswer("GET", "/api/v4/user", http.StatusOK, []byte(`{"id": 1, "username": "ann"}`))
	if err != nil {
		t.Errorf("a good answer has problems: %v", err)
	}
	if requests.CheckAnswer("GET", "/api/v4/user", http.StatusOK, []byte(`{"id": "one", "username": "ann"}`)) == nil {
		t.Error("an answer with another type has none")
	}
}
