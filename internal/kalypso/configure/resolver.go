package configure

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
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

	// The cache, by deployment target and by the keys of the conditions that cluster type and deployment target meet.
	ofTarget map[*fleet.DeploymentTarget]matchedConditions
	byPair   map[[2]string]*applicable

	conflicts conflicts
}

// sourceSet contains the sources of one kind of values.
type sourceSet struct {
	sources []*source // in merge order
	index   *conditionIndex
	values  map[string]*Values // by the sources that apply
}

// set indexes the sources by their conditions.
func (s *sourceSet) set(sources []*source) {
	needs := lists.Map(sources, func(one *source) []int { return one.needs })
	s.sources, s.index, s.values = sources, newConditionIndex(needs), map[string]*Values{}
	for i, one := range sources {
		one.order = 2 * i // the odd number after it belongs to the optional variant of the same source, see unsure
	}
}

// matching returns the values of the sources whose conditions are met, or may be met, by cluster or target. The same
// sources always give the same *Values.
func (s *sourceSet) matching(cluster, target matchedConditions) *Values {
	sure, unsure := s.index.matching(cluster, target)
	sources := make([]*source, 0, len(sure)+len(unsure))
	for _, i := range sure {
		sources = append(sources, s.sources[i])
	}
	for _, i := range unsure {
		sources = append(sources, s.sources[i].asUncertain())
	}
	if len(unsure) > 0 {
		slices.SortFunc(sources, byMergeOrder)
	}
	return s.of(sources)
}

// of returns the values of sources in merge order. It marks values that it returns again as shared.
func (s *sourceSet) of(sources []*source) *Values {
	numbers := lists.Map(sources, func(one *source) int { return one.order })
	key := mapKey(numbers)
	values, ok := s.values[key]
	if ok {
		values.Shared = true
		return values
	}
	values = newValues(sources)
	s.values[key] = values
	return values
}

// sharePrefixes finds values that begin with the same sources. It makes the values of these first sources their base,
// so that the first sources are merged only once.
func (s *sourceSet) sharePrefixes() {
	all := slices.SortedFunc(maps.Values(s.values), func(a, b *Values) int {
		return slices.CompareFunc(a.sources, b.sources, byMergeOrder)
	})
	inCommon := make([]int, len(all)+1) // the number of first sources that the values i-1 and i share
	for i := 1; i < len(all); i++ {
		inCommon[i] = commonPrefix(all[i-1].sources, all[i].sources)
	}
	for i, values := range all {
		if n := max(inCommon[i], inCommon[i+1]); 0 < n && n < len(values.sources) {
			values.base = s.of(values.sources[:n:n])
			values.base.Shared = true
			values.base.Continued++
		}
	}
}

// commonPrefix returns the number of sources at the start that are the same in both.
func commonPrefix(a, b []*source) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

func byMergeOrder(a, b *source) int { return cmp.Compare(a.order, b.order) }

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

// applicable contains the configs, schemas and secrets that apply to assignments that meet the same conditions.
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
		ofTarget:   map[*fleet.DeploymentTarget]matchedConditions{},
		byPair:     map[[2]string]*applicable{},
		conflicts:  conflicts{},
	}
}

// addConfigs adds the configs of a sorted fleet in merge order, and reports values that are too large.
func (r *resolver) addConfigs(ctx context.Context, f *fleet.Fleet) (problems problem.Problems) {
	var sources []*source
	maxSize := f.Limits.WithDefaults().FileSize
	for _, config := range f.Configs {
		if config.MayBePlatformConfig() && ctx.Err() == nil {
			s, tooLarge := newSource(config, "", config.Data, maxSize)
			s.needs = r.labelConditions(s)
			sources, problems = append(sources, s), append(problems, tooLarge...)
		}
	}
	for _, config := range f.Configs {
		if config.IsAzureAppConfig() && ctx.Err() == nil {
			more, tooLarge := r.azureAppConfig(config, maxSize)
			sources, problems = append(sources, more...), append(problems, tooLarge...)
		}
	}
	r.configs.set(sources)
	problems.Sort()
	return problems
}

