package configuration

import (
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/provider/schema"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/servertls"
)

// withCertificates adds the arguments of certificates to the arguments of a server.
func withCertificates(of map[string]schema.Attribute) map[string]schema.Attribute {
	of[servertls.FieldAuthorities] = optionalText(
		"Certificates, in PEM format, of authorities that HTTPS trusts on this server in addition to " +
			"the system's.",
	)
	of[servertls.FieldClient] = optionalSecret(
		"Client certificate for HTTPS with this server, in PEM format, followed by its intermediate " +
			"certificates. No other server gets it.",
	)
	of[servertls.FieldClientKey] = optionalSecret(
		"Private key of `client_certificate`, in PEM format, without a passphrase.",
	)
	return of
}

// certificates are the certificates for the server of a host's block.
type certificates struct {
	texts  servertls.Certificates
	config *servertls.Config // nil: none, or not known yet
}

// readCertificates reads the certificates of a host's block. server is its base_url.
func readCertificates(d tfvalue.Decoder, server string) certificates {
	var c certificates
	d.Read(&c.texts)
	report := func(field, reason string) {
		d.Report("Invalid certificate or key", field+" "+reason+".", problem.Attr(field))
	}
	if !AnyUnknown(c.texts.Texts()...) {
		c.config = c.texts.Parse(!strings.HasPrefix(strings.ToLower(server), "http:"), report)
	}
	return c
}
