// Package configure computes the platform configuration of assignments: it finds the configs that apply, merges their
// values and validates them by the schemas that apply. It finds and merges the references to secrets by the same rules.
//
// Configs apply in byte order of their names, and a later value for a key merges onto the earlier one. The ConfigMaps
// of Azure App Configuration apply after all others, in the order of their names: shorter keys first, and keys of the
// same length in byte order.
package configure

import (
	"context"
	"fmt"
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// Configuration is the platform configuration of a schedule's assignments. It is safe for concurrent use.
type Configuration struct {
	placements [][]AssignmentConfig // by placement and assignment of the schedule
}

// AssignmentConfig contains the values of an assignment, the schemas they must satisfy, and its references to secrets.
type AssignmentConfig struct {
	*applicable
	target *fleet.DeploymentTarget
}

// New configures the assignments of a valid fleet's schedule. It parses each config and schema once. It reports all
// invalid schemas, as a warning if a schema applies to no assignment, and all references to secrets that an assignment
// can't use.
func New(ctx context.Context, f *fleet.Fleet, s *schedule.Schedule) (*Configuration, problem.Problems) {
	f.Sort()
	r := newResolver()
	problems := r.addConfigs(ctx, f)
	r.addSchemas(ctx, f)
	r.addSecrets(f)
	c := &Configuration{placements: make([][]AssignmentConfig, len(s.Placements))}
	for i := range s.Placements {
		if ctx.Err() != nil {
			break
		}
		c.placements[i] = r.placement(&s.Placements[i])
	}
	r.configs.sharePrefixes()
	r.secrets.sharePrefixes()
	_, known := s.Known()
	problems = slices.Concat(problems, r.schemaProblems(f, !known), r.conflicts.problems())
	problems.Sort()
	return c, problems
}

// CheckObject reports an object's schemas that can't be used, and its config values that are too large.
func CheckObject(o fleet.Object) problem.Problems {
	f := &fleet.Fleet{Environment: unknown.Text} // an unknown environment matches all targets
	f.Add(o)
	r := newResolver()
	ctx := context.Background() // checking one object is fast, so it needs no deadline
	problems := r.addConfigs(ctx, f)
	r.addSchemas(ctx, f)
	return append(problems, r.schemaProblems(f, true)...)
}

// Of returns the configuration of the assignment n of the schedule's placement i.
func (c *Configuration) Of(i, n int) AssignmentConfig { return c.placements[i][n] }

// Violation lists the values of an assignment that violate a schema.
type Violation struct {
	Schema string       // describes the schema: the name of a ConfigSchema, or the owner
	Object fleet.Object // the ConfigSchema or the Workload that contains it
	Keys   []string     // the invalid keys, each with the reason
}

// Violations validates the merged values against all schemas that apply. It skips values that are partly unknown.
func (c AssignmentConfig) Violations(m Merged) (violations []Violation) {
	if len(m.Unknown) > 0 {
		return nil
	}
	found := make(map[*compiledSchema][]string, 1) // objects may have the same schema
	violated := func(schema *compiledSchema) []string {
		keys, ok := found[schema]
		if !ok {
			keys = c.Values.violations(m, schema)
			found[schema] = keys
		}
		return keys
	}
	for _, s := range c.schemas {
		if keys := violated(s.schema); len(keys) > 0 {
			violations = append(violations, Violation{fmt.Sprintf("ConfigSchema %q", s.object.Name), s.object, keys})
		}
	}
	for i, text := range c.target.ConfigSchemas {
		schema := c.compiled[text]
		if schema == nil {
			continue
		}
		if keys := violated(schema); len(keys) > 0 {
			name := fmt.Sprintf("Config schema %d of deployment target %q", i+1, c.target.Name)
			violations = append(violations, Violation{name, c.target.Workload, keys})
		}
	}
	return violations
}
