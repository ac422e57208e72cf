package fleet

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// Decoder makes an object of a document, given as JSON, and gives the paths of the fields that no object of the kind
// has.
type Decoder func(document []byte) (o Object, unknown []string, err error)

var decoders = map[Kind]Decoder{
	KindClusterType: DecoderOf(func(m Meta, s clusterTypeSpec) Object {
		return &ClusterType{m, s.Reconciler, s.NamespaceService, s.ConfigType}
	}),
	KindTemplate: DecoderOf(func(m Meta, s templateSpec) Object {
		t := &Template{Meta: m, Type: s.Type, ContentType: s.ContentType}
		for _, manifest := range s.Manifests {
			t.Manifests = append(t.Manifests, string(manifest))
		}
		return t
	}),
	KindConfigSchema: DecoderOf(func(m Meta, s configSchemaSpec) Object { return &ConfigSchema{m, s.Schema} }),
	KindSchedulingPolicy: DecoderOf(func(m Meta, s schedulingPolicySpec) Object {
		dts := s.DeploymentTargetSelector
		return &SchedulingPolicy{m, dts.Workspace, dts.LabelSelector, s.ClusterTypeSelector.LabelSelector}
	}),
	KindWorkload: DecoderOf(func(m Meta, s workloadSpec) Object {
		w := &Workload{Meta: m, ConfigSchemas: s.ConfigSchemas}
		for _, t := range s.DeploymentTargets {
			w.Targets = append(w.Targets, Target(t))
		}
		return w
	}),
	KindWorkloadRegistration: DecoderOf(func(m Meta, s workloadRegistrationSpec) Object {
		return &WorkloadRegistration{m, s.Workload.Repo, s.Workload.Branch, s.Workload.Path, s.Workspace}
	}),
	KindConfig: func(document []byte) (Object, []string, error) {
		var y configInput
		unknown, err := decode(document, &y)
		return &Config{Meta{Name: y.Metadata.Name, Labels: y.Metadata.Labels}, y.Data}, unknown, err
	},
}

// DecoderOf is the [Decoder] of a kind that has a spec; build makes the object of it.
func DecoderOf[S any](build func(Meta, S) Object) Decoder {
	return func(document []byte) (Object, []string, error) {
		var y objectInput[S]
		unknown, err := decode(document, &y)
		return build(Meta{Name: y.Metadata.Name, Labels: y.Metadata.Labels}, y.Spec), unknown, err
	}
}

// decode reads JSON as the API server does: the names of fields count letter for letter. It gives the paths of the
// fields that into does not have, at most 100.
func decode(data []byte, into any) (unknown []string, err error) {
	strict, err := kjson.UnmarshalStrict(data, into, kjson.DisallowUnknownFields)
	for _, e := range strict {
		var field kjson.FieldError
		if errors.As(e, &field) {
			unknown = append(unknown, field.FieldPath())
		}
	}
	return unknown, err
}

type typeMeta struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Items      []json.RawMessage `json:"items"`
}

// kindOf is the kind of an object that is a fleet's or the operator's; empty for any other.
func kindOf(tm typeMeta) Kind {
	kind := Kind(tm.Kind)
	group, _, _ := strings.Cut(tm.APIVersion, "/")
	if kind == KindConfig && tm.APIVersion == "v1" || kind != KindConfig && group == apiGroup {
		return kind
	}
	return ""
}

// kindInAnyCase is the kind of an object if the case of the fields that tell it did not count.
func kindInAnyCase(document []byte) Kind {
	var tm typeMeta
	if json.Unmarshal(document, &tm) != nil {
		return ""
	}
	return kindOf(tm)
}

// UnmarshalJSON implements json.Unmarshaler.
func (m *manifestYAML) UnmarshalJSON(data []byte) error {
	if data[0] == '"' {
		return json.Unmarshal(data, (*string)(m))
	}
	if data[0] != '{' {
		return fmt.Errorf("an element of manifests is %s where a string or an object is wanted", data)
	}
	text, err := yaml.JSONToYAML(escapeUnprintable(data))
	*m = manifestYAML(text)
	return err
}
