package verify

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hiddeco/sshsig"
	"golang.org/x/crypto/ssh"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
)

// namespace is the namespace of Git's signatures.
const namespace = "git"

// allowedSigner is a line of allowed signers.
type allowedSigner struct {
	principals    patterns
	key           ssh.PublicKey
	authority     bool // key signs certificates, instead of commits
	namespaces    patterns
	after, before time.Time // zero: no bound
}

// eachLine reads the lines of a text, except blank ones and comments.
func eachLine(text string, read func(string) error) error {
	number, found := 0, false
	for line := range strings.Lines(text) {
		number++
		if !utf8.ValidString(line) {
			return fmt.Errorf("line %d is not valid UTF-8", number)
		}
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		found = true
		if err := read(line); err != nil {
			return fmt.Errorf("line %d %w", number, err)
		}
	}
	if !found {
		return errors.New("it contains no key. Pass the content of a file, such as file(\"allowed_signers\")")
	}
	return nil
}

var (
	errNoSigner = errors.New("is not <principals> [<options>] <type of the key> <key>, as in ALLOWED SIGNERS of " +
		"ssh-keygen(1)")
	errNoKey = errors.New("is not <type of the key> <key>, as in the file of a public key of SSH")
)

// addSigner reads a line of allowed signers: principals, options and a key.
func (v *Verifier) addSigner(line string) error {
	var principals, rest string
	if quoted, ok := strings.CutPrefix(line, `"`); ok {
		principals, rest, _ = strings.Cut(quoted, `"`)
	} else if i := strings.IndexAny(line, " \t"); i > 0 {
		principals, rest = line[:i], line[i:]
	}
	key, _, options, _, err := ssh.ParseAuthorizedKey([]byte(rest))
	if err != nil || principals == "" || strings.Contains(principals, `"`) {
		return errNoSigner
	}
	s := &allowedSigner{principals: parsePatterns(principals), key: key}
	if err := checkKey(key); err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, option := range options {
		name, value, _ := strings.Cut(option, "=")
		name = strings.ToLower(name)
		if seen[name] {
			return fmt.Errorf("has the option %s twice", name)
		}
		if err := s.set(name, value); err != nil {
			return err
		}
		seen[name] = true
	}
	if !s.after.IsZero() && !s.before.IsZero() && !s.before.After(s.after) {
		return errors.New("has a valid-before that is not after its valid-after")
	}
	v.signers = append(v.signers, s)
	return nil
}

// optionName matches a name that an error may repeat, since no part of a key looks like it.
var optionName = regexp.MustCompile(`^[a-z-]{1,30}$`)

// set sets an option of a line.
func (s *allowedSigner) set(name, value string) (err error) {
	text, opens := strings.CutPrefix(value, `"`)
	text, closes := strings.CutSuffix(text, `"`)
	quoted := opens && closes
	switch {
	case name == "cert-authority" && value == "":
		s.authority = true
	case name == "namespaces" && quoted:
		s.namespaces = parsePatterns(text)
	case name == "valid-after" && quoted:
		s.after, err = parseTime(name, text)
	case name == "valid-before" && quoted:
		s.before, err = parseTime(name, text)
	case optionName.MatchString(name):
		return fmt.Errorf("has an unknown option or value: %s. The options are cert-authority, and namespaces, valid-after "+
			"and valid-before with a value in quotation marks", name)
	default:
		return errNoSigner
	}
	return err
}

