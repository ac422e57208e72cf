package gitremote

import (
	"crypto/x509"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/crypto/ssh"
)

// Credential is what authenticates to the repositories below a URL. An empty
// field is an absent one.
type Credential struct {
	URL                  string
	Username             string
	Password             string
	BearerToken          string
	PrivateKey           string // PEM or OpenSSH
	PrivateKeyPassphrase string
	KnownHosts           string // the text of a known_hosts file
	CACertificate        string // PEM, in addition to the system's
}

// Field names a field of a [Credential] in a [CredentialError].
type Field string

// The fields of a [Credential], by the names that their attributes have.
const (
	FieldURL                  Field = "url"
	FieldUsername             Field = "username"
	FieldPassword             Field = "password"
	FieldBearerToken          Field = "bearer_token"
	FieldPrivateKey           Field = "private_key"
	FieldPrivateKeyPassphrase Field = "private_key_passphrase"
	FieldKnownHosts           Field = "known_hosts"
	FieldCACertificate        Field = "ca_certificate"
)

// CredentialError is one thing wrong with one credential. Its text holds no
// secret.
type CredentialError struct {
	Index  int // of the credential in what NewClient was given
	Field  Field
	Reason string
}

func (e *CredentialError) Error() string {
	return fmt.Sprintf("git_credentials[%d].%s: %s", e.Index, e.Field, e.Reason)
}

// CredentialErrors are all the things wrong with the credentials of a client,
// by index.
type CredentialErrors []*CredentialError

func (e CredentialErrors) Error() string {
	texts := make([]string, len(e))
	for i, one := range e {
		texts[i] = one.Error()
	}
	return strings.Join(texts, "\n")
}

// ambiguousPath is why a path gets no credential.
const ambiguousPath = "has a path that servers may take for another one: " +
	`write it without "%", "\", control characters, and segments of dots`

// served is a credential made ready for use.
type served struct {
	at         Location
	username   string
	password   string
	bearer     string
	signer     ssh.Signer
	knownHosts string
	roots      *x509.CertPool
	fallback   bool // serves where nothing else does
}

// authorization is the header that shows the credential over HTTP; empty: it
// has none to show.
func (s *served) authorization() string {
	switch {
	case s.bearer != "":
		return "Bearer " + s.bearer
	case s.password != "":
		return "Basic " + basic(s.username, s.password)
	}
	return ""
}

// check validates a credential and makes it ready; what is wrong goes to
// report.
func check(c Credential, report func(Field, string)) *served {
	s := &served{username: c.Username, password: c.Password, bearer: c.BearerToken}
	at, err := ParseURL(c.URL)
	switch {
	case errors.Is(err, errPasswordInURL):
		report(FieldURL, "carries a user name or password; put them into username and password")
		return nil
	case err != nil:
		report(FieldURL, strings.ReplaceAll(err.Error(), "repository URL", "URL"))
		return nil
	case at.Scheme == schemeFile:
		report(FieldURL, "a local path needs no credential; use an https, http or ssh URL")
		return nil
	}
	if at.ambiguous() {
		report(FieldURL, ambiguousPath)
		return nil
	}
	s.at = at
	if at.Scheme == schemeSSH {
		s.checkSSH(c, report)
	} else {
		s.checkHTTP(c, report)
	}
	return s
}

func (s *served) checkHTTP(c Credential, report func(Field, string)) {
	for _, f := range []struct {
		field Field
		value string
	}{
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
		report(FieldPassword, "is needed with username")
	case c.Username == "" && c.Password != "":
		report(FieldUsername, "is needed with password; for a token, most servers take any name "+
			`("x-access-token" for GitHub)`)
	case !basic && c.BearerToken == "" && c.CACertificate == "":
		report(FieldURL, "has no credential beside it: set username and password, bearer_token, or ca_certificate")
	}
	if s.at.Scheme == schemeHTTP && (basic || c.BearerToken != "") && !s.at.loopback() {
		report(FieldURL, "would send the credential over plain http, readable to anyone between; use https")
	}
	if strings.ContainsAny(c.BearerToken, "\r\n") {
		report(FieldBearerToken, "holds a line break")
	}
	if strings.Contains(c.Username, ":") {
		report(FieldUsername, "holds a colon, which HTTP cannot send")
	}
	if c.CACertificate == "" {
		return
	}
	if s.at.Scheme == schemeHTTP {
		report(FieldCACertificate, "has no use over plain http")
		return
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	if !roots.AppendCertsFromPEM([]byte(c.CACertificate)) {
		report(FieldCACertificate, `holds no certificate in PEM form ("-----BEGIN CERTIFICATE-----")`)
		return
	}
	s.roots = roots
}

func (s *served) checkSSH(c Credential, report func(Field, string)) {
	for _, f := range []struct {
		field Field
		value string
	}{
		{FieldPassword, c.Password},
		{FieldBearerToken, c.BearerToken},
		{FieldCACertificate, c.CACertificate},
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
		report(FieldURL, "has no credential beside it: set private_key or known_hosts")
	}
	if c.KnownHosts != "" {
		// What this machine can't do says nothing of the text: whoever connects tries again.
		if _, err := parseKnownHosts(c.KnownHosts); err != nil && !errors.Is(err, ErrNoTempFile) {
			report(FieldKnownHosts, "is not the text of a known_hosts file: "+err.Error())
			return
		}
		s.knownHosts = c.KnownHosts
	}
}

func parseKey(key, passphrase string, report func(Field, string)) ssh.Signer {
	// What a heredoc or a trimmed file leaves off, the parser wants.
	pem := []byte(strings.TrimSpace(key) + "\n")
	signer, err := ssh.ParsePrivateKey(pem)
	var missing *ssh.PassphraseMissingError
	if errors.As(err, &missing) {
		if passphrase == "" {
			report(FieldPrivateKeyPassphrase, "is needed: private_key is encrypted")
			return nil
		}
		if signer, err = ssh.ParsePrivateKeyWithPassphrase(pem, []byte(passphrase)); err != nil {
			report(FieldPrivateKeyPassphrase, "does not open private_key")
			return nil
		}
		return signer
	}
	if err != nil {
		// The parser's own words are about the bytes of the key.
		report(FieldPrivateKey, `is no private key in PEM or OpenSSH form ("-----BEGIN OPENSSH PRIVATE KEY-----")`)
		return nil
	}
	return signer
}
