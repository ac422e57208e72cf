package fleet

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/parallel"
)

// APIVersion of the Kalypso objects that are written; any version of its group is read.
const APIVersion = apiGroup + "/v1alpha1"

const apiGroup = "scheduler.kalypso.io"

// OperatorKinds are the kinds of the Kalypso API that are no part of a fleet: they say where things lie, or the operator
// computes them.
var OperatorKinds = []Kind{"Environment", "BaseRepo", "GitOpsRepo", "Assignment", "AssignmentPackage", "DeploymentTarget"}

// ErrYAML is YAML that can't be read, or an object that is not of its kind's form.
var ErrYAML = errors.New("broken YAML")

// ParseYAML reads the Kalypso objects of a YAML text of one or several documents, among them Lists of objects.
// Documents of other kinds are passed over; their number is passed. All broken documents are reported; fields that no
// object of the kind has, and kinds that Kalypso has not, are warned of.
func ParseYAML(origin Origin, text string) (objects []Object, passed int, ps Problems) {
	return ParseYAMLWith(nil, origin, text)
}

// Reader makes an object of a document, given as JSON.
type Reader func(document []byte) (Object, error)

// ParseYAMLWith is [ParseYAML] for which more kinds of the Kalypso API have readers.
func ParseYAMLWith(more map[Kind]Reader, origin Origin, text string) (objects []Object, passed int, ps Problems) {
	docs := splitDocuments(text)
	for _, r := range parallel.Map(len(docs), func(n int) reading {
		r := reading{document: docs[n], at: origin, more: more}
		r.at.Document, r.at.Line = n+1, r.line
		data, err := yamlToJSON(r.text)
		if err != nil {
			r.broken(shiftLine(err.Error(), r.line))
		} else {
			r.read(data)
		}
		return r
	}) {
		objects, passed, ps = append(objects, r.objects...), passed+r.passed, append(ps, r.problems...)
	}
	return objects, passed, ps
}

// reading is a document while it is read.
type reading struct {
	document
	at       Origin
	more     map[Kind]Reader
	objects  []Object
	passed   int
	problems Problems
}

func (r *reading) broken(reason string) {
	r.problems = append(r.problems, Problem{
		Origin:  r.at,
		Summary: "Broken YAML",
		Detail:  fmt.Sprintf("Document %d (line %d) can't be read: %s.", r.at.Document, r.at.Line, strings.TrimSuffix(reason, ".")),
		Err:     ErrYAML,
	})
}

type typeMeta struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Items      []json.RawMessage `json:"items"`
}

func (r *reading) read(data []byte) {
	var tm typeMeta
	if err := json.Unmarshal(data, &tm); err != nil {
		var mismatch *json.UnmarshalTypeError
		if errors.As(err, &mismatch) && mismatch.Field == "" {
			r.broken("it is " + jsonKind(mismatch.Value) + ", not an object")
			return
		}
		r.passed++ // its apiVersion, kind or items are not those of a Kubernetes object
		return
	}
	if tm.APIVersion == "v1" && tm.Kind == "List" {
		for _, item := range tm.Items {
			r.read(item)
		}
		return
	}
	kind := kindOf(tm)
	read := readers[kind]
	if read == nil {
		read = r.more[kind]
	}
	if read == nil {
		r.passed++
		if kind != "" && !slices.Contains(OperatorKinds, kind) {
			r.problems = append(r.problems, Problem{
				Severity: Warning, Origin: r.at, Summary: "Unknown kind",
				Detail: fmt.Sprintf("Kalypso has no kind %q. Document %d (line %d) is passed over. Mind its spelling.", kind, r.at.Document, r.at.Line),
			})
		}
		return
	}
	o, err := read(data)
	if err != nil {
		r.broken(fmt.Sprintf("%s %q: %s", tm.Kind, o.Metadata().Name, r.describe(err, data)))
		return
	}
	o.Metadata().Origin = r.at
	r.objects = append(r.objects, o)
	if field := unknownField(o, data); field != "" {
		r.problems = append(r.problems, Problems{{
			Severity: Warning,
			Summary:  "Unknown field",
			Detail:   fmt.Sprintf("A %s has no field %q in its spec; it is passed over. Mind its spelling, or remove it.", tm.Kind, field),
		}}.of(o)...)
	}
}

