package delivery

import (
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/check"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/strategy"
)

// TestPlanDestroy lists the paths that a destroy removes.
func TestPlanDestroy(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*situation)
		want   []string // nil: no problem
		errors bool
	}{
		{name: "by push", change: func(*situation) {}, want: []string{"The destroy removes these paths from",
			"  .kalypso/rendering.json\n  large (2 deployment targets)\n  small (1 deployment target)"}},
		{name: "by pull request", change: func(s *situation) { s.desired.Strategy = strategy.PullRequest },
			want: []string{"opens a pull request that removes these paths"}},
		{name: "below a path", change: func(s *situation) {
			s.state.Destination.Path = "fleet"
		}, want: []string{"fleet/large (2"}},
		{name: "protected", change: func(s *situation) { s.desired.Protected = true }, errors: true,
			want: []string{"protected"}},
		{name: "kept", change: func(s *situation) { s.desired.KeepOnDestroy = true }},
		{name: "with the strategy none", change: func(s *situation) { s.desired.Strategy = strategy.None }},
		{name: "without a delivery", change: func(s *situation) { s.state = nil }},
		{name: "with the record of another rendering", change: func(s *situation) {
			s.state.LastRead.Record.Environment = "prod"
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := usualSituation()
			tt.change(s)
			ps := check.PlanDestroy(&s.desired.Arguments, s.state)
			if (len(ps) > 0) != (tt.want != nil) || ps.HasErrors() != tt.errors {
				t.Fatal(ps)
			}
			for _, want := range tt.want {
				if !strings.Contains(ps.Error(), want) {
					t.Errorf("no %q in\n%v", want, ps)
				}
			}
		})
	}
}
