package model

import (
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

var schedulingPolicyModel = &model{
	Kind:      fleet.KindSchedulingPolicy,
	object:    func() fleet.Object { return &fleet.SchedulingPolicy{} },
	name:      "scheduling_policy",
	attribute: "scheduling_policies",
	description: "A scheduling policy assigns every deployment target that it selects to every cluster type that it " +
		"selects, or with `placement` to some of them. If several policies choose the same pair, it is one assignment.\n\n" +
		"To select everything, a selector needs `match_all = true`. Otherwise, a variable that happens to be null or " +
		"empty would select everything.",
	nameDescription:   "Name of the policy: a DNS-1123 subdomain.",
	labelsDescription: "Labels of the policy. They select nothing. Keys and values follow the Kubernetes rules.",
	arguments: map[string]schema.Attribute{
		"deployment_target_selector": schemas.RequiredObject(
			"Which deployment targets the policy places: those that meet all requirements below.",
			schemas.SelectorArguments("deployment targets", map[string]schema.Attribute{
				"workspace": schemas.OptionalString(
					"The workspace of the deployment targets. On its own, it selects all targets of that " +
						"workspace.",
				),
			}),
		),
		"cluster_type_selector": schemas.RequiredObject(
			"Which cluster types they are assigned to: those that meet all requirements below.",
			schemas.SelectorArguments("cluster types", map[string]schema.Attribute{}),
		),
		"placement": schemas.PlacementArgument(),
	},
	decode: func(o fleet.Object, d tfvalue.Decoder) {
		p := As[*fleet.SchedulingPolicy](o)
		targets := schemas.RequiredSelector(d, "deployment_target_selector", true)
		p.Workspace, p.DeploymentTargets = targets.Workspace, targets.Labels
		p.ClusterTypes = schemas.RequiredSelector(d, "cluster_type_selector", false).Labels
		schemas.CompletePlacement(p.Placement, d)
	},
	encode: func(o fleet.Object) tfvalue.Values {
		p := As[*fleet.SchedulingPolicy](o)
		return tfvalue.Values{
			"deployment_target_selector": schemas.EncodeSelector(
				schemas.Selector{Workspace: p.Workspace, Labels: p.DeploymentTargets},
			),
			"cluster_type_selector": schemas.EncodeSelector(schemas.Selector{Labels: p.ClusterTypes}),
		}
	},
}
