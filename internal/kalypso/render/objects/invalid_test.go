package objects_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
	{"a control character in a value", head + "data:\n  a: \"\\x7f\"\n", 6,
		"a value contains the control character U+007F, which kustomize can't write"},
	{"a control character of Windows", head + "data:\n  a: b\n  c: \"caf\\xe9 \\x92s\"\n", 7,
		"a value contains the control character U+0092"},
	{"no character in a list", head + "x: [a, \"\\uffff\"]\n", 5, "a value contains the control character U+FFFF"},
	{"no character in a key", head + "data:\n  \"\\ufffe\": b\n", 6, "the key contains the control character U+FFFE"},
	{"a key that is too long", head + "data:\n  ? " + strings.Repeat("k", 1100) + "\n  : b\n", 6,
		"the key " + strings.Repeat("k", 50) + "… is longer than 1,024 characters"},
	{"a Kustomization in a file of objects", "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n", 1,
		"missing metadata.name"},
}

// refused lists texts of files that kustomize builds, but that a cluster refuses, or of which something is lost.
var refused = []struct {
	name, text string
	line       int
	why        string
	object     string
}{
	{"a name that is a number", named("1e3"), 4, "metadata.name is a number, and must be a string. Quote it",
		`ConfigMap 1e3: write name: "1e3"`},
	{"a name that is an octal number", named("012"), 4, "metadata.name is a number", `ConfigMap 012: write name: "012"`},
	{"a name that is a boolean", named("true"), 4, "metadata.name is a boolean", `ConfigMap true: write name: "true"`},
	{"a name that is a date", named("2001-01-01"), 4, "metadata.name is a date",
		`ConfigMap 2001-01-01: write name: "2001-01-01"`},
	{"a name with the tag of a number", named("!!int \"5\""), 4, "metadata.name is a number",
		`ConfigMap 5: write name: "5"`},
	{"an alias of a number", "x: &x 5\n" + named("*x"), 5, "metadata.name is a number", `ConfigMap 5: write name: "5"`},
	{"a merged number", "x: &x\n  name: 5\napiVersion: v1\nkind: A\nmetadata:\n  <<: *x\n", 2, "metadata.name is a number",
		`A 5: write name: "5"`},
	{"a namespace that is a number", head + "  namespace: 5\n", 5, "metadata.namespace is a number",
		`ConfigMap a: write namespace: "5"`},
	{"a namespace that is a map", head + "  namespace: {}\n", 5, "metadata.namespace is a map, and must be a string",
		"ConfigMap a"},
	{"a prefix that is a boolean", head + "  generateName: false\n", 5, "metadata.generateName is a boolean",
		`ConfigMap a: write generateName: "false"`},
	{"a version that is a number", "apiVersion: 1\nkind: A\nmetadata: {name: x}\n", 1,
		"apiVersion is a number, and must be a string", `A x: write apiVersion: "1"`},
	{"a kind that is a boolean", "apiVersion: v1\nkind: true\nmetadata: {name: x}\n", 2, "kind is a boolean",
		`true x: write kind: "true"`},
	{"a label that is a boolean", head + "  labels: {on-prem: true}\n", 5,
		`metadata.labels["on-prem"] is a boolean, and must be a string. Quote it`, `ConfigMap a: write on-prem: "true"`},
	{"two labels of other types", head + "  labels:\n    z: 1.10\n    a: 5\n", 6, `metadata.labels["z"] is a number`,
		`ConfigMap a: write z: "1.10"`},
	{"a label that is a date", head + "  labels: {build: 2001-01-01}\n", 5, `metadata.labels["build"] is a date`,
		`ConfigMap a: write build: "2001-01-01"`},
	{"a label that is a list", head + "  labels: {a: [b]}\n", 5, `metadata.labels["a"] is a list, and must be a string`,
		"ConfigMap a"},
	{"labels that are a list", head + "  labels: [a]\n", 5, "metadata.labels is a list, and must be a map of strings",
		"ConfigMap a"},
	{"labels that are a text", head + "  labels: a\n", 5, "metadata.labels is a string, and must be a map of strings",
		"ConfigMap a"},
	{"an annotation that is a number", head + "  annotations: {a: 5}\n", 5, `metadata.annotations["a"] is a number`,
		`ConfigMap a: write a: "5"`},
	{"an annotation that is a map", head + "  annotations: {a: {b: c}}\n", 5, `metadata.annotations["a"] is a map`,
		"ConfigMap a"},
	{"an annotation that is null in words", head + "  annotations: {a: null}\n", 5, `metadata.annotations["a"] is null`,
		`ConfigMap a: write a: "null"`},
	{"annotations that are a number", head + "  annotations: 5\n", 5, "metadata.annotations is a number", "ConfigMap a"},
	{"a finalizer that is a number", head + "  finalizers:\n  - 5\n", 6,
		"metadata.finalizers is a number, and must be a string",
		"ConfigMap a"},
	{"finalizers that are a text", head + "  finalizers: a\n", 5, "metadata.finalizers is a string, and must be a list",
		"ConfigMap a"},
	{"owners that are a map", head + "  ownerReferences: {name: a}\n", 5,
		"metadata.ownerReferences is a map, and must be a list", "ConfigMap a"},
	{"a generation that is a text", head + "  generation: \"1\"\n", 5,
		"metadata.generation is a string, and must be a whole number", "ConfigMap a"},
	{"a time that is a number", head + "  creationTimestamp: {}\n", 5, "metadata.creationTimestamp is a map",
		"ConfigMap a"},
	{"an element of a list", list + "- apiVersion: v1\n  kind: A\n  metadata:\n    name: b\n    labels: {c: 1}\n", 8,
		`metadata.labels["c"] is a number`, `A b: write c: "1"`},
	{"an element of a list in a later document", named("a") + "---\n" + list +
		"- apiVersion: v1\n  kind: A\n  metadata:\n" +
		"    name: 5\n", 12, "metadata.name is a number", `A 5: write name: "5"`},
	{"an element of a list in a list", list +
		"- apiVersion: v1\n  kind: BList\n  items:\n  - apiVersion: v1\n    kind: A\n" +
		"    metadata: {name: 5}\n", 9, "metadata.name is a number", `A 5: write name: "5"`},
	{"a list without items", "apiVersion: v1\nkind: List\n", 1, "the List has no items", "List"},
	{"a list of a kind without items", "# x\napiVersion: v1\nkind: ConfigMapList\n", 2, "the ConfigMapList has no items",
		"ConfigMapList"},
	{"a second object in JSON", "{\"apiVersion\": \"v1\", \"kind\": \"A\", \"metadata\": {\"name\": \"a\"}}\n" +
		"{\"apiVersion\": \"v1\", \"kind\": \"A\", \"metadata\": {\"name\": \"b\"}}\n", 2,
		"there is text after the end of the first object", ""},
	{"a second object in flow style on the same line", "{apiVersion: v1, kind: A, metadata: {name: a}} {a: b}", 1,
		"there is text after the end of the first object", ""},
	{"a second object in flow style in a later document", head +
		"---\n{apiVersion: v1, kind: A, metadata: {name: b}}\n\n" +
		"{apiVersion: v1, kind: A, metadata: {name: c}}\n", 8, "there is text after the end of the first object", ""},
	{"an object in block style after one in flow style", "{apiVersion: v1, kind: A, metadata: {name: b}}\n" + head, 2,
		"there is text after the end of the first object", ""},
	{"a document after the end of one", head + "...\nb: c\n", 6, "there is text after the end of the first object", ""},
	{"a document on a separator in the last line", head + "--- {a: b}", 5, "there is text after the end of the first", ""},
	{"a key twice in a list", list +
		"- {apiVersion: v1, kind: A, metadata: {name: n0-0}}\n- {apiVersion: v1, kind: A, metadata: " +
		"{name: n0-0}}\nitems:\n- {apiVersion: v1, kind: A, metadata: {name: n0-1}}\n", 6,
		`mapping key "items" already defined at line 3`, ""},
	{"less indentation after the first object", "  apiVersion: v1\n  kind: A\n  metadata: {name: a}\nb: c\n", 4,
		"there is text after the end of the first object", ""},
}

