package rendering

import (
	"context"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/resources"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// deciding lists the arguments that decide what is delivered. An apply that a stop keeps from writing keeps them.
var deciding = []string{
	"environment", "cluster_types", "templates", "configs", "config_schemas", "secrets", "scheduling_policies",
	"workloads", "manifests", schemas.SourcesAttribute, "verified", "gitops_repo", "promoted_commit", "delivery",
	"preview",
}

// explaining lists the arguments that explain a tree: where the objects were read, and why the commit was chosen. An
// apply that does not write the tree keeps them, so that the plan shows no change.
var explaining = []string{schemas.SourcesAttribute, "verified", "manifests", "promotion"}

// keptArguments lists the arguments that are planned as the last apply had them, because the apply does nothing that
// depends on them; "a.b" is a part of an argument. The argument last is one more, or "". It is kept only if none of
// the others changes. Otherwise the apply uses its new value and decides again. An apply that tells teams of their
// workloads needs the commits of the objects.
func keptArguments(plan delivery.Plan, tells bool) (names []string, last string) {
	p := plan.All()
	_, withholds := plan.(*delivery.Withhold)
	switch {
	case p.Prior == nil:
		return nil, ""
	case p.Stop != nil:
		names = slices.Clone(deciding)
		if p.Stop.Cause != delivery.RolloutPaused || p.Prior.Paused { // else the pause is a new reason to decide again
			names = append(names, "rollout")
		}
		if withholds { // the promotion is a new reason to decide again
			return names, ""
		}
		return names, "promotion"
	case p.Args.Shown < inventory.Whole, p.Prior.Described && unknown.Is(string(p.Args.Review.Detail)):
		return nil, ""
	}
	names = slices.Clone(explaining)
	switch plan.(type) {
	case *delivery.Keep:
		names = append(names, "rollout.observed", "rollout.pause")
	case *delivery.Write, *delivery.Undecided:
		return nil, ""
	}
	if tells {
		names = slices.DeleteFunc(names, func(name string) bool {
			return name == schemas.SourcesAttribute || name == "manifests"
		})
	}
	return names, ""
}

// keepArguments plans the values of the last apply for the arguments that keep them, if Terraform accepts that.
func keepArguments(m, state resources.Model, plan delivery.Plan, tells bool) {
	all := true
	names, last := keptArguments(plan, tells)
	for _, name := range names {
		all = keepArgument(m, name, state) && all
	}
	if all && last != "" {
		keepArgument(m, last, state)
	}
}

// keepArgument plans the prior value of an argument, or of an attribute in it. It reports whether Terraform accepts
// that: only if neither value is null, and the configured value is known.
func keepArgument(m resources.Model, name string, state resources.Model) bool {
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

// keepIfOnly plans the prior value of an object if only the given attributes of it differ. These attributes may be
// null.
func keepIfOnly(m, state resources.Model, object string, names ...string) bool {
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

// revertArguments sets the arguments that name the promoted commit as a record on the branch has them, after people
// reset the branch to an earlier delivery.
func revertArguments(m resources.Model, r *record.Record) {
	promoted := r.FinalPromotion()
	if !m.IsNull("promoted_commit") {
		m.Set(tfvalue.Values{"promoted_commit": tfvalue.OrNil(promoted.Commit)})
	}
	if m.IsNull("promotion") {
		return
	}
	given := tfvalue.ValuesOf(promoted.Reason)
	given["commit"] = tfvalue.OrNil(promoted.Commit)
	if !promoted.Unsettled {
		given["unsettled"] = nil
	}
	m.SetIn("promotion", given)
}
