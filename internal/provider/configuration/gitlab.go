package configuration

import (
	"net/url"
	"os"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/provider/schema"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/gitlab"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/httpapi"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// gitlabAttribute configures access to GitLab.
var gitlabAttribute = optionalObject("Access to the GitLab API, and to the repos on its server over HTTPS. Without "+
	"`token` and `base_url`, the environment variable `GITLAB_TOKEN` is the token for gitlab.com, unless "+
	"`GITLAB_BASE_URL`, `GITLAB_HOST` or `CI_SERVER_URL` names another server.",
	withCertificates(map[string]schema.Attribute{
		"token": optionalSecret("A personal, project, group or OAuth access token with the scope `api`. Its user needs the " +
			"role Developer in the project. A job's `CI_JOB_TOKEN` opens no merge request: it is for `git_credentials`."),
		"base_url": optionalText(
			"URL of a GitLab server, such as `https://gitlab.acme.io/`, also with a folder. The default " +
				"is gitlab.com.",
		),
	}))

// gitlabTokenVariable names the environment variable with the token for gitlab.com if none is configured.
const gitlabTokenVariable = "GITLAB_TOKEN"

// gitlabServerVariables are the environment variables with the server of the token in gitlabTokenVariable.
var gitlabServerVariables = []string{"GITLAB_BASE_URL", "GITLAB_HOST", "CI_SERVER_URL"}

// readGitLab reads the argument gitlab, as one of the hosts. Without token and base_url, it takes the token of the
// environment, which goes to gitlab.com only.
func readGitLab(d tfvalue.Decoder) hostSettings {
	h := hostSettings{
		name: "GitLab", block: "gitlab", noun: "merge request", credential: "token in gitlab of the provider",
		source: "token", public: "https://gitlab.com",
		create: func(access httpapi.Access, _ bool) (githost.Host, error) { return gitlab.New(access) },
	}
	h.readBlock(d, "https://gitlab.acme.io/")
	if h.server == "" {
		h.credential += ", or the environment variable " + gitlabTokenVariable
		if h.token == "" && forPublicGitLab(os.Getenv) {
			h.token = os.Getenv(gitlabTokenVariable)
		}
	}
	h.hasCredential = h.token != ""
	return h
}

// forPublicGitLab reports whether the environment's token is for gitlab.com, because no variable names another server.
func forPublicGitLab(variable func(string) string) bool {
	for _, name := range gitlabServerVariables {
		text := variable(name)
		if text == "" {
			continue
		}
		if !strings.Contains(text, "://") { // GITLAB_HOST may be a host alone
			text = "https://" + text
		}
		if u, err := url.Parse(text); err != nil || !strings.EqualFold(u.Host, "gitlab.com") {
			return false
		}
	}
	return true
}
