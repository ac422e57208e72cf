package fleet

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// Teams write Workloads, and the platform does not trust teams. So a Workload's text is data: it must not become part
// of a template, nor break a line of YAML.

// teamTexts reports keys and values of a target's manifests that contain a template action, a line break or a control
// character. Kubernetes' rules for names and labels are stricter.
func (c checker) teamTexts(target string, manifests map[string]string) {
	for _, k := range slices.Sorted(maps.Keys(manifests)) {
		check := func(what, text string) {
			if reason := textViolation(text); reason != "" {
				c.key(k).add("Invalid text", fmt.Sprintf("The %s %.200q in the manifests of deployment target %q %s. Text of a "+
					"Workload must be plain data on one line. Remove it.", what, k, target, reason))
			}
		}
		check("key", k)
		check("value of key", manifests[k])
	}
}

// textViolation returns the reason why a team's text is invalid, or "".
func textViolation(text string) string {
	if IsPlainScalar(text) || unknown.Is(text) {
		return ""
	}
	if strings.Contains(text, "{{") {
		return "contains {{, which starts a template action"
	}
	if !utf8.ValidString(text) {
		return "is not valid UTF-8"
	}
	for _, r := range text {
		switch {
		case r == '\n', r == '\r', r == '\u0085', r == '\u2028', r == '\u2029':
			return fmt.Sprintf("contains a line break (%U)", r)
		case unicode.IsControl(r), r == '\ufeff':
			return fmt.Sprintf("contains a control character (%U)", r)
		}
	}
	return ""
}

// hasInvalidText reports whether any text of the target is invalid.
func (t *DeploymentTarget) hasInvalidText() bool {
	return anyText(t, func(text string) bool { return textViolation(text) != "" })
}

// HasPlainScalars reports whether all texts of the target are plain; see [IsPlainScalar].
func (t *DeploymentTarget) HasPlainScalars() bool {
	return !anyText(t, func(text string) bool { return !unknown.Is(text) && !IsPlainScalar(text) })
}

// WithPlaceholders returns the target with a [Placeholder] for each text that is not plain.
func (t *DeploymentTarget) WithPlaceholders() *DeploymentTarget {
	plain := *t
	plain.Labels, plain.Manifests = placeholders(t.Labels), placeholders(t.Manifests)
	return &plain
}

func anyText(t *DeploymentTarget, is func(string) bool) bool {
	if is(t.Name) || is(t.Workspace) || is(t.Workload.Name) {
		return true
	}
	for _, texts := range []map[string]string{t.Labels, t.Manifests} {
		for k, v := range texts {
			if is(k) || is(v) {
				return true
			}
		}
	}
	return false
}

func placeholders(texts map[string]string) map[string]string {
	plain := make(map[string]string, len(texts))
	for _, k := range slices.Sorted(maps.Keys(texts)) { // two keys may have the same placeholder
		plain[Placeholder(k)] = Placeholder(texts[k])
	}
	return plain
}

// IsPlainScalar reports whether a text is safe as an unquoted YAML scalar anywhere in a template's output. It
// contains only letters and digits, also beyond ASCII, ._/:@~+=,- and single inner spaces, has no colon before a space,
// and neither begins nor ends with a YAML indicator.
func IsPlainScalar(text string) bool {
	for i, r := range text {
		switch c := byte(r); { //nolint:gosec // cut off beyond ASCII alone
		case r >= utf8.RuneSelf:
			if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
				return false
			}
		case isAlphanumeric(c):
		case c == ' ':
			if i == 0 || text[i-1] == ' ' || text[i-1] == ':' {
				return false
			}
		case strings.IndexByte("._/~+", c) >= 0:
		case strings.IndexByte(":@=,-", c) >= 0:
			if i == 0 {
				return false
			}
		default:
			return false
		}
	}
	if text == "" {
		return true
	}
	last := text[len(text)-1]
	return last != ' ' && last != ':' && text != "..." && !strings.HasPrefix(text, "... ")
}

// Placeholder returns a plain text with as many characters as text. An x replaces each character that is not plain.
func Placeholder(text string) string {
	if unknown.Is(text) || IsPlainScalar(text) {
		return text
	}
	plain := []rune(text)
	for i, r := range plain {
		if r >= utf8.RuneSelf || !isAlphanumeric(byte(r)) && !strings.ContainsRune("._/~+:@=-", r) {
			plain[i] = 'x'
		}
	}
	for _, i := range []int{0, len(plain) - 1} {
		if r := plain[i]; !isAlphanumeric(byte(r)) && r != '/' {
			plain[i] = 'x'
		}
	}
	return string(plain)
}

func isAlphanumeric(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}
