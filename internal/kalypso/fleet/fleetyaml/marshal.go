package fleetyaml

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"unicode/utf8"

	"sigs.k8s.io/yaml"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
)

// Marshal returns o as a Kalypso document. It sorts the keys and omits empty values.
func Marshal(o fleet.Object) (string, error) {
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

func documentOf(o fleet.Object) any {
	switch o := o.(type) {
	case *fleet.ClusterType:
		return write(o, clusterTypeSpec{o.Reconciler, o.NamespaceService, o.ConfigType, o.SecretType}, annotationsOf(
			map[string]any{fleet.TaintsAnnotation: o.Taints, fleet.PropertiesAnnotation: o.Properties}))
	case *fleet.Template:
		manifests := lists.Map(o.Manifests, func(text string) manifestYAML { return manifestYAML(text) })
		return write(o, templateSpec{o.Type, o.ContentType, manifests}, annotations{fleet.FileNameAnnotation: o.FileName})
	case *fleet.Config:
		return configYAML{APIVersion: "v1", Kind: o.Kind(), Metadata: metaOf(o, nil), Data: o.Data}
	case *fleet.ConfigSchema:
		return write(o, configSchemaSpec{o.Schema}, nil)
	case *fleet.Secret:
		return write(o, secretSpec{o.Data}, nil)
	case *fleet.SchedulingPolicy:
		return write(o, schedulingPolicySpec{
			selectorSpec{o.Workspace, o.DeploymentTargets},
			selectorSpec{LabelSelector: o.ClusterTypes},
		}, annotationsOf(map[string]any{fleet.PlacementAnnotation: placementOutput(o.Placement)}))
	case *fleet.Workload:
		targets := lists.Map(o.Targets, func(t fleet.Target) targetSpec { return targetSpec(t) })
		return write(o, workloadSpec{targets, o.ConfigSchemas},
			annotationsOf(map[string]any{fleet.RequiresAnnotation: requirementsOf(o)}))
	case *fleet.WorkloadRegistration:
		var spec workloadRegistrationSpec
		spec.Workload.Repo, spec.Workload.Branch, spec.Workload.Path = o.Repo, o.Branch, o.Path
		spec.Workspace = o.Workspace
		return write(o, spec, nil)
	}
	return nil
}

func write[S any](o fleet.Object, spec S, a annotations) objectYAML[S] {
	return objectYAML[S]{APIVersion: APIVersion, Kind: o.Kind(), Metadata: metaOf(o, a), Spec: spec}
}

func metaOf(o fleet.Object, a annotations) metaYAML {
	m := metaYAML{Name: o.Metadata().Name, Labels: o.Metadata().Labels}
	maps.DeleteFunc(a, func(_, text string) bool { return text == "" })
	if len(a) > 0 {
		m.Annotations = a
	}
	return m
}
