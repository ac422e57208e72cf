package source

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/source"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/configuration"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/model"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/resources"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// NewControlPlane returns the data source kalypso_control_plane.
func NewControlPlane() datasource.DataSource {
	return resources.NewDataSource(resources.DataSource[source.ControlPlaneRequest]{
		Name: "control_plane", Description: controlPlaneDescription, Arguments: controlPlaneArguments,
		Computed: controlPlaneComputed, Timeout: schemas.FollowTimeout,
		Request: controlPlaneRequest, Read: readControlPlane,
	})
}

func checkControlPlane(d tfvalue.Decoder, request source.ControlPlaneRequest) {
	repo, branch, commit, directory := d.String("repo"), d.String("branch"), d.String("commit"), d.String("directory")
	switch {
	case repo == "" && directory == "":
		d.Report(
			"Missing control plane",
			"Neither repo nor directory is set. Set repo for a control plane in Git, with branch or commit, or directory for "+
				"a folder.",
		)
	case repo != "" && directory != "" && !configuration.AnyUnknown(repo, directory):
		d.Report("Two control planes", "Both repo and directory are set. Remove one of them.", problem.Attr("directory"))
	case repo != "" && branch == "" && commit == "":
		d.Report("Missing branch", "Set branch, to read its head, or commit.", problem.Attr("branch"))
	}
	if directory != "" && repo == "" {
		for _, name := range []string{"branch", "commit", "path"} {
			if value := d.String(name); value != "" && !unknown.Is(value) {
				d.Report("Conflicting arguments",
					name+" is for a control plane in Git, but directory is a folder. Remove one of them.", problem.Attr(name))
			}
		}
	}
	if base := d.String("base_directory"); base != "" && repo != "" && !configuration.AnyUnknown(base, repo) {
		d.Report("Conflicting arguments", "base_directory needs directory. In Git, the BaseRepo names the base.",
			problem.Attr("base_directory"))
	}
	if schemas.Promotes(d) {
		checkPromotedBase(d)
	}
	if request.Follow.Verify != nil && directory != "" && !unknown.Is(directory) {
		d.Report("Conflicting arguments",
			"verify checks the signatures of commits, but directory is read without its commits. Remove one of "+
				"them.", problem.Attr("verify"))
	}
	d.Check("repo", "Invalid repo URL", schemas.CheckRepoURL)
	d.Check("branch", "Invalid branch name", gitbranch.CheckName)
	d.Check("path", "Invalid path", source.CheckPath)
}

// checkPromotedBase checks the arguments about the base of a control plane whose commit the promotion chooses.
func checkPromotedBase(d tfvalue.Decoder) {
	if follow, known := d.Bool("follow_base_repo"); known && !follow && !tfvalue.IsNull(d.Arguments["follow_base_repo"]) {
		d.Report("Promotion without a base",
			"promotion chooses the commit of the base, but follow_base_repo = false leaves the base out. Remove one of them.",
			problem.Attr("promotion"))
	}
	if base := d.String("base_directory"); base != "" && !unknown.Is(base) && !d.IsUnknown("promotion") {
		d.Report("Promotion without a base",
			"promotion chooses the commit of the base, but base_directory reads a folder instead. Remove one of them.",
			problem.Attr("promotion"))
	}
}

func readControlPlane(
	ctx context.Context, r resources.Reading, request source.ControlPlaneRequest,
) tfvalue.Values {
	found := r.Data.Sources.ControlPlane(ctx, request)
	schemas.AppendSourceProblems(r.Diags, found.Problems)
	if r.Diags.HasError() {
		return nil
	}
	tflog.Info(ctx, "read a control plane", map[string]any{
		"commit": found.Commit, "base_commit": found.BaseCommit, "objects": len(found.Manifests), "skipped": found.Skipped,
		"registrations": len(found.WorkloadCommits),
	})
	results := controlPlaneValues(found)
	if schemas.Promotes(r.Decoder) && request.Promotion.Commit == "" {
		// Nothing is promoted yet. Terraform accepts the prior value of an argument only if the configured value is not null.
		results["manifests"], results[schemas.SourcesAttribute] = map[string]string{}, map[string]string{}
		results["import_blocks"] = ""
	}
	return results
}

// controlPlaneRequest converts the arguments, and reports those that contradict each other.
func controlPlaneRequest(r resources.Reading) source.ControlPlaneRequest {
	d := r.Decoder
	request := source.ControlPlaneRequest{
		Location: source.Location{
			Repo: d.String("repo"), Branch: d.String("branch"), Commit: d.String("commit"), Path: d.String("path"),
			Directory: d.String("directory"),
		},
		BaseDirectory:       d.String("base_directory"),
		FollowBase:          d.UnlessFalse("follow_base_repo"),
		FollowRegistrations: d.UnlessFalse("follow_registrations"),
		Follow:              followOptions(r),
	}
	checkControlPlane(d, request)
	if p := schemas.ReadPromotion(d); p != nil {
		request.Promotion = *p
		if p.Commit == "" { // only the environment's own branch determines the destination of the tree
			request.FollowBase, request.FollowRegistrations = false, false
		}
	}
	return request
}

// controlPlaneValues returns the computed attributes.
func controlPlaneValues(found *source.ControlPlane) tfvalue.Values {
	names := map[string][]string{}
	for _, m := range model.All {
		names[string(m.Kind)] = found.Names[m.Kind]
	}
	all := tfvalue.Values{
		"manifests": found.Manifests, schemas.SourcesAttribute: map[string]string(found.Sources),
		schemas.VerifiedAttribute: schemas.VerifiedValue(found.Verified), "commit": tfvalue.OrNil(found.Commit),
		"base_commit": tfvalue.OrNil(found.BaseCommit), "workload_commits": found.WorkloadCommits,
		"names": names, "skipped": found.Skipped, "import_blocks": model.ImportBlocks(found),
	}
	if at := found.GitOpsRepo; at != nil {
		all["gitops_repo"] = tfvalue.Values{"repo": at.Repo, "branch": at.Branch, "path": at.Path}
	}
	return all
}
