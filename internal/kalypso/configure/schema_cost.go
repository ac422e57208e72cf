package configure

import (
	"fmt"
	"maps"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// schemaSize is the size of a compiled schema.
type schemaSize struct {
	size      int   // number of subschemas after resolving references
	match     int64 // cost of its patterns for each byte of text
	recursive bool  // it refers to itself
	// anchors are the possible targets of dynamic references.
	anchors []*jsonschema.Schema
}

// errSchemaSize means that the references of a schema repeat each other.
var errSchemaSize = fmt.Errorf("the schema has more than %d parts after its references are resolved; let fewer "+
	"references share a target", maxSchemaSize)

// measureSchema measures a compiled schema. It visits each subschema once. A reference from a schema to itself counts
// as one.
func measureSchema(root *jsonschema.Schema) (schemaSize, error) {
	known := map[*jsonschema.Schema]schemaSize{}
	under := map[*jsonschema.Schema]bool{}
	var anchors []*jsonschema.Schema
	var measure func(s *jsonschema.Schema) schemaSize
	measure = func(s *jsonschema.Schema) schemaSize {
		if e, ok := known[s]; ok {
			return e
		}
		if under[s] {
			return schemaSize{size: 1, recursive: true}
		}
		under[s] = true
		e := schemaSize{size: ownSize(s), recursive: s.DynamicRef != nil || s.RecursiveRef != nil}
		if s.DynamicAnchor != "" || s.RecursiveAnchor {
			anchors = append(anchors, s)
		}
		for _, p := range patternsOf(s) {
			e.match += p.size
		}
		for _, sub := range slices.Concat(inPlaceSchemas(s), childSchemas(s)) {
			inner := measure(sub)
			e.size = min(e.size+inner.size, maxSchemaSize+1)
			e.match += inner.match
			e.recursive = e.recursive || inner.recursive
		}
		under[s] = false
		known[s] = e
		return e
	}
	e := measure(root)
	e.anchors = anchors
	if e.size > maxSchemaSize {
		return e, errSchemaSize
	}
	return e, nil
}

// ownSize returns the size of a schema without its subschemas: the values it lists.
func ownSize(s *jsonschema.Schema) int {
	n := 1 + len(s.Required)
	if s.Enum != nil {
		n += partsOf(s.Enum.Values)
	}
	if s.Const != nil {
		n += partsOf(*s.Const)
	}
	return n
}

func partsOf(v any) int {
	n := 1
	switch v := v.(type) {
	case map[string]any:
		for _, e := range v {
			n += partsOf(e)
		}
	case []any:
		for _, e := range v {
			n += partsOf(e)
		}
	}
	return n
}

func patternsOf(s *jsonschema.Schema) (all []boundedPattern) {
	add := func(re jsonschema.Regexp) {
		if p, ok := re.(boundedPattern); ok {
			all = append(all, p)
		}
	}
	add(s.Pattern)
	for re := range s.PatternProperties {
		add(re)
	}
	return all
}

// inPlaceSchemas returns the subschemas that apply to the same value as s.
func inPlaceSchemas(s *jsonschema.Schema) []*jsonschema.Schema {
	all := slices.Concat(
		s.AllOf,
		s.AnyOf,
		s.OneOf,
		[]*jsonschema.Schema{s.Ref, s.RecursiveRef, s.Not, s.If, s.Then, s.Else, s.ContentSchema},
	)
	if s.DynamicRef != nil {
		all = append(all, s.DynamicRef.Ref)
	}
	all = append(all, byKey(s.DependentSchemas)...)
	for _, sub := range byKey(s.Dependencies) {
		all = append(all, schemasIn(sub)...)
	}
	return notNil(all)
}

// childSchemas returns the subschemas that apply to the elements of the value.
func childSchemas(s *jsonschema.Schema) []*jsonschema.Schema {
	matched := make(map[string]*jsonschema.Schema, len(s.PatternProperties))
	for re, sub := range s.PatternProperties {
		matched[re.String()] = sub
	}
	return slices.Concat(
		byKey(s.Properties),
		byKey(matched),
		elementSchemas(s),
		notNil(slices.Clone(s.PrefixItems)),
		itemsOf(s),
	)
}

// isByKey reports whether s asks for the presence of keys, and validates the value of each key on its own.
func isByKey(s *jsonschema.Schema) bool {
	return len(inPlaceSchemas(s)) == 0 && s.DynamicRef == nil && s.Enum == nil && s.Const == nil &&
		s.MinProperties == nil && s.MaxProperties == nil && len(s.Dependencies) == 0 && len(s.DependentRequired) == 0 &&
		s.UnevaluatedProperties == nil && len(s.Extensions) == 0
}

// byKey returns the values of m sorted by key.
func byKey[V any](m map[string]V) []V {
	all := make([]V, 0, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		all = append(all, m[k])
	}
	return all
}

// elementSchemas returns the subschemas that may apply to every element.
func elementSchemas(s *jsonschema.Schema) []*jsonschema.Schema {
	all := []*jsonschema.Schema{s.PropertyNames, s.UnevaluatedProperties, s.Contains, s.Items2020, s.UnevaluatedItems}
	return notNil(slices.Concat(all, schemasIn(s.AdditionalProperties), schemasIn(s.AdditionalItems)))
}

func itemsOf(s *jsonschema.Schema) []*jsonschema.Schema { return schemasIn(s.Items) }

func schemasIn(v any) []*jsonschema.Schema {
	switch v := v.(type) {
	case *jsonschema.Schema:
		return []*jsonschema.Schema{v}
	case []*jsonschema.Schema:
		return v
	}
	return nil
}

func notNil(all []*jsonschema.Schema) []*jsonschema.Schema {
	return slices.DeleteFunc(all, func(s *jsonschema.Schema) bool { return s == nil })
}

// fits reports whether validating values of this size is within the limit, judged by the sizes alone.
func (e schemaSize) fits(values size) bool {
	return !e.recursive &&
		int64(e.size)*int64(values.parts)+e.match*int64(values.bytes)/bytesPerEvaluation <= maxEvaluations
}

// bytesPerEvaluation is the number of pattern instructions that take as long as one evaluation.
const bytesPerEvaluation = 32

// size is the size of values.
type size struct{ parts, bytes int }

func sizeOf(v any) (s size) {
	s.add(v)
	return s
}

func (s *size) add(v any) {
	s.parts++
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			s.bytes += len(k)
			s.parts++
			s.add(e)
		}
	case []any:
		for _, e := range v {
			s.parts++
			s.add(e)
		}
	case string:
		s.bytes += len(v)
	}
}

