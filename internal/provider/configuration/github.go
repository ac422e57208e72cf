package configuration

import (
	"encoding/pem"
	"net/url"
	"os"
	"strconv"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/giturl"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/github"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/httpapi"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// readGitHub reads the argument github, as one of the hosts. Without token, app and base_url, it takes the token of the
// environment, which goes to github.com only, never to a configured base_url.
func readGitHub(d tfvalue.Decoder) hostSettings {
	h := hostSettings{
		name: "GitHub", block: "github", noun: pullRequestNoun, credential: "token or app in github of the provider",
		source: "token or app", public: "https://github.com",
	}
	var app *github.App // nil: with the token
	if given, ok := h.readBlock(d, "https://github.acme.io/"); ok {
		if at, ok := given.Object("app"); ok {
			app = readApp(at)
		}
		if app != nil && h.token != "" && !given.Unknown {
			given.Report(
				"Conflicting credentials: token and app", "Both token and app are set. Remove one of them.", problem.Attr("app"),
			)
		}
	}
	if h.server == "" {
		h.credential += ", or the environment variable " + githubTokenVariable
		if h.token == "" && app == nil {
			h.token = os.Getenv(githubTokenVariable)
		}
	}
	h.hasCredential = h.token != "" || app != nil
	h.create = func(access httpapi.Access, anonymous bool) (githost.Host, error) {
		c := github.Config{Access: access}
		if !anonymous {
			c.App = app
		}
		return github.New(c)
	}
	return h
}

// readApp reads an app. An app whose attributes are all null counts as absent.
func readApp(d tfvalue.Decoder) *github.App {
	app := &github.App{}
	d.Read(app)
	if *app == (github.App{}) {
		return nil
	}
	for _, name := range []string{"id", "installation_id", "private_key"} {
		if d.String(name) == "" {
			d.Report("Incomplete GitHub App", name+" is not set. An app needs id, installation_id and private_key.",
				problem.Attr(name))
		}
	}
	if _, err := strconv.ParseUint(app.InstallationID, 10, 63); err != nil && app.InstallationID != "" &&
		!unknown.Is(app.InstallationID) {
		d.Report("Invalid installation ID", "installation_id is not a number.", problem.Attr("installation_id"))
	}
	if block, _ := pem.Decode([]byte(app.PrivateKey)); block == nil && app.PrivateKey != "" &&
		!unknown.Is(app.PrivateKey) {
		d.Report("Invalid private key", `private_key is not in PEM format ("-----BEGIN RSA PRIVATE KEY-----").`,
			problem.Attr("private_key"))
	}
	return app
}

// checkBaseURL reports a URL that must not receive a token. example is a valid URL, for the error.
func checkBaseURL(d tfvalue.Decoder, text, example string) {
	if text == "" || unknown.Is(text) {
		return
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "":
		d.Report("Invalid base URL", "base_url is not an absolute URL, such as "+example+".",
			problem.Attr("base_url"))
	case u.User != nil:
		d.Report(
			"Invalid base URL",
			"base_url contains a user name or a password. Set token instead.",
			problem.Attr("base_url"),
		)
	case u.Scheme != "https" && (u.Scheme != "http" || !giturl.IsLoopbackHost(u.Hostname())):
		d.Report("Invalid base URL", "base_url is not an https URL. The token would be sent in plain text.",
			problem.Attr("base_url"))
	}
}
