// Package verify checks the signatures of commits as git verify-commit does: it returns who signed a commit, or why the
// signature is not accepted.
package verify

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// Modes lists the values of [Arguments.Mode].
var Modes = []string{head, history}

const (
	head    = "head"    // only the commit that is read
	history = "history" // also every commit since the last delivered one, along first parents
)

// Arguments contains the keys as people list them. [unknown.Text] stands for an element that is not known yet.
type Arguments struct {
	SSH     []string // lines as in the file of allowed signers of ssh-keygen
	OpenPGP []string `attribute:"openpgp"` // public keys in armour
	Revoked []string // lines with public keys of SSH
	Mode    string   // one of [Modes]; empty: the first of them
}

// Verifier checks the signatures of commits against a list of keys. It may be used by several goroutines.
type Verifier struct {
	History  bool // verify every commit since the last delivered one along first parents, not only the head
	signers  []*allowedSigner
	revoked  map[string]bool // keys of SSH in their wire format
	entities openpgp.EntityList
}

// KeyError says what is wrong with an element of [Arguments]. Its text contains no part of the key.
type KeyError struct {
	Argument string // named as in Terraform; "": no key is listed
	Index    int
	Reason   string
}

// Error implements error.
func (e *KeyError) Error() string { return e.Reason }

// New reads the keys.
func New(a Arguments) (*Verifier, []*KeyError) {
	v := &Verifier{History: a.Mode == history, revoked: map[string]bool{}}
	var errs []*KeyError
	each := func(argument string, texts []string, read func(string) error) {
		for i, text := range texts {
			if unknown.Is(text) {
				continue
			}
			err := errPrivate
			if !strings.Contains(text, "PRIVATE KEY") {
				err = read(text)
			}
			if err != nil {
				errs = append(errs, &KeyError{argument, i, err.Error()})
			}
		}
	}
	each("ssh", a.SSH, func(text string) error { return eachLine(text, v.addSigner) })
	each("openpgp", a.OpenPGP, v.addOpenPGP)
	each("revoked", a.Revoked, func(text string) error { return eachLine(text, v.addRevoked) })
	if len(a.SSH)+len(a.OpenPGP) == 0 {
		errs = append(errs, &KeyError{Reason: "verify lists no key, so it would accept no commit. Set ssh or openpgp"})
	}
	return v, errs
}

var errPrivate = errors.New("it contains a private key. Remove it here, where states and plans would show it, and " +
	"replace it if it was shared. Only the public key is needed")

// Commit checks the signature of a commit, as Git stores it, at the time now. signer is the principal of an SSH key or
// the user ID of an OpenPGP key, escaped as [printable.Line] does. The error is the reason why the signature is not
// accepted.
func (v *Verifier) Commit(raw []byte, now time.Time) (signer string, err error) {
	payload, signature, count := split(raw)
	when, err := committed(payload)
	switch {
	case count == 0:
		return "", errors.New("it is not signed")
	case count > 1:
		return "", errors.New("it has several signatures")
	case err != nil:
		return "", err
	case bytes.HasPrefix(signature, []byte("-----BEGIN SSH SIGNATURE-----")):
		return v.ssh(payload, signature, when)
	case bytes.HasPrefix(signature, []byte("-----BEGIN PGP SIGNATURE-----")):
		return v.openPGP(payload, signature, now)
	}
	return "", errors.New("its signature is neither of SSH nor of OpenPGP")
}

// split separates a commit from its signatures, as Git's parse_buffer_signed_by_header does: the signed text also
// excludes signatures for other hash algorithms.
func split(raw []byte) (payload, signature []byte, count int) {
	ours, other := false, false
	for len(raw) > 0 {
		line, rest := raw, []byte(nil)
		if i := bytes.IndexByte(raw, '\n'); i >= 0 {
			line, rest = raw[:i+1], raw[i+1:]
		}
		text, starts := bytes.CutPrefix(line, []byte("gpgsig "))
		continues := line[0] == ' '
		switch {
		case line[0] == '\n': // the commit message follows
			return append(payload, raw...), signature, count
		case ours && continues:
			signature = append(signature, line[1:]...)
		case starts:
			signature = append(signature, text...)
			ours, other = true, false
			count++
		default:
			ours, other = false, bytes.HasPrefix(line, []byte("gpgsig")) || other && continues
			if !other {
				payload = append(payload, line...)
			}
		}
		raw = rest
	}
	return payload, signature, count
}

// committed returns the time of a commit, as its committer says.
func committed(payload []byte) (time.Time, error) {
	headers, _, _ := strings.Cut("\n"+string(payload), "\n\n")
	_, who, _ := strings.Cut(headers, "\ncommitter ")
	who, _, _ = strings.Cut(who, "\n")
	date := strings.Fields(who[strings.LastIndexByte(who, '>')+1:])
	if len(date) > 0 {
		if seconds, err := strconv.ParseInt(date[0], 10, 64); err == nil && seconds > 0 {
			return time.Unix(seconds, 0), nil
		}
	}
	return time.Time{}, errors.New("it has no committer with a time")
}
