package engine_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet/fleetyaml"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// hostileValues returns cases of values of configs.
func hostileValues() (all []hostileCase) {
	const show = "x: {{ .ConfigData.V }}"
	config := func(name, template, value, want string) {
		object := `Template "r"`
		if template == show && !strings.Contains(value, "{{") {
			object = `ConfigMap "c"`
		}
		all = append(
			all,
			hostileCase{name: name, run: ofTemplate(template, map[string]string{"V": value}), want: want, object: object},
		)
	}
	fine := func(name, template, value, want string) {
		all = append(
			all,
			hostileCase{name: name, run: ofTemplate(template, map[string]string{"V": value}), want: want, renders: true},
		)
	}
	config("a value that contains itself", show, "{{ .ConfigData.V }}", passes)
	config("a value that contains itself twice", show, "{{ .ConfigData.V }}{{ .ConfigData.V }}", passes)
	config("a value that contains itself 100 times", show, strings.Repeat("{{ .ConfigData.V }}", 100), "")
	config("a value that loops", show, "{{ range 9000000000 }}{{ end }}", tooSlow)
	config("a value that grows", show, `{{ "{{" }} repeat 2000000000 "x" {{ "}}" }}`, size)
	config("a value of braces", show, strings.Repeat("{{", 100_000), "actions; at most 10000")
	config("a value that ends too early", show, "{{ if", "unclosed action")
	config("a long value", show, strings.Repeat("x", 2<<20), "limits.file_size allows 1Mi")
	config(
		"a long alias",
		show,
		"a: &a "+strings.Repeat("x", 100_000)+"\nb: ["+strings.Repeat("*a, ", 500)+"*a]",
		"once its aliases are expanded",
	)
	config("deep lists", show, strings.Repeat("[", 5000)+strings.Repeat("]", 5000), nested)
	config("deep maps", show, strings.Repeat("{a: ", 5000)+strings.Repeat("}", 5000), nested)
	config("a map that is sorted in a loop", "{{ range 900000 }}{{ range $.ConfigData.V }}{{ break }}{{ end }}{{ end }}",
		wordsOf(30_000, "k%d: v\n"), tooSlow)
	config("a list that is searched in a loop", "{{ range 900000 }}{{ if has 1 $.ConfigData.V }}{{ end }}{{ end }}",
		wordsOf(30_000, "- k%d\n"), tooSlow)
	fine("more aliases than YAML allows", "x: {{ .ConfigData.V | len }}", "a: &a [x, x]\n"+laughs(30), "x: ")
	fine("a large map", "x: {{ len .ConfigData.V }}", wordsOf(50_000, "k%d: v\n"), "x: 50000")
	fine("many brackets", "x: {{ .ConfigData.V | len }}", strings.Repeat("[", 900_000), "x: 900000")
	fine("many question marks", "x: {{ .ConfigData.V | len }}", strings.Repeat("? ", 100_000), "x: ")
	fine("a large number", "x: {{ .ConfigData.V | toJson }}", "n: 1e999999999", "x: ")
	fine("a long number", "x: {{ .ConfigData.V | toJson | len }}", "n: "+strings.Repeat("9", 100_000), "x: ")
	return all
}

// laughs returns levels of aliases. Each level refers ten times to the level before ("billion laughs").
func laughs(levels int) string {
	var b strings.Builder
	for i := range levels {
		before := "a"
		if i > 0 {
			before = fmt.Sprint("l", i-1)
		}
		fmt.Fprintf(&b, "l%d: &l%d [%s*%s]\n", i, i, strings.Repeat("*"+before+", ", 9), before)
	}
	return b.String()
}

