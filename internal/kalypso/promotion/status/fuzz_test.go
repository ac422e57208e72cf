package status_test

import (
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion/status"
)

// FuzzImportID: an import ID that is read is the ID of what it names, and names a commit.
func FuzzImportID(f *testing.F) {
	const commit = "0123456789abcdef0123456789abcdef01234567"
	for _, id := range []string{
		"https://acme.io/a@" + commit + "#dev", "git@acme.io:a@" + commit + "#a#b", "a@" + commit + "#b@" + commit + "#c",
		"@" + commit + "#x", "a@0123#x", "a@" + commit + "#", "a@" + commit + "#x\ny",
	} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		repo, commit, name, err := status.ParseImportID(id)
		switch {
		case err != nil && err.Error() == "":
			t.Errorf("%q is refused without a reason", id)
		case err == nil && (repo == "" || name == "" || githost.CheckCommit(commit) != nil ||
			status.ImportID(repo, commit, name) != id):
			t.Errorf("%q is the status %q of %q in %q", id, name, commit, repo)
		}
	})
}
