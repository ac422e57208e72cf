package redact

import (
	"encoding/base64"
	"encoding/json"
	"iter"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// base64Run matches text in either of the two alphabets of Base64, with its padding.
var base64Run = regexp.MustCompile(`[A-Za-z0-9+/_-]+=*`)

// redactBase64 replaces each run of Base64 whose content contains a secret. The content may also contain a user name or
// a whole header.
func (f *finder) redactBase64(text string) string {
	shortest := base64.RawStdEncoding.EncodedLen(len(f.secrets[len(f.secrets)-1]))
	return base64Run.ReplaceAllStringFunc(text, func(run string) string {
		if content := strings.TrimRight(run, "="); len(content) >= shortest && f.inBase64(content) {
			return Redacted
		}
		return run
	})
}

// minContent is the minimum length of a secret that is searched for in decoded content that is not text. A decoded hash
// could contain a shorter secret by chance.
const minContent = 4

var standardAlphabet = strings.NewReplacer("-", "+", "_", "/")

// inBase64 reports whether the content of a run of Base64 contains a secret. The run may begin with other characters,
// such as the path of a URL, so all four alignments are tried.
func (f *finder) inBase64(run string) bool {
	run = standardAlphabet.Replace(run)
	for offset := range min(4, len(run)) {
		part := run[offset:]
		if len(part)%4 == 1 { // Base64 never has this length
			part = part[:len(part)-1]
		}
		content, err := base64.RawStdEncoding.DecodeString(part)
		if err != nil {
			continue
		}
		if f.contains(string(content)) {
			return true
		}
	}
	return false
}

// contains reports whether the content of Base64 contains a secret.
func (f *finder) contains(content string) bool {
	plain := f.replacer.Replace(content) != content // no loop over all secrets, if there are many
	isText := strings.IndexFunc(content, func(r rune) bool {
		return r == utf8.RuneError || unicode.IsControl(r) && !unicode.IsSpace(r)
	}) < 0
	for _, secret := range f.secrets {
		if !plain {
			break
		}
		if (isText || len(secret) >= minContent) && strings.Contains(content, secret) ||
			strings.HasSuffix(content, ":"+secret) {
			return true
		}
	}
	if !isText {
		return false
	}
	for unescaped := range Unescaped(content) {
		if f.replacer.Replace(unescaped) != unescaped {
			return true
		}
	}
	return false
}

// Unescaped yields the text unescaped in each way in which a server or a person may have escaped it.
func Unescaped(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, unescape := range unescapers {
			if unescaped := unescape(text); unescaped != text && !yield(unescaped) {
				return
			}
		}
	}
}

var (
	fold      = regexp.MustCompile(`\r?\n[ \t]*`)
	percent   = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)
	backslash = regexp.MustCompile(`(\\(u[0-9A-Fa-f]{4}|["\\/bfnrt]))+`)
	inYAML    = regexp.MustCompile(`\\(x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|\r?\n[ \t]*|["\\/bfnrt])`)
)

var unescapers = []func(string) string{
	unfold,
	replaceAll(backslash, unescapeJSON),
	replaceAll(inYAML, unescapeYAML),
	replaceAll(percent, unhex),
	func(text string) string { // an HTML form
		return replaceAll(percent, unhex)(strings.ReplaceAll(text, "+", " "))
	},
}

// unescapeJSON returns the text of escapes in JSON.
func unescapeJSON(escapes string) string {
	var text string
	if json.Unmarshal([]byte(`"`+escapes+`"`), &text) != nil {
		return escapes
	}
	return text
}

// unescapeYAML returns the text of an escape in YAML's double quotation marks. A line break has none.
func unescapeYAML(escape string) string {
	switch escape[1] {
	case 'x', 'u', 'U':
		code, err := strconv.ParseUint(escape[2:], 16, 32)
		if err != nil || code > unicode.MaxRune {
			return escape
		}
		return string(rune(code))
	case '\r', '\n':
		return ""
	}
	return unescapeJSON(escape)
}

// unfold joins the lines of a header, or of Base64.
func unfold(text string) string {
	if !strings.Contains(text, "\n") { // the usual case; this check is many times faster
		return text
	}
	return fold.ReplaceAllString(text, "")
}

// replaceAll returns a function that replaces each match of a pattern.
func replaceAll(pattern *regexp.Regexp, by func(string) string) func(string) string {
	return func(text string) string { return pattern.ReplaceAllStringFunc(text, by) }
}

// unhex returns the byte of an escape such as %2F.
func unhex(escape string) string {
	n, err := strconv.ParseUint(escape[1:], 16, 8)
	if err != nil {
		return escape
	}
	return string([]byte{byte(n)})
}
