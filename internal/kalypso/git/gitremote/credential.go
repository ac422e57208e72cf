package gitremote

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/crypto/ssh"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/giturl"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/signing"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/servertls"
)

// Credential authenticates to the repositories below a URL. Empty fields are not set.
type Credential struct {
	URL                  string
	Username             string
	Password             string
	BearerToken          string
	PrivateKey           string // PEM or OpenSSH
	PrivateKeyPassphrase string
	KnownHosts           string // content of a known_hosts file
	CACertificate        string // PEM, in addition to the system's roots
	ClientCertificate    string // PEM
	ClientKey            string // PEM
}

// The fields of a [Credential] in a [CredentialError], named like their attributes, beside those of
// [servertls.Certificates].
const (
	FieldURL                  = "url"
	FieldUsername             = "username"
	FieldPassword             = "password"
	FieldBearerToken          = "bearer_token"
	FieldPrivateKey           = "private_key"
	FieldPrivateKeyPassphrase = "private_key_passphrase"
	FieldKnownHosts           = "known_hosts"
)

// CredentialError is one error in one credential. Its text contains no secret.
type CredentialError struct {
	Index  int // in the list passed to NewClient
	Field  string
	Reason string
}

func (e *CredentialError) Error() string {
	return fmt.Sprintf("git_credentials[%d].%s: %s", e.Index, e.Field, e.Reason)
}

// CredentialErrors lists all errors in the credentials of a client, sorted by index.
type CredentialErrors []*CredentialError

func (e CredentialErrors) Error() string {
	return strings.Join(lists.Map(e, (*CredentialError).Error), "\n")
}

// ambiguousPath says why no credential is sent to a URL.
const ambiguousPath = "has a path that servers may interpret differently: " +
	`remove "%", "\", control characters and dot segments`

// auth is a credential, parsed and ready to use.
type auth struct {
	at         giturl.URL
	login      Login // over HTTP(S), which may be zero; its user name is also that of SSH
	signer     ssh.Signer
	knownHosts string
	tls        *servertls.Config // nil: none of its own
	fallback   bool              // used if nothing else matches
}

// check validates a credential and parses it. It passes errors to report.
func check(c Credential, report func(field, reason string)) *auth {
	s := &auth{login: Login{Username: c.Username, Password: c.Password, Bearer: c.BearerToken}}
	at, err := giturl.Parse(c.URL)
	switch {
	case errors.Is(err, giturl.ErrPassword):
		report(FieldURL, "contains a user name or password; move them to username and password")
		return nil
	case err != nil:
		report(FieldURL, strings.ReplaceAll(err.Error(), "repository URL", "URL"))
		return nil
	case at.IsLocal():
		report(FieldURL, "a local path needs no credential; use an https, http or ssh URL")
		return nil
	}
	if at.Ambiguous() {
		report(FieldURL, ambiguousPath)
		return nil
	}
	s.at = at
	if at.Scheme == giturl.SchemeSSH {
		s.checkSSH(c, report)
	} else {
		s.checkHTTP(c, report)
	}
	return s
}

func (s *auth) checkHTTP(c Credential, report func(field, reason string)) {
	for _, f := range []struct{ field, value string }{
		{FieldPrivateKey, c.PrivateKey},
		{FieldPrivateKeyPassphrase, c.PrivateKeyPassphrase},
		{FieldKnownHosts, c.KnownHosts},
	} {
		if f.value != "" {
			report(f.field, "belongs to SSH, and the URL is "+s.at.Scheme)
		}
	}
	basic := c.Username != "" || c.Password != ""
	switch {
	case basic && c.BearerToken != "":
		report(FieldBearerToken, "cannot be used together with username and password")
	case c.Username != "" && c.Password == "":
		report(FieldPassword, "is required with username")
	case c.Username == "" && c.Password != "":
		report(FieldUsername, "is required with password; for a token, most servers accept any name "+
			`("x-access-token" for GitHub)`)
	case !basic && c.BearerToken == "" && c.certificates().IsZero():
		report(FieldURL, "has no credential: set username and password, bearer_token, ca_certificate, or "+
			"client_certificate and client_key")
	}
	if s.at.Scheme == giturl.SchemeHTTP && (basic || c.BearerToken != "") && !s.at.IsLoopback() {
		report(FieldURL, "would send the credential over plain http, unencrypted; use https")
	}
	if strings.ContainsAny(c.BearerToken, "\r\n") {
		report(FieldBearerToken, "contains a line break")
	}
	if strings.Contains(c.Username, ":") {
		report(FieldUsername, "contains a colon, which HTTP basic authentication does not allow")
	}
	s.tls = c.certificates().Parse(s.at.Scheme == giturl.SchemeHTTPS, report)
}

func (c Credential) certificates() servertls.Certificates {
	return servertls.Certificates{Authorities: c.CACertificate, Client: c.ClientCertificate, ClientKey: c.ClientKey}
}

func (s *auth) checkSSH(c Credential, report func(field, reason string)) {
	for _, f := range []struct{ field, value string }{
		{FieldPassword, c.Password},
		{FieldBearerToken, c.BearerToken},
		{servertls.FieldAuthorities, c.CACertificate},
		{servertls.FieldClient, c.ClientCertificate},
		{servertls.FieldClientKey, c.ClientKey},
	} {
		if f.value != "" {
			report(f.field, "belongs to HTTPS, and the URL is ssh; set private_key")
		}
	}
	if c.PrivateKey == "" && c.PrivateKeyPassphrase != "" {
		report(FieldPrivateKeyPassphrase, "is set without private_key")
	}
	if c.PrivateKey != "" {
		s.signer = parseKey(c.PrivateKey, c.PrivateKeyPassphrase, report)
	}
	if c.PrivateKey == "" && c.KnownHosts == "" && c.Username == "" {
		report(FieldURL, "has no credential: set private_key or known_hosts")
	}
	if c.KnownHosts != "" {
		// If no temporary file can be written, the text may still be valid. The connection then fails with the same error.
		if _, err := parseKnownHosts(c.KnownHosts); err != nil && !errors.Is(err, ErrNoTempFile) {
			report(FieldKnownHosts, "is not the content of a known_hosts file: "+err.Error())
			return
		}
		s.knownHosts = c.KnownHosts
	}
}

func parseKey(key, passphrase string, report func(field, reason string)) ssh.Signer {
	// The parser needs the final line break, which heredocs or trimmed files may lack.
	signer, err := signing.ParseSSH(strings.TrimSpace(key)+"\n", passphrase)
	invalid, failed := errors.AsType[*signing.FieldError](err)
	switch {
	case failed && invalid.Field == signing.FieldPassphrase:
		report(FieldPrivateKeyPassphrase, invalid.Reason)
	case failed:
		report(FieldPrivateKey, `is not a private key in PEM or OpenSSH format ("-----BEGIN OPENSSH PRIVATE KEY-----")`)
	}
	return signer
}
