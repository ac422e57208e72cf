package configure

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/unknown"
)

// resolver finds the configs, schemas and secrets that apply to assignments.
type resolver struct {
	conditions  conditions
	configs     sourceSet
	secrets     sourceSet
	schemas     []platformSchema
	schemaIndex *conditionIndex
	invalid     []invalidSchema
	compiled    map[string]*compiledSchema // schemas by text

	// The cache. Sets of met conditions are identified by their index in sets.
	sets     []matchedConditions
	setIndex map[string]int
	setOf    map[*fleet.DeploymentTarget]int
	byPair   map[[2]int]*applicable

	conflicts conflicts
}

// sourceSet holds the sources of one kind of values.
type sourceSet struct {
	sources []*source // in merge order
	index   *conditionIndex
	values  map[string]*Values // by the sources that apply
}

// set indexes the sources by the numbers of their conditions.
func (s *sourceSet) set(sources []*source, needs [][]int) {
	s.sources, s.index, s.values = sources, newConditionIndex(needs), map[string]*Values{}
}

// matching returns the values of the sources whose conditions are all met, or may all be met, by cluster or target.
// Equal sources give the same values.
func (s *sourceSet) matching(cluster, target matchedConditions) *Values {
	sure, unsure := s.index.matching(cluster, target)
	key := mapKey([]int{len(sure)}, sure, unsure)
	values, ok := s.values[key]
	if ok {
		values.Shared = true
		return values
	}
	indexes := slices.Concat(sure, unsure)
	slices.Sort(indexes) // the merge order
	sources := make([]*source, len(indexes))
	for n, i := range indexes {
		sources[n] = s.sources[i]
		if slices.Contains(unsure, i) {
			sources[n] = sources[n].unsure()
		}
	}
	values = newValues(sources)
	s.values[key] = values
	return values
}

type platformSchema struct {
	object *fleet.ConfigSchema
	schema *compiledSchema // nil: it can't be used
}

// invalidSchema is a schema that can't be used.
type invalidSchema struct {
	problem problem.Problem
	object  fleet.Object
	text    string
	used    bool
}

// applicable holds what applies to assignments that meet the same conditions.
type applicable struct {
	Values   *Values
	Secrets  *Values
	schemas  []platformSchema
	compiled map[string]*compiledSchema // all schemas by text
	// conflicts are the references that can't be used.
	conflicts []conflict
}

func newResolver() *resolver {
	return &resolver{
		conditions: conditions{numbers: map[condition]int{}, known: map[string]bool{}},
		compiled:   map[string]*compiledSchema{},
		setIndex:   map[string]int{},
		setOf:      map[*fleet.DeploymentTarget]int{},
		byPair:     map[[2]int]*applicable{},
		conflicts:  conflicts{},
	}
}

// addConfigs adds the configs of a sorted fleet in merge order, and reports values that are too large.
func (r *resolver) addConfigs(ctx context.Context, f *fleet.Fleet) (problems problem.Problems) {
	var sources []*source
	var needs [][]int // by source
	for _, config := range f.Configs {
		if config.MayBePlatformConfig() {
			s := newSource(config, "", config.Data)
			sources, needs = append(sources, s), append(needs, r.labelConditions(s))
		}
	}
	for _, config := range f.Configs {
		if config.IsAzureAppConfig() {
			more, moreNeeds := r.azureAppConfig(config)
			sources, needs = append(sources, more...), append(needs, moreNeeds...)
		}
	}
	r.configs.set(sources, needs)
	most := f.Limits.WithDefaults().FileSize
	for _, s := range sources {
		if ctx.Err() != nil {
			break
		}
		problems = append(problems, s.checkValues(most)...)
	}
	return problems
}

// addSecrets adds the secrets of a sorted fleet in merge order.
func (r *resolver) addSecrets(f *fleet.Fleet) {
	sources, needs := make([]*source, len(f.Secrets)), make([][]int, len(f.Secrets))
	for i, secret := range f.Secrets {
		sources[i] = newSecretSource(secret)
		needs[i] = r.labelConditions(sources[i])
	}
	r.secrets.set(sources, needs)
}

// labelConditions returns the conditions of a source: the labels of its object.
func (r *resolver) labelConditions(s *source) []int {
	m := s.object.Metadata()
	if unknown.Is(m.Name) { // its merge order and the meaning of its keys are unknown
		s.optional = true
		s.markUnknown(unknown.Text)
		return nil
	}
	if unknown.Any(m.Labels) { // it may not apply
		s.markOptional()
	}
	return r.conditions.numbersOf(m.Labels)
}

// azureAppConfig returns each key, label.value.….key, as a source of its own, sorted by length, then bytes. It
// ignores a label without a value. It also returns the conditions of each key.
func (r *resolver) azureAppConfig(config *fleet.Config) (sources []*source, needs [][]int) {
	keys := slices.SortedFunc(maps.Keys(config.Data), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	})
	for _, key := range keys {
		parts := strings.Split(key, ".")
		labels := map[string]string{}
		for i := 0; i+2 < len(parts); i += 2 {
			labels[parts[i]] = parts[i+1]
		}
		sources = append(sources, newSource(config, key, map[string]string{parts[len(parts)-1]: config.Data[key]}))
		needs = append(needs, r.conditions.numbersOf(labels))
	}
	return sources, needs
}

