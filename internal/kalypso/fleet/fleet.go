// Package fleet defines and validates the Kalypso objects of one environment. It does no I/O.
package fleet

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule/placement"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// Kind is the kind of a Kalypso object, as in YAML.
type Kind string

// The kinds of a fleet.
const (
	KindClusterType          Kind = "ClusterType"
	KindTemplate             Kind = "Template"
	KindConfig               Kind = "ConfigMap"
	KindConfigSchema         Kind = "ConfigSchema"
	KindSecret               Kind = "PlatformSecret"
	KindSchedulingPolicy     Kind = "SchedulingPolicy"
	KindWorkload             Kind = "Workload"
	KindWorkloadRegistration Kind = "WorkloadRegistration"
)

// The labels and name prefixes that Kalypso interprets.
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

// TemplateTypes lists the types of a Template.
var TemplateTypes = []string{TemplateReconciler, TemplateNamespace, TemplateConfig, TemplateSecret}

// The types of a Template.
const (
	TemplateReconciler = "reconciler"
	TemplateNamespace  = "namespace"
	TemplateConfig     = "config"
	TemplateSecret     = "secret"
)

// ContentTypes lists the content types of a Template. An empty content type means YAML.
var ContentTypes = []string{ContentYAML, ContentShell, ContentText}

// The content types of a Template.
const (
	ContentYAML  = "yaml" // Kubernetes objects
	ContentShell = "sh"
	ContentText  = "text" // anything else, such as a playbook of Ansible; the extension is that of YAML
)

// Meta contains the fields that every object has.
type Meta struct {
	Name   string
	Labels map[string]string
	// Origin is the source of the object. The tree does not depend on it.
	Origin problem.Origin `json:"-" attribute:"-"`
}

// Metadata returns the object's name, labels and origin.
func (m *Meta) Metadata() *Meta { return m }

// Object is an object of a fleet.
type Object interface {
	Kind() Kind
	Metadata() *Meta
	// Validate returns the problems of the object by itself. It ignores [unknown.Text] values.
	Validate() problem.Problems
}

// ClusterType is a set of clusters that host the same workloads with the same platform configuration.
type ClusterType struct {
	Meta
	Reconciler       string // name of a Template
	NamespaceService string // name of a Template
	ConfigType       string // name of a Template; empty: the built-in ConfigMap
	SecretType       string // name of a Template; empty: the built-in ExternalSecret
	Taints           []placement.Taint
	Properties       map[string]string // name → Kubernetes quantity
}

// Template renders one file of an assignment.
type Template struct {
	Meta
	Type        string
	ContentType string
	FileName    string   // of the rendered file; empty: by the template's use
	Manifests   []string // Go templates
}

// File returns the name of the file that t renders. part says what t is used for, such as reconciler.
func (t *Template) File(part string) string {
	if t.FileName != "" && !unknown.Is(t.FileName) {
		return t.FileName
	}
	return part + "." + t.Extension()
}

// RendersObjects reports whether the files that t renders contain Kubernetes objects. Any unknown content type is YAML.
func (t *Template) RendersObjects() bool {
	return t.ContentType != ContentShell && t.ContentType != ContentText
}

// Extension returns the extension of the files that t renders, without a dot.
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

// IsPlatformConfig reports whether the ConfigMap's labels select the assignments it applies to.
func (c *Config) IsPlatformConfig() bool {
	return c.Labels[PlatformConfigLabel] == platformConfigSelected
}

// MayBePlatformConfig reports whether c is a platform config, or may turn out to be one when its unknown values become
// known.
func (c *Config) MayBePlatformConfig() bool {
	_, unknownLabel := c.Labels[unknown.Text]
	return unknownLabel || unknown.Is(c.Name) || c.IsPlatformConfig() || unknown.Is(c.Labels[PlatformConfigLabel])
}

// IsAzureAppConfig reports whether the ConfigMap comes from Azure App Configuration. Each of its keys is a path that
// selects the assignments its value applies to.
func (c *Config) IsAzureAppConfig() bool { return strings.HasPrefix(c.Name, AzureAppConfigPrefix) }

// WithValues returns the fleet with each value of a config replaced by the result of with. It returns f itself if no
// value changes.
func (f *Fleet) WithValues(with func(config *Config, key, value string) string) *Fleet {
	replaced := *f
	replaced.Configs = slices.Clone(f.Configs)
	same := true
	for i, config := range f.Configs {
		data := maps.Clone(config.Data)
		for key, value := range config.Data {
			data[key] = with(config, key, value)
		}
		if !maps.Equal(data, config.Data) {
			replaced.Configs[i], same = &Config{config.Meta, data}, false
		}
	}
	if same {
		return f
	}
	return &replaced
}

// ConfigSchema is a JSON Schema for the values of assignments that match its labels.
type ConfigSchema struct {
	Meta
	Schema string
}

