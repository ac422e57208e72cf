package render

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	yaml11 "go.yaml.in/yaml/v2"
	"go.yaml.in/yaml/v3"
)

// A value may contain templates, and a function such as toYaml may encode it before its templates are rendered. Then
// the encoding must neither change an action nor leave its result without encoding. Where it does, the function gets
// the rendered value. Everywhere else it gets the value as it is, so that the bytes are the operator's.

// encodings is a set of encodings of texts.
type encodings uint8

const (
	inYAML encodings = 1 << iota
	inQuotes
)

// encoders contains the functions that encode texts.
var encoders = map[string]encodings{
	"toYaml": inYAML, "stringify": inYAML,
	"quote": inQuotes, "toJson": inQuotes, "mustToJson": inQuotes, "toRawJson": inQuotes, "mustToRawJson": inQuotes,
	"toPrettyJson": inQuotes, "mustToPrettyJson": inQuotes, "printf": inQuotes,
}

// renderedValue is a value with its templates rendered.
type renderedValue struct {
	value  any
	err    error
	needed encodings // the encodings that change the templates of the value, or their results
	// checked contains the encodings that were looked at. Until the value is rendered, there are none.
	checked encodings
	done    bool
}

// valueTemplate is a text of a value, or of its encoding, as a template.
type valueTemplate struct {
	manifest *manifest
	err      error
	// In YAML the text is unchanged, in single quotes or without quotes.
	singleQuoted, unquoted bool
}

