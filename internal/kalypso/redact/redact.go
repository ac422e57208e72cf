// Package redact takes secrets out of texts that come from elsewhere: whoever
// is shown a credential can repeat it.
package redact

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

// Redacted stands where a secret was.
const Redacted = "(secret)"

// Secrets are the secrets of one provider: of its Git credentials, and of its
// hosts. The zero value has none. It is safe for concurrent use.
type Secrets struct {
	mu       sync.Mutex
	known    map[string]bool
	replacer *strings.Replacer // nil: to be made of known
}

// minLine is how many characters a line of a key has that is a secret by
// itself: fewer could be any word.
const minLine = 16

// Add makes values secret. Of a value of several lines, such as a key, each
// line of its own is secret too. Empty values are none.
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

// Redact is a text with [Redacted] in place of every secret.
func (s *Secrets) Redact(text string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.replacer == nil {
		s.replacer = newReplacer(s.known)
	}
	return s.replacer.Replace(text)
}

// newReplacer replaces the longest first: of two secrets of which one begins
// with the other, the shorter would leave the end of the longer.
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
