package fleetyaml_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet/fleetyaml"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/seeds"
)

// inJSON returns a ConfigSchema in JSON on one line.
func inJSON(name string) string {
	return `{"apiVersion": "scheduler.kalypso.io/v1alpha1", "kind": "ConfigSchema", "metadata": {"name": "` + name +
		`"}, "spec": {"schema": "{}\n{}"}}`
}

// inFlow returns the same as [inJSON] in YAML's flow style.
func inFlow(name string) string {
	return "{apiVersion: scheduler.kalypso.io/v1alpha1, kind: ConfigSchema, metadata: {name: " + name +
		"}, spec: {schema: x}}"
}

// inBlock returns the same as [inJSON] in block style, on 4 lines.
func inBlock(name string) string {
	return "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: ConfigSchema\nmetadata: {name: " + name +
		"}\nspec: {schema: x}\n"
}

func parsed(t *testing.T, text string) (names []string, problems problem.Problems) {
	t.Helper()
	found, _, ps := fleetyaml.Parse(t.Context(), problem.Origin{Attribute: "manifests", Key: "fleet.json"}, text)
	for _, o := range found {
		names = append(names, o.Metadata().Name)
	}
	return names, ps
}

// TestParseReadsToTheEnd: all objects of a text are read, and what follows one and is none is an error with its line.
func TestParseReadsToTheEnd(t *testing.T) {
	a, b := inJSON("a"), inJSON("b")
	indented := "  " + strings.ReplaceAll(strings.TrimSpace(inBlock("a")), "\n", "\n  ") + "\n"
	for _, tt := range []struct {
		name, text string
		want       []string
		errors     []string
	}{
		{"JSON lines", a + "\n" + b + "\n", []string{"a", "b"}, nil},
		{"objects in JSON on one line", a + b + " " + inJSON("c"), []string{"a", "b", "c"}, nil},
		{"JSON over several lines", strings.ReplaceAll(a+"\r\n"+b, ", ", ",\r\n"), []string{"a", "b"}, nil},
		{"comments between objects", "# x\n" + a + " # {\n\n# y\n" + b + "\n# z\n", []string{"a", "b"}, nil},
		{"a stream and documents", a + "\n" + b + "\n---\n" + inBlock("c") + "---\n" + inFlow("d") + "\n...\n" + a,
			[]string{"a", "b", "c", "d", "a"}, nil},
		{"a separator after JSON", a + "\n---\n# nothing\n---\n", []string{"a"}, nil},
		{"one object in flow style", inFlow("a"), []string{"a"}, nil},
		{"a text after JSON", a + "\n\nfoo\n", []string{"a"}, []string{"Document 2 (line 3) can't be read: it follows"}},
		{"a comma after JSON", a + ",\n" + b, []string{"a"}, []string{"Document 2 (line 1) can't be read: it follows"}},
		{"a brace after JSON", a + "}", []string{"a"}, []string{"Document 2 (line 1) can't be read: it follows"}},
		{"a list after JSON", a + "\n[" + b + "]", []string{"a"}, []string{"Document 2 (line 2) can't be read: it follows"}},
		{"broken JSON after JSON", a + "\n" + b[:20], []string{"a"}, []string{"(line 2) can't be read: it follows"}},
		{"block style after JSON", a + "\n" + inBlock("b"), []string{"a"}, []string{"(line 2) can't be read: it follows"}},
		{"flow style after JSON", a + "\n" + inFlow("b"), []string{"a"}, []string{"(line 2) can't be read: it follows"}},
		{"null after JSON, and a document", a + "\nnull\n---\n" + b, []string{"a", "b"}, []string{"Document 2 (line 2)"}},
		{"flow style after flow style", "# x\n" + inFlow("a") + "\n\n" + inFlow("b"), nil,
			[]string{"Document 1 (line 1) can't be read: line 4: this text follows the end of the first object. Separate"}},
		{"JSON after flow style", inFlow("a") + " " + a, nil, []string{"line 1: this text follows the end"}},
		{"flow style after flow style in a later document", a + "\n---\n" + inFlow("b") + "\n" + inFlow("c"), []string{"a"},
			[]string{"Document 2 (line 2) can't be read: line 4: this text follows"}},
		{"less indentation", indented + "foo: bar\n", nil, []string{"line 5: this text follows the end of the first object"}},
		{"an indented object", indented, []string{"a"}, nil},
		{"JSON that is no object", "[1]\n[2]\n", nil, []string{"line 2: this text follows"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			names, ps := parsed(t, tt.text)
			if diff := cmp.Diff(tt.want, names); diff != "" || len(ps) != len(tt.errors) {
				t.Fatalf("%s%v", diff, ps)
			}
			for i, want := range tt.errors {
				if ps[i].Severity != problem.Error || !strings.Contains(ps[i].Detail, want) ||
					ps[i].Origin.Key != "fleet.json" {
					t.Errorf("%s: %s, want %s", ps[i].Origin, ps[i].Detail, want)
				}
			}
		})
	}
}

