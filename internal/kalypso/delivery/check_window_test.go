package delivery_test

import (
	"errors"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/rollout"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/windows"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion"
)

// TestCheckWindow: an apply that promotes another commit or writes a wave must begin before its window closes. Other
// applies may begin at any time.
func TestCheckWindow(t *testing.T) {
	t.Parallel()
	closes := time.Date(2026, 11, 25, 15, 0, 0, 0, time.UTC)
	wave, back := &rollout.Step{Written: []string{"x"}, OpenUntil: closes}, &rollout.Step{Written: []string{"x"}}
	write := func(b delivery.Basis) delivery.Plan { return &delivery.Write{Basis: b} }
	keep := func(b delivery.Basis) delivery.Plan { return &delivery.Keep{Basis: b} }
	withhold := func(b delivery.Basis) delivery.Plan { return &delivery.Withhold{Basis: b} }
	for name, tc := range map[string]struct {
		plan     func(delivery.Basis) delivery.Plan
		strategy destination.Strategy
		decision promotion.Kind
		step     *rollout.Step
		of       string // the argument whose window has closed; empty if the apply may begin
	}{
		"a promotion":                 {write, destination.Push, promotion.Promote, nil, "promotion"},
		"a proposed promotion":        {write, destination.PullRequest, promotion.Promote, nil, "promotion"},
		"a promotion in waves":        {write, destination.Push, promotion.Promote, wave, "promotion"},
		"a later wave":                {write, destination.Push, promotion.Hold, wave, "rollout"},
		"a wave without a promotion":  {write, destination.PullRequest, "", wave, "rollout"},
		"folders that are reverted":   {write, destination.Push, promotion.Hold, back, ""},
		"a change of the environment": {write, destination.Push, promotion.Hold, nil, ""},
		"a rollback":                  {write, destination.Push, promotion.Rollback, nil, ""},
		"a pin":                       {write, destination.Push, promotion.Pinned, nil, ""},
		"nothing to write":            {keep, destination.Push, promotion.Promote, wave, ""},
		"a draft":                     {withhold, destination.PullRequest, promotion.Promote, wave, ""},
		"a computed tree":             {write, destination.None, promotion.Promote, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := &delivery.Arguments{Strategy: tc.strategy, Promotion: promotion.Promotion{
				OpenUntil: closes, Reason: promotion.Reason{Decision: tc.decision},
			}}
			d := tc.plan(delivery.Basis{
				Situation: &delivery.Situation{Args: a}, Next: &delivery.NextTree{Args: a, Step: tc.step},
			})
			if err := delivery.CheckWindow(d, closes.Add(-time.Second)); err != nil {
				t.Errorf("before: %v", err)
			}
			for _, now := range []time.Time{closes, closes.Add(time.Hour)} {
				of := ""
				var closed *windows.ClosedError
				if err := delivery.CheckWindow(d, now); errors.As(err, &closed) {
					of = closed.Of
				}
				if of != tc.of {
					t.Errorf("at %s the window of %q closed, want %q", now, of, tc.of)
				}
			}
		})
	}
}
