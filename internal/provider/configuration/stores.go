package configuration

import (
	"cmp"
	"os"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/gitstore"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/postgres"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// postgresVariable names the environment variable with the URL of PostgreSQL if none is configured.
const postgresVariable = "KALYPSO_POSTGRES_URL"

var postgresAttribute = optionalObject("PostgreSQL, for `store.postgres` of `kalypso_deployment_record` and "+
	"`kalypso_deployment_history`.", map[string]schema.Attribute{
	"url": optionalSecret("URL, such as `postgres://kalypso@db.acme.io/kalypso`. The default is the environment " +
		"variable `" + postgresVariable + "`. The password may also be in `PGPASSWORD` or `~/.pgpass`. `sslmode` is " +
		"`verify-full` unless the URL or `PGSSLMODE` sets it; `sslrootcert` names the file of a private authority. A " +
		"connection that does not verify the server is an error, except to this machine."),
})

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

// StoreKnown reports whether a store can be opened, because the part of the provider's configuration that it needs is
// known.
func (d *Data) StoreKnown(store types.Object) bool {
	if tfvalue.IsNull(store.Attributes()["postgres"]) {
		return d.Known
	}
	return !unknown.Is(d.postgresURL)
}

// OpenStore opens a store whose arguments are known. It contacts nothing.
func (d *Data) OpenStore(store types.Object, diags *diag.Diagnostics) history.Store {
	if !d.StoreKnown(store) {
		diags.AddAttributeError(path.Root("store"), "Provider configuration not known yet",
			"The store needs credentials of the provider that are known after apply.")
		return nil
	}
	given := tfvalue.NewDecoder(store, new(problem.Problems)) // the schema has checked the types
	database, ok := given.Object("postgres")
	if !ok {
		git, _ := given.Object("git")
		at := destination.New(git.String("repo"), git.String("branch"), git.String("path"))
		opened, err := gitstore.Open(d.Client, at.Repo, at.Branch, at.Path, d.Committer(nil))
		if err != nil {
			diags.AddAttributeError(path.Root("store").AtName("git"), "Invalid store", problem.Sentence(err))
			return nil
		}
		return opened
	}
	url := cmp.Or(d.postgresURL, os.Getenv(postgresVariable))
	if url == "" {
		diags.AddAttributeError(path.Root("store").AtName("postgres"), "PostgreSQL is not configured",
			"Set postgres.url of the provider, or the environment variable "+postgresVariable+".")
		return nil
	}
	opened, err := postgres.Open(postgres.Settings{URL: url, Schema: database.String("schema"), Secrets: &d.secrets})
	if err != nil {
		diags.AddAttributeError(path.Root("store").AtName("postgres"), "Invalid URL of PostgreSQL", problem.Sentence(err))
		return nil
	}
	return opened
}
