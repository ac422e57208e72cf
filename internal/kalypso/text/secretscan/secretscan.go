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
	name string // with an article, such as "a GitHub token"
	// anchors lists texts of two bytes or more. Every match contains one of them. may reports whether the text after an
	// anchor can be part of a match; nil means that it always can. With both, the slow pattern is needed only for few
	// texts.
	anchors []string
	may     func(after string) bool
	pattern *regexp.Regexp
	// is decides whether a match is a secret, from its groups and the text around it. If it is nil, every match is one.
	is func(text string, match []string) bool
	// secret lists the groups that contain the secret itself. If it is empty, the whole match does.
	secret []int
}

// shortest is the length in bytes of the shortest text that may contain a secret: a URL with a password.
const shortest = len("a://:b@c")

// Find returns the kind of secret in a text, such as "a GitHub token", or "" if it recognizes no secret. key is the
// name of the text.
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
	for run := range base64Runs(text) {
		if isOldAzureDevOps(strings.Trim(run, "/")) {
			return azureDevOps
		}
		data, err := base64.RawStdEncoding.DecodeString(run)
		if err != nil || !isPrintable(data) {
			continue
		}
		is := find(string(data))
		if is == "" && isOldAzureDevOps(strings.TrimLeft(strings.TrimSpace(string(data)), ":")) {
			is = azureDevOps
		}
		if is != "" {
			return is + ", in base64"
		}
	}
	return ""
}

// Lines describes the secrets that it finds in single lines of a text, such as "app.yaml, line 2: a GitHub token".
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

const azureDevOps = "an Azure DevOps token"

// isOldAzureDevOps reports whether a text looks like an Azure DevOps token from before 2024: 52 letters and digits of
// base32 without a prefix.
func isOldAzureDevOps(text string) bool {
	const length = 52
	return len(text) == length && strings.Trim(text, "abcdefghijklmnopqrstuvwxyz234567") == "" && isRandom(text) &&
		!isDocumentation(text)
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

// shortestEncoded is the length of the shortest base64 text that is decoded.
const shortestEncoded = 24

// base64Runs returns the parts of a text that may be base64, without padding.
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
			if !yield(text[from:to]) {
				return
			}
			from = to + 1
		}
	}
}

// isBase64 contains the bytes that occur in base64.
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
		return r.isSecret(text, match)
	})
}

func (r *rule) isSecret(text string, match []string) bool {
	return !isDocumentation(match[0]) && (r.is == nil || r.is(text, match))
}

// maxMatches limits the examined matches of one rule.
const maxMatches = 1000

// isReference reports whether a password only refers to a secret: it is a template, a variable, a placeholder or
// ciphertext.
func isReference(password string) bool {
	return placeholder.MatchString(password) || strings.Trim(password, password[:1]) == "" ||
		strings.ContainsAny(password, "{<[") || strings.Contains(password, "$(") || strings.Contains(password, "((") ||
		strings.Contains(password, "%(") || strings.HasPrefix(password, "ENC(") || isDocumentation(password)
}

// placeholder matches $NAME, $env:NAME, $my-secret:name, %NAME%, %s, MY_NAME, PASSWORD, @Microsoft.KeyVault(… and
// var.name. Other words in capital letters may be passwords.
var placeholder = regexp.MustCompile(`^(?:\$[A-Za-z_][\w.:-]*|%[A-Za-z_]+%|%[sdvq]|[A-Z]*_[A-Z_]*` +
	`|[A-Z0-9_]*(?:PASS|PASSWORD|PASSWD|PASSPHRASE|PWD|PW|SECRET|TOKEN|KEY)|@.*|#+[A-Z_]+#+` +
	`|(?:var|local|data|module|each|env|process\.env|random_\w+)\.\w[\w.]*)$`)
