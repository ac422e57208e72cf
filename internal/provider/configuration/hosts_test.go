package configuration

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// TestHostDiagnostics: a diagnostic names the host that returned the error, and the block that configures this host.
func TestHostDiagnostics(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		kind            error
		summary, detail string
	}{
		{githost.ErrOtherHost, "Repo is on no configured host", "base_url in forge of the provider"},
		{githost.ErrUnauthenticated, "Forge does not accept the credential", "the credential in forge of the provider"},
		{githost.ErrForbidden, "Forge denies the request", "Grant the key all."},
		{githost.ErrNotVisible, "Repo not found, or not visible", "Forge gives the same answer for both"},
		{githost.ErrBranchNotFound, "Forge has not seen the push yet", "Apply again"},
		{githost.ErrRateLimited, "Forge's rate limit", "raise timeouts"},
		{githost.ErrUnavailable, "Forge can't be reached", "base_url in forge of the provider"},
		{githost.ErrRejected, "Forge refused", "Fix the problem that Forge reports"},
	} {
		var diags diag.Diagnostics
		AppendHostError(&diags, path.Root("repo"), &githost.Error{
			Op: "read", Kind: tt.kind, Host: "Forge", Block: "forge", Grant: "Grant the key all.",
		})
		if len(diags) != 1 || diags[0].Summary() != tt.summary || !strings.Contains(diags[0].Detail(), tt.detail) ||
			strings.Contains(diags[0].Detail(), "GitHub") {
			t.Errorf("%v: got %v", tt.kind, diags)
		}
	}
}

// TestHosts: the provider reads the blocks of all hosts into one list. Two blocks with the same server are an error at
// both blocks.
func TestHosts(t *testing.T) {
	t.Parallel()
	block := func(url any, token attr.Value) attr.Value {
		base, known := url.(string)
		value := types.StringValue(base)
		if !known {
			value = types.StringUnknown()
		}
		if base == "" && known {
			value = types.StringNull()
		}
		return types.ObjectValueMust(map[string]attr.Type{"token": types.StringType, "base_url": types.StringType},
			map[string]attr.Value{"token": token, "base_url": value})
	}
	token, none := types.StringValue("canary"), types.StringNull()
	for name, tt := range map[string]struct {
		arguments map[string]attr.Value
		problems  string // summaries and paths
		hosts     string // the known blocks
	}{
		"no block": {nil, "", "github, gitlab, azure_devops"},
		"server and token": {map[string]attr.Value{"gitea": block("https://git.acme.io/forge", token)}, "",
			"github, gitlab, azure_devops, gitea with a credential"},
		"no token": {map[string]attr.Value{"gitea": block("https://git.acme.io", none)}, "",
			"github, gitlab, azure_devops, gitea"},
		"unknown token": {map[string]attr.Value{"gitea": block("https://git.acme.io", types.StringUnknown())}, "",
			"github, gitlab, azure_devops, gitea unknown with a credential"},
		"unknown server": {map[string]attr.Value{"gitea": block(nil, token)}, "",
			"github, gitlab, azure_devops, gitea unknown server unknown with a credential"},
		"no server": {map[string]attr.Value{"gitea": block("", token)}, "Missing server of Gitea at gitea.base_url",
			"github, gitlab, azure_devops"},
		"plain http": {map[string]attr.Value{"gitea": block("http://git.acme.io", token)},
			"Invalid base URL at gitea.base_url", "github, gitlab, azure_devops, gitea with a credential"},
		"password in the URL": {map[string]attr.Value{"gitea": block("https://x:canary@git.acme.io", token)},
			"Invalid base URL at gitea.base_url", "github, gitlab, azure_devops, gitea with a credential"},
		"server of github.com": {map[string]attr.Value{"gitea": block("https://GitHub.com:443/", none)},
			"Conflicting hosts at github, Conflicting hosts at gitea", "github, gitlab, azure_devops, gitea"},
		"server of the github block": {map[string]attr.Value{"gitea": block("https://git.acme.io/", none),
			"github": block("https://git.acme.io", none)},
			"Conflicting hosts at github, Conflicting hosts at gitea", "github, gitlab, azure_devops, gitea"},
	} {
		t.Run(name, func(t *testing.T) {
			var ps problem.Problems
			var hosts, problems []string
			for _, h := range readHosts(tfvalue.Decoder{Arguments: tt.arguments, Problems: &ps}, nil) {
				text := h.block
				if h.unknown {
					text += " unknown"
				}
				if unknown.Is(h.server) {
					text += " server unknown"
				}
				if h.hasCredential && h.block != "github" {
					text += " with a credential"
				}
				hosts = append(hosts, text)
			}
			for _, p := range ps {
				if strings.Contains(p.Detail, "canary") {
					t.Errorf("a secret is shown: %s", p.Detail)
				}
				var at []string
				for _, step := range p.Path {
					at = append(at, fmt.Sprint(step))
				}
				problems = append(problems, p.Summary+" at "+strings.Join(at, "."))
			}
			if got := strings.Join(hosts, ", "); got != tt.hosts {
				t.Errorf("the hosts are %s", got)
			}
			if got := strings.Join(problems, ", "); got != tt.problems {
				t.Errorf("the problems are %s", got)
			}
		})
	}
}

// TestGiteaLogin: the token of Gitea is the login with Git for the repos of its own server, and for no other repo.
func TestGiteaLogin(t *testing.T) {
	t.Parallel()
	var ps problem.Problems
	gitea := types.ObjectValueMust(map[string]attr.Type{"token": types.StringType, "base_url": types.StringType},
		map[string]attr.Value{"token": types.StringValue("canary"),
			"base_url": types.StringValue("https://git.acme.io/forge/")})
	d := &Data{}
	d.setHosts(readHosts(tfvalue.Decoder{Arguments: map[string]attr.Value{"gitea": gitea}, Problems: &ps}, nil))
	for repo, served := range map[string]bool{
		"https://git.acme.io/forge/acme/gitops.git":      true,
		"https://GIT.acme.io:443/forge/acme/gitops":      true,
		"https://git.acme.io/acme/gitops":                false,
		"https://git.acme.io/forge/acme/../../x/y":       false,
		"https://git.acme.io:8443/forge/acme/gitops":     false,
		"http://git.acme.io/forge/acme/gitops":           false,
		"https://git.acme.io.evil.io/forge/acme/gitops":  false,
		"https://evil.io/git.acme.io/forge/acme/gitops":  false,
		"https://github.com/forge/acme":                  false,
		"https://dev.azure.com/forge/acme/_git/gitops":   false,
		"https://xgit.acme.io/forge/acme/gitops":         false,
		"https://git.acme.io/forge/acme/gitops/sub/more": false,
	} {
		login, err := d.gitLogin(t.Context(), repo, gitremote.Login{})
		want := gitremote.Login{}
		if served {
			want = gitremote.Login{Username: "kalypso", Password: "canary", Source: "the provider's gitea token"}
		}
		if err != nil || login != want || len(ps) > 0 {
			t.Errorf("%s: got %+v, %v", repo, login, err)
		}
	}
}
