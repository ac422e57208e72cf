package githost_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/github"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/httpapi"
)

// TestHosts: the server in a repo's URL decides which host is used. If no host has this server, the error lists the
// servers, and why the repo is not on them.
func TestHosts(t *testing.T) {
	t.Parallel()
	var hosts githost.Hosts
	for _, base := range []string{"https://github.com", "https://git.acme.io"} {
		host, err := github.New(github.Config{Access: httpapi.Access{BaseURL: base}})
		if err != nil {
			t.Fatal(err)
		}
		hosts = append(hosts, host)
	}
	for _, tt := range []struct{ url, want string }{
		{"https://github.com/acme/gitops", "https://github.com/acme/gitops/commit/a"},
		{"git@git.acme.io:acme/gitops.git", "https://git.acme.io/acme/gitops/commit/a"},
		{"https://github.com.evil.io/acme/gitops", "find https://github.com.evil.io/acme/gitops on the GitHub server " +
			"https://github.com or the GitHub server https://git.acme.io: " +
			"the repo is on another host: github.com.evil.io is another server"},
		{"https://github.com/acme", "the path of a GitHub repo is owner/name; github.com is another server"},
	} {
		repo, err := hosts.Repo(tt.url)
		if err == nil {
			if got := repo.CommitURL("a"); got != tt.want {
				t.Errorf("%s: got %s", tt.url, got)
			}
			continue
		}
		var e *githost.Error
		if !errors.As(err, &e) || !errors.Is(err, githost.ErrOtherHost) || !strings.HasSuffix(err.Error(), tt.want) ||
			e.Host != "GitHub" || e.Block != "github" {
			t.Errorf("%s: got %#v\n%v", tt.url, e, err)
		}
	}
	if _, err := hosts.Repo("https://user:canary@github.com/acme/gitops"); err == nil ||
		errors.Is(err, githost.ErrOtherHost) || strings.Contains(err.Error(), "canary") {
		t.Errorf("an invalid URL: %v", err)
	}
}
