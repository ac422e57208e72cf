package origin_test

import (
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/origin"
)

// FuzzParse: an origin that is parsed from its text again is the same.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"https://acme.io/a@main:w.yaml#name", "git@acme.io:a@main~via:w.yaml", "https://acme.io/a@" +
			"0123456789012345678901234567890123456789:w/x.yaml", "file:///tmp/a@b:c", "a@b:c#d#e",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		o, ok := origin.Parse(text)
		if !ok {
			return
		}
		if again, ok := origin.Parse(o.String()); !ok || again != o {
			t.Errorf("%q is %#v, and again %#v", text, o, again)
		}
	})
}