// hostileTeamTexts returns cases of texts of a team, in a template that quotes them and in a template that does not.
func hostileTeamTexts() (all []hostileCase) {
	const (
		quoted   = "kind: K\nmetadata: {namespace: n}\nspec:\n  path: {{ .Manifests.path | quote }}\n"
		unquoted = "kind: K\nmetadata: {namespace: n}\nspec:\n  path: {{ .Manifests.path }}\n"
	)
	add := func(name, template, text, want string, renders bool) {
		all = append(
			all,
			hostileCase{name: name, want: want, renders: renders, object: "app", run: ofFleet(func() *fleet.Fleet {
				f := teamFleet(template, "", map[string]string{"path": text, "repo": "r"})
				f.Configs[0].Data["SECRET"] = secret
				f.Templates = append(f.Templates, &fleet.Template{
					Meta: fleet.Meta{Name: "c"}, Type: fleet.TemplateConfig, Manifests: []string{"kind: ConfigMap\n"},
				})
				f.ClusterTypes[0].ConfigType = "c"
				return f
			})},
		)
	}
	refused := map[string]string{
		"a template":         "{{ .ConfigData.SECRET }}",
		"half a template":    "{{",
		"a cycle":            `{{ $d := dict }}{{ $_ := set $d "a" $d }}{{ $d }}`,
		"a loop":             "{{ range 9000000000 }}{{ end }}",
		"a line":             "x\nkind: Secret",
		"a carriage return":  "x\rkind: Secret",
		"a separator":        "x\u2028kind: Secret",
		"a tab":              "x\ty",
		"a NUL":              "x\x00y",
		"an escape sequence": "\x1b]0;x\x07",
		"invalid UTF-8":      "x\xff\xfe",
	}
	for _, name := range slices.Sorted(maps.Keys(refused)) {
		add(name+" of a team, quoted", quoted, refused[name], "in the manifests of deployment target", false)
		add(name+" of a team", unquoted, refused[name], "in the manifests of deployment target", false)
	}
	strange := map[string]string{
		"a colon":        "a: b",
		"a list":         "[a, b",
		"a map":          "{a: b",
		"an alias":       "*a",
		"a tag":          "!!x [",
		"a quote":        `"a`,
		"an at sign":     "@a",
		"a percent sign": "%a",
		"a backtick":     "`a`",
		"a dash":         "- a",
	}
	for _, name := range slices.Sorted(maps.Keys(strange)) {
		add(name+" of a team, quoted", quoted, strange[name], "path: ", true)
		add(name+" of a team", unquoted, strange[name], "Quote them in the template", false)
	}
	add("a long text of a team", quoted, strings.Repeat("#", 2<<20), size, false)
	add("a text with many brackets of a team", quoted, strings.Repeat("[", 500_000), "path: ", true)
	add("many brackets of a team", unquoted, strings.Repeat("[", 500_000), "Quote them in the template", false)
	add("many keys of a team", unquoted, "{"+wordsOf(40_000, "k%d: v, ")+"}", "path: ", true)
	add("aliases of a team", unquoted, "[&a [x, x], "+wordsOf(20, "&b%d [*a, *a], ")+"x]", "path: ", true)
	return all
}

// hostileSchemas returns cases of schemas of a team.
func hostileSchemas() (all []hostileCase) {
	add := func(name, schema, want string) {
		all = append(all, hostileCase{name: name, want: want, object: "app", run: ofFleet(func() *fleet.Fleet {
			f := teamFleet("x: y", "", map[string]string{"repo": "r"})
			f.Configs[0].Data = map[string]string{
				"SECRET": secret,
				"DEEP":   strings.Repeat("[", 40) + strings.Repeat("]", 40),
				"LONG":   strings.Repeat("a", 900_000),
			}
			f.Workloads[0].Targets[0].ConfigSchemas = []string{schema}
			return f
		})})
	}
	levels := func(keyword string) string {
		definitions := wordsOf(40, `"d%[1]d": {"`+keyword+`": [{"$ref": "#/definitions/e%[1]d"}, {"$ref": `+
			`"#/definitions/e%[1]d"}]}, `) +
			strings.ReplaceAll(wordsOf(40, `"e%d": {"$ref": "#/definitions/d+%[1]d"}, `), "+", "")
		for i := 39; i >= 0; i-- {
			definitions = strings.Replace(
				definitions,
				fmt.Sprintf(`"e%d": {"$ref": "#/definitions/d%d"}`, i, i),
				fmt.Sprintf(`"e%d": {"$ref": "#/definitions/d%d"}`, i, i+1),
				1,
			)
		}
		return `{"definitions": {` + definitions + `"d40": {}}, "$ref": "#/definitions/d0"}`
	}
	add("two references in 40 levels", levels("allOf"), "more than 250000 evaluations")
	add("two choices in 40 levels", levels("anyOf"), "more than 250000 evaluations")
	add("one of two in 40 levels", levels("oneOf"), "more than 250000 evaluations")
	add("a schema that descends twice", `{"additionalProperties": {"$ref": "#"}, "items": {"allOf": [{"$ref": "#"}, `+
		`{"$ref": "#"}]}}`, "more than 250000 evaluations")
	add("a schema that refers to itself", `{"$ref": "#"}`, "reference cycle")
	add("a deep schema", strings.Repeat(`{"not": `, 5000)+"{}"+strings.Repeat("}", 5000), "nested more than 100 deep")
	add("a deeper schema", strings.Repeat(`[`, 1_000_000), "")
	add("a wide schema", `{"properties": {`+wordsOf(50_000, `"p%d": {}, `)+`"z": {}}}`, "more than 10000 parts")
	add("a long schema", `{"description": "`+strings.Repeat("x", 5<<20)+`"}`, "at most 1048576")
	add("a schema with a pattern that repeats", `{"pattern": "(abcdefghijkl){1000}"}`, "at most 10000 are allowed")
	add("a schema with a long pattern", `{"pattern": "`+strings.Repeat("a", 100_000)+`"}`, "at most 10000 are allowed")
	add("a pattern on a long value", `{"properties": {"LONG": {"pattern": "(a?){500}$"}}}`, "more than 250000 evaluations")
	add("a large number", `{"maximum": 1e1000000000}`, "at most 1000 digits")
	add("a small number", `{"multipleOf": 1e-1000000000}`, "at most 1000 digits")
	add("a file", `{"$ref": "file:///etc/passwd"}`, "outside the schema")
	add("a server", `{"$ref": "http://127.0.0.1:9/x"}`, "outside the schema")
	return all
}

