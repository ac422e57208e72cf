package configure

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// schemaURL stands for the schema's own place: relative references resolve within it.
const schemaURL = "schema.json"

// CheckSchema returns why text can't be used as a schema, or nil: it is no JSON, no JSON Schema, or refers outside
// itself.
func CheckSchema(text string) error {
	_, err := compileSchema(text)
	return err
}

func compileSchema(text string) (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("the schema is no JSON: %w", err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft7)
	c.UseLoader(noLoader{})
	if err := c.AddResource(schemaURL, doc); err != nil {
		return nil, fmt.Errorf("the schema can't be used: %w", err)
	}
	schema, err := c.Compile(schemaURL)
	switch {
	case errors.Is(err, errOutside):
		return nil, fmt.Errorf("the schema refers outside itself, which is not followed; put what it refers to under its own definitions: %w", err)
	case err != nil:
		return nil, fmt.Errorf("the schema is no JSON Schema: %w", tidySchemaError(err))
	}
	return schema, nil
}

// tidySchemaError lists what the metaschema has against a schema, without the library's headings.
func tidySchemaError(err error) error {
	var invalid *jsonschema.ValidationError
	if errors.As(err, &invalid) {
		return errors.New(strings.Join(offences(invalid), "; "))
	}
	return err
}

var errOutside = errors.New("no references outside the schema")

type noLoader struct{}

// Load implements jsonschema.URLLoader.
func (noLoader) Load(url string) (any, error) { return nil, fmt.Errorf("%s: %w", url, errOutside) }

// offencesAgainst are the keys of data that the schema refuses, each with the reason, sorted.
func offencesAgainst(schema *jsonschema.Schema, data map[string]any) []string {
	instance := make(map[string]any, len(data))
	for k, v := range data {
		instance[k] = asNumber(v)
	}
	var invalid *jsonschema.ValidationError
	if err := schema.Validate(instance); errors.As(err, &invalid) {
		return offences(invalid)
	} else if err != nil {
		return []string{err.Error()}
	}
	return nil
}

// asNumber is the number that a string reads as, or v as it is.
func asNumber(v any) any {
	s, ok := v.(string)
	if !ok {
		return v
	}
	if i, err := strconv.Atoi(s); err == nil {
		return i
	}
	if f, err := strconv.ParseFloat(s, 64); err == nil && !math.IsInf(f, 0) && !math.IsNaN(f) {
		return f
	}
	return v
}

var english = message.NewPrinter(language.English)

func offences(e *jsonschema.ValidationError) []string {
	var all []string
	var walk func(e *jsonschema.ValidationError)
	walk = func(e *jsonschema.ValidationError) {
		if len(e.Causes) == 0 {
			where := strings.Join(e.InstanceLocation, ".")
			if where == "" {
				where = "the values"
			}
			all = append(all, where+": "+e.ErrorKind.LocalizedString(english))
		}
		for _, cause := range e.Causes {
			walk(cause)
		}
	}
	walk(e)
	slices.Sort(all)
	return slices.Compact(all)
}
