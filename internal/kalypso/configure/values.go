package configure

import (
	"maps"
	"slices"
	"sync"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
)

// Values holds the platform configuration values of a set of configs. Assignments with the same configs share it, so
// it must not be changed.
type Values struct {
	Configs []*fleet.Config // in merge order
	Shared  bool            // by several assignments
	Cache   sync.Map        // what other packages derive from shared values, under keys of their own

	sources []*source
	once    sync.Once
	merged  Merged

	mu      sync.Mutex
	checked map[*compiledSchema][]string
}

// Merged holds the merged values of configs.
type Merged struct {
	// Data maps keys to values: strings, maps (map[string]any) and lists ([]any) of YAML's types.
	Data map[string]any
	// Unknown holds the keys whose values or presence are unknown. If it contains [fleet.Unknown], nothing is known.
	Unknown map[string]bool
}

// source is a config, or one key of an azure-app-config. It applies if its conditions are met.
type source struct {
	config *fleet.Config
	path   string            // the whole key of an azure-app-config
	texts  map[string]string // the known values
	// unknown holds the keys with unknown values. If it contains fleet.Unknown, any key may exist.
	unknown []string

	once   sync.Once
	parsed map[string]any
}

func newSource(config *fleet.Config, path string, data map[string]string) *source {
	s := &source{config: config, path: path, texts: data}
	if !fleet.AnyUnknown(data) {
		return s
	}
	s.texts = map[string]string{}
	for k, v := range data {
		if fleet.IsUnknown(k) || fleet.IsUnknown(v) {
			s.unknown = append(s.unknown, k)
		} else {
			s.texts[k] = v
		}
	}
	return s
}

// markUnknown marks keys as unknown.
func (s *source) markUnknown(keys ...string) {
	s.unknown = append(s.unknown, keys...)
}

// markAllUnknown marks all keys as unknown, because the source may not apply.
func (s *source) markAllUnknown() { s.markUnknown(slices.Collect(maps.Keys(s.texts))...) }

// unsure returns the source as one that may not apply.
func (s *source) unsure() *source {
	other := newSource(s.config, s.path, s.texts)
	other.markUnknown(s.unknown...)
	other.markAllUnknown()
	return other
}

// values parses the texts once and returns the values.
func (s *source) values() map[string]any {
	s.once.Do(func() {
		s.parsed = make(map[string]any, len(s.texts))
		for k, text := range s.texts {
			s.parsed[k] = parseValue(text)
		}
	})
	return s.parsed
}

func newValues(sources []*source) *Values {
	v := &Values{sources: sources}
	for _, s := range sources {
		if n := len(v.Configs); n == 0 || v.Configs[n-1] != s.config {
			v.Configs = append(v.Configs, s.config)
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
	m := Merged{Data: map[string]any{}}
	for _, s := range v.sources {
		for k, later := range s.values() {
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
	return m
}

// violations returns the violations of a schema. It caches them if the values are shared.
func (v *Values) violations(m Merged, schema *compiledSchema) []string {
	if !v.Shared {
		return schemaViolations(schema, m.Data)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	found, ok := v.checked[schema]
	if !ok {
		if v.checked == nil {
			v.checked = map[*compiledSchema][]string{}
		}
		found = schemaViolations(schema, m.Data)
		v.checked[schema] = found
	}
	return found
}
