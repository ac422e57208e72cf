package fleetyaml

import (
	"maps"
	"reflect"
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
)

// requirementYAML is a requirement in the annotation of a Workload.
type requirementYAML struct {
	Workload         string            `json:"workload,omitempty"`
	DeploymentTarget string            `json:"deploymentTarget,omitempty"`
	MatchLabels      map[string]string `json:"matchLabels,omitempty"`
}

func newWorkload(m fleet.Meta, spec workloadSpec, all any) (fleet.Object, []string, error) {
	w := &fleet.Workload{Meta: m, ConfigSchemas: spec.ConfigSchemas}
	given := map[string][]requirementYAML{}
	err := annotation(all, fleet.RequiresAnnotation, &given)
	used := map[string]bool{}
	for _, t := range spec.DeploymentTargets {
		target := fleet.Target(t)
		key := keyInEnvironment(target)
		if given[key] == nil {
			key = t.Name
		}
		used[key] = true
		for _, r := range given[key] {
			target.Requires = append(target.Requires, fleet.Requirement(r))
		}
		w.Targets = append(w.Targets, target)
	}
	var unknown []string
	for _, key := range slices.Sorted(maps.Keys(given)) {
		if !used[key] {
			unknown = append(unknown, "metadata.annotations["+fleet.RequiresAnnotation+"]."+key)
		}
	}
	return w, unknown, err
}

// keyInEnvironment is the key of a target in the annotation if a target of another environment has the same name, but
// other requirements.
func keyInEnvironment(t fleet.Target) string { return t.Environment + "/" + t.Name }

// requirementsOf returns the requirements of a Workload's targets by their keys in the annotation.
func requirementsOf(w *fleet.Workload) map[string][]requirementYAML {
	first := map[string]fleet.Target{}
	differs := map[string]bool{}
	for _, t := range w.Targets {
		other, twice := first[t.Name]
		differs[t.Name] = differs[t.Name] || twice && !reflect.DeepEqual(other.Requires, t.Requires)
		if !twice {
			first[t.Name] = t
		}
	}
	given := map[string][]requirementYAML{}
	for _, t := range w.Targets {
		key := t.Name
		if differs[key] {
			key = keyInEnvironment(t)
		}
		if len(t.Requires) == 0 {
			continue
		}
		given[key] = nil
		for _, r := range t.Requires {
			given[key] = append(given[key], requirementYAML(r))
		}
	}
	return given
}
