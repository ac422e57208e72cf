package fleet

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// DeploymentTarget is a target of a Workload in the fleet's environment.
type DeploymentTarget struct {
	Name          string // <workload>-<target>
	Workload      *Workload
	Workspace     string // empty if none
	Labels        map[string]string
	Manifests     map[string]string
	ConfigSchemas []string // the target's, then the Workload's
	Requires      []Requirement

	omitted bool // it is not rendered
}

// DeploymentTargets returns the deployment targets of the fleet's environment, sorted by name. If two Workloads
// resolve to the same name, it reports an error that names both. It omits targets with invalid text, so that no
// template ever gets them, and targets that [Fleet.Validate] refused.
func (f *Fleet) DeploymentTargets() ([]*DeploymentTarget, problem.Problems) {
	targets, ps := f.allTargets()
	targets = slices.DeleteFunc(targets, func(t *DeploymentTarget) bool { return t.omitted || t.hasInvalidText() })
	return slices.CompactFunc(targets, func(a, b *DeploymentTarget) bool { return a.Name == b.Name }), ps
}

// RefusedTargets returns the deployment targets that [Fleet.Validate] refused, sorted by name. The branch may still
// contain them. Their labels may be invalid.
func (f *Fleet) RefusedTargets() []*DeploymentTarget {
	if len(f.refused) == 0 {
		return nil
	}
	targets, _ := f.allTargets()
	targets = slices.DeleteFunc(targets, func(t *DeploymentTarget) bool { return !f.refused[t.Name] })
	return slices.CompactFunc(targets, func(a, b *DeploymentTarget) bool { return a.Name == b.Name })
}

// allTargets returns the deployment targets of the fleet's environment, sorted. Omitted targets are not rendered, but
// their names must be unique too.
func (f *Fleet) allTargets() (targets []*DeploymentTarget, ps problem.Problems) {
	workspaces := f.workspaces()
	for _, w := range f.Workloads {
		workspace := workspaces.of(w)
		for _, t := range w.Targets {
			if !f.MayRender(&t) && t.Environment != "" {
				continue
			}
			labels := map[string]string{}
			maps.Copy(labels, t.Labels)
			maps.Copy(labels, w.Labels)
			labels[WorkloadLabel] = w.Name
			labels[WorkspaceLabel] = workspace
			name := w.Name + "-" + t.Name
			targets = append(targets, &DeploymentTarget{
				Name:          name,
				Workload:      w,
				Workspace:     workspace,
				Labels:        labels,
				Manifests:     t.Manifests,
				ConfigSchemas: slices.Concat(t.ConfigSchemas, w.ConfigSchemas),
				Requires:      t.Requires,
				omitted:       f.refused[name] || t.Environment == "",
			})
		}
	}
	slices.SortStableFunc(targets, func(a, b *DeploymentTarget) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Workload.Name, b.Workload.Name))
	})
	for i := 1; i < len(targets); i++ {
		a, b := targets[i-1], targets[i]
		if a.Name == b.Name && a.Workload.Name != b.Workload.Name {
			ps = append(ps, ProblemOf(b.Workload, problem.Problem{
				Summary: "Two workloads resolve to the same deployment target",
				Fault:   problem.TeamFault, Affects: []problem.AffectedTarget{{Name: a.Name}},
				Detail: fmt.Sprintf("The workloads %q (%s) and %q (%s) both define the deployment target %q. Rename one of the "+
					"workloads or targets.",
					a.Workload.Name, originText(a.Workload), b.Workload.Name, originText(b.Workload), a.Name),
			}))
		}
	}
	return targets, ps
}

// MayRender reports whether t is, or may become, a target of the fleet's environment. Targets of other environments
// are ignored.
func (f *Fleet) MayRender(t *Target) bool {
	return t.Environment == f.Environment || unknown.Is(t.Environment) || unknown.Is(f.Environment)
}

// TargetPath returns the path to an attribute of a deployment target in its Workload.
func (f *Fleet) TargetPath(t *DeploymentTarget, attribute string) []problem.Step {
	n := slices.IndexFunc(t.Workload.Targets, func(w Target) bool {
		return t.Workload.Name+"-"+w.Name == t.Name && f.MayRender(&w)
	})
	return []problem.Step{problem.Attr("deployment_targets"), problem.Index(max(n, 0)), problem.Attr(attribute)}
}

// CheckEnvironment warns if Workloads have deployment targets, but none for the fleet's environment, since its name may
// be wrong.
func (f *Fleet) CheckEnvironment() problem.Problems {
	named := map[string]bool{}
	for _, w := range f.Workloads {
		for i := range w.Targets {
			if f.MayRender(&w.Targets[i]) {
				return nil
			}
			if environment := w.Targets[i].Environment; environment != "" {
				named[environment] = true
			}
		}
	}
	if len(named) == 0 {
		return nil
	}
	return problem.Problems{problem.WarningAt("Environment that no workload names", fmt.Sprintf(
		"No workload has a deployment target for environment %q. Workloads name these environments:\n%s\nCheck the "+
			"spelling, or add targets.",
		f.Environment, problem.IndentedList(slices.Sorted(maps.Keys(named)), problem.MaxListed)), "environment")}
}

// workspaces looks up the workspaces of Workloads.
type workspaces struct {
	prefix        string                           // of a Flux owner label: <environment>-
	registrations map[string]*WorkloadRegistration // by name
	unnamed       bool                             // a registration has an unknown name
}

func (f *Fleet) workspaces() workspaces {
	ws := workspaces{f.Environment + "-", make(map[string]*WorkloadRegistration, len(f.Registrations)), false}
	for _, r := range f.Registrations {
		ws.registrations[r.Name] = r
		ws.unnamed = ws.unnamed || unknown.Is(r.Name)
	}
	return ws
}

// Workspace returns the workspace of a Workload, or [unknown.Text] if it is not known yet.
func (f *Fleet) Workspace(w *Workload) string { return f.workspaces().of(w) }

// of returns the workspace of the registration that the Workload came from. The Workload's Flux owner label names it:
// <environment>-<registration>. If the fleet has no such registration, the Workload's own label names the workspace.
// The result is [unknown.Text] if a label or name that decides it is unknown.
func (ws workspaces) of(w *Workload) string {
	if _, maybe := w.Labels[unknown.Text]; maybe || unknown.Is(w.Labels[FluxOwnerLabel]) {
		return unknown.Text
	}
	if name, ok := strings.CutPrefix(w.Labels[FluxOwnerLabel], ws.prefix); ok {
		if r, ok := ws.registrations[name]; ok {
			return r.Workspace
		}
		if ws.unnamed {
			return unknown.Text
		}
	}
	return w.Labels[WorkspaceLabel]
}
