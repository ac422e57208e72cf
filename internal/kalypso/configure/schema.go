package configure

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// schemaURL is the base URL of a schema. Relative references are resolved against it, so they find nothing.
const schemaURL = schemaRoot + "schema.json"

const schemaRoot = "schema:///"

// CheckSchema returns an error if text is not valid JSON, not a valid JSON Schema, or refers outside itself.
func CheckSchema(text string) error {
	_, err := compileSchema(text)
	return err
}

// compiledSchema is a compiled schema with its parts.
type compiledSchema struct {
	*jsonschema.Schema
	root *part
	// byKey means that the schema only requires keys, and validates the value of each key on its own.
	byKey bool
}

func compileSchema(text string) (*compiledSchema, error) {
	if len(text) > maxSchemaBytes {
		return nil, fmt.Errorf("the schema has %d bytes; at most %d are allowed", len(text), maxSchemaBytes)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("the schema is not valid JSON: %w", jsonError(err))
	}
	var bounds schemaDocument
	bounds.add(doc, 0)
	if bounds.err != nil {
		return nil, bounds.err
	}
	c := jsonschema.NewCompiler()
	c.UseRegexpEngine(parsePattern)
	c.DefaultDraft(jsonschema.Draft7)
	c.UseLoader(noLoader{})
	if err := c.AddResource(schemaURL, doc); err != nil {
		return nil, fmt.Errorf("the schema can't be used: %w", err)
	}
	schema, err := c.Compile(schemaURL)
	var outside *jsonschema.LoadURLError
	switch {
	case errors.As(err, &outside):
		return nil, fmt.Errorf("the schema refers to %q, which is outside the schema and not followed; move the target "+
			"into the schema's own definitions",
			strings.TrimPrefix(outside.URL, schemaRoot))
	case err != nil:
		return nil, fmt.Errorf("the schema is not a valid JSON Schema: %w", tidySchemaError(err))
	}
	root := newPart(schema)
	return &compiledSchema{schema, root, isByKey(schema, root)}, nil
}

// isByKey reports whether s only requires keys, and validates the value of each key on its own.
func isByKey(s *jsonschema.Schema, root *part) bool {
	return len(root.same) == 0 && s.Enum == nil && s.Const == nil &&
		s.MinProperties == nil && s.MaxProperties == nil && len(s.Dependencies) == 0 && len(s.DependentRequired) == 0 &&
		s.UnevaluatedProperties == nil && len(s.Extensions) == 0
}

// jsonError explains errors of an incomplete text.
func jsonError(err error) error {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("unexpected end of input")
	case errors.Is(err, io.EOF):
		return errors.New("it is empty")
	}
	return err
}

// tidySchemaError lists the violations of the metaschema, without the library's headings.
func tidySchemaError(err error) error {
	var refused *jsonschema.SchemaValidationError
	var invalid *jsonschema.ValidationError
	if errors.As(err, &refused) && errors.As(refused.Err, &invalid) { // the library's error has no method Unwrap
		return errors.New(strings.Join(violations("the schema", invalid), "; "))
	}
	return errors.New(strings.ReplaceAll(err.Error(), schemaURL, ""))
}

type noLoader struct{}

// Load implements jsonschema.URLLoader.
func (noLoader) Load(string) (any, error) {
	return nil, errors.New("nothing outside the schema is read")
}

// schemaViolations returns the sorted violations of the schema in the values of these keys, each with the reason.
func schemaViolations(schema *compiledSchema, data map[string]any, keys iter.Seq[string]) []string {
	instance := map[string]any{}
	for k := range keys {
		instance[k] = asNumber(data[k])
	}
	cost := meter{remaining: maxEvaluations}
	cost.add(schema.root, instance, nil, 0)
	if cost.remaining < 0 {
		return []string{fmt.Sprintf("the values: validating them takes more than %d evaluations. Check that the schema's "+
			"references do not repeat each other", maxEvaluations)}
	}
	var invalid *jsonschema.ValidationError
	if err := schema.Validate(instance); errors.As(err, &invalid) {
		return violations("the values", invalid)
	} else if err != nil {
		return []string{err.Error()}
	}
	return nil
}

// asNumber returns the number that a string represents, or v unchanged.
func asNumber(v any) any {
	s, ok := v.(string)
	if !ok || s == "" || strings.IndexByte("0123456789+-.", s[0]) < 0 {
		return v
	}
	if i, err := strconv.Atoi(s); err == nil {
		return i
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return v
	}
	if n, ok := new(big.Int).SetString(s, 10); ok { // the float has fewer digits
		return json.Number(n.String())
	}
	return f
}

var english = message.NewPrinter(language.English)

// violations returns the sorted violations, each with its place in whole and the reason. It lists only the first ones,
// and counts the rest.
func violations(whole string, e *jsonschema.ValidationError) []string {
	all := leafErrors(e)
	more := len(all) - maxViolations
	if more > 0 {
		slices.SortFunc(all, func(a, b *jsonschema.ValidationError) int {
			return cmp.Or(slices.Compare(a.InstanceLocation, b.InstanceLocation), cmp.Compare(a.SchemaURL, b.SchemaURL),
				slices.Compare(a.ErrorKind.KeywordPath(), b.ErrorKind.KeywordPath()))
		})
		all = all[:maxViolations]
	}
	var texts []string
	for _, leaf := range all {
		where := strings.Join(leaf.InstanceLocation, ".")
		if where == "" {
			where = whole
		}
		texts = append(texts, truncate(where+": "+leaf.ErrorKind.LocalizedString(english)))
	}
	slices.Sort(texts)
	texts = slices.Compact(texts)
	if more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}
	return texts
}

// truncate limits the length of a text in an error.
func truncate(text string) string {
	if len(text) <= maxViolationBytes {
		return text
	}
	return strings.ToValidUTF8(text[:maxViolationBytes], "") + "…"
}

func leafErrors(e *jsonschema.ValidationError) []*jsonschema.ValidationError {
	if len(e.Causes) == 0 {
		return []*jsonschema.ValidationError{e}
	}
	var all []*jsonschema.ValidationError
	for _, cause := range e.Causes {
		all = append(all, leafErrors(cause)...)
	}
	return all
}
