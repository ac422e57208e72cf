package fleetyaml

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
)

// Decoder decodes an object from a JSON document. It returns the paths of the fields that the kind does not have.
type Decoder func(document []byte) (o fleet.Object, unknown []string, err error)

// decoders decode the kinds of a fleet. Cluster types, templates, policies and Workloads may have annotations of
// Kalypso.
var decoders = map[fleet.Kind]Decoder{
	fleet.KindClusterType: decoderOf(newClusterType),
	fleet.KindTemplate:    decoderOf(newTemplate),
	fleet.KindConfigSchema: DecoderOf(func(m fleet.Meta, s configSchemaSpec) fleet.Object {
		return &fleet.ConfigSchema{Meta: m, Schema: s.Schema}
	}),
	fleet.KindSecret: DecoderOf(func(m fleet.Meta, s secretSpec) fleet.Object {
		return &fleet.Secret{Meta: m, Data: s.Data}
	}),
	fleet.KindSchedulingPolicy: decoderOf(newSchedulingPolicy),
	fleet.KindWorkload:         decoderOf(newWorkload),
	fleet.KindWorkloadRegistration: DecoderOf(func(m fleet.Meta, s workloadRegistrationSpec) fleet.Object {
		at := s.Workload
		return &fleet.WorkloadRegistration{Meta: m, Repo: at.Repo, Branch: at.Branch, Path: at.Path, Workspace: s.Workspace}
	}),
	fleet.KindConfig: func(document []byte) (fleet.Object, []string, error) {
		var y configYAML
		unknown, err := decodeDocument(document, &y)
		return &fleet.Config{Meta: y.Metadata.meta(), Data: y.Data}, unknown, err
	},
}

// DecoderOf returns the [Decoder] of a kind with a spec. build creates the object from it.
func DecoderOf[S any](build func(fleet.Meta, S) fleet.Object) Decoder {
	return decoderOf(func(m fleet.Meta, spec S, _ any) (fleet.Object, []string, error) {
		return build(m, spec), nil, nil
	})
}

// decoderOf is [DecoderOf] for a kind with annotations. build also returns the annotations' unknown fields.
func decoderOf[S any](
	build func(m fleet.Meta, spec S, annotations any) (fleet.Object, []string, error),
) Decoder {
	return func(document []byte) (fleet.Object, []string, error) {
		var y objectYAML[S]
		unknown, err := decodeDocument(document, &y)
		o, more, failed := build(y.Metadata.meta(), y.Spec, y.Metadata.Annotations)
		return o, append(unknown, more...), cmp.Or(err, failed)
	}
}

func (m metaYAML) meta() fleet.Meta { return fleet.Meta{Name: m.Name, Labels: m.Labels} }

// decodeDocument is [decode] for a whole document, which may have fields that clusters and tools add.
func decodeDocument(data []byte, into any) (unknown []string, err error) {
	unknown, err = decode(data, into)
	return slices.DeleteFunc(unknown, func(path string) bool { return slices.Contains(addedFields, path) }), err
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
func kindOf(tm typeMeta) fleet.Kind {
	kind := fleet.Kind(tm.Kind)
	group, _, _ := strings.Cut(tm.APIVersion, "/")
	if kind == fleet.KindConfig && tm.APIVersion == "v1" || kind != fleet.KindConfig && group == apiGroup {
		return kind
	}
	return ""
}

// kindInAnyCase returns the kind of an object, ignoring the case of the fields apiVersion and kind.
func kindInAnyCase(document []byte) fleet.Kind {
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
