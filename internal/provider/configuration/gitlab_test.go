package configuration

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// TestForPublicGitLab: the environment's token is for gitlab.com, unless a variable names another server.
func TestForPublicGitLab(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, value string
		want        bool
	}{
		{"", "", true},
		{"GITLAB_BASE_URL", "https://gitlab.com/api/v4/", true},
		{"GITLAB_HOST", "gitlab.com", true}, {"GITLAB_HOST", "https://GitLab.com", true},
		{"CI_SERVER_URL", "https://gitlab.com", true},
		{"GITLAB_BASE_URL", "https://gitlab.acme.io/api/v4", false},
		{"GITLAB_HOST", "gitlab.acme.io", false}, {"GITLAB_HOST", "gitlab.com.acme.io", false},
		{"GITLAB_HOST", "gitlab.com:8443", false}, {"GITLAB_HOST", "gitlab.com@evil.io", false},
		{"CI_SERVER_URL", "https://xgitlab.com", false}, {"CI_SERVER_URL", "://", false},
	} {
		got := forPublicGitLab(func(name string) string { return map[string]string{tt.name: tt.value}[name] })
		if got != tt.want {
			t.Errorf("%s=%s: %v", tt.name, tt.value, got)
		}
	}
}

// hostBlocks reads hosts from blocks with a token and a base_url. An empty text is null.
func hostBlocks(t *testing.T, blocks map[string][2]string) ([]hostSettings, problem.Problems) {
	t.Helper()
	text := func(s string) attr.Value {
		switch {
		case s == "":
			return types.StringNull()
		case unknown.Is(s):
			return types.StringUnknown()
		}
		return types.StringValue(s)
	}
	arguments := map[string]attr.Value{}
	for name, b := range blocks {
		arguments[name] = types.ObjectValueMust(
			map[string]attr.Type{"token": types.StringType, "base_url": types.StringType},
			map[string]attr.Value{"token": text(b[0]), "base_url": text(b[1])})
	}
	var ps problem.Problems
	return readHosts(tfvalue.Decoder{Arguments: arguments, Problems: &ps}, nil), ps
}

