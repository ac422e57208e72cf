// Package redact removes secrets from text that the provider did not write, since a server can repeat the credential
// that it received.
package redact

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Redacted replaces a secret.
const Redacted = "(secret)"

// Secrets contains the secrets of one provider, from its Git credentials and hosts. The zero value is empty. It is safe
// for concurrent use.
type Secrets struct {
	mu     sync.Mutex
	known  map[string]bool
	finder *finder // nil: rebuild from known
}

// minLine is the minimum length of a line of a multi-line key that is redacted by itself. A shorter line could be any
// word.
const minLine = 16

// Add adds secrets. Each line of a multi-line secret, such as a key, is a secret too. Add ignores empty values. There
// is no need to add encoded forms of a secret, since [Secrets.Redact] finds them.
func (s *Secrets) Add(values ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil {
		s.known = map[string]bool{}
	}
	for _, value := range values {
		if value == "" || s.known[value] {
			continue
		}
		s.known[value] = true
		s.known[cmp.Or(strings.Join(strings.Fields(value), " "), value)] = true // as in a message on one line
		s.finder = nil
		for line := range strings.Lines(value) {
			line = strings.TrimSpace(line)
			if len(line) >= minLine && !strings.HasPrefix(line, "-----") {
				s.known[line] = true
			}
		}
	}
}

// maxText bounds the text that is searched. Messages of servers are far shorter.
const maxText = 1 << 20

// Redact replaces every secret in a text with [Redacted]: as it is, in Base64 (as in the Authorization header), and
// escaped for a URL, JSON or YAML. If an escaped text contains a secret, the whole result is unescaped. For a
// text of more than 1 MiB, it returns only the length.
func (s *Secrets) Redact(text string) string {
	f := s.current()
	if f == nil {
		return text
	}
	if len(text) > maxText {
		return fmt.Sprintf("(text of %d bytes)", len(text))
	}
	text = f.redact(text)
	for unescaped := range Unescaped(text) {
		if clean := f.redact(unescaped); clean != unescaped {
			return s.Redact(clean) // it may contain other secrets with other escapes
		}
	}
	return text
}

// userInfo matches the user name and password of a URL, which ends at its last @ before the path.
var userInfo = regexp.MustCompile(`(?i)([a-z][a-z0-9+.-]*)://([^/?#\s]*)@`)

// UserInfo replaces the passwords of all URLs in a text that a person wrote with [Redacted]. In HTTP URLs it also
// replaces the user names, which may be tokens.
func UserInfo(text string) string {
	return userInfo.ReplaceAllStringFunc(text, func(found string) string {
		parts := userInfo.FindStringSubmatch(found)
		scheme, user := parts[1], parts[2]
		name, _, hasPassword := strings.Cut(user, ":")
		switch {
		case strings.HasPrefix(strings.ToLower(scheme), "http"):
			return scheme + "://" + Redacted + "@"
		case hasPassword:
			return scheme + "://" + name + ":" + Redacted + "@"
		}
		return found
	})
}

// current returns a finder of the secrets that are known now, or nil if there are none.
func (s *Secrets) current() *finder {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.finder == nil && len(s.known) > 0 {
		s.finder = newFinder(s.known)
	}
	return s.finder
}

// Error returns err. If its text contains a secret, Error returns an error that wraps err and has the redacted text.
func (s *Secrets) Error(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	if clean := s.Redact(text); clean != text {
		return &redactedError{clean, err}
	}
	return err
}

type redactedError struct {
	text  string
	cause error
}

func (e *redactedError) Error() string { return e.text }
func (e *redactedError) Unwrap() error { return e.cause }

// finder finds secrets in a text without escapes.
type finder struct {
	secrets  []string // the longest first
	replacer *strings.Replacer
}

// newFinder sorts the longest secrets first. If one secret is a prefix of another, replacing the shorter one first
// would leave the rest of the longer one.
func newFinder(secrets map[string]bool) *finder {
	longest := slices.SortedFunc(maps.Keys(secrets), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b))
	})
	pairs := make([]string, 0, 2*len(longest))
	for _, secret := range longest {
		pairs = append(pairs, secret, Redacted)
	}
	return &finder{longest, strings.NewReplacer(pairs...)}
}

func (f *finder) redact(text string) string { return f.redactBase64(f.replacer.Replace(text)) }