// TestAnnotationsAreReadToTheEnd: the YAML of an annotation is one document.
func TestAnnotationsAreReadToTheEnd(t *testing.T) {
	const workload = "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: Workload\nmetadata:\n  name: w\n  annotations:\n" +
		"    kalypso.io/requires: %s\nspec:\n  deploymentTargets: [{name: a, environment: dev}]\n"
	const requires = `{"a": [{"workload": "b"}]}`
	for text, valid := range map[string]bool{
		requires: true, requires + "\n# x\n": true, "a: [{workload: b}]\n": true, "---\na: [{workload: b}]\n---\n": true,
		requires + "\n" + requires: false, requires + " x": false, "a: [{workload: b}]\n---\nb: []\n": false,
		"a: [{workload: b}]\n...\nb: []\n": false, requires + "}": false, "  a: [{workload: b}]\nb: []\n": false,
	} {
		quoted, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, ps := parsed(t, fmt.Sprintf(workload, quoted)); ps.HasErrors() == valid ||
			!valid && !strings.Contains(ps.Error(), "annotation kalypso.io/requires: ") {
			t.Errorf("%s: %v", text, ps)
		}
	}
}

// TestParseLosesNoObject: of random objects one after another, in any style and with or without a separator, Parse
// reads all, or reports an error.
func TestParseLosesNoObject(t *testing.T) {
	for seed := range seeds.Of(t, 2_000, 50_000) {
		r := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // a test
		var b strings.Builder
		var want []string
		for n := range 1 + r.IntN(4) {
			name := fmt.Sprintf("n%d", n)
			want = append(want, name)
			object := []func(string) string{inJSON, inFlow, inBlock}[r.IntN(3)](name)
			if r.IntN(6) == 0 {
				object = "  " + strings.ReplaceAll(strings.TrimSpace(object), "\n", "\n  ")
			}
			b.WriteString(object + []string{
				"", " ", "\n", "\n\n", "\n---\n", "\n---\n", "\n...\n", "\n# x\n", "\r\n--- # y\r\n",
			}[r.IntN(9)])
		}
		names, ps := parsed(t, b.String())
		if diff := cmp.Diff(want, names); diff != "" && !ps.HasErrors() {
			t.Fatalf("seed %d: %s in\n%s", seed, diff, b.String())
		}
	}
}

// FuzzParse parses any text, and any text before an object. The object is always read, or an error reported.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"", inJSON("a"), inJSON("a") + inJSON("b"), inFlow("a") + "\n" + inFlow("b"), inBlock("a"),
		"---\n" + inBlock("a") + "...\n",
		"\ufeff%YAML 1.1\n---\n" + inBlock("a"), "a: |\n  ---\n", "a: &x [*x]\n", "- a\n", "{", "# x",
		"\"a\nb\"\nc", "  a: b\nc: d\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		before, ps := parsed(t, text)
		after, _ := parsed(t, text+"\n---\n"+inBlock("last"))
		if diff := cmp.Diff(append(before, "last"), after); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
		if twice, problems := parsed(t, text+inJSON("last")); !ps.HasErrors() && !problems.HasErrors() &&
			json.Valid([]byte(text)) && len(twice) != len(before)+1 {
			t.Errorf("%q: %v", text, twice)
		}
	})
}