// parseTime reads a time in UTC. (ssh-keygen reads a time without Z in the machine's time zone.)
func parseTime(name, text string) (time.Time, error) {
	for _, layout := range []string{"20060102", "200601021504", "20060102150405"} {
		if t, err := time.Parse(layout, strings.TrimSuffix(text, "Z")); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("has an invalid %s: write YYYYMMDD, YYYYMMDDHHMM or YYYYMMDDHHMMSS", name)
}

// addRevoked reads a line with a key that is revoked.
func (v *Verifier) addRevoked(line string) error {
	key, _, options, _, err := ssh.ParseAuthorizedKey([]byte(line))
	if err != nil || len(options) > 0 {
		return errNoKey
	}
	if err := checkKey(key); err != nil {
		return err
	}
	v.revoked[string(key.Marshal())] = true
	return nil
}

func checkKey(key ssh.PublicKey) error {
	if _, ok := key.(*ssh.Certificate); ok {
		return errors.New("is a certificate. List the key of its authority, with the option cert-authority")
	}
	return nil
}

// ssh checks a signature at the time of its commit. As Git does, it first finds the names that the list has for the
// key, and then checks whether one of them may sign.
func (v *Verifier) ssh(payload, armoured []byte, when time.Time) (signer string, err error) {
	signature, err := sshsig.Unarmor(armoured)
	if err != nil {
		return "", errDamaged
	}
	key := signature.PublicKey
	i := slices.IndexFunc(v.signers, func(s *allowedSigner) bool {
		return s.matches(key) && s.valid(key, when) == nil && len(s.principalsOf(key)) > 0
	})
	if i < 0 {
		i = slices.IndexFunc(v.signers, func(s *allowedSigner) bool { return s.matches(key) })
	}
	if i < 0 {
		return "", fmt.Errorf("it is signed by a key that is not in the list: %s", ssh.FingerprintSHA256(plain(key)))
	}
	principals, refusal := v.signers[i].principalsOf(key), v.signers[i].valid(key, when)
	name := v.signers[i].principals // from the list, since the certificate's own names are not verified yet
	switch {
	case len(principals) == 0:
		return "", errors.New("it is signed with a certificate that has no principal of the list")
	case signature.Namespace != namespace:
		return "", fmt.Errorf("it is signed by %s for another purpose than Git", name)
	case sshsig.Verify(bytes.NewReader(payload), signature, key, signature.HashAlgorithm, namespace) != nil:
		return "", fmt.Errorf("it differs from what %s signed", name)
	case v.isRevoked(key):
		return "", fmt.Errorf("it is signed by %s with a revoked key", name)
	case refusal != nil:
		return "", fmt.Errorf("it is signed by %s, %w", name, refusal)
	}
	for _, principal := range principals {
		for _, s := range v.signers {
			if s.matches(key) && s.principals.match(principal) && s.valid(key, when) == nil &&
				(s.namespaces == nil || s.namespaces.match(namespace)) {
				return printable.Line(principal), nil // a certificate may contain any bytes
			}
		}
	}
	return "", fmt.Errorf("it is signed by %s, whose key is not for the namespace git", name)
}

// plain returns the key of a certificate, or the key itself.
func plain(key ssh.PublicKey) ssh.PublicKey {
	if c, ok := key.(*ssh.Certificate); ok {
		return c.Key
	}
	return key
}

func (v *Verifier) isRevoked(key ssh.PublicKey) bool {
	if c, ok := key.(*ssh.Certificate); ok && v.revoked[string(c.SignatureKey.Marshal())] {
		return true
	}
	return v.revoked[string(plain(key).Marshal())]
}

// matches reports whether the line lists a key, or the authority of a certificate.
func (s *allowedSigner) matches(key ssh.PublicKey) bool {
	c, certified := key.(*ssh.Certificate)
	if certified {
		key = c.SignatureKey
	}
	return certified == s.authority && bytes.Equal(key.Marshal(), s.key.Marshal())
}

// principalsOf returns the names in the line for a key. For a certificate, it returns the certificate's names that
// match the line.
func (s *allowedSigner) principalsOf(key ssh.PublicKey) (names []string) {
	c, ok := key.(*ssh.Certificate)
	for _, p := range s.principals {
		if !ok {
			names = append(names, p.text)
			continue
		}
		for _, principal := range c.ValidPrincipals {
			if p.pattern.MatchString(principal) {
				names = append(names, principal)
			}
		}
	}
	return names
}

// valid returns nil if the line accepts the key at a time, or else the reason why not.
func (s *allowedSigner) valid(key ssh.PublicKey, when time.Time) error {
	if c, ok := key.(*ssh.Certificate); ok {
		checker := ssh.CertChecker{Clock: func() time.Time { return when }}
		for option := range c.CriticalOptions { // the critical options restrict logins
			checker.SupportedCriticalOptions = append(checker.SupportedCriticalOptions, option)
		}
		switch {
		case c.CertType != ssh.UserCert:
			return errors.New("with the certificate of a host")
		case len(c.ValidPrincipals) == 0 || checker.CheckCert(c.ValidPrincipals[0], c) != nil:
			return errors.New("whose certificate is invalid, or was not valid at the time of the commit")
		}
	}
	switch {
	case !s.after.IsZero() && when.Before(s.after):
		return errors.New("whose key was not valid yet at the time of the commit")
	case !s.before.IsZero() && when.After(s.before):
		return errors.New("whose key was not valid any more at the time of the commit")
	}
	return nil
}

// patterns is a list of patterns in OpenSSH's syntax: * and ? are wildcards, and ! excludes the names that match.
type patterns []namePattern

// String returns the list.
func (all patterns) String() string {
	return strings.Join(lists.Map(all, func(p namePattern) string { return p.text }), ",")
}

type namePattern struct {
	text    string
	negated bool
	pattern *regexp.Regexp
}

var wildcards = strings.NewReplacer(`\*`, ".*", `\?`, ".")

func parsePatterns(list string) (all patterns) {
	for text := range strings.SplitSeq(list, ",") {
		name, negated := strings.CutPrefix(text, "!")
		pattern := regexp.MustCompile("(?s)^" + wildcards.Replace(regexp.QuoteMeta(name)) + "$")
		all = append(all, namePattern{text, negated, pattern})
	}
	return all
}

// match reports whether one of the patterns matches a name, and no negated one does.
func (all patterns) match(name string) (found bool) {
	for _, p := range all {
		if matches := p.pattern.MatchString(name); matches && p.negated {
			return false
		} else if matches {
			found = true
		}
	}
	return found
}
