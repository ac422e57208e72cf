// Package fleet is the model of a fleet: the Kalypso objects of one environment, read from YAML or built by the
// caller, written as YAML, and validated. It does no I/O.
package fleet

import (
	"cmp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Unknown stands for a string that is not known yet: an argument that Terraform learns during apply. It is also the
// key and the value of a map, and the only element of a list, of which nothing is known. What depends on it is unknown
// too; see [IsUnknown].
const Unknown = "\x00kalypso:unknown:1f0c1a52-6f2d-4f6b-9d6c-4a3b9a1a7c55\x00"

// IsUnknown reports whether s is [Unknown].
func IsUnknown(s string) bool { return s == Unknown }

// Kind is the kind of a Kalypso object, as in its YAML.
type Kind string

// The kinds that make up a fleet.
const (
	KindClusterType          Kind = "ClusterType"
	KindTemplate             Kind = "Template"
	KindConfig               Kind = "ConfigMap"
	KindConfigSchema         Kind = "ConfigSchema"
	KindSchedulingPolicy     Kind = "SchedulingPolicy"
	KindWorkload             Kind = "Workload"
	KindWorkloadRegistration Kind = "WorkloadRegistration"
)

// Labels that mean something to Kalypso.
const (
	PlatformConfigLabel    = "platform-config"
	ClusterTypeLabel       = "cluster-type"
	DeploymentTargetLabel  = "deployment-target"
	WorkloadLabel          = "workload"
	WorkspaceLabel         = "workspace"
	FluxOwnerLabel         = "kustomize.toolkit.fluxcd.io/name"
	FluxNamespaceLabel     = "kustomize.toolkit.fluxcd.io/namespace"
	AzureAppConfigPrefix   = "azure-app-config"
	platformConfigSelected = "true"
)

// TemplateTypes are the values of a Template's type.
var TemplateTypes = []string{TemplateReconciler, TemplateNamespace, TemplateConfig}

// The types of a Template.
const (
	TemplateReconciler = "reconciler"
	TemplateNamespace  = "namespace"
	TemplateConfig     = "config"
)

// ContentTypes are the values of a Template's content type; empty means YAML.
var ContentTypes = []string{ContentYAML, ContentShell}

// The content types of a Template, each also the ending of its files.
const (
	ContentYAML  = "yaml"
	ContentShell = "sh"
)

// Meta is what every object has.
type Meta struct {
	Name   string
	Labels map[string]string
	// Origin says where the object came from.
	Origin Origin
}

// Metadata returns the object's name, labels and origin.
func (m *Meta) Metadata() *Meta { return m }

// Object is one of the kinds above.
type Object interface {
	Kind() Kind
	Metadata() *Meta
	// Validate returns what is wrong with the object by itself; what is [Unknown] is not judged.
	Validate() Problems
}

// ClusterType is a set of like clusters that host the same workloads with the same platform configuration.
type ClusterType struct {
	Meta
	Reconciler       string // name of a Template
	NamespaceService string // name of a Template
	ConfigType       string // name of a Template; empty: the built-in ConfigMap
}

// Template says how one part of an assignment is rendered.
type Template struct {
	Meta
	Type        string
	ContentType string
	Manifests   []string // Go templates
}

// Extension is the ending of the files that t renders, without a dot.
func (t *Template) Extension() string {
	if t.ContentType == ContentShell {
		return ContentShell
	}
	return ContentYAML
}

// Config is a ConfigMap with platform configuration.
type Config struct {
	Meta
	Data map[string]string
}

// IsPlatformConfig reports whether the values apply by the ConfigMap's labels.
func (c *Config) IsPlatformConfig() bool {
	return c.Labels[PlatformConfigLabel] == platformConfigSelected
}

// MayBePlatformConfig reports whether c is a platform config, or may turn out to be one; where the name is not known, it
// may also turn out to be an azure-app-config.
func (c *Config) MayBePlatformConfig() bool {
	_, unknownLabel := c.Labels[Unknown]
	return unknownLabel || IsUnknown(c.Name) || c.IsPlatformConfig() || IsUnknown(c.Labels[PlatformConfigLabel])
}

// IsAzureAppConfig reports whether the values apply by the paths that their keys are.
func (c *Config) IsAzureAppConfig() bool { return strings.HasPrefix(c.Name, AzureAppConfigPrefix) }

// ConfigSchema is a JSON Schema for the values of the assignments that its labels match.
type ConfigSchema struct {
	Meta
	Schema string
}

// Selector selects by labels; an empty one selects everything.
type Selector = metav1.LabelSelector

// SchedulingPolicy assigns the deployment targets it selects to the cluster types it selects.
type SchedulingPolicy struct {
	Meta
	Workspace         string // empty: any
	DeploymentTargets Selector
	ClusterTypes      Selector
}

// Workload is an application with its deployment targets.
type Workload struct {
	Meta
	Targets       []Target
	ConfigSchemas []string
}

// Target is a deployment target as its Workload writes it.
type Target struct {
	Name          string
	Labels        map[string]string
	Environment   string
	Manifests     map[string]string // storage: repo, branch, path, or whatever the team put there
	ConfigSchemas []string
}

// WorkloadRegistration says where in Git a team's Workload documents lie, and whose they are.
type WorkloadRegistration struct {
	Meta
	Repo      string
	Branch    string
	Path      string
	Workspace string
}

// Kind implements [Object].
func (*ClusterType) Kind() Kind { return KindClusterType }

// Kind implements [Object].
func (*Template) Kind() Kind { return KindTemplate }

// Kind implements [Object].
func (*Config) Kind() Kind { return KindConfig }

// Kind implements [Object].
func (*ConfigSchema) Kind() Kind { return KindConfigSchema }

// Kind implements [Object].
func (*SchedulingPolicy) Kind() Kind { return KindSchedulingPolicy }

// Kind implements [Object].
func (*Workload) Kind() Kind { return KindWorkload }

// Kind implements [Object].
func (*WorkloadRegistration) Kind() Kind { return KindWorkloadRegistration }

// Fleet is the objects of one environment.
type Fleet struct {
	Environment   string
	ClusterTypes  []*ClusterType
	Templates     []*Template
	Configs       []*Config
	ConfigSchemas []*ConfigSchema
	Policies      []*SchedulingPolicy
	Workloads     []*Workload
	Registrations []*WorkloadRegistration
	Limits        Limits
	// Incomplete says that there may be more objects than these: YAML that is not known yet.
	Incomplete bool
}

// Add puts objects into the fleet, but ConfigMaps that are not for Kalypso.
func (f *Fleet) Add(objects ...Object) {
	for _, o := range objects {
		switch o := o.(type) {
		case *ClusterType:
			f.ClusterTypes = append(f.ClusterTypes, o)
		case *Template:
			f.Templates = append(f.Templates, o)
		case *Config:
			if o.MayBePlatformConfig() || o.IsAzureAppConfig() {
				f.Configs = append(f.Configs, o)
			}
		case *ConfigSchema:
			f.ConfigSchemas = append(f.ConfigSchemas, o)
		case *SchedulingPolicy:
			f.Policies = append(f.Policies, o)
		case *Workload:
			f.Workloads = append(f.Workloads, o)
		case *WorkloadRegistration:
			f.Registrations = append(f.Registrations, o)
		}
	}
}

// Objects returns all objects of the fleet, kind by kind.
func (f *Fleet) Objects() []Object {
	var all []Object
	all = appendObjects(all, f.ClusterTypes)
	all = appendObjects(all, f.Templates)
	all = appendObjects(all, f.Configs)
	all = appendObjects(all, f.ConfigSchemas)
	all = appendObjects(all, f.Policies)
	all = appendObjects(all, f.Workloads)
	return appendObjects(all, f.Registrations)
}

func appendObjects[O Object](all []Object, objects []O) []Object {
	for _, o := range objects {
		all = append(all, o)
	}
	return all
}

// Sort orders the objects of each kind by name, and where two have one name by origin, so that nothing depends on the order
// in which they were added.
func (f *Fleet) Sort() {
	sortByName(f.ClusterTypes)
	sortByName(f.Templates)
	sortByName(f.Configs)
	sortByName(f.ConfigSchemas)
	sortByName(f.Policies)
	sortByName(f.Workloads)
	sortByName(f.Registrations)
}

func sortByName[O Object](objects []O) {
	slices.SortStableFunc(objects, func(a, b O) int {
		x, y := a.Metadata(), b.Metadata()
		return cmp.Or(cmp.Compare(x.Name, y.Name), x.Origin.compare(y.Origin))
	})
}

// unknownTemplate is a template of which nothing is known.
var unknownTemplate = &Template{Meta: Meta{Name: Unknown}, Type: Unknown, ContentType: Unknown, Manifests: []string{Unknown}}

// Template returns the template of that name, or nil. Where the name is [Unknown], or none has it but one whose name is
// not known may turn out to, it is a template of which nothing is known.
func (f *Fleet) Template(name string) *Template {
	var found *Template
	for _, t := range f.Templates {
		switch {
		case t.Name == name && !IsUnknown(name):
			return t
		case IsUnknown(t.Name):
			found = unknownTemplate
		}
	}
	if IsUnknown(name) {
		return unknownTemplate
	}
	return found
}
