package fleet

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// RequiresAnnotation contains the requirements of the deployment targets of a Workload, by target.
const RequiresAnnotation = "kalypso.io/requires"

// Requirement describes a deployment target that another target needs on the same cluster type. A target satisfies it
// if it matches all fields that are set.
type Requirement struct {
	Workload         string // name of a Workload
	DeploymentTarget string // name of a target in that Workload
	MatchLabels      map[string]string
}

// The bounds of requirements, so that one team can't slow down the others.
const (
	mostRequirements = 32  // of a deployment target
	mostDifferent    = 256 // of a Workload
)

// String describes the requirement, such as: workload "auth", deployment target "eu".
func (r Requirement) String() string {
	var parts []string
	if r.Workload != "" {
		parts = append(parts, fmt.Sprintf("workload %q", unknown.Display(r.Workload)))
	}
	if r.DeploymentTarget != "" {
		parts = append(parts, fmt.Sprintf("deployment target %q", unknown.Display(r.DeploymentTarget)))
	}
	for _, k := range slices.Sorted(maps.Keys(r.MatchLabels)) {
		parts = append(parts, fmt.Sprintf("label %q = %q", unknown.Display(k), unknown.Display(r.MatchLabels[k])))
	}
	return strings.Join(parts, ", ")
}

// Key returns a text that is different for different requirements.
func (r Requirement) Key() string {
	return fmt.Sprintf("%q %q %q", r.Workload, r.DeploymentTarget, r.MatchLabels) // fmt sorts the labels
}

// checkRequirements checks the requirements of each target by themselves.
func (w *Workload) checkRequirements(c checker) {
	different := map[string]bool{}
	for i, t := range w.Targets {
		at := c.attr("deployment_targets").index(i).attr("requires")
		if len(t.Requires) > mostRequirements {
			at.add("Too many requirements", fmt.Sprintf("Deployment target %q has %d requirements; at most %d are allowed. "+
				"Give the required targets a common label, and require that label.",
				t.Name, len(t.Requires), mostRequirements))
			continue
		}
		for n, r := range t.Requires {
			at.index(n).requirement(w, t.Name, n, r)
			different[r.Key()] = true
		}
	}
	if len(different) > mostDifferent {
		c.attr("deployment_targets").add("Too many requirements", fmt.Sprintf("The deployment targets of the workload have "+
			"%d different requirements; at most %d are allowed. Require labels that many targets have in common.",
			len(different), mostDifferent))
	}
}

func (c checker) requirement(w *Workload, target string, n int, r Requirement) {
	of := fmt.Sprintf("Requirement %d of deployment target %q", n+1, target)
	switch {
	case r.Workload == "" && r.DeploymentTarget == "" && len(r.MatchLabels) == 0:
		c.add("Empty requirement", fmt.Sprintf("%s is empty. Set workload or %s, or remove it.",
			of, w.field("match_labels")))
	case r.Workload == "" && r.DeploymentTarget != "":
		c.attr("workload").add("Requirement without a workload", fmt.Sprintf("%s names the deployment target %q, but no "+
			"workload. Set workload too.", of, r.DeploymentTarget))
	}
	names := []struct{ attribute, value, full string }{
		{"workload", r.Workload, r.Workload}, {"deployment_target", r.DeploymentTarget, "a-" + r.DeploymentTarget},
	}
	for _, name := range names {
		if name.value == "" || unknown.Is(name.value) {
			continue
		}
		if msgs := validation.IsDNS1123Subdomain(name.full); len(msgs) > 0 {
			c.attr(name.attribute).add("Invalid name in a requirement", of+": "+validationDetail(name.value, msgs))
		}
	}
	c.attr("match_labels").labels(r.MatchLabels)
}
