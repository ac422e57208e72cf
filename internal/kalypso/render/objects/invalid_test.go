package objects_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render/objects"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/programs/kustomize"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/slow"
)

// head is the beginning of an object, of 4 lines.
const head = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n"

// list is the beginning of a list, of 3 lines.
const list = "apiVersion: v1\nkind: List\nitems:\n"

// invalid lists texts of files that kustomize refuses.
var invalid = []struct {
	name, text string
	line       int
	why        string
}{
	{"a lost colon", "apiVersion: v1\nkind ConfigMap\nmetadata:\n  name: a\n", 2, "could not find expected ':'"},
	{"a lost colon further below", head + "data:\n  a: b\n  c d\n  e: f\n", 7, "could not find expected ':'"},
	{"a lost colon in the last line", head + "data:\n  a: b\n  c d\n", 7, "could not find expected ':'"},
	{"a lost colon after a comment", head + "# a\ndata:\n  # b\n  c d # e\n\n  f: g\n", 10, "did not find expected key"},
	{"no space after a colon", head + "data:\n  a:b\n  c: d\n", 7, "mapping values are not allowed"},
	{"an open quote", head + "data:\n  a: \"b\n  c: d\n", 6, "found unexpected end of stream"},
	{"an open single quote", head + "data:\n  a: 'b\n  c: d\n", 6, "found unexpected end of stream"},
	{"an open quote in a key", head + "data:\n  \"a: b\n  c: d\n", 6, "found unexpected end of stream"},
	{"an open quote in the first line", "apiVersion: \"v1\nkind: A\n", 1, "found unexpected end of stream"},
	{"text after a quote", head + "data:\n  a: \"b\" c\n", 6, "did not find expected key"},
	{"a quote within quotes", head + "data:\n  a: \"b\"c\"\n", 6, "did not find expected key"},
	{"a tab as indentation", head + "data:\n\ta: b\n", 6, "found character that cannot start any token"},
	{"a tab after spaces", head + "data:\n  a: b\n \tc: d\n", 7, "found a tab character that violates indentation"},
	{"too much indentation", head + "data:\n  a: b\n   c: d\n", 7, "mapping values are not allowed in this context"},
	{"too little indentation", head + "data:\n    a: b\n  c: d\n", 7, "did not find expected key"},
	{"too little indentation of a list", head + "data:\n    - b\n  - c\n", 7, "did not find expected key"},
	{"too little indentation, after 20 comments",
		head + "spec:\n    a: b\n" + strings.Repeat("    # x\n", 20) + "  c: d\n", 27, "did not find expected key"},
	{"an open brace", head + "data: {a: b\n", 5, "did not find expected ',' or '}'"},
	{"an open brace before other keys", head + "data: {a: b\nx: y\n", 5, "did not find expected ',' or '}'"},
	{"an open bracket", head + "data: [a, b\n", 5, "did not find expected ',' or ']'"},
	{"an open bracket before other keys", head + "data: [a, b\nx: y\n", 5, "did not find expected ',' or ']'"},
	{"a closing brace too much", head + "data: {a: b}}\n", 5, "did not find expected key"},
	{"a closing bracket alone", head + "data:\n  a: ]\n", 6, "did not find expected node content"},
	{"a bracket closed by a brace", head + "data: [a}\n", 5, "did not find expected ',' or ']'"},
	{"a duplicate key", head + "data:\n  a: b\n  a: c\n", 7, `mapping key "a" already defined at line 6`},
	{"a duplicate key at the top", head + "kind: B\n", 5, `mapping key "kind" already defined at line 2`},
	{"a duplicate key in flow", head + "data: {a: b, a: c}\n", 5, `mapping key "a" already defined at line 5`},
	{"a duplicate key in a later document", head + "---\n" + head + "data:\n  a: b\n  a: c\n", 12,
		`mapping key "a" already defined at line 11`},
	{"a duplicate key, once in quotes", head + "data:\n  a: b\n  \"a\": c\n", 7,
		`mapping key "a" already defined at line 6`},
	{"a key after a value", head + "data:\n  a: b: c\n", 6, "mapping values are not allowed in this context"},
	{"a key after a value, alone", "a: b: c", 1, "mapping values are not allowed in this context"},
	{"an element of a list among keys", head + "data:\n  a: b\n  - c\n", 7, "did not find expected key"},
	{"a key among the elements of a list", head + "spec:\n- a\nb: c\n- d\n", 8, "did not find expected key"},
	{"a key below a text", head + "data: a\n  b: c\n", 6, "mapping values are not allowed in this context"},
	{"an integer as a key", head + "data:\n  1: b\n", 6, "the key 1 is not a string. Quote it"},
	{"a boolean as a key", head + "data:\n  a: b\n  true: c\n", 7, "the key true is not a string. Quote it"},
	{"null as a key", head + "data:\n  ~: b\n", 6, "the key ~ is not a string. Quote it"},
	{"an integer as a key in a list", list + "- apiVersion: v1\n  kind: A\n  metadata: {name: a}\n  data: {1: b}\n", 7,
		"the key 1 is not a string. Quote it"},
	{"a list as a key", head + "data:\n  ? [a]\n  : b\n", 6, "a key is a map or a list"},
	{"a map as a key", head + "data:\n  {a: b}: c\n", 6, "a key is a map or a list"},
	{"the braces of a template", head + "data:\n  a: {{ x }}\n", 6, "a key is a map or a list"},
	{"a number that JSON does not have", head + "data:\n  a: b\n  c: .nan\n", 7, "JSON has no number NaN"},
	{"an infinite number", head + "data: {a: -.inf}\n", 5, "JSON has no number -Inf"},
	{"an alias of nothing", head + "data:\n  a: *x\n", 6, "unknown anchor 'x' referenced"},
	{"an asterisk", head + "data:\n  a: *\n", 6, "did not find expected alphabetic or numeric character"},
	{"an unknown escape", head + "data:\n  a: \"\\q\"\n", 6, "found unknown escape character"},
	{"an escape without its digits", head + "data:\n  a: \"\\x4\"\n", 6, "did not find expected hexdecimal number"},
	{"a percent sign", head + "data:\n  a: %b\n", 6, "found character that cannot start any token"},
	{"an at sign", head + "data:\n  a: @b\n", 6, "found character that cannot start any token"},
	{"a backtick", head + "data:\n  a: `b`\n", 6, "found character that cannot start any token"},
	{"a text with the tag of a number", head + "data:\n  a: !!int b\n", 6, "cannot decode !!str `b` as a !!int"},
	{"a control character", head + "data:\n  a: \x01\n", 6, "control characters are not allowed"},
	{"no UTF-8", head + "data:\n  a: \xff\n", 6, "invalid leading UTF-8 octet"},
	{"text after a separator", head + "---b: 1\n", 5, "there is text after the separator ---"},
	{"a document on a separator", head + "--- {a: b}\n", 5, "there is text after the separator ---"},
	{"a later document", head + "---\n" + head + "x: [\n", 10, "did not find expected node content"},
	{"the second of three documents", head + "---\nx\n---\n" + head, 6, "missing Resource metadata"},
	{"a directive", "%YAML 1.1\n---\n" + head, 1, "did not find expected <document start>"},
	{"an unknown directive", "%FOO\n" + head, 1, "found unknown directive name"},
	{"a wrong block header", head + "data:\n  a: |x\n  b\n", 6, "did not find expected comment or line break"},
	{"a text that ends too early", head + "data:\n  a: |\n b\n c\n", 7, "did not find expected key"},
	{"a merge of a number", "<<: 5\n" + head, 1, "map merge requires map or sequence of maps as the value"},
	{"an anchor twice at one place", head + "data: &a &b c\n", 5, "did not find expected key"},
	{"no kind", "# x\n\napiVersion: v1\nmetadata:\n  name: b\n", 3, "missing kind"},
	{"no kind in a later document", head + "---\nmetadata:\n  name: b\n", 6, "missing kind"},
	{"a kind that is a map", "apiVersion: v1\nkind: {a: b}\nmetadata: {name: x}\n", 1, "missing kind"},
	{"no metadata", "apiVersion: v1\nkind: A\n", 1, "missing metadata.name"},
	{"no name", "apiVersion: v1\nkind: A\nmetadata:\n  namespace: b\n", 1, "missing metadata.name"},
	{"an empty name", "apiVersion: v1\nkind: A\nmetadata:\n  name: \"\"\n", 1, "missing metadata.name"},
	{"metadata that is a text", "apiVersion: v1\nkind: A\nmetadata: x\n", 1, "missing metadata.name"},
	{"a name that is a map", "apiVersion: v1\nkind: A\nmetadata: {name: {a: b}}\n", 1, "missing metadata.name"},
	{"a name that is generated", "apiVersion: v1\nkind: A\nmetadata: {generateName: a}\n", 1, "missing metadata.name"},
	{"text", "text\n", 1, "missing Resource metadata"},
	{"a list at the top", "- a\n", 1, "missing Resource metadata"},
	{"a number", "5\n", 1, "missing Resource metadata"},
	{"an element without a name", list + "- apiVersion: v1\n  kind: A\n", 1, "missing metadata.name"},
	{"an element that is a text", list + "- a\n", 1, "missing Resource metadata"},
	{"elements that are a number", "apiVersion: v1\nkind: AList\nitems: 5\n", 1, "expected array in AList/items"},
	{"a Kustomization in a file of objects", "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n", 1,
		"missing metadata.name"},
}

