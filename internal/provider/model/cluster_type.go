package model

import (
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
)

var clusterTypeModel = &model{
	Kind:      fleet.KindClusterType,
	object:    func() fleet.Object { return &fleet.ClusterType{} },
	name:      "cluster_type",
	attribute: "cluster_types",
	description: "A cluster type: a set of similar clusters that host the same workloads with the same platform " +
		"configuration. Scheduling policies assign deployment targets to it, and its templates render their files.",
	nameDescription: "Name of the cluster type: a DNS-1123 subdomain. It is the name of the folder in the GitOps repo " +
		"that the clusters of this type follow.",
	labelsDescription: "Labels by which scheduling policies and configs select the cluster type, such as `{ region = " +
		"\"west-us\" }`. Keys and values follow the Kubernetes rules.",
	arguments: map[string]schema.Attribute{
		"reconciler": schemas.RequiredString(
			"Name of the template, of type `reconciler`, that renders the Flux or Argo CD object that " +
				"syncs the deployment target's manifests: `reconciler.yaml`.",
		),
		"namespace_service": schemas.RequiredString(
			"Name of the template, of type `namespace`, that renders the deployment target's namespace: " +
				"`namespace.yaml`.",
		),
		"config_type": schemas.OptionalString(
			"Name of the template, of type `config`, that renders the platform configuration: " +
				"`platform-config.yaml`. The default renders a ConfigMap `platform-config` with the values.",
		),
		"secret_type": schemas.OptionalString(
			"Name of the template, of type `secret`, that renders the references to secrets: " +
				"`platform-secret.yaml`. The default renders an `ExternalSecret` `platform-secret`. Without references there is " +
				"no file.",
		),
		"taints":     schemas.TaintsArgument(),
		"properties": schemas.PropertiesArgument(),
	},
}
