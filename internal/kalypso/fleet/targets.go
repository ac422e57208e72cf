package fleet

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// DeploymentTarget is a target of a Workload in the fleet's environment.
type DeploymentTarget struct {
	Name          string // <workload>-<target>
	Workload      *Workload
	Workspace     string // empty: none
	Labels        map[string]string
	Manifests     map[string]string
	ConfigSchemas []string // the target's, then the Workload's
}

// DeploymentTargets returns the deployment targets of the fleet's environment, sorted by name. Two that arrive at the
// same name are an error that names both.
func (f *Fleet) DeploymentTargets() ([]*DeploymentTarget, Problems) {
	var targets []*DeploymentTarget
	for _, w := range f.Workloads {
		workspace := f.workspaceOf(w)
		for _, t := range w.Targets {
			if t.Environment != f.Environment && !IsUnknown(t.Environment) {
				continue
			}
			labels := map[string]string{}
			maps.Copy(labels, t.Labels)
			maps.Copy(labels, w.Labels)
			labels[WorkloadLabel] = w.Name
			labels[WorkspaceLabel] = workspace
			targets = append(targets, &DeploymentTarget{
				Name:          w.Name + "-" + t.Name,
				Workload:      w,
				Workspace:     workspace,
				Labels:        labels,
				Manifests:     t.Manifests,
				ConfigSchemas: slices.Concat(t.ConfigSchemas, w.ConfigSchemas),
			})
		}
	}
	slices.SortStableFunc(targets, func(a, b *DeploymentTarget) int {
		if c := strings.Compare(a.Name, b.Name); c != 0 {
			return c
		}
		return strings.Compare(a.Workload.Name, b.Workload.Name)
	})
	var ps Problems
	for i := 1; i < len(targets); i++ {
		a, b := targets[i-1], targets[i]
		if a.Name == b.Name && a.Workload.Name != b.Workload.Name {
			ps = append(ps, Problems{{
				Summary: "Two workloads arrive at one deployment target",
				Detail: fmt.Sprintf("The workloads %q (%s) and %q (%s) both have a deployment target that is named %q. Rename one of the workloads or targets.",
					a.Workload.Name, originOr(a.Workload), b.Workload.Name, originOr(b.Workload), a.Name),
			}}.of(b.Workload)...)
		}
	}
	return targets, ps
}

// workspaceOf is the workspace of the registration that the Workload came through, which its Flux owner label
// <environment>-<registration> names; where no such registration is in the fleet, the Workload's own label says it.
func (f *Fleet) workspaceOf(w *Workload) string {
	if name, ok := strings.CutPrefix(w.Labels[FluxOwnerLabel], f.Environment+"-"); ok {
		for _, r := range f.Registrations {
			if r.Name == name {
				return r.Workspace
			}
		}
	}
	return w.Labels[WorkspaceLabel]
}
