package hclexport

import (
	"testing"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// FuzzText: Terraform reads the text of a string, and of a key, as the same string.
func FuzzText(f *testing.F) {
	for _, s := range []string{"", "a", "${b}", "%{if}", "a\nb\n", "  a\n\tb\n", "EOT\n", `{"a":[1,"$${x}"]}`,
		"\"\\\r\n", "\u2028"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) {
			t.Skip("Terraform has only valid UTF-8")
		}
		s = cty.StringVal(s).AsString() // as Terraform normalizes it
		for depth := range 3 {
			if text := stringText(s, depth); !evaluates(text, s) {
				t.Errorf("%q is written as %s", s, text)
			}
		}
		key := keyText(s)
		if !hclsyntax.ValidIdentifier(key) && !evaluates(key, s) {
			t.Errorf("the key %q is written as %s", s, key)
		}
	})
}
