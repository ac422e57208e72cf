package objects_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render/objects"
)

func TestShape(t *testing.T) {
	for _, tt := range []struct {
		name, a, b string
		same       bool
	}{
		{"words", "a: b", "a: c-d.e/f", true},
		{"words with spaces", "a: b c", "a: d", true},
		{"a URL and a word", "a: https://g.io:80/b", "a: b", true},
		{"URLs with queries", "a: https://g.io/b?c=d*", "a: b?c", true},
		{"a URL with a query and a word", "a: https://g.io/b?c", "a: b", false},
		{"units and words", "a: 30s", "a: b", true},
		{"an address and a word", "a: 10.0.0.0/16", "a: b", true},
		{"texts in quotes", `a: "b: #1, c"`, `a: "2"`, true},
		{"words of another alphabet", "a: b", "a: Zürich Süd", false},
		{"elements of lists", "  - - b\n", "  - - c\n", true},
		{"numbers", "a: 1\n", "a: 234\n", true},
		{"line ends of Windows", "a: b\r\n", "a: c\r\n", true},
		{"another line end", "a: b\r\n", "a: b\n", false},
		{"no line end", "a: b", "a: b\n", false},
		{"another key", "a: b", "c: b", false},
		{"another indentation", " a: b", "a: b", false},
		{"a number and a word", "a: 1", "a: b", false},
		{"a number and a text in quotes", "a: 1", `a: "1"`, false},
		{"a word and a text in quotes", "a: b", `a: "b"`, false},
		{"quotes", "a: 'b'", `a: "b"`, false},
		{"booleans", "a: b", "a: Yes", false},
		{"booleans in quotes", `a: "b"`, `a: "false"`, false},
		{"null", "a: b", "a: null", false},
		{"floats", "a: 1.5", "a: 1.6", false},
		{"a float with an exponent", "a: b", "a: 1e3", false},
		{"a hexadecimal number", "a: b", "a: 0x1F", false},
		{"an octal number", "a: 12", "a: 012", false},
		{"a date", "a: b", "a: 2001-12-14t21:59:43Z", false},
		{"a time", "a: 1", "a: 1:30", false},
		{"a comment", "a: b", "a: b #c", false},
		{"a key after a word", "a: b", "a: b: c", false},
		{"a key at the end", "a: b", "a: b:", false},
		{"a key in a list", "- \"b\":", "- \"c\":", false},
		{"a lost colon", "a b", "a c", false},
		{"a comma", "a: b", "a: b, c", false},
		{"escapes", `a: "\n"`, `a: "\x"`, false},
		{"anchors", "a: &b c", "a: &d c", false},
		{"kinds", "kind: A", "kind: AList", false},
		{"kinds in quotes", `"kind": A`, `"kind": AList`, false},
		{"a schedule and a question elsewhere", "a: '*/5 * * * *' # why?\nb: c", "a: '*/5 * * * *' # why?\nb: d", true},
		{"text that may be a key", "a: b\n? c", "a: d\n? c", false},
		{"text that is a key elsewhere", "a: b\n*x : c", "a: d\n*x : c", false},
		{"a character that is not a letter", "a: b", "a: b\u2028c", false},
		{"the order of lines", "a: b\nc: d\n", "c: d\na: b\n", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if same := objects.Shape([]byte(tt.a)) == objects.Shape([]byte(tt.b)); same != tt.same {
				t.Errorf("same shape: %v", same)
			}
		})
	}
}

// TestShapeDecides builds texts of random lines and values. The validator checks only one text of each shape, so two
// texts with the same shape must both be valid, or both be invalid in the same line for the same reason.
func TestShapeDecides(t *testing.T) {
	lines := []string{
		"%s: %s\n", "  %s: %s\n", "    %s: %s\n", "- %s\n", "  - %s\n", "  - %s: %s\n", "- - %s\n", "%s:\n", "  %s:\n",
		"%s: |\n", "  %s: >-\n", "  %s: \"%s\n", "  %s\"\n", "  %s: '%s\n", "  %s'\n", "%s: {%s: %s,\n", "  %s: %s}\n",
		"%s: [%s,\n", "  %s]\n", "? %s\n", ": %s\n", "%s: &x %s\n", "*x : %s\n", "%s: *x\n", "# %s: %s\n", "---\n",
		"--- # %s: %s\n", "\"%s\": %s\n", "- \"%s\":\n", "    %s: %s\r\n", "%s: !!str %s\n", "  %s: !!int\n", "\n",
		"  <<: %s\n", "%s: %s # %s\n", "  \"%s\\\n", "    config.kubernetes.io/local-config: %s\n", "  annotations:\n",
		"metadata:\n", "items:\n", "%s: {?%s: %s,\n", "- kind: %s\n", "  %s %s: %s\n",
		"  name: %s\n", "  namespace: %s\n", "  labels:\n", "  labels: {a: %s}\n", "  finalizers:\n", "  generation: %s\n",
		"apiVersion: %s\n", "kind: %s\n", "...\n", "{a: %s}\n", "  creationTimestamp: %s\n",
	}
	values := []string{
		"a b", "A-c.d", "\"a\"", "\"b\"", "'a'", "'b'", "\"a #b\"", "'a, b'", "1", "23", "007", "1.5", ".nan",
		"1e3", "30s", "true", "\"false\"", "no", "null", "~", "2001-01-01", "x:y", "x: y", "a #b", "\"\"", "[a]", "{a: b}",
		"a?b", "a*b", "a ?b", "a,b", "é", "\"é\"", "\"a\u2028\"", "\"\\x7f\"", "\"\\u0092\"", "a:", "-", "- a",
		"*x", "&x a",
		"|", "\"\\n\"", "List",
	}
	type outcome struct {
		text    string
		invalid string
	}
	known, compared, refused := map[uint64]outcome{}, 0, 0
	for seed := range uint64(30_000) {
		r := rand.New(rand.NewPCG(seed/40, 1)) //nolint:gosec // the same lines for 40 texts
		v := rand.New(rand.NewPCG(seed, 2))    //nolint:gosec // a test
		var b strings.Builder
		b.WriteString([]string{"", "apiVersion: v1\nkind: A\nmetadata:\n  name: a\n",
			"apiVersion: v1\nkind: A\nmetadata:\n  name: a\ndata:\n",
			"apiVersion: v1\nkind: A\nmetadata:\n  name: a\n  labels:\n", "apiVersion: v1\nkind: A\nmetadata:\n"}[r.IntN(5)])
		for range 1 + r.IntN(3) {
			line := lines[r.IntN(len(lines))]
			for strings.Contains(line, "%s") {
				value := string('a' + rune(v.IntN(3)))
				if v.IntN(3) == 0 {
					value = values[v.IntN(len(values))]
				}
				line = strings.Replace(line, "%s", value, 1)
			}
			b.WriteString(line)
		}
		now := outcome{text: b.String()}
		if found := objects.Refusal([]byte(now.text)); found != nil {
			now.invalid = fmt.Sprintf("line %d: %s", found.Line, found.Message)
		}
		shape := objects.Shape([]byte(now.text))
		before, ok := known[shape]
		if !ok {
			known[shape] = now
			continue
		}
		if before.text != now.text {
			compared++
			if now.invalid != "" {
				refused++
			}
		}
		if before.invalid != now.invalid {
			t.Errorf("%q: %s\n%q: %s", before.text, before.invalid, now.text, now.invalid)
		}
	}
	if compared-refused < 300 || refused < 300 {
		t.Errorf("only %d texts were compared, %d of them refused", compared, refused)
	}
}
