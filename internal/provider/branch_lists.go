package provider

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/list/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/baserepo"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/baserepo/document"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitops"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/repourl"
)

var (
	_ list.ListResourceWithConfigure = (*renderingList)(nil)
	_ list.ListResourceWithConfigure = (*baseRepoList)(nil)
)

// renderingList lists the renderings that the branches of a GitOps repo hold.
type renderingList struct{ environmentRendering }

func newRenderingList() list.ListResource { return &renderingList{} }

// ListResourceConfigSchema implements list.ListResource.
func (*renderingList) ListResourceConfigSchema(
	_ context.Context, _ list.ListResourceSchemaRequest, resp *list.ListResourceSchemaResponse,
) {
	resp.Schema = branchListSchema("Lists the renderings whose record `"+record.File+"` is on a branch of a GitOps repo, "+
		"in any folder, as resources that an import by identity takes over. A record that can't be read is a warning, and "+
		"the others are listed. A record has no objects, so a generated configuration needs its `manifests` or its "+
		"resources before it is applied.", "URL of the GitOps repo.",
		"A branch from which a pull request proposes a rendering has a record too: choose globs that leave it out.")
}

// List implements list.ListResource.
func (l *renderingList) List(ctx context.Context, req list.ListRequest, stream *list.ListResultsStream) {
	stream.Results = listBranches(ctx, req, l.data, func(
		ctx context.Context, repo string, globs []string, results *listResults,
	) error {
		return delivery.EachRendering(ctx, l.data.Client, repo, globs,
			func(at record.Destination, found *delivery.Rendering, err error) bool {
				var unusable *record.Error
				switch {
				case errors.As(err, &unusable):
					return results.warn(diag.Diagnostics{diag.NewWarningDiagnostic("Record can't be used",
						printable.Text(fmt.Sprintf("At %s: %s", at, problem.Sentence(err))))})
				case err != nil:
					return results.warnOfBranch(at.Repo, at.Branch, err, func(diags *diag.Diagnostics) {
						appendDeliveryError(diags, at, err)
					})
				}
				name, identity := found.Environment, map[string]string{
					"environment": found.Environment, "repo": at.Repo, "branch": at.Branch, "path": "",
				}
				if at.Path != "." {
					identity["path"] = at.Path
					name += " in " + at.Path
				}
				return results.add(ctx, printable.Text(name), identity, func(resource *tfsdk.Resource, diags *diag.Diagnostics) {
					state, err := found.State()
					if err != nil {
						appendDeliveryError(diags, at, err)
						return
					}
					setImported(ctx, resource, state, diags)
				})
			})
	})
}

// baseRepoList lists the BaseRepos on the branches of a control plane.
type baseRepoList struct{ baseRepo }

func newBaseRepoList() list.ListResource { return &baseRepoList{} }

// ListResourceConfigSchema implements list.ListResource.
func (*baseRepoList) ListResourceConfigSchema(
	_ context.Context, _ list.ListResourceSchemaRequest, resp *list.ListResourceSchemaResponse,
) {
	resp.Schema = branchListSchema("Lists the branches of a control plane that have a `"+document.File+"`, as resources "+
		"that an import by identity takes over. A file that can't be read is a warning, and the others are listed. Replace "+
		"`promotion` of a generated configuration by a `kalypso_promotion`.", "URL of the control plane's repo.", "")
}

// List implements list.ListResource.
func (l *baseRepoList) List(ctx context.Context, req list.ListRequest, stream *list.ListResultsStream) {
	stream.Results = listBranches(ctx, req, l.data, func(
		ctx context.Context, repo string, globs []string, results *listResults,
	) error {
		return l.remote().Each(ctx, repo, globs, func(at baserepo.Branch, found *baserepo.State, err error) bool {
			if err != nil {
				return results.warnOfBranch(at.Repo, at.Branch, err, func(diags *diag.Diagnostics) {
					appendBaseRepoError(diags, at, err)
				})
			}
			identity := map[string]string{"repo": at.Repo, "branch": at.Branch}
			return results.add(ctx, at.Branch, identity, func(resource *tfsdk.Resource, diags *diag.Diagnostics) {
				setImportedBaseRepo(ctx, resource, found, diags)
			})
		})
	})
}

// branchListSchema returns the schema of a list that searches branches.
func branchListSchema(description, repo, advice string) schema.Schema {
	globs := "Globs for the branches to search, as `git branch --list` takes them: `*` stands for any characters, also " +
		"slashes, `?` for one, `[ab]` for one of these. A glob that matches no branch is a warning."
	if advice != "" {
		globs += " " + advice
	}
	return schema.Schema{
		MarkdownDescription: description,
		Attributes: map[string]schema.Attribute{
			"repo": schema.StringAttribute{
				Required: true, MarkdownDescription: repo,
				Validators: []validator.String{valid{"repo URL", func(url string) error {
					_, err := repourl.Parse(url)
					return err
				}}},
			},
			"branches": schema.ListAttribute{
				Required: true, MarkdownDescription: globs, ElementType: types.StringType,
				Validators: []validator.List{eachValid{valid{"branch glob", gitops.CheckGlob}}},
			},
		},
	}
}

// eachValid validates the strings of a list.
type eachValid struct{ valid }

// ValidateList implements validator.List.
func (v eachValid) ValidateList(ctx context.Context, req validator.ListRequest, resp *validator.ListResponse) {
	for i, element := range req.ConfigValue.Elements() {
		text, _ := element.(types.String)
		checked := validator.StringResponse{}
		v.ValidateString(ctx, validator.StringRequest{Path: req.Path.AtListIndex(i), ConfigValue: text}, &checked)
		resp.Diagnostics.Append(checked.Diagnostics...)
	}
}

// listBranches returns the results that find adds. It fails if find does: if the repo can't be read.
func listBranches(
	ctx context.Context, req list.ListRequest, data *providerData,
	find func(ctx context.Context, repo string, globs []string, results *listResults) error,
) func(func(list.ListResult) bool) {
	return listStream(req, func(results *listResults) {
		var diags diag.Diagnostics
		var ps problem.Problems
		d := decoder{arguments: getObject(ctx, req.Config, &diags), problems: &ps}
		repo, globs := d.string("repo"), d.strings("branches")
		appendProblems(&diags, ps)
		data.checkListable(&diags)
		if !diags.HasError() {
			ctx, cancel := context.WithTimeout(ctx, sourceTimeout)
			defer cancel()
			if err := find(ctx, repo, globs, results); err != nil {
				appendDeliveryError(&diags, record.Destination{Repo: repo}, err)
			}
		}
		results.fail(diags)
	})
}

// warnOfBranch warns that a branch does not exist, or else of another error, which report reports.
func (l *listResults) warnOfBranch(repo, branch string, err error, report func(*diag.Diagnostics)) bool {
	var diags diag.Diagnostics
	if errors.Is(err, gitops.ErrBranchNotFound) {
		diags.AddAttributeWarning(path.Root("branches"), "Branch not found",
			fmt.Sprintf("The repo %s has no branch that matches %q. Check its spelling.", repo, branch))
	} else {
		report(&diags)
	}
	return l.warn(diags)
}
