package configuration

import (
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/gitea"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/httpapi"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// giteaAttribute configures access to a Gitea server.
var giteaAttribute = optionalObject("Access to the API of a Gitea server, and to the repos on it over HTTPS. Forgejo "+
	"has the same API, so it should work, but it is not tested.", withCertificates(map[string]schema.Attribute{
	"token": optionalSecret("A token with the scopes `write:repository`, `write:issue` and `read:user`. No environment " +
		"variable replaces it."),
	"base_url": optionalText(
		"URL of the server, such as `https://git.acme.io/`, also with a folder. Required: there is " +
			"no default server.",
	),
}))

// readGitea reads the argument gitea, as one of the hosts if it is set.
func readGitea(d tfvalue.Decoder) []hostSettings {
	h := hostSettings{
		name: "Gitea", block: "gitea", noun: pullRequestNoun, credential: "token in gitea of the provider", source: "token",
		create: func(access httpapi.Access, _ bool) (githost.Host, error) { return gitea.New(access) },
	}
	given, ok := h.readBlock(d, "https://git.acme.io/")
	if !ok {
		return nil
	}
	if h.server == "" {
		given.Report(
			"Missing server of Gitea",
			"base_url is not set. Gitea has no default server.",
			problem.Attr("base_url"),
		)
		return nil
	}
	h.hasCredential = h.token != ""
	return []hostSettings{h}
}
