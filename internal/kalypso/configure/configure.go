// Package configure collects the platform configuration of assignments: which configs apply, what their values merge
// to, and whether the schemas that apply accept them.
package configure

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/digest"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule"
)

// Configuration finds the values of assignments.
type Configuration struct {
	conditions conditions
	sources    []*source
	schemas    []platformSchema
	texts      map[string]*jsonschema.Schema // the compiled schemas by their text

	applyingSources, applyingSchemas *applicability

	// What was found already. The conditions that hold are known by their place in sets.
	sets      []held
	setIndex  map[string]int
	setOf     map[*fleet.DeploymentTarget]int
	cluster   *fleet.ClusterType
	clusterIn int
	byPair    map[[2]int]*applying
	bySources map[string]*Values
}

type platformSchema struct {
	object *fleet.ConfigSchema
	schema *jsonschema.Schema
}

// applying is what applies where the same conditions hold.
type applying struct {
	Values *Values
	// Digest is of what the values come from, and of the schemas but those of the target.
	Digest  digest.Digest
	schemas []platformSchema
}

// Configured is an assignment with its values and the schemas they must satisfy.
type Configured struct {
	*applying
	target *fleet.DeploymentTarget
}

// New reads the configs and schemas of a fleet that is valid, each once, and reports the schemas that can't be used.
func New(f *fleet.Fleet) (*Configuration, fleet.Problems) {
	c := &Configuration{
		conditions: conditions{numbers: map[condition]int{}, known: map[string]bool{}},
		texts:      map[string]*jsonschema.Schema{},
		setIndex:   map[string]int{},
		setOf:      map[*fleet.DeploymentTarget]int{},
		byPair:     map[[2]int]*applying{},
		bySources:  map[string]*Values{},
	}
	f.Sort()
	var needs [][]int // of the sources
	for _, config := range f.Configs {
		if config.MayBePlatformConfig() {
			needs = append(needs, c.addPlatformConfig(config))
		}
	}
	for _, config := range f.Configs {
		if config.IsAzureAppConfig() {
			needs = append(needs, c.addAzureAppConfig(config)...)
		}
	}
	c.applyingSources = newApplicability(needs)
	problems := c.addSchemas(f)
	problems.Sort()
	return c, problems
}

// addPlatformConfig adds a config and returns the conditions under which it applies.
func (c *Configuration) addPlatformConfig(config *fleet.Config) []int {
	s := newSource(config, "", config.Data)
	c.sources = append(c.sources, s)
	if fleet.IsUnknown(config.Name) { // its place among the others is not known, nor what its keys mean
		s.obscure(fleet.Unknown)
		return nil
	}
	if fleet.AnyUnknown(config.Labels) { // it may not apply
		s.obscure(slices.Collect(maps.Keys(s.texts))...)
	}
	return c.conditions.of(config.Labels)
}

// addAzureAppConfig adds each key, label.value.….key, as a source of its own: shorter keys first, equal ones in byte
// order. A label without its value is passed over. It returns the conditions of each.
func (c *Configuration) addAzureAppConfig(config *fleet.Config) (needs [][]int) {
	keys := slices.SortedFunc(maps.Keys(config.Data), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	})
	for _, key := range keys {
		parts := strings.Split(key, ".")
		labels := map[string]string{}
		for i := 0; i+2 < len(parts); i += 2 {
			labels[parts[i]] = parts[i+1]
		}
		c.sources = append(c.sources, newSource(config, key, map[string]string{parts[len(parts)-1]: config.Data[key]}))
		needs = append(needs, c.conditions.of(labels))
	}
	return needs
}