// withoutAPIVersion lists texts that kustomize reads, but that no cluster can apply.
var withoutAPIVersion = []string{
	"kind: A\nmetadata: {name: b}\n",
	"apiVersion: [a]\nkind: A\nmetadata: {name: x}\n",
	list + "- kind: A\n  metadata: {name: x}\n",
}

// valid lists texts of files that kustomize reads. No two contain objects with the same name.
var valid = []string{
	"", "\n", "# nothing\n", "---\n", "---\n---\n", "null\n", "~\n", "{}\n", "[]\n", "--- # nothing\n# else\n",
	"---\n" + head + "---\n", "kind: K\r\napiVersion: v1\r\nmetadata:\r\n  name: b\r\n",
	"{\"apiVersion\": \"v1\", \"kind\": \"A\", \"metadata\": {\"name\": \"c\"}}\n",
	strings.Replace(head, "a\n", "d\n", 1) + "1: b\ntrue: c\n", // at the top, each key is a string
	strings.Replace(head, "a\n", "e\n", 1) + "data:\n  yes: b\n  on: c\n  3x: d\n",
	strings.Replace(head, "a\n", "f\n", 1) + "x: &x {a: b}\ny: *x\nz:\n  <<: *x\n  c: d\n",
	strings.Replace(head, "a\n", "5\n", 1) + "spec:\n- a\n-\n- {}\n",
	strings.Replace(head, "a\n", "g\n", 1) + "data:\n  a: |\n    ---\n    b: c: d\n  e: >-\n    f\n\n    g\n",
	strings.Replace(head, "a\n", "h\n", 1) + "...\nb: c: d\n", // kustomize ends reading there
	list + "- apiVersion: v1\n  kind: A\n  metadata: {name: i}\n- apiVersion: v1\n  kind: A\n  metadata: {name: j}\n",
	"apiVersion: v1\nkind: AList\nitems:\n- apiVersion: v1\n  kind: A\n  metadata: {name: k}\n",
	list, "apiVersion: v1\nkind: AList\nitems: []\n",
}

