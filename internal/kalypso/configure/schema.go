package configure

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// schemaURL stands for the schema's own place, which is none: relative references resolve against it, and lead nowhere.
const schemaURL = schemaRoot + "schema.json"

const schemaRoot = "schema:///"

// CheckSchema returns why text can't be used as a schema, or nil: it is no JSON, no JSON Schema, or refers outside
// itself.
func CheckSchema(text string) error {
	_, err := compileSchema(text)
	return err
}

func compileSchema(text string) (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("the schema is no JSON: %w", jsonError(err))
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft7)
	c.UseLoader(noLoader{})
	if err := c.AddResource(schemaURL, doc); err != nil {
		return nil, fmt.Errorf("the schema can't be used: %w", err)
	}
	schema, err := c.Compile(schemaURL)
	var outside *jsonschema.LoadURLError
	switch {
	case errors.As(err, &outside):
		return nil, fmt.Errorf("the schema refers to %q, outside itself, which is not followed; put what it refers to under its own definitions",
			strings.TrimPrefix(outside.URL, schemaRoot))
	case err != nil:
		return nil, fmt.Errorf("the schema is no JSON Schema: %w", tidySchemaError(err))
	}
	return schema, nil
}

// jsonError says where a text ends too early.
func jsonError(err error) error {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("it ends in the middle")
	case errors.Is(err, io.EOF):
		return errors.New("it is empty")
	}
	return err
}

// tidySchemaError lists what the metaschema has against a schema, without the library's headings.
func tidySchemaError(err error) error {
	var refused *jsonschema.SchemaValidationError
	var invalid *jsonschema.ValidationError
	if errors.As(err, &refused) && errors.As(refused.Err, &invalid) { // it has no Unwrap
		return errors.New(strings.Join(offences("the schema", invalid), "; "))
	}
	return errors.New(strings.ReplaceAll(err.Error(), schemaURL, ""))
}

type noLoader struct{}

// Load implements jsonschema.URLLoader.
func (noLoader) Load(string) (any, error) {
	return nil, errors.New("nothing outside the schema is read")
}

// offencesAgainst are the keys of data that the schema refuses, each with the reason, sorted.
func offencesAgainst(schema *jsonschema.Schema, data map[string]any) []string {
	instance := make(map[string]any, len(data))
	for k, v := range data {
		instance[k] = asNumber(v)
	}
	var invalid *jsonschema.ValidationError
	if err := schema.Validate(instance); errors.As(err, &invalid) {
		return offences("the values", invalid)
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

// offences are those of the parts of whole, each with the reason, sorted.
func offences(whole string, e *jsonschema.ValidationError) []string {
	var all []string
	var walk func(e *jsonschema.ValidationError)
	walk = func(e *jsonschema.ValidationError) {
		if len(e.Causes) == 0 {
			where := strings.Join(e.InstanceLocation, ".")
			if where == "" {
				where = whole
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
