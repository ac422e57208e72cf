package deployment

import (
	"cmp"
	"context"
	"fmt"
	"maps"
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
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

var (
	_ datasource.DataSourceWithConfigure      = (*deploymentState)(nil)
	_ datasource.DataSourceWithValidateConfig = (*deploymentState)(nil)
)

// deploymentState reports whether the clusters run the tree of a branch.
type deploymentState struct{ data *configuration.Data }

// NewState returns the data source kalypso_deployment_state.
func NewState() datasource.DataSource { return &deploymentState{} }

func (s *deploymentState) Metadata(
	_ context.Context,
	req datasource.MetadataRequest,
	resp *datasource.MetadataResponse,
) {
	resp.TypeName = req.ProviderTypeName + "_deployment_state"
}

func (s *deploymentState) Schema(ctx context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = deploymentStateSchema(ctx)
}

// Configure stores the provider's configuration.
func (s *deploymentState) Configure(
	_ context.Context,
	req datasource.ConfigureRequest,
	resp *datasource.ConfigureResponse,
) {
	s.data = configuration.DataOf(req.ProviderData, &resp.Diagnostics)
}

// ValidateConfig reports errors in the known arguments.
func (s *deploymentState) ValidateConfig(
	ctx context.Context,
	req datasource.ValidateConfigRequest,
	resp *datasource.ValidateConfigResponse,
) {
	var ps problem.Problems
	arguments := tfvalue.GetObject(ctx, req.Config, &resp.Diagnostics)
	schemas.ReadObserved(s.data, tfvalue.Decoder{Arguments: arguments, Problems: &ps})
	schemas.ReadLimit(ctx, arguments, &resp.Diagnostics)
	tfvalue.AppendProblems(&resp.Diagnostics, ps)
}

// Read observes the deployment once. Terraform calls it when all arguments are known.
func (s *deploymentState) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	arguments := tfvalue.GetObject(ctx, req.Config, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	var ps problem.Problems
	d := tfvalue.Decoder{Arguments: arguments, Problems: &ps}
	request := schemas.ReadObserved(s.data, d)
	detail := details.Or(d.String("detail"))
	request.Targets = detail != detailFolders
	request.Versions = d.True("versions")
	request.Wait = schemas.ReadLimit(ctx, arguments, &resp.Diagnostics)
	tfvalue.AppendProblems(&resp.Diagnostics, ps)
	if resp.Diagnostics.HasError() {
		return
	}
	seen := observeDeployment(ctx, s.data, request, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	maps.Copy(arguments, deploymentValues(seen, detail))
	resp.Diagnostics.Append(tfvalue.SetObject(ctx, &resp.State, arguments)...)
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
			GitOpsBranch: deployment.GitOpsBranch{Name: request.At.Branch},
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
