package gitremote

import (
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/giturl"
)

// TestLocate: the mirror with the longest matching prefix is used, where whole segments are compared. No repo's name
// leads to a place outside of its mirror.
func TestLocate(t *testing.T) {
	mirrors, errs := ParseMirrors(map[string]string{
		"https://github.com/":             "https://mirror.acme.io/github/",
		"https://GitHub.com:443/acme":     "/srv/mirror/acme",
		"https://github.com/acme/fleet":   "ssh://git@mirror.acme.io/~/fleet.git",
		"git@github.com:":                 "git@mirror.acme.io:",
		"ssh://git@github.com/acme/plane": "mirror.acme.io:planes/",
		"https://dev.azure.com":           "ssh://mirror.acme.io",
		"/srv/git":                        "file:///srv/other",
	})
	if errs != nil {
		t.Fatal(errs)
	}
	for repo, want := range map[string]string{
		"https://github.com/flux/flux.git":       "https://mirror.acme.io/github/flux/flux.git",
		"https://GITHUB.com/flux/flux/":          "https://mirror.acme.io/github/flux/flux",
		"https://github.com/acme/app.git":        "file:///srv/mirror/acme/app.git",
		"https://github.com/acme-evil/app":       "https://mirror.acme.io/github/acme-evil/app",
		"https://github.com/acme/fleet.git":      "ssh://git@mirror.acme.io/~/fleet.git",
		"https://github.com/acme/fleet-2":        "file:///srv/mirror/acme/fleet-2",
		"https://github.com.evil.io/acme/app":    "https://github.com.evil.io/acme/app",
		"https://github.com:8443/acme/app":       "https://github.com:8443/acme/app",
		"https://github.com/acme/../../etc":      "https://github.com/acme/../../etc",
		"https://github.com/acme/%2e%2e/etc":     "https://github.com/acme/../etc",
		"https://github.com/acme/%252e%252e/etc": "https://github.com/acme/%252e%252e/etc",
		`https://github.com/acme/..\etc`:         `https://github.com/acme/..%5Cetc`,
		"http://github.com/acme/app":             "http://github.com/acme/app",
		"git@github.com:acme/app.git":            "ssh://git@mirror.acme.io/acme/app.git",
		"ssh://me@github.com/acme/plane/a":       "ssh://mirror.acme.io/planes/a",
		"https://dev.azure.com/acme/p/_git/app":  "ssh://mirror.acme.io/acme/p/_git/app",
		"/srv/git/a.git":                         "file:///srv/other/a.git",
		"/srv/git/../b.git":                      "file:///srv/b.git",
		"/srv/github":                            "file:///srv/github",
	} {
		name, err := giturl.Parse(repo)
		if err != nil {
			t.Fatalf("%s: %v", repo, err)
		}
		if got := mirrors.locate(name).String(); got != want {
			t.Errorf("%s:\n got %s\nwant %s", repo, got, want)
		}
	}
	// A path relative to the SSH user's home stays relative, and an absolute one stays absolute.
	for repo, want := range map[string]string{
		"git@github.com:acme/app.git":   "acme/app.git",
		"git@github.com:acme/plane/a":   "planes/a",
		"https://dev.azure.com/acme":    "/acme",
		"https://github.com/acme/fleet": "/~/fleet.git",
	} {
		name, _ := giturl.Parse(repo)
		if got := mirrors.locate(name).Path; got != want {
			t.Errorf("path of %s: got %s, want %s", repo, got, want)
		}
	}
}