// renderedValues returns the values for a piece that encodes texts, or nil if it can use the values as they are.
func (w *worker) renderedValues(p *piece, s *assignmentInput) (map[string]any, error) {
	var values map[string]any
	replace := func(key string, v any) error {
		if !containsTemplate(v) {
			return nil
		}
		rendered, err := w.renderedValue(key, v, p.encodes, s)
		if err != nil || rendered == nil {
			return err
		}
		if values == nil {
			values = maps.Clone(s.data.ConfigData)
		}
		values[key] = rendered.value
		return nil
	}
	keys := p.needs["ConfigData"]
	if keys == nil {
		for _, key := range slices.Sorted(maps.Keys(s.data.ConfigData)) {
			if err := replace(key, s.data.ConfigData[key]); err != nil {
				return nil, err
			}
		}
		return values, nil
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if err := replace(key, s.data.ConfigData[key]); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// renderedValue returns a value rendered, or nil if these encodings leave its templates as they are.
func (w *worker) renderedValue(key string, v any, encodes encodings, s *assignmentInput) (*renderedValue, error) {
	of := s
	if s.real != nil {
		of = s.real // a team's texts must not change which values are rendered
	}
	if of.rendered == nil {
		of.rendered = map[string]*renderedValue{}
	}
	r, ok := of.rendered[key]
	if !ok {
		r = &renderedValue{}
		of.rendered[key] = r
		r.value, r.err = w.renderTexts(v, of)
		r.done = true
	}
	if missing := encodes &^ r.checked; r.done && missing != 0 {
		r.checked |= missing
		r.needed |= w.encodingsThatChange(r, v, missing, of)
	}
	switch {
	case !r.done || r.needed&encodes == 0: // it refers to itself
		return nil, nil //nolint:nilnil // the value is used as it is
	case errors.Is(r.err, errUnknown):
		return nil, errUnknown
	case r.err != nil:
		return nil, fmt.Errorf("in the template in the value of %.100q: %w", key, r.err)
	case s.real != nil:
		value, err := w.renderTexts(v, s)
		return &renderedValue{value: value}, err
	}
	return r, nil
}

// encodingsThatChange returns which of some encodings change the templates of a value, or their results.
func (w *worker) encodingsThatChange(r *renderedValue, v any, of encodings, s *assignmentInput) (changing encodings) {
	same := map[encodings]func() bool{
		inYAML:   func() bool { return w.isSameInYAML(r, v, s) },
		inQuotes: func() bool { return w.isSameInQuotes(r, v, s) },
	}
	if r.err != nil { // if an encoding leaves the template as it is, rendering reports the error at its place
		same[inYAML] = func() bool {
			text, err := marshalYAML(map[string]any{"k": v})
			return err == nil && containsLines(text, v)
		}
		same[inQuotes] = func() bool {
			text, err := json.Marshal(v)
			return err == nil && containsLines(string(text), v)
		}
	}
	for one, isSame := range same {
		if of&one != 0 && !isSame() {
			changing |= one
		}
	}
	return changing
}

func (w *worker) isSameInYAML(r *renderedValue, v any, s *assignmentInput) bool {
	if text, ok := v.(string); ok {
		// Most values need no reader to decide.
		result, _ := r.value.(string)
		switch t := w.valueTemplate(text); {
		case t.singleQuoted && isPlain(result, "'"), t.unquoted && isName(result):
			return true
		}
	}
	written, err := marshalYAML(map[string]any{"k": v})
	if err != nil || !w.rendersTo(written, map[string]any{"k": r.value}, s, readYAML) {
		return false
	}
	if _, isText := v.(string); isText {
		return true
	}
	nested, err := stringify(map[string]any{"k": v})
	return err == nil && w.rendersTo(nested, map[string]any{"k": r.value}, s, readNestedYAML)
}

// isName reports whether a text is a string in YAML without quotes: a letter first, then letters, digits and
// separators.
func isName(text string) bool {
	const longestWord = len("false") // longer ones mean nothing in YAML
	if len(text) <= longestWord {
		return false
	}
	for i := range len(text) {
		c := text[i]
		isLetter, isDigit := c|0x20 >= 'a' && c|0x20 <= 'z', c >= '0' && c <= '9'
		between := i > 0 && i < len(text)-1 && strings.IndexByte(" -./_", c) >= 0
		if !isLetter && (i == 0 || !isDigit) && !between {
			return false
		}
	}
	return true
}

func (w *worker) isSameInQuotes(r *renderedValue, v any, s *assignmentInput) bool {
	text, isText := v.(string)
	if result, ok := r.value.(string); ok && isText && isPlain(text, `"\<>&`) && isPlain(result, `"\<>&`) {
		return true
	}
	written, err := json.Marshal(v)
	if err != nil || !w.rendersTo(string(written), r.value, s, readJSON) {
		return false
	}
	return !isText || w.rendersTo(strconv.Quote(text), r.value, s, readYAML)
}

// isPlain reports whether a text has only printable characters of ASCII, and none of some.
func isPlain(text, without string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return !strings.ContainsAny(text, without)
}

// rendersTo reports whether an encoded value, once its templates are rendered, is read as the wanted value.
func (w *worker) rendersTo(
	encoded string, want any, s *assignmentInput, read func(text string) []any,
) bool {
	text, err := w.renderText(encoded, s)
	if err != nil {
		return false
	}
	found := read(text)
	for _, v := range found {
		if !sameValue(v, want) {
			return false
		}
	}
	return len(found) > 0
}

// readYAML returns what kubectl and kustomize read, or nil.
func readYAML(text string) []any {
	var v11, v12 any
	if yaml11.Unmarshal([]byte(text), &v11) != nil || yaml.Unmarshal([]byte(text), &v12) != nil {
		return nil
	}
	return []any{v11, v12}
}

// readNestedYAML reads YAML whose key k has a text in YAML.
func readNestedYAML(text string) (all []any) {
	for _, v := range readYAML(text) {
		nested, _ := field(v, "k")
		text, ok := nested.(string)
		if !ok {
			return nil
		}
		inner := readYAML(text)
		if inner == nil {
			return nil
		}
		for _, v := range inner {
			all = append(all, map[string]any{"k": v})
		}
	}
	return all
}

func field(v any, key string) (value any, ok bool) {
	switch v := v.(type) {
	case map[string]any:
		value, ok = v[key]
	case map[any]any:
		value, ok = v[key]
	}
	return value, ok
}

// readJSON returns what readers of JSON and of YAML read, or nil.
func readJSON(text string) []any {
	var v any
	if found := readYAML(text); found != nil && json.Unmarshal([]byte(text), &v) == nil {
		return append(found, v)
	}
	return nil
}

// sameValue compares a value that was read with the wanted one. Numbers and other scalars are the same if their texts
// are: no template changes them.
func sameValue(v, want any) bool {
	switch want := want.(type) {
	case string:
		return v == any(want)
	case []any:
		list, ok := v.([]any)
		return ok && slices.EqualFunc(list, want, sameValue)
	case map[string]any:
		m := reflect.ValueOf(v)
		if m.Kind() != reflect.Map || m.Len() != len(want) {
			return false
		}
		for k, element := range want {
			if found, ok := field(v, k); !ok || !sameValue(found, element) {
				return false
			}
		}
		return true
	}
	_, isText := v.(string)
	return !isText
}

// renderTexts returns a value with the templates in its texts and keys rendered.
func (w *worker) renderTexts(v any, s *assignmentInput) (any, error) {
	switch v := v.(type) {
	case string:
		if !strings.Contains(v, "{{") {
			return v, nil
		}
		text, err := w.renderText(v, s)
		return strings.TrimPrefix(text, "\ufeff"), err // the mark of a file that the value was read from
	case []any:
		list := make([]any, len(v))
		for i, element := range v {
			rendered, err := w.renderTexts(element, s)
			if err != nil {
				return nil, err
			}
			list[i] = rendered
		}
		return list, nil
	case map[string]any:
		m := make(map[string]any, len(v))
		for _, key := range slices.Sorted(maps.Keys(v)) {
			k, err := w.renderTexts(key, s)
			if err != nil {
				return nil, err
			}
			name, _ := k.(string)
			if _, twice := m[name]; twice {
				return nil, fmt.Errorf("two keys become %.100q", name)
			}
			m[name], err = w.renderTexts(v[key], s)
			if err != nil {
				return nil, err
			}
		}
		return m, nil
	}
	return v, nil
}

// renderText renders a text of a value. It checks the texts of a team as the rendering of a file does.
func (w *worker) renderText(text string, s *assignmentInput) (string, error) {
	t := w.valueTemplate(text)
	if t.err != nil {
		return "", t.err
	}
	of := *s
	of.beforePass = nil
	start, fileStart := w.buffer.content.Len(), w.buffer.start
	w.buffer.start = start
	defer func() {
		w.buffer.content.Truncate(start)
		w.buffer.start = fileStart
	}()
	if s.ofTarget.notPlain {
		placeholders := w.renderPlaceholders(&parsed{manifests: []*manifest{t.manifest}}, &of)[0]
		if placeholders.err != nil && !errors.Is(placeholders.err, errUnknown) {
			return "", teamTextError(s.target, "it fails with plain texts, so the effect of the texts can't be checked: %v",
				placeholders.err)
		}
		of.beforePass = placeholders.checkPass(s.target)
	}
	err := w.manifest(t.manifest, &of)
	return string(w.buffer.since(start)), err
}

// valueTemplate returns a text as a template. It parses each text once.
func (w *worker) valueTemplate(text string) *valueTemplate {
	if known, ok := w.executor.values[text]; ok {
		return known
	}
	t := &valueTemplate{}
	t.manifest, t.err = parseManifest(text)
	written, err := marshalYAML(map[string]any{"k": text})
	if err == nil && isPlain(text, "'") {
		t.singleQuoted, t.unquoted = written == "k: '"+text+"'\n", written == "k: "+text+"\n"
	}
	const limit = 10_000
	if len(w.executor.values) >= limit {
		clear(w.executor.values)
		clear(w.executor.clones)
	}
	w.executor.values[text] = t
	return t
}

// containsTemplate reports whether a text in a value, or a key, contains a template.
func containsTemplate(v any) bool {
	switch v := v.(type) {
	case string:
		return strings.Contains(v, "{{")
	case []any:
		return slices.ContainsFunc(v, containsTemplate)
	case map[string]any:
		for k, element := range v {
			if strings.Contains(k, "{{") || containsTemplate(element) {
				return true
			}
		}
	}
	return false
}

// containsLines reports whether an encoding contains each line of the texts with templates.
func containsLines(encoded string, v any) bool {
	switch v := v.(type) {
	case string:
		for line := range strings.Lines(v) {
			if strings.Contains(line, "{{") && !strings.Contains(encoded, strings.TrimSuffix(line, "\n")) {
				return false
			}
		}
	case []any:
		for _, element := range v {
			if !containsLines(encoded, element) {
				return false
			}
		}
	case map[string]any:
		for k, element := range v {
			if !containsLines(encoded, k) || !containsLines(encoded, element) {
				return false
			}
		}
	}
	return true
}
