package registry

import (
	"errors"
	"strings"

	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/giturl"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/servertls"
)

// Credential authenticates to the repositories below a URL. Empty fields are not set.
type Credential struct {
	URL          string
	Username     string
	Password     string
	Certificates servertls.Certificates `attribute:"-"`
}

// The fields of a [Credential], named like their attributes, beside those of [servertls.Certificates].
const (
	FieldURL      = "url"
	FieldUsername = "username"
	FieldPassword = "password"
)

// dockerHub is the registry behind docker.io.
const dockerHub = "registry-1.docker.io"

// Login is a [Credential] that was checked.
type Login struct {
	at  giturl.URL
	use auth.Credential
	tls *servertls.Config // nil: none of its own
}

// Parse parses a credential. It reports all errors, whose reasons contain no secret, and returns nil after an error.
func (c Credential) Parse(report func(field, reason string)) *Login {
	failed := false
	fail := func(field, reason string) {
		failed = true
		report(field, reason)
	}
	at, err := giturl.Parse(strings.Replace(c.URL, Scheme, "https://", 1))
	switch {
	case errors.Is(err, giturl.ErrPassword):
		fail(FieldURL, "contains a user name or password; move them to username and password")
		return nil
	case err != nil:
		fail(FieldURL, strings.ReplaceAll(err.Error(), "repository URL", "URL"))
		return nil
	case at.Scheme != giturl.SchemeHTTPS && at.Scheme != giturl.SchemeHTTP, at.Ambiguous():
		fail(FieldURL, "is not the URL of a registry, such as https://registry.acme.io")
		return nil
	case at.Scheme == giturl.SchemeHTTP && !at.IsLoopback():
		fail(FieldURL, "would send the credential over plain http, unencrypted; use https")
	}
	if at.Host == "docker.io" { // as it is written in references
		at.Host = dockerHub
	}
	switch {
	case c.Username != "" && c.Password == "":
		fail(FieldPassword, "is required with username")
	case c.Username == "" && c.Password != "":
		fail(FieldUsername, "is required with password")
	case c.Username == "" && c.Certificates.IsZero():
		fail(FieldURL, "has no credential: set username and password, ca_certificate, or client_certificate and client_key")
	case strings.Contains(c.Username, ":"):
		fail(FieldUsername, "contains a colon, which HTTP basic authentication does not allow")
	}
	certificates := c.Certificates.Parse(at.Scheme == giturl.SchemeHTTPS, fail)
	if failed {
		return nil
	}
	return &Login{at: at, use: auth.Credential{Username: c.Username, Password: c.Password}, tls: certificates}
}

// find returns the login with the longest URL that covers an address, or nil.
func find(logins []*Login, at giturl.URL) *Login {
	found, _ := giturl.Longest(logins, func(l *Login) giturl.URL { return l.at }, at)
	return found
}
