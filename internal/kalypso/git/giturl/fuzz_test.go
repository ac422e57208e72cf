package giturl_test

import (
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/giturl"
)

// FuzzParse: a URL is parsed to the same repo again from its normalized text, which has no password.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"https://acme.io/a/b.git", "git@acme.io:a/b", "ssh://git@acme.io:2222/a", "file:///tmp/a", "/tmp/a b",
		"https://acme.io:443/a//b/../c?x#y", "HTTPS://ACME.IO/%41", "https://[::1]:8443/a", "C:\\a", "a:b", "https://u:p@h/a",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		at, err := giturl.Parse(text)
		if err != nil || at.Name() == "" { // a repo without a name
			return
		}
		again, err := giturl.Parse(at.String())
		if err != nil || again.String() != at.String() || again.Key() != at.Key() {
			t.Errorf("%q is %q, and then %q: %v", text, at, again, err)
		}
		if !giturl.Same(text, at.String()) || giturl.AddressKey(text) != giturl.AddressKey(at.String()) {
			t.Errorf("%q and %q are two repos", text, at)
		}
	})
}
