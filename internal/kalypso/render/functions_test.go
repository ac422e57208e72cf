package render

import (
	"bytes"
	"compress/gzip"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"text/template"

	"github.com/Masterminds/sprig/v3"
	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
)

var update = flag.Bool("update", false, "write the results of the functions")

// oddValues are values that versions of the libraries for YAML, numbers and texts have treated differently.
var oddValues = []any{
	nil, true, false, 0, -1, int64(9007199254740993), uint64(18446744073709551615), 1.5, 1e21,
	"", " ", "text", "<<", "=", "~", "null", "NULL", "yes", "On", "n", "0x1F", "0b101", "0o17", "017", "1_000", "1.0",
	"1e3",
	".5", "+1", ".inf", ".NaN", "9223372036854775808", "2001-02-03", "2001-02-03T04:05:06Z", "12:30:45", "1.2.3-rc.1+b",
	"v99999999999999999999.0.0", "a: b", "- a", "# a", "a #b", "'", `"`, `\`, "@a", "`", "{a", "ünï ☃ 東京", "\u00a0",
	"\u2028", "\t",
	"two\nlines", "ends\n", " begins", strings.Repeat("long words ", 30), strings.Repeat("x", 200),
	"https://a.io/b?c=d#e", "a,b,c", "a/b/../c.txt", "SGVsbG8=", `{"a": [1, null]}`,
	[]any{}, []any{"b", "a", nil, 1}, []any{[]any{1}, map[string]any{}}, map[string]any{},
	map[string]any{"<<": 1, "null": nil, "1": "x", "y": true, "b": map[string]any{"a": []any{1.5}}},
}

// calls returns templates that call a function with a value as its last argument.
func calls(name string) []string {
	t := reflect.TypeOf(functions[name])
	if of := reflect.TypeOf(sprig.HermeticTxtFuncMap()[name]); of != nil &&
		slices.ContainsFunc(slices.Collect(of.Ins()), isDict) {
		t = of // ours takes any value in place of a dict
	}
	filler := func(of reflect.Type) string {
		switch of.Kind() {
		case reflect.Int, reflect.Int64, reflect.Float64, reflect.Uint8:
			return "2"
		case reflect.Bool:
			return "true"
		case reflect.Map:
			return `(dict "k" "v")`
		case reflect.Slice:
			return `(list "a" "b")`
		}
		return `"a"`
	}
	var before []string
	for i := range t.NumIn() - 1 {
		before = append(before, filler(t.In(i)))
	}
	call := func(arguments ...string) string {
		return "{{ " + strings.Join(append([]string{name}, arguments...), " ") + " | toJson }}"
	}
	value := ".ConfigData.v"
	all := []string{call(append(slices.Clone(before), value)...)}
	if t.IsVariadic() {
		all = append(all, call(append(slices.Clone(before), filler(t.In(t.NumIn()-1).Elem()), value)...))
	}
	return all
}

// TestFunctions compares the results of each function for odd values with recorded results. If a new version of Go,
// Sprig or a YAML library changes them, the trees of all fleets may change. The results are in
// testdata/functions.txt.gz; -update writes them.
func TestFunctions(t *testing.T) {
	const golden = "testdata/functions.txt.gz"
	var got strings.Builder
	for _, name := range slices.Sorted(maps.Keys(functions)) {
		if name == "fail" || reflect.TypeOf(functions[name]).NumIn() == 0 {
			continue
		}
		for _, text := range calls(name) {
			fmt.Fprintf(&got, "%s\n", text)
			for _, v := range oddValues {
				data := Data{ConfigData: map[string]any{"v": v}}
				made, err := Text(t.Context(), &fleet.Template{Manifests: []string{text}}, data)
				if err != nil {
					made = "error"
				}
				fmt.Fprintf(&got, "  %.60q: %s\n", fmt.Sprint(v), strings.TrimSpace(made))
			}
		}
	}
	if *update {
		writeGolden(t, golden, got.String())
		return
	}
	if diff := cmp.Diff(strings.Split(readGolden(t, golden), "\n"), strings.Split(got.String(), "\n")); diff != "" {
		t.Errorf("functions (-recorded +now):\n%s", diff)
	}
}

func writeGolden(t *testing.T, file, text string) {
	t.Helper()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err := io.WriteString(z, text)
	if err == nil {
		err = z.Close()
	}
	if err == nil {
		err = os.WriteFile(file, packed.Bytes(), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func readGolden(t *testing.T, file string) string {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestNewerLibraries checks in which results our libraries differ from the older ones of Kalypso's operator. The guide
// Rules and templates lists these differences.
func TestNewerLibraries(t *testing.T) {
	for text, want := range map[string]string{
		// The operator renders << without quotes.
		`{{ toYaml "<<" }}`: `"<<"`,
		// The operator takes these numbers for 0.
		`{{ int "0x1F" }}`:                          "31",
		`{{ int64 "0b101" }}`:                       "5",
		`{{ add "0o17" 1 }}`:                        "16",
		`{{ add1 "1_000" }}`:                        "1001",
		`{{ sub "0x1F" 1 }}`:                        "30",
		`{{ mul "0x10" 2 }}`:                        "32",
		`{{ div "1.0" 1 }}`:                         "1",
		`{{ mod "0b101" 3 }}`:                       "2",
		`{{ max "0x1F" 7 }} {{ biggest "0x1F" 7 }}`: "31 31",
		`{{ min "0x1F" 70 }}`:                       "31",
		// The operator renders NULL.
		`{{ camelcase "NULL" }}`: "Null",
		// The operator gives an error.
		`{{ (semver "9999999999999999999.0.0").Major }}`: "9999999999999999999",
	} {
		if _, err := template.New("").Funcs(functions).Parse(text); err != nil {
			t.Fatal(err)
		}
		got, err := Text(t.Context(), &fleet.Template{Manifests: []string{text}}, Data{})
		if err != nil || strings.TrimSpace(got) != want {
			t.Errorf("%s gives %q, want %q: %v", text, got, want, err)
		}
	}
}
