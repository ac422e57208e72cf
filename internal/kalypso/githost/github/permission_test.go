package github

import (
	"net/http"
	"testing"
)

// TestPermissionOf checks that the permission that a request needs is taken from GitHub's header. Without the header,
// it is the permission that an app would request for its token.
func TestPermissionOf(t *testing.T) {
	r := &repo{name: "gitops"}
	asked, err := http.NewRequestWithContext(r.pulls(t.Context()), http.MethodPost, "https://api.github.com", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		header string
		of     *http.Request
		want   string
	}{
		{"pull_requests=write", nil, "pull_requests: write"},
		{"contents=write,pull_requests=write; contents=read", asked, "contents: write, pull_requests: write"},
		{"", asked, "contents: write, pull_requests: write"},
		{"", nil, ""},
	} {
		response := &http.Response{Header: http.Header{}, Request: tt.of}
		response.Header.Set("X-Accepted-GitHub-Permissions", tt.header)
		if got := permissionOf(response); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.header, got, tt.want)
		}
	}
}
