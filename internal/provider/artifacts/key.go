package artifacts

import (
	"context"
	"errors"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/artifacts/sign"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/resources"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// readKey returns the key that signs, or nil if there is none, and reports its errors. Only the configuration contains
// it. known is false if its value is not known yet.
func readKey(ctx context.Context, config tfsdk.Config, diags *diag.Diagnostics) (key *sign.Key, known bool) {
	at := path.Root("signing")
	var signing types.Object
	diags.Append(config.GetAttribute(ctx, at, &signing)...)
	if diags.HasError() || signing.IsNull() {
		return nil, true
	}
	if !tfvalue.WhollyKnown(signing) {
		return nil, false
	}
	text := func(name string) []byte {
		value, _ := signing.Attributes()[name].(types.String)
		return []byte(value.ValueString())
	}
	key, err := sign.ParseKey(text("key"), text("password"))
	switch {
	case err == nil:
	case errors.Is(err, sign.ErrNoPassword):
		diags.AddAttributeError(at.AtName("password"), "The signing key needs its password",
			problem.Sentence(err)+" Set password to the password that was entered when cosign made the key.")
	case errors.Is(err, sign.ErrPassword), errors.Is(err, sign.ErrNotEncrypted):
		diags.AddAttributeError(at.AtName("password"), "Wrong password of the signing key", problem.Sentence(err))
	default:
		diags.AddAttributeError(at.AtName("key"), "Invalid signing key", problem.Sentence(err))
	}
	return key, true
}

// planPublicKey plans the public key, by which Terraform notices another key. Without a commit nothing is signed.
func planPublicKey(c *resources.Call, key *sign.Key, known bool) {
	switch {
	case c.Plan.IsNull("commit") && c.State != nil:
		c.Plan.Keep(c.State, "public_key")
	case !known:
		c.Plan.SetUnknown("public_key")
	default:
		setPublicKey(c.Plan, key)
	}
}

// setPublicKey sets the public key to that of a key, which may be nil.
func setPublicKey(m resources.Model, key *sign.Key) {
	m.Set(tfvalue.Values{"public_key": nil})
	if key != nil {
		m.Set(tfvalue.Values{"public_key": key.PEM()})
	}
}

// signer returns the public key of the last publication, or nil.
func signer(m resources.Model) *sign.PublicKey {
	key, err := sign.ParsePublicKey(m.Text("public_key"))
	if err != nil {
		return nil
	}
	return &key
}
