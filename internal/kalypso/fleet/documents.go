package fleet

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
