package provider_test

import (
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/gitserver"
)

// unknownPlacements are the cases of testdata/TestAccUnknownPlacement: what may not be known of the plan.
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
	"balance":              onAll,
}

var (
	onWest     = unknowns{undecided: []string{"west"}, tree: true}
	onSelected = unknowns{undecided: []string{"north", "west"}, unscheduled: true, tree: true}
	onAll      = unknowns{undecided: []string{"east", "north", "west"}, assignments: true, unscheduled: true, tree: true}
)

// TestAccUnknownPlacement plans placement that depends on values of a cluster type that this apply creates, or on
// arguments of the placement that are known after apply. What policies that look at them may place is unknown, all else
// is known; the apply does what the plan showed as known, and the plan after it is empty.
func TestAccUnknownPlacement(t *testing.T) {
	t.Parallel()
	r := newRootFrom(t, "testdata/TestAccUnknownPlacement")
	repo := gitserver.InitBare(t)
	r.write("terraform.tf", terraformBlock)
	r.env = append(r.env, "TF_VAR_repo=file://"+repo)
	for _, round := range []string{"one", "two", "three"} {
		r.env = append(r.env, "TF_VAR_round="+round)
		changes := r.plan()
		r.applyPlan()
		r.expectEmptyPlan()
		state := r.state()
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
}
