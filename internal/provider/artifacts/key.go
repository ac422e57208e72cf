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
func (m *model) planPublicKey(key *sign.Key, known bool, state *model) {
	switch {
	case m.Commit.IsNull() && state != nil:
		m.PublicKey = state.PublicKey
	case !known:
		m.PublicKey = types.StringUnknown()
	default:
		m.setPublicKey(key)
	}
}

// setPublicKey sets the public key to that of a key, which may be nil.
func (m *model) setPublicKey(key *sign.Key) {
	if m.PublicKey = types.StringNull(); key != nil {
		m.PublicKey = types.StringValue(key.PEM())
	}
}

// signer returns the public key of the last publication, or nil.
func (m *model) signer() *sign.PublicKey {
	key, err := sign.ParsePublicKey(m.PublicKey.ValueString())
	if err != nil {
		return nil
	}
	return &key
}
