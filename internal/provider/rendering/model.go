package rendering

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/describe"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/next"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/past"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/remote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/strategy"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/wish"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// deliveryResults are the computed attributes that an apply keeps if it writes nothing. rollout_status describes the
// last commit, and feedback_status the last feedback.
var deliveryResults = []string{
	"description", "commit_sha", "delivered", "pull_request", "rollout_status", "feedback_status",
}

// computed are all computed attributes.
var computed = append([]string{
	"assignments", "assignment_count", "unscheduled", "summary", "folders", "files", "tree_hash", "target_tree_hash",
}, deliveryResults...)

// planResults plans the results of the apply.
func planResults(ctx context.Context, m schemas.Model, decision *delivery.Decision, state schemas.Model) {
	applied := decision.Applied
	switch decision.Action {
	case delivery.Keep, delivery.RemoveOld, delivery.Withhold:
		keepResults(m, state, decision)
		keepArguments(m, decision, state)
		if decision.Action != delivery.Keep { // Terraform doesn't apply a plan without a change
			m.SetUnknown("pull_request")
		}
		return
	}
	m.SetUnknown("commit_sha", "delivered", "pull_request", "description")
	switch applied.Wish.Strategy {
	case strategy.None:
		setDelivery(m, "", nil, nil)
	case strategy.Push:
		m.Set(tfvalue.Values{"pull_request": nil})
		if applied.Known > inventory.Unread {
			m.Set(tfvalue.Values{"delivered": applied.Complete})
		}
	}
	if decision.Description == inventory.Whole || applied.Wish.Review.Detail == wish.NoDescription {
		setDescription(ctx, m, applied, decision.Before)
	}
}

// keepIfOnly plans the prior value of an object if only the given attributes of it differ. These attributes may be
// null.
func keepIfOnly(m, state schemas.Model, object string, names ...string) bool {
	planned, prior := m[object], state[object]
	if planned.IsNull() || planned.IsUnknown() || prior.IsNull() {
		return false
	}
	given, _ := tfvalue.Members(planned)
	before, _ := tfvalue.Members(prior)
	for _, name := range names {
		given[name] = before[name]
	}
	former, _ := prior.(types.Object)
	if !types.ObjectValueMust(former.AttributeTypes(context.Background()), given).Equal(prior) {
		return false
	}
	m.Keep(state, object)
	return true
}

// keepArguments plans the values of the last apply for the arguments that keep them, if Terraform accepts that.
func keepArguments(m schemas.Model, decision *delivery.Decision, state schemas.Model) {
	all := true
	for _, name := range decision.KeptArguments {
		all = keepArgument(m, name, state) && all
	}
	if all && decision.DecidingArgument != "" {
		keepArgument(m, decision.DecidingArgument, state)
	}
}

// keepArgument plans the prior value of an argument, or of an attribute in it. It reports whether Terraform accepts
// that: only if neither value is null, and the configured value is known.
func keepArgument(m schemas.Model, name string, state schemas.Model) bool {
	switch name {
	case "rollout.observed":
		given, _ := tfvalue.Members(m["rollout"])
		before, _ := tfvalue.Members(state["rollout"])
		was := before["observed"]
		if tfvalue.IsNull(given["observed"]) || tfvalue.IsNull(was) || !tfvalue.WhollyKnown(given["observed"]) {
			return false
		}
		m.SetIn("rollout", tfvalue.Values{"observed": was})
		return true
	case "rollout.pause":
		return keepIfOnly(m, state, "rollout", "pause", "windows")
	}
	if m.IsNull(name) || state.IsNull(name) || !tfvalue.WhollyKnown(m[name]) {
		return m.IsNull(name) && state.IsNull(name)
	}
	m.Keep(state, name)
	return true
}

// setNothing sets the computed attributes of a rendering that has delivered nothing yet.
func setNothing(m schemas.Model, a *wish.Arguments) {
	setTree(m, a.Destination, nil)
	m.Set(tfvalue.Values{"unscheduled": []string{}, "tree_hash": nil, "target_tree_hash": nil})
	show(m, "files", true, func() any { return textsOf(nil) }, previewManifests)
	for _, name := range deliveryResults {
		m.Set(tfvalue.Values{name: nil})
	}
	if a.Strategy != strategy.None {
		m.Set(tfvalue.Values{"delivered": false})
	}
}

