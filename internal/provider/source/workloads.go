package source

import (
	"context"
	"maps"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/origin"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/source"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/model"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/resources"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// NewWorkloads returns the data source kalypso_workloads, which reads the Workload documents behind registrations.
func NewWorkloads() datasource.DataSource {
	return resources.NewDataSource(resources.DataSource[source.FollowOptions]{
		Name: "workloads", Description: workloadsDescription, Arguments: workloadsArguments, Computed: workloadsComputed,
		Timeout: schemas.FollowTimeout, Request: workloadsRequest, Read: readWorkloads,
	})
}

const workloadsDescription = "Reads the Workload documents behind workload registrations from the application teams' " +
	"repos. Terraform reads them at plan and keeps them in the plan, so apply renders the commits that plan showed. " +
	"Pass `sources` to the rendering too: a plan that changes something then shows the old and the new commit of " +
	"each repo, and a commit that changes no object causes no change.\n\nA repo is read once for all its " +
	"registrations. If the server can filter, only the files in their folders are transferred. Dot folders and files " +
	"that a `.sourceignore` lists are skipped. Symbolic links and submodules are not followed. A file may have at " +
	"most 10 MiB, and all documents together 64 MiB. " + folderLimits + " Every run reads the documents again, because " +
	"a data source has no access to the result of the previous run.\n\nTerraform defers reading a data source until " +
	"apply if an argument is unknown, or if resources that it refers to directly have pending changes. If registrations " +
	"are passed through `locals`, as in the example, the plan that adds one shows its deployment targets."

func workloadsArguments() map[string]schema.Attribute {
	attributes := map[string]schema.Attribute{
		"registrations": schema.MapNestedAttribute{
			Required: true,
			MarkdownDescription: "The registrations: a `kalypso_workload_registration` with `for_each`, a map of several " +
				"resources, or objects written inline.",
			NestedObject: schema.NestedAttributeObject{
				Attributes: model.Optional(model.WorkloadRegistrationModel.Attributes()),
			},
		},
		"gitops_repo": schemas.OptionalObject(
			"Destination of the rendering that gets these manifests, as in its `gitops_repo`. `on_error "+
				"= \"last_good\"` reads its record there.",
			map[string]schema.Attribute{
				"repo":   schemas.OptionalString("URL of the GitOps repo."),
				"branch": schemas.OptionalString("Branch of the repo."),
				"path":   schemas.OptionalString("Path of the rendering in the repo. The default is the root."),
			},
		),
	}
	maps.Copy(attributes, schemas.FollowArguments("the record on `gitops_repo`",
		"The keys that must have signed the commits that are read. A registration whose commit none of them signed is "+
			"broken."))
	return attributes
}

func workloadsComputed() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"manifests": schemas.ComputedStrings("The Workload documents, for `manifests` of a " +
			"`kalypso_environment_rendering`: `repo@branch:path#name` → YAML. Each gets the workspace of its registration, " +
			"regardless of its own labels."),
		schemas.SourcesAttribute: schemas.SourcesOutput(),
		"commits":                schemas.ComputedStrings("The commit at which each registration was read, by its name."),
	}
}

// workloadsRequest reads how registrations are followed. It reports missing arguments.
func workloadsRequest(r resources.Reading) source.FollowOptions {
	d, follow := r.Decoder, followOptions(r)
	repo, located := d.Object("gitops_repo")
	switch {
	case located:
		follow.GitOpsRepo = &source.GitOpsRepo{
			Repo: repo.String("repo"), Branch: repo.String("branch"), Path: repo.String("path"),
		}
		for _, name := range []string{"repo", "branch"} {
			if repo.String(name) == "" {
				repo.Report("Missing "+name, "gitops_repo needs repo and branch.", problem.Attr(name))
			}
		}
		repo.Check("repo", "Invalid repo URL", schemas.CheckRepoURL)
		repo.Check("branch", "Invalid branch name", gitbranch.CheckName)
		repo.Check("path", "Invalid path", destination.CheckPath)
	case follow.Verify != nil && follow.Verify.History:
		d.Report("Missing GitOps repo",
			`mode = "history" needs gitops_repo: the branch with the record of the last delivery.`, problem.Attr("gitops_repo"))
	case follow.LastGood != nil:
		d.Report(
			"Missing GitOps repo",
			`on_error = "last_good" needs gitops_repo: the branch with the record of the last delivery.`,
			problem.Attr("gitops_repo"),
		)
	}
	if !located {
		follow.Delivered, follow.LastGood = nil, nil
	}
	return follow
}

func readWorkloads(ctx context.Context, r resources.Reading, follow source.FollowOptions) tfvalue.Values {
	registrations := readRegistrations(r.Decoder)
	if r.Invalid() {
		return nil
	}
	found := r.Data.Sources.Workloads(ctx, registrations, follow)
	schemas.AppendSourceProblems(r.Diags, found.Problems)
	if r.Diags.HasError() {
		return nil
	}
	tflog.Info(ctx, "read workloads", map[string]any{
		"registrations": len(found.WorkloadCommits), "workloads": len(found.Manifests),
	})
	return tfvalue.Values{
		"manifests": found.Manifests, schemas.SourcesAttribute: map[string]string(found.Sources),
		schemas.VerifiedAttribute: schemas.VerifiedValue(found.Verified), "commits": found.WorkloadCommits,
	}
}

// followOptions reads how registrations are followed, for a control plane and for Workloads alone.
func followOptions(r resources.Reading) source.FollowOptions {
	f := source.FollowOptions{
		Pins: schemas.ReadPins(r.Decoder), Verify: schemas.ReadVerification(r.Decoder, r.Now),
		AllowLocal: r.Data != nil && r.Data.AllowLocal,
		Delivered: func(ctx context.Context, at *source.GitOpsRepo) ([]origin.Origin, error) {
			return schemas.LastOrigins(ctx, r.Data.Client, at)
		},
	}
	if r.String("on_error") == schemas.ErrorsLastGood {
		f.LastGood = func(ctx context.Context, at *source.GitOpsRepo) ([]origin.Origin, error) {
			return schemas.DeliveredOrigins(ctx, r.Data.Client, at)
		}
	}
	return f
}

func readRegistrations(d tfvalue.Decoder) []*fleet.WorkloadRegistration {
	set, _ := d.Arguments["registrations"].(types.Map)
	all, ps := model.WorkloadRegistrationModel.Objects("registrations", set)
	*d.Problems = append(*d.Problems, ps...)
	return lists.Map(all, model.As[*fleet.WorkloadRegistration])
}
