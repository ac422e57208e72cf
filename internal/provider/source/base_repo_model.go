package source

import (
	"cmp"
	"context"
	"fmt"
	"reflect"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/baserepo"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/baserepo/document"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/drift"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/strategy"
	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// baseRepoModel is a plan or a state of kalypso_base_repo.
type baseRepoModel struct {
	Repo          types.String   `tfsdk:"repo"`
	Branch        types.String   `tfsdk:"branch"`
	Promotion     types.Object   `tfsdk:"promotion"`
	Delivery      types.Object   `tfsdk:"delivery"`
	OnDrift       types.String   `tfsdk:"on_drift"`
	CommitMessage types.String   `tfsdk:"commit_message"`
	Timeouts      timeouts.Value `tfsdk:"timeouts"`
	baseRepoResults
}

// baseRepoResults contains the computed attributes.
type baseRepoResults struct {
	Content     types.String `tfsdk:"content"`
	CommitSHA   types.String `tfsdk:"commit_sha"`
	Delivered   types.Bool   `tfsdk:"delivered"`
	PullRequest types.Object `tfsdk:"pull_request"`
}

// known reports whether all arguments that the decision depends on are known.
func (m *baseRepoModel) known() bool {
	return tfvalue.NewModelDecoder(m, new(problem.Problems)).Known(
		"repo", "branch", "promotion", "delivery", "on_drift", "commit_message")
}

// desired converts the arguments, and reports errors in the known ones.
func (m *baseRepoModel) desired(diags *diag.Diagnostics) *baserepo.Desired {
	var ps problem.Problems
	given := tfvalue.NewModelDecoder(m, &ps)
	promotion := schemas.ReadPromotion(given)
	delivery, _ := given.Object("delivery")
	d := &baserepo.Desired{
		At:          baserepo.EnvironmentBranch{Repo: given.String("repo"), Branch: given.String("branch")},
		Message:     given.String("commit_message"),
		Strategy:    strategy.Strategy(baseRepoStrategies.Or(delivery.String("strategy"))),
		OnDrift:     drift.Reaction(schemas.DriftReactions.Or(given.String("on_drift"))),
		PullRequest: schemas.ReadPullRequestSettings(delivery),
	}
	if promotion == nil {
		ps = append(ps, problem.Problem{
			Summary: "Missing promotion",
			Detail:  "promotion names the commit to promote. Pass a kalypso_promotion, or an object with commit.",
			Path:    []problem.Step{problem.Attr("promotion")},
		})
	} else {
		d.Promotion = *promotion
	}
	ps = append(ps, d.Validate()...)
	tfvalue.AppendProblems(diags, ps)
	return d
}

// plan plans the computed attributes.
func (m *baseRepoModel) plan(d *baserepo.Desired, decision baserepo.Decision, state *baseRepoModel) {
	switch {
	case decision.Withhold:
		m.baseRepoResults = state.baseRepoResults
		m.PullRequest = types.ObjectUnknown(schemas.PullRequestTypes) // Terraform doesn't apply a plan without a change
		return
	case !decision.Write:
		if m.keepResults(state); state != nil {
			m.Promotion = state.Promotion
		}
		return
	}
	m.unknownResults()
	if decision.FileKnown {
		m.Content = types.StringValue(decision.File)
	}
	if d.Strategy == strategy.Push {
		m.Delivered, m.PullRequest = types.BoolValue(true), types.ObjectNull(schemas.PullRequestTypes)
	}
}

// keepResults plans the results of the last apply, or null if there was none.
func (m *baseRepoModel) keepResults(state *baseRepoModel) {
	m.baseRepoResults = baseRepoResults{
		Delivered: types.BoolValue(false), PullRequest: types.ObjectNull(schemas.PullRequestTypes),
	}
	if state != nil {
		m.baseRepoResults = state.baseRepoResults
	}
}

func (m *baseRepoModel) unknownResults() {
	m.baseRepoResults = baseRepoResults{
		types.StringUnknown(), types.StringUnknown(), types.BoolUnknown(), types.ObjectUnknown(schemas.PullRequestTypes),
	}
}

// commit returns the promoted commit; "" if there is none.
func (m *baseRepoModel) commit() string {
	commit, _ := m.Promotion.Attributes()["commit"].(types.String)
	return commit.ValueString()
}

// setResult sets the results of an apply or a refresh, and reports whether anything changed.
func (m *baseRepoModel) setResult(found *baserepo.Result) bool {
	before := m.baseRepoResults
	file := found.State.File
	if p := found.State.Proposal; p != nil && p.State == githost.Open {
		file = p.File
	}
	m.Content, m.CommitSHA = tfvalue.Nullable(file), tfvalue.Nullable(found.Commit)
	m.Delivered = types.BoolValue(found.Commit != "")
	if m.PullRequest = schemas.PullRequestValue(found.PullRequest); found.PullRequest == nil &&
		!before.PullRequest.IsUnknown() {
		m.PullRequest = before.PullRequest
	}
	return !reflect.DeepEqual(before, m.baseRepoResults)
}

// baseRepoKey is the key in private state of the file and the pull request as they were last read.
const baseRepoKey = "base_repo"

// readBaseRepo returns the BaseRepo as the last run stored it in the private state, or else as the state shows it.
func readBaseRepo(
	ctx context.Context, private schemas.PrivateState, state *baseRepoModel, diags *diag.Diagnostics,
) *baserepo.State {
	if s := schemas.GetPrivate[baserepo.State](ctx, private, baseRepoKey, diags); s.Head != "" {
		return &s
	}
	return &baserepo.State{
		At:    baserepo.EnvironmentBranch{Repo: state.Repo.ValueString(), Branch: state.Branch.ValueString()},
		Since: state.CommitSHA.ValueString(), Delivered: state.commit(),
	}
}

// baseRepoImportForm is the form of an import ID.
const baseRepoImportForm = "<repo>?ref=<branch>"

// parseBaseRepoID parses an import ID.
func parseBaseRepoID(id string) (baserepo.EnvironmentBranch, error) {
	at, err := record.ParseDestination(id)
	if err == nil && at.Path != "." {
		err = fmt.Errorf("it names a path, and %s lies at the root", document.File)
	}
	if err != nil {
		err = fmt.Errorf("%q: %w; the form is %s", cmp.Or(id, "the ID"), err, baseRepoImportForm)
	}
	return baserepo.EnvironmentBranch{Repo: at.Repo, Branch: at.Branch}, err
}
