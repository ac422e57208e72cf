package giturl_test

import (
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/giturl"
)

// TestParseErrors: an error about a URL does not contain the URL, which may contain a password.
func TestParseErrors(t *testing.T) {
	for _, url := range []string{
		"", "gitops", "./gitops", "../gitops", "ftp://canary/x", "git://canary/x", "https://", "https:///canary",
		"https://user:canary@git.acme.io/x", "https://canary@git.acme.io/x", "ssh://git:canary@git.acme.io/x",
		"git:canary@git.acme.io:x",
		"https://git.acme.io/x?token=canary", "https://git.acme.io/x#canary", "https://git.acme.io:canary/x",
		"https://git.acme.io:99999/canary", "file:canary", "file://canary/x", "ssh://-oProxyCommand=canary/x",
		"https://%zz:canary@x/y",
		"canary..:x", "https://canary../x", "ssh://git@canary...:22/x",
	} {
		at, err := giturl.Parse(url)
		if err == nil {
			t.Errorf("%s: got %v, want an error", url, at)
		} else if strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: the error contains the URL: %v", url, err)
		}
	}
}