func kindOf(tm typeMeta) Kind {
	kind := Kind(tm.Kind)
	group, _, _ := strings.Cut(tm.APIVersion, "/")
	if kind == KindConfig && tm.APIVersion == "v1" || kind != KindConfig && group == apiGroup {
		return kind
	}
	return ""
}

// unknownField is the first field of the object's spec that its kind does not have; empty where there is none.
func unknownField(o Object, data []byte) string {
	var y objectYAML[json.RawMessage]
	if err := json.Unmarshal(data, &y); err != nil || len(y.Spec) == 0 {
		return ""
	}
	d := json.NewDecoder(bytes.NewReader(y.Spec))
	d.DisallowUnknownFields()
	if err := d.Decode(specOf(o)); err != nil {
		_, field, _ := strings.Cut(err.Error(), "unknown field ")
		return strings.Trim(field, `"`)
	}
	return ""
}

// specOf is a place for the spec of an object of o's kind.
func specOf(o Object) any {
	switch o.(type) {
	case *ClusterType:
		return &clusterTypeSpec{}
	case *Template:
		return &templateSpec{}
	case *ConfigSchema:
		return &configSchemaSpec{}
	case *SchedulingPolicy:
		return &schedulingPolicySpec{}
	case *Workload:
		return &workloadSpec{}
	case *WorkloadRegistration:
		return &workloadRegistrationSpec{}
	}
	return &json.RawMessage{}
}

// manifestYAML is an element of a Template's manifests: a string, or in older documents an object whose YAML is the
// template.
type manifestYAML string

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

var readers = map[Kind]Reader{
	KindClusterType: reader(func(m Meta, s clusterTypeSpec) Object {
		return &ClusterType{m, s.Reconciler, s.NamespaceService, s.ConfigType}
	}),
	KindTemplate: reader(func(m Meta, s templateSpec) Object {
		t := &Template{Meta: m, Type: s.Type, ContentType: s.ContentType}
		for _, manifest := range s.Manifests {
			t.Manifests = append(t.Manifests, string(manifest))
		}
		return t
	}),
	KindConfigSchema: reader(func(m Meta, s configSchemaSpec) Object { return &ConfigSchema{m, s.Schema} }),
	KindSchedulingPolicy: reader(func(m Meta, s schedulingPolicySpec) Object {
		dts := s.DeploymentTargetSelector
		return &SchedulingPolicy{m, dts.Workspace, dts.LabelSelector, s.ClusterTypeSelector.LabelSelector}
	}),
	KindWorkload: reader(func(m Meta, s workloadSpec) Object {
		w := &Workload{Meta: m, ConfigSchemas: s.ConfigSchemas}
		for _, t := range s.DeploymentTargets {
			w.Targets = append(w.Targets, Target(t))
		}
		return w
	}),
	KindWorkloadRegistration: reader(func(m Meta, s workloadRegistrationSpec) Object {
		return &WorkloadRegistration{m, s.Workload.Repo, s.Workload.Branch, s.Workload.Path, s.Workspace}
	}),
	KindConfig: func(data []byte) (Object, error) {
		var y configYAML
		err := json.Unmarshal(data, &y)
		return &Config{Meta{Name: y.Metadata.Name, Labels: y.Metadata.Labels}, y.Data}, err
	},
}

func reader[S any](build func(Meta, S) Object) Reader {
	return func(data []byte) (Object, error) {
		var y objectYAML[S]
		err := json.Unmarshal(data, &y)
		return build(Meta{Name: y.Metadata.Name, Labels: y.Metadata.Labels}, y.Spec), err
	}
}
