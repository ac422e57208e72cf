package configure

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule"
)

// Values are the platform configuration values that a set of configs gives. Assignments to which the same configs apply
// share them; they must not be changed.
type Values struct {
	Configs []*fleet.Config // in the order in which they merge
	Shared  bool            // more than one assignment has them

	sources []source
	once    sync.Once
	merged  Merged

	mu      sync.Mutex
	checked map[*jsonschema.Schema][]string
	derived map[any]string
}

// Merged is what the values of the configs merge to.
type Merged struct {
	// Data are the values by key: strings, and maps (map[string]any) and lists ([]any) of YAML's types.
	Data map[string]any
	// Unknown are the keys whose values are not known yet; [fleet.Unknown] among them: nothing is known.
	Unknown map[string]bool
}

// source is a config, or a key of an azure-app-config, of which the conditions decide whether it applies.
type source struct {
	config *fleet.Config
	values map[string]any // parsed once
	needs  []int          // conditions that must hold
	// unknown are the keys whose values are not known yet; fleet.Unknown among them: any key.
	unknown []string
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
	m := Merged{map[string]any{}, map[string]bool{}}
	for _, s := range v.sources {
		for k, later := range s.values {
			if earlier, ok := m.Data[k]; ok {
				later = merge(earlier, later)
			}
			m.Data[k] = later
		}
		for _, k := range s.unknown {
			m.Unknown[k] = true
		}
	}
	return m
}

