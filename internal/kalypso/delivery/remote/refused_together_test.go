package remote_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/drift"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/remote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// refusals returns the IDs of a plan's refusals, sorted, and its errors that accepted_changes can't allow.
func refusals(decision delivery.Plan, err error) (ids []string, others []error) {
	var all problem.Errors
	if !errors.As(err, &all) && err != nil {
		all = problem.Errors{err}
	}
	for _, s := range decision.All().Drift {
		if decision.All().Next.Args.ReactionTo(s) == drift.Fail {
			ids = append(ids, string(delivery.DriftID(s)))
		}
	}
	for _, err := range slices.Concat(decision.All().Errors, all) {
		if refused, ok := errors.AsType[*delivery.Refusal](err); ok && refused.ID != "" {
			ids = append(ids, string(refused.ID))
		} else if drifted, ok := errors.AsType[*delivery.DriftError](err); ok {
			ids = append(ids, string(delivery.DriftID(drifted.State)))
		} else {
			others = append(others, err)
		}
	}
	slices.Sort(ids)
	return ids, others
}

// TestRefusedTogether: one plan lists the IDs of all refusals of a change, each once. With these IDs in
// accepted_changes, the next plan and its apply succeed.
func TestRefusedTogether(t *testing.T) {
	t.Parallel()
	many := map[string][]string{"large": {"a", "b"}, "small": {"c", "d"}}
	nothing := map[string][]string{"large": nil, "small": nil}
	foreign := func(b *branch, name string) {
		gitserver.Seed(b, b.repo, name, map[string]string{"large/a-x/theirs.yaml": "a: 1\n"})
	}
	byHand := func(b *branch, s *delivery.State) *delivery.State {
		gitserver.Seed(b, b.repo, "dev", map[string]string{"small/c-x/reconciler.yaml": "by: hand\n"})
		return b.observe(s)
	}
	unreadable := func(b *branch, s *delivery.State) *delivery.Prior {
		return &delivery.Prior{
			Destination: s.Destination, Environment: "dev", TreeHash: s.Delivered.TreeHash().String(), Commit: s.Base,
			Delivered: true,
		}
	}
	for name, row := range map[string]struct {
		setUp func(*branch) (request, *delivery.Prior)
		kinds []string
	}{
		"create, nothing rendered, rendering of the environment": {func(b *branch) (request, *delivery.Prior) {
			b.deliver(b.request("1", many, nil), 1)
			return b.request("1", nothing, nil), nil
		}, []string{delivery.IDOccupied, delivery.IDRemoved}},
		"create, nothing rendered, adoption": {func(b *branch) (request, *delivery.Prior) {
			b.deliver(b.request("1", many, nil), 1)
			o := b.request("1", nothing, nil)
			o.Adopt = true
			return o, nil
		}, []string{delivery.IDRemoved}},
		"create, nothing rendered, foreign folders": {func(b *branch) (request, *delivery.Prior) {
			foreign(b, "dev")
			return b.request("1", nothing, nil), nil
		}, []string{delivery.IDEmpty, delivery.IDOccupied, delivery.IDRemoved}},
		"create, nothing rendered, empty branch": {func(b *branch) (request, *delivery.Prior) {
			return b.request("1", nothing, nil), nil
		}, nil},
		"create, rendering of another environment": {func(b *branch) (request, *delivery.Prior) {
			b.deliver(b.request("1", many, nil), 1)
			o := b.request("1", map[string][]string{"large": {"a"}}, nil)
			o.Environment, o.Tree = "prod", build(b, "prod", "1", map[string][]string{"large": {"a"}})
			return o, nil
		}, []string{delivery.IDOccupied, delivery.IDRemoved}},
		"removed, emptied, moved, drift": {func(b *branch) (request, *delivery.Prior) {
			s := byHand(b, b.deliver(b.request("1", many, nil), 1))
			o := b.request("2", map[string][]string{"large": {"c"}, "small": nil}, s)
			return o, &delivery.Prior{TreeHash: s.Delivered.TreeHash().String(), Commit: s.Base}
		}, []string{delivery.IDDrift, delivery.IDEmptied, delivery.IDMoved, delivery.IDRemoved}},
		"move, moved, drift, foreign folders": {func(b *branch) (request, *delivery.Prior) {
			s := byHand(b, b.deliver(b.request("1", many, nil), 1))
			foreign(b, "live")
			o := b.request("1", map[string][]string{"large": {"a", "b", "c"}, "small": {"d"}}, s)
			o.Destination.Branch = "live"
			return o, &delivery.Prior{TreeHash: s.Delivered.TreeHash().String(), Commit: s.Base}
		}, []string{delivery.IDDrift, delivery.IDMove, delivery.IDMoved, delivery.IDOccupied}},
		"unreadable state, drift, removed, emptied": {func(b *branch) (request, *delivery.Prior) {
			s := b.deliver(b.request("1", many, nil), 1)
			byHand(b, s)
			return b.request("1", map[string][]string{"large": {"a"}, "small": nil}, nil), unreadable(b, s)
		}, []string{delivery.IDDrift, delivery.IDEmptied, delivery.IDRemoved}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBranch(t)
			o, prior := row.setUp(b)
			o.OnDrift, o.Guardrails.Emptied, o.Guardrails.Moved = drift.Fail, problem.Fail, problem.Fail
			operations := remote.Operations{Git: b.client, Claims: &remote.Claims{}}
			plan := func(ids []string) (delivery.Plan, []string) {
				arguments := *o.Arguments
				arguments.AcceptedChanges = ids
				decision := delivery.Decide(delivery.NewRendered(&arguments, o.Tree), prior, o.before)
				_, err := operations.Check(t.Context(), decision)
				refused, others := refusals(decision, err)
				if len(others) > 0 {
					t.Errorf("accepted_changes = %v: %v", ids, others)
				}
				return decision, refused
			}
			_, ids := plan(nil)
			var kinds []string
			for _, id := range ids {
				kind, _, _ := strings.Cut(id, "-")
				kinds = append(kinds, kind)
			}
			if diff := cmp.Diff(row.kinds, kinds); diff != "" {
				t.Errorf("refused (-want +got):\n%s", diff)
			}
			decision, again := plan(ids)
			if len(again) > 0 {
				t.Fatalf("with accepted_changes = %v, the next plan refuses %v", ids, again)
			}
			if _, err := operations.Apply(t.Context(), decision); err != nil {
				t.Error(err)
			}
		})
	}
}
