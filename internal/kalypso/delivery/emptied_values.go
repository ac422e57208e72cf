package delivery

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// EmptiedValues warns about config values that are empty, and were not at the last delivery: usually a variable has no
// value, or a file lost its content.
func EmptiedValues(f *fleet.Fleet, s *State) (ps problem.Problems) {
	if s == nil || s.Desired().Inputs == nil {
		return nil
	}
	before := s.Desired().Inputs
	for _, config := range f.Configs {
		var keys []string
		for _, key := range slices.Sorted(maps.Keys(config.Data)) {
			_, existed := before.Configs[config.Name].Keys[key]
			wasEmpty := slices.ContainsFunc([]string{config.Data[key], "", "''"}, func(value string) bool {
				return before.Contains(config.Name, key, value)
			})
			if emptyValue(config.Data[key]) && existed && !wasEmpty {
				keys = append(keys, key)
			}
		}
		if len(keys) == 0 {
			continue
		}
		ps = append(ps, fleet.ProblemOf(config, problem.Problem{
			Severity: problem.Warning, Summary: "Config value becomes empty",
			Path: []problem.Step{problem.Attr("data"), problem.Key(keys[0])},
			Detail: fmt.Sprintf("These values were not empty at the last delivery, and are empty now:\n%s\nTheir workloads get "+
				"an empty text. Check the variable or the file that gives the value. If no workload needs it, remove the key.",
				problem.IndentedList(keys, problem.MaxListed)),
		}))
	}
	return ps
}

// emptyValue reports whether a config value is the empty text, or only blanks: also in the quotes that YAML and
// Kalypso read.
func emptyValue(value string) bool {
	value = strings.TrimSpace(value)
	return value == "" || value == "''"
}
