package configure

import (
	"fmt"
	"testing"
)

// TestPlainLine checks which lines are parsed without the YAML library. For lines with each character at each position,
// it checks that the library gives the same text.
func TestPlainLine(t *testing.T) {
	check := func(text string) {
		if v, ok := parseStructure(text); ok && isPlainLine(text) {
			t.Errorf("%q is taken for a plain line, but YAML parses it as %v", text, v)
		}
	}
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
		check(text)
		if isPlainLine(text) != want {
			t.Errorf("%q is a plain line: %t, want %t", text, !want, want)
		}
	}
	for char := range 128 {
		for _, format := range []string{
			"k: %c", "k:%c1", "%ck: 1", "k%c: 1", "a%c", "a%cb", "a %cb", "a%c b", "a:%c", "a:%cb", "a #%c", "a%c:",
		} {
			check(fmt.Sprintf(format, char))
		}
	}
}
