package fleet

import (
	"fmt"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// The annotations that contain placement, each as YAML. They are not fields of spec, because Flux rejects fields that
// the operator's CRDs do not declare, and the operator may still render other environments.
const (
	TaintsAnnotation     = "kalypso.io/taints"     // of a ClusterType
	PropertiesAnnotation = "kalypso.io/properties" // of a ClusterType
	PlacementAnnotation  = "kalypso.io/placement"  // of a SchedulingPolicy
)

// FileNameAnnotation contains the name of the file that a Template renders. The operator ignores it.
const FileNameAnnotation = "kalypso.io/file-name"

// YAMLName returns the field of a Kalypso document for an attribute, such as configType for config_type.
func YAMLName(attribute string) string {
	first, rest, _ := strings.Cut(attribute, "_")
	for word := range strings.SplitSeq(rest, "_") {
		if word != "" {
			first += strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return first
}

// field returns the name of an attribute as the object's author writes it, in YAML or in HCL.
func (m *Meta) field(attribute string) string {
	if m.Origin.Document > 0 {
		return YAMLName(attribute)
	}
	return attribute
}

// YAMLPath is the path of a problem in the document that contains the object, such as spec.deploymentTargets[0].name.
// It is empty if the object is not from YAML, or the problem is with the whole object.
func YAMLPath(p problem.Problem) string {
	if p.Origin.Document == 0 || len(p.Path) == 0 {
		return ""
	}
	var b strings.Builder
	switch first, _ := p.Path[0].(problem.Attr); {
	case first == "name", first == "labels":
		b.WriteString("metadata")
	case first == "taints", first == "properties", first == "placement":
		b.WriteString("metadata.annotations[kalypso.io/" + string(first) + "]")
	case isRequirement(p.Path):
		b.WriteString("metadata.annotations[" + RequiresAnnotation + "]")
		p.Path = p.Path[2:] // a step into the annotation that names the target; the problem itself names the target too
	case first == "file_name":
		b.WriteString("metadata.annotations[" + FileNameAnnotation + "]")
	case p.Kind == string(KindConfig):
	default:
		b.WriteString("spec")
	}
	for i, step := range p.Path {
		switch step := step.(type) {
		case problem.Index:
			fmt.Fprintf(&b, "[%d]", step)
		case problem.Key:
			fmt.Fprintf(&b, "[%q]", step)
		case problem.Attr:
			if i > 0 && isSelector(p.Path[i-1]) && step != "workspace" {
				b.WriteString(".labelSelector")
			}
			if i == 0 && strings.HasSuffix(b.String(), "]") { // an annotation already names it
				continue
			}
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(YAMLName(string(step)))
		}
	}
	return b.String()
}

func isSelector(step problem.Step) bool {
	name, _ := step.(problem.Attr)
	return strings.HasSuffix(string(name), "_selector")
}

func isRequirement(path []problem.Step) bool {
	return len(path) > 2 && path[0] == problem.Attr("deployment_targets") && path[2] == problem.Attr("requires")
}

// PolicyField returns the name of an attribute of the fleet's scheduling policies as their authors write it. If some
// policies are YAML and some are HCL, it returns the HCL name.
func (f *Fleet) PolicyField(attribute string) string {
	if len(f.Policies) == 0 ||
		slices.ContainsFunc(f.Policies, func(p *SchedulingPolicy) bool { return p.Origin.Document == 0 }) {
		return attribute
	}
	return YAMLName(attribute)
}
