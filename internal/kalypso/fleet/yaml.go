package fleet

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"sigs.k8s.io/yaml"
)

// APIVersion of the Kalypso objects that are written; any version of its group is read.
const APIVersion = apiGroup + "/v1alpha1"

const apiGroup = "scheduler.kalypso.io"

// ErrYAML is YAML that can't be read, or an object that is not of its kind's form.
var ErrYAML = errors.New("broken YAML")

// ParseYAML reads the Kalypso objects of a YAML text of one or several documents, among them Lists of objects.
// Documents of other kinds are passed over; their number is passed. All broken documents are reported.
func ParseYAML(origin Origin, text string) (objects []Object, passed int, ps Problems) {
	for n, doc := range splitDocuments(text) {
		at := origin
		at.Document, at.Line = n+1, doc.line
		data, err := yaml.YAMLToJSONStrict([]byte(doc.text))
		if err != nil {
			ps = append(ps, brokenYAML(at, shiftLine(err.Error(), doc.line)))
			continue
		}
		found, skipped, problems := parseJSON(at, data)
		objects, passed, ps = append(objects, found...), passed+skipped, append(ps, problems...)
	}
	return objects, passed, ps
}

func brokenYAML(at Origin, reason string) Problem {
	return Problem{
		Origin:  at,
		Summary: "Broken YAML",
		Detail:  fmt.Sprintf("Document %d (line %d) can't be read: %s.", at.Document, at.Line, strings.TrimSuffix(reason, ".")),
		Err:     ErrYAML,
	}
}

type document struct {
	text string
	line int // at which it begins, from 1
}

// splitDocuments splits at the lines that begin with "---", as Kubernetes does. Empty documents are left out.
func splitDocuments(text string) []document {
	var docs []document
	var b strings.Builder
	first, empty := 1, true
	flush := func(next int) {
		if !empty {
			docs = append(docs, document{b.String(), first})
		}
		b.Reset()
		first, empty = next, true
	}
	n := 0
	for line := range strings.Lines(text) {
		n++
		if rest, ok := strings.CutPrefix(line, "---"); ok && strings.TrimLeft(rest[:min(1, len(rest))], " \t\r\n") == "" {
			flush(n)
			line = "   " + rest
		}
		if t := strings.TrimSpace(line); t != "" && !strings.HasPrefix(t, "#") {
			empty = false
		}
		b.WriteString(line)
	}
	flush(n)
	return docs
}

var yamlLine = regexp.MustCompile(`line (\d+)`)

// shiftLine makes the lines in a YAML error those of the whole text; first is the document's first line.
func shiftLine(message string, first int) string {
	message = strings.TrimPrefix(strings.TrimPrefix(message, "error converting YAML to JSON: "), "yaml: ")
	return yamlLine.ReplaceAllStringFunc(message, func(s string) string {
		n, err := strconv.Atoi(s[len("line "):])
		if err != nil {
			return s
		}
		return "line " + strconv.Itoa(n+first-1)
	})
}

type typeMeta struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Items      []json.RawMessage `json:"items"`
}

func parseJSON(at Origin, data []byte) (objects []Object, passed int, ps Problems) {
	var tm typeMeta
	if err := json.Unmarshal(data, &tm); err != nil {
		var mismatch *json.UnmarshalTypeError
		if errors.As(err, &mismatch) && mismatch.Field == "" {
			return nil, 0, Problems{brokenYAML(at, "it is a "+mismatch.Value+", not an object")}
		}
		return nil, 1, nil // its apiVersion, kind or items are not those of a Kubernetes object
	}
	if tm.APIVersion == "v1" && tm.Kind == "List" {
		for _, item := range tm.Items {
			found, skipped, problems := parseJSON(at, item)
			objects, passed, ps = append(objects, found...), passed+skipped, append(ps, problems...)
		}
		return objects, passed, ps
	}
	read := readers[kindOf(tm)]
	if read == nil {
		return nil, 1, nil
	}
	o, err := read(data)
	if err != nil {
		return nil, 0, Problems{brokenYAML(at, fmt.Sprintf("%s: %s", tm.Kind, describe(err)))}
	}
	o.Metadata().Origin = at
	return []Object{o}, 0, nil
}

func kindOf(tm typeMeta) Kind {
	group, _, _ := strings.Cut(tm.APIVersion, "/")
	if group == apiGroup || tm.APIVersion == "v1" && Kind(tm.Kind) == KindConfig {
		return Kind(tm.Kind)
	}
	return ""
}

// describe makes an error of encoding/json one for the reader of YAML.
func describe(err error) string {
	var mismatch *json.UnmarshalTypeError
	if errors.As(err, &mismatch) {
		return fmt.Sprintf("%s is a %s where a %s is wanted; put it in quotes if it is meant as text",
			mismatch.Field, mismatch.Value, mismatch.Type)
	}
	return err.Error()
}

