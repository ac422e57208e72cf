package configuration

import (
	"encoding/pem"
	"net/netip"
	"net/url"
	"os"
	"strconv"

	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host/github"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host/httpapi"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// githubSettings configures the GitHub API.
type githubSettings struct {
	Token   string
	BaseURL string     // empty: github.com
	App     *githubApp // nil: with the token
	certificates
}

// credential names the arguments that contain GitHub's credential.
func (g githubSettings) credential() string {
	if g.BaseURL != "" {
		return "token or app in github of the provider"
	}
	return "token or app in github of the provider, or the environment variable " + githubTokenVariable
}

// githubApp is a GitHub App to act as.
type githubApp struct{ ID, InstallationID, PrivateKey string }

func (g githubSettings) unknown() bool {
	return AnyUnknown(g.Token, g.BaseURL) || g.App != nil && AnyUnknown(g.App.ID, g.App.InstallationID, g.App.PrivateKey)
}

// readGitHub reads the argument github. Without token and app, it takes the token of the environment, which goes to
// github.com only, never to a configured base_url.
func readGitHub(d tfvalue.Decoder) githubSettings {
	var g githubSettings
	if given, ok := d.Object("github"); ok {
		g.Token, g.BaseURL = given.String("token"), given.String("base_url")
		checkBaseURL(given, g.BaseURL, "https://github.acme.io/")
		g.certificates = readCertificates(given, g.BaseURL)
		if app, ok := given.Object("app"); ok {
			g.App = readApp(app)
		}
		if g.App != nil && g.Token != "" && !given.Unknown {
			given.Report(
				"Conflicting credentials: token and app", "Both token and app are set. Remove one of them.", problem.Attr("app"),
			)
		}
	}
	if g.Token == "" && g.App == nil && g.BaseURL == "" {
		g.Token = os.Getenv(githubTokenVariable)
	}
	return g
}

// readApp reads an app. An app whose attributes are all null counts as absent.
func readApp(d tfvalue.Decoder) *githubApp {
	app := &githubApp{d.String("id"), d.String("installation_id"), d.String("private_key")}
	if *app == (githubApp{}) {
		return nil
	}
	for _, argument := range []struct{ name, value string }{
		{"id", app.ID}, {"installation_id", app.InstallationID}, {"private_key", app.PrivateKey},
	} {
		if argument.value == "" {
			d.Report("Incomplete GitHub App", argument.name+" is not set. An app needs id, installation_id and private_key.",
				problem.Attr(argument.name))
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

// settings returns GitHub as one of the hosts.
func (g githubSettings) settings() hostSettings {
	return hostSettings{
		name: "GitHub", block: "github", noun: pullRequestNoun, credential: g.credential(), source: "token or app",
		hasCredential: g.Token != "" || g.App != nil, unknown: g.unknown(),
		server: g.BaseURL, public: "https://github.com", certificates: g.certificates,
		token: g.Token,
		create: func(access httpapi.Access, anonymous bool) (githost.Host, error) {
			c := github.Config{Access: access}
			if g.App != nil && !anonymous {
				c.App = &github.App{ID: g.App.ID, InstallationID: g.App.InstallationID, PrivateKey: g.App.PrivateKey}
			}
			return github.New(c)
		},
	}
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
	case u.Scheme != "https" && (u.Scheme != "http" || !loopback(u.Hostname())):
		d.Report("Invalid base URL", "base_url is not an https URL. The token would be sent in plain text.",
			problem.Attr("base_url"))
	}
}

// loopback reports whether a host is this machine.
func loopback(host string) bool {
	a, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && a.IsLoopback()
}
