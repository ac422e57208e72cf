package provider

import (
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
)

var schedulingPolicyModel = &model{
	kind:      fleet.KindSchedulingPolicy,
	name:      "scheduling_policy",
	attribute: "scheduling_policies",
	description: "A scheduling policy assigns every deployment target that it selects to every cluster type that it " +
		"selects, or with `placement` to some of them. If several policies choose the same pair, it is one assignment.\n\n" +
		"A selector that selects everything must say `match_all = true`, so that a variable that happens to be null or " +
		"empty never does.",
	nameDescription:   "Name of the policy: a DNS-1123 subdomain.",
	labelsDescription: "Labels of the policy. They select nothing. Keys and values follow the Kubernetes rules.",
	arguments: map[string]schema.Attribute{
		"deployment_target_selector": schema.SingleNestedAttribute{
			Required:            true,
			MarkdownDescription: "Which deployment targets the policy places: those that meet all requirements below.",
			Attributes: selectorArguments("deployment targets", map[string]schema.Attribute{
				"workspace": schema.StringAttribute{
					Optional: true,
					MarkdownDescription: "The workspace of the deployment targets. On its own, it selects all targets of that " +
						"workspace.",
				},
			}),
		},
		"cluster_type_selector": schema.SingleNestedAttribute{
			Required:            true,
			MarkdownDescription: "Which cluster types they are assigned to: those that meet all requirements below.",
			Attributes:          selectorArguments("cluster types", map[string]schema.Attribute{}),
		},
		"placement": placementArgument(),
	},
	decode: func(m fleet.Meta, d decoder) fleet.Object {
		targets := requiredSelector(d, "deployment_target_selector", true)
		clusterTypes := requiredSelector(d, "cluster_type_selector", false)
		return &fleet.SchedulingPolicy{
			Meta:              m,
			Workspace:         targets.workspace,
			DeploymentTargets: targets.labels,
			ClusterTypes:      clusterTypes.labels,
			Placement:         decodePlacement(d),
		}
	},
	encode: func(o fleet.Object) values {
		p := as[*fleet.SchedulingPolicy](o)
		return values{
			"name":                       p.Name,
			"labels":                     p.Labels,
			"deployment_target_selector": encodeSelector(selector{workspace: p.Workspace, labels: p.DeploymentTargets}),
			"cluster_type_selector":      encodeSelector(selector{labels: p.ClusterTypes}),
			"placement":                  encodePlacement(p.Placement),
		}
	},
}
