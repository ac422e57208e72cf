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

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/pattern"
)

// The limits of a schema. Teams write schemas too.
const (
	maxSchemaBytes = 1 << 20
	maxSchemaDepth = 100
	// maxSchemaParts limits the number of JSON values of a schema.
	maxSchemaParts = 10_000
	// maxSchemaSize limits the number of subschemas after resolving references.
	maxSchemaSize = 100_000
	// maxDigits and maxExponent limit numbers. Every IEEE 754 double fits.
	maxDigits   = 1000
	maxExponent = 1000
	// maxEvaluations limits how often subschemas evaluate values in one validation.
	maxEvaluations = 250_000
	// maxNested limits the nesting depth of subschemas and values together.
	maxNested = 2000
	// maxViolations limits the number of reported violations.
	maxViolations     = 100
	maxViolationBytes = 1000
)

// checkSchemaText checks the length of a schema before it is parsed.
func checkSchemaText(text string) error {
	if len(text) > maxSchemaBytes {
		return fmt.Errorf("the schema has %d bytes; at most %d are allowed", len(text), maxSchemaBytes)
	}
	return nil
}

// checkSchemaDocument checks the size, depth, patterns and numbers of a schema.
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

// checkPatterns checks the cost of the patterns of a schema.
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
		if _, err := pattern.Size(expr); err != nil {
			return fmt.Errorf("pattern %.40q: %w", expr, err)
		}
	}
	return nil
}

func checkNumber(n json.Number) error {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(n.String()), "e")
	e, err := strconv.Atoi(exponent)
	if len(mantissa) > maxDigits || exponent != "" && (err != nil || e > maxExponent || e < -maxExponent) {
		return fmt.Errorf(
			"the schema contains the number %.40s…; at most %d digits and exponents up to %d are allowed",
			n,
			maxDigits,
			maxExponent,
		)
	}
	return nil
}

// boundedPattern is a regular expression of a schema and its size.
type boundedPattern struct {
	*regexp.Regexp
	size int64 // see [pattern.Size]
}

func compilePattern(expr string) (jsonschema.Regexp, error) {
	size, err := pattern.Size(expr)
	if err != nil {
		return nil, err
	}
	re, err := regexp.Compile(expr)
	return boundedPattern{re, size}, err
}

// regexFormat validates values with the format regex.
var regexFormat = &jsonschema.Format{Name: "regex", Validate: func(v any) error {
	if expr, ok := v.(string); ok {
		_, err := compilePattern(expr)
		return err
	}
	return nil
}}
