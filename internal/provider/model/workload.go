package model

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

var workloadModel = &model{
	Kind:      fleet.KindWorkload,
	object:    func() fleet.Object { return &fleet.Workload{} },
	name:      "workload",
	attribute: "workloads",
	description: "A workload: an application with its deployment targets. A target is rendered only in its own " +
		"environment, where it is called `<workload>-<target>`.",
	nameDescription: "Name of the workload: a DNS-1123 subdomain. A deployment target's name is `<workload>-<target>`.",
	labelsDescription: "Labels of the workload. They override those of its targets. Keys and values follow the " +
		"Kubernetes rules.",
	arguments: map[string]schema.Attribute{
		"workspace": schemas.OptionalString("Workspace of the team that owns the workload, for " +
			"`deployment_target_selector.workspace` of scheduling policies. It is the label `" + fleet.WorkspaceLabel +
			"` of the document."),
		"deployment_targets": schemas.OptionalObjects("The deployment targets of all environments.", targetArguments),
		"config_schemas": schemas.OptionalTexts(
			"JSON Schemas for the platform configuration of all targets, each for example with " +
				"`jsonencode`.",
		),
	},
	decode: func(o fleet.Object, d tfvalue.Decoder) {
		m := o.Metadata()
		m.Labels = withWorkspaceLabel(m.Labels, d)
	},
	encode: encodeWorkload,
	argument: func(d tfvalue.Decoder, path []problem.Step) []problem.Step {
		if slices.Equal(path, []problem.Step{problem.Attr("labels"), problem.Key(fleet.WorkspaceLabel)}) &&
			d.String("workspace") != "" {
			return []problem.Step{problem.Attr("workspace")}
		}
		return path
	},
}

// targetArguments contains the arguments of a list element. Name and environment are optional in the schema, because
// the framework treats an unknown element as an object of nulls. The domain checks them.
var targetArguments = map[string]schema.Attribute{
	"name": schemas.OptionalString(
		"Name of the target. The deployment target's name is `<workload>-<name>`. Required.",
	),
	"environment": schemas.OptionalString("The environment in which the target exists. Required."),
	"labels": schemas.OptionalStrings(
		"Labels of the target, by which scheduling policies and configs select it. The workload's " +
			"labels override them, and then `workload` and `workspace`, which always exist.",
	),
	"manifests": schemas.OptionalStrings(
		"Location of the team's manifests, which templates read as `.Manifests`: usually `repo`, " +
			"`branch` and `path`, but any keys that the templates use.",
	),
	"config_schemas": schemas.OptionalTexts(
		"JSON Schemas for the platform configuration of this target, each for example with " +
			"`jsonencode`.",
	),
	"requires": schemas.OptionalObjects(
		"The deployment targets that this one needs beside it: each cluster type that gets it must "+
			"get a target that satisfies each element. A target satisfies an element if it matches all attributes that are "+
			"set there. `guardrails.requires` of the rendering decides what happens if no target does. Templates read the "+
			"targets as `.Requires`. In YAML, it is the annotation `"+fleet.RequiresAnnotation+"`. At most 32.",
		requirementArguments,
	),
}

var requirementArguments = map[string]schema.Attribute{
	"workload": schemas.OptionalString("Name of the required target's workload. It may belong to another team."),
	"deployment_target": schemas.OptionalString(
		"Name of the required target in its workload. Needs `workload`. The default is any target of " +
			"the workload.",
	),
	"match_labels": schemas.OptionalStrings("Labels of the required target, as scheduling policies see them."),
}

// withWorkspaceLabel adds the workspace as a label, as the document has it.
func withWorkspaceLabel(labels map[string]string, d tfvalue.Decoder) map[string]string {
	workspace := d.String("workspace")
	if _, maybe := labels[unknown.Text]; maybe || workspace == "" {
		return labels
	}
	given, twice := labels[fleet.WorkspaceLabel]
	if twice && given != workspace && !unknown.Is(given) && !unknown.Is(workspace) {
		d.Report("Conflicting workspaces", fmt.Sprintf("The workspace is %q and the label %s is %q. Remove one of them.",
			workspace, fleet.WorkspaceLabel, given), problem.Attr("workspace"))
	}
	all := map[string]string{}
	maps.Copy(all, labels)
	all[fleet.WorkspaceLabel] = workspace
	return all
}

func encodeWorkload(o fleet.Object) tfvalue.Values {
	labels := maps.Clone(o.Metadata().Labels)
	workspace := labels[fleet.WorkspaceLabel]
	if workspace != "" {
		delete(labels, fleet.WorkspaceLabel)
	}
	return tfvalue.Values{"labels": labels, "workspace": workspace}
}
