package promotion

import (
	"context"
	"maps"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/datasource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
)

func promotionSchema(ctx context.Context) schema.Schema {
	attributes := schemas.DataSourceArguments(schemas.PromotionArguments())
	maps.Copy(attributes, schemas.PromotionComputed())
	attributes["timeouts"] = timeouts.AttributesWithOpts(ctx, timeouts.Opts{
		ReadDescription: "How long reading may take, as a [duration](https://pkg.go.dev/time#ParseDuration) such as `30s` " +
			"or `10m`. The default is `5m`.",
	})
	return schema.Schema{
		MarkdownDescription: "Chooses the commit of a control plane that an environment renders: the newest commit after " +
			"the current one whose gates are open. A gate never raises an error. While it is closed, the " +
			"environment keeps its " +
			"commit, and its own changes go out. Every run looks once and waits for nothing.\n\nThe gates are commit statuses " +
			"on the commits of the control plane, as Kalypso's workflows and `kalypso_commit_status` set them, or states of " +
			"environments that you pass. An unclear state never promotes a commit; `waiting` and `summary` contain the " +
			"reason. The guide *From dev to prod* has a whole chain.\n\nAnyone who may write commit statuses in the control " +
			"plane's repo can open a gate. Set `by` to accept only one app or user.",
		Attributes: attributes,
	}
}
