package giturl_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/giturl"
)

// azureURLs lists, by scheme, all URLs of one repo in Azure Repos.
var azureURLs = map[string][]string{
	"https": {
		"https://dev.azure.com/acme/My%20Project/_git/gitops", "https://dev.azure.com/acme/My Project/_git/gitops",
		"https://DEV.azure.com:443/Acme/my%20project/_GIT/GitOps/", "https://dev.azure.com/acme/My%20Project/_git/gitops.git",
		"https://acme.visualstudio.com/My%20Project/_git/gitops",
		"https://Acme.VisualStudio.com/DefaultCollection/My%20Project/_git/gitops",
		"https://acme.visualstudio.com/defaultcollection/my project/_git/gitops",
	},
	"ssh": {
		"git@ssh.dev.azure.com:v3/acme/My%20Project/gitops", "git@ssh.dev.azure.com:v3/acme/My Project/gitops",
		"ssh://git@ssh.dev.azure.com/v3/acme/My%20Project/gitops",
		"ssh://git@ssh.dev.azure.com:22/v3/Acme/my%20project/GitOps",
		"acme@vs-ssh.visualstudio.com:v3/acme/My%20Project/gitops",
		"ssh://acme@vs-ssh.visualstudio.com/v3/acme/My%20Project/gitops",
	},
}

// notAzure lists URLs of other servers that look like URLs of Azure Repos.
var notAzure = []string{
	"https://dev.azure.com.evil.io/acme/My%20Project/_git/gitops", "https://xdev.azure.com/acme/My%20Project/_git/gitops",
	"https://xvisualstudio.com/My%20Project/_git/gitops", "https://visualstudio.com/My%20Project/_git/gitops",
	"https://acme.visualstudio.com.evil.io/My%20Project/_git/gitops",
	"https://evil.acme.visualstudio.com/My%20Project/_git/gitops",
	"https://acme.xvisualstudio.com/My%20Project/_git/gitops",
	"git@ssh.dev.azure.com.evil.io:v3/acme/My%20Project/gitops", "git@dev.azure.com:v3/acme/My%20Project/gitops",
	"git@acme.visualstudio.com:v3/acme/My%20Project/gitops", "git@github.com:v3/acme/My%20Project/gitops",
	"https://dev.azure.com:8443/acme/My%20Project/_git/gitops",
	"ssh://git@ssh.dev.azure.com:443/v3/acme/My%20Project/gitops",
	"https://ssh.dev.azure.com/v3/acme/My%20Project/gitops", "/acme/My Project/_git/gitops",
}

// notTheRepo lists URLs on Azure's servers that name another repo, or no repo.
var notTheRepo = []string{
	"https://dev.azure.com/acme/My%20Project/_git/other", "https://dev.azure.com/acme/other/_git/gitops",
	"https://dev.azure.com/other/My%20Project/_git/gitops", "https://other.visualstudio.com/My%20Project/_git/gitops",
	"https://dev.azure.com/acme/_git/gitops", "https://dev.azure.com/acme/My%20Project/gitops",
	"https://dev.azure.com/acme", "https://dev.azure.com", "https://acme.visualstudio.com",
	"https://dev.azure.com/acme/x/../My%20Project/_git/gitops",
	"git@ssh.dev.azure.com:v3/acme/My%20Project/other", "git@ssh.dev.azure.com:v3/acme/gitops",
	"git@ssh.dev.azure.com:v2/acme/My%20Project/gitops", "git@ssh.dev.azure.com:acme/My%20Project/gitops",
}

// TestAzureSame: all URLs with the same scheme in azureURLs name the same repo. URLs with different schemes do so only
// across transports. No other URL names this repo.
func TestAzureSame(t *testing.T) {
	all := slices.Concat(azureURLs["https"], azureURLs["ssh"])
	for scheme, urls := range azureURLs {
		for _, a := range urls {
			for _, b := range all {
				if same := giturl.Same(a, b); same != slices.Contains(azureURLs[scheme], b) {
					t.Errorf("%s and %s: same is %t", a, b, same)
				}
				if !giturl.SameAcrossTransports(a, b) {
					t.Errorf("%s and %s are not the same across transports", a, b)
				}
			}
			for _, other := range slices.Concat(notAzure, notTheRepo) {
				if giturl.Same(a, other) || giturl.SameAcrossTransports(a, other) ||
					giturl.SameAcrossTransports(other, a) {
					t.Errorf("%s and %s are the same", a, other)
				}
			}
		}
	}
	if !giturl.Same("https://dev.azure.com/acme/_git/GitOps", "https://acme.visualstudio.com/gitops/_git/gitops") {
		t.Error("a URL without a project does not name the repo with the project's name")
	}
}

// TestAddressKey: each address of a repo in Azure Repos has its own key. Other notations of one address have the same
// key.
func TestAddressKey(t *testing.T) {
	keys := map[string]bool{}
	for _, url := range []string{
		"https://dev.azure.com/acme/p/_git/r", "https://acme.visualstudio.com/p/_git/r", "git@ssh.dev.azure.com:v3/acme/p/r",
	} {
		keys[giturl.AddressKey(url)] = true
	}
	if len(keys) != 3 || giturl.AddressKey("no URL") != "no URL" {
		t.Errorf("got %v", keys)
	}
	if a, b := "ssh://git@git.acme.io:22/acme/r.git", "git@GIT.acme.io:acme/r"; giturl.AddressKey(a) !=
		giturl.AddressKey(b) {
		t.Errorf("the keys of %s and %s differ", a, b)
	}
}

