package render

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/seeds"
)

// yamlTexts are texts that are close to another style of a scalar, or to another type of value.
var yamlTexts = []string{
	"", " ", "a", "a b", " a", "a ", "a:", "a: b", "a:b", "a #b", "a#b", "#a", "'", "it's", `"a"`, `\`, "a, b", ",a",
	"[a", "]", "{a", "}", "{}", "[]", "&a", "*a", "!a", "|", ">", "%a", "@a", "`a", "?", "? a", "?a", ":", ":a", ": a",
	"-", "--", "---", "--- a", "-a", "- a", "+", "+a", ".", "..", "...", ".a", "./a", "/a", "_a", "<", "<<", "=", "~",
	"~a", "$a", "(a)", ";", "^", "é", "\t", "a\tb", "\x00", "\x7f", "a\xff", "\u2028", "\ufeff", "\r", "a\rb",
	"a\r\nb\r\n",
	"0", "00", "7", "08", "017", "0899", "1.", "1.5", "1..5", "1.2.3", "10.0.0.1", "1.5e3", "1e3", "1e400", "1E3", "0x1F",
	"0xg", "0b101", "0b2", "0o17", "0o8", "1_000", "1__0", "12:30", "12:30:45", "1:99", "500m", "2Gi", "100Mi", "30s",
	"1h", "5d", "0f", "8t", "1z", "80/tcp", "1-2", "1,5", "1 2", "12 apples", "1 # a", "1: a", "1k:",
	"2001-02-03", "2001-2-3", "2001-02-03t04:05:06z", "2001-02-03T04:05:06Z", "2001-02-03 04:05:06", "2001-02-03x",
	"2001-99-99", strings.Repeat("9", 18), strings.Repeat("9", 19), strings.Repeat("9", 400),
	"0." + strings.Repeat("1", 16), "0." + strings.Repeat("1", 400), "nan", ".nan", ".inf", "inf", "Infinity",
	"a\n", "a\nb", "a\nb\n", "a\n\n", "a\n\nb", "\n", "\na", " a\nb", "a \nb", "a\n b", "a\nb ", "a\n  b:\n  - c\n",
	"a\n#b", "a\n\tb", "- a\nb", "---\na", "a\n---\nb\n", "a\n...\n", "a\n\n\n\nb\n", "a\n \nb", "x\né\n",
	strings.Repeat("x", 128), strings.Repeat("x", 129), strings.Repeat("long words ", 30) + "end",
	strings.Repeat("'", 130),
	"a1", "a2", "a10", "a01", "a001", "a1b", "a1_", "a1-b", "a_b", "A_B", "AB", "aB", "a-10", "a-9", "a.10", "a0", "a00",
	"a1.b", "a1.0", "1a", "1b", "a" + strings.Repeat("9", 30), "a" + strings.Repeat("9", 31),
}

// yamlValues are values of the types that occur in data, and of other types.
var yamlValues = []any{
	nil, true, false, 0, 7, -1, 123456789, int64(9007199254740993), uint64(18446744073709551615), 1.5, -0.25, 1e21, 1e-9,
	100.0, []any{}, map[string]any{},
	map[string]string{"a": "1"}, map[string]string{}, []string{"a"}, map[int]string{1: "a"},
}

// words returns the words that YAML does not read as text, in all combinations of upper and lower case.
func words() (all []string) {
	for _, word := range []string{
		"true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan", "inf", "t", "f", "o",
	} {
		for upper := range 1 << len(word) {
			b := []byte(word)
			for i := range b {
				if upper>>i&1 == 1 {
					b[i] -= 'a' - 'A'
				}
			}
			all = append(all, string(b))
		}
	}
	return all
}

// sameYAML fails the test unless marshalYAML returns what the library returns. It reports whether marshalYAML did not
// need the library.
func sameYAML(t *testing.T, v any) (alone bool) {
	t.Helper()
	want, wantErr := yaml.Marshal(v)
	got, err := marshalYAML(v)
	if diff := cmp.Diff(string(want), got); diff != "" || fmt.Sprint(wantErr) != fmt.Sprint(err) {
		t.Errorf("%#v: errors %v and %v, -want +got:\n%s", v, wantErr, err, diff)
	}
	var w yamlWriter
	return w.node(v, 0, yamlRoot)
}

