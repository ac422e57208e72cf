package comparison

import (
	"iter"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/redact"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/secretscan"
)

// shortestPart is the number of bytes from which a secret is looked for in other values. A shorter one could be a part
// of any word, so only values that are equal to it are hidden.
const shortestPart = 5

// Secrets are the secrets in files that are shown together. The same text may occur elsewhere, where neither its key
// nor its form shows that it is one. The zero value has none.
type Secrets struct {
	short map[string]bool
	long  redact.Secrets
}

// Add adds secrets.
func (s *Secrets) Add(texts ...string) {
	for _, text := range texts {
		switch {
		case len(text) >= shortestPart:
			s.long.Add(text)
		case s.short == nil:
			s.short = map[string]bool{text: true}
		default:
			s.short[text] = true
		}
	}
}

// Contains reports whether a value is one of the secrets, or contains one in any form.
func (s *Secrets) Contains(value string) bool { return s.short[value] || s.long.Redact(value) != value }

// add adds secrets that contain the marks of names.
func (s *Secrets) add(of names, texts []string) { s.Add(lists.Map(texts, of.restore)...) }

// hide returns a value with at most [maxValue] characters, and [Hidden] if it contains a secret in any form.
func (s *Secrets) hide(v value) value {
	if !v.exists || v.text == Hidden {
		return v
	}
	if s.Contains(v.text) {
		return value{Hidden, true}
	}
	return value{cut(v.text, maxValue), true}
}

// hideKey returns the key of a value, or [Hidden] if it contains a secret.
func (s *Secrets) hideKey(key string) string {
	if secretscan.Find("", key) != "" || s.long.Redact(key) != key {
		return Hidden
	}
	return key
}

// secrets returns the secrets in the values and in the rest of a file.
func (c config) secrets() (found []string) {
	found = SecretsIn(c.rest)
	for key, text := range c.values {
		found = append(found, SecretsOf(key, text)...)
	}
	return found
}

// SecretsOf returns the secrets in a value with a key, as it is and without escapes.
func SecretsOf(key, text string) []string {
	found := secretscan.Texts(key, text)
	for unescaped := range unescaped(cut(text, maxValue+maxSecret)) {
		found = append(found, secretscan.Texts(key, unescaped)...)
	}
	return found
}

// SecretsIn returns the secrets in a file, as they are and without the escapes of its format.
func SecretsIn(content string) []string {
	found := secretscan.Texts("", content)
	for _, text := range found {
		found = slices.AppendSeq(found, unescaped(text))
	}
	return found
}

// unescaped yields a text without its escapes, if it may have any.
func unescaped(text string) iter.Seq[string] {
	if !strings.ContainsAny(text, `\%`) {
		return func(func(string) bool) {}
	}
	return redact.Unescaped(text)
}

// cut returns at most n characters of a text, and a mark if there are more.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	if runes := []rune(text); len(runes) > n {
		return string(runes[:n]) + "…"
	}
	return text
}
