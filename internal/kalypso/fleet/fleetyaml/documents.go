package fleetyaml

import (
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
)

// The documents.
type (
	objectYAML[S any] struct {
		APIVersion string     `json:"apiVersion"`
		Kind       fleet.Kind `json:"kind"`
		Metadata   metaYAML   `json:"metadata"`
		Spec       S          `json:"spec"`
	}
	configYAML struct {
		APIVersion string            `json:"apiVersion"`
		Kind       fleet.Kind        `json:"kind"`
		Metadata   metaYAML          `json:"metadata"`
		Data       map[string]string `json:"data,omitempty"`
	}
	metaYAML struct {
		Name        string            `json:"name"`
		Labels      map[string]string `json:"labels,omitempty"`
		Annotations any               `json:"annotations,omitempty"` // of any type, since only Kalypso's are read
	}
)

// addedFields lists the fields that clusters and tools add. A fleet ignores them, and they are never written.
var addedFields = []string{
	"status", "immutable", "binaryData",
	"metadata.creationTimestamp", "metadata.deletionGracePeriodSeconds", "metadata.deletionTimestamp",
	"metadata.finalizers", "metadata.generateName", "metadata.generation", "metadata.managedFields",
	"metadata.namespace", "metadata.ownerReferences", "metadata.resourceVersion", "metadata.selfLink", "metadata.uid",
}

// The specs of the documents.
type (
	clusterTypeSpec struct {
		Reconciler       string `json:"reconciler"`
		NamespaceService string `json:"namespaceService"`
		ConfigType       string `json:"configType,omitempty"`
		SecretType       string `json:"secretType,omitempty"`
	}
	// manifestYAML is an element of a Template's manifests: a string, or in older documents an object. The YAML of
	// the object is the template.
	manifestYAML string
	templateSpec struct {
		Type        string         `json:"type"`
		ContentType string         `json:"contentType,omitempty"`
		Manifests   []manifestYAML `json:"manifests"`
	}
	configSchemaSpec struct {
		Schema string `json:"schema"`
	}
	secretSpec struct {
		Data map[string]fleet.SecretReference `json:"data,omitempty"`
	}
	selectorSpec struct {
		Workspace     string         `json:"workspace,omitempty"`
		LabelSelector fleet.Selector `json:"labelSelector"`
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

		Requires []fleet.Requirement `json:"-"` // in an annotation
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
