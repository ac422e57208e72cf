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

// BranchListSchema returns the schema of a list that searches branches.
func BranchListSchema(description, repo, advice string) schema.Schema {
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
				Validators: []validator.String{ValidRepoURL()},
			},
			"branches": schema.ListAttribute{
				Required: true, MarkdownDescription: globs, ElementType: types.StringType,
				Validators: []validator.List{listvalidator.ValueStringsAre(Valid("branch glob", gitbranch.CheckGlob))},
			},
		},
	}
}

// ListBranches returns the results that find adds. It fails if find does: if the repo can't be read.
func ListBranches(
	ctx context.Context, req list.ListRequest, data *configuration.Data,
	find func(ctx context.Context, repo string, globs []string, results *ListResults) error,
) func(func(list.ListResult) bool) {
	return ListStream(req, func(results *ListResults) {
		var diags diag.Diagnostics
		var ps problem.Problems
		d := tfvalue.Decoder{Arguments: tfvalue.GetObject(ctx, req.Config, &diags), Problems: &ps}
		repo, globs := d.String("repo"), d.Strings("branches")
		tfvalue.AppendProblems(&diags, ps)
		data.CheckKnown(
			"A list reads repos, and the provider's credentials are known after apply.", &diags)
		if !diags.HasError() {
			ctx, cancel := context.WithTimeout(ctx, SourceTimeout)
			defer cancel()
			if err := find(ctx, repo, globs, results); err != nil {
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