// TestAzureRepo: the host of a URL shows whether it belongs to Azure Repos, and the path names the repo.
func TestAzureRepo(t *testing.T) {
	parse := func(text string) giturl.URL {
		u, err := giturl.Parse(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return u
	}
	for _, text := range slices.Concat(azureURLs["https"], azureURLs["ssh"]) {
		u := parse(text)
		repo, ok := u.AzureRepo()
		repo.Organization, repo.Project = strings.ToLower(repo.Organization), strings.ToLower(repo.Project)
		repo.Repo = strings.ToLower(repo.Repo)
		want := giturl.AzureRepo{Organization: "acme", Project: "my project", Repo: "gitops"}
		if diff := cmp.Diff(want, repo); diff != "" || !ok || !u.IsAzure() || u.Ambiguous() {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
	for _, text := range notAzure {
		if u := parse(text); u.IsAzure() {
			t.Errorf("%s counts as a URL of Azure Repos", text)
		}
	}
	for _, text := range slices.Concat(notAzure, []string{
		"https://dev.azure.com/acme", "https://acme.visualstudio.com", "git@ssh.dev.azure.com:v3/acme/gitops",
	}) {
		if repo, ok := parse(text).AzureRepo(); ok {
			t.Errorf("%s: got %v", text, repo)
		}
	}
	repo, _ := parse("https://dev.azure.com/Acme/_git/GitOps").AzureRepo()
	if diff := cmp.Diff(giturl.AzureRepo{Organization: "Acme", Project: "GitOps", Repo: "GitOps"}, repo); diff != "" {
		t.Errorf("URL without a project (-want +got):\n%s", diff)
	}
}

// TestAzureCommandPath: Azure Repos gets the path as its own URLs have it, with %20 for a space. Other servers get the
// path that the user wrote.
func TestAzureCommandPath(t *testing.T) {
	for text, want := range map[string]string{
		"git@ssh.dev.azure.com:v3/acme/My%20Project/gitops":       "v3/acme/My%20Project/gitops",
		"git@ssh.dev.azure.com:v3/acme/My Project/gitops":         "v3/acme/My%20Project/gitops",
		"ssh://git@ssh.dev.azure.com/v3/acme/My%20Project/gitops": "/v3/acme/My%20Project/gitops",
		"ssh://git@git.acme.io/srv/My%20Project/gitops":           "/srv/My Project/gitops",
		"git@git.acme.io:srv/My%20Project/gitops":                 "srv/My%20Project/gitops",
	} {
		u, err := giturl.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := u.CommandPath(); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

// TestAzureUser: Azure's Clone button copies a URL with a user. It is an error that shows the URL without the user. No
// error shows a password.
func TestAzureUser(t *testing.T) {
	_, err := giturl.Parse("https://canary@dev.azure.com/acme/My%20Project/_git/gitops")
	if !errors.Is(err, giturl.ErrPassword) || strings.Contains(err.Error(), "canary") ||
		!strings.Contains(err.Error(), "use https://dev.azure.com/acme/My%20Project/_git/gitops") {
		t.Errorf("got %v", err)
	}
	for _, text := range []string{
		"https://acme:canary@dev.azure.com/secret/_git/gitops", "https://canary@dev.azure.com.evil.io/secret",
		"https://canary@acme.visualstudio.com/secret", "http://canary@dev.azure.com/secret",
		"https://canary@dev.azure.com/x?secret",
	} {
		if _, err := giturl.Parse(text); err == nil || strings.Contains(err.Error(), "canary") ||
			strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: got %v", text, err)
		}
	}
}

// TestAzureCovers: a credential matches repos in Azure Repos in upper and lower case, but never another server's repo.
func TestAzureCovers(t *testing.T) {
	for _, test := range []struct {
		credential, repo string
		want             bool
	}{
		{"https://dev.azure.com/acme", "https://dev.azure.com/Acme/My%20Project/_git/gitops", true},
		{"https://dev.azure.com/acme/my%20project", "https://dev.azure.com/acme/My%20Project/_git/gitops", true},
		{"https://dev.azure.com/acm", "https://dev.azure.com/acme/My%20Project/_git/gitops", false},
		{"https://dev.azure.com/acme", "https://acme.visualstudio.com/My%20Project/_git/gitops", false},
		{"https://dev.azure.com", "https://dev.azure.com.evil.io/acme/My%20Project/_git/gitops", false},
		{"https://acme.visualstudio.com", "https://ACME.visualstudio.com/My%20Project/_git/gitops", true},
		{"https://git.acme.io/acme", "https://git.acme.io/Acme/gitops", false},
		{"ssh://ssh.dev.azure.com", "git@ssh.dev.azure.com:v3/acme/My%20Project/gitops", true},
	} {
		of, err := giturl.Parse(test.credential)
		repo, errRepo := giturl.Parse(test.repo)
		if err != nil || errRepo != nil {
			t.Fatal(err, errRepo)
		}
		if got := of.Covers(repo); got != test.want {
			t.Errorf("%s covers %s: got %t", test.credential, test.repo, got)
		}
	}
}

// TestFragment: each way to write the URL of a repo contains the fragment.
func TestFragment(t *testing.T) {
	for text, want := range map[string]string{
		"https://dev.azure.com/acme/My%20Project/_git/gitops":           "gitops",
		"git@ssh.dev.azure.com:v3/acme/My%20Project/Our%20GitOps%20(1)": "GitOps",
		"https://github.com/acme/gitops.git":                            "acme/gitops",
	} {
		u, err := giturl.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := u.Fragment(); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}
