// Package redact removes secrets from text from elsewhere: a server can repeat the credential that it received.
package redact

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

// Redacted replaces a secret.
const Redacted = "(secret)"

// Secrets are the secrets of one provider: those of its Git credentials and hosts. The zero value has none. It is
// safe for concurrent use.
type Secrets struct {
	mu       sync.Mutex
	known    map[string]bool
	replacer *strings.Replacer // nil: rebuild from known
}

// minLine is the minimum length of a line of a key that is redacted by itself. Shorter lines could be any word.
const minLine = 16

// Add adds secrets. Each line of a multi-line secret, such as a key, is a secret too. Add ignores empty values.
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
		s.replacer = nil
		for line := range strings.Lines(value) {
			line = strings.TrimSpace(line)
			if len(line) >= minLine && !strings.HasPrefix(line, "-----") {
				s.known[line] = true
			}
		}
	}
}

// Redact replaces every secret in a text with [Redacted].
func (s *Secrets) Redact(text string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.replacer == nil {
		s.replacer = newReplacer(s.known)
	}
	return s.replacer.Replace(text)
}

// newReplacer replaces the longest secrets first: if one secret is a prefix of another, the shorter one would leave
// the rest of the longer one.
func newReplacer(secrets map[string]bool) *strings.Replacer {
	longest := make([]string, 0, len(secrets))
	for secret := range secrets {
		longest = append(longest, secret)
	}
	slices.SortFunc(longest, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	pairs := make([]string, 0, 2*len(longest))
	for _, secret := range longest {
		pairs = append(pairs, secret, Redacted)
	}
	return strings.NewReplacer(pairs...)
}
