package source

import "testing"

// TestDisambiguateAbsolutePath: disambiguate also ends if a path is absolute, which is invalid.
func TestDisambiguateAbsolutePath(t *testing.T) {
	t.Parallel()
	one := &Location{Repo: "https://acme.io/a", Branch: "main", Path: "/x", Commit: "1", name: "one"}
	two := &Location{Repo: "https://acme.io/a", Branch: "main", Path: "/", Commit: "2", name: "two"}
	disambiguate([]*Location{one, two})
	if one.Via != "one" || two.Via != "two" {
		t.Errorf("nested folders at two commits are named %q and %q", one.Via, two.Via)
	}
}
