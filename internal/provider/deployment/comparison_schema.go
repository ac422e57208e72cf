package deployment

import (
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
)

const comparisonDescription = "Shows how two environments differ: their deployment targets, placements, config " +
	"values and files, as both GitOps branches contain them. Only files whose hashes differ are read. Files and values " +
	"that differ only by the namespace or the cluster type of their folder count as equal.\n\nPass the whole object to " +
	"`provider::kalypso::fleet_page` for a table of the differences."

func comparisonArguments() map[string]schema.Attribute {
	side := func(which string) schema.Attribute {
		return schemas.RequiredObject(
			"The destination of the rendering on the "+which+" side, as in its `gitops_repo`.",
			map[string]schema.Attribute{
				"repo":   schemas.RequiredString("URL of the repo."),
				"branch": schemas.RequiredString("Branch of the environment."),
				"path":   schemas.OptionalString("Path of the rendering. The default is the repo's root."),
			},
		)
	}
	return map[string]schema.Attribute{
		"left": side("left"), "right": side("right"),
		"control_plane": schemas.ControlPlaneArgument("The branch of the promoted commits, for `promoted.commits`."),
		"ignore": schemas.OptionalTexts(
			"Keys of configs that are not compared, as `target.KEY`. A `*` stands for any text, as in " +
				"`*.ENVIRONMENT`.",
		),
		"match": schemas.OptionalStrings(
			"Cluster types of the right side that have another name on the left: right → left.",
		),
	}
}

// valuesType is the type of the values of both sides.
var valuesType = types.ObjectType{AttrTypes: map[string]attr.Type{"left": types.StringType, "right": types.StringType}}

func comparisonComputed() map[string]schema.Attribute {
	sides := map[string]schema.Attribute{
		"left":  schemas.ComputedTexts("Only on the left side, sorted."),
		"right": schemas.ComputedTexts("Only on the right side, sorted."),
	}
	return map[string]schema.Attribute{
		"promoted": schemas.ComputedObject("The promoted commits. `equal` ignores them.", map[string]schema.Attribute{
			"left":  schemas.ComputedText("The promoted commit of the left side. Null if it has none."),
			"right": schemas.ComputedText("The promoted commit of the right side. Null if it has none."),
			"commits": schemas.ComputedNumber("The number of first-parent commits between the two. Null without " +
				"`control_plane`, and if one of the two is not on its branch."),
		}),
		"targets": schemas.ComputedObject("The deployment targets that only one side has.", sides),
		"placements": schemas.ComputedObjectMap("For each deployment target that both sides have: the cluster types that it "+
			"has on only one side.", sides),
		"configs": schemas.ComputedMap(fmt.Sprintf("The config values that differ, by deployment target, cluster type (its "+
			"name on the left) and key, as `{ left, right }`. If a side lacks the key, it is null. A value that "+
			"`guardrails.secrets` takes for a secret is `(hidden)`, and so is one that contains such a secret of any file that "+
			"differs, in any escaped form. At most %d; `summary` counts all.", maxComparisonEntries),
			types.MapType{ElemType: types.MapType{ElemType: valuesType}}),
		"files": schemas.ComputedMap(fmt.Sprintf("For each file name other than that of a config: the folders in which the "+
			"file differs, as `cluster type/deployment target`. At most %d; `summary` counts all.", maxComparisonEntries),
			schemas.ListOfStrings),
		"equal":   schemas.ComputedBool("Whether targets, placements, config values and files are equal."),
		"summary": schemas.ComputedText("The differences as Markdown, each once with the number of its folders."),
	}
}