// Derive returns what make makes of the values, made once a key where the values are shared.
func (v *Values) Derive(key any, make func() (string, error)) (string, error) {
	if !v.Shared {
		return make()
	}
	v.mu.Lock()
	text, ok := v.derived[key]
	v.mu.Unlock()
	if ok {
		return text, nil
	}
	text, err := make()
	if err != nil {
		return "", err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.derived == nil {
		v.derived = map[any]string{}
	}
	v.derived[key] = text
	return text, nil
}

// offences are those against the schema, looked for once where the values are shared.
func (v *Values) offences(m Merged, schema *jsonschema.Schema) []string {
	if !v.Shared {
		return offencesAgainst(schema, m.Data)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	found, ok := v.checked[schema]
	if !ok {
		if v.checked == nil {
			v.checked = map[*jsonschema.Schema][]string{}
		}
		found = offencesAgainst(schema, m.Data)
		v.checked[schema] = found
	}
	return found
}

// Configuration finds the values of assignments.
type Configuration struct {
	conditions conditions
	sources    []source
	schemas    []platformSchema
	texts      map[string]*jsonschema.Schema // the compiled schemas by their text

	byConditions map[string]*applying
	bySources    map[string]*Values
	ofTarget     map[*fleet.DeploymentTarget]bits
	ofCluster    bits
	cluster      *fleet.ClusterType
}

type platformSchema struct {
	object *fleet.ConfigSchema
	schema *jsonschema.Schema
	needs  []int
}

// applying is what applies where the same conditions hold.
type applying struct {
	values  *Values
	schemas []platformSchema
}

// Configured is an assignment with its values and the schemas they must satisfy.
type Configured struct {
	Values  *Values
	schemas []platformSchema
	target  *fleet.DeploymentTarget
}

// New reads the configs and schemas of a fleet that is valid, each once.
func New(f *fleet.Fleet) (*Configuration, fleet.Problems) {
	c := &Configuration{
		conditions:   conditions{index: map[condition]int{}},
		texts:        map[string]*jsonschema.Schema{},
		byConditions: map[string]*applying{},
		bySources:    map[string]*Values{},
		ofTarget:     map[*fleet.DeploymentTarget]bits{},
	}
	f.Sort()
	for _, config := range f.Configs {
		if config.IsPlatformConfig() || fleet.IsUnknown(config.Name) || fleet.AnyUnknown(config.Labels) {
			c.addPlatformConfig(config)
		}
	}
	for _, config := range f.Configs {
		if config.IsAzureAppConfig() {
			c.addAzureAppConfig(config)
		}
	}
	problems := c.addSchemas(f)
	problems.Sort()
	return c, problems
}

func (c *Configuration) addPlatformConfig(config *fleet.Config) {
	s := source{config: config, needs: c.conditions.of(config.Labels), values: map[string]any{}}
	if fleet.IsUnknown(config.Name) || fleet.AnyUnknown(config.Labels) {
		s.unknown = []string{fleet.Unknown}
	}
	for k, v := range config.Data {
		s.set(k, v)
	}
	c.sources = append(c.sources, s)
}

func (s *source) set(key, value string) {
	if fleet.IsUnknown(key) || fleet.IsUnknown(value) {
		s.unknown = append(s.unknown, key)
		return
	}
	s.values[key] = parseValue(value)
}

// addAzureAppConfig adds each key, label.value.….key, as a source of its own: shorter keys first, equal ones in byte
// order. A label without its value is passed over.
func (c *Configuration) addAzureAppConfig(config *fleet.Config) {
	keys := slices.SortedFunc(maps.Keys(config.Data), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	})
	for _, key := range keys {
		parts := strings.Split(key, ".")
		labels := map[string]string{}
		for i := 0; i+2 < len(parts); i += 2 {
			labels[parts[i]] = parts[i+1]
		}
		s := source{config: config, needs: c.conditions.of(labels), values: map[string]any{}}
		s.set(parts[len(parts)-1], config.Data[key])
		c.sources = append(c.sources, s)
	}
}

func (c *Configuration) addSchemas(f *fleet.Fleet) (problems fleet.Problems) {
	compile := func(o fleet.Object, text string, path ...fleet.Step) *jsonschema.Schema {
		if fleet.IsUnknown(text) {
			return nil
		}
		if schema, ok := c.texts[text]; ok {
			return schema
		}
		schema, err := compileSchema(text)
		if err != nil {
			m := o.Metadata()
			problems = append(problems, fleet.Problem{
				Kind: o.Kind(), Name: m.Name, Origin: m.Origin, Path: path,
				Summary: "Invalid JSON Schema", Detail: err.Error() + ".", Err: err,
			})
			return nil
		}
		c.texts[text] = schema
		return schema
	}
	for _, s := range f.ConfigSchemas {
		schema := compile(s, s.Schema, fleet.Attr("schema"))
		if schema == nil || fleet.AnyUnknown(s.Labels) {
			continue
		}
		c.schemas = append(c.schemas, platformSchema{s, schema, c.conditions.of(s.Labels)})
	}
	for _, w := range f.Workloads {
		for i, text := range w.ConfigSchemas {
			compile(w, text, fleet.Attr("config_schemas"), fleet.Index(i))
		}
		for n, t := range w.Targets {
			for i, text := range t.ConfigSchemas {
				compile(w, text, fleet.Attr("deployment_targets"), fleet.Index(n), fleet.Attr("config_schemas"), fleet.Index(i))
			}
		}
	}
	return problems
}

// Of returns the values of an assignment. It is not for concurrent use; call it for all assignments, cluster type by
// cluster type, before any values are merged, so that it is known which are shared.
func (c *Configuration) Of(a *schedule.Assignment) Configured {
	if c.cluster != a.ClusterType {
		c.cluster, c.ofCluster = a.ClusterType, c.conditions.onCluster(a.ClusterType)
	}
	onTarget, ok := c.ofTarget[a.Target]
	if !ok {
		onTarget = c.conditions.onTarget(a.Target)
		c.ofTarget[a.Target] = onTarget
	}
	holding := c.ofCluster.or(onTarget)
	key := holding.key()
	found, ok := c.byConditions[key]
	if !ok {
		found = c.apply(holding)
		c.byConditions[key] = found
	} else {
		found.values.Shared = true
	}
	return Configured{found.values, found.schemas, a.Target}
}

func (c *Configuration) apply(holding bits) *applying {
	var sources []source
	var key []byte
	for i, s := range c.sources {
		if holding.all(s.needs) {
			sources = append(sources, s)
			key = binary.AppendUvarint(key, uint64(i))
		}
	}
	values, ok := c.bySources[string(key)]
	if !ok {
		values = &Values{sources: sources}
		for _, s := range sources {
			if n := len(values.Configs); n == 0 || values.Configs[n-1] != s.config {
				values.Configs = append(values.Configs, s.config)
			}
		}
		c.bySources[string(key)] = values
	} else {
		values.Shared = true
	}
	found := &applying{values: values}
	for _, s := range c.schemas {
		if holding.all(s.needs) {
			found.schemas = append(found.schemas, s)
		}
	}
	return found
}

// Offence is what one schema has against the values of one assignment.
type Offence struct {
	Schema string   // which schema: the ConfigSchema's name, or whose it is
	Keys   []string // the offending keys, each with the reason
}

// Check validates what the values merge to by every schema that applies. Values that are not all known are not judged.
func (c *Configuration) Check(configured Configured, m Merged) (offences []Offence) {
	if len(m.Unknown) > 0 {
		return nil
	}
	add := func(name string, schema *jsonschema.Schema) {
		if keys := configured.Values.offences(m, schema); len(keys) > 0 {
			offences = append(offences, Offence{name, keys})
		}
	}
	for _, s := range configured.schemas {
		add(fmt.Sprintf("ConfigSchema %q", s.object.Name), s.schema)
	}
	for i, text := range configured.target.ConfigSchemas {
		if schema := c.texts[text]; schema != nil {
			add(fmt.Sprintf("config schema %d of deployment target %q", i+1, configured.target.Name), schema)
		}
	}
	return offences
}
