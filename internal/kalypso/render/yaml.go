package render

import (
	"cmp"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	yaml11 "go.yaml.in/yaml/v2"
	"go.yaml.in/yaml/v3"
)

// TextError is the error of a text that no YAML file of Kubernetes can contain.
type TextError struct {
	Text   string
	Reason string
}

// Error implements error.
func (e *TextError) Error() string {
	return fmt.Sprintf("the text %.100q %s, so YAML can't contain it", e.Text, e.Reason)
}

// marshalYAML returns the YAML of a value as yaml.v3 writes it, except where kubectl or kustomize would read another
// value: it writes such a text in double quotes, and a [json.Number] as a number.
func marshalYAML(v any) (string, error) {
	if r := reflect.ValueOf(v); needsCare(r) {
		if err := checkTexts(r); err != nil {
			return "", err
		}
		v = careful(r, func(v any) any { return v })
	}
	text, err := yaml.Marshal(v) // it panics on unsupported values; text/template converts that to an error
	return string(text), err
}

// needsCare reports whether a value contains anything that yaml.v3 may write in a way in which it is not read back.
func needsCare(v reflect.Value) (needs bool) {
	if values, ok := plainMap(v); ok { // the most frequent map; reflection allocates each key and value
		for k, element := range values {
			if needsCareAsKey(k) || needsCare(reflect.ValueOf(element)) {
				return true
			}
		}
		return false
	}
	if v.Kind() == reflect.String {
		_, isNumber := v.Interface().(json.Number)
		return isNumber || isOdd(v.String())
	}
	eachPart(v, func(part reflect.Value, isKey bool) bool {
		needs = needsCare(part) || isKey && part.Kind() == reflect.String && needsCareAsKey(part.String())
		return !needs
	})
	return needs
}

// needsCareAsKey reports whether a key needs care. Shorter keys are written and read on one line.
func needsCareAsKey(key string) bool { return isOdd(key) || len(key) > 64 }

func plainMap(v reflect.Value) (map[string]any, bool) {
	if v.Kind() != reflect.Map || !v.CanInterface() {
		return nil, false
	}
	values, ok := v.Interface().(map[string]any)
	return values, ok
}

// eachPart calls visit with each direct part of a value that is written, until it returns false.
func eachPart(v reflect.Value, visit func(part reflect.Value, isKey bool) bool) {
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		visit(v.Elem(), false)
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if !visit(v.Index(i), false) {
				return
			}
		}
	case reflect.Map:
		for entries := v.MapRange(); entries.Next(); {
			if !visit(elem(entries.Key()), true) || !visit(entries.Value(), false) {
				return
			}
		}
	case reflect.Struct:
		for _, field := range reflect.VisibleFields(v.Type()) {
			if field.IsExported() && !visit(v.FieldByIndex(field.Index), false) {
				return
			}
		}
	}
}

// isOdd reports whether a text contains control characters, breaks lines in other ways than Unix, or is no Unicode. It
// also reports a text that begins with a blank or an empty line.
func isOdd(text string) bool {
	if text == "" {
		return false
	}
	if text[0] == ' ' || text[0] == '\n' {
		return true
	}
	for i := 0; i < len(text); i++ {
		if c := text[i]; c < ' ' && c != '\n' || c == 0x7f {
			return true
		} else if c >= utf8.RuneSelf {
			return strings.ContainsFunc(text[i:], isOddRune)
		}
	}
	return false
}

func isOddRune(r rune) bool {
	switch {
	case r < ' ':
		return r != '\n'
	case r >= 0x7f && r <= 0x9f, r == 0x2028, r == 0x2029, r == 0xfeff, r == utf8.RuneError, r == 0xfffe, r == 0xffff:
		return true
	}
	return false
}

// checkTexts returns an error if a value contains a text or a key that no file can contain. kustomize writes what it
// reads as JSON, and reads that as YAML.
func checkTexts(v reflect.Value) (err error) {
	if v.Kind() == reflect.String {
		return checkText(v.String())
	}
	var found []error
	eachPart(v, func(part reflect.Value, isKey bool) bool {
		if isKey && part.Kind() == reflect.String {
			err = checkKey(part.String())
		} else {
			err = checkTexts(part)
		}
		if err != nil {
			found = append(found, err)
		}
		return true
	})
	if len(found) == 0 {
		return nil
	}
	return slices.MinFunc(found, func(a, b error) int { return cmp.Compare(a.Error(), b.Error()) }) // not in map order
}

func checkText(text string) error {
	if !utf8.ValidString(text) {
		return &TextError{text, "is not valid UTF-8"}
	}
	for _, r := range text {
		if r == 0 || r >= 0x7f && r <= 0x9f && r != 0x85 || r == 0xfffe || r == 0xffff {
			return &TextError{text, fmt.Sprintf("contains the control character %U", r)}
		}
	}
	return nil
}

func checkKey(key string) error {
	if err := checkText(key); err != nil {
		return err
	}
	const maxLength = 1024 // characters in quotes
	if quoted, err := json.Marshal(key); err != nil || utf8.RuneCount(quoted) > maxLength {
		return &TextError{key, fmt.Sprintf("is a key of more than %d characters", maxLength)}
	}
	return nil
}

