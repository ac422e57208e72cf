package provider

import (
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting"
)

func commitStatusSchema(ctx context.Context) schema.Schema {
	var states, quoted []string
	for _, s := range hosting.StatusStates {
		states, quoted = append(states, string(s)), append(quoted, "`"+string(s)+"`")
	}
	times := timeouts.Attributes(ctx, timeouts.Opts{Create: true, Read: true, Update: true})
	return schema.Schema{
		MarkdownDescription: "The status of a commit on GitHub in one context, such as `kalypso/dev`. A promotion flow sets it, and branch " +
			"rules read it.\n\n" +
			"GitHub keeps every status that was set, and the last one of a context counts. So a change of the resource sets one more, and so does " +
			"an apply after somebody else has set another state, description or page for the context. **Destroying the resource leaves the commit's " +
			"status as it is:** a status can't be deleted. Of a commit and context GitHub takes " +
			"1,000 statuses.\n\n" +
			"The token or app needs the right to write commit statuses in the repo.",
		Attributes: map[string]schema.Attribute{
			"repo": schema.StringAttribute{
				Required:            true,
				MarkdownDescription: "URL of the repo, such as `https://github.com/acme/gitops`, or one of its SSH forms. The repo is on the server of the provider's `github.base_url`.",
				Validators: []validator.String{valid{"repo URL", func(s string) error {
					_, err := gitremote.ParseURL(s)
					return err
				}}},
			},
			"commit": schema.StringAttribute{
				Required:            true,
				MarkdownDescription: "Full hash of the commit.",
				Validators:          []validator.String{valid{"commit", hosting.CheckCommit}},
			},
			"context": schema.StringAttribute{
				Required: true,
				MarkdownDescription: fmt.Sprintf("The name of the status, which is unique on the commit. GitHub ignores its case. At most %d characters.",
					hosting.MaxStatusContext),
				Validators: []validator.String{stringvalidator.UTF8LengthBetween(1, hosting.MaxStatusContext)},
			},
			"state": schema.StringAttribute{
				Required:            true,
				MarkdownDescription: "The state of the commit. One of " + strings.Join(quoted, ", ") + ".",
				Validators:          []validator.String{stringvalidator.OneOf(states...)},
			},
			"description": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: fmt.Sprintf("A short text beside the state. At most %d characters.", hosting.MaxStatusDescription),
				Validators:          []validator.String{stringvalidator.UTF8LengthBetween(1, hosting.MaxStatusDescription)},
			},
			"target_url": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "URL of a page with the details, such as the pipeline's run.",
				Validators:          []validator.String{valid{"target URL", hosting.CheckTargetURL}},
			},
			"timeouts": times,
		},
	}
}

// valid makes a validator from a check of the domain.
type valid struct {
	what  string
	check func(string) error
}

func (v valid) Description(context.Context) string         { return "value must be a valid " + v.what }
func (v valid) MarkdownDescription(context.Context) string { return "value must be a valid " + v.what }

func (v valid) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	if err := v.check(req.ConfigValue.ValueString()); err != nil {
		resp.Diagnostics.AddAttributeError(req.Path, "Invalid "+v.what, fleet.Sentence(err))
	}
}
