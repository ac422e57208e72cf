package gitremote_test

import (
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitremote"
)

func TestSameRepo(t *testing.T) {
	for _, url := range []string{
		"https://github.com/acme/gitops", "https://github.com/acme/gitops.git", "https://github.com/acme/gitops/",
		"https://GitHub.com/Acme/GitOps",
		"https://github.com:443/acme/gitops", "ssh://git@github.com/acme/gitops.git", "git@github.com:acme/gitops.git",
		"http://github.com/acme/gitops",
	} {
		if !gitremote.SameRepo(url, "https://github.com/acme/gitops") ||
			!gitremote.SameRepo("https://github.com/acme/gitops", url) {
			t.Errorf("%s is another repo", url)
		}
	}
	for _, url := range []string{
		"https://github.com/acme/gitops2", "https://github.com/acme", "https://gitlab.com/acme/gitops",
		"https://github.com:8443/acme/gitops",
		"file:///acme/gitops", "", "acme/gitops",
	} {
		if gitremote.SameRepo(url, "https://github.com/acme/gitops") {
			t.Errorf("%q is the same repo", url)
		}
	}
	if gitremote.SameRepo("file:///srv/GitOps", "file:///srv/gitops") ||
		!gitremote.SameRepo("file:///srv/gitops.git/", "/srv/gitops") {
		t.Error("paths of this machine have their case")
	}
}
