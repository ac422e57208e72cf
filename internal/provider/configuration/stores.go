package configuration

import (
	"cmp"
	"context"
	"os"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/gitstore"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/postgres"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/unknown"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// postgresVariable names the environment variable with the URL of PostgreSQL if none is configured.
const postgresVariable = "KALYPSO_POSTGRES_URL"

var postgresAttribute = schema.SingleNestedAttribute{
	Optional: true,
	MarkdownDescription: "PostgreSQL, for `store.postgres` of `kalypso_deployment_record` and " +
		"`kalypso_deployment_history`.",
	Attributes: map[string]schema.Attribute{
		"url": schema.StringAttribute{
			Optional: true, Sensitive: true,
			MarkdownDescription: "URL, such as `postgres://kalypso@db.acme.io/kalypso`. The default is the environment " +
				"variable `" + postgresVariable + "`. The password may also be in `PGPASSWORD` or `~/.pgpass`. `sslmode` is " +
				"`verify-full` unless the URL or `PGSSLMODE` sets it; `sslrootcert` names the file of a private authority. A " +
				"connection that does not verify the server is an error, except to this machine.",
		},
	},
}

// readPostgres reads the URL of PostgreSQL: [unknown.Text] if it is unknown, "" if it is not set.
func readPostgres(d tfvalue.Decoder) string {
	given, ok := d.Object("postgres")
	if !ok {
		return ""
	}
	url := given.String("url")
	if url == "" || unknown.Is(url) {
		return url
	}
	if _, err := postgres.Open(postgres.Settings{URL: url}); err != nil {
		given.Report("Invalid URL of PostgreSQL", problem.Sentence(err), problem.Attr("url"))
	}
	return url
}

// StoreModel contains the attributes of the argument store.
type StoreModel struct {
	Git      types.Object `tfsdk:"git"`
	Postgres types.Object `tfsdk:"postgres"`
}

// StoreKnown reports whether a store can be opened: what of the provider's configuration it needs is known.
func (d *Data) StoreKnown(ctx context.Context, store types.Object) bool {
	if tfvalue.Nested[StoreModel](ctx, store).Postgres.IsNull() {
		return d.Known
	}
	return !unknown.Is(d.postgresURL)
}

// OpenStore opens a store whose arguments are known. It contacts nothing.
func (d *Data) OpenStore(ctx context.Context, store types.Object, diags *diag.Diagnostics) history.Store {
	m := tfvalue.Nested[StoreModel](ctx, store)
	if !d.StoreKnown(ctx, store) {
		diags.AddAttributeError(path.Root("store"), "Provider configuration not known yet",
			"The store needs credentials of the provider that are known after apply.")
		return nil
	}
	if m.Postgres.IsNull() {
		git := tfvalue.Nested[struct {
			Repo   types.String `tfsdk:"repo"`
			Branch types.String `tfsdk:"branch"`
			Path   types.String `tfsdk:"path"`
		}](ctx, m.Git)
		at := record.NewDestination(git.Repo.ValueString(), git.Branch.ValueString(), git.Path.ValueString())
		opened, err := gitstore.Open(d.Client, at.Repo, at.Branch, at.Path, d.Committer(nil))
		if err != nil {
			diags.AddAttributeError(path.Root("store").AtName("git"), "Invalid store", problem.Sentence(err))
			return nil
		}
		return opened
	}
	schema := tfvalue.Nested[struct {
		Schema types.String `tfsdk:"schema"`
	}](ctx, m.Postgres).Schema.ValueString()
	url := cmp.Or(d.postgresURL, os.Getenv(postgresVariable))
	if url == "" {
		diags.AddAttributeError(path.Root("store").AtName("postgres"), "PostgreSQL is not configured",
			"Set postgres.url of the provider, or the environment variable "+postgresVariable+".")
		return nil
	}
	opened, err := postgres.Open(postgres.Settings{URL: url, Schema: schema, Secrets: &d.secrets})
	if err != nil {
		diags.AddAttributeError(path.Root("store").AtName("postgres"), "Invalid URL of PostgreSQL", problem.Sentence(err))
		return nil
	}
	return opened
}
