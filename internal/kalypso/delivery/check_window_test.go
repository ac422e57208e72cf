package delivery_test

import (
	"errors"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/next"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/strategy"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/wish"
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
	for name, tc := range map[string]struct {
		action   delivery.Action
		strategy strategy.Strategy
		decision promotion.Kind
		step     *rollout.Step
		of       string // the argument whose window has closed; empty if the apply may begin
	}{
		"a promotion":                 {delivery.Write, strategy.Push, promotion.Promote, nil, "promotion"},
		"a proposed promotion":        {delivery.Write, strategy.PullRequest, promotion.Promote, nil, "promotion"},
		"a promotion in waves":        {delivery.Write, strategy.Push, promotion.Promote, wave, "promotion"},
		"a later wave":                {delivery.Write, strategy.Push, promotion.Hold, wave, "rollout"},
		"a wave without a promotion":  {delivery.Write, strategy.PullRequest, "", wave, "rollout"},
		"folders that are reverted":   {delivery.Write, strategy.Push, promotion.Hold, back, ""},
		"a change of the environment": {delivery.Write, strategy.Push, promotion.Hold, nil, ""},
		"a rollback":                  {delivery.Write, strategy.Push, promotion.Rollback, nil, ""},
		"a pin":                       {delivery.Write, strategy.Push, promotion.Pinned, nil, ""},
		"nothing to write":            {delivery.Keep, strategy.Push, promotion.Promote, wave, ""},
		"a draft":                     {delivery.Withhold, strategy.PullRequest, promotion.Promote, wave, ""},
		"a computed tree":             {delivery.Write, strategy.None, promotion.Promote, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := delivery.Decision{Action: tc.action, Step: tc.step, Applied: &next.Next{Wish: &wish.Arguments{
				Strategy: tc.strategy, Promotion: promotion.Promotion{
					OpenUntil: closes, Reason: promotion.Reason{Decision: tc.decision},
				},
			}}}
			if err := d.CheckWindow(closes.Add(-time.Second)); err != nil {
				t.Errorf("before: %v", err)
			}
			for _, now := range []time.Time{closes, closes.Add(time.Hour)} {
				of := ""
				var closed *windows.ClosedError
				if err := d.CheckWindow(now); errors.As(err, &closed) {
					of = closed.Of
				}
				if of != tc.of {
					t.Errorf("at %s the window of %q closed, want %q", now, of, tc.of)
				}
			}
		})
	}
}
