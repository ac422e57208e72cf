package configure

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

const (
	// maxEvaluations limits how often subschemas evaluate values in one validation.
	maxEvaluations = 250_000
	// maxNested limits the nesting depth of subschemas and values together.
	maxNested = 2000
	// This much other work takes as long as one evaluation: comparing with so many bytes of listed values, running so many
	// instructions of a pattern on bytes of a text, and reading so many bytes of a text for other keywords.
	listedBytes      = 32
	instructionBytes = 32
	textBytes        = 1024
)

// part is a subschema with its references resolved, so that a schema that refers to itself is a graph of parts.
type part struct {
	own      int64            // evaluations for each value: more than 1 if the subschema lists values
	pattern  int64            // size of the pattern for strings
	keys     int64            // size of the patterns for keys
	same     []*part          // apply to the same value
	fields   map[string]*part // apply to the elements of maps with these keys
	elements []*part          // may apply to each element of maps and lists
}

// parts are the subschemas of a schema.
type parts struct {
	of      map[*jsonschema.Schema]*part
	dynamic []*part // have dynamic references
	anchors []*part // their possible targets
}

// newPart returns the part of a whole schema.
func newPart(s *jsonschema.Schema) *part {
	p := parts{of: map[*jsonschema.Schema]*part{}}
	root := p.add(s)
	for _, n := range p.dynamic {
		for _, anchor := range p.anchors {
			if !slices.Contains(n.same, anchor) {
				n.same = append(n.same, anchor)
			}
		}
	}
	return root
}

// add returns the part of a subschema.
func (p *parts) add(s *jsonschema.Schema) *part {
	if known, ok := p.of[s]; ok {
		return known
	}
	listed, _ := json.Marshal([]any{s.Required, s.Enum, s.Const}) // it came from JSON, so it can be encoded
	n := &part{own: 1 + int64(len(listed)/listedBytes), pattern: patternSize(s.Pattern), fields: map[string]*part{}}
	p.of[s] = n
	if s.DynamicAnchor != "" || s.RecursiveAnchor {
		p.anchors = append(p.anchors, n)
	}
	if s.DynamicRef != nil || s.RecursiveRef != nil {
		p.dynamic = append(p.dynamic, n)
	}
	n.same = p.addAll(s.AllOf, s.AnyOf, s.OneOf, s.Ref, s.RecursiveRef, s.DynamicRef, s.Not, s.If, s.Then, s.Else,
		s.ContentSchema, s.DependentSchemas, s.Dependencies)
	n.elements = p.addAll(s.AdditionalProperties, s.PropertyNames, s.UnevaluatedProperties, s.AdditionalItems,
		s.Contains, s.Items, s.PrefixItems, s.Items2020, s.UnevaluatedItems)
	for re, sub := range s.PatternProperties {
		n.keys += patternSize(re)
		n.elements = append(n.elements, p.add(sub))
	}
	for k, sub := range s.Properties {
		n.fields[k] = p.add(sub)
	}
	return n
}

// addAll returns the parts of subschemas. An argument may be a schema or a collection of schemas; any other argument is
// skipped.
func (p *parts) addAll(subs ...any) (all []*part) {
	for _, sub := range subs {
		switch sub := sub.(type) {
		case *jsonschema.Schema:
			if sub != nil {
				all = append(all, p.add(sub))
			}
		case *jsonschema.DynamicRef:
			if sub != nil {
				all = append(all, p.add(sub.Ref))
			}
		case []*jsonschema.Schema:
			for _, s := range sub {
				all = append(all, p.add(s))
			}
		case map[string]*jsonschema.Schema:
			all = append(all, p.addAll(slices.Collect(maps.Values(sub)))...)
		case map[string]any:
			all = append(all, p.addAll(slices.Collect(maps.Values(sub))...)...)
		}
	}
	return all
}

func patternSize(re jsonschema.Regexp) int64 {
	if p, ok := re.(*boundedPattern); ok {
		return p.size
	}
	return 0 // none
}

// meter counts how often the subschemas of a schema evaluate values in the worst case, in which no evaluation ends
// early. Once remaining is negative, the validation exceeds the limit.
type meter struct{ remaining int64 }

// add counts the evaluations of v by n and its subschemas. same lists the parts that are evaluating v already.
func (m *meter) add(n *part, v any, same []*part, depth int) {
	if m.remaining < 0 || slices.Contains(same, n) { // a reference cycle, which the validation rejects
		return
	}
	const perLook = 16 // parts of same
	m.remaining -= n.own + int64(len(same)/perLook)
	if depth > maxNested {
		m.remaining = -1
	}
	if len(n.same) > 0 {
		m.addAll(n.same, v, append(same, n), depth+1)
	}
	switch v := v.(type) {
	case string:
		m.remaining -= n.pattern*int64(len(v))/instructionBytes + int64(len(v)/textBytes)
	case map[string]any:
		for k, e := range v {
			m.remaining -= 1 + n.keys*int64(len(k))/instructionBytes
			m.addAll(n.elements, e, nil, depth+1)
			if by, ok := n.fields[k]; ok {
				m.add(by, e, nil, depth+1)
			}
		}
	case []any:
		for _, e := range v {
			m.remaining--
			m.addAll(n.elements, e, nil, depth+1)
		}
	}
}

func (m *meter) addAll(all []*part, v any, same []*part, depth int) {
	for _, n := range all {
		m.add(n, v, same, depth)
	}
}