func TestValidator(t *testing.T) {
	var v objects.Validator
	for _, tt := range invalid {
		for range 2 { // the second time, the validator knows the shape
			found := v.Check("a.yaml", []byte(tt.text))
			if found == nil || found.Line != tt.line || !strings.HasPrefix(found.Message, tt.why) {
				t.Errorf("%s: %+v, want line %d: %s", tt.name, found, tt.line, tt.why)
			}
		}
	}
	for _, text := range withoutAPIVersion {
		if found := v.Check("a.yaml", []byte(text)); found == nil || found.Message != "it has no apiVersion" {
			t.Errorf("%q: %v", text, found)
		}
	}
	for _, text := range valid {
		if found := v.Check("a.yaml", []byte(text)); found != nil {
			t.Errorf("%q: %+v", text, found)
		}
	}
}

// TestValidatorOfHostileTexts checks texts for which kustomize would never end, or would need gigabytes.
func TestValidatorOfHostileTexts(t *testing.T) {
	bomb := head + "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
	for c := 'b'; c < 'k'; c++ {
		bomb += fmt.Sprintf("%c: &%c [%s]\n", c, c, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*%c, ", c-1), 10), ", "))
	}
	for _, tt := range []struct {
		name, text string
		line       int
		why        string
	}{
		{"a text that contains itself", head + "data:\n  a: &x [*x]\n", 6, "anchor 'x' value contains itself"},
		{"many aliases", bomb, 13, "document contains excessive aliasing"},
		{"a text that contains itself, after another fault", "a\n---\n" + head + "data:\n  a: &x [*x]\n", 1,
			"missing Resource metadata"},
		{"deep lists", head + "a: " + strings.Repeat("[", 20_000), 5, "exceeded max depth"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			found := new(objects.Validator).Check("a.yaml", []byte(tt.text))
			if found == nil || !strings.HasPrefix(found.Message, tt.why) {
				t.Errorf("%+v", found)
			}
		})
	}
}

