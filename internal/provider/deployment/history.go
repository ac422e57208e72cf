package deployment

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/describe"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/historylookup"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/configuration"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/resources"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// NewHistory returns the data source kalypso_deployment_history.
func NewHistory() datasource.DataSource {
	return resources.NewDataSource(resources.DataSource[historylookup.Request]{
		Name: "deployment_history", Description: historyDescription, Arguments: historyArguments,
		Computed: historyComputed, Timeout: schemas.TimeoutText("How long reading may take"),
		Credentials: "The provider reads the history from Git, and its credentials are known after apply.",
		Request:     readHistoryRequest, Read: readHistory,
	})
}

func readHistory(ctx context.Context, r resources.Reading, request historylookup.Request) tfvalue.Values {
	request.Client = r.Data.Client
	limit := r.NumberOr("limit", historyLimit)
	past := readStore(ctx, r.Data, r.Arguments, request, limit, r.Diags)
	if r.Diags.HasError() {
		return nil
	}
	if past != nil {
		request.Observed = past.Observed
	}
	found, err := historylookup.Read(ctx, request)
	if err != nil {
		appendHistoryError(r.Diags, request, err)
		return nil
	}
	tflog.Info(ctx, "read the deployment history", map[string]any{
		"environment": found.Environment, "deployments": len(found.Deliveries), "complete": found.Complete,
	})
	return historyValues(found, past, limit, compareURL(r.Data, request))
}

// readStore reads the runs from the store in the arguments, or returns nil without a store.
func readStore(
	ctx context.Context, p *configuration.Data, arguments map[string]attr.Value, request historylookup.Request, limit int,
	diags *diag.Diagnostics,
) *history.StoredRuns {
	given, ok := arguments["store"].(types.Object)
	if !ok || given.IsNull() {
		return nil
	}
	store := p.OpenStore(given, diags)
	if diags.HasError() {
		return nil
	}
	filter := func(name string) *string {
		text, _ := arguments[name].(types.String)
		return text.ValueStringPointer()
	}
	at := request.GitOps
	past, err := store.Read(ctx, history.Query{
		Repo: at.Repo, Branch: at.Branch, Path: at.Path, Since: request.Since, Until: request.Until,
		Cluster: filter("cluster"), Target: filter("deployment_target"), Limit: limit,
	})
	if err != nil {
		diags.AddAttributeError(path.Root("store"), "The store can't be read", problem.Sentence(err))
		return nil
	}
	return &past
}

// compareURL returns how to link to the comparison of two commits of the control plane, or nil if the host is unknown.
func compareURL(p *configuration.Data, request historylookup.Request) func(from, to string) string {
	host, err := p.Hosting()
	if err != nil || host == nil || request.ControlPlane.Repo == "" {
		return nil
	}
	repo, err := host.Repo(request.ControlPlane.Repo)
	if err != nil {
		return nil
	}
	return repo.CompareURL
}

const historyLimit = 100

// readHistoryRequest reads the arguments, and reports invalid ones. Unknown arguments are not compared.
func readHistoryRequest(r resources.Reading) historylookup.Request {
	d := r.Decoder
	request := historylookup.Request{GitOps: schemas.ReadDestination(d), Until: r.Now}
	at := schemas.ReadControlPlaneBranch(d)
	request.ControlPlane.Repo, request.ControlPlane.Branch = at.Repo, at.Branch
	since, until := d.String("since"), d.String("until")
	if unknown.Is(since) || unknown.Is(until) {
		return request
	}
	if given, err := time.Parse(time.RFC3339, until); err == nil {
		request.Until = given
	}
	request.Since = request.Until.Add(-schemas.ReadDuration(d, "since", history.DefaultWindow))
	if given, err := time.Parse(time.RFC3339, since); err == nil {
		request.Since = given
		if !given.Before(request.Until) && !request.Until.IsZero() {
			d.Report("Empty time window", fmt.Sprintf("The history begins at %s and ends at %s. Set since to an earlier time.",
				given.Format(time.RFC3339), request.Until.UTC().Format(time.RFC3339)), problem.Attr("since"))
		}
	}
	return request
}

// checkTime reports a text that is no time of RFC 3339.
func checkTime(text string) error {
	if _, err := time.Parse(time.RFC3339, text); err != nil {
		return fmt.Errorf("%q is not a time such as \"2026-01-31T12:00:00Z\"", text)
	}
	return nil
}

// checkTimeOrDuration reports a text that is neither a time nor a duration.
func checkTimeOrDuration(text string) error {
	if checkTime(text) != nil && schemas.CheckDuration(text) != nil {
		return fmt.Errorf("%q is neither a time such as \"2026-01-31T12:00:00Z\" nor a duration such as \"720h\"", text)
	}
	return nil
}

// appendHistoryError turns an error from reading a repo into a diagnostic.
func appendHistoryError(diags *diag.Diagnostics, request historylookup.Request, err error) {
	var controlPlane *historylookup.ControlPlaneError
	if errors.As(err, &controlPlane) {
		diags.AddAttributeError(path.Root("control_plane"), "The control plane can't be read",
			problem.Sentence(controlPlane.Err))
		return
	}
	schemas.AppendDeploymentError(diags, request.GitOps, err)
}

// historyValues returns the computed attributes. It lists at most limit deliveries. past is nil without a store.
func historyValues(
	h history.History, past *history.StoredRuns, limit int, compare func(from, to string) string,
) tfvalue.Values {
	deployments := h.Deliveries[:min(limit, len(h.Deliveries))]
	for _, d := range deployments {
		if compare != nil && d.PreviousCommit != "" && d.PromotedCommit != "" && d.PreviousCommit != d.PromotedCommit {
			d.CompareURL = compare(d.PreviousCommit, d.PromotedCommit)
		}
	}
	all := tfvalue.Values{
		"environment": tfvalue.OrNil(h.Environment), "deployments": deployments, "metrics": h.Metrics, "complete": h.Complete,
		"summary": describe.Deployments(h, limit),
	}
	if past != nil {
		maps.Copy(all, pastValues(past))
	}
	return all
}

// pastValues returns the versions and runs from a store.
func pastValues(past *history.StoredRuns) tfvalue.Values {
	versions := lists.Map(past.Versions, func(v history.VersionCount) history.VersionCount {
		v.Version = printable.Line(v.Version)
		v.Workload, v.Workspace = printable.Line(v.Workload), printable.Line(v.Workspace)
		return v
	})
	runs := lists.Map(past.Runs, func(r history.Run) tfvalue.Values {
		all := tfvalue.ValuesOf(r)
		all["version"], all["commit"] = tfvalue.OrNil(printable.Line(r.Version.Version)), tfvalue.OrNil(r.Version.Commit)
		all["message"] = tfvalue.OrNil(printable.Line(r.Message))
		all["workload"] = tfvalue.OrNil(printable.Line(r.Version.Workload))
		all["workspace"] = tfvalue.OrNil(printable.Line(r.Version.Workspace))
		return all
	})
	return tfvalue.Values{"versions": versions, "runs": runs, "truncated": past.Truncated,
		"recorded_until": past.RecordedUntil}
}