// named returns an object with a name in YAML.
func named(name string) string { return strings.Replace(head, "name: a", "name: "+name, 1) }

// TestValidatorOfObjects checks files that kustomize builds although something of them is lost or refused later.
func TestValidatorOfObjects(t *testing.T) {
	var v objects.Validator
	for _, tt := range refused {
		for _, text := range []string{tt.text, strings.ReplaceAll(tt.text, "\n", "\r\n")} {
			found := v.Check("a.yaml", []byte(text))
			if found == nil || found.Line != tt.line || !strings.HasPrefix(found.Message, tt.why) {
				t.Fatalf("%s: %+v, want line %d: %s", tt.name, found, tt.line, tt.why)
			}
			if object := found.Explain([]byte(text)); object != tt.object {
				t.Errorf("%s: %s, want %s", tt.name, object, tt.object)
			}
		}
	}
	// Files of one shape have the same fault, but not the same values.
	for _, name := range []string{"5", "77"} {
		text := []byte(named(name))
		want := "ConfigMap " + name + `: write name: "` + name + `"`
		if object := v.Check("a.yaml", text).Explain(text); object != want {
			t.Errorf("%s, want %s", object, want)
		}
	}
}

// TestObjectsThatKustomizeLoses checks that kustomize builds the refused files, and loses something of them.
func TestObjectsThatKustomizeLoses(t *testing.T) {
	t.Parallel()
	for i, tt := range refused {
		if i%8 != 0 && testing.Short() {
			continue
		}
		if !lost(t, tt.text, objects.Refusal([]byte(tt.text))) {
			t.Errorf("kustomize loses nothing of a file with %s", tt.name)
		}
	}
}

