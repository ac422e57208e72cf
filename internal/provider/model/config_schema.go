package model

import (
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
)

var configSchemaModel = &model{
	Kind:      fleet.KindConfigSchema,
	object:    func() fleet.Object { return &fleet.ConfigSchema{} },
	name:      "config_schema",
	attribute: "config_schemas",
	description: "A JSON Schema for the platform configuration of the assignments that its labels match. Every schema " +
		"that applies validates the merged configs; a string that looks like a number counts as a number.",
	nameDescription: "Name of the schema: a DNS-1123 subdomain.",
	labelsDescription: "The assignments that the schema applies to: those for which all labels match. `cluster-type`, " +
		"`deployment-target` and `workload` are compared with the names, any other label with the labels of the cluster " +
		"type and of the deployment target. Without labels it applies to all.",
	arguments: map[string]schema.Attribute{
		"schema": schemas.RequiredString(
			"The JSON Schema, for example with `jsonencode` or `file`. It is checked at plan. References " +
				"to other documents are not allowed.",
		),
	},
}
