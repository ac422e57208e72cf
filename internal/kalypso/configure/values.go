package configure

import (
	"sync"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
)

// Values are the platform configuration values that a set of configs gives. Assignments to which the same configs apply
// share them; they must not be changed.
type Values struct {
	Configs []*fleet.Config // in the order in which they merge
	Shared  bool            // more than one assignment has them
	Cache   sync.Map        // what others make of values that are shared, by their own keys

	sources []*source
	once    sync.Once
	merged  Merged

	mu      sync.Mutex
	checked map[*compiledSchema][]string
}

// Merged is what the values of the configs merge to.
type Merged struct {
	// Data are the values by key: strings, and maps (map[string]any) and lists ([]any) of YAML's types.
	Data map[string]any
	// Unknown are the keys whose values, or whose presence, are not known yet; [fleet.Unknown] among them: nothing is known.
	Unknown map[string]bool
}

// source is a config, or a key of an azure-app-config, of which the conditions decide whether it applies.
type source struct {
	config *fleet.Config
	path   string            // the key of an azure-app-config, whole
	texts  map[string]string // that are known
	// unknown are the keys whose values are not known yet; fleet.Unknown among them: any key.
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

// markUnknown says that these keys are not known.
func (s *source) markUnknown(keys ...string) {
	s.unknown = append(s.unknown, keys...)
}

// values are the texts parsed, once.
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

// Merge merges the values: once where they are shared, else each time, so that they are not kept.
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
				delete(m.Unknown, k) // text replaces whatever was there
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

// violations are those against the schema, looked for once where the values are shared.
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
