package configure

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/pattern"
)

// The bounds of a schema. Teams write schemas too.
const (
	maxSchemaBytes = 1 << 20
	maxSchemaDepth = 100
	// maxSchemaParts bounds the JSON values that a schema is made of.
	maxSchemaParts = 10_000
	// maxSchemaSize bounds the schemas within a schema, with what its references lead to in their place.
	maxSchemaSize = 100_000
	// maxDigits and maxExponent bound numbers: an IEEE 754 double fits, written out or not.
	maxDigits   = 400
	maxExponent = 400
	// maxEvaluations is how often a schema may look at values and at parts of them, in one validation.
	maxEvaluations = 250_000
	// maxNested bounds how deep schemas that look at a value may be nested, with the value's own depth.
	maxNested = 2000
	// maxViolations is how many of what a schema has against values are told.
	maxViolations     = 100
	maxViolationBytes = 1000
)

// checkSchemaText bounds the text of a schema, before any of it is compiled.
func checkSchemaText(text string) error {
	if len(text) > maxSchemaBytes {
		return fmt.Errorf("the schema has %d bytes; at most %d are allowed", len(text), maxSchemaBytes)
	}
	return nil
}

// checkSchemaDocument bounds what a schema is made of.
func checkSchemaDocument(doc any) error {
	parts := 0
	var visit func(v any, depth int) error
	visit = func(v any, depth int) error {
		if parts++; parts > maxSchemaParts {
			return fmt.Errorf("the schema has more than %d parts", maxSchemaParts)
		}
		if depth > maxSchemaDepth {
			return fmt.Errorf("the schema is nested more than %d deep", maxSchemaDepth)
		}
		switch v := v.(type) {
		case map[string]any:
			if err := checkPatterns(v); err != nil {
				return err
			}
			for _, k := range slices.Sorted(maps.Keys(v)) {
				if err := visit(v[k], depth+1); err != nil {
					return err
				}
			}
		case []any:
			for _, e := range v {
				if err := visit(e, depth+1); err != nil {
					return err
				}
			}
		case json.Number:
			return checkNumber(v)
		}
		return nil
	}
	return visit(doc, 0)
}

// checkPatterns bounds the patterns of a schema.
func checkPatterns(schema map[string]any) error {
	var exprs []string
	if expr, ok := schema["pattern"].(string); ok {
		exprs = append(exprs, expr)
	}
	if properties, ok := schema["patternProperties"].(map[string]any); ok {
		exprs = slices.AppendSeq(exprs, maps.Keys(properties))
	}
	slices.Sort(exprs)
	for _, expr := range exprs {
		if _, err := pattern.Measure(expr); err != nil {
			return fmt.Errorf("pattern %.40q: %w", expr, err)
		}
	}
	return nil
}

func checkNumber(n json.Number) error {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(n.String()), "e")
	e, err := strconv.Atoi(exponent)
	if len(mantissa) > maxDigits || exponent != "" && (err != nil || e > maxExponent || e < -maxExponent) {
		return fmt.Errorf("the schema holds the number %.40s…; at most %d digits and exponents up to %d are allowed", n, maxDigits, maxExponent)
	}
	return nil
}

// boundedPattern is a regular expression of a schema, with what it takes to match it.
type boundedPattern struct {
	*regexp.Regexp
	cost pattern.Cost
}

func compilePattern(expr string) (jsonschema.Regexp, error) {
	cost, err := pattern.Measure(expr)
	if err != nil {
		return nil, err
	}
	re, err := regexp.Compile(expr)
	return boundedPattern{re, cost}, err
}

// regexFormat is the format regex of values.
var regexFormat = &jsonschema.Format{Name: "regex", Validate: func(v any) error {
	if expr, ok := v.(string); ok {
		_, err := compilePattern(expr)
		return err
	}
	return nil
}}