// evaluation counts the evaluations of a validation in the worst case, without short circuits.
type evaluation struct {
	left    int64
	anchors []*jsonschema.Schema
}

// tooExpensive reports whether validating the values exceeds the limit.
func (c *compiledSchema) tooExpensive(values map[string]any) bool {
	if c.fits(sizeOf(values)) {
		return false
	}
	l := evaluation{maxEvaluations, c.anchors}
	return !l.visit(c.Schema, values, nil, 0)
}

func (l *evaluation) spend(n int64) bool {
	l.left -= n
	return l.left >= 0
}

// visit counts the evaluations of v by s and its subschemas. place lists the schemas that already evaluate v. It
// returns false once the limit is exceeded.
func (l *evaluation) visit(s *jsonschema.Schema, v any, place []*jsonschema.Schema, depth int) bool {
	const perLook = 16 // schemas of place
	if depth > maxNested || !l.spend(int64(ownSize(s)+len(place)/perLook)) {
		return false
	}
	if slices.Contains(place, s) {
		return true // a reference cycle, which the validation rejects
	}
	place = append(place, s)
	if text, ok := v.(string); ok {
		for _, p := range patternsOf(s) {
			if !l.spend(p.size * int64(len(text)) / bytesPerEvaluation) {
				return false
			}
		}
	}
	for _, sub := range l.inPlace(s) {
		if !l.visit(sub, v, place, depth+1) {
			return false
		}
	}
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			if !l.visitField(s, k, e, depth) {
				return false
			}
		}
	case []any:
		for i, e := range v {
			if !l.visitElement(s, e, itemSchemas(s, i), depth) {
				return false
			}
		}
	}
	return true
}

// inPlace returns the subschemas that may apply to the same value as s.
func (l *evaluation) inPlace(s *jsonschema.Schema) []*jsonschema.Schema {
	here := inPlaceSchemas(s)
	if s.DynamicRef == nil && s.RecursiveRef == nil {
		return here
	}
	for _, anchor := range l.anchors {
		if !slices.Contains(here, anchor) {
			here = append(here, anchor)
		}
	}
	return here
}

// visitField counts the evaluations of the value e of the key k in a map.
func (l *evaluation) visitField(s *jsonschema.Schema, k string, e any, depth int) bool {
	by := notNil([]*jsonschema.Schema{s.Properties[k]})
	for re, sub := range s.PatternProperties {
		by = append(by, sub)
		if p, ok := re.(boundedPattern); ok && !l.spend(p.size*int64(len(k))/bytesPerEvaluation) {
			return false
		}
	}
	return l.visitElement(s, e, by, depth)
}

// visitElement counts the evaluations of an element of a map or list, by these schemas and those for every element.
func (l *evaluation) visitElement(s *jsonschema.Schema, e any, by []*jsonschema.Schema, depth int) bool {
	for _, sub := range slices.Concat(elementSchemas(s), by) {
		if !l.visit(sub, e, nil, depth+1) {
			return false
		}
	}
	return l.spend(1)
}

// itemSchemas returns the subschemas for element i of a list.
func itemSchemas(s *jsonschema.Schema, i int) []*jsonschema.Schema {
	listed := slices.Concat(notNil(slices.Clone(s.PrefixItems)), itemsOf(s))
	switch _, one := s.Items.(*jsonschema.Schema); {
	case one:
		return listed
	case i < len(listed):
		return listed[i : i+1]
	}
	return nil
}
