package yaml

import (
	"encoding/json"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
)

// The documents. They include the fields that clusters and tools add, so that these are not reported as unknown. A
// fleet ignores them, and they are never written.
type (
	objectYAML[M, S any] struct {
		APIVersion string          `json:"apiVersion"`
		Kind       fleet.Kind      `json:"kind"`
		Metadata   M               `json:"metadata"`
		Spec       S               `json:"spec"`
		Status     json.RawMessage `json:"status,omitempty"`
	}
	configYAML[M any] struct {
		APIVersion string            `json:"apiVersion"`
		Kind       fleet.Kind        `json:"kind"`
		Metadata   M                 `json:"metadata"`
		Data       map[string]string `json:"data,omitempty"`
		BinaryData json.RawMessage   `json:"binaryData,omitempty"`
		Immutable  json.RawMessage   `json:"immutable,omitempty"`
	}
	// metaInput lists the fields of metav1.ObjectMeta.
	metaInput struct {
		Name                       string            `json:"name"`
		Labels                     map[string]string `json:"labels"`
		Annotations                json.RawMessage   `json:"annotations"`
		CreationTimestamp          json.RawMessage   `json:"creationTimestamp"`
		DeletionGracePeriodSeconds json.RawMessage   `json:"deletionGracePeriodSeconds"`
		DeletionTimestamp          json.RawMessage   `json:"deletionTimestamp"`
		Finalizers                 json.RawMessage   `json:"finalizers"`
		GenerateName               json.RawMessage   `json:"generateName"`
		Generation                 json.RawMessage   `json:"generation"`
		ManagedFields              json.RawMessage   `json:"managedFields"`
		Namespace                  json.RawMessage   `json:"namespace"`
		OwnerReferences            json.RawMessage   `json:"ownerReferences"`
		ResourceVersion            json.RawMessage   `json:"resourceVersion"`
		SelfLink                   json.RawMessage   `json:"selfLink"`
		UID                        json.RawMessage   `json:"uid"`
	}
	metaOutput struct {
		Name        string            `json:"name"`
		Labels      map[string]string `json:"labels,omitempty"`
		Annotations annotations       `json:"annotations,omitempty"`
	}
)

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
