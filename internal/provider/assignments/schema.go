package assignments

import (
	"fmt"
	"maps"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule/explain"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/model"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
)

// The values of the attribute empty of an idle policy: the selectors that select nothing.
const (
	emptyTargets      = "deployment_targets"
	emptyClusterTypes = "cluster_types"
	emptyBoth         = "both"
)

const description = "Returns the schedule of an environment with its reasons. It takes the same fleet arguments " +
	"as `kalypso_environment_rendering` and contacts nothing.\n\nErrors in the fleet are errors here " +
	"too. A template that fails, values that a schema rejects and other faults of teams are warnings: the schedule " +
	"and the values are still returned, and `failed` lists them.\n\nTerraform defers reading a data source until " +
	"apply if an argument is unknown, or if resources that it refers to directly have pending changes. If they are " +
	"passed through `locals`, the plan that changes the fleet shows its schedule too."

func arguments() map[string]schema.Attribute {
	attributes := model.FleetArguments()
	attributes["explain"] = schemas.OptionalBool(
		"Whether to return the origin of each value, and the outcome of placement for each cluster " +
			"type that a policy selects. The default is `false`: a large fleet has a large result. Plan and state then " +
			"contain the values in plain text, even sensitive ones.")
	attributes["explain_targets"] = schemas.OptionalTexts(
		"The deployment targets that `explain` applies to. The default is all.",
	)
	attributes["why"] = whyArgument()
	attributes["record"] = recordArgument()
	return attributes
}

func assignmentsComputed() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"assignments": schemas.ComputedObjects(
			"Every deployment target on every cluster type that hosts it.",
			map[string]schema.Attribute{
				"cluster_type":      schemas.ComputedText("The cluster type."),
				"deployment_target": schemas.ComputedText("The deployment target, `<workload>-<target>`."),
				"workload":          schemas.ComputedText("The workload that it is a target of."),
				"workspace":         schemas.ComputedText("The workspace of the workload. Null if it has none."),
				"namespace": schemas.ComputedText(
					"The namespace of the assignment, `<environment>-<cluster type>-<deployment " +
						"target>`.",
				),
				"policies": schemas.ComputedTexts("The policies that place the target there."),
				"requires": computedRequirements(),
				"configs":  schemas.ComputedTexts("The configs that apply to it, in the order in which they merge."),
				"secrets": schemas.ComputedTexts(
					"The `kalypso_secret` objects that apply to it, in the order in which their references " +
						"merge.",
				),
				"references": schemas.ComputedObjectMap(
					"The references to secrets by key, each with its source. Null without `explain`.",
					computedReference(map[string]schema.Attribute{
						"merged": schemas.ComputedObjects("The earlier references that this one was merged onto, in order.",
							computedReference(nil)),
					}),
				),
				"values": schemas.ComputedObjectMap(
					"The platform configuration values by key, each with its source. Null without `explain`.",
					map[string]schema.Attribute{
						"value":  schemas.ComputedText("The merged value: a string as it is, an object or a list as YAML."),
						"config": schemas.ComputedText("The config that set the value, or its last part."),
						"origin": schemas.ComputedText("Source of that config: its key in `configs` or `manifests`."),
						"key":    schemas.ComputedText("Its key in that config; in an `azure-app-config`, the whole key with labels."),
						"merged": computedContributions(
							"The earlier parts of an object or a list that this value was merged onto, " +
								"in order.",
						),
						"replaced": computedContributions("Overridden values, in order."),
					},
				),
			},
		),
		"unscheduled": schemas.ComputedObjects("The deployment targets that no policy places, by name, with the reasons.",
			map[string]schema.Attribute{
				"deployment_target": schemas.ComputedText("The deployment target, `<workload>-<target>`."),
				"workload":          schemas.ComputedText("The workload that it is a target of."),
				"workspace":         schemas.ComputedText("The workspace of the workload. Null if it has none."),
				"labels": schemas.ComputedStrings(
					"The labels by which policies select the target, with `workload` and `workspace`."),
				"reasons": schemas.ComputedObjects(
					fmt.Sprintf("Why each policy does not place it, fewest mismatches of the target first; a typing error counts "+
						"less than others. If all deployment targets together had more than %d reasons, only the nearest policies "+
						"are listed.",
						explain.MaxRejections),
					map[string]schema.Attribute{
						"policy": schemas.ComputedText("The policy. Null if there is none."),
						"reason": schemas.ComputedText("The mismatch, as text."),
						"mismatches": computedMismatches(
							"The requirements on labels and workspace that the deployment target does not " +
								"meet.",
						),
						"selects_cluster_types": schemas.ComputedBool("Whether the policy selects any cluster type."),
					},
				),
			}),
		"failed":     computedFailed(),
		"answers":    computedAnswers(),
		"placements": computedPlacements(),
		"idle_policies": schemas.ComputedObjects("The policies that place nothing, by name.", map[string]schema.Attribute{
			"policy": schemas.ComputedText("The policy."),
			"origin": schemas.ComputedText("Its source: the key in `scheduling_policies` or `manifests`."),
			"empty": schemas.ComputedText("The selectors that select nothing: `" + emptyTargets + "`, `" + emptyClusterTypes +
				"` or `" + emptyBoth + "`."),
			"reason": schemas.ComputedText("Why, with the closest candidate."),
			"nearest_deployment_target": schemas.ComputedText(
				"The nearest deployment target, if none is selected.",
			),
			"nearest_cluster_type": schemas.ComputedText(
				"The nearest cluster type, if none is selected.",
			),
		}),
		"counts": schemas.ComputedObject("Counts for the environment.", map[string]schema.Attribute{
			"assignments":        schemas.ComputedNumber("Assignments."),
			"cluster_types":      schemas.ComputedNumber("Cluster types."),
			"deployment_targets": schemas.ComputedNumber("Deployment targets."),
			"unscheduled":        schemas.ComputedNumber("Deployment targets that no policy places."),
			"policies":           schemas.ComputedNumber("Scheduling policies."),
			"idle_policies":      schemas.ComputedNumber("Scheduling policies that place nothing."),
		}),
	}
}

func computedContributions(description string) schema.ListNestedAttribute {
	return schemas.ComputedObjects(description, map[string]schema.Attribute{
		"config": schemas.ComputedText("The config."),
		"origin": schemas.ComputedText("Its key in `configs`, or in `manifests`."),
		"key":    schemas.ComputedText("The value's key in it."),
		"value":  schemas.ComputedText("The value that it set."),
	})
}

// computedReference returns the attributes of a reference to a secret, plus more.
func computedReference(more map[string]schema.Attribute) map[string]schema.Attribute {
	all := map[string]schema.Attribute{
		"store":    schemas.ComputedText("The `ClusterSecretStore`."),
		"key":      schemas.ComputedText("The key of the secret in the store."),
		"property": schemas.ComputedText("The value to take from a secret that contains several. Null if it is not set."),
		"secret":   schemas.ComputedText("The object that set the reference, or its last part."),
		"origin":   schemas.ComputedText("Where that object came from: its key in `secrets`, or in `manifests`."),
	}
	maps.Copy(all, more)
	return all
}
