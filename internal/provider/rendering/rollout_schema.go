package rendering

import (
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
)

// rolloutAttribute is the argument rollout.
func rolloutAttribute() schema.SingleNestedAttribute {
	return schemas.OptionalObject(
		"Changes the cluster types stage by stage, in waves: each apply commits the folders of the "+
			"next wave, and leaves the other folders as they are. Without `rollout`, one commit changes all folders.",
		map[string]schema.Attribute{
			"stages": schemas.OptionalObjects(
				"The stages, in order. A cluster type belongs to the first stage that selects it; it is an "+
					"error if no stage does. A stage without cluster types is skipped. Required.",
				map[string]schema.Attribute{
					"name": schemas.OptionalString("Name of the stage, for plans and commit messages. Required."),
					"cluster_type_selector": schemas.OptionalObject(
						"The cluster types of the stage. Required.",
						schemas.SelectorArguments("cluster types", nil),
					),
					"max_concurrency": schemas.OptionalString(
						"How many cluster types of the stage may be changed and not settled yet: a number, or a " +
							"percentage of the stage's cluster types, rounded up. The default is all of them.",
					),
					"soak": schemas.OptionalString(
						"How long the clusters of the stage run the change before the next stage begins, such as `30m`.",
					),
				},
			),
			"observed": schemas.ObservedAttribute("The state of the clusters: the whole object of a " +
				"`kalypso_deployment_state` with this `gitops_repo`. A new observation alone changes nothing: the plan keeps " +
				"the observation of the last change."),
			"on_failure": failures.Attribute("The reaction to a failed folder that the rollout changed. With `stop`, no " +
				"further wave follows. With `rollback`, the rollout's folders return to their trees from before the " +
				"rollout. After the last wave, a promoted commit is rolled back only by `rollback` of `kalypso_promotion`."),
			"pause": schemas.OptionalString(
				"Stops further waves. The text is the reason. Folders that return to their tree from before the rollout are " +
					"still written. An open pull request of a wave becomes a draft.",
			),
			"windows": schemas.WindowsArgument("When a wave may be written: at most 100 windows. `observed_at` decides, so "+
				"they need `observed`. Closed windows are a `pause` until they open.", false),
			"skip": schemas.OptionalString(
				"A `target_tree_hash`: this tree is delivered to all cluster types at once. Any other tree is " +
					"delivered in waves, so the argument may stay in the configuration."),
		},
	)
}
