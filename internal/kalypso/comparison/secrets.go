package comparison

import (
	"iter"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/redact"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/secretscan"
)

// shortestPart is the number of bytes from which a secret is looked for in other values. A shorter one could be a part
// of any word, so only values that are equal to it are hidden.
const shortestPart = 5

// secrets are the secrets in all files that were compared. The same text may occur elsewhere, where neither its key nor
// its form shows that it is one.
type secrets struct {
	short map[string]bool
	long  redact.Secrets
}

// add adds secrets that contain the marks of names.
func (s *secrets) add(of names, texts []string) {
	for _, text := range texts {
		text = of.restore(text)
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

// hide returns a value with at most [maxValue] characters, and [Hidden] if it contains a secret in any form.
func (s *secrets) hide(v value) value {
	if !v.exists || v.text == Hidden {
		return v
	}
	if s.short[v.text] || s.long.Redact(v.text) != v.text {
		return value{Hidden, true}
	}
	return value{cut(v.text, maxValue), true}
}

// hideKey returns the key of a value, or [Hidden] if it contains a secret.
func (s *secrets) hideKey(key string) string {
	if secretscan.Find("", key) != "" || s.long.Redact(key) != key {
		return Hidden
	}
	return key
}

// secrets returns the secrets in the values and in the rest of a file.
func (c config) secrets() (found []string) {
	found = secretsIn(c.rest)
	for key, text := range c.values {
		found = append(found, secretscan.Texts(key, text)...)
		for unescaped := range unescaped(cut(text, maxValue+maxSecret)) {
			found = append(found, secretscan.Texts(key, unescaped)...)
		}
	}
	return found
}

// secretsIn returns the secrets in a file, as they are and without the escapes of its format.
func secretsIn(content string) []string {
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
