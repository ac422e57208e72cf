// Package secretscan recognizes secrets in text by few, exact patterns. A text that it recognizes certainly looks like
// a secret; a text that it does not recognize may still be one.
package secretscan

import (
	"math/bits"
	"regexp"
	"slices"
	"strings"
)

// rule describes one shape of secrets.
type rule struct {
	name string // with its article
	// anchors lists texts of two bytes or more; every match contains one of them. may reports whether the text after an
	// anchor can be part of a match; nil: it can. They spare most texts the pattern, which takes much longer.
	anchors []string
	may     func(after string) bool
	pattern *regexp.Regexp
	// is decides whether a match is a secret, from its groups and the text around it; nil: each is.
	is func(text string, match []string) bool
}

// shortest is the length in bytes of the shortest text that may hold a secret: a URL with a password.
const shortest = len("a://:b@c")

// Find returns the kind of secret in a text, such as "a GitHub token", or "" if it recognizes none. key is the name of
// the text.
func Find(key, text string) string {
	if len(text) < shortest {
		return ""
	}
	for possible := anchors.rulesIn(text); possible != 0; possible &= possible - 1 {
		if r := &rules[bits.TrailingZeros32(possible)]; r.matches(text) {
			return r.name
		}
	}
	if awsKeyName.MatchString(key) && awsSecretKey.MatchString(strings.TrimSpace(text)) {
		return "an AWS secret access key"
	}
	return ""
}

func (r *rule) matches(text string) bool {
	if r.is == nil {
		return r.pattern.MatchString(text)
	}
	return slices.ContainsFunc(r.pattern.FindAllStringSubmatch(text, maxMatches), func(match []string) bool {
		return r.is(text, match)
	})
}

// maxMatches limits the examined matches of one rule.
const maxMatches = 1000

// isReference reports whether a password only refers to one: it is a template, a variable, a placeholder or ciphertext.
func isReference(password string) bool {
	return placeholder.MatchString(password) || strings.Trim(password, password[:1]) == "" ||
		slices.ContainsFunc([]string{"{{", "${", "$(", "<", "[", "(("}, func(open string) bool {
			return strings.Contains(password, open)
		})
}

// placeholder matches $NAME, %NAME%, %s, NAME and @Microsoft.KeyVault(….
var placeholder = regexp.MustCompile(`^(?:\$[A-Za-z_][A-Za-z0-9_]*|%[A-Za-z_]+%|%[sdvq]|[A-Z][A-Z_]*|@.*)$`)
