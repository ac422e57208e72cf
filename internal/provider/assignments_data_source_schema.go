package provider

import (
	"fmt"
	"maps"

	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/explain"
)

// The values of empty: what an idle policy does not select.
const (
	emptyTargets      = "deployment_targets"
	emptyClusterTypes = "cluster_types"
	emptyBoth         = "both"
)

func assignmentsSchema() schema.Schema {
	attributes := dataSourceArguments(fleetArguments())
	attributes["explain"] = schema.BoolAttribute{
		Optional: true,
		MarkdownDescription: "Whether to return the config that set each value of each assignment, and the outcome of " +
			"placement for each cluster type that a policy selects. The default is `false`: a large fleet has a large result. " +
			"Plan and state then contain the values in plain text, even those that come from sensitive values.",
	}
	attributes["explain_targets"] = schema.ListAttribute{
		Optional:            true,
		ElementType:         types.StringType,
		MarkdownDescription: "The deployment targets that `explain` applies to. The default is all.",
	}
	attributes["why"] = whyArgument()
	attributes["record"] = recordArgument()
	maps.Copy(attributes, assignmentsComputed())
	return schema.Schema{
		MarkdownDescription: "Returns the schedule of an environment with its reasons: which policies chose each " +
			"assignment and which configs it gets, why a deployment target is not placed, or not on one cluster type (`why`), " +
			"which policies place nothing, and where each value comes from. It takes the same fleet arguments as " +
			"`kalypso_environment_rendering`, contacts nothing and writes nothing.\n\nErrors in the fleet are errors here " +
			"too. A template that fails, values that a schema rejects and other faults of teams are warnings: the schedule " +
			"and the values are still returned, and `failed` lists them.\n\nTerraform defers reading a data source until " +
			"apply if an argument is unknown, or if resources that it refers to directly have pending changes. If they are " +
			"passed through `locals`, as in the example, the plan that changes the fleet shows its schedule too.",
		Attributes: attributes,
	}
}