// addSecrets adds the secrets of a sorted fleet in merge order.
func (r *resolver) addSecrets(f *fleet.Fleet) {
	r.secrets.set(lists.Map(f.Secrets, func(secret *fleet.Secret) *source {
		s := newSecretSource(secret)
		s.needs = r.labelConditions(s)
		return s
	}))
}

// labelConditions returns the conditions of a source: the labels of its object.
func (r *resolver) labelConditions(s *source) []int {
	m := s.object.Metadata()
	if unknown.Is(m.Name) { // the name decides the merge order and the meaning of the keys
		s.optional = true
		s.markUnknown(unknown.Text)
		return nil
	}
	if unknown.Any(m.Labels) { // it may not apply
		s.markOptional()
	}
	return r.conditions.numbersOf(m.Labels)
}

// azureAppConfig returns each key, such as label.value.….key, as a source of its own, sorted by length, then bytes.
// It ignores a label without a value. It also returns a problem for each value that is too large.
func (r *resolver) azureAppConfig(config *fleet.Config, maxSize int64) (sources []*source, problems problem.Problems) {
	keys := slices.SortedFunc(maps.Keys(config.Data), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	})
	for _, key := range keys {
		parts := strings.Split(key, ".")
		labels := map[string]string{}
		for i := 0; i+2 < len(parts); i += 2 {
			labels[parts[i]] = parts[i+1]
		}
		s, tooLarge := newSource(config, key, map[string]string{parts[len(parts)-1]: config.Data[key]}, maxSize)
		s.needs = r.conditions.numbersOf(labels)
		sources, problems = append(sources, s), append(problems, tooLarge...)
	}
	return sources, problems
}

// addSchemas adds the schemas of a fleet.
func (r *resolver) addSchemas(ctx context.Context, f *fleet.Fleet) {
	var needs [][]int
	for _, s := range f.ConfigSchemas {
		before := len(r.invalid)
		schema := r.compile(ctx, s, s.Schema, problem.Attr("schema"))
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
		r.addTeamSchemas(ctx, f, w)
	}
}

// addTeamSchemas compiles the schemas of a Workload and of its targets that may be rendered.
func (r *resolver) addTeamSchemas(ctx context.Context, f *fleet.Fleet, w *fleet.Workload) {
	for i, text := range w.ConfigSchemas {
		r.compile(ctx, w, text, problem.Attr("config_schemas"), problem.Index(i))
	}
	for n, t := range w.Targets {
		if !f.MayRender(&t) {
			continue
		}
		for i, text := range t.ConfigSchemas {
			r.compile(ctx, w, text,
				problem.Attr("deployment_targets"), problem.Index(n), problem.Attr("config_schemas"), problem.Index(i))
		}
	}
}

// compile compiles a schema of an object. It compiles equal texts once. It returns nil for a schema that is empty or
// not known. It also returns nil for a schema that can't be used, and adds it to the invalid schemas.
func (r *resolver) compile(ctx context.Context, o fleet.Object, text string, path ...problem.Step) *compiledSchema {
	defer problem.NamePanic(string(o.Kind()), o.Metadata().Name)
	if unknown.Is(text) || ctx.Err() != nil {
		return nil
	}
	if _, mayLack := o.(*fleet.ConfigSchema); mayLack && text == "" {
		return nil // the fleet's validation reports it
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

// schemaProblems returns a problem for each schema that can't be used. It is only a warning if the schema applies to no
// assignment, unless all is set.
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

// use notes that the invalid schemas of a deployment target apply to an assignment.
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
	cluster := r.conditions.ofClusterType(p.ClusterType)
	for i := range p.Assignments {
		t := p.Assignments[i].Target
		target, ok := r.ofTarget[t]
		if !ok {
			target = r.conditions.ofTarget(t)
			r.ofTarget[t] = target
			r.use(t)
		}
		all[i] = AssignmentConfig{r.lookup(cluster, target), t}
		r.conflicts.add(all[i].conflicts, &p.Assignments[i])
	}
	return all
}

// lookup returns the configs, schemas and secrets that apply under these conditions.
func (r *resolver) lookup(cluster, target matchedConditions) *applicable {
	pair := [2]string{cluster.key, target.key}
	found, ok := r.byPair[pair]
	if ok {
		found.Values.Shared = true
		return found
	}
	found = r.resolve(cluster, target)
	r.byPair[pair] = found
	return found
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
