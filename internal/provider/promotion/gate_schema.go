package promotion

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
)

// The defaults of poll_interval and timeouts.
const (
	defaultPollInterval = 15 * time.Second
	defaultGateTimeout  = time.Hour
)

func deploymentGateSchema(ctx context.Context) schema.Schema {
	attributes := schemas.ObservedArguments()
	attributes["tree_hash"] = schema.StringAttribute{
		Optional: true,
		MarkdownDescription: "The tree that the branch must contain: `tree_hash` of the rendering. This or `commit` is " +
			"required.",
		Validators: []validator.String{schemas.Valid("tree hash", githost.CheckCommit)},
	}
	attributes["commit"] = schema.StringAttribute{
		Optional: true,
		MarkdownDescription: "The commit that the branch must contain: `commit_sha` of the rendering, which is null until " +
			"its pull request is merged. Null is an error without `tree_hash`.",
		Validators: []validator.String{schemas.Valid("commit", githost.CheckCommit)},
	}
	attributes["poll_interval"] = schemas.OptionalDuration(
		fmt.Sprintf("How long to wait between two checks. The default is `%s`.", defaultPollInterval))
	attributes["timeouts"] = timeouts.Attributes(ctx, timeouts.Opts{
		Create:            true,
		Update:            true,
		CreateDescription: "How long to wait. The default is `1h`.",
		UpdateDescription: "How long to wait. The default is `1h`.",
	})
	for name, description := range map[string]string{
		"head":        "The commit at the branch's head at that time.",
		"summary":     "The state at that time, in one line.",
		"observed_at": "When the wait ended.",
	} {
		attributes[name] = schema.StringAttribute{Computed: true, MarkdownDescription: description}
	}
	return schema.Schema{
		MarkdownDescription: "Waits until the clusters run a rendering. So apply ends when the rendering runs, not when " +
			"it is committed. It takes the arguments of `kalypso_deployment_state` and checks until the verdict is " +
			"`success`. A `failure` or a timeout is an error that lists the problems; the next apply waits again.\n\nRefresh " +
			"contacts nothing, and destroy only removes the gate from state. Put the gate into its own root module, together " +
			"with the status that depends on it: a waiting gate keeps the state locked, and a hotfix should not have to wait " +
			"for the lock.",
		Attributes: attributes,
	}
}
