package delivery

import (
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
)

// TestPlanDestroy: the plan of a destroy lists the paths that are removed.
func TestPlanDestroy(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*situation)
		want   []string // parts of the problems; nil if there is no problem
		errors bool
	}{
		{name: "push", change: func(*situation) {}, want: []string{"The destroy removes these paths from",
			"  .kalypso/rendering.json\n  large (2 deployment targets)\n  small (1 deployment target)"}},
		{name: "pull request", change: func(s *situation) { s.desired.Strategy = destination.PullRequest },
			want: []string{"opens a pull request that removes these paths"}},
		{name: "destination with a path", change: func(s *situation) {
			s.state.Destination.Path = "fleet"
		}, want: []string{"fleet/large (2"}},
		{name: "protected rendering", change: func(s *situation) { s.desired.Protected = true }, errors: true,
			want: []string{"protected"}},
		{name: "keep_on_destroy", change: func(s *situation) { s.desired.KeepOnDestroy = true }},
		{name: "strategy none", change: func(s *situation) { s.desired.Strategy = destination.None }},
		{name: "no delivery", change: func(s *situation) { s.state = nil }},
		{name: "record of another rendering", change: func(s *situation) {
			s.state.LastRead.Record.Environment = "prod"
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := usualSituation()
			tt.change(s)
			ps := PlanDestroy(&s.desired.Arguments, s.state)
			if (len(ps) > 0) != (tt.want != nil) || ps.HasErrors() != tt.errors {
				t.Fatal(ps)
			}
			for _, want := range tt.want {
				if !strings.Contains(ps.Error(), want) {
					t.Errorf("the problems do not contain %q:\n%v", want, ps)
				}
			}
		})
	}
}
