package sign

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"

	"github.com/secure-systems-lab/go-securesystemslib/encrypted"
)

// Errors of [ParseKey]. Their texts contain nothing of the key.
var (
	// ErrNoPassword means that an encrypted key has no password.
	ErrNoPassword = errors.New("the key is encrypted, and there is no password for it")
	// ErrPassword means that a password does not decrypt the key.
	ErrPassword = errors.New("the password does not decrypt the key")
	// ErrNotEncrypted means that a key has a password and is not encrypted.
	ErrNotEncrypted = errors.New("the key is not encrypted; remove the password")

	errNotPEM = errors.New("the text is no private key in PEM, such as the cosign.key that cosign generate-key-pair " +
		"writes")
	errPublic    = errors.New("the text is a public key or certificate; give the private key, such as cosign.key")
	errEncrypted = errors.New("the key is encrypted in a form that cosign does not write; " +
		"import it with cosign import-key-pair")
	errDamaged = errors.New("the key can't be read: it was cut or changed")
	errKind    = errors.New("cosign and Flux do not verify signatures of this kind of key; use ECDSA on the curve " +
		"P-256, Ed25519, or RSA with 2048 to 4096 bits")
)

// PublicKey verifies signatures.
type PublicKey struct{ key crypto.PublicKey }

// Key signs. The same key makes the same signature of the same content, on each machine.
type Key struct {
	PublicKey
	signer crypto.Signer
}

// maxKey bounds the text of a key, in bytes.
const maxKey = 64 << 10

// ParseKey reads a private key: one of cosign, encrypted or not, or another one in PEM. The errors about the password
// are [ErrNoPassword], [ErrPassword] and [ErrNotEncrypted].
func ParseKey(text, password []byte) (*Key, error) {
	if len(text) > maxKey {
		return nil, errNotPEM
	}
	block, _ := pem.Decode(text)
	switch {
	case block == nil:
		return nil, errNotPEM
	case strings.HasSuffix(block.Type, "PUBLIC KEY") || block.Type == "CERTIFICATE":
		return nil, errPublic
	case block.Type == "ENCRYPTED PRIVATE KEY" || block.Headers["DEK-Info"] != "":
		return nil, errEncrypted
	case block.Type == "ENCRYPTED SIGSTORE PRIVATE KEY" || block.Type == "ENCRYPTED COSIGN PRIVATE KEY":
		der, err := decrypt(block.Bytes, password)
		if err != nil {
			return nil, err
		}
		return parse("PRIVATE KEY", der)
	}
	key, err := parse(block.Type, block.Bytes)
	if err == nil && len(password) > 0 {
		return nil, ErrNotEncrypted
	}
	return key, err
}

func decrypt(box, password []byte) ([]byte, error) {
	if !json.Valid(box) {
		return nil, errDamaged
	}
	der, err := encrypted.Decrypt(box, password)
	switch {
	case err == nil:
		return der, nil
	case !strings.HasSuffix(err.Error(), "decryption failed"): // the library has no other mark
		return nil, errDamaged
	case len(password) == 0: // which is a password, too
		return nil, ErrNoPassword
	}
	return nil, ErrPassword
}

func parse(kind string, der []byte) (*Key, error) {
	var key any
	var err error
	switch kind {
	case "PRIVATE KEY":
		key, err = x509.ParsePKCS8PrivateKey(der)
	case "EC PRIVATE KEY":
		key, err = x509.ParseECPrivateKey(der)
	case "RSA PRIVATE KEY":
		key, err = x509.ParsePKCS1PrivateKey(der)
	default:
		return nil, errNotPEM
	}
	if err != nil {
		return nil, errDamaged
	}
	signer, ok := key.(crypto.Signer)
	if !ok || !supported(signer.Public()) {
		return nil, errKind
	}
	return &Key{PublicKey{signer.Public()}, signer}, nil
}

func supported(key crypto.PublicKey) bool {
	switch key := key.(type) {
	case *ecdsa.PublicKey:
		return key.Curve == elliptic.P256()
	case *rsa.PublicKey:
		return key.N.BitLen() >= 2048 && key.N.BitLen() <= 4096
	case ed25519.PublicKey:
		return true
	}
	return false
}

// ParsePublicKey reads what [PublicKey.PEM] returns.
func ParsePublicKey(text string) (PublicKey, error) {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return PublicKey{}, errDamaged
	}
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil || !supported(key) {
		return PublicKey{}, errDamaged
	}
	return PublicKey{key}, nil
}

// PEM returns the key as cosign verify --key and the secrets of Flux contain it.
func (k PublicKey) PEM() string {
	der, err := x509.MarshalPKIXPublicKey(k.key)
	if err != nil {
		panic(err) // a supported key
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
}

// sign signs a message. Without random numbers, ECDSA is that of RFC 6979.
func (k *Key) sign(message []byte) ([]byte, error) {
	hash := crypto.SHA256
	if _, plain := k.key.(ed25519.PublicKey); plain {
		hash = 0
	}
	signature, err := crypto.SignMessage(k.signer, nil, message, hash)
	if err != nil {
		return nil, fmt.Errorf("sign with the key: %w", err)
	}
	return signature, nil
}

// verify reports whether the key signed a message.
func (k PublicKey) verify(message, signature []byte) bool {
	hash := sha256.Sum256(message)
	switch key := k.key.(type) {
	case *ecdsa.PublicKey:
		return ecdsa.VerifyASN1(key, hash[:], signature)
	case *rsa.PublicKey:
		return rsa.VerifyPKCS1v15(key, crypto.SHA256, hash[:], signature) == nil
	case ed25519.PublicKey:
		return ed25519.Verify(key, message, signature)
	}
	return false
}
