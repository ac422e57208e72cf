package provider

import (
	"context"
	"errors"
	"maps"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/datasource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	resource "github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/origin"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/source"
)

// The values of on_error.
const (
	errorsFail     = "fail"
	errorsLastGood = "last_good"
)

var errorReactions = enumeration{errorsFail, errorsLastGood}

// sourceTimeout is the default of timeouts.read of data sources.
const sourceTimeout = 5 * time.Minute

// withinRead limits ctx by timeouts.read of a data source.
func withinRead(
	ctx context.Context, arguments map[string]attr.Value, diags *diag.Diagnostics,
) (context.Context, context.CancelFunc) {
	limit := sourceTimeout
	if given, ok := arguments["timeouts"].(timeouts.Value); ok {
		var ds diag.Diagnostics
		limit, ds = given.Read(ctx, sourceTimeout)
		diags.Append(ds...)
	}
	return context.WithTimeout(ctx, limit)
}

// followArguments returns the arguments of a data source that follows registrations.
func followArguments(ctx context.Context, record string) map[string]schema.Attribute {
	arguments := dataSourceArguments(map[string]resource.Attribute{
		"pins": resource.MapAttribute{
			ElementType: types.StringType,
			Optional:    true,
			MarkdownDescription: "Commits to read instead of branch heads, by the names of registrations. With pins, an " +
				"environment stays on what was promoted, and an application's pipeline plans its own pull request. Each is a " +
				"full hash; null pins nothing.",
		},
		"on_error": errorReactions.attribute("What to do about a broken registration: its branch or folder does not exist, " +
			"it has no Workload or two with the same name, or a Workload can't be read, is invalid or has the name of another " +
			"team's. Every broken registration is reported. With `last_good`, it is read at the commit in " + record +
			", with a warning. If there is no such commit, " +
			"or the registration is pinned, that is an error."),
	})
	arguments["timeouts"] = timeouts.AttributesWithOpts(ctx, timeouts.Opts{
		ReadDescription: "Time limit for reading all repos, as a [duration](https://pkg.go.dev/time#ParseDuration) " +
			"such as `30s` or `10m`. The default is `5m`.",
	})
	return arguments
}

// computedStrings returns a computed map of strings.
func computedStrings(description string) schema.MapAttribute {
	return schema.MapAttribute{Computed: true, ElementType: types.StringType, MarkdownDescription: description}
}

// sourcesAttribute names the argument of a rendering, and the output of data sources, with the commits that were read.
const sourcesAttribute = "sources"

// sourcesOutput returns the attribute that tells which commits a data source read.
func sourcesOutput() schema.MapAttribute {
	return computedStrings("The commits that were read, for `sources` of a `kalypso_environment_rendering`: " +
		"`repo@branch:folder` → the full hash. Keys of `manifests` contain only the branch, so that a commit that changes " +
		"no object changes no key. If a folder is read at several commits, both keys contain `~` and the name of the " +
		"registration or BaseRepo after the branch.")
}

// readPins reads the pins, without the null ones.
func readPins(d decoder) map[string]string {
	v, known := d.argument("pins")
	if !known {
		return nil
	}
	set, _ := members(v)
	given := maps.Clone(set)
	maps.DeleteFunc(given, func(_ string, commit attr.Value) bool { return isNull(commit) })
	return decoder{arguments: map[string]attr.Value{"pins": types.MapValueMust(types.StringType, given)}, path: d.path,
		problems: d.problems}.stringMap("pins")
}

// deliveredOrigins returns the origins of the tree that was last delivered to a destination.
func deliveredOrigins(ctx context.Context, client *gitremote.Client, at source.GitOpsRepo) ([]origin.Origin, error) {
	if client == nil {
		return nil, errors.New("the provider's configuration is not known yet, so the GitOps repo can't be read")
	}
	clean, err := record.CleanPath(at.Path)
	if err != nil {
		return nil, err
	}
	return delivery.Origins(ctx, client, record.Destination{Repo: at.Repo, Branch: at.Branch, Path: clean})
}