// careful returns a copy of v whose texts and numbers are written as they are read. around puts a text at the place
// where v is written, alone.
func careful(v reflect.Value, around func(any) any) any {
	if !v.IsValid() {
		return nil
	}
	switch v := v.Interface().(type) {
	case yaml.Marshaler, encoding.TextMarshaler:
		return v
	case json.Number:
		return &yaml.Node{Kind: yaml.ScalarNode, Value: v.String()}
	}
	switch v.Kind() {
	case reflect.String:
		if text := v.String(); isOdd(text) && !readsBack(text, around) {
			return quotedText(text)
		}
		return v.String()
	case reflect.Interface, reflect.Pointer:
		return careful(v.Elem(), around)
	case reflect.Slice, reflect.Array:
		list := make([]any, v.Len())
		for i := range list {
			list[i] = careful(v.Index(i), func(v any) any { return around([]any{v}) })
		}
		return list
	case reflect.Map:
		m := make(map[any]any, v.Len())
		for entries := v.MapRange(); entries.Next(); {
			key := careful(entries.Key(), func(v any) any { return around(map[any]any{v: 0}) })
			m[key] = careful(entries.Value(), inField(around))
		}
		return m
	case reflect.Struct:
		return carefulStruct(v, around)
	}
	return v.Interface()
}

func inField(around func(any) any) func(any) any {
	return func(v any) any { return around(map[string]any{"k": v}) }
}

// carefulStruct returns a struct with the same exported fields.
func carefulStruct(v reflect.Value, around func(any) any) any {
	var fields []reflect.StructField
	var values []any
	for _, field := range reflect.VisibleFields(v.Type()) {
		if field.IsExported() {
			fields = append(fields, reflect.StructField{Name: field.Name, Type: reflect.TypeFor[any](), Tag: field.Tag})
			values = append(values, careful(v.FieldByIndex(field.Index), inField(around)))
		}
	}
	made := reflect.New(reflect.StructOf(fields)).Elem()
	for i, value := range values {
		if value != nil {
			made.Field(i).Set(reflect.ValueOf(value))
		}
	}
	return made.Interface()
}

// quotedText is a text or a key that is written in double quotes.
type quotedText string

// MarshalYAML implements [yaml.Marshaler].
func (t quotedText) MarshalYAML() (any, error) {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Style: yaml.DoubleQuotedStyle, Value: string(t)}, nil
}

// readsBack reports whether a text at its place is read as it is if yaml.v3 writes it: in YAML 1.1, which kubectl
// reads, and in YAML 1.2, which kustomize reads.
func readsBack(text string, around func(any) any) bool {
	if strings.Contains(text, "\n") && strings.ContainsAny(text, "\u2028\u2029") {
		return false // yaml.v3 writes a block in which these break lines. The function indent does not indent them.
	}
	written, err := yaml.Marshal(around(text))
	if err != nil {
		return false
	}
	var v11, v12 any
	return yaml11.Unmarshal(written, &v11) == nil && isAlone(v11, text) &&
		yaml.Unmarshal(written, &v12) == nil && isAlone(v12, text)
}

// isAlone reports whether a value contains only the text, as a value or as the key of 0.
func isAlone(v any, text string) bool {
	switch v := v.(type) {
	case string:
		return v == text
	case []any:
		return len(v) == 1 && isAlone(v[0], text)
	case map[string]any:
		for key, element := range v {
			return len(v) == 1 && (isAlone(element, text) || key == text && element == any(0))
		}
	case map[any]any:
		for key, element := range v {
			return len(v) == 1 && (isAlone(element, text) || key == any(text) && element == any(0))
		}
	}
	return false
}

// nameText adds the config value to an error of a text that YAML can't contain.
func nameText(err error, s *assignmentInput) error {
	var found *TextError
	if !errors.As(err, &found) {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(s.data.ConfigData)) {
		fromTemplate := s.rendered[key] != nil && contains(s.rendered[key].value, found.Text)
		if !fromTemplate && key != found.Text && !contains(s.data.ConfigData[key], found.Text) {
			continue
		}
		var configs []string
		if origin := s.values.Provenance()[key]; origin != nil {
			for _, c := range origin.Contributions {
				if fromTemplate || key == found.Text || contains(c.Value, found.Text) {
					configs = append(configs, fmt.Sprintf(" of the config %q", c.Object.Metadata().Name))
				}
			}
		}
		return fmt.Errorf("the value of %.100q%s can't be written: %w", key, strings.Join(configs, " and"), err)
	}
	return err
}

// contains reports whether a text, or a text or key in a map or list, is the wanted one.
func contains(v any, wanted string) bool {
	switch v := v.(type) {
	case string:
		return v == wanted
	case []any:
		return slices.ContainsFunc(v, func(element any) bool { return contains(element, wanted) })
	case map[string]any:
		for k, element := range v {
			if k == wanted || contains(element, wanted) {
				return true
			}
		}
	}
	return false
}
