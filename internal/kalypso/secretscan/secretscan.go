// Package secretscan recognizes secrets in text by few, exact patterns. What it recognizes is plainly a secret; what it
// does not recognize may be one.
package secretscan

import (
	"math/bits"
	"regexp"
	"slices"
	"strings"
)

// rule is one shape of secrets.
type rule struct {
	name string // with its article
	// anchors are texts of two bytes or more, of which every match contains one. may reports whether the text after an
	// anchor can be part of a match; nil: it can. They spare most texts the pattern, which takes much longer.
	anchors []string
	may     func(after string) bool
	pattern *regexp.Regexp
	// is decides whether a match, with its groups, is a secret, by it and the text around it; nil: each is.
	is func(text string, match []string) bool
}

// shortest is the length in bytes of the shortest text that may hold a secret: a URL with a password.
const shortest = len("a://:b@c")

// Find returns what secret a text holds, such as "a GitHub token", or "" if it recognizes none. key names the text.
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

// maxMatches limits the matches of one rule that are judged.
const maxMatches = 1000

// isReference reports whether a password is no password: a template, a variable, a placeholder or ciphertext.
func isReference(password string) bool {
	return placeholder.MatchString(password) || strings.Trim(password, password[:1]) == "" ||
		slices.ContainsFunc([]string{"{{", "${", "$(", "<", "[", "(("}, func(open string) bool {
			return strings.Contains(password, open)
		})
}

// placeholder matches $NAME, %NAME%, %s, NAME and @Microsoft.KeyVault(….
var placeholder = regexp.MustCompile(`^(?:\$[A-Za-z_][A-Za-z0-9_]*|%[A-Za-z_]+%|%[sdvq]|[A-Z][A-Z_]*|@.*)$`)
