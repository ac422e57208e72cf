package provider

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting"
)

// How often, and for how long, a gate looks where nobody says.
const (
	defaultPollInterval = 15 * time.Second
	defaultGateTime     = time.Hour
)

func deploymentGateSchema(ctx context.Context) schema.Schema {
	attributes := deploymentArguments()
	attributes["tree_hash"] = schema.StringAttribute{
		Optional:            true,
		MarkdownDescription: "The tree that has to be on the branch: `tree_hash` of the rendering. This or `commit` is required.",
		Validators:          []validator.String{valid{"tree hash", hosting.CheckCommit}},
	}
	attributes["commit"] = schema.StringAttribute{
		Optional: true,
		MarkdownDescription: "The commit that has to be on the branch: `commit_sha` of the rendering. Null, as before its pull request is merged, is an error " +
			"without `tree_hash`.",
		Validators: []validator.String{valid{"commit", hosting.CheckCommit}},
	}
	attributes["poll_interval"] = schema.StringAttribute{
		Optional:            true,
		MarkdownDescription: fmt.Sprintf("How long to wait between two looks. The default is `%s`.", defaultPollInterval),
		Validators:          []validator.String{valid{"duration", checkDuration}},
	}
	attributes["timeouts"] = timeouts.Attributes(ctx, timeouts.Opts{
		Create: true, Update: true,
		CreateDescription: "How long to wait. The default is `1h`.", UpdateDescription: "How long to wait. The default is `1h`.",
	})
	for name, description := range map[string]string{
		"head":        "The commit at the branch's head when the wait ended.",
		"summary":     "The state then, in a line.",
		"observed_at": "When the wait ended.",
	} {
		attributes[name] = schema.StringAttribute{Computed: true, MarkdownDescription: description}
	}
	return schema.Schema{
		MarkdownDescription: "Waits until the clusters run a rendering: for those who want an apply that ends when it runs, and not when it is committed. " +
			"It takes the arguments of `kalypso_deployment_state` and looks until the verdict is `success`. A `failure`, or the end of the time, is an " +
			"error that lists the problems; the next apply waits again.\n\n" +
			"A refresh contacts nothing, and a destroy forgets. Put the gate into a root module of its own, with the status that is written when it " +
			"passes: while it waits it holds the lock of its state, and no hotfix should have to wait for that.",
		Attributes: attributes,
	}
}
