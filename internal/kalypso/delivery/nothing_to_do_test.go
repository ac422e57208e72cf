package delivery

import "testing"

// TestNothingToDo: nothing is left to do once the tree is delivered or proposed, unless people changed it outside
// Terraform.
func TestNothingToDo(t *testing.T) {
	for name, test := range map[string]struct {
		with func(*situation)
		want bool
	}{
		"delivered tree":              {func(*situation) {}, true},
		"proposed tree":               {func(s *situation) { s.proposed("large/a=2 large/b=1 small/c=1") }, true},
		"foreign changes":             {func(s *situation) { edit(s.state, "large/a=9 large/b=1 small/c=1") }, false},
		"another tree":                {func(s *situation) { s.desired.Tree = rendered("large/a=2") }, false},
		"another promoted commit":     {func(s *situation) { s.desired.Promotion.Commit = "v2" }, false},
		"previous location to remove": {func(s *situation) { s.moved() }, false},
		"another setting of the pull request": {func(s *situation) {
			s.proposed("large/a=2 large/b=1 small/c=1")
			s.desired.PullRequest.Draft = true
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := usualSituation()
			test.with(s)
			s.decide(t)
			if s.settled != test.want {
				t.Errorf("settled: %t", s.settled)
			}
		})
	}
}
