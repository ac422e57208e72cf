package provider

import (
	"context"
	"fmt"
	"math"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
)

var _ resource.ResourceWithValidateConfig = (*environmentRendering)(nil)

func limitsAttribute() schema.SingleNestedAttribute {
	count := func(what string, most int) schema.Int64Attribute {
		return schema.Int64Attribute{
			Optional:            true,
			MarkdownDescription: fmt.Sprintf("%s The default is `%d`.", what, most),
		}
	}
	size := func(what string, most int64) schema.StringAttribute {
		return schema.StringAttribute{
			Optional:            true,
			MarkdownDescription: fmt.Sprintf("%s A Kubernetes quantity. The default is `%s`.", what, fleet.FormatBytes(most)),
		}
	}
	most := fleet.DefaultLimits
	return schema.SingleNestedAttribute{
		Optional: true,
		MarkdownDescription: "How much a fleet may ask for, so that one team can't stop the others. More is an error of the plan. " +
			"The defaults are far above any real fleet.",
		Attributes: map[string]schema.Attribute{
			"assignments":          count("How many assignments the environment may have.", most.Assignments),
			"targets_per_workload": count("How many deployment targets one workload may have in the environment.", most.TargetsPerWorkload),
			"file_size":            size("How many bytes one rendered file, and any value that goes into it, may take.", most.FileSize),
			"manifests":            size("How many bytes all texts of `manifests` together may take.", most.Manifests),
		},
	}
}

// readLimits reads the limits. What a limit that is not known yet refuses is found by the apply.
func readLimits(d decoder) (limits fleet.Limits) {
	given, _ := d.object("limits")
	count := func(name string) int {
		if given.isUnknown(name) {
			return math.MaxInt
		}
		n := given.int(name)
		if n == nil {
			return 0
		}
		if *n < 1 {
			given.report("Invalid limit", fmt.Sprintf("%d is no limit: it is a number from 1. Remove it for the default.", *n), fleet.Attr(name))
		}
		return *n
	}
	size := func(name string, unknown int64) int64 {
		text := given.string(name)
		switch {
		case fleet.IsUnknown(text):
			return unknown
		case text == "":
			return 0
		}
		n, err := fleet.ParseBytes(text)
		if err != nil {
			given.report("Invalid limit", fleet.Sentence(err), fleet.Attr(name))
		}
		return n
	}
	return fleet.Limits{
		Assignments: count("assignments"), TargetsPerWorkload: count("targets_per_workload"),
		FileSize: size("file_size", 0), Manifests: size("manifests", math.MaxInt64),
	}
}

// maxMessage is how many bytes gRPC lets a message between Terraform and a provider have, and copies how often a message
// holds an argument: as it is configured, planned, and in the state.
const (
	maxMessage = 256 << 20
	copies     = 3
)

// ValidateConfig reports YAML that Terraform could not hand to the provider: its own error, at a later plan, says neither
// what is too large nor what to do, and leaves no way to apply less.
func (r *environmentRendering) ValidateConfig(
	ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse,
) {
	var manifests types.Map
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, path.Root(yamlAttribute), &manifests)...)
	size := 0
	for _, v := range manifests.Elements() {
		if text, ok := v.(types.String); ok {
			size += len(text.ValueString())
		}
	}
	if size > maxMessage/copies {
		resp.Diagnostics.AddAttributeError(path.Root(yamlAttribute), "Too much YAML for Terraform", fmt.Sprintf(
			"The texts in manifests have %d MB. Terraform hands them to the provider %d times in one message: as they are configured, "+
				"planned, and in the state. A message has at most 256 MiB (gRPC's limit), which leaves %d MB. Leave out what this environment "+
				"does not use, or split the fleet into several renderings, each with a path of its own.",
			size/1_000_000, copies, maxMessage/copies/1_000_000))
	}
}
