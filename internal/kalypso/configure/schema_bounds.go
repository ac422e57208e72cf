package configure

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/pattern"
)

// The limits of a schema. Teams write schemas too.
const (
	maxSchemaBytes = 1 << 20
	maxSchemaDepth = 100
	// maxSchemaParts limits the number of JSON values of a schema.
	maxSchemaParts = 10_000
	// maxPatterns limits the instructions of all patterns of a schema. Compiling them takes time and memory.
	maxPatterns = 500_000
	// maxDigits and maxExponent limit numbers. Every IEEE 754 double fits.
	maxDigits   = 1000
	maxExponent = 1000
	// maxViolations limits the number of reported violations.
	maxViolations     = 100
	maxViolationBytes = 1000
)

// schemaDocument counts the parts of a schema and the instructions of its patterns. It stops at the first part that
// exceeds a limit.
type schemaDocument struct {
	parts    int
	patterns int64
	err      error
}

func (d *schemaDocument) add(v any, depth int) {
	d.parts++
	switch {
	case d.err != nil:
		return
	case d.parts > maxSchemaParts:
		d.err = fmt.Errorf("the schema has more than %d parts", maxSchemaParts)
	case depth > maxSchemaDepth:
		d.err = fmt.Errorf("the schema is nested more than %d deep", maxSchemaDepth)
	}
	switch v := v.(type) {
	case map[string]any:
		d.addPattern(v["pattern"])
		properties, _ := v["patternProperties"].(map[string]any)
		for _, expr := range slices.Sorted(maps.Keys(properties)) {
			d.addPattern(expr)
		}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			d.add(v[k], depth+1)
		}
	case []any:
		for _, e := range v {
			d.add(e, depth+1)
		}
	case json.Number:
		d.err = cmp.Or(d.err, checkNumber(v))
	}
}

func (d *schemaDocument) addPattern(v any) {
	expr, _ := v.(string)
	size, err := pattern.Size(expr)
	d.patterns += size
	switch {
	case d.err != nil:
	case err != nil:
		d.err = fmt.Errorf("pattern %.40q: %w", expr, err)
	case d.patterns > maxPatterns:
		d.err = fmt.Errorf("the patterns of the schema have more than %d instructions with their repetitions expanded",
			maxPatterns)
	}
}

func checkNumber(n json.Number) error {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(n.String()), "e")
	e, err := strconv.Atoi(exponent)
	if len(mantissa) > maxDigits || exponent != "" && (err != nil || e > maxExponent || e < -maxExponent) {
		return fmt.Errorf("the schema contains the number %.40s…; at most %d digits and exponents up to %d are allowed",
			n, maxDigits, maxExponent)
	}
	return nil
}

// boundedPattern is a regular expression of a schema and its size. It is compiled when it is first matched with a text.
// The library often asks for a pattern only to check that it is valid, such as a value whose format is regex.
type boundedPattern struct {
	expr     string
	size     int64 // see [pattern.Size]
	compiled func() *regexp.Regexp
}

// MatchString reports whether a text matches.
func (p *boundedPattern) MatchString(text string) bool { return p.compiled().MatchString(text) }

// String returns the regular expression.
func (p *boundedPattern) String() string { return p.expr }

func parsePattern(expr string) (jsonschema.Regexp, error) {
	size, err := pattern.Size(expr)
	if err != nil {
		return nil, err
	}
	if _, err := syntax.Parse(expr, syntax.Perl); err != nil {
		return nil, err
	}
	compiled := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
	return &boundedPattern{expr, size, compiled}, nil
}
