package fleet

import (
	"encoding/json"
	"fmt"
	"regexp"
	"unicode/utf8"

	"sigs.k8s.io/yaml"
)

// MarshalYAML returns o as a Kalypso document. It sorts the keys and omits empty values.
func MarshalYAML(o Object) (string, error) {
	data, err := json.Marshal(documentOf(o))
	if err != nil {
		return "", err
	}
	text, err := yaml.JSONToYAML(escapeUnprintable(data))
	return string(text), err
}

// escapeUnprintable escapes the characters that JSON may contain unescaped, but YAML forbids or treats as line breaks.
func escapeUnprintable(data []byte) []byte {
	return unprintable.ReplaceAllFunc(data, func(c []byte) []byte {
		r, _ := utf8.DecodeRune(c)
		return fmt.Appendf(nil, `\u%04x`, r)
	})
}

var unprintable = regexp.MustCompile(`[\x{7f}-\x{9f}\x{feff}\x{fffe}\x{ffff}]`)

func documentOf(o Object) any {
	switch o := o.(type) {
	case *ClusterType:
		return write(o, clusterTypeSpec{o.Reconciler, o.NamespaceService, o.ConfigType, o.SecretType})
	case *Template:
		spec := templateSpec{Type: o.Type, ContentType: o.ContentType, Manifests: []manifestYAML{}}
		for _, manifest := range o.Manifests {
			spec.Manifests = append(spec.Manifests, manifestYAML(manifest))
		}
		return write(o, spec)
	case *Config:
		return configOutput{"v1", o.Kind(), metaOf(o), o.Data}
	case *ConfigSchema:
		return write(o, configSchemaSpec{o.Schema})
	case *Secret:
		return write(o, secretSpec{o.Data})
	case *SchedulingPolicy:
		return write(o, schedulingPolicySpec{
			selectorSpec{o.Workspace, o.DeploymentTargets},
			selectorSpec{LabelSelector: o.ClusterTypes},
		})
	case *Workload:
		spec := workloadSpec{DeploymentTargets: []targetSpec{}, ConfigSchemas: o.ConfigSchemas}
		for _, t := range o.Targets {
			spec.DeploymentTargets = append(spec.DeploymentTargets, targetSpec(t))
		}
		return write(o, spec)
	case *WorkloadRegistration:
		var spec workloadRegistrationSpec
		spec.Workload.Repo, spec.Workload.Branch, spec.Workload.Path = o.Repo, o.Branch, o.Path
		spec.Workspace = o.Workspace
		return write(o, spec)
	}
	return nil
}

func write[S any](o Object, spec S) objectOutput[S] {
	return objectOutput[S]{APIVersion, o.Kind(), metaOf(o), spec}
}

func metaOf(o Object) metaOutput {
	m := o.Metadata()
	out := metaOutput{Name: m.Name, Labels: m.Labels}
	switch o := o.(type) {
	case *Template:
		out.Annotations = o.annotations()
	case *ClusterType:
		out.Annotations = o.annotations()
	case *SchedulingPolicy:
		out.Annotations = o.annotations()
	}
	return out
}
