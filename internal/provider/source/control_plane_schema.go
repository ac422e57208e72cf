package source

import (
	"maps"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
)

const controlPlaneDescription = "Reads an existing Kalypso control plane for a `kalypso_environment_rendering`: the " +
	"objects of an environment, the objects of the base that its BaseRepo pins, and the Workloads of its " +
	"registrations. Terraform reads it at plan and keeps it in the plan, so apply renders what plan showed. Pass " +
	"`sources` to the rendering too: a plan that changes something then shows the old and the new commit of each repo, " +
	"and a commit that changes no object causes no change.\n\nIt reads files that end in `.yaml` or `.yml`. It skips " +
	"dot folders and files that a `.sourceignore` lists (in the root, in the folder, or below it; with the syntax of " +
	"`.gitignore`). It warns about symbolic links and submodules, which it does not follow. It does not build " +
	"Kustomizations. A file may have at most 10 MiB, and all manifests together 64 MiB. " + folderLimits + " Every run " +
	"reads everything again, because a data source has no access to the result of the previous run."

// folderLimits describes the [source.DefaultLimits] of a folder.
const folderLimits = "A folder may have at most 1,000,000 files and folders below it, and 100,000 YAML files of 256 " +
	"MiB together. What a repo lists at several paths counts at each. Names that Git refuses, such as `..` or `.GIT`, " +
	"are errors. Such a fault of a registration's folder is an error of this registration."

func controlPlaneArguments() map[string]schema.Attribute {
	attributes := map[string]schema.Attribute{
		"repo": schemas.OptionalString("URL of the control plane's Git repo. This or `directory` is required."),
		"branch": schemas.OptionalString(
			"Branch of the repo, whose head is read. In Kalypso it has the name of the environment. With `commit`, the " +
				"branch that contains the commit."),
		"commit": schema.StringAttribute{
			Optional: true,
			Computed: true,
			MarkdownDescription: "Full hash of the commit that is read. Set it to read that commit instead of the branch's " +
				"head. Null for a folder.",
		},
		"path": schemas.OptionalString("Folder of the repo. The default is the root."),
		"directory": schemas.OptionalString(
			"A folder on this machine, for a pipeline that runs in the checkout: relative to Terraform's working directory, " +
				"or below `path.module`. Its files are read whether they are committed or not."),
		"base_directory": schemas.OptionalString(
			"With `directory`, another folder that contains the objects of the base. By default, they " +
				"are read from the repo that the BaseRepo names."),
		"follow_base_repo": schemas.OptionalBool(
			"Whether to read the base that the BaseRepo names, at the commit that it pins, or at its " +
				"branch's head if it pins none. The default is `true`.",
		),
		"follow_registrations": schemas.OptionalBool(
			"Whether to read the Workloads behind the registrations. The default is `true`."),
	}
	attributes["promotion"] = schemas.PromotionDataArgument(
		"The commit of the base to read instead of the commit that the BaseRepo pins. Without a BaseRepo, the base is the " +
			"same folder of this repo. If the promotion has no commit yet, `manifests` and `sources` are empty.",
	)
	maps.Copy(attributes, schemas.FollowArguments("the record on the branch of the control plane's GitOpsRepo",
		"The keys that must have signed the commits that are read. An unsigned commit of the control plane or its bases "+
			"is an error; an unsigned commit of a team breaks its registration. Not with `directory`, which has no commits."))
	return attributes
}

func controlPlaneComputed() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"manifests": schemas.ComputedStrings(
			"The objects, for `manifests` of a `kalypso_environment_rendering`. Keys " +
				"are `repo@branch:path`, `repo@commit:path` without a branch, or for a folder the path; values are YAML. If a " +
				"file contains several objects, `#name` follows, or `#kind/name` if two of them share a name. Workloads of " +
				"registrations get the workspace of their registration, regardless of their own labels.",
		),
		schemas.SourcesAttribute: schemas.SourcesOutput(),
		"base_commit": schemas.ComputedText(
			"The commit that the BaseRepo pins, which was promoted to the environment, " +
				"for `promoted_commit` of the rendering. Null if it pins none.",
		),
		"workload_commits": schemas.ComputedStrings(
			"The commit at which each registration was read, by its name.",
		),
		"gitops_repo": schemas.ComputedObject(
			"Destination in the control plane's GitOpsRepo, for `gitops_repo` of the rendering. Null if "+
				"there is none.",
			map[string]schema.Attribute{
				"repo": schemas.ComputedText("URL of the repo."), "branch": schemas.ComputedText("Branch of the repo."),
				"path": schemas.ComputedText("Path in the repo."),
			},
		),
		"names": schemas.ComputedMap("The sorted names of the objects, by their kind in YAML: "+
			"`names[\"ClusterType\"]`. Every kind has an element, even without objects.", schemas.ListOfStrings),
		"skipped": schemas.ComputedNumber(
			"Number of YAML documents that were skipped because they are not Kalypso " +
				"objects.",
		),
		"import_blocks": schemas.ComputedText(
			"The control plane as HCL: a resource for each object, an `import` block " +
				"that reads its state from the YAML, and comments with the commands to run and the rendering that takes the " +
				"resources. Workloads behind registrations are not included, because they belong to the teams.",
		),
	}
}