// lost reports whether a cluster does not get the objects of a file as they are written: kustomize fails, builds an
// object whose metadata has other types, or does not read the text after the line of the fault. kustomize writes dates
// and annotations as texts that are not in the file.
func lost(t *testing.T, text string, found *objects.Invalid) bool {
	t.Helper()
	built, failed := kustomize.Build(t, map[string]string{"a.yaml": text})
	if failed != "" || slices.ContainsFunc(built, func(o map[string]any) bool { return !accepted(o) }) {
		return true
	}
	names := nameOfObject.FindAllString(text, -1)
	slices.Sort(names)
	lines := strings.SplitAfter(text, "\n")
	changed := strings.Join(lines[:found.Line], "") + "] no YAML" + strings.Join(lines[found.Line:], "")
	_, failed = kustomize.Build(t, map[string]string{"a.yaml": changed})
	return failed == "" || len(slices.Compact(names)) > len(built) ||
		strings.Contains(lines[found.Line-1], "annotations:") || strings.Contains(found.Message, "is a date")
}

// nameOfObject matches the names in random files.
var nameOfObject = regexp.MustCompile(`\bn\d+-\d+\b`)

// accepted reports whether an API server accepts the types in the metadata of an object.
func accepted(object map[string]any) bool {
	data, err := json.Marshal(object)
	if err != nil {
		return false
	}
	var o struct {
		metav1.TypeMeta   `json:",inline"`
		metav1.ObjectMeta `json:"metadata"`
	}
	return json.Unmarshal(data, &o) == nil && o.APIVersion != "" && o.Kind != "" && o.Name != ""
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
	strings.Replace(head, "a\n", "five\n", 1) + "spec:\n- a\n-\n- {}\n",
	strings.Replace(head, "a\n", "g\n", 1) + "data:\n  a: |\n    ---\n    b: c: d\n  e: >-\n    f\n\n    g\n",
	strings.Replace(head, "a\n", "h\n", 1) + "...\n# nothing\n", strings.Replace(head, "a\n", "l\n", 1) + "---",
	list + "- apiVersion: v1\n  kind: A\n  metadata: {name: i}\n- apiVersion: v1\n  kind: A\n  metadata: {name: j}\n",
	"apiVersion: v1\nkind: AList\nitems:\n- apiVersion: v1\n  kind: A\n  metadata: {name: k}\n",
	list, "apiVersion: v1\nkind: AList\nitems: []\n", "apiVersion: g.io/v1\nkind: AccessList\nmetadata: {name: m}\n",
	named("yes"), named("!!str 5"), named("\"1e3\""), named("1e3x"), named("!foo 7"), named("!!binary Ynl0ZXM="),
	named("n") + "  namespace:\n",
	named("o") + "  labels: {a: yes, b: \"5\", c: , d: null}\n  annotations: {e: 'true', f: }\n",
	named("p") + "  labels:\n  annotations: null\n  creationTimestamp: null\n  finalizers: [a]\n  generation: 1\n",
	named("q") + "data:\n  a: \"\\u0085\\u00a0\\u2028\\ufeff\\x01\"\n", named("r") + "data:\n  " + strings.Repeat("k",
		900) + ": b\n",
	"apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: s, namespace: 'x'}\n",
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
	if found := v.Check("kustomization.yaml", []byte("---\nresources: [a.yaml]\n---\n# nothing\n")); found != nil {
		t.Errorf("%+v", found)
	}
	if found := v.Check("kustomization.yaml", []byte("resources: [a.yaml\n")); found == nil || found.Line != 1 {
		t.Errorf("%+v", found)
	}
	for _, text := range []string{"resources: [a.yaml]\n---\nresources: [b.yaml]\n",
		"{resources: []}\n{resources: []}\n"} {
		if found := v.Check("kustomization.yaml", []byte(text)); found == nil || found.Line < 2 {
			t.Errorf("%+v", found)
		}
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
			if !lost(t, text, found) {
				t.Errorf("kustomize loses nothing of file %d: %+v:\n%s", i, found, text)
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
