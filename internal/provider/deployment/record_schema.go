package deployment

import (
	"github.com/hashicorp/terraform-plugin-framework-validators/objectvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/postgres"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
)

func deploymentRecordSchema() schema.Schema {
	return schema.Schema{
		MarkdownDescription: "Records what the clusters of an environment run, on a Git branch or in PostgreSQL. " +
			"Query it with `kalypso_deployment_history` or SQL.\n\nEach apply adds the changes since the last record: " +
			"deployment targets on clusters that are new or gone, or whose content, version or state differs. Without a " +
			"change the plan is empty. The plan compares the observation with the last one in the state, and " +
			"contacts no store. If the store and the state differ, such as after a lost state or a restored backup, the next " +
			"apply compares everything with the store, and corrects the current runs.\n\n" +
			"**Destroying the resource leaves the history unchanged.** There is no import: a new resource continues the " +
			"history in the store.",
		Attributes: map[string]schema.Attribute{
			"deployment": schemas.RequiredObject(
				"A whole `kalypso_deployment_state` with `versions = true`. Nothing is recorded while it "+
					"has no `head`.",
				map[string]schema.Attribute{
					"head": schemas.OptionalString("The commit at the branch's head."),
					"observation": schema.StringAttribute{
						Optional: true, Sensitive: true, MarkdownDescription: "The versions that the clusters run. It is sensitive " +
							"only so that no plan prints this long text.",
					},
				},
			),
			"history": schemas.OptionalObject(
				"A whole `kalypso_deployment_history`. Its deployments are written to the table "+
					"`delivery`, for SQL. Not with `store.git`, because the Git branch already contains them.",
				map[string]schema.Attribute{
					"deployments": schemas.OptionalObjects("The deployments.", recordedDeploymentAttributes()),
				},
			),
			"environment": schemas.OptionalString("Name of the environment in the store. The default is the one in the record "+
				"on the branch. All records of an environment must have the same repo, branch and path.",
				stringvalidator.LengthAtLeast(1)),
			"store": storeArgument(true),
			"renew_after": schemas.OptionalDuration(
				"Record again, even without a change, when the last record is this old, such as `24h`. Readers of the store " +
					"then see that the environment is still observed."),
			"recorded_at": schemas.ComputedText(
				"Time of the last recorded observation. Null if there is none."),
			"changes": schemas.ComputedNumber("The number of changes in the last record."),
			"summary": schemas.ComputedText(
				"The changes in the last record, for people: their number, then at most 50 lines by cluster " +
					"type and deployment target. Known in the plan. After the state was lost, it may list changes that the store " +
					"already has."),
		},
	}
}

// storeArgument returns the argument that chooses a store.
func storeArgument(required bool) schema.SingleNestedAttribute {
	other := func(name string) []validator.Object {
		return []validator.Object{objectvalidator.ExactlyOneOf(path.MatchRelative().AtParent().AtName(name))}
	}
	return schema.SingleNestedAttribute{
		Required: required, Optional: !required,
		MarkdownDescription: "The store of the record. Set exactly one of `git` and `postgres`.",
		Attributes: map[string]schema.Attribute{
			"git": schema.SingleNestedAttribute{
				Optional: true, Validators: other("postgres"),
				MarkdownDescription: "A branch of a Git repo: one file and one commit for each record. It can contain up to " +
					"about 250,000 deployment targets on clusters.",
				Attributes: map[string]schema.Attribute{
					"repo": schemas.RequiredString("URL of the repo.", schemas.ValidRepoURL()),
					"branch": schemas.RequiredString("A branch that contains only the history. The first record creates it.",
						schemas.Valid("branch name", gitbranch.CheckName)),
					"path": schemas.OptionalString("Folder. The default is the root.", schemas.Valid("path", destination.CheckPath)),
				},
			},
			"postgres": schema.SingleNestedAttribute{
				Optional: true, Validators: other("git"),
				MarkdownDescription: "The PostgreSQL of the provider's `postgres`, 13 or newer. Its views `runs` and " +
					"`deployments` are for SQL and dashboards. The first record creates the schema; `" + postgres.SchemaFile +
					"` has its SQL.",
				Attributes: map[string]schema.Attribute{
					"schema": schemas.OptionalString("Schema of the tables. The default is `"+postgres.DefaultSchema+"`.",
						schemas.Valid("schema", postgres.CheckSchema)),
				},
			},
		},
	}
}

// recordedDeploymentAttributes returns the attributes of a deployment that a store keeps.
func recordedDeploymentAttributes() map[string]schema.Attribute {
	const description = "As in `kalypso_deployment_history`."
	all := map[string]schema.Attribute{
		"commits":           schemas.OptionalNumber(description),
		"lead_time_seconds": schemas.OptionalNumber(description),
		"failed":            schemas.OptionalBool(description),
	}
	for _, name := range []string{
		"first_commit", "commit", "started_at", "delivered_at", "author", "kind", "promoted_commit", "previous_commit",
		"reason", "running_at", "failed_at", "restored_at",
	} {
		all[name] = schemas.OptionalString(description)
	}
	return all
}
