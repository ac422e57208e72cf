package deployment

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/observe"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/observation"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/configuration"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/resources"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// NewState returns the data source kalypso_deployment_state.
func NewState() datasource.DataSource {
	return resources.NewDataSource(resources.DataSource[schemas.ObservedRequest]{
		Name: "deployment_state", Description: stateDescription, Arguments: stateArguments, Computed: stateComputed,
		Timeout: schemas.TimeoutText("How long the sources may take to answer",
			"If a source does not answer in time, the verdict is `pending`."),
		Waits: true, Request: readStateRequest, Read: readState,
	})
}

func readStateRequest(r resources.Reading) schemas.ObservedRequest {
	return schemas.ReadObserved(r.Data, r.Decoder)
}

func readState(ctx context.Context, r resources.Reading, request schemas.ObservedRequest) tfvalue.Values {
	detail := details.Or(r.String("detail"))
	request.Targets = detail != detailFolders
	request.Versions = r.True("versions")
	request.Wait = r.Limit
	seen := observeDeployment(ctx, r.Data, request, r.Diags)
	if r.Diags.HasError() {
		return nil
	}
	return deploymentValues(seen, detail)
}

// observeDeployment observes a deployment. If the provider's configuration is unknown, it contacts nothing and returns
// a pending verdict.
func observeDeployment(
	ctx context.Context, p *configuration.Data, request schemas.ObservedRequest, diags *diag.Diagnostics,
) *observe.Observation {
	if !p.Known || request.ConfigUnknown {
		diags.AddWarning(
			"The state of the deployment is not known yet",
			"The provider's configuration depends on values that are known after apply, so nothing was contacted. The verdict "+
				"is pending.",
		)
		return &observe.Observation{
			Branch: deployment.GitOpsBranch{Name: request.At.Branch},
			Outcome: deployment.Outcome{
				Verdict: deployment.Pending,
				Summary: "The provider's configuration is not known yet.",
			},
			At: p.Now(),
		}
	}
	request.Client, request.AllowLocal = p.Client, p.AllowLocal
	seen, err := observe.Look(ctx, request.Request, p.Now)
	if err != nil {
		schemas.AppendDeploymentError(diags, request.At, err)
		return nil
	}
	for _, silent := range seen.Unanswered {
		diags.AddAttributeWarning(path.Root("source"), "A source did not answer", problem.Sentence(silent)+
			" The verdict is pending. The next run asks again.")
	}
	appendUnreadVersions(diags, seen.Versions)
	tflog.Info(ctx, "read the deployment state", map[string]any{
		"head": seen.Branch.Head, "verdict": string(seen.Outcome.Verdict), "summary": seen.Outcome.Summary,
		"problems": len(seen.Outcome.Problems),
	})
	return seen
}

// shownPlaces limits how many locations a warning lists.
const shownPlaces = 5

// appendUnreadVersions warns of the locations whose versions can't be read.
func appendUnreadVersions(diags *diag.Diagnostics, versions *observe.Versions) {
	if versions == nil || len(versions.Unread) == 0 {
		return
	}
	var lines []string
	for _, place := range versions.Unread[:min(shownPlaces, len(versions.Unread))] {
		lines = append(lines, printable.Line(fmt.Sprintf("- %s, path %q at %s: %s", cmp.Or(place.Repo, "a repo"),
			place.Path, observation.Short(place.Commit), place.Err)))
	}
	if more := len(versions.Unread) - shownPlaces; more > 0 {
		lines = append(lines, fmt.Sprintf("- and %d more", more))
	}
	diags.AddAttributeWarning(path.Root("versions"), "Versions can't be read",
		"The clusters run commits of these repos, and their versions can't be read. The commits are shown instead. The "+
			"verdict does not change. Check the repos, and git_credentials of the provider.\n\n"+
			strings.Join(lines, "\n"))
}