// A kustomization is not an object with a name, but must be valid YAML.
func TestValidatorOfKustomization(t *testing.T) {
	var v objects.Validator
	if found := v.Check("kustomization.yaml", []byte("resources: [a.yaml]\n")); found != nil {
		t.Errorf("%+v", found)
	}
	if found := v.Check("kustomization.yaml", []byte("resources: [a.yaml\n")); found == nil || found.Line != 1 {
		t.Errorf("%+v", found)
	}
}

// TestValidatorEqualsKustomize checks that kustomize refuses the invalid files and reads the valid ones.
func TestValidatorEqualsKustomize(t *testing.T) {
	t.Parallel()
	for i, tt := range invalid {
		if i%8 != 0 && testing.Short() {
			continue
		}
		if _, failed := kustomize.Build(t, map[string]string{"a.yaml": tt.text}); failed == "" {
			t.Errorf("kustomize reads a file with %s", tt.name)
		}
	}
	mustRead(t, append(append([]string{}, valid...), withoutAPIVersion...))
}

// TestValidatorEqualsKustomizeForRandomFiles checks that kustomize reads and refuses the same random files as the
// validator, before and after a small change.
func TestValidatorEqualsKustomizeForRandomFiles(t *testing.T) {
	t.Parallel()
	const batch = 250
	texts, changed := make([]string, 4*batch), make([]string, 4*batch)
	var v objects.Validator
	for i := range texts {
		r := rand.New(rand.NewPCG(uint64(i), 3)) //nolint:gosec // a test
		texts[i] = randomFile(r, i)
		if found := v.Check("a.yaml", []byte(texts[i])); found != nil {
			t.Errorf("%d: %+v:\n%s", i, found, texts[i])
		}
		changed[i] = change(r, texts[i])
	}
	if testing.Short() {
		texts = texts[:batch]
	}
	for i := 0; i < len(texts); i += batch {
		mustRead(t, texts[i:i+batch])
	}
	slow.Skip(t)
	refused := 0
	var read []string
	for i, text := range changed {
		switch found := v.Check("a.yaml", []byte(text)); {
		case found == nil:
			read = append(read, text)
		case found.Message == "it has no apiVersion":
		case refused < 200:
			refused++
			if _, failed := kustomize.Build(t, map[string]string{"a.yaml": text}); failed == "" {
				t.Errorf("kustomize reads file %d: %+v:\n%s", i, found, text)
			}
		}
	}
	if refused < 200 || len(read) < 200 {
		t.Errorf("%d changed files are refused, %d are read", refused, len(read))
	}
	mustRead(t, read)
}

// mustRead fails the test if kustomize refuses a file. It builds all files in one folder first, which is faster. If
// that fails, it builds each half on its own, since two files may have the same objects.
func mustRead(t *testing.T, texts []string) {
	t.Helper()
	files := map[string]string{}
	for i, text := range texts {
		files[fmt.Sprintf("%04d.yaml", i)] = text
	}
	_, failed := kustomize.Build(t, files)
	switch {
	case failed == "":
	case len(texts) == 1:
		t.Errorf("kustomize refuses %q: %s", texts[0], failed)
	default:
		mustRead(t, texts[:len(texts)/2])
		mustRead(t, texts[len(texts)/2:])
	}
}
