package rendering

import (
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/resources"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

func limitsAttribute() schema.SingleNestedAttribute {
	count := func(what string, limit int) schema.Int64Attribute {
		return schemas.OptionalNumber(fmt.Sprintf("%s The default is `%d`.", what, limit))
	}
	size := func(what string, limit int64) schema.StringAttribute {
		return schemas.OptionalString(
			fmt.Sprintf("%s A Kubernetes quantity. The default is `%s`.", what, fleet.FormatBytes(limit)),
		)
	}
	limit := fleet.DefaultLimits
	return schemas.OptionalObject(
		"Limits the size of the fleet, so that one team can't block the other teams. A larger fleet "+
			"fails the plan.",
		map[string]schema.Attribute{
			"assignments": count("The number of assignments in the environment.", limit.Assignments),
			"targets_per_workload": count(
				"The number of deployment targets of one workload in the environment.", limit.TargetsPerWorkload),
			"file_size": size("The size of one rendered file, and of any value in it, in bytes.", limit.FileSize),
			"manifests": size("The size of all texts of `manifests` together, in bytes.", limit.Manifests),
		},
	)
}

// readLimits reads the argument limits, and reports invalid ones.
func readLimits(d tfvalue.Decoder) fleet.Limits {
	given, _ := d.Object("limits")
	limits, ps := fleet.ParseLimits(given.String("assignments"), given.String("targets_per_workload"),
		given.String("file_size"), given.String("manifests"))
	*d.Problems = append(*d.Problems, ps...)
	return limits
}

// maxMessage is gRPC's limit for a message between Terraform and a provider, in bytes. A message contains an argument
// up to copies times: as configured, as planned, and in the state.
const (
	maxMessage = 256 << 20
	copies     = 3
)

// checkSize reports YAML that is too large for Terraform's messages. Otherwise Terraform reports it at a later plan,
// without saying which argument is too large or what to do, and even blocks the apply that would remove the YAML.
func checkSize(c *resources.Call) {
	manifests, _ := tfvalue.Members(c.Plan[tfvalue.ManifestsAttribute])
	size := 0
	for _, v := range manifests {
		if text, ok := v.(types.String); ok {
			size += len(text.ValueString())
		}
	}
	if size > maxMessage/copies {
		c.Diags.AddAttributeError(
			path.Root(tfvalue.ManifestsAttribute),
			"Too much YAML for Terraform",
			fmt.Sprintf(
				"The texts in manifests have %d MB. Terraform passes them to the provider %d times in one message: as "+
					"configured, planned, and in the state. A message has at most 256 MiB (gRPC's limit), which leaves %d MB. "+
					"Leave out objects that this environment does not use, or split the fleet into several renderings, each with "+
					"its own path.",
				size/1_000_000, copies, maxMessage/copies/1_000_000),
		)
	}
}
