// Package secretscan recognizes secrets in text by exact patterns and by names. A text that it recognizes certainly
// looks like a secret; a text that it does not recognize may still be one.
package secretscan

import (
	"encoding/base64"
	"fmt"
	"iter"
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

// shortest is the length in bytes of the shortest text that may contain a secret: a URL with a password.
const shortest = len("a://:b@c")

// Find returns the kind of secret in a text, such as "a GitHub token", or "" if it recognizes none. key is the name of
// the text.
func Find(key, text string) string {
	if is := find(text); is != "" {
		return is
	}
	if awsKeyName.MatchString(key) && awsSecretKey.MatchString(strings.TrimSpace(text)) {
		return awsSecret
	}
	if is := ofName(key, text); is != "" {
		return is
	}
	for encoded := range base64Runs(text) {
		if is := find(encoded); is != "" {
			return is + ", in base64"
		}
	}
	return ""
}

// Lines describes the secrets in single lines of a text, such as "app.yaml, line 2: a GitHub token".
func Lines(key, text string) (found []string) {
	line := 0
	for content := range strings.Lines(text) {
		line++
		if is := Find("", content); is != "" {
			found = append(found, fmt.Sprintf("%s, line %d: %s", key, line, is))
		}
	}
	return found
}

func find(text string) string {
	if len(text) < shortest {
		return ""
	}
	for possible := anchors.rulesIn(text); possible != 0; possible &= possible - 1 {
		if r := &anchors.rules[bits.TrailingZeros64(possible)]; r.matches(text) {
			return r.name
		}
	}
	return ""
}

// Classes returns the kinds of secrets that [Find] recognizes, sorted, each once.
func Classes() (all []string) {
	for _, r := range anchors.rules {
		all = append(all, r.name)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// shortestEncoded is the length of the shortest base64 text that is decoded.
const shortestEncoded = 24

// base64Runs returns the texts that the base64 parts of a text encode, as far as they are printable.
func base64Runs(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for from := 0; from+shortestEncoded <= len(text); {
			other := from + shortestEncoded - 1 // the last byte that is not base64, if there is one
			for other >= from && isBase64[text[other]] {
				other--
			}
			if other >= from {
				from = other + 1
				continue
			}
			to := from + shortestEncoded
			for to < len(text) && isBase64[text[to]] {
				to++
			}
			data, err := base64.RawStdEncoding.DecodeString(text[from:to])
			if err == nil && isPrintable(data) && !yield(string(data)) {
				return
			}
			from = to + 1
		}
	}
}

// isBase64 has the bytes that occur in base64.
var isBase64 = func() (is [256]bool) {
	for _, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/") {
		is[c] = true
	}
	return is
}()

func isPrintable(data []byte) bool {
	return !slices.ContainsFunc(data, func(c byte) bool { return c < '\t' || c > '\r' && c < ' ' || c > '~' })
}

func (r *rule) matches(text string) bool {
	return slices.ContainsFunc(r.pattern.FindAllStringSubmatch(text, maxMatches), func(match []string) bool {
		return !isDocumentation(match[0]) && (r.is == nil || r.is(text, match))
	})
}

// maxMatches limits the examined matches of one rule.
const maxMatches = 1000

// isReference reports whether a password only refers to one: it is a template, a variable, a placeholder or ciphertext.
func isReference(password string) bool {
	return placeholder.MatchString(password) || strings.Trim(password, password[:1]) == "" ||
		strings.ContainsAny(password, "{<[") || strings.Contains(password, "$(") || strings.Contains(password, "((") ||
		strings.Contains(password, "%(") || isDocumentation(password)
}

// placeholder matches $NAME, %NAME%, %s, NAME and @Microsoft.KeyVault(….
var placeholder = regexp.MustCompile(`^(?:\$[A-Za-z_][A-Za-z0-9_]*|%[A-Za-z_]+%|%[sdvq]|[A-Z][A-Z_]*|@.*)$`)
