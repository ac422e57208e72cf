package rendering_test

import (
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/seeds"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// unknownPlacements lists the cases of testdata/TestAccUnknownPlacement, with the parts of the plan that may be
// unknown.
var unknownPlacements = map[string]unknowns{
	"known":                nothing,
	"taint":                onWest,
	"taint_effect":         onWest,
	"taints":               onWest,
	"taint_tolerated":      nothing,
	"taint_number":         onSelected,
	"taint_unread":         nothing,
	"toleration":           onWest,
	"toleration_unread":    nothing,
	"taint_and_toleration": onWest,
	"property":             onSelected,
	"property_unread":      nothing,
	"properties":           onSelected,
	"label":                onSelected,
	"label_unread":         nothing,
	"number":               onSelected,
	"names":                onSelected,
	"weight":               onSelected,
	"preference":           onSelected,
	"skew":                 onSelected,
	"spread_key":           onSelected,
	"unsatisfied":          onSelected,
	"generation":           onSelected,
	"placement":            onSelected,
	"name":                 onSelected,
	"decisions":            nothing,
	"balance":              onAll,
}

var (
	onWest     = unknowns{undecided: []string{"west"}, tree: true}
	onSelected = unknowns{undecided: []string{"north", "west"}, unscheduled: true, tree: true}
	onAll      = unknowns{undecided: []string{"east", "north", "west"}, assignments: true, unscheduled: true, tree: true}
)

// TestAccUnknownPlacement plans placement that depends on values of a cluster type that this apply creates, or on
// arguments of the placement that are known after apply. Only placements by policies that read them are unknown. The
// known parts of the plan match the state after the apply, and the next plan is empty.
func TestAccUnknownPlacement(t *testing.T) {
	t.Parallel()
	r := acc.NewRootFrom(t, "testdata/TestAccUnknownPlacement")
	repo := gitserver.InitBare(t)
	r.Env = append(r.Env, "TF_VAR_repo=file://"+repo)
	rounds := []string{"one", "two"} // the first round creates the renderings
	if seeds.Long() {
		rounds = append(rounds, "three")
	}
	for _, round := range rounds {
		r.Env = append(r.Env, "TF_VAR_round="+round)
		changes := r.Plan()
		r.ApplyPlan()
		r.ExpectEmptyPlan()
		state := r.State()
		for name, open := range unknownPlacements {
			t.Run(round+"/"+name, func(t *testing.T) {
				address := `kalypso_environment_rendering.case["` + name + `"]`
				if round != "one" {
					expectUnknown(t, changes[address], open)
				}
				expectApplied(t, changes[address], state[address])
				expectOnBranch(t, repo, name, ".", state[address])
			})
		}
	}
	expectInputs(r, "-var=round=four", "-var=require_known=true")
}

// unknownPlacementInputs are the unknown inputs that guardrails.require_known names.
var unknownPlacementInputs = map[string]string{
	"taint":                `cluster_types["west"].taints`,
	"taint_effect":         `cluster_types["west"].taints`,
	"taints":               `cluster_types["west"].taints`,
	"taint_number":         `cluster_types["west"].taints`,
	"toleration":           `scheduling_policies["web"].placement.tolerations`,
	"taint_and_toleration": `scheduling_policies["web"].placement.tolerations`,
	"property":             `cluster_types["west"].properties["cost"]`,
	"properties":           `cluster_types["west"].properties`,
	"label":                `cluster_types["west"].labels["zone"]`,
	"number":               `scheduling_policies["web"].placement.number_of_cluster_types`,
	"names":                `scheduling_policies["web"].placement.names`,
	"weight":               `scheduling_policies["web"].placement.prefer`,
	"preference":           `scheduling_policies["web"].placement.prefer`,
	"skew":                 `scheduling_policies["web"].placement.spread`,
	"spread_key":           `scheduling_policies["web"].placement.spread`,
	"unsatisfied":          `scheduling_policies["web"].placement.spread`,
	"generation":           `scheduling_policies["web"].placement.generation`,
	"placement":            `scheduling_policies["web"].placement.number_of_cluster_types`,
	"name":                 `scheduling_policies["web"].name`,
	"balance":              `cluster_types["west"].properties["cost"]`,
}

// expectInputs fails the test unless the plan refuses each case with unknown assignments, naming its input, and no
// other case.
func expectInputs(r *acc.Root, args ...string) {
	r.T.Helper()
	o := r.Terraform(append([]string{"plan", "-no-color"}, args...)...)
	refused := map[string]string{}
	for _, text := range strings.Split(o.Stderr, "Error: Assignments not known")[1:] {
		_, name, _ := strings.Cut(text, `case["`)
		name, _, _ = strings.Cut(name, `"]`)
		refused[name] = text
	}
	for name := range unknownPlacements {
		want, text := unknownPlacementInputs[name], refused[name]
		if (text != "") != (want != "") || !strings.Contains(text, "\n  "+want+"\n") && want != "" {
			r.T.Errorf("require_known names other inputs of %s than %q:\n%s", name, want, text)
		}
	}
}
