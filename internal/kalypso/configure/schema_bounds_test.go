package configure

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/measure/processor"
)

// references returns a schema of n levels. Each level is the given text, whose two %d are replaced by the number of the
// next level.
func references(n int, level string) string {
	var b strings.Builder
	b.WriteString(`{"definitions": {`)
	for i := range n {
		fmt.Fprintf(&b, `"d%d": `+level+`, `, i, i+1, i+1)
	}
	fmt.Fprintf(&b, `"d%d": {}}, "$ref": "#/definitions/d0"}`, n)
	return b.String()
}

// TestSchemaBounds checks that a schema which would need endless time or memory to compile is an error that names the
// limit.
func TestSchemaBounds(t *testing.T) {
	var wide strings.Builder
	for i := range 6000 {
		fmt.Fprintf(&wide, `"p%d": {}, `, i)
	}
	large := strings.Repeat("[a-c]{999}", 4)
	tests := []struct{ name, schema, want string }{
		{"deeply nested", strings.Repeat(`{"not": `, 200) + "{}" + strings.Repeat("}", 200), "nested more than 100 deep"},
		{"very deeply nested", strings.Repeat(`{"not": `, 5000) + "{}" + strings.Repeat("}", 5000),
			"nested more than 100 deep"},
		{"deeper than JSON may be", strings.Repeat(`[`, 100_000), "exceeded max depth"},
		{
			"many properties",
			`{"properties": {` + wide.String() + `"z": {}}, "required": [` + strings.Repeat(`"a",`, 5000) + `"b"]}`,
			"more than 10000 parts",
		},
		{"a long description", `{"description": "` + strings.Repeat("x", 2<<20) + `"}`, "has 2097171 bytes; at most 1048576"},
		{"a long pattern", `{"pattern": "` + strings.Repeat("a", 20_000) + `"}`, "the regular expression has 20000 bytes"},
		{"a pattern that repeats", `{"pattern": "(abcdefghijkl){1000}"}`,
			"instructions with its repetitions expanded; at most 10000"},
		{"a pattern of keys that repeats", `{"patternProperties": {"(abcdefghijkl){1000}": {}}}`,
			"instructions with its repetitions expanded; at most 10000"},
		{"many large patterns", `{"anyOf": [` + strings.Repeat(`{"pattern": "`+large+`"}, `, 3000) + `{}]}`,
			"the patterns of the schema have more than 500000 instructions"},
		{"an ordinary pattern", `{"pattern": ` +
			`"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*$"}`, ""},
		{"a number with an exponent", `{"maximum": 1e1000000000}`, "the number 1e1000000000…; at most 1000 digits"},
		{"a number with a small exponent", `{"multipleOf": 1e-1000000000}`, "the number 1e-1000000000"},
		{"a long number", `{"enum": [` + strings.Repeat("9", 100_000) + `]}`, "at most 1000 digits"},
		{"the largest double", `{"maximum": 1.7976931348623157e308}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var err error
			took := processor.Least(2*time.Second, func() { err = CheckSchema(tt.schema) })
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("%.500v, want %q", err, tt.want)
			}
			if took > 2*time.Second {
				t.Errorf("the check of the schema took %s", took)
			}
		})
	}
}

// TestBoundsOfReferences checks that the validation by a schema that refers to itself ends. It is accepted if each
// reference applies to a smaller part of the value.
func TestBoundsOfReferences(t *testing.T) {
	nested := func(n int) map[string]any {
		v := map[string]any{"leaf": "x"}
		for range n {
			v = map[string]any{"a": v, "list": []any{"1", v["leaf"]}}
		}
		return v
	}
	many := map[string]any{}
	for i := range 20_000 {
		many[fmt.Sprint("k", i)] = strings.Repeat("a", 40)
	}
	var listed strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&listed, `"v%d", `, i)
	}
	ref := func(keyword string) string {
		return `{"` + keyword + `": [{"$ref": "#/definitions/d%d"}, {"$ref": "#/definitions/d%d"}]}`
	}
	const below = `{"properties": {"a": {"$ref": "#/definitions/d%d"}, "b": {"$ref": "#/definitions/d%d"}}}`
	expressions := map[string]any{}
	for i := range 20_000 {
		expressions[fmt.Sprint("k", i)] = strings.Repeat("[a-c]{999}", 5)
	}
	const tooMany = "more than 250000 evaluations"
	tests := []struct {
		name, schema string
		values       map[string]any
		want         string // a part of the violations; empty if the values are valid
	}{
		{"a reference per level of the value", `{"additionalProperties": {"$ref": "#"}}`, nested(90), ""},
		{
			"two references per level of the value",
			`{"additionalProperties": {"allOf": [{"$ref": "#"}, {"$ref": "#"}]}}`,
			nested(40),
			tooMany,
		},
		{"a dynamic reference per level of the value",
			`{"$schema": "https://json-schema.org/draft/2020-12/schema", "$dynamicAnchor": "n", ` +
				`"additionalProperties": {"$dynamicRef": "#n"}}`, nested(90), ""},
		{"two dynamic references per level of the value", `{"$schema": "https://json-schema.org/draft/2020-12/schema", ` +
			`"$dynamicAnchor": "n", "additionalProperties": {"allOf": [{"$dynamicRef": "#n"}, {"$dynamicRef": "#n"}]}}`,
			nested(40), tooMany},
		{"40 levels of two references", references(40, ref("allOf")), nested(1), tooMany},
		{"40 levels with anyOf", references(40, ref("anyOf")), nested(1), tooMany},
		{"40 levels with oneOf", references(40, ref("oneOf")), nested(1), tooMany},
		{"40 levels below properties", references(40, below), nested(90), ""},
		{"few levels", references(12, ref("allOf")), nested(1), ""},
		{"a chain of references", references(3200, `{"$ref": "#/definitions/d%d", "$comment": "d%d"}`), many, tooMany},
		{"values that are large patterns", `{"additionalProperties": {"format": "regex"}}`, expressions, ""},
		{"a long key by many patterns", `{"allOf": [` + strings.Repeat(`{"patternProperties": {"^a": {}}}, `, 3000) + `{}]}`,
			map[string]any{strings.Repeat("a", 1<<20): "b"}, tooMany},
		{"a long value by many formats", `{"additionalProperties": {"allOf": [` +
			strings.Repeat(`{"format": "uri"}, `, 3000) + `{}]}}`, map[string]any{"v": strings.Repeat("a", 1<<20)}, tooMany},
		{"a reference to itself at the same level", `{"allOf": [{"$ref": "#"}]}`, nested(1), "reference cycle"},
		{"many values", `{"additionalProperties": {"type": "string", "pattern": "^a+$"}}`, many, ""},
		{"many patterns of many values", `{"additionalProperties": {"allOf": [` + strings.Repeat(`{"pattern": `+
			`"(a?){500}$"},`, 40) + `{}]}}`, many, tooMany},
		{
			"a long value and a large pattern",
			`{"properties": {"v": {"pattern": "(a?){500}$"}}}`,
			map[string]any{"v": strings.Repeat("a", 1<<20)},
			tooMany,
		},
		{"a long enum at many places", `{"additionalProperties": {"enum": [` + listed.String() + `"c"]}}`, many, tooMany},
		{"many failures", `{"additionalProperties": {"type": "integer"}}`, many, "and 19900 more"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got string
			took := processor.Least(2*time.Second, func() {
				schema, err := compileSchema(tt.schema)
				if err != nil {
					t.Fatal(err)
				}
				got = strings.Join(schemaViolations(schema, tt.values, maps.Keys(tt.values)), "\n")
			})
			if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
				t.Errorf("%.500s, want %q", got, tt.want)
			}
			if took > 2*time.Second || len(got) > 200_000 {
				t.Errorf("the check of the values took %s, and the violations have %d bytes", took, len(got))
			}
		})
	}
}

// TestSchemasByKey lists which schemas can validate each key alone, since the result does not depend on other keys.
func TestSchemasByKey(t *testing.T) {
	for text, want := range map[string]bool{
		`{"type": "object", "required": ["A"], "properties": {"A": {"enum": ["a"]}}}`: true,
		`{"additionalProperties": {"not": {"type": "string"}}}`:                       true,
		`{"patternProperties": {"^A": false}, "propertyNames": {"maxLength": 3}}`:     true,
		`{"title": "t", "description": "d", "default": {}, "definitions": {"a": {}}}`: true,
		`true`:                                                  true,
		`{"enum": [{"A": "a"}]}`:                                false,
		`{"const": {"A": "a"}}`:                                 false,
		`{"minProperties": 1}`:                                  false,
		`{"maxProperties": 1}`:                                  false,
		`{"dependencies": {"A": ["B"]}}`:                        false,
		`{"dependencies": {"A": {}}}`:                           false,
		`{"allOf": [{"required": ["A"]}]}`:                      false,
		`{"anyOf": [{"required": ["A"]}]}`:                      false,
		`{"oneOf": [{"required": ["A"]}]}`:                      false,
		`{"not": {"required": ["A"]}}`:                          false,
		`{"if": {}, "then": false}`:                             false,
		`{"$ref": "#/definitions/a", "definitions": {"a": {}}}`: false,
		`{"$schema": "https://json-schema.org/draft/2020-12/schema", "dependentRequired": {"A": ["B"]}}`: false,
		`{"$schema": "https://json-schema.org/draft/2020-12/schema", "dependentSchemas": {"A": {}}}`:     false,
		`{"$schema": "https://json-schema.org/draft/2020-12/schema", "unevaluatedProperties": false}`:    false,
		`{"$schema": "https://json-schema.org/draft/2020-12/schema", "$dynamicRef": "#a", "$defs": {"a": ` +
			`{"$dynamicAnchor": "a"}}}`: false,
	} {
		schema, err := compileSchema(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if schema.byKey != want {
			t.Errorf("%s: by key is %t, want %t", text, schema.byKey, want)
		}
	}
}
