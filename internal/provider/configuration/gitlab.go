package configuration

import (
	"net/url"
	"os"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/provider/schema"

	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host/gitlab"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host/httpapi"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// gitlabAttribute configures access to GitLab.
var gitlabAttribute = schema.SingleNestedAttribute{
	Optional: true,
	MarkdownDescription: "Access to the GitLab API, and to the repos on its server over HTTPS. Without `token` and " +
		"`base_url`, the environment variable `GITLAB_TOKEN` is the token for gitlab.com, unless `GITLAB_BASE_URL`, " +
		"`GITLAB_HOST` or `CI_SERVER_URL` names another server.",
	Attributes: withCertificates(map[string]schema.Attribute{
		"token": optionalSecret("A personal, project, group or OAuth access token with the scope `api`. Its user needs the " +
			"role Developer in the project. A job's `CI_JOB_TOKEN` opens no merge request: it is for `git_credentials`."),
		"base_url": optionalText(
			"URL of a GitLab server, such as `https://gitlab.acme.io/`, also with a folder. The default " +
				"is gitlab.com.",
		),
	}),
}

// gitlabTokenVariable names the environment variable with the token for gitlab.com if none is configured.
const gitlabTokenVariable = "GITLAB_TOKEN"

// gitlabServerVariables are the environment variables with the server of the token in gitlabTokenVariable.
var gitlabServerVariables = []string{"GITLAB_BASE_URL", "GITLAB_HOST", "CI_SERVER_URL"}

// gitlabSettings configures the GitLab API.
type gitlabSettings struct {
	Token   string
	BaseURL string // empty: gitlab.com
	certificates
}

// credential names the arguments that contain GitLab's credential.
func (g gitlabSettings) credential() string {
	if g.BaseURL != "" {
		return "token in gitlab of the provider"
	}
	return "token in gitlab of the provider, or the environment variable " + gitlabTokenVariable
}

// readGitLab reads the argument gitlab. Without token and base_url, it takes the token of the environment, which goes
// to gitlab.com only.
func readGitLab(d tfvalue.Decoder) gitlabSettings {
	var g gitlabSettings
	if given, ok := d.Object("gitlab"); ok {
		g.Token, g.BaseURL = given.String("token"), given.String("base_url")
		checkBaseURL(given, g.BaseURL, "https://gitlab.acme.io/")
		g.certificates = readCertificates(given, g.BaseURL)
	}
	if g.Token == "" && g.BaseURL == "" && forPublicGitLab(os.Getenv) {
		g.Token = os.Getenv(gitlabTokenVariable)
	}
	return g
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

// settings returns GitLab as one of the hosts.
func (g gitlabSettings) settings() hostSettings {
	return hostSettings{
		name: "GitLab", block: "gitlab", noun: "merge request", credential: g.credential(), source: "token",
		hasCredential: g.Token != "", unknown: AnyUnknown(g.Token, g.BaseURL), serverUnknown: unknown.Is(g.BaseURL),
		server: g.BaseURL, public: "https://gitlab.com", certificates: g.certificates,
		token:  g.Token,
		create: func(access httpapi.Access, _ bool) (githost.Host, error) { return gitlab.New(access) },
	}
}
