package provider

import (
	"context"
	"maps"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitops"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/origin"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/repourl"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/source"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/unknown"
)

var (
	_ datasource.DataSourceWithConfigure      = (*controlPlane)(nil)
	_ datasource.DataSourceWithValidateConfig = (*controlPlane)(nil)
)

// controlPlane reads a control plane in Kalypso YAML, from Git or a folder.
type controlPlane struct{ data *providerData }

// newControlPlane returns the data source kalypso_control_plane.
func newControlPlane() datasource.DataSource { return &controlPlane{} }

func (c *controlPlane) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_control_plane"
}

func (c *controlPlane) Schema(ctx context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = controlPlaneSchema(ctx)
}

// Configure stores the provider's configuration.
func (c *controlPlane) Configure(
	_ context.Context, req datasource.ConfigureRequest, resp *datasource.ConfigureResponse,
) {
	c.data = providerDataOf(req.ProviderData, &resp.Diagnostics)
}

// ValidateConfig reports contradictory arguments and invalid values among the known arguments.
func (c *controlPlane) ValidateConfig(
	ctx context.Context, req datasource.ValidateConfigRequest, resp *datasource.ValidateConfigResponse,
) {
	var ps problem.Problems
	d := decoder{arguments: getObject(ctx, req.Config, &resp.Diagnostics), problems: &ps}
	checkControlPlane(d)
	appendProblems(&resp.Diagnostics, ps)
}

func checkControlPlane(d decoder) {
	repo, branch, commit, directory := d.string("repo"), d.string("branch"), d.string("commit"), d.string("directory")
	switch {
	case repo == "" && directory == "":
		d.report("Missing control plane",
			"Neither repo nor directory is set. Set repo for a control plane in Git, with branch or commit, or directory for "+
				"a folder.")
	case repo != "" && directory != "" && !anyUnknown(repo, directory):
		d.report("Two control planes", "Both repo and directory are set. Remove one of them.", problem.Attr("directory"))
	case repo != "" && branch == "" && commit == "":
		d.report("Missing branch", "Set branch, whose head is read, or commit.", problem.Attr("branch"))
	}
	if directory != "" && repo == "" {
		for _, name := range []string{"branch", "commit", "path"} {
			if value := d.string(name); value != "" && !unknown.Is(value) {
				d.report("Conflicting arguments",
					name+" is for a control plane in Git, but directory is a folder. Remove one of them.", problem.Attr(name))
			}
		}
	}
	if base := d.string("base_directory"); base != "" && repo != "" && !anyUnknown(base, repo) {
		d.report("Conflicting arguments", "base_directory needs directory. In Git, the BaseRepo names the base.",
			problem.Attr("base_directory"))
	}
	if promotes(d) {
		checkPromotedBase(d)
	}
	if repo != "" && !unknown.Is(repo) {
		if _, err := repourl.Parse(repo); err != nil {
			d.report("Invalid repo URL", problem.Sentence(err), problem.Attr("repo"))
		}
	}
	if branch != "" && !unknown.Is(branch) {
		if err := gitops.CheckName(branch); err != nil {
			d.report("Invalid branch name", problem.Sentence(err), problem.Attr("branch"))
		}
	}
}

// checkPromotedBase checks the arguments about the base of a control plane whose commit the promotion chooses.
func checkPromotedBase(d decoder) {
	if follow, known := d.bool("follow_base_repo"); known && !follow && !isNull(d.arguments["follow_base_repo"]) {
		d.report("Promotion without a base",
			"promotion chooses the commit of the base, and follow_base_repo = false leaves the base out. Remove one of them.",
			problem.Attr("promotion"))
	}
	if base := d.string("base_directory"); base != "" {
		d.report("Promotion without a base",
			"promotion chooses the commit of the base, and base_directory reads a folder instead. Remove one of them.",
			problem.Attr("promotion"))
	}
}

// Read reads the control plane. Terraform calls it when all arguments are known.
func (c *controlPlane) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	arguments := getObject(ctx, req.Config, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	var ps problem.Problems
	d := decoder{arguments: arguments, problems: &ps}
	request := c.request(d)
	appendProblems(&resp.Diagnostics, ps)
	if resp.Diagnostics.HasError() {
		return
	}
	limited, cancel := withinRead(ctx, arguments, &resp.Diagnostics)
	defer cancel()
	found := c.data.sources.ControlPlane(limited, request)
	appendSourceProblems(&resp.Diagnostics, found.Problems)
	if resp.Diagnostics.HasError() {
		return
	}
	tflog.Info(ctx, "read a control plane", map[string]any{
		"commit": found.Commit, "base_commit": found.BaseCommit, "objects": len(found.Manifests), "skipped": found.Skipped,
		"registrations": len(found.WorkloadCommits),
	})
	results := controlPlaneValues(found)
	if promotes(d) && request.Promotion.Commit == "" {
		// Nothing is promoted yet. Terraform takes the prior value of an argument only where the configured one is not null.
		results["manifests"], results[sourcesAttribute] = stringMapOf(nil), stringMapOf(nil)
		results["import_blocks"] = types.StringValue("")
	}
	maps.Copy(arguments, results)
	resp.Diagnostics.Append(setObject(ctx, &resp.State, arguments)...)
}

func (c *controlPlane) request(d decoder) source.ControlPlaneRequest {
	request := source.ControlPlaneRequest{
		Location: source.Location{
			Repo: d.string("repo"), Branch: d.string("branch"), Commit: d.string("commit"), Path: d.string("path"),
			Directory: d.string("directory"),
		},
		BaseDirectory:       d.string("base_directory"),
		FollowBase:          unlessFalse(d, "follow_base_repo"),
		FollowRegistrations: unlessFalse(d, "follow_registrations"),
		Pins:                readPins(d),
		AllowLocal:          c.data.allowLocal,
	}
	if p := readPromotion(d); p != nil {
		request.Promotion = *p
		if p.Commit == "" { // the environment's branch alone says where the tree goes
			request.FollowBase, request.FollowRegistrations = false, false
		}
	}
	if d.string("on_error") == errorsLastGood {
		request.LastGood = func(ctx context.Context, at source.GitOpsRepo) ([]origin.Origin, error) {
			return deliveredOrigins(ctx, c.data.Client, at)
		}
	}
	return request
}

// unlessFalse returns a bool whose default is true.
func unlessFalse(d decoder, name string) bool {
	value, _ := d.bool(name)
	return value || isNull(d.arguments[name])
}

// controlPlaneValues returns the computed attributes.
func controlPlaneValues(found *source.ControlPlane) map[string]attr.Value {
	names := map[string]attr.Value{}
	for _, m := range models {
		names[string(m.kind)] = stringListOf(found.Names[m.kind])
	}
	gitopsRepo := types.ObjectNull(gitopsRepoTypes)
	if at := found.GitOpsRepo; at != nil {
		gitopsRepo = types.ObjectValueMust(gitopsRepoTypes, map[string]attr.Value{
			"repo": types.StringValue(at.Repo), "branch": types.StringValue(at.Branch), "path": types.StringValue(at.Path),
		})
	}
	return map[string]attr.Value{
		"manifests":        stringMapOf(found.Manifests),
		sourcesAttribute:   stringMapOf(found.Sources),
		"commit":           nullable(found.Commit),
		"base_commit":      nullable(found.BaseCommit),
		"workload_commits": stringMapOf(found.WorkloadCommits),
		"gitops_repo":      gitopsRepo,
		"names":            types.MapValueMust(listOfStrings, names),
		"skipped":          types.Int64Value(int64(found.Skipped)),
		"import_blocks":    types.StringValue(importBlocks(found)),
	}
}
