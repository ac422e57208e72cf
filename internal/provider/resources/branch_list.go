package resources

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework-validators/listvalidator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/configuration"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
)

// BranchList defines a list of the resources on the branches of a repo.
type BranchList struct {
	Name, Description string
	Repo              string // describes the repo
	Advice            string // about the globs; may be empty
	// Find adds the resources to the results. It fails if the repo can't be read.
	Find func(
		ctx context.Context, data *configuration.Data, repo string, globs []string, results *ListResults,
	) error
}

// NewBranchList returns a list.
func NewBranchList(of BranchList) list.ListResource {
	globs := "Globs for the branches to search, as `git branch --list` takes them: `*` stands for any characters, also " +
		"slashes, `?` for one, `[ab]` for one of these. A glob that matches no branch is a warning."
	if of.Advice != "" {
		globs += " " + of.Advice
	}
	return NewList(List{Name: of.Name, Description: of.Description, Arguments: map[string]schema.Attribute{
		"repo": schemas.RequiredString(of.Repo, schemas.ValidRepoURL()),
		"branches": schema.ListAttribute{
			Required: true, MarkdownDescription: globs, ElementType: types.StringType,
			Validators: []validator.List{listvalidator.ValueStringsAre(schemas.Valid("branch glob", gitbranch.CheckGlob))},
		},
	}, Find: func(ctx context.Context, r Reading, results *ListResults) {
		repo, globs := r.String("repo"), r.Strings("branches")
		if r.Invalid() {
			return
		}
		if err := of.Find(ctx, r.Data, repo, globs, results); err != nil {
			configuration.AppendDeliveryError(r.Diags, destination.Destination{Repo: repo}, err)
		}
	}})
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
