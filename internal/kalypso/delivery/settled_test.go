package delivery

import "testing"

// A rendering is settled after its delivery and its proposal, but not while others have changed it.
func TestSettled(t *testing.T) {
	for name, test := range map[string]struct {
		with func(*situation)
		want bool
	}{
		"delivered":                 {func(*situation) {}, true},
		"proposed":                  {func(s *situation) { s.proposed("large/a=2 large/b=1 small/c=1") }, true},
		"changed by others":         {func(s *situation) { edit(s.state, "large/a=9 large/b=1 small/c=1") }, false},
		"another tree":              {func(s *situation) { s.desired.Tree = rendered("large/a=2") }, false},
		"another promoted commit":   {func(s *situation) { s.desired.Promotion.Commit = "v2" }, false},
		"an old location to remove": {func(s *situation) { s.moved() }, false},
		"another setting of the pull request": {func(s *situation) {
			s.proposed("large/a=2 large/b=1 small/c=1")
			s.desired.PullRequest.Draft = true
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := usualSituation()
			test.with(s)
			if s.decide(t); s.settled != test.want {
				t.Errorf("settled: %t", s.settled)
			}
		})
	}
}
