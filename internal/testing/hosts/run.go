package hosts

import (
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
)

// Each runs a test on each host.
func Each(t *testing.T, all []Host, test func(t *testing.T, on Host)) {
	t.Helper()
	for _, host := range all {
		t.Run(host.String(), func(t *testing.T) {
			t.Parallel()
			test(t, host)
		})
	}
}

// GitClient returns a client that accesses the repo of a URL with the credential of its host's API.
func GitClient(t testing.TB, host githost.Host, url string) *gitremote.Client {
	t.Helper()
	repo, err := host.Repo(url)
	if err != nil {
		t.Fatal(err)
	}
	user, password, _, err := repo.GitCredential(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	client, err := gitremote.NewClient([]gitremote.Credential{{URL: url, Username: user, Password: password}})
	if err != nil {
		t.Fatal(err)
	}
	return client
}