// TestYAMLScalars compares scalars, as values, as keys and in lists, at all depths, with the library's results.
func TestYAMLScalars(t *testing.T) {
	values := slices.Clone(yamlValues)
	for _, s := range slices.Concat(yamlTexts, words()) {
		values = append(values, s)
	}
	for first := range 128 { // each character at each position
		for _, format := range []string{
			"%c", "%ca", "a%c", "a%cb", "a %cb", "a%c b", "1%c", "1%c1", "1.%c", "a\n%cb", "a%c\nb\n",
		} {
			values = append(values, fmt.Sprintf(format, first))
		}
	}
	for _, v := range values {
		sameYAML(t, v)
		sameYAML(t, map[string]any{"k": v, "l": 1})
		sameYAML(t, []any{v, 1})
		sameYAML(t, map[string]any{"a": []any{map[string]any{"b": v, "c": []any{v, []any{v, "x"}}}, "y"}, "z": v})
		sameYAML(t, []any{[]any{[]any{v}, map[string]any{"a": map[string]any{"b": v}, "c": v}}})
		if s, ok := v.(string); ok {
			sameYAML(t, map[string]any{s: v, "k": map[string]any{s: []any{}}, "l": []any{map[string]any{s: 1, "x": v}}})
			sameYAML(t, map[string]string{s: s, "k": s})
		}
	}
}

// TestYAMLKeys compares the order of each pair of keys with the library's order.
func TestYAMLKeys(t *testing.T) {
	for _, a := range yamlTexts {
		for _, b := range yamlTexts {
			sameYAML(t, map[string]any{a: 1, b: 2})
		}
	}
}

// TestYAMLRandom compares random values with the library's results, and requires that most do not need the library.
func TestYAMLRandom(t *testing.T) {
	all, alone := 0, 0
	for seed := range seeds.Of(t, 3000, 300_000) {
		r := rand.New(rand.NewPCG(seed, 41))
		all++
		if sameYAML(t, randomYAML(r, 4)) {
			alone++
		}
		if t.Failed() {
			return
		}
	}
	if !seeds.Single() && alone < all/4 {
		t.Errorf("only %d of %d values were written without the library", alone, all)
	}
}

func randomYAML(r *rand.Rand, depth int) any {
	switch n := r.IntN(10); {
	case n < 3 && depth > 0:
		m := map[string]any{}
		for range r.IntN(5) {
			m[randomText(r)] = randomYAML(r, depth-1)
		}
		return m
	case n < 5 && depth > 0:
		l := []any{}
		for range r.IntN(4) {
			l = append(l, randomYAML(r, depth-1))
		}
		return l
	case n < 6:
		return yamlValues[r.IntN(len(yamlValues))]
	}
	return randomText(r)
}

// randomText returns a common text, or in one of eight cases a text of special characters.
func randomText(r *rand.Rand) string {
	if r.IntN(8) > 0 {
		common := []string{
			"host", "PORT", "db-1", "db-10", "replicas", "REGION_2", "https://a.io/b?c=d#e", "5432", "1.5", "500m", "two words",
			"true", "", "*", "a\nb\n", "a:\n    - b\n", "/var/run", "a=b", "user@host",
		}
		return common[r.IntN(len(common))]
	}
	b := make([]byte, r.IntN(6))
	for i := range b {
		const chars = "aZ019 \n:-#'\"{}[].,_~<eE+\t\xc3\xa9"
		b[i] = chars[r.IntN(len(chars))]
	}
	return string(b)
}

// FuzzYAML compares a text as value and key with the library's.
func FuzzYAML(f *testing.F) {
	for _, s := range yamlTexts {
		f.Add(s, "k")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		if !utf8.ValidString(a) || !utf8.ValidString(b) {
			t.Skip("the library orders invalid UTF-8 by chance")
		}
		sameYAML(t, map[string]any{a: b, b: []any{a, map[string]any{b: a}}})
	})
}
