package schemas

import (
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/source"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/verify"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// VerifiedAttribute names the argument of a rendering, and the output of data sources, with the signers of commits.
const VerifiedAttribute = "verified"

// verifyArgument is the argument verify: the keys that must have signed a commit.
func verifyArgument(description string) schema.SingleNestedAttribute {
	return OptionalObject(
		description+" Signatures are checked as by `git verify-commit`, but SHA-1 is refused. See "+
			"the section *Signatures* of the guide *In CI*.",
		map[string]schema.Attribute{
			"ssh": OptionalTexts("SSH keys: lines as in `gpg.ssh.allowedSignersFile` of Git, such as " +
				"`file(\"allowed_signers\")`. They must be valid at the time of the commit; times without `Z` are in UTC."),
			"openpgp": OptionalTexts("OpenPGP public keys in armour, such as `file(\"maintainers.asc\")`. They must be " +
				"valid now."),
			"revoked": OptionalTexts("SSH public keys whose signatures are refused, one in a line."),
			"mode": Enumeration(verify.Modes).Attribute("The commits to verify: the commit that is read, or also each " +
				"first-parent commit since the last delivery. Without a delivery, `history` verifies only the head."),
		},
	)
}

// verifiedOutput returns the attribute with the signers of the commits that were verified.
func verifiedOutput() schema.MapAttribute {
	return ComputedStrings("The signers of the verified commits, by commit: the principal of an SSH key, or the user " +
		"ID of an OpenPGP key. For `verified` of a `kalypso_environment_rendering`. Null if no commit was verified.")
}

// VerifiedValue returns the signers of commits, or null if there is none.
func VerifiedValue(signers map[string]string) attr.Value {
	return tfvalue.Encode(types.MapType{ElemType: types.StringType}, signers)
}

// readVerify reads the argument verify, or returns nil if it is not set or not known. It reports invalid keys.
func readVerify(d tfvalue.Decoder) *verify.Verifier {
	given, ok := d.Object("verify")
	if !ok || given.Unknown {
		return nil
	}
	var keys verify.Arguments
	given.Read(&keys)
	v, errs := verify.New(keys)
	for _, err := range errs {
		if err.Argument == "" {
			given.Report("Missing key", problem.Sentence(err))
			continue
		}
		given.Report("Invalid key", problem.Sentence(err), problem.Attr(err.Argument), problem.Index(err.Index))
	}
	return v
}

// ReadVerification is [readVerify] for commits that are verified at the time now.
func ReadVerification(d tfvalue.Decoder, now time.Time) *source.Verification {
	if v := readVerify(d); v != nil {
		return &source.Verification{Verifier: v, Now: now}
	}
	return nil
}
