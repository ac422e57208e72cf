package schemas

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework-validators/listvalidator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/list/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	gitbranch "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/branch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/configuration"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// BranchList lists the resources that Find finds on the branches of a repo. Find adds them to the results. It fails if
// the repo can't be read.
type BranchList struct {
	*Resource
	Description string
	Repo        string // describes the repo
	Advice      string // about the globs; may be empty
	Find        func(
		ctx context.Context, data *configuration.Data, repo string, globs []string, results *ListResults,
	) error
}

var _ list.ListResourceWithConfigure = (*BranchList)(nil)

// ListResourceConfigSchema implements list.ListResource.
func (l *BranchList) ListResourceConfigSchema(
	_ context.Context, _ list.ListResourceSchemaRequest, resp *list.ListResourceSchemaResponse,
) {
	globs := "Globs for the branches to search, as `git branch --list` takes them: `*` stands for any characters, also " +
		"slashes, `?` for one, `[ab]` for one of these. A glob that matches no branch is a warning."
	if l.Advice != "" {
		globs += " " + l.Advice
	}
	resp.Schema = schema.Schema{
		MarkdownDescription: l.Description,
		Attributes: map[string]schema.Attribute{
			"repo": schema.StringAttribute{
				Required: true, MarkdownDescription: l.Repo,
				Validators: []validator.String{ValidRepoURL()},
			},
			"branches": schema.ListAttribute{
				Required: true, MarkdownDescription: globs, ElementType: types.StringType,
				Validators: []validator.List{listvalidator.ValueStringsAre(Valid("branch glob", gitbranch.CheckGlob))},
			},
		},
	}
}

// List implements list.ListResource.
func (l *BranchList) List(ctx context.Context, req list.ListRequest, stream *list.ListResultsStream) {
	stream.Results = ListStream(req, func(results *ListResults) {
		var diags diag.Diagnostics
		var ps problem.Problems
		d := tfvalue.Decoder{Arguments: tfvalue.GetObject(ctx, req.Config, &diags), Problems: &ps}
		repo, globs := d.String("repo"), d.Strings("branches")
		tfvalue.AppendProblems(&diags, ps)
		l.Data.CheckKnown(
			"A list reads repos, and the provider's credentials are known after apply.", &diags)
		if !diags.HasError() {
			ctx, cancel := context.WithTimeout(ctx, SourceTimeout)
			defer cancel()
			if err := l.Find(ctx, l.Data, repo, globs, results); err != nil {
				configuration.AppendDeliveryError(&diags, record.Destination{Repo: repo}, err)
			}
		}
		results.Fail(diags)
	})
}

// WarnOfBranch warns that a branch does not exist. Any other error is reported by report, and becomes a warning.
func (l *ListResults) WarnOfBranch(repo, branch string, err error, report func(*diag.Diagnostics)) bool {
	var diags diag.Diagnostics
	if errors.Is(err, gitbranch.ErrBranchNotFound) {
		diags.AddAttributeWarning(path.Root("branches"), "Branch not found",
			fmt.Sprintf("The repo %s has no branch that matches %q. Check its spelling.", repo, branch))
	} else {
		report(&diags)
	}
	return l.Warn(diags)
}
