package giturl_test

import (
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/giturl"
)

// TestSame: the URLs in one line name the same repo, and URLs in different lines name different repos.
func TestSame(t *testing.T) {
	repos := [][]string{
		{"https://git.acme.io/acme/gitops", "https://GIT.acme.io:443/acme/gitops.git", "https://git.acme.io/acme/gitops/"},
		{"git@git.acme.io:acme/gitops.git", "ssh://git@git.acme.io/acme/gitops", "ssh://other@git.acme.io:22/acme/gitops"},
		{"/srv/git/gitops.git", "file:///srv/git/gitops", "file:///srv/git/x/../gitops.git/"},
		{"https://git.acme.io/acme/GitOps"},
		{"https://git.acme.io:8443/acme/gitops"},
		{"not a URL"},
		{""},
	}
	for i, urls := range repos {
		for j, others := range repos {
			for _, a := range urls {
				for _, b := range others {
					if same := giturl.Same(a, b); same != (i == j) {
						t.Errorf("%q and %q: same is %t", a, b, same)
					}
				}
			}
		}
	}
}

func TestSameAcrossTransports(t *testing.T) {
	for _, url := range []string{
		"https://github.com/acme/gitops", "https://github.com/acme/gitops.git", "https://github.com/acme/gitops/",
		"https://GitHub.com/Acme/GitOps",
		"https://github.com:443/acme/gitops", "ssh://git@github.com/acme/gitops.git", "git@github.com:acme/gitops.git",
		"http://github.com/acme/gitops",
	} {
		if !giturl.SameAcrossTransports(url, "https://github.com/acme/gitops") ||
			!giturl.SameAcrossTransports("https://github.com/acme/gitops", url) {
			t.Errorf("%s does not count as the same repo", url)
		}
	}
	for _, url := range []string{
		"https://github.com/acme/gitops2", "https://github.com/acme", "https://gitlab.com/acme/gitops",
		"https://github.com:8443/acme/gitops",
		"file:///acme/gitops", "", "acme/gitops",
	} {
		if giturl.SameAcrossTransports(url, "https://github.com/acme/gitops") {
			t.Errorf("%q counts as the same repo", url)
		}
	}
	if giturl.SameAcrossTransports("file:///srv/GitOps", "file:///srv/gitops") ||
		!giturl.SameAcrossTransports("file:///srv/gitops.git/", "/srv/gitops") {
		t.Error("upper and lower case of local paths is ignored, or .git is not")
	}
}
