// Package signing signs commits with an SSH or an OpenPGP key, as git commit -S does.
package signing

import (
	"bytes"
	"crypto"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
	"github.com/hiddeco/sshsig"
	"golang.org/x/crypto/ssh"
)

// Format is the kind of a key and of its signatures, named as in Git's gpg.format.
type Format string

// The formats.
const (
	SSH     Format = "ssh"
	OpenPGP Format = "openpgp"
)

// Settings contains the key to sign with.
type Settings struct {
	PrivateKey string // OpenSSH or PEM, or armoured OpenPGP
	Passphrase string // of an encrypted key; unused otherwise
	Format     Format // the format that the key must have; empty: any
}

// The fields of [Settings], as their attributes are named.
const (
	FieldPrivateKey = "private_key"
	FieldPassphrase = "passphrase"
	FieldFormat     = "format"
)

// FieldError says what is wrong with a field. Its text contains no part of the key.
type FieldError struct {
	Field  string
	Reason string
}

// Error implements error.
func (e *FieldError) Error() string { return e.Field + " " + e.Reason }

// Signer returns the armoured signature of a commit's text without its header gpgsig. when is the commit's time. It may
// be used by several goroutines.
type Signer func(text []byte, when time.Time) ([]byte, error)

// New reads the key, and checks at the time now that it has not expired. The error is a *[FieldError].
func New(s Settings, now time.Time) (Signer, error) {
	key := strings.TrimSpace(s.PrivateKey) + "\n" // heredocs and trimmed files may lack the last line break
	format, err := formatOf(key)
	switch {
	case err != nil:
		return nil, err
	case s.Format != "" && s.Format != SSH && s.Format != OpenPGP:
		return nil, &FieldError{FieldFormat, fmt.Sprintf("must be %q or %q", SSH, OpenPGP)}
	case s.Format != "" && s.Format != format:
		return nil, &FieldError{FieldFormat, fmt.Sprintf("is %q, and private_key is a key for %q", s.Format, format)}
	case format == OpenPGP:
		return newOpenPGP(key, s.Passphrase, now)
	}
	return newSSH(key, s.Passphrase)
}

// publicKey matches the first line of a public key: for OpenPGP, in PEM, of SSH (RFC 4716 and OpenSSH's one line).
var publicKey = regexp.MustCompile(`^(-{4,5} ?BEGIN [A-Z0-9 ]*PUBLIC KEY|(sk-)?(ssh|ecdsa)-[a-z0-9@.-]+ )`)

// formatOf returns the format of a private key by its first line.
func formatOf(key string) (Format, error) {
	first, _, _ := strings.Cut(key, "\n")
	switch {
	case publicKey.MatchString(first):
		return "", &FieldError{FieldPrivateKey, "is a public key. Only the private key signs"}
	case strings.HasPrefix(first, "-----BEGIN PGP PRIVATE KEY BLOCK-----"):
		return OpenPGP, nil
	case strings.HasPrefix(first, "-----BEGIN ENCRYPTED PRIVATE KEY-----"):
		return "", &FieldError{FieldPrivateKey, "is encrypted as PKCS #8, which can't be read. Convert it: " +
			"ssh-keygen -p -f <file> writes it in OpenSSH's format"}
	case strings.HasPrefix(first, "-----BEGIN DSA PRIVATE KEY-----"):
		return "", &FieldError{FieldPrivateKey, "is a DSA key, which no server accepts any more. Use Ed25519"}
	case strings.HasPrefix(first, "-----BEGIN ") && strings.Contains(first, "PRIVATE KEY-----"):
		return SSH, nil
	}
	return "", &FieldError{FieldPrivateKey, "is not a private key in OpenSSH's format, in PEM or in OpenPGP's armour. " +
		"Pass the content of the key's file, which starts with -----BEGIN"}
}

// newSSH returns a signer for the namespace of Git.
func newSSH(key, passphrase string) (Signer, error) {
	signer, err := ParseSSH(key, passphrase)
	if err != nil {
		return nil, err
	}
	return func(text []byte, _ time.Time) ([]byte, error) {
		signature, err := sshsig.Sign(bytes.NewReader(text), signer, sshsig.HashSHA512, "git")
		if err != nil {
			return nil, fmt.Errorf("the commit can't be signed: %w", err)
		}
		return sshsig.Armor(signature), nil
	}, nil
}

// ParseSSH parses a private key of SSH, in OpenSSH's format or in PEM. The error is a *[FieldError].
func ParseSSH(key, passphrase string) (ssh.Signer, error) {
	signer, err := ssh.ParsePrivateKey([]byte(key))
	var missing *ssh.PassphraseMissingError
	switch encrypted := errors.As(err, &missing); {
	case encrypted && passphrase == "":
		return nil, &FieldError{FieldPassphrase, "is required: private_key is encrypted"}
	case encrypted:
		signer, err = ssh.ParsePrivateKeyWithPassphrase([]byte(key), []byte(passphrase))
		if err != nil {
			return nil, &FieldError{FieldPassphrase, "does not decrypt private_key"}
		}
	case err != nil: // the parser's message is left out, since it may describe bytes of the key
		return nil, &FieldError{FieldPrivateKey, "is damaged, or of a kind that can't be read"}
	}
	return signer, nil
}

// newOpenPGP returns a signer with the newest of the entity's keys that may sign.
func newOpenPGP(key, passphrase string, now time.Time) (Signer, error) {
	damaged := &FieldError{FieldPrivateKey, "is damaged, has no user ID that it signed itself, or is of a kind that " +
		"can't be read"}
	all, err := openpgp.ReadArmoredKeyRing(strings.NewReader(key))
	switch {
	case err != nil || len(all) == 0: // the parser's message is left out, since it may describe bytes of the key
		return nil, damaged
	case len(all) > 1:
		return nil, &FieldError{FieldPrivateKey, fmt.Sprintf("contains %d keys. Export one of them", len(all))}
	}
	entity := all[0]
	self, _ := entity.PrimarySelfSignature()
	if self == nil {
		return nil, damaged
	}
	signs, ok := entity.SigningKey(now)
	switch {
	case entity.Revoked(now):
		return nil, &FieldError{FieldPrivateKey, "is revoked"}
	case entity.PrimaryKey.KeyExpired(self, now):
		return nil, &FieldError{FieldPrivateKey, "has expired. Extend it, and export it again"}
	case !ok:
		return nil, &FieldError{FieldPrivateKey, "has no key that may sign now: none is for signatures, or each of them " +
			"has expired or is revoked"}
	case signs.PrivateKey == nil || signs.PrivateKey.Dummy():
		return nil, &FieldError{FieldPrivateKey, "lacks the private part of the key that signs"}
	case signs.PrivateKey.Encrypted && passphrase == "":
		return nil, &FieldError{FieldPassphrase, "is required: private_key is encrypted"}
	}
	if signs.PrivateKey.Encrypted {
		if err := signs.PrivateKey.Decrypt([]byte(passphrase)); err != nil {
			return nil, &FieldError{FieldPassphrase, "does not decrypt private_key"}
		}
	}
	return func(text []byte, when time.Time) ([]byte, error) {
		var armoured bytes.Buffer
		err := openpgp.ArmoredDetachSign(&armoured, entity, bytes.NewReader(text), &packet.Config{
			DefaultHash: crypto.SHA512, Time: func() time.Time { return when },
			NonDeterministicSignaturesViaNotation: new(false), // so that the same commit gets the same signature
		})
		if err != nil {
			return nil, fmt.Errorf("the commit can't be signed: %w", err)
		}
		return armoured.Bytes(), nil
	}, nil
}
