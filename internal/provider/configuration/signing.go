package configuration

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/provider/schema"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/signing"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// Environment variables for arguments of commit_signing that are not set.
const (
	signingKeyVariable        = "KALYPSO_SIGNING_KEY"
	signingPassphraseVariable = "KALYPSO_SIGNING_PASSPHRASE"
)

// TrailersDescription describes commit_trailers.
const TrailersDescription = "Lines at the end of each commit message, as `git interpret-trailers` reads them: a key, " +
	"such as `Signed-off-by` or `Ticket` → its value, in one line. Keys that start with `Kalypso-` are the " +
	"provider's own."

// signingAttribute configures signatures of commits.
var signingAttribute = optionalObject("Signs all commits with a key, as `git commit -S` does. The environment "+
	"variables `"+signingKeyVariable+"` and `"+signingPassphraseVariable+"` are the defaults of these attributes, and "+
	"also work without this block. Only an apply needs the key, and a new key alone makes no commit.",
	map[string]schema.Attribute{
		"private_key": optionalSecret(
			"Content of the private key: in OpenSSH's format or PEM for an SSH signature, in OpenPGP's " +
				"armour for an OpenPGP signature.",
		),
		"passphrase": optionalSecret("Passphrase of the key, if it is encrypted."),
		"format": optionalSecret(
			"The kind of key that is expected, as in Git's `gpg.format`: `ssh` or `openpgp`. By default " +
				"it follows from the key.",
		),
	})

// readSigner reads the argument commit_signing. It returns nil if commits are not signed, and if the key is not known
// yet: a plan needs none.
func readSigner(d tfvalue.Decoder, now time.Time) signing.Signer {
	given, ok := d.Object("commit_signing")
	var s signing.Settings
	given.Read(&s)
	from := map[string]string{} // the environment variable that a field was read from
	orVariable := func(value *string, field, variable string) {
		if *value == "" {
			*value, from[field] = os.Getenv(variable), variable
		}
	}
	orVariable(&s.PrivateKey, signing.FieldPrivateKey, signingKeyVariable)
	orVariable(&s.Passphrase, signing.FieldPassphrase, signingPassphraseVariable)
	switch {
	case AnyUnknown(s.PrivateKey, s.Passphrase, string(s.Format)), !ok && s.PrivateKey == "":
		return nil
	case s.PrivateKey == "":
		given.Report("Missing signing key", fmt.Sprintf(
			"commit_signing needs private_key, or the environment variable %s.", signingKeyVariable),
			problem.Attr(signing.FieldPrivateKey))
		return nil
	}
	signer, err := signing.New(s, now)
	if invalid, ok := errors.AsType[*signing.FieldError](err); ok {
		detail := problem.Sentence(err)
		if variable := from[invalid.Field]; variable != "" {
			detail += fmt.Sprintf(" It is read from the environment variable %s.", variable)
		}
		given.Report("Invalid signing key", detail, problem.Attr(invalid.Field))
	}
	return signer
}
