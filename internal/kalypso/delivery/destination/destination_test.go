package destination_test

import (
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
)

func TestCleanPath(t *testing.T) {
	for path, want := range map[string]string{
		"": ".", ".": ".", "./": ".", "a": "a", "./a/": "a", "a//b": "a/b", "a/./b/": "a/b", "a/../b": "b",
		".github/x": ".github/x", "a b": "a b",
	} {
		if got, err := destination.CleanPath(path); err != nil || got != want {
			t.Errorf("%q is %q, %v; want %q", path, got, err, want)
		}
	}
	for _, path := range []string{
		"/", "/a", "..", "../a", "a/../../b", `a\b`, ".git", "a/.GIT/b", "git~1", "a/GIT~1", ".git ", ".g\u200cit",
		".kalypso", "a/.kalypso", "a\x00b",
	} {
		if got, err := destination.CleanPath(path); err == nil {
			t.Errorf("%q is %q", path, got)
		}
	}
}

func TestDestinations(t *testing.T) {
	at := func(path string) destination.Destination {
		return destination.Destination{Repo: "https://acme.io/gitops", Branch: "dev", Path: path}
	}
	for _, test := range []struct {
		a, b   string
		nested bool
	}{
		{"a", "a", true}, {".", "a", true}, {".", ".", true}, {"a", "a/b", true}, {"a/b/c", "a", true},
		{"a", "b", false}, {"a", "ab", false}, {"a/b", "a/c", false}, {"a/b", "b", false},
	} {
		if got := destination.Nested(test.a, test.b); got != test.nested {
			t.Errorf("%q and %q: nested is %t", test.a, test.b, got)
		}
		if got := destination.Nested(test.b, test.a); got != test.nested {
			t.Errorf("%q and %q: nested is %t", test.b, test.a, got)
		}
	}
	for repo, same := range map[string]bool{
		"https://acme.io/gitops": true, "https://ACME.io:443/gitops.git/": true, "https://acme.io/gitops2": false,
		"https://acme.io:8443/gitops": false, "not a URL": false,
	} {
		other := destination.Destination{Repo: repo, Branch: "dev", Path: "a"}
		if got := at("a").Same(other); got != same {
			t.Errorf("%s is the same destination: %t", repo, got)
		}
		other.Branch = "main"
		if at("a").Same(other) {
			t.Errorf("another branch of %s is the same destination", repo)
		}
	}
}
