package configure

import (
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	yaml3 "go.yaml.in/yaml/v3"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/seeds"
)

type (
	object = map[string]any
	list   = []any
)

// TestWholeTextIsStructure parses config values. A text is a map or list only if it is one as a whole, and if the map
// or list contains all of the text.
func TestWholeTextIsStructure(t *testing.T) {
	const big = "12345678901234567890123"
	tests := []struct {
		text string
		want any // nil: the text
	}{
		// One document.
		{"a: 1\nb: [1, 2]\n", object{"a": 1, "b": list{1, 2}}},
		{"---\na: 1\n", object{"a": 1}},
		{"--- # begins\na: 1\n...\n", object{"a": 1}},
		{"%YAML 1.1\n---\na: 1\n", object{"a": 1}},
		{"# before\na: 1 # beside\n# after\n", object{"a": 1}},
		{"a: 1\n...\n# after\n", object{"a": 1}},
		{"\ufeffa: 1\n", object{"a": 1}},
		{"a: 1\r\nb: 2\r\n", object{"a": 1, "b": 2}},
		{"a: 1\rb: 2", object{"a": 1, "b": 2}},
		{"[a, {b: c}]  \n\n", list{"a", object{"b": "c"}}},
		{`{"a": [true, null, 1.5, "x"]}`, object{"a": list{true, nil, 1.5, "x"}}},
		{"{}", object{}},
		{"- ", list{nil}},
		{"? a\n: b", object{"a": "b"}},

		// More than one document, or a text that only begins as one.
		{"[server]\nport = 80\n", nil},
		{"[Unit]\nDescription=x\n[Service]\nExecStart=/bin/x\n", nil},
		{"[[a]]\nb = 1\n", nil},
		{"{\"a\":1}\n{\"b\":2}\n", nil},
		{"{\"a\":1}{\"b\":2}", nil},
		{"{a: 1} b", nil},
		{"[a] # b\nc", nil},
		{"kind: A\n---\nkind: B\n", nil},
		{"kind: A\n...\nkind: B\n", nil},
		{"kind: A\n---\n", nil},
		{"---\n---\na: 1\n", nil},
		{"---\ntitle: T\n---\n# Heading\ntext: not YAML", nil},
		{"---\ntitle: T\n---\n", nil},
		{"text\n---\na: 1\n", nil},
		{"a: 1\n--- b", nil},
		{"[0-9]+:[0-9]+", nil},
		{"{a}-{b}:c", nil},
		{"a: 1\n\x00", nil},
		{"%YAML 1.2\n---\na: 1\n", nil},
		{"# only: a comment", nil},
		{"a: b: c", nil},
		{"- a\nb: c", nil},
		{"*a: b", nil},

		// A key that is there twice.
		{"a: 1\na: 2\n", nil},
		{"a: 1\na: 1\n", nil},
		{"a: {b: 1, b: 2}", nil},
		{"- [{b: 1, b: 2}]", nil},
		{"{a: 1, 'a': 2}", nil},
		{"1: a\n'1': b\n", nil},
		{"1: a\n1.0: b\n", nil},
		{"yes: a\ntrue: b\n", nil},
		{"yes: a\n'true': b\n", nil},
		{"~: a\n'null': b\n", nil},
		{".nan: 1\n.nan: 2\n", nil},
		{"0x10: a\n16: b\n", nil},
		{big + ": a\n'" + big + "': b\n", nil},
		{"{[a]: 1}", nil},

		// Keys of other types.
		{"1: a\ntrue: b\n~: c\n1.5: d\n2001-02-03: e\n0x1F: f\n", object{
			"1": "a", "true": "b", "null": "c", "1.5": "d", "2001-02-03": "e", "31": "f",
		}},
		{big + ": a\n", object{big: "a"}},

		// Anchors, aliases and merge keys.
		{"a: &x {b: 1}\nc: *x\n", object{"a": object{"b": 1}, "c": object{"b": 1}}},
		{"a: &x {b: 1, c: 2}\nd:\n  <<: *x\n  e: 3\n", object{
			"a": object{"b": 1, "c": 2}, "d": object{"b": 1, "c": 2, "e": 3},
		}},
		{"a: &x {b: 1, c: 2}\nd: {<<: *x, c: 3}\n", object{"a": object{"b": 1, "c": 2}, "d": object{"b": 1, "c": 3}}},
		{"a: &x {b: 1, c: 2}\nd: {c: 3, <<: *x}\n", object{"a": object{"b": 1, "c": 2}, "d": object{"b": 1, "c": 3}}},
		{"a: &x {b: 1}\nc: &y {b: 2}\nd: {<<: [*x, *y]}\n", object{
			"a": object{"b": 1}, "c": object{"b": 2}, "d": object{"b": 1},
		}},
		{"a: &x {b: 1}\nd: {<<: *x, c: 3, c: 4}\n", nil},
		{"a: &x [b]\nd: {<<: *x}\n", nil},
		{"a: &x [*x]\n", nil},
		{"a: *x\n", nil},

		// Tags.
		{"a: !!str 5\nb: !!int '6'\nc: !!float 1\nd: ! 7\n", object{"a": "5", "b": 6, "c": 1.0, "d": "7"}},
		{"a: !!binary aGVsbG8=\n", object{"a": "hello"}},
		{"a: !!binary gIA=\n", nil}, // bytes that are no text
		{"a: !!binary '%'\n", nil},
		{"a: !!set {b, c}\n", object{"a": object{"b": nil, "c": nil}}},
		{"a: !!omap [b: 1]\n", object{"a": list{object{"b": 1}}}},
		{"a: !Ref b\n", nil},
		{"a: !Sub\n  - b\n", nil},
		{"!type {a: 1}\n", nil},
		{"%TAG ! tag:x.io:\n---\na: !b c\n", nil},
		{"a: b!\nc: '!d'\n", object{"a": "b!", "c": "!d"}},

		// Integers.
		{"i: " + big, object{"i": json.Number(big)}},
		{"[-" + big + ", +" + big + ", 12_345678901234567890123]", list{
			json.Number("-" + big), json.Number(big), json.Number(big),
		}},
		{"[18446744073709551615, 18446744073709551616, -9223372036854775808, -9223372036854775809]", list{
			uint64(18446744073709551615), json.Number("18446744073709551616"), -9223372036854775808,
			json.Number("-9223372036854775809"),
		}},
		{"{a: 1e30, b: '" + big + "', c: " + big + ".0, d: " + big + "}", object{
			"a": 1e30, "b": big, "c": 1.2345678901234568e22, "d": json.Number(big),
		}},
		{"a: &x " + big + "\nb: *x\n", object{"a": json.Number(big), "b": json.Number(big)}},
		{"[" + big + ", a: b, |\n 5\n]", nil},

		// Quotes.
		{"'", nil},
		{" ' ", nil},
		{"''", ""},
		{" '[1, 2]' ", "[1, 2]"},
		{"'a", nil},
	}
	for _, tt := range tests {
		want := tt.want
		if want == nil {
			want = tt.text
		}
		if d := cmp.Diff(want, parseValue(tt.text)); d != "" {
			t.Errorf("%q (-want +got):\n%s", tt.text, d)
		}
	}
}

