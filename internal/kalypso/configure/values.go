package configure

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// Values contains the platform configuration values of a set of configs, or the references of a set of secrets.
// Assignments with the same objects share it, so it must not be changed.
type Values struct {
	Objects   []fleet.Object // the configs or secrets, in merge order
	Shared    bool           // several assignments use these values
	Templates bool           // a value may contain a template
	// Continued is the number of other values that have these values as their base.
	Continued int

	sources []*source
	base    *Values // the merged values of the first sources; nil: merge all sources
	once    sync.Once
	merged  Merged

	mu      sync.Mutex
	checked map[*compiledSchema][]string
}

// Merged contains the merged values of configs, or the merged references of secrets.
type Merged struct {
	// Data maps keys to values: strings, maps (map[string]any) and lists ([]any) of YAML's types. A reference is a map
	// with the keys store, key and property.
	Data map[string]any
	// Unknown contains the keys whose values or presence are unknown. If it contains [unknown.Text], nothing is known.
	Unknown map[string]bool
	// Certain reports whether there is at least one key, whatever the unknown parts turn out to be.
	Certain bool
	// Base contains the values that are shared with other assignments, or is nil. All keys except Own have the values of
	// Base.
	Base *Values
	Own  []string
}

// source is a config, one key of an azure-app-config, or a secret. It applies if its conditions are met.
type source struct {
	object fleet.Object
	path   string         // the whole key of an azure-app-config
	order  int            // position in the merge order of the fleet's sources
	values map[string]any // the known values of a config, or the known references of a secret
	needs  []int          // the numbers of its conditions
	// optional means that it is unknown whether the source applies.
	optional bool
	// templates means that a value contains a template.
	templates bool
	// unknown contains the keys with unknown values. If it contains unknown.Text, any key may exist.
	unknown []string

	uncertain *source // see asUncertain
}

// newSource parses the values of a config. It reports values that are too large, see [parseBounded]. It marks these
// values as unknown, so that later stages do not report them again.
func newSource(config *fleet.Config, path string, data map[string]string, maxSize int64) (*source, problem.Problems) {
	defer problem.NamePanic(string(config.Kind()), config.Name)
	s := &source{object: config, path: path, values: make(map[string]any, len(data))}
	var problems problem.Problems
	for k, text := range data {
		if unknown.Is(k) || unknown.Is(text) {
			s.markUnknown(k)
			continue
		}
		v, err := parseBounded(text, maxSize)
		if err != nil {
			s.markUnknown(k)
			key := cmp.Or(path, k)
			problems = append(problems, fleet.ProblemOf(config, problem.Problem{
				Path:    []problem.Step{problem.Attr("data"), problem.Key(key)},
				Summary: "Config value too large", Detail: fmt.Sprintf("The value of %q %s.", key, err), Err: err,
			}))
			continue
		}
		s.values[k] = v
		s.templates = s.templates || strings.Contains(text, "{{")
	}
	return s, problems
}

// markUnknown marks keys as unknown.
func (s *source) markUnknown(keys ...string) {
	s.unknown = append(s.unknown, keys...)
}

// markOptional marks the source as one that may not apply, so the values of all its keys are unknown.
func (s *source) markOptional() {
	s.optional = true
	s.markUnknown(slices.Collect(maps.Keys(s.values))...)
}

// asUncertain returns a copy of the source that is marked as optional. It always returns the same copy.
func (s *source) asUncertain() *source {
	if s.uncertain == nil {
		s.uncertain = &source{
			object: s.object, path: s.path, order: s.order + 1, values: s.values, unknown: slices.Clone(s.unknown),
			templates: s.templates,
		}
		s.uncertain.markOptional()
	}
	return s.uncertain
}

// hasKey reports whether s certainly applies and has a key.
func (s *source) hasKey() bool {
	isKey := func(k string) bool { return !unknown.Is(k) }
	return !s.optional && (len(s.values) > 0 || slices.ContainsFunc(s.unknown, isKey))
}

func newValues(sources []*source) *Values {
	v := &Values{sources: sources, Objects: make([]fleet.Object, 0, len(sources))}
	for _, s := range sources {
		v.Templates = v.Templates || s.templates
		if n := len(v.Objects); n == 0 || v.Objects[n-1] != s.object {
			v.Objects = append(v.Objects, s.object)
		}
	}
	return v
}

// Merge merges the values. It caches the result only if the values are shared.
func (v *Values) Merge() Merged {
	if !v.Shared {
		return v.merge()
	}
	v.once.Do(func() { v.merged = v.merge() })
	return v.merged
}

func (v *Values) merge() Merged {
	m, more := Merged{Data: map[string]any{}}, v.sources
	if v.base != nil {
		m, more = v.base.Merge(), v.sources[len(v.base.sources):]
		m.Data, m.Unknown, m.Base, m.Own = maps.Clone(m.Data), maps.Clone(m.Unknown), v.base, nil
	}
	for _, s := range more {
		m.Certain = m.Certain || s.hasKey()
		if m.Base != nil {
			m.Own = slices.Grow(m.Own, len(s.values))
		}
		for k, later := range s.values {
			if m.Base != nil {
				m.Own = append(m.Own, k)
			}
			if _, isText := later.(string); isText {
				delete(m.Unknown, k) // a string replaces any earlier value
			}
			if earlier, ok := m.Data[k]; ok {
				later = merge(earlier, later)
			}
			m.Data[k] = later
		}
		for _, k := range s.unknown {
			if m.Unknown == nil {
				m.Unknown = map[string]bool{}
			}
			m.Unknown[k] = true
		}
	}
	slices.Sort(m.Own)
	m.Own = slices.Compact(m.Own)
	return m
}

// violations returns the violations of a schema. It caches them if the values are shared. If the base is valid, it
// validates only the assignment's own keys.
func (v *Values) violations(m Merged, schema *compiledSchema) []string {
	if !v.Shared {
		if m.Base != nil && schema.byKey && m.Base.valid(schema) {
			return schemaViolations(schema, m.Data, slices.Values(slices.Concat(m.Own, schema.Required)))
		}
		return schemaViolations(schema, m.Data, maps.Keys(m.Data))
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	found, ok := v.checked[schema]
	if !ok {
		if v.checked == nil {
			v.checked = map[*compiledSchema][]string{}
		}
		found = schemaViolations(schema, m.Data, maps.Keys(m.Data))
		v.checked[schema] = found
	}
	return found
}

// valid reports whether the values are known and satisfy the schema.
func (v *Values) valid(schema *compiledSchema) bool {
	m := v.Merge()
	return len(m.Unknown) == 0 && len(v.violations(m, schema)) == 0
}
