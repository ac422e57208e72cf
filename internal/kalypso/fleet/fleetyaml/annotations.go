package fleetyaml

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule/placement"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// annotations contains the annotations of a document that Kalypso interprets.
type annotations map[string]string

// annotationText returns the text of an annotation, or "" if the annotation is missing.
func annotationText(all any, name string) (string, error) {
	given, _ := all.(map[string]any) // if the annotations are not a map, they contain none of ours
	text, ok := given[name].(string)
	if !ok && given[name] != nil {
		return "", fmt.Errorf("annotation %s: expected YAML as a string", name)
	}
	return text, nil
}

// annotation parses the YAML of an annotation into a value. If the annotation is missing, it does not change the value.
func annotation(all any, name string, into any) error {
	text, err := annotationText(all, name)
	if err != nil || text == "" {
		return err
	}
	data, err := yamlToJSON(text)
	if err != nil {
		return fmt.Errorf("annotation %s: %s", name, document{text: text, line: 1}.unreadable(err))
	}
	unknown, err := decode(data, into)
	switch {
	case err != nil:
		return fmt.Errorf("annotation %s: %s", name, document{text: text}.describe(err, data))
	case len(unknown) > 0:
		return fmt.Errorf("annotation %s: it has no field %s", name, strings.Join(unknown, ", "))
	}
	return nil
}

// annotationsOf writes maps, lists and pointers as annotations, unless they are empty.
func annotationsOf(values map[string]any) annotations {
	all := annotations{}
	for name, v := range values {
		if r := reflect.ValueOf(v); r.IsNil() || r.Kind() != reflect.Pointer && r.Len() == 0 {
			continue
		}
		data, err := json.Marshal(v)
		if err != nil {
			panic(err) // strings and numbers always marshal
		}
		text, err := yaml.JSONToYAML(escapeUnprintable(data))
		if err != nil {
			panic(err) // it is JSON
		}
		all[name] = string(text)
	}
	return all
}

// scalarText is a string that also decodes from a number.
type scalarText string

// UnmarshalJSON implements json.Unmarshaler.
func (s *scalarText) UnmarshalJSON(data []byte) error {
	var n json.Number
	if json.Unmarshal(data, &n) == nil && data[0] != '"' {
		*s = scalarText(n)
		return nil
	}
	return json.Unmarshal(data, (*string)(s))
}

// wholeNumber is an int that is not [unknown.Number], the mark of an unknown number.
type wholeNumber int

// UnmarshalJSON implements json.Unmarshaler.
func (n *wholeNumber) UnmarshalJSON(data []byte) error {
	if err := json.Unmarshal(data, (*int)(n)); err != nil {
		return err
	}
	return unknown.CheckNumber(int(*n))
}

// The YAML of the annotations. Taints have the fields of [placement.Taint].
type (
	placementYAML struct {
		NumberOfClusterTypes *wholeNumber           `json:"numberOfClusterTypes,omitempty"`
		Names                []string               `json:"names,omitzero"`
		Tolerations          []placement.Toleration `json:"tolerations,omitempty"`
		Prefer               []preferenceYAML       `json:"prefer,omitempty"`
		Spread               []spreadYAML           `json:"spread,omitempty"`
		Generation           scalarText             `json:"generation,omitempty"`
	}
	preferenceYAML struct {
		Property string       `json:"property,omitempty"`
		Balance  bool         `json:"balance,omitempty"`
		Weight   *wholeNumber `json:"weight,omitempty"`
	}
	spreadYAML struct {
		Key               string       `json:"key"`
		MaxSkew           *wholeNumber `json:"maxSkew,omitempty"`
		WhenUnsatisfiable string       `json:"whenUnsatisfiable,omitempty"`
	}
)

func (y *placementYAML) spec() *placement.Spec {
	if y == nil {
		return nil
	}
	s := &placement.Spec{
		Number: (*int)(y.NumberOfClusterTypes), Names: y.Names, Tolerations: y.Tolerations, Generation: string(y.Generation),
	}
	for _, p := range y.Prefer {
		s.Prefer = append(s.Prefer, placement.Preference{
			Property: p.Property, Balance: p.Balance, Weight: valueOr(p.Weight, placement.DefaultWeight),
		})
	}
	for _, spread := range y.Spread {
		s.Spread = append(s.Spread, placement.Spread{
			Key: spread.Key, MaxSkew: valueOr(spread.MaxSkew, placement.DefaultMaxSkew),
			WhenUnsatisfiable: spread.WhenUnsatisfiable,
		})
	}
	return s
}

func valueOr(n *wholeNumber, otherwise int) int {
	if n == nil {
		return otherwise
	}
	return int(*n)
}

func placementOutput(s *placement.Spec) *placementYAML {
	if s == nil {
		return nil
	}
	y := &placementYAML{
		NumberOfClusterTypes: (*wholeNumber)(s.Number), Names: s.Names, Tolerations: s.Tolerations,
		Generation: scalarText(s.Generation),
	}
	for _, p := range s.Prefer {
		y.Prefer = append(y.Prefer, preferenceYAML{p.Property, p.Balance, (*wholeNumber)(&p.Weight)})
	}
	for _, spread := range s.Spread {
		y.Spread = append(y.Spread, spreadYAML{spread.Key, (*wholeNumber)(&spread.MaxSkew), spread.WhenUnsatisfiable})
	}
	return y
}

func newClusterType(m fleet.Meta, spec clusterTypeSpec, given any) (fleet.Object, []string, error) {
	ct := &fleet.ClusterType{
		Meta: m, Reconciler: spec.Reconciler, NamespaceService: spec.NamespaceService, ConfigType: spec.ConfigType,
		SecretType: spec.SecretType,
	}
	properties := map[string]scalarText{}
	err := cmp.Or(annotation(given, fleet.TaintsAnnotation, &ct.Taints),
		annotation(given, fleet.PropertiesAnnotation, &properties))
	for name, quantity := range properties {
		if ct.Properties == nil {
			ct.Properties = map[string]string{}
		}
		ct.Properties[name] = string(quantity)
	}
	return ct, nil, err
}

func newTemplate(m fleet.Meta, spec templateSpec, given any) (fleet.Object, []string, error) {
	name, err := annotationText(given, fleet.FileNameAnnotation) // not YAML, to which 1.0 is a number
	t := &fleet.Template{
		Meta: m, Type: spec.Type, ContentType: spec.ContentType, FileName: strings.Trim(strings.TrimSpace(name), `"'`),
	}
	for _, manifest := range spec.Manifests {
		t.Manifests = append(t.Manifests, string(manifest))
	}
	return t, nil, err
}

func newSchedulingPolicy(m fleet.Meta, spec schedulingPolicySpec, given any) (fleet.Object, []string, error) {
	targets := spec.DeploymentTargetSelector
	var y *placementYAML
	err := annotation(given, fleet.PlacementAnnotation, &y)
	return &fleet.SchedulingPolicy{
		Meta: m, Workspace: targets.Workspace, DeploymentTargets: targets.LabelSelector,
		ClusterTypes: spec.ClusterTypeSelector.LabelSelector, Placement: y.spec(),
	}, nil, err
}