// TestHostLogins: the credential of a host is the login with Git over HTTPS on its own server. No other server gets it.
func TestHostLogins(t *testing.T) {
	t.Setenv("GITHUB_TOKEN", "github-environment")
	t.Setenv("GITLAB_TOKEN", "gitlab-environment")
	t.Setenv("AZDO_PERSONAL_ACCESS_TOKEN", "azure-environment")
	t.Setenv("AZDO_ORG_SERVICE_URL", "https://dev.azure.com/acme")
	for _, name := range append(gitlabServerVariables, "SYSTEM_ACCESSTOKEN", "SYSTEM_COLLECTIONURI") {
		t.Setenv(name, "")
	}
	const none, tfs = "", "https://tfs.acme.io/tfs/Main"
	type blocks map[string][2]string
	for _, tt := range []struct {
		blocks     blocks
		repo, want string
	}{
		{nil, "https://gitlab.com/acme/gitops", "oauth2:gitlab-environment"},
		{nil, "https://github.com/acme/gitops", "x-access-token:github-environment"},
		{nil, "https://gitlab.acme.io/acme/gitops", none},
		{blocks{"gitlab": {"own", ""}}, "https://gitlab.com/acme/sub/gitops.git", "oauth2:own"},
		{blocks{"gitlab": {"own", "https://gitlab.acme.io"}}, "https://gitlab.acme.io/acme/gitops", "oauth2:own"},
		{blocks{"gitlab": {"own", "https://gitlab.acme.io"}}, "https://gitlab.com/acme/gitops", none},
		{blocks{"gitlab": {"", "https://gitlab.acme.io"}}, "https://gitlab.acme.io/acme/gitops", none},
		{blocks{"gitlab": {"own", "https://acme.io/git"}}, "https://acme.io/git/acme/gitops", "oauth2:own"},
		{blocks{"gitlab": {"own", "https://acme.io/git"}}, "https://acme.io/other/gitops", none},
		{blocks{"gitlab": {"own", "https://acme.io/git/"}, "github": {"hub", "https://acme.io/hub"}},
			"https://acme.io/hub/acme/gitops", "x-access-token:hub"},
		{blocks{"gitlab": {"own", ""}}, "https://gitlab.com.acme.io/acme/gitops", none},
		{blocks{"gitlab": {"own", ""}}, "https://xgitlab.com/acme/gitops", none},
		{blocks{"gitlab": {"own", ""}}, "https://gitlab.com:8443/acme/gitops", none},
		{blocks{"gitlab": {"own", ""}}, "http://gitlab.com/acme/gitops", none},
		{blocks{"azure_devops": {"", "https://tfs.acme.io/c"}}, "https://dev.azure.com/acme/p/_git/gitops", none},
		{nil, "https://dev.azure.com/Acme/My%20Project/_git/gitops", "kalypso:azure-environment"},
		{nil, "https://acme.visualstudio.com/p/_git/gitops", "kalypso:azure-environment"},
		{blocks{"azure_devops": {"own", ""}}, "https://dev.azure.com/other/p/_git/gitops", "kalypso:own"},
		{blocks{"azure_devops": {"own", ""}}, "https://dev.azure.com.evil.io/acme/p/_git/gitops", none},
		{blocks{"azure_devops": {"own", ""}}, "https://xvisualstudio.com/acme/p/_git/gitops", none},
		{blocks{"azure_devops": {"own", ""}}, "http://dev.azure.com/acme/p/_git/gitops", none},
		{blocks{"azure_devops": {"own", ""}}, "https://gitlab.acme.io/acme/p/_git/gitops", none},
		{blocks{"azure_devops": {"own", tfs}}, tfs + "/p/_git/r", "kalypso:own"},
		{blocks{"azure_devops": {"own", tfs}}, "https://tfs.acme.io/tfs/Other/p/_git/r", none},
		{blocks{"azure_devops": {"own", tfs}}, "https://dev.azure.com/acme/p/_git/r", none},
	} {
		hosts, ps := hostBlocks(t, tt.blocks)
		if len(ps) > 0 {
			t.Fatal(ps)
		}
		data := &Data{}
		data.setHosts(hosts)
		login, err := data.gitLogin(t.Context(), tt.repo, gitremote.Login{})
		got := none
		if !login.IsZero() {
			got = login.Username + ":" + login.Password
		}
		if got != tt.want || err != nil || login.Bearer != "" {
			t.Errorf("%v: %s gets %q (%v), want %q", tt.blocks, tt.repo, got, err, tt.want)
		}
		if data.HasCredential(tt.repo) != (tt.want != none) {
			t.Errorf("%v: hasCredential of %s is wrong", tt.blocks, tt.repo)
		}
	}
}

// TestHostBlocks: two blocks with the same server are an error at both blocks, even if they write its URL differently.
// If a value is unknown, its host is unknown, without an error.
func TestHostBlocks(t *testing.T) {
	t.Parallel()
	type blocks map[string][2]string
	for _, tt := range []struct {
		blocks  blocks
		errors  int
		unknown bool
	}{
		{blocks{"github": {"", "https://acme.io/"}, "gitlab": {"", "https://ACME.io/api/v4"}}, 2, false},
		{blocks{"github": {"", "https://gitlab.com"}}, 2, false},
		{blocks{"github": {"", "https://acme.io/a"}, "gitlab": {"", "https://acme.io/b"}}, 0, false},
		{blocks{"gitlab": {unknown.Text, "https://acme.io"}}, 0, true},
		{blocks{"github": {"x", "https://acme.io"}, "gitlab": {"x", unknown.Text}}, 0, true},
	} {
		hosts, ps := hostBlocks(t, tt.blocks)
		anyUnknown := false
		for _, h := range hosts {
			anyUnknown = anyUnknown || h.unknown
		}
		if len(ps) != tt.errors || anyUnknown != tt.unknown {
			t.Errorf("%v: unknown is %v, %v", tt.blocks, anyUnknown, ps)
		}
	}
}
