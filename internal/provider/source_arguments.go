package provider

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/datasource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	resource "github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/origin"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/printable"
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
			MarkdownDescription: "Commits to read instead of branch heads, by the names of registrations. With pins, an environment stays on " +
				"what was promoted, and an application's pipeline plans its own pull request. Each is a full hash; null pins " +
				"nothing.",
		},
		"on_error": errorReactions.attribute("What to do about a broken registration: its branch or folder does not exist, " +
			"it has no " +
			"Workload or two with the same name, or a Workload can't be read, is invalid or has the name of another team's. " +
			"Every broken registration " +
			"is reported. With `last_good`, it is read at the commit in " + record +
			", with a warning. If there is no such commit, " +
			"or the registration is pinned, that is an error."),
	})
	arguments["timeouts"] = timeouts.AttributesWithOpts(ctx, timeouts.Opts{
		ReadDescription: "Time limit for reading all repos, as a [duration](https://pkg.go.dev/time#ParseDuration) " +
			"such as `30s` or `10m`. The default is `5m`.",
	})
	return arguments
}

func computedStrings(description string) schema.MapAttribute {
	return schema.MapAttribute{Computed: true, ElementType: types.StringType, MarkdownDescription: description}
}

// sourcesAttribute names the argument of a rendering, and the output of data sources, with the commits that were read.
const sourcesAttribute = "sources"

func sourcesOutput() schema.MapAttribute {
	return computedStrings("The commits that were read, for `sources` of a `kalypso_environment_rendering`: " +
		"`repo@branch:folder` → " +
		"the full hash. Keys of `manifests` contain only the branch, so that a commit that changes no object changes no " +
		"key. If " +
		"a folder is read at several commits, both keys contain `~` and the name of the registration or BaseRepo after the " +
		"branch.")
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
	clean, err := delivery.CleanPath(at.Path)
	if err != nil {
		return nil, err
	}
	return delivery.Origins(ctx, client, delivery.Destination{Repo: at.Repo, Branch: at.Branch, Path: clean})
}

// appendSourceProblems turns problems into diagnostics: one for each registration, so that every broken registration is
// shown, and one for each problem of the control plane itself.
func appendSourceProblems(diags *diag.Diagnostics, fs source.Problems) {
	for len(fs) > 0 {
		first := fs[0]
		n := 1
		for first.Registration != "" && n < len(fs) && fs[n].Registration == first.Registration &&
			fs[n].Severity == first.Severity {
			n++
		}
		same := fs[:n]
		fs = fs[n:]
		summary, details := first.Summary, []string{}
		for _, f := range same {
			text := f.Detail
			if n > 1 {
				text = f.Summary + ": " + text
			}
			details = append(details, strings.Join(append([]string{text + "\n"}, f.Facts()...), "\n"))
		}
		if n > 1 && slices.ContainsFunc(same, func(f source.Problem) bool { return f.Summary != first.Summary }) {
			summary = fmt.Sprintf("%d problems with registration %q", n, first.Registration)
		}
		detail := printable.Text(strings.Join(details, "\n\n"))
		if first.Severity == fleet.Warning {
			diags.AddWarning(summary, detail)
		} else {
			diags.AddError(summary, detail)
		}
	}
}

// providerDataOf returns the provider's data in Configure, or nil before the provider is configured.
func providerDataOf(given any, diags *diag.Diagnostics) *providerData {
	if given == nil {
		return nil
	}
	data, ok := given.(*providerData)
	if !ok {
		diags.AddError("Unexpected provider data", fmt.Sprintf("It is a %T. This is a bug in the provider.", given))
	}
	return data
}