func assignmentsComputed() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"assignments": computedObjects("Every deployment target on every cluster type that hosts it, by cluster type, "+
			"then by deployment target.", map[string]schema.Attribute{
			"cluster_type":      computedText("The cluster type."),
			"deployment_target": computedText("The deployment target, `<workload>-<target>`."),
			"workload":          computedText("The workload that it is a target of."),
			"workspace":         computedText("The workspace of the workload. Null if it has none."),
			"namespace": computedText("The namespace of the assignment, `<environment>-<cluster type>-<deployment " +
				"target>`."),
			"policies": computedTexts("The policies that chose it, sorted by name."),
			"configs":  computedTexts("The configs that apply to it, in the order in which they merge."),
			"secrets": computedTexts("The `kalypso_secret` objects that apply to it, in the order in which their references " +
				"merge."),
			"references": schema.MapNestedAttribute{
				Computed: true,
				MarkdownDescription: "The references to secrets: each by its key, with its source. Null unless `explain` asks " +
					"for it.",
				NestedObject: schema.NestedAttributeObject{Attributes: computedReference(map[string]schema.Attribute{
					"merged": computedObjects("The earlier references that this one was merged onto, in order.",
						computedReference(nil)),
				})},
			},
			"values": schema.MapNestedAttribute{
				Computed: true,
				MarkdownDescription: "The platform configuration: each value by its key, with its source. Null unless `explain` " +
					"asks for it.",
				NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
					"value":  computedText("The merged value: text unchanged, an object or a list as YAML."),
					"config": computedText("The config that set the value, or its last part."),
					"origin": computedText("Source of that config: its key in `configs` or `manifests`."),
					"key":    computedText("Its key in that config; in an `azure-app-config`, the whole path."),
					"merged": computedContributions("The earlier parts of an object or a list that this value was merged onto, " +
						"in order."),
					"replaced": computedContributions("Overridden values, in order."),
				}},
			},
		}),
		"unscheduled": computedObjects("The deployment targets that no policy places, by name, with the reasons.",
			map[string]schema.Attribute{
				"deployment_target": computedText("The deployment target, `<workload>-<target>`."),
				"workload":          computedText("The workload that it is a target of."),
				"workspace":         computedText("The workspace of the workload. Null if it has none."),
				"labels": schema.MapAttribute{Computed: true, ElementType: types.StringType,
					MarkdownDescription: "The labels that policies select it by: its own, overridden by the workload's, `workload` " +
						"and `workspace`."},
				"reasons": computedObjects(fmt.Sprintf("Why each policy does not place it, fewest mismatches first. If there is "+
					"no policy, the only reason says so. "+
					"If all deployment targets together had more than %d reasons, only the policies with the fewest mismatches are "+
					"listed.", explain.MaxRejections), map[string]schema.Attribute{
					"policy": computedText("The policy. Null if there is none."),
					"reason": computedText("What did not match, as text."),
					"mismatches": computedMismatches("The requirements on labels and workspace that the deployment target does not " +
						"meet."),
					"selects_cluster_types": schema.BoolAttribute{Computed: true,
						MarkdownDescription: "Whether the policy selects any cluster type."},
				}),
			}),
		"failed":     computedFailed(),
		"answers":    computedAnswers(),
		"placements": computedPlacements(),
		"idle_policies": computedObjects("The policies that place nothing, by name.", map[string]schema.Attribute{
			"policy": computedText("The policy."),
			"origin": computedText("Its source: the key in `scheduling_policies` or `manifests`."),
			"empty": computedText("What it does not select: `" + emptyTargets + "`, `" + emptyClusterTypes +
				"` or `" + emptyBoth + "`."),
			"reason": computedText("The reason as text, with the closest candidate and its mismatches."),
			"nearest_deployment_target": computedText("The deployment target with the fewest mismatches. Null if some are " +
				"selected, or if there is none."),
			"nearest_cluster_type": computedText("The cluster type with the fewest mismatches. Null if some are selected, or " +
				"if there is none."),
		}),
		"counts": schema.SingleNestedAttribute{
			Computed:            true,
			MarkdownDescription: "Counts for the environment.",
			Attributes: map[string]schema.Attribute{
				"assignments":        computedNumber("Assignments."),
				"cluster_types":      computedNumber("Cluster types."),
				"deployment_targets": computedNumber("Deployment targets."),
				"unscheduled":        computedNumber("Deployment targets that no policy places."),
				"policies":           computedNumber("Scheduling policies."),
				"idle_policies":      computedNumber("Scheduling policies that place nothing."),
			},
		},
	}
}

func computedContributions(description string) schema.ListNestedAttribute {
	return computedObjects(description, map[string]schema.Attribute{
		"config": computedText("The config."),
		"origin": computedText("Its key in `configs`, or in `manifests`."),
		"key":    computedText("The value's key in it."),
		"value":  computedText("The value that it set."),
	})
}

// computedReference returns the attributes of a reference to a secret, plus more.
func computedReference(more map[string]schema.Attribute) map[string]schema.Attribute {
	all := map[string]schema.Attribute{
		"store":    computedText("The `ClusterSecretStore`."),
		"key":      computedText("The key of the secret in the store."),
		"property": computedText("The value of a secret that holds several. Null if there is none."),
		"secret":   computedText("The object that set the reference, or its last part."),
		"origin":   computedText("Where that object came from: its key in `secrets`, or in `manifests`."),
	}
	maps.Copy(all, more)
	return all
}

// computedObjects returns a computed list of objects.
func computedObjects(description string, attributes map[string]schema.Attribute) schema.ListNestedAttribute {
	return schema.ListNestedAttribute{
		Computed:            true,
		MarkdownDescription: description,
		NestedObject:        schema.NestedAttributeObject{Attributes: attributes},
	}
}

// computedText returns a computed string of a data source.
func computedText(description string) schema.StringAttribute {
	return schema.StringAttribute{Computed: true, MarkdownDescription: description}
}

// computedTexts returns a computed list of strings of a data source.
func computedTexts(description string) schema.ListAttribute {
	return schema.ListAttribute{Computed: true, ElementType: types.StringType, MarkdownDescription: description}
}

// computedNumber returns a computed whole number of a data source.
func computedNumber(description string) schema.Int64Attribute {
	return schema.Int64Attribute{Computed: true, MarkdownDescription: description}
}