// The documents as they stand in YAML.
type (
	metaYAML struct {
		Name   string            `json:"name"`
		Labels map[string]string `json:"labels,omitempty"`
	}
	objectYAML[S any] struct {
		APIVersion string   `json:"apiVersion"`
		Kind       Kind     `json:"kind"`
		Metadata   metaYAML `json:"metadata"`
		Spec       S        `json:"spec"`
	}
	configYAML struct {
		APIVersion string            `json:"apiVersion"`
		Kind       Kind              `json:"kind"`
		Metadata   metaYAML          `json:"metadata"`
		Data       map[string]string `json:"data,omitempty"`
	}
	clusterTypeSpec struct {
		Reconciler       string `json:"reconciler"`
		NamespaceService string `json:"namespaceService"`
		ConfigType       string `json:"configType,omitempty"`
	}
	templateSpec struct {
		Type        string         `json:"type"`
		ContentType string         `json:"contentType,omitempty"`
		Manifests   []manifestYAML `json:"manifests"`
	}
	configSchemaSpec struct {
		Schema string `json:"schema"`
	}
	selectorSpec struct {
		Workspace     string   `json:"workspace,omitempty"`
		LabelSelector Selector `json:"labelSelector"`
	}
	schedulingPolicySpec struct {
		DeploymentTargetSelector selectorSpec `json:"deploymentTargetSelector"`
		ClusterTypeSelector      selectorSpec `json:"clusterTypeSelector"`
	}
	targetSpec struct {
		Name          string            `json:"name"`
		Labels        map[string]string `json:"labels,omitempty"`
		Environment   string            `json:"environment"`
		Manifests     map[string]string `json:"manifests,omitempty"`
		ConfigSchemas []string          `json:"configSchemas,omitempty"`
	}
	workloadSpec struct {
		DeploymentTargets []targetSpec `json:"deploymentTargets"`
		ConfigSchemas     []string     `json:"configSchemas,omitempty"`
	}
	workloadRegistrationSpec struct {
		Workload struct {
			Repo   string `json:"repo"`
			Branch string `json:"branch"`
			Path   string `json:"path"`
		} `json:"workload"`
		Workspace string `json:"workspace,omitempty"`
	}
)

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
	text, err := yaml.JSONToYAML(data)
	*m = manifestYAML(text)
	return err
}

var readers = map[Kind]func([]byte) (Object, error){
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

func reader[S any](build func(Meta, S) Object) func([]byte) (Object, error) {
	return func(data []byte) (Object, error) {
		var y objectYAML[S]
		err := json.Unmarshal(data, &y)
		return build(Meta{Name: y.Metadata.Name, Labels: y.Metadata.Labels}, y.Spec), err
	}
}

// MarshalYAML writes o as its Kalypso document. The keys are sorted; what is empty is left out.
func MarshalYAML(o Object) (string, error) {
	data, err := json.Marshal(documentOf(o))
	if err != nil {
		return "", err
	}
	text, err := yaml.JSONToYAML(escapeUnprintable(data))
	return string(text), err
}

// escapeUnprintable writes the characters that JSON may hold as they stand and YAML may not, or takes for line breaks, as escapes.
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
		return write(o, clusterTypeSpec{o.Reconciler, o.NamespaceService, o.ConfigType})
	case *Template:
		spec := templateSpec{Type: o.Type, ContentType: o.ContentType, Manifests: []manifestYAML{}}
		for _, manifest := range o.Manifests {
			spec.Manifests = append(spec.Manifests, manifestYAML(manifest))
		}
		return write(o, spec)
	case *Config:
		return configYAML{"v1", o.Kind(), metaOf(o), o.Data}
	case *ConfigSchema:
		return write(o, configSchemaSpec{o.Schema})
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

func write[S any](o Object, spec S) objectYAML[S] {
	return objectYAML[S]{APIVersion, o.Kind(), metaOf(o), spec}
}

func metaOf(o Object) metaYAML {
	m := o.Metadata()
	return metaYAML{m.Name, m.Labels}
}

// HasUnknown reports whether anything in o is [Unknown].
func HasUnknown(o Object) bool {
	m := o.Metadata()
	if IsUnknown(m.Name) || AnyUnknown(m.Labels) {
		return true
	}
	text, err := json.Marshal(documentOf(o))
	quoted, _ := json.Marshal(Unknown)
	return err != nil || strings.Contains(string(text), strings.Trim(string(quoted), `"`))
}

// AnyUnknown reports whether a key or a value of m is [Unknown].
func AnyUnknown(m map[string]string) bool {
	for k, v := range maps.All(m) {
		if IsUnknown(k) || IsUnknown(v) {
			return true
		}
	}
	return false
}
