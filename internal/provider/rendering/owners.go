package rendering

import (
	"maps"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/pullrequest/owners"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// deliveryAttributes returns the arguments of delivery: the settings of pull requests, and the owners of folders.
func deliveryAttributes() map[string]schema.Attribute {
	all := maps.Clone(schemas.DeliveryAttributes())
	all["owners"] = schemas.OptionalObjects(
		"Owners of folders. They are asked to review a change of their folders, unless it needs more "+
			"than 15 reviewers.",
		map[string]schema.Attribute{
			"workspace": schemas.OptionalString(
				"The workspace of the folders' workloads. With `cluster_types`, both must match."),
			"cluster_types": schemas.OptionalSet("The cluster types of the folders."),
			"reviewers": schema.SetAttribute{
				Required: true, ElementType: types.StringType, MarkdownDescription: "Users and teams, as in `delivery.reviewers`.",
			},
		},
	)
	return all
}

// readOwners reads the argument owners of delivery.
func readOwners(delivery tfvalue.Decoder) owners.Owners {
	for _, owner := range delivery.Objects("owners") {
		owner.ReportBlank("workspace")
	}
	return tfvalue.ListOf[owners.Owner](delivery, "owners")
}
