package provider

import (
	"context"
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	resource "github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/origin"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/source"
)

var (
	_ datasource.DataSourceWithConfigure      = (*workloads)(nil)
	_ datasource.DataSourceWithValidateConfig = (*workloads)(nil)
)

// workloads reads the Workload documents behind registrations.
type workloads struct{ data *providerData }

// newWorkloads returns the data source kalypso_workloads.
func newWorkloads() datasource.DataSource { return &workloads{} }

func (w *workloads) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_workloads"
}

func (w *workloads) Schema(ctx context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	arguments := workloadRegistrationModel.attributes()
	delete(arguments, manifestAttribute)
	attributes := dataSourceArguments(map[string]resource.Attribute{
		"registrations": resource.MapNestedAttribute{
			Required: true,
			MarkdownDescription: "The registrations: a `kalypso_workload_registration` with `for_each`, a map of several " +
				"resources, or objects written inline.",
			NestedObject: resource.NestedAttributeObject{Attributes: optional(arguments)},
		},
		"gitops_repo": resource.SingleNestedAttribute{
			Optional: true,
			MarkdownDescription: "Destination of the rendering that gets these manifests, as in its `gitops_repo`. `on_error " +
				"= \"last_good\"` reads its record there.",
			Attributes: map[string]resource.Attribute{
				"repo":   resource.StringAttribute{Optional: true, MarkdownDescription: "URL of the GitOps repo."},
				"branch": resource.StringAttribute{Optional: true, MarkdownDescription: "Branch of the repo."},
				"path": resource.StringAttribute{Optional: true,
					MarkdownDescription: "Path of the rendering in the repo. The default is the root."},
			},
		},
	})
	maps.Copy(attributes, followArguments(ctx, "the record on `gitops_repo`"))
	attributes["manifests"] = computedStrings("The Workload documents, for `manifests` of a " +
		"`kalypso_environment_rendering`: `repo@branch:path#name` → YAML. Each gets the workspace of its registration, " +
		"whatever its own labels claim.")
	attributes[sourcesAttribute] = sourcesOutput()
	attributes["commits"] = computedStrings("The commit at which each registration was read, by its name.")
	resp.Schema = schema.Schema{
		MarkdownDescription: "Reads the Workload documents behind workload registrations from the application teams' " +
			"repos. Terraform reads them at plan and keeps them in the plan, so apply renders the commits that plan showed. " +
			"Pass `sources` to the rendering too: a plan that changes something then shows from which commit to which each " +
			"repo moved, and a commit that changes no object causes no change.\n\nA repo is read once for all its " +
			"registrations. If the server can filter, only the files in their folders are transferred. Dot folders and " +
			"whatever a `.sourceignore` lists are skipped. Symbolic links and submodules are not followed. A file may have at " +
			"most 10 MiB, and all documents together 64 MiB. Between runs, Terraform keeps only the result of a data source, " +
			"which the provider can't see, so every run reads the documents again.\n\nTerraform defers reading a data source " +
			"until apply if an argument is unknown, or if resources that it refers to directly have pending changes. If " +
			"registrations are passed through `locals`, as in the example, the plan that adds one shows its deployment targets.",
		Attributes: attributes,
	}
}

// Configure stores the provider's configuration.
func (w *workloads) Configure(_ context.Context, req datasource.ConfigureRequest, resp *datasource.ConfigureResponse) {
	w.data = providerDataOf(req.ProviderData, &resp.Diagnostics)
}

// ValidateConfig reports errors in the known arguments.
func (w *workloads) ValidateConfig(
	ctx context.Context, req datasource.ValidateConfigRequest, resp *datasource.ValidateConfigResponse,
) {
	var ps problem.Problems
	d := decoder{arguments: getObject(ctx, req.Config, &resp.Diagnostics), problems: &ps}
	if repo, ok := d.object("gitops_repo"); ok {
		for _, name := range []string{"repo", "branch"} {
			if repo.string(name) == "" {
				repo.report("Missing "+name, "gitops_repo needs repo and branch.", problem.Attr(name))
			}
		}
	} else if d.string("on_error") == errorsLastGood {
		d.report(
			"Missing GitOps repo",
			`on_error = "last_good" needs gitops_repo: the branch with the record of the last delivery.`,
			problem.Attr("gitops_repo"),
		)
	}
	appendProblems(&resp.Diagnostics, ps)
}

// Read follows the registrations. Terraform calls it when all arguments are known.
func (w *workloads) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	arguments := getObject(ctx, req.Config, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	var ps problem.Problems
	d := decoder{arguments: arguments, problems: &ps}
	registrations := readRegistrations(d)
	follow := source.FollowOptions{Pins: readPins(d), AllowLocal: w.data.allowLocal}
	if repo, ok := d.object("gitops_repo"); ok && d.string("on_error") == errorsLastGood {
		at := source.GitOpsRepo{Repo: repo.string("repo"), Branch: repo.string("branch"), Path: repo.string("path")}
		follow.LastGood = func(ctx context.Context) ([]origin.Origin,
			error) {
			return deliveredOrigins(ctx, w.data.Client, at)
		}
	}
	appendProblems(&resp.Diagnostics, ps)
	if resp.Diagnostics.HasError() {
		return
	}
	limited, cancel := withinRead(ctx, arguments, &resp.Diagnostics)
	defer cancel()
	found := w.data.sources.Workloads(limited, registrations, follow)
	appendSourceProblems(&resp.Diagnostics, found.Problems)
	if resp.Diagnostics.HasError() {
		return
	}
	tflog.Info(ctx, "read workloads", map[string]any{"registrations": len(found.Commits), "workloads": len(found.Names)})
	arguments["manifests"] = stringMapOf(found.Manifests)
	arguments[sourcesAttribute] = stringMapOf(found.Sources)
	arguments["commits"] = stringMapOf(found.Commits)
	resp.Diagnostics.Append(setObject(ctx, &resp.State, arguments)...)
}

func readRegistrations(d decoder) []*fleet.WorkloadRegistration {
	v, _ := d.argument("registrations")
	set, _ := members(v)
	var all []*fleet.WorkloadRegistration
	for _, key := range slices.Sorted(maps.Keys(set)) {
		origin := problem.Origin{Attribute: "registrations", Key: key}
		if isNull(set[key]) {
			d.report("Null object", "This element is null. Give it a value, or remove it.", problem.Attr("registrations"),
				problem.Key(key))
			continue
		}
		o, ps := workloadRegistrationModel.object(origin, set[key])
		*d.problems = append(*d.problems, ps...)
		all = append(all, as[*fleet.WorkloadRegistration](o))
	}
	return all
}
