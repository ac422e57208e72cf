package provider

import (
	"context"
	"maps"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	resource "github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

var gitopsRepoTypes = map[string]attr.Type{"repo": types.StringType, "branch": types.StringType, "path": types.StringType}

func controlPlaneSchema(ctx context.Context) schema.Schema {
	return schema.Schema{
		MarkdownDescription: "An existing Kalypso control plane: the objects of an environment, those of the base that its BaseRepo pins, and the " +
			"Workloads behind its registrations, ready for a `kalypso_environment_rendering`. Terraform reads it at plan and keeps it in the " +
			"plan, so apply renders what plan showed. Hand `sources` to the rendering too: a plan that changes something then shows " +
			"from which commit to which each repo moved, and a commit that changes no object is no change.\n\n" +
			"Files that end in `.yaml` or `.yml` are read. Dot folders are skipped, and what a `.sourceignore` names (in the root, in the folder, and in " +
			"those below it; its syntax is that of `.gitignore`). Symbolic links and submodules are not followed, which a warning says; a " +
			"Kustomization is not carried out. A file is at most 10 MiB, and what is handed on 64 MiB. Every run reads all of it again: Terraform hands a data source nothing of the previous run.",
		Attributes: controlPlaneAttributes(ctx),
	}
}

func controlPlaneAttributes(ctx context.Context) map[string]schema.Attribute {
	text := func(description string) resource.StringAttribute {
		return resource.StringAttribute{Optional: true, MarkdownDescription: description}
	}
	flag := func(description string) resource.BoolAttribute {
		return resource.BoolAttribute{Optional: true, MarkdownDescription: description}
	}
	attributes := dataSourceArguments(map[string]resource.Attribute{
		"repo":   text("URL of the control plane's Git repo. This or `directory` is required."),
		"branch": text("Branch of the repo, whose head is read; in Kalypso it is named for the environment. With `commit` it is where that lies."),
		"path":   text("Folder of the repo. The default is the root."),
		"directory": text("A folder of this machine, for a pipeline that runs in the checkout: relative to where Terraform runs, or below " +
			"`path.module`. It is read as it lies there, committed or not."),
		"base_directory": text("With `directory`, the folder beside it that holds the objects of the base. Without it they are read from where the BaseRepo says."),
		"follow_base_repo": flag("Whether to read the base that the BaseRepo names, at the commit that it pins, or at its branch's head where " +
			"it pins none. The default is `true`."),
		"follow_registrations": flag("Whether to read the Workloads behind the registrations. The default is `true`."),
	})
	maps.Copy(attributes, followArguments(ctx, "the record on the branch of the control plane's GitOpsRepo"))
	attributes["commit"] = schema.StringAttribute{
		Optional:            true,
		Computed:            true,
		MarkdownDescription: "The commit that is read, by its full hash. Set it to read that one instead of the branch's head. Null for a folder.",
	}
	attributes["manifests"] = computedStrings("The objects, for `manifests` of a `kalypso_environment_rendering`: `repo@branch:path`, or for a folder the " +
		"path, → YAML; `repo@commit:path` where no branch is given. Where a file holds several objects, `#name` follows, or `#kind/name` where two of them share a name. Workloads behind " +
		"registrations have the workspace of their registration, whatever their own labels claim.")
	attributes[sourcesAttribute] = sourcesOutput()
	attributes["base_commit"] = computedText("The commit that the BaseRepo pins: what was promoted to the environment, for `promoted_commit` of the " +
		"rendering. Null where it pins none.")
	attributes["workload_commits"] = computedStrings("The commit at which each registration was read, by its name.")
	attributes["gitops_repo"] = schema.SingleNestedAttribute{
		Computed:            true,
		MarkdownDescription: "Where the control plane's GitOpsRepo says that the tree goes, for `gitops_repo` of the rendering. Null where there is none.",
		Attributes: map[string]schema.Attribute{
			"repo": computedText("URL of the repo."), "branch": computedText("Branch of the repo."), "path": computedText("Path in the repo."),
		},
	}
	attributes["names"] = schema.MapAttribute{
		Computed: true, ElementType: listOfStrings,
		MarkdownDescription: "The names of what was found, sorted, by kind as in YAML: `names[\"ClusterType\"]`. Every kind is there.",
	}
	attributes["passed_over"] = computedNumber("How many YAML documents were skipped because they are not Kalypso objects.")
	attributes["import_blocks"] = computedText("The control plane as HCL: the resource of each object, an `import` block that reads its state from " +
		"the YAML, and in comments what to run and the rendering that takes the resources. Workloads behind registrations are not among " +
		"them, as they are the teams'.")
	return attributes
}
