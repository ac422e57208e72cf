package promotion

import (
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
)

// The defaults of poll_interval and timeouts.
const (
	defaultPollInterval = 15 * time.Second
	defaultGateTimeout  = time.Hour
)

func deploymentGateSchema() schema.Schema {
	attributes := schemas.ObservedArguments()
	attributes["tree_hash"] = schemas.OptionalString(
		"The tree that the branch must contain: `tree_hash` of the rendering. This or `commit` is required.",
		schemas.Valid("tree hash", githost.CheckCommit))
	attributes["commit"] = schemas.OptionalString(
		"The commit that the branch must contain: `commit_sha` of the rendering, which is null until "+
			"its pull request is merged. Null is an error without `tree_hash`.",
		schemas.Valid("commit", githost.CheckCommit))
	attributes["poll_interval"] = schemas.OptionalDuration(
		fmt.Sprintf("How long to wait between two checks. The default is `%s`.", defaultPollInterval))
	attributes["timeouts"] = schemas.Timeouts(timeouts.Opts{
		Create:            true,
		Update:            true,
		CreateDescription: "How long to wait. The default is `1h`.",
		UpdateDescription: "How long to wait. The default is `1h`.",
	})
	attributes["head"] = schemas.ComputedText("The commit at the branch's head at that time.")
	attributes["summary"] = schemas.ComputedText("The state at that time, in one line.")
	attributes["observed_at"] = schemas.ComputedText("When the wait ended.")
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
