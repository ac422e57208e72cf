package provider

import (
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

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
				Optional:            true,
				MarkdownDescription: "Full hash of the commit. Required without `deployment`.",
				Validators:          []validator.String{valid{"commit", hosting.CheckCommit}},
			},
			"context": schema.StringAttribute{
				Required: true,
				MarkdownDescription: fmt.Sprintf("The name of the status, which is unique on the commit. GitHub ignores its case. At most %d characters.",
					hosting.MaxStatusContext),
				Validators: []validator.String{stringvalidator.UTF8LengthBetween(1, hosting.MaxStatusContext)},
			},
			"state": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "The state of the commit. One of " + strings.Join(quoted, ", ") + ". Required without `deployment`.",
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
			"deployment": schema.SingleNestedAttribute{
				Optional: true,
				MarkdownDescription: "A `kalypso_deployment_state` as a whole, in place of `commit`, `state` and `description`: its verdict is said of the commit that " +
					"it was found for, its `promoted_commit`. Another verdict, or another commit, is another status; other counts alone are none. Without a " +
					"promoted commit nothing is said.",
				Attributes: map[string]schema.Attribute{
					"promoted_commit": schema.StringAttribute{Optional: true, MarkdownDescription: "The commit."},
					"verdict":         schema.StringAttribute{Optional: true, MarkdownDescription: "The state."},
					"summary":         schema.StringAttribute{Optional: true, MarkdownDescription: "The description, as much as fits."},
				},
			},
			"renew_after": schema.StringAttribute{
				Optional: true,
				MarkdownDescription: "Set the status anew where the last one, as a refresh read it, is older than this, such as `1h`: whoever asks for a fresh status " +
					"sees that somebody still looks. GitHub allows 1,000 statuses per commit and context.",
				Validators: []validator.String{valid{"duration", checkDuration}},
			},
			"set_at": schema.StringAttribute{
				Computed:            true,
				MarkdownDescription: "When GitHub took the last status, by its clock. Null where nothing was said.",
			},
			"timeouts": times,
		},
	}
}

// deploymentTypes are the attributes of the argument deployment.
var deploymentTypes = map[string]attr.Type{"promoted_commit": types.StringType, "verdict": types.StringType, "summary": types.StringType}

// valid makes a validator of a check of the domain.
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
