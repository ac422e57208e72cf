package render

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// yamlKeys are keys that are difficult to order: the YAML library orders them by the numbers in them, and puts letters
// after other characters.
var yamlKeys = []string{
	"", " ", "a", "a b", "a:b", "a#b", "'", `\`, ",a", "[a", "{}", "&a", "*a", "!a", "|", "?", ":", "-", "--", "-a", "+",
	".", "..", ".a", "/a", "_a", "<", "<<", "=", "~", "$a", "(a)", ";", "^", "0", "00", "7", "08", "017", "1.", "1.5",
	"1..5", "10.0.0.1", "1e3", "0x1F", "1_000", "12:30", "500m", "2Gi", "2001-02-03", "nan", "true", "null", "y",
	"a1", "a2", "a10", "a01", "a001", "a1b", "a1_", "a1-b", "a_b", "A_B", "AB", "aB", "a-10", "a-9", "a.10", "a0", "a00",
	"a1.b", "a1.0", "1a", "1b", "a" + strings.Repeat("9", 30), "a" + strings.Repeat("9", 31), strings.Repeat("x", 129),
}

// TestYAMLKeys compares the order of each pair of keys with the library's order.
func TestYAMLKeys(t *testing.T) {
	for _, a := range yamlKeys {
		for _, b := range yamlKeys {
			if a == b {
				continue
			}
			text, err := yaml.Marshal(map[string]string{a: "first", b: "second"})
			if err != nil {
				t.Fatal(err)
			}
			first := strings.Index(string(text), "first") < strings.Index(string(text), "second")
			order := yamlOrder(map[string]any{a: nil, b: nil})
			if len(order) != 2 || (order[0] == a) != first || (order[1] == b) != first {
				t.Errorf("%q and %q are in the order %q", a, b, order)
			}
		}
	}
}
