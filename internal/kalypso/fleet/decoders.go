package fleet

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// Decoder decodes an object from a JSON document. It returns the paths of the fields that the kind does not have.
type Decoder func(document []byte) (o Object, unknown []string, err error)

var decoders = map[Kind]Decoder{
	KindClusterType:      decodeClusterType,
	KindTemplate:         decodeTemplate,
	KindConfigSchema:     DecoderOf(func(m Meta, s configSchemaSpec) Object { return &ConfigSchema{m, s.Schema} }),
	KindSecret:           DecoderOf(func(m Meta, s secretSpec) Object { return &Secret{m, s.Data} }),
	KindSchedulingPolicy: decodeSchedulingPolicy,
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

// DecoderOf returns the [Decoder] of a kind with a spec. build creates the object from it.
func DecoderOf[S any](build func(Meta, S) Object) Decoder {
	return func(document []byte) (Object, []string, error) {
		var y objectInput[S]
		unknown, err := decode(document, &y)
		return build(Meta{Name: y.Metadata.Name, Labels: y.Metadata.Labels}, y.Spec), unknown, err
	}
}

// decode decodes JSON as the API server does, with case-sensitive field names. It returns the paths of fields that
// into does not have, at most 100.
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

// kindOf returns the kind of an object of Kalypso, or "" for any other object.
func kindOf(tm typeMeta) Kind {
	kind := Kind(tm.Kind)
	group, _, _ := strings.Cut(tm.APIVersion, "/")
	if kind == KindConfig && tm.APIVersion == "v1" || kind != KindConfig && group == apiGroup {
		return kind
	}
	return ""
}

// kindInAnyCase returns the kind of an object, ignoring the case of the fields apiVersion and kind.
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
		return fmt.Errorf("manifests: expected strings or objects, got %s", data)
	}
	text, err := yaml.JSONToYAML(escapeUnprintable(data))
	*m = manifestYAML(text)
	return err
}
