package provider

import (
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
)

var clusterTypeModel = &model{
	kind:      fleet.KindClusterType,
	name:      "cluster_type",
	attribute: "cluster_types",
	description: "A cluster type: a set of similar clusters that host the same workloads with the same platform " +
		"configuration. Scheduling policies assign deployment targets to it; its templates render what is assigned.",
	nameDescription: "Name of the cluster type: a DNS-1123 subdomain. It is the name of the folder in the GitOps repo " +
		"that the clusters of this type follow.",
	labelsDescription: "Labels that scheduling policies and configs select the cluster type by, such as `{ region = " +
		"\"west-us\" }`. Keys and values follow the Kubernetes rules.",
	arguments: map[string]schema.Attribute{
		"reconciler": schema.StringAttribute{
			Required: true,
			MarkdownDescription: "Name of the template, of type `reconciler`, that renders the Flux or Argo CD object that " +
				"syncs the deployment target's manifests: `reconciler.yaml`.",
		},
		"namespace_service": schema.StringAttribute{
			Required: true,
			MarkdownDescription: "Name of the template, of type `namespace`, that renders the deployment target's namespace: " +
				"`namespace.yaml`.",
		},
		"config_type": schema.StringAttribute{
			Optional: true,
			MarkdownDescription: "Name of the template, of type `config`, that renders the platform configuration: " +
				"`platform-config.yaml`. The default renders a ConfigMap `platform-config` with the values.",
		},
		"secret_type": schema.StringAttribute{
			Optional: true,
			MarkdownDescription: "Name of the template, of type `secret`, that renders the references to secrets: " +
				"`platform-secret.yaml`. The default renders an `ExternalSecret` `platform-secret`. Without references there is " +
				"no file.",
		},
		"taints":     taintsArgument(),
		"properties": propertiesArgument(),
	},
	decode: func(m fleet.Meta, d decoder) fleet.Object {
		return &fleet.ClusterType{
			Meta:             m,
			Reconciler:       d.string("reconciler"),
			NamespaceService: d.string("namespace_service"),
			ConfigType:       d.string("config_type"),
			SecretType:       d.string("secret_type"),
			Taints:           decodeTaints(d),
			Properties:       d.stringMap("properties"),
		}
	},
	encode: func(o fleet.Object) values {
		ct := as[*fleet.ClusterType](o)
		return values{
			"name":              ct.Name,
			"labels":            ct.Labels,
			"reconciler":        ct.Reconciler,
			"namespace_service": ct.NamespaceService,
			"config_type":       ct.ConfigType,
			"secret_type":       ct.SecretType,
			"taints":            encodeTaints(ct.Taints),
			"properties":        ct.Properties,
		}
	},
}
