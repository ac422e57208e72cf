package provider

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/observe"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/observation"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/record"
)

var (
	_ datasource.DataSourceWithConfigure      = (*deploymentState)(nil)
	_ datasource.DataSourceWithValidateConfig = (*deploymentState)(nil)
)

// deploymentState tells whether the clusters run what a branch contains.
type deploymentState struct{ data *providerData }

// newDeploymentState returns the data source kalypso_deployment_state.
func newDeploymentState() datasource.DataSource { return &deploymentState{} }

func (s *deploymentState) Metadata(
	_ context.Context,
	req datasource.MetadataRequest,
	resp *datasource.MetadataResponse,
) {
	resp.TypeName = req.ProviderTypeName + "_deployment_state"
}

func (s *deploymentState) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = deploymentStateSchema()
}

// Configure stores the provider's configuration.
func (s *deploymentState) Configure(
	_ context.Context,
	req datasource.ConfigureRequest,
	resp *datasource.ConfigureResponse,
) {
	s.data = providerDataOf(req.ProviderData, &resp.Diagnostics)
}

// ValidateConfig reports errors in the known arguments.
func (s *deploymentState) ValidateConfig(
	ctx context.Context,
	req datasource.ValidateConfigRequest,
	resp *datasource.ValidateConfigResponse,
) {
	var ps problem.Problems
	readDeployment(s.data, decoder{arguments: getObject(ctx, req.Config, &resp.Diagnostics), problems: &ps})
	appendProblems(&resp.Diagnostics, ps)
}

// Read observes the deployment once. Terraform calls it when all arguments are known.
func (s *deploymentState) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	arguments := getObject(ctx, req.Config, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	var ps problem.Problems
	d := decoder{arguments: arguments, problems: &ps}
	request := readDeployment(s.data, d)
	detail := details.or(d.string("detail"))
	request.Targets = detail != detailFolders
	request.Versions, _ = d.bool("versions")
	if times, given := d.object("timeouts"); given {
		request.Wait = readDuration(times, "read", request.Wait)
	}
	appendProblems(&resp.Diagnostics, ps)
	if resp.Diagnostics.HasError() {
		return
	}
	seen := observeDeployment(ctx, s.data, request, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	maps.Copy(arguments, deploymentValues(seen, detail))
	resp.Diagnostics.Append(setObject(ctx, &resp.State, arguments)...)
}

// observeDeployment observes a deployment. If the provider's configuration is unknown, it contacts nothing and returns
// a pending verdict.
func observeDeployment(
	ctx context.Context, p *providerData, request deploymentRequest, diags *diag.Diagnostics,
) *observe.Observation {
	if !p.known || request.configUnknown {
		diags.AddWarning(
			"The state of the deployment is not known yet",
			"The provider's configuration depends on values that are known after apply, so nothing was contacted. The verdict "+
				"is pending.",
		)
		return &observe.Observation{
			Branch:  deployment.Branch{Name: request.At.Branch},
			Outcome: deployment.Outcome{Verdict: deployment.Pending, Summary: "The provider's configuration is not known yet."},
			At:      p.now(),
		}
	}
	request.Client, request.AllowLocal = p.Client, p.allowLocal
	seen, err := observe.Look(ctx, request.Request, p.now)
	if err != nil {
		appendDeploymentError(diags, request.At, err)
		return nil
	}
	for _, silent := range seen.Unanswered {
		diags.AddAttributeWarning(path.Root("source"), "A source did not answer", problem.Sentence(silent)+
			" The verdict is pending. The next run asks again.")
	}
	appendUnreadVersions(diags, seen.Versions)
	tflog.Info(ctx, "read the deployment state", map[string]any{
		"head": seen.Head, "verdict": string(seen.Verdict), "summary": seen.Summary, "problems": len(seen.Problems),
	})
	return seen
}

// shownPlaces limits how many places a warning lists.
const shownPlaces = 5

// appendUnreadVersions warns of the places whose versions can't be read.
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
		"The clusters run commits of these repos, and their versions can't be read. The commits stand in their place. The "+
			"verdict does not depend on it. Check the repos, and git_credentials of the provider.\n\n"+
			strings.Join(lines, "\n"))
}

// appendDeploymentError turns an error of the repo or of a source into a diagnostic.
func appendDeploymentError(diags *diag.Diagnostics, at record.Destination, err error) {
	var remote *gitremote.Error
	var source *observe.SourceError
	switch {
	case errors.As(err, &source):
		diags.AddAttributeError(path.Root("source"), "A source can't be used", problem.Sentence(err))
	case errors.As(err, &remote):
		appendDeliveryError(diags, at, err)
	default:
		diags.AddAttributeError(path.Root("gitops_repo"), "The branch can't be read", problem.Sentence(err))
	}
}
