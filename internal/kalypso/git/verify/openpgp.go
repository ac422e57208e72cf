package verify

import (
	"bytes"
	"crypto"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	pgperrors "github.com/ProtonMail/go-crypto/openpgp/errors"
	"github.com/ProtonMail/go-crypto/openpgp/packet"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
)

var errDamaged = errors.New("its signature can't be read")

const publicKeyBlock = "-----BEGIN PGP PUBLIC KEY BLOCK-----"

// addOpenPGP reads public keys, in one or several blocks.
func (v *Verifier) addOpenPGP(text string) error {
	blocks := strings.Split(text, publicKeyBlock)
	if len(blocks) == 1 {
		return fmt.Errorf("it is not a public key in OpenPGP's armour. Pass the output of gpg --armor --export, which "+
			"starts with %s", publicKeyBlock)
	}
	for _, block := range blocks[1:] {
		keys, err := openpgp.ReadArmoredKeyRing(strings.NewReader(publicKeyBlock + block))
		if err != nil || len(keys) == 0 { // the parser's message is left out, since it may describe bytes of the key
			return errors.New("it is damaged, has no user ID that it signed itself, or is of a kind that can't be read")
		}
		for _, key := range keys {
			if s, _ := key.PrimarySelfSignature(); s != nil && !s.FlagsValid {
				s.FlagsValid, s.FlagSign = true, true // like gpg, allow signing with a key that does not say what it is for
			}
		}
		v.entities = append(v.entities, keys...)
	}
	return nil
}

// openPGP checks a signature at the time now.
func (v *Verifier) openPGP(payload, armoured []byte, now time.Time) (signer string, err error) {
	signature, content, err := readSignature(armoured)
	if err != nil {
		return "", err
	}
	id := *signature.IssuerKeyId
	keys := v.entities.KeysById(id)
	if len(keys) == 0 {
		return "", fmt.Errorf("it is signed by a key that is not in the list: %016X", id)
	}
	name := "the key " + fmt.Sprintf("%016X", id)
	if identity := keys[0].Entity.PrimaryIdentity(); identity != nil {
		name = printable.Line(identity.Name) // any bytes
	}
	switch {
	case signature.Hash == crypto.SHA1:
		return "", fmt.Errorf("it is signed by %s with SHA-1", name)
	case len(v.entities.KeysByIdUsage(id, packet.KeyFlagSign)) == 0:
		return "", fmt.Errorf("it is signed by %s, whose key may not sign", name)
	case signature.CreationTime.Before(keys[0].PublicKey.CreationTime):
		return "", fmt.Errorf("it is signed by %s, and the signature is older than the key", name)
	}
	if signature.CreationTime.After(now) { // the clock of the signer's machine is ahead
		now = signature.CreationTime
	}
	_, err = openpgp.CheckDetachedSignature(v.entities, bytes.NewReader(payload), bytes.NewReader(content),
		&packet.Config{Time: func() time.Time { return now }})
	switch {
	case err == nil:
		return name, nil
	case errors.Is(err, pgperrors.ErrKeyRevoked):
		return "", fmt.Errorf("it is signed by %s, whose key is revoked", name)
	case errors.Is(err, pgperrors.ErrKeyExpired):
		return "", fmt.Errorf("it is signed by %s, whose key has expired", name)
	case errors.Is(err, pgperrors.ErrSignatureExpired):
		return "", fmt.Errorf("it is signed by %s, and the signature has expired", name)
	}
	return "", fmt.Errorf("it differs from what %s signed, or the signature is of a kind that can't be read", name)
}

// readSignature reads a block, which must contain exactly one signature.
func readSignature(armoured []byte) (signature *packet.Signature, content []byte, err error) {
	block, err := armor.Decode(bytes.NewReader(armoured))
	if err != nil || block.Type != openpgp.SignatureType {
		return nil, nil, errDamaged
	}
	content, err = io.ReadAll(block.Body)
	if err != nil {
		return nil, nil, errDamaged
	}
	packets := packet.NewReader(bytes.NewReader(content))
	first, err := packets.Next()
	if err != nil {
		return nil, nil, errDamaged
	}
	signature, ok := first.(*packet.Signature)
	if _, err = packets.Next(); !ok || signature.IssuerKeyId == nil || !errors.Is(err, io.EOF) {
		return nil, nil, errDamaged
	}
	return signature, content, nil
}
