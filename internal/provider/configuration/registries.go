package configuration

import (
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/artifacts/registry"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/httpapi"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/redact"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

var ociCredentialsAttribute = schema.ListNestedAttribute{
	Optional: true,
	MarkdownDescription: "Credentials for OCI registries, for `kalypso_oci_artifacts`. The credential with the longest " +
		"`url` that covers a repository serves it, as in `git_credentials`; Docker's config file and its credential " +
		"helpers serve all others.",
	NestedObject: schema.NestedAttributeObject{Attributes: withCertificates(map[string]schema.Attribute{
		registry.FieldURL: optionalText(
			"URL of the registry, such as `https://registry.acme.io`, or of a path in it. Only this " +
				"server gets the credential, and the token server that it names. Required.",
		),
		registry.FieldUsername: optionalText("User name, with `password`."),
		registry.FieldPassword: optionalSecret("Password or token."),
	})},
}

// readRegistries reads the argument oci_credentials. It returns nil if a part of them is not known yet.
func readRegistries(d tfvalue.Decoder, secrets *redact.Secrets) *registry.Client {
	var logins []*registry.Login
	for _, given := range d.Objects("oci_credentials") {
		var c registry.Credential
		given.Read(&c)
		given.Read(&c.Certificates)
		if AnyUnknown(append(c.Certificates.Texts(), c.URL, c.Username, c.Password)...) {
			continue
		}
		login := c.Parse(func(field, reason string) {
			given.Report("Invalid credential", field+": "+reason+".", problem.Attr(field))
		})
		if login != nil {
			logins = append(logins, login)
			secrets.Add(c.Certificates.ClientKey)
		}
	}
	if !d.Known("oci_credentials") {
		return nil
	}
	return registry.New(logins, httpapi.Access{UserAgent: userAgent, Secrets: secrets, OnRetry: logWait})
}
