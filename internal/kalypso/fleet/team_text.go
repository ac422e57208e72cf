package fleet

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What a Workload says is its team's. To the platform's templates it is data: it may not become a part of a template, nor
// end a line of YAML.

// checkTeamTexts reports the keys and values of a target's manifests that hold the beginning of a template, a line break or
// a control character. Names and labels can't: Kubernetes' rules say more about them.
func (ps *Problems) checkTeamTexts(target string, manifests map[string]string, path ...Step) {
	for _, k := range slices.Sorted(maps.Keys(manifests)) {
		check := func(what, text string) {
			if reason := textViolation(text); reason != "" {
				ps.add("Refused text", fmt.Sprintf("The %s %.200q of the manifests of deployment target %q %s. Templates take what a Workload says as data, on one line. Remove it.",
					what, k, target, reason), append(slices.Clone(path), Key(k))...)
			}
		}
		check("key", k)
		check("value of", manifests[k])
	}
}

// textViolation says why a text of a team is refused; empty where it is not.
func textViolation(text string) string {
	if IsPlainScalar(text) || IsUnknown(text) {
		return ""
	}
	if strings.Contains(text, "{{") {
		return "holds {{, with which a template begins"
	}
	if !utf8.ValidString(text) {
		return "is no UTF-8"
	}
	for _, r := range text {
		switch {
		case r == '\n', r == '\r', r == '\u0085', r == '\u2028', r == '\u2029':
			return fmt.Sprintf("holds a line break (%U)", r)
		case unicode.IsControl(r), r == '\ufeff':
			return fmt.Sprintf("holds a control character (%U)", r)
		}
	}
	return ""
}

// hasInvalidText reports whether a text of the target is refused.
func (t *DeploymentTarget) hasInvalidText() bool {
	return anyText(t, func(text string) bool { return textViolation(text) != "" })
}

// HasPlainScalars reports whether no text of the target means anything in YAML, wherever a template puts it; see [IsPlainScalar].
func (t *DeploymentTarget) HasPlainScalars() bool {
	return !anyText(t, func(text string) bool { return !IsUnknown(text) && !IsPlainScalar(text) })
}

// WithPlaceholders is the target with a [Placeholder] for each text that is not plain.
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
	for _, k := range slices.Sorted(maps.Keys(texts)) { // two keys may have one stand-in
		plain[Placeholder(k)] = Placeholder(texts[k])
	}
	return plain
}

// IsPlainScalar reports whether a text means nothing in YAML, wherever a template puts it unquoted: it holds letters, digits,
// ._/:@~+=,- and single blanks within, and does not begin or end with what YAML takes for its own, nor hold a colon before
// a blank.
func IsPlainScalar(text string) bool {
	for i := range len(text) {
		switch c := text[i]; {
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

// Placeholder is a plain text of the same length in characters, for a text of a team: what is not plain is an x.
func Placeholder(text string) string {
	if IsUnknown(text) || IsPlainScalar(text) {
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