func (c *Configuration) addSchemas(f *fleet.Fleet) (problems fleet.Problems) {
	compile := func(o fleet.Object, text string, path ...fleet.Step) *jsonschema.Schema {
		if fleet.IsUnknown(text) {
			return nil
		}
		if _, mayLack := o.(*fleet.ConfigSchema); mayLack && text == "" {
			return nil // reported by the fleet's validation
		}
		if schema, ok := c.texts[text]; ok {
			return schema
		}
		schema, err := compileSchema(text)
		if err != nil {
			m := o.Metadata()
			problems = append(problems, fleet.Problem{
				Kind: o.Kind(), Name: m.Name, Origin: m.Origin, Path: path,
				Summary: "Invalid JSON Schema", Detail: fleet.Sentence(err), Err: err,
			})
			return nil
		}
		c.texts[text] = schema
		return schema
	}
	var needs [][]int
	for _, s := range f.ConfigSchemas {
		schema := compile(s, s.Schema, fleet.Attr("schema"))
		if schema == nil || fleet.AnyUnknown(s.Labels) {
			continue
		}
		c.schemas = append(c.schemas, platformSchema{s, schema})
		needs = append(needs, c.conditions.of(s.Labels))
	}
	c.applyingSchemas = newApplicability(needs)
	for _, w := range f.Workloads {
		for i, text := range w.ConfigSchemas {
			compile(w, text, fleet.Attr("config_schemas"), fleet.Index(i))
		}
		for n, t := range w.Targets {
			if !f.MayRender(&t) {
				continue
			}
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
		c.cluster, c.clusterIn = a.ClusterType, c.set(c.conditions.onCluster(a.ClusterType))
	}
	targetIn, ok := c.setOf[a.Target]
	if !ok {
		targetIn = c.set(c.conditions.onTarget(a.Target))
		c.setOf[a.Target] = targetIn
	}
	pair := [2]int{c.clusterIn, targetIn}
	found, ok := c.byPair[pair]
	if !ok {
		found = c.apply(c.sets[c.clusterIn], c.sets[targetIn])
		c.byPair[pair] = found
	} else {
		found.Values.Shared = true
	}
	return Configured{found, a.Target}
}

// set is the place of h in sets.
func (c *Configuration) set(h held) int {
	key := keyOf(h)
	i, ok := c.setIndex[key]
	if !ok {
		i = len(c.sets)
		c.sets = append(c.sets, h)
		c.setIndex[key] = i
	}
	return i
}

func (c *Configuration) apply(cluster, target held) *applying {
	indexes := c.applyingSources.where(cluster, target)
	key := keyOf(indexes)
	values, ok := c.bySources[key]
	if ok {
		values.Shared = true
	} else {
		sources := make([]*source, len(indexes))
		for n, i := range indexes {
			sources[n] = c.sources[i]
		}
		values = newValues(sources)
		c.bySources[key] = values
	}
	found := &applying{Values: values}
	inputs := digest.New("configuration")
	inputs.Digest(values.digest)
	for _, i := range c.applyingSchemas.where(cluster, target) {
		found.schemas = append(found.schemas, c.schemas[i])
		inputs.Text(c.schemas[i].object.Schema)
	}
	found.Digest = inputs.Sum()
	return found
}

// Offence is what one schema has against the values of one assignment.
type Offence struct {
	Schema string       // which schema: the ConfigSchema's name, or whose it is
	Object fleet.Object // the ConfigSchema or the Workload that holds it
	Keys   []string     // the offending keys, each with the reason
}

// Check validates what the values merge to by every schema that applies. Values that are not all known are not judged.
func (c *Configuration) Check(configured Configured, m Merged) (offences []Offence) {
	if len(m.Unknown) > 0 {
		return nil
	}
	add := func(name string, o fleet.Object, schema *jsonschema.Schema) {
		if keys := configured.Values.offences(m, schema); len(keys) > 0 {
			offences = append(offences, Offence{name, o, keys})
		}
	}
	for _, s := range configured.schemas {
		add(fmt.Sprintf("ConfigSchema %q", s.object.Name), s.object, s.schema)
	}
	for i, text := range configured.target.ConfigSchemas {
		if schema := c.texts[text]; schema != nil {
			add(fmt.Sprintf("Config schema %d of deployment target %q", i+1, configured.target.Name), configured.target.Workload, schema)
		}
	}
	return offences
}