// keepResults keeps the results of the last apply that wrote. It keeps the description only if delivery.describe asks
// for one.
func keepResults(m, state schemas.Model, decision *delivery.Decision) {
	m.Keep(state, deliveryResults...)
	switch {
	case m.IsNull("rollout"):
		m.Set(tfvalue.Values{"rollout_status": nil})
	case decision.Applied.Wish.Delivers():
		m.Set(tfvalue.Values{"delivered": decision.Applied.ReachedBy(decision.Before)})
	}
	if decision.Stopped() { // the target of the last change stays until another change may begin
		m.Keep(state, "unscheduled", "delivered")
		if !m.IsNull("target_tree_hash") && !state.IsNull("target_tree_hash") {
			m.Keep(state, "target_tree_hash")
		}
	}
	switch detail := decision.Applied.Wish.Review.Detail; {
	case detail == wish.NoDescription:
		m.Set(tfvalue.Values{"description": nil})
	case unknown.Is(string(detail)) && !m.IsNull("description"):
		m.SetUnknown("description")
	}
}

// setResult sets the results of an apply. planned contains the planned results.
func setResult(m schemas.Model, decision *delivery.Decision, result *remote.Result, planned, state schemas.Model) {
	switch action := decision.Action; {
	case action == delivery.Keep || action == delivery.RemoveOld || action == delivery.Withhold:
		keepResults(m, state, decision)
		return
	case result.Applied.Wish.Strategy == strategy.None:
		setDelivery(m, "", nil, nil)
	default:
		setDelivery(m, result.Commit, result.Applied.ReachedBy(result.State), result.PullRequest)
	}
	if m.Keep(planned, "description"); m["description"].IsUnknown() {
		setDescription(context.Background(), m, result.Applied, result.Before) // what was delivered has to be in the state
	}
}

// setRefreshed sets the results of a refresh. files are the files on the branch after a revert; nil keeps the files of
// the state.
func setRefreshed(m schemas.Model, found *remote.Refreshed, files map[string][]byte) {
	before := m["pull_request"]
	if setDelivery(m, found.Commit, found.Delivered, found.PullRequest); found.PullRequest == nil {
		m["pull_request"] = before
	}
	if found.State.Reverted() {
		setReverted(m, found.State)
		setFiles(m, files, found.State.LastRead.Record.PromotedCommit)
	}
}

// setReverted sets the tree of the branch after people reset it to an earlier delivery. If the fleet now renders the
// same tree, the next plan is empty.
func setReverted(m schemas.Model, s *past.State) {
	record := s.LastRead.Record
	setTree(m, s.Destination, s.OwnFolders())
	m.Set(tfvalue.Values{
		"commit_sha": s.LastRead.Head, "delivered": record.Rollout == nil || record.Rollout.Complete,
	})
	if !m.IsNull("target_tree_hash") {
		hash := m.Text("tree_hash")
		if record.Rollout != nil {
			hash = record.Rollout.TargetTreeHash
		}
		m.Set(tfvalue.Values{
			"target_tree_hash": hash,
			"rollout_status":   tfvalue.OrNil(past.RolloutOf(record, s.LastRead.Time).Status()),
		})
	}
	promoted := record.FinalPromotion()
	if !m.IsNull("promoted_commit") {
		m.Set(tfvalue.Values{"promoted_commit": tfvalue.OrNil(promoted.Commit)})
	}
	if m.IsNull("promotion") {
		return
	}
	given := tfvalue.ValuesOf(promoted.Reason)
	if given["commit"] = tfvalue.OrNil(promoted.Commit); !promoted.Unsettled {
		given["unsettled"] = nil
	}
	m.SetIn("promotion", given)
}

// setDescription sets the description of a change if delivery.describe asks for one.
func setDescription(ctx context.Context, m schemas.Model, applied *next.Next, before *past.State) {
	m.Set(tfvalue.Values{"description": nil})
	if applied.Wish.Review.Detail != wish.NoDescription {
		m.Set(tfvalue.Values{"description": describe.Rendering(ctx, applied, before)})
	}
}

// setDelivery sets the results of a delivery. commit is empty if the branch does not contain the tree.
// delivered is nil for a rendering that is only computed.
func setDelivery(m schemas.Model, commit string, delivered any, pr *githost.PullRequest) {
	m.Set(tfvalue.Values{
		"commit_sha": tfvalue.OrNil(commit), "delivered": delivered, "pull_request": schemas.PullRequestValue(pr),
	})
}
