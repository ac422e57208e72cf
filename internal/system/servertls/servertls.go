// Package servertls reads the certificates for TLS connections to one server: the authorities that the provider trusts
// there, and the client certificate that it presents.
package servertls

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"net"
	"strings"
)

// Certificates contains the certificates and the key of a configuration, in PEM format. An empty field is not set.
type Certificates struct {
	Authorities string `attribute:"ca_certificate"`     // trusted in addition to the system's roots
	Client      string `attribute:"client_certificate"` // followed by intermediate certificates
	ClientKey   string // the private key of Client
}

// IsZero reports whether nothing is set.
func (c Certificates) IsZero() bool { return c == (Certificates{}) }

// Texts returns the three texts.
func (c Certificates) Texts() []string { return []string{c.Authorities, c.Client, c.ClientKey} }

// The fields of [Certificates] in errors, named like the arguments of the provider.
const (
	FieldAuthorities = "ca_certificate"
	FieldClient      = "client_certificate"
	FieldClientKey   = "client_key"
)

// Config configures TLS connections to one server. A nil Config trusts the system's roots and presents no certificate.
type Config struct {
	roots     *x509.CertPool // nil: the system's
	client    *tls.Certificate
	anonymous *Config // the same without the client certificate
}

// Parse parses certificates. It reports errors; their reasons contain no part of the texts. It returns nil after an
// error, or if nothing is set. Without TLS, each field that is set is an error.
func (c Certificates) Parse(overTLS bool, report func(field, reason string)) *Config {
	if c.IsZero() {
		return nil
	}
	if !overTLS {
		for i, field := range []string{FieldAuthorities, FieldClient, FieldClientKey} {
			if c.Texts()[i] != "" {
				report(field, "has no effect over plain http")
			}
		}
		return nil
	}
	config, failed := &Config{}, false
	fail := func(field string, err error) {
		failed = true
		report(field, err.Error())
	}
	if c.Authorities != "" {
		authorities, err := parseCertificates(c.Authorities)
		if err != nil {
			fail(FieldAuthorities, err)
		}
		config.roots, err = x509.SystemCertPool()
		if err != nil {
			config.roots = x509.NewCertPool()
		}
		for _, authority := range authorities {
			config.roots.AddCert(authority)
		}
	}
	switch {
	case c.Client == "" && c.ClientKey != "":
		fail(FieldClient, errors.New("is required with client_key"))
	case c.Client != "" && c.ClientKey == "":
		fail(FieldClientKey, errors.New("is required with client_certificate"))
	}
	if _, err := parseCertificates(c.Client); err != nil && c.Client != "" {
		fail(FieldClient, err)
	}
	if err := checkKey(c.ClientKey); err != nil && c.ClientKey != "" {
		fail(FieldClientKey, err)
	}
	if c.Client != "" && !failed {
		pair, err := tls.X509KeyPair([]byte(c.Client), []byte(c.ClientKey))
		if err != nil { // the error's text is left out, since it may describe the key
			fail(FieldClientKey, errors.New("is not the private key of the first certificate in client_certificate"))
		}
		config.client, config.anonymous = &pair, &Config{roots: config.roots}
	}
	if failed {
		return nil
	}
	return config
}

var (
	errNoCertificate = errors.New(`contains no certificate in PEM format ("-----BEGIN CERTIFICATE-----")`)
	errBroken        = errors.New("contains a certificate that can't be parsed")
	errPrivate       = errors.New("contains a private key, which belongs in client_key; keep only the certificates")
	errNoKey         = errors.New(`is not a private key in PEM format ("-----BEGIN PRIVATE KEY-----")`)
	errEncrypted     = errors.New("is encrypted; decrypt it, such as with openssl pkey")
)

// parseCertificates parses a bundle of certificates. It ignores text around them, such as the comments of a bundle.
func parseCertificates(text string) (all []*x509.Certificate, err error) {
	rest := []byte(text)
	for {
		var block *pem.Block
		block, rest = pem.Decode(rest)
		switch {
		case block == nil && strings.Contains(string(rest), "-----BEGIN"):
			return nil, errBroken
		case block == nil && len(all) == 0:
			return nil, errNoCertificate
		case block == nil:
			return all, nil
		case strings.HasSuffix(block.Type, "PRIVATE KEY"):
			return nil, errPrivate
		case block.Type != "CERTIFICATE":
			continue
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, errBroken
		}
		all = append(all, certificate)
	}
}

// checkKey returns an error if a text has no private key that TLS can use.
func checkKey(text string) error {
	for rest := []byte(text); ; {
		var block *pem.Block
		block, rest = pem.Decode(rest)
		switch {
		case block == nil:
			return errNoKey
		case !strings.HasSuffix(block.Type, "PRIVATE KEY"):
			continue // such as EC PARAMETERS
		case strings.Contains(block.Type, "ENCRYPTED"), strings.Contains(block.Headers["Proc-Type"], "ENCRYPTED"):
			return errEncrypted
		}
		_, pkcs8 := x509.ParsePKCS8PrivateKey(block.Bytes)
		_, pkcs1 := x509.ParsePKCS1PrivateKey(block.Bytes)
		_, ec := x509.ParseECPrivateKey(block.Bytes)
		if pkcs8 != nil && pkcs1 != nil && ec != nil {
			return errNoKey
		}
		return nil
	}
}

// Anonymous returns c without the client certificate: it trusts the same authorities.
func (c *Config) Anonymous() *Config {
	if c == nil || c.client == nil {
		return c
	}
	return c.anonymous
}

// ForClient returns the settings of Go's TLS client. As with curl, the server gets the client certificate even if it
// asks for certificates of other authorities.
func (c *Config) ForClient() *tls.Config {
	t := &tls.Config{MinVersion: tls.VersionTLS12}
	if c == nil {
		return t
	}
	t.RootCAs = c.roots
	if c.client != nil {
		t.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return c.client, nil }
	}
	return t
}

// Refused reports whether the server ended a connection with a TLS alert, for example because of a missing client
// certificate.
func Refused(err error) bool {
	var remote *net.OpError
	return errors.As(err, &remote) && remote.Op == "remote error"
}

// Advice says what to do about an error of a connection: a few words, or "".
func Advice(err error) string {
	var authority x509.UnknownAuthorityError
	switch {
	case errors.As(err, &authority):
		return "if a private authority signed the server's certificate, set ca_certificate"
	case Refused(err):
		return "if the server requires a client certificate, check client_certificate and client_key"
	}
	return ""
}