// TestNothingOfATextIsLost parses random texts of YAML's characters. A map or list must have as many scalars as the
// nodes of the text, which must be one document.
func TestNothingOfATextIsLost(t *testing.T) {
	structures, texts := 0, 0
	for seed := range seeds.Of(t, 20_000, 200_000) {
		text := randomYAML(rand.New(rand.NewPCG(seed, 79)))
		v, ok := parseStructure(text)
		if !ok {
			texts++
			continue
		}
		structures++
		checkWhole(t, text, v)
	}
	if !seeds.Single() && (structures < 1000 || texts < 1000) {
		t.Errorf("%d structures and %d texts: too few of one of them", structures, texts)
	}
}

// randomYAML returns parts of YAML in random order.
func randomYAML(r *rand.Rand) string {
	parts := []string{
		"a", "b", "1", "12345678901234567890123", "true", "yes", "~", "'a'", `"b"`, "- ", "? ", ": ", ": ", ": ", "\n",
		"\n", "\n  ", "\n  ", "[", "]", "{", "}", ", ", "---\n", "...\n", "# c\n", "&x ", "*x", "<<", "!!str ", "!t ",
		"|\n  ", "\t", "\r\n", "\ufeff", "\u2028", "%YAML 1.1\n", "a: 1\n", "b: [1, 2]\n", "{a: 1}", "[a]",
	}
	var b strings.Builder
	for range 1 + r.IntN(9) {
		b.WriteString(parts[r.IntN(len(parts))])
	}
	return b.String()
}

func checkWhole(t *testing.T, text string, v any) {
	t.Helper()
	decoder := yaml3.NewDecoder(strings.NewReader(text))
	var node yaml3.Node
	if decoder.Decode(&node) != nil {
		return // YAML 1.2 only
	}
	if err := decoder.Decode(new(yaml3.Node)); !errors.Is(err, io.EOF) {
		t.Errorf("%q becomes %v, but has a second document: %v", text, v, err)
	}
	if strings.Contains(text, "<<") {
		return // merged keys may give way
	}
	if want, got := scalars(node.Content[0]), leaves(v); got != want {
		t.Errorf("%q becomes %v with %d scalars, want %d", text, v, got, want)
	}
}

func scalars(n *yaml3.Node) (all int) {
	switch n.Kind {
	case yaml3.AliasNode:
		return scalars(n.Alias)
	case yaml3.ScalarNode:
		return 1
	}
	for _, child := range n.Content {
		all += scalars(child)
	}
	return all
}

func leaves(v any) (all int) {
	switch v := v.(type) {
	case map[string]any:
		for _, element := range v {
			all += 1 + leaves(element)
		}
		return all
	case []any:
		for _, element := range v {
			all += leaves(element)
		}
		return all
	}
	return 1
}

// FuzzValue parses any text.
func FuzzValue(f *testing.F) {
	for _, text := range []string{
		"[server]\nport = 80\n", "a: 1\na: 2\n", "'", "n: 12345678901234567890123", "a: &x {b: 1}\nc: {<<: *x, b: 2}",
		"a: !Ref b", "---\na: 1\n...\n", "? a\n: - b\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if v, err := parseBounded(text, 1<<20); err == nil {
			if _, isText := v.(string); !isText {
				checkWhole(t, text, v)
			}
		}
	})
}