// hostileYAML returns cases of manifests in YAML.
func hostileYAML() (all []hostileCase) {
	add := func(name, text, want string, renders bool) {
		all = append(
			all,
			hostileCase{name: name, want: want, renders: renders, object: "h.yaml",
				run: func(ctx context.Context, _ fleet.Limits) (string, error) {
					objects, passed, problems := fleetyaml.Parse(ctx, problem.Origin{Attribute: "manifests", Key: "h.yaml"}, text)
					if err := problems.Err(); err != nil {
						return "", err
					}
					if passed < 0 {
						return "", errors.New("none")
					}
					return fmt.Sprintf("%d objects", len(objects)), nil
				}},
		)
	}
	const head = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, labels: {platform-config: \"true\"}}\n"
	add("levels of aliases", head+"x: &a [x, x]\n"+laughs(30), "aliases expanded", false)
	add(
		"a long alias in YAML",
		head+"x: &a "+strings.Repeat("x", 100_000)+"\nl: ["+strings.Repeat("*a, ", 5000)+"*a]\n",
		"more than 16Mi with its aliases expanded",
		false,
	)
	add("aliases of aliases", head+"x: &a0 [x]\n"+wordsOf(20_000, "y%[1]d: &b%[1]d [*a0, *a0]\n"), "", true)
	add("an alias of itself", head+"x: &a [*a]\n", "", false)
	add("an alias of nothing", head+"x: *a\n", "unknown anchor", false)
	add("deep lists in YAML", head+"x: "+strings.Repeat("[", 500_000)+"\n", "", false)
	add("deep maps in YAML", head+"x: "+strings.Repeat("{a: ", 300_000)+"\n", "", false)
	add("deep blocks in YAML", head+"x:\n  "+strings.Repeat("- ", 500_000)+"y\n", "", false)
	add("deep lists that end", head+"x: "+strings.Repeat("[", 9000)+strings.Repeat("]", 9000)+"\n", "1 objects", true)
	add("many documents", strings.Repeat("---\n"+head, 5000), "5000 objects", true)
	add("many empty documents", strings.Repeat("---\n", 500_000), "0 objects", true)
	add("many keys", head+"data:\n"+wordsOf(100_000, "  k%d: v\n"), "1 objects", true)
	add("many keys and one twice", head+"data:\n"+wordsOf(100_000, "  k%d: v\n")+"  k1: v\n", `key "k1" already set in `+
		`map`, false)
	add(
		"many keys and a merge",
		head+"d: &d {a: b}\nx:\n  <<: *d\n"+wordsOf(100_000, "  k%d: v\n")+"  k1: v\n",
		`"k1"`,
		false,
	)
	add(
		"many merges",
		head+"m0: &m0 {a: b}\n"+wordsOf(3000, "m%[1]d0: &x%[1]d {<<: *m0, a: c, k%[1]d: v}\n"),
		"1 objects",
		true,
	)
	add("one quote", head+`x: "`+strings.Repeat("a", 5<<20), "", false)
	add("many question marks in YAML", head+strings.Repeat("? ", 300_000), "", false)
	add("a number without end", head+"n: 1"+strings.Repeat("0", 1_000_000)+"\n", "1 objects", true)
	add("a large exponent", head+"n: 1e999999999\n", "", true)
	add("bytes that are no text", "\x00\x01\x02\xff", "", false)
	add("a type of Python", head+"x: !!python/object/apply:os.system [id]\n", "", true)
	return all
}
