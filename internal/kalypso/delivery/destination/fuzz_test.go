package destination_test

import (
	"path/filepath"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/giturl"
)

// FuzzImportID: what an import ID names is named by the ID that is written for it, if its repo is one. The path leads
// nowhere else.
func FuzzImportID(f *testing.F) {
	for _, id := range []string{
		"dev@https://acme.io/gitops//fleet/dev?ref=dev", "dev@/tmp/a?b//x?ref=a%26b", "@x?ref=y", "dev@git@acme.io:a?ref=a+b",
		"dev@https://acme.io/a//../x?ref=dev", "dev@https://acme.io/a?ref=a&ref=b", "dev@//?ref=%", "dev@file:///a//.?ref=é",
	} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		environment, at, err := destination.ParseImportID(id)
		if err != nil {
			if err.Error() == "" {
				t.Errorf("%q is refused without a reason", id)
			}
			return
		}
		if environment == "" || at.Repo == "" || at.Branch == "" || !filepath.IsLocal(at.Path) {
			t.Errorf("%q is the environment %q at %+v", id, environment, at)
		}
		if _, err := giturl.Parse(at.Repo); err != nil {
			return // the import refuses it
		}
		name, again, err := destination.ParseImportID(at.ImportID(environment, ""))
		if err != nil || name != environment || again != at {
			t.Errorf("%q is %q at %+v, and then %q at %+v: %v", id, environment, at, name, again, err)
		}
	})
}
