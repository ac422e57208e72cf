package configure

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/seeds"
)

// samePlain fails the test if parsePlain parses a text to another value than YAML does, or if YAML does not read a
// plain line as text. It reports whether parsePlain parses the text.
func samePlain(t *testing.T, text string) (parsed bool) {
	t.Helper()
	v, ok := parsePlain(text)
	if diff := cmp.Diff(parseYAML(text), v); ok && diff != "" {
		t.Errorf("%q: -YAML +plain:\n%s", text, diff)
	}
	if isPlainLine(text) && parseYAML(text) != any(text) {
		t.Errorf("%q is a plain line, and no text in YAML", text)
	}
	return ok
}

// TestPlainLine lists lines that need no YAML library, and lines that do.
func TestPlainLine(t *testing.T) {
	for text, want := range map[string]bool{
		"https://a.io:8443/b?c=[d]": true,
		"west-us {2}":               true,
		"a: b":                      false,
		"a:":                        false,
		"a\nb: c":                   false,
		"a\u0085b: c":               false,
		"[a]":                       false,
		"- a":                       false,
		"":                          false,
	} {
		if samePlain(t, text); isPlainLine(text) != want {
			t.Errorf("%q is a plain line: %t, want %t", text, !want, want)
		}
	}
}

// TestParsePlain lists texts that need no YAML library, and texts that do.
func TestParsePlain(t *testing.T) {
	for text, want := range map[string]bool{
		"host: own-3\ntags: [7]\n":         true,
		"a: 1":                             true,
		"a: 0\nb: 017":                     false,
		"a: x y z\nurl: https://a.io/b":    true,
		"a: [b, c,d]\ne: []\n":             true,
		"a:\n  b: c\n  d:\n    e: 1\nf: 2": true,
		"a:\n- b\n- c\nd: 1\n":             true,
		"a:\n  - b\n  - c\n":               true,
		"- a\n- 1\n":                       true,
		"- name: a\n  port: 1\n- name: b":  true,
		"- - a\n  - b\n- c":                true,
		"- a:\n  - b\n  c: 1":              true,
		"  a: 1\n  b: 2":                   true,
		"a: 1\n\n":                         true,
		"80: tcp":                          true,

		"a: 1\n\nb: 2":                     false,
		"a: 1\n b: 2":                      false,
		"a: b\n  c":                        false,
		"- a\n b":                          false,
		"- a\n  b":                         false,
		"- a:\n- b":                        false,
		"a:\n  b: 1\n - c":                 false,
		"a:\n  - b\n  c: 1":                false,
		"a: 1\na: 2":                       false,
		"a:":                               false,
		"a: ":                              false,
		"a:  b":                            false,
		"a: b ":                            false,
		"a: b: c":                          false,
		"a: b:":                            false,
		"a: yes":                           false,
		"a: Off":                           false,
		"on: a":                            false,
		"a: 1.5":                           false,
		"a: 500m":                          false,
		"a: 'b'":                           false,
		"a: \"b\"":                         false,
		"a: b # c":                         false,
		"a: &x b":                          false,
		"a: {b: c}":                        false,
		"a: [b, [c]]":                      false,
		"a: [b, ]":                         false,
		"a: [b:c]":                         false,
		"a: [b":                            false,
		"a: 12345678901234567890":          false,
		"a: |\n  b":                        false,
		"a:\tb":                            false,
		"a: b\r\nc: d\r\n":                 false,
		"--- \na: 1":                       false,
		"a: ü":                             false,
		"text":                             false,
		"":                                 false,
		strings.Repeat("a", 2000) + ": 1":  false,
		strings.Repeat("- ", 20_000) + "a": false,
	} {
		if got := samePlain(t, text); got != want {
			t.Errorf("%.100q: parsed %t, want %t", text, got, want)
		}
	}
	for _, word := range []string{"y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf", "t", "f",
		"o"} {
		for upper := range 1 << len(word) {
			b := []byte(word)
			for i := range b {
				if upper>>i&1 == 1 {
					b[i] -= 'a' - 'A'
				}
			}
			samePlain(t, fmt.Sprintf("%s: %s\nlist: [%s]\nitems:\n- %s\n", b, b, b, b))
		}
	}
	for first := range 128 { // each character at each position
		for _, format := range []string{"k: %c", "k: %ca", "k: a%c", "k: a%cb", "k: a %cb", "k: a%c b", "k: 1%c", "k: 1%c1",
			"%ck: 1", "k%c: 1", "k%ck: 1", "k:%c1", "k: [%c]", "k: [a%cb]", "k: [a, %cb]", "k: [a%c]", "- a%cb", "-%ca",
			"k:\n%c- a", "a: 1%cb: 2"} {
			samePlain(t, fmt.Sprintf(format, first))
		}
	}
}

// TestParsePlainRandom compares random texts, of lines that are valid alone, with YAML.
func TestParsePlainRandom(t *testing.T) {
	all, parsed := 0, 0
	for seed := range seeds.Of(t, 20_000, 400_000) {
		r := rand.New(rand.NewPCG(seed, 41))
		var text strings.Builder
		if r.IntN(2) == 0 {
			randomBlock(r, &text, 0, 3)
		} else {
			for range 1 + r.IntN(6) {
				text.WriteString(strings.Repeat(" ", r.IntN(3)*r.IntN(3)))
				text.WriteString(strings.Repeat("- ", r.IntN(3)*r.IntN(2)))
				line := []string{"a:", "b: 1", "c: d", "e", "f: [g, 2]", "h:i", "j: k l", "- ", "", "b: x:y"}[r.IntN(10)]
				text.WriteString(line + "\n")
			}
		}
		all++
		if samePlain(t, text.String()) {
			parsed++
		}
	}
	if !seeds.Single() && parsed < all/4 {
		t.Errorf("only %d of %d texts were parsed without the library", parsed, all)
	}
}

// randomBlock writes a map or list, indented by indent columns.
func randomBlock(r *rand.Rand, text *strings.Builder, indent, depth int) {
	scalars := []string{"a", "b-1", "text with spaces", "5432", "0", "[a, b, 1]", "[]", "https://a.io/b=c", "/var",
		"user@host"}
	inList := r.IntN(3) == 0
	for n := range 1 + r.IntN(4) {
		text.WriteString(strings.Repeat(" ", indent))
		if inList {
			text.WriteString("- ")
		}
		if inList && r.IntN(2) == 0 {
			fmt.Fprintf(text, "%s\n", scalars[r.IntN(len(scalars))])
			continue
		}
		fmt.Fprintf(text, "key%d:", n)
		if depth == 0 || r.IntN(2) == 0 {
			fmt.Fprintf(text, " %s\n", scalars[r.IntN(len(scalars))])
			continue
		}
		text.WriteString("\n")
		randomBlock(r, text, indent+2*r.IntN(3), depth-1)
	}
}

// FuzzParsePlain compares a text with YAML.
func FuzzParsePlain(f *testing.F) {
	f.Add("host: own-3\ntags: [7]\nlist:\n- a: b c\n  d: 0\n- - e\n")
	f.Fuzz(func(t *testing.T, text string) { samePlain(t, text) })
}