// Selector selects by labels. An empty selector selects everything.
type Selector = metav1.LabelSelector

// SchedulingPolicy assigns selected deployment targets to selected cluster types.
type SchedulingPolicy struct {
	Meta
	Workspace         string          `attribute:"-"` // empty: any
	DeploymentTargets Selector        `attribute:"-"`
	ClusterTypes      Selector        `attribute:"-"`
	Placement         *placement.Spec // nil: on all cluster types that fit
}

// Workload is an application and its deployment targets.
type Workload struct {
	Meta
	Targets       []Target `attribute:"deployment_targets"`
	ConfigSchemas []string
}

// Target is a deployment target as written in its Workload.
type Target struct {
	Name          string
	Labels        map[string]string
	Environment   string
	Manifests     map[string]string // usually repo, branch and path; any keys the team sets
	ConfigSchemas []string
	Requires      []Requirement
}

// WorkloadRegistration names the Git location and the workspace of a team's Workload documents.
type WorkloadRegistration struct {
	Meta
	Repo      string `attribute:"-"`
	Branch    string `attribute:"-"`
	Path      string `attribute:"-"`
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

// Fleet contains the objects of one environment. Its JSON, in the state, contains the fields that its tree depends on.
type Fleet struct {
	Environment   string
	ClusterTypes  []*ClusterType
	Templates     []*Template
	Configs       []*Config
	ConfigSchemas []*ConfigSchema `json:"-"` // they only refuse values
	Secrets       []*Secret       `json:",omitempty"`
	Policies      []*SchedulingPolicy
	Workloads     []*Workload
	Registrations []*WorkloadRegistration `json:",omitempty"`
	Limits        Limits
	// Incomplete means that some YAML is not known yet, so there may be more objects.
	Incomplete bool `json:"-"`

	refused map[string]bool // the deployment targets that [Fleet.Validate] refused
}

// Add adds objects to the fleet. It skips ConfigMaps that are not Kalypso's, and returns them.
func (f *Fleet) Add(objects ...Object) (skipped []*Config) {
	for _, o := range objects {
		switch o := o.(type) {
		case *ClusterType:
			f.ClusterTypes = append(f.ClusterTypes, o)
		case *Template:
			f.Templates = append(f.Templates, o)
		case *Config:
			if o.MayBePlatformConfig() || o.IsAzureAppConfig() {
				f.Configs = append(f.Configs, o)
			} else {
				skipped = append(skipped, o)
			}
		case *ConfigSchema:
			f.ConfigSchemas = append(f.ConfigSchemas, o)
		case *Secret:
			f.Secrets = append(f.Secrets, o)
		case *SchedulingPolicy:
			f.Policies = append(f.Policies, o)
		case *Workload:
			f.Workloads = append(f.Workloads, o)
		case *WorkloadRegistration:
			f.Registrations = append(f.Registrations, o)
		}
	}
	return skipped
}

// Objects returns all objects of the fleet, grouped by kind.
func (f *Fleet) Objects() []Object {
	var all []Object
	all = appendObjects(all, f.ClusterTypes)
	all = appendObjects(all, f.Templates)
	all = appendObjects(all, f.Configs)
	all = appendObjects(all, f.ConfigSchemas)
	all = appendObjects(all, f.Secrets)
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

// Sort sorts the objects of each kind by name, then by origin. The result does not depend on the order in which they
// were added.
func (f *Fleet) Sort() {
	sortByName(f.ClusterTypes)
	sortByName(f.Templates)
	sortByName(f.Configs)
	sortByName(f.ConfigSchemas)
	sortByName(f.Secrets)
	sortByName(f.Policies)
	sortByName(f.Workloads)
	sortByName(f.Registrations)
}

func sortByName[O Object](objects []O) {
	slices.SortStableFunc(objects, func(a, b O) int {
		x, y := a.Metadata(), b.Metadata()
		return cmp.Or(cmp.Compare(x.Name, y.Name), x.Origin.Compare(y.Origin))
	})
}

// unknownTemplate is a template with only unknown fields.
var unknownTemplate = &Template{
	Meta:        Meta{Name: unknown.Text},
	Type:        unknown.Text,
	ContentType: unknown.Text,
	FileName:    unknown.Text,
	Manifests:   []string{unknown.Text},
}

// Template returns the template with that name, or nil. It returns a template with only unknown fields if the name is
// [unknown.Text], or if no template has the name but one has an unknown name.
func (f *Fleet) Template(name string) *Template {
	var found *Template
	for _, t := range f.Templates {
		switch {
		case t.Name == name && !unknown.Is(name):
			return t
		case unknown.Is(t.Name):
			found = unknownTemplate
		}
	}
	if unknown.Is(name) {
		return unknownTemplate
	}
	return found
}