// addSchemas adds the schemas of a fleet.
func (r *resolver) addSchemas(ctx context.Context, f *fleet.Fleet) {
	compile := func(o fleet.Object, text string, path ...problem.Step) *compiledSchema {
		defer problem.NamePanic(string(o.Kind()), o.Metadata().Name)
		if unknown.Is(text) || ctx.Err() != nil {
			return nil
		}
		if _, mayLack := o.(*fleet.ConfigSchema); mayLack && text == "" {
			return nil // reported by the fleet's validation
		}
		if schema, ok := r.compiled[text]; ok {
			return schema
		}
		schema, err := compileSchema(text)
		if err != nil {
			p := fleet.ProblemOf(o, problem.Problem{
				Path: path, Summary: "Invalid JSON Schema", Detail: problem.Sentence(err), Err: err,
			})
			if o.Kind() == fleet.KindWorkload {
				p.Fault = problem.TeamFault
			}
			r.invalid = append(r.invalid, invalidSchema{problem: p, object: o, text: text})
			return nil
		}
		r.compiled[text] = schema
		return schema
	}
	var needs [][]int
	for _, s := range f.ConfigSchemas {
		before := len(r.invalid)
		schema := compile(s, s.Schema, problem.Attr("schema"))
		invalid := len(r.invalid) > before
		if unknown.Any(s.Labels) || schema == nil && !invalid {
			if invalid { // it may apply
				r.invalid[before].used = true
			}
			continue
		}
		r.schemas = append(r.schemas, platformSchema{s, schema})
		needs = append(needs, r.conditions.numbersOf(s.Labels))
	}
	r.schemaIndex = newConditionIndex(needs)
	for _, w := range f.Workloads {
		for i, text := range w.ConfigSchemas {
			compile(w, text, problem.Attr("config_schemas"), problem.Index(i))
		}
		for n, t := range w.Targets {
			if !f.MayRender(&t) {
				continue
			}
			for i, text := range t.ConfigSchemas {
				compile(w, text,
					problem.Attr("deployment_targets"), problem.Index(n), problem.Attr("config_schemas"), problem.Index(i))
			}
		}
	}
}

// schemaProblems returns the schemas that can't be used. Unless all of them count, one that applies to no assignment is
// a warning.
func (r *resolver) schemaProblems(f *fleet.Fleet, all bool) (problems problem.Problems) {
	for _, s := range r.invalid {
		ps := problem.Problems{s.problem}
		if !all && !s.used {
			problem.Unused(ps, "it applies to no assignment")
		} else if w, ok := s.object.(*fleet.Workload); ok {
			f.SetAffected(w, ps)
		}
		problems = append(problems, ps...)
	}
	return problems
}

// use marks the invalid schemas of a deployment target's team.
func (r *resolver) use(t *fleet.DeploymentTarget) {
	for i := range r.invalid {
		if s := &r.invalid[i]; s.object == t.Workload && slices.Contains(t.ConfigSchemas, s.text) {
			s.used = true
		}
	}
}

// placement returns the configuration of each assignment of a placement.
func (r *resolver) placement(p *schedule.Placement) []AssignmentConfig {
	defer problem.NamePanic(string(p.ClusterType.Kind()), p.ClusterType.Name)
	all := make([]AssignmentConfig, len(p.Assignments))
	cluster := r.setNumber(r.conditions.ofClusterType(p.ClusterType))
	for i := range p.Assignments {
		t := p.Assignments[i].Target
		target, ok := r.setOf[t]
		if !ok {
			target = r.setNumber(r.conditions.ofTarget(t))
			r.setOf[t] = target
			r.use(t)
		}
		all[i] = AssignmentConfig{r.lookup(cluster, target), t}
		r.conflicts.add(all[i].conflicts, &p.Assignments[i])
	}
	return all
}

// lookup returns what applies under the conditions of these sets.
func (r *resolver) lookup(cluster, target int) *applicable {
	pair := [2]int{cluster, target}
	found, ok := r.byPair[pair]
	if ok {
		found.Values.Shared = true
		return found
	}
	found = r.resolve(r.sets[cluster], r.sets[target])
	r.byPair[pair] = found
	return found
}

// setNumber returns the index of h in sets.
func (r *resolver) setNumber(h matchedConditions) int {
	key := h.mapKey()
	i, ok := r.setIndex[key]
	if !ok {
		i = len(r.sets)
		r.sets = append(r.sets, h)
		r.setIndex[key] = i
	}
	return i
}

func (r *resolver) resolve(cluster, target matchedConditions) *applicable {
	found := &applicable{Values: r.configs.matching(cluster, target), Secrets: noValues, compiled: r.compiled}
	if len(r.secrets.sources) > 0 {
		found.Secrets = r.secrets.matching(cluster, target)
		found.conflicts = conflictsOf(found.Secrets, found.Values)
	}
	schemas, _ := r.schemaIndex.matching(cluster, target)
	for _, i := range schemas {
		if r.schemas[i].schema != nil {
			found.schemas = append(found.schemas, r.schemas[i])
			continue
		}
		n := slices.IndexFunc(r.invalid, func(s invalidSchema) bool { return s.object == r.schemas[i].object })
		r.invalid[n].used = true
	}
	return found
}
