package pullrequest_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/pullrequest"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
)

// The table below specifies what a run does. In the usual case, the target lacks the change. Our branch contains it on
// top of the target, in a commit of ours, and its pull request 7 is open. Each row changes one part of this case.

var errMoved = errors.New("people pushed after the plan")

func usual() *pullrequest.Situation {
	return &pullrequest.Situation{
		Location: pullrequest.TopicLocation{
			Repo:   "https://acme.io/gitops",
			Branch: "ours/dev",
			Target: "dev",
			Path:   ".",
		},
		Known: &pullrequest.Known{Number: 7, Open: true, Head: "head"},
		PullRequest: &githost.PullRequest{
			Number: 7, URL: "https://acme.io/7", State: githost.Open, HeadCommit: "head",
		},
		Head: "target",
		Comparison: pullrequest.Comparison{
			Needed: true, Existing: true, Discard: true,
			OwnBranch: pullrequest.OwnBranch{Head: "head", Parents: []string{"target"}, Unchanged: true},
		},
	}
}

// other lets our branch contain another change, in a commit of ours or in a foreign commit.
func other(s *pullrequest.Situation, ours bool) {
	s.Comparison.Existing, s.Comparison.OwnBranch.Unchanged = false, ours
}

func closed(s *pullrequest.Situation, head string) {
	s.PullRequest.State, s.PullRequest.HeadCommit, s.Known.Open = githost.Closed, head, false
}

// textOf returns the steps of a plan, or its error, as a text.
func textOf(steps []pullrequest.Step, err error) string {
	var foreign *pullrequest.ForeignError
	switch {
	case errors.As(err, &foreign):
		return "refuses: " + foreign.Reason
	case err != nil:
		return "refuses: " + err.Error()
	case len(steps) == 0:
		return "nothing"
	}
	var parts []string
	for _, step := range steps {
		part := string(step.Action)
		switch {
		case step.Action == pullrequest.Close:
			part += fmt.Sprintf(" %d", step.Number)
		case step.Action == pullrequest.Delete && step.Commit == "":
			part += " if ours"
		case step.Action == pullrequest.Delete:
			part += " at " + step.Commit
		case step.PreviousMethod != "":
			part += " off, unless people changed " + string(step.PreviousMethod)
		case step.Action == pullrequest.AutoMerge:
			part += " " + string(step.Method)
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

const (
	peoplePushed = "refuses: people pushed to the branch of pull request 7 (https://acme.io/7), and the state does not " +
		"know their change. Merge it, or close it: then the next apply replaces the branch."
	notOurs = "refuses: the branch exists and is not this rendering's. Choose another delivery.branch_prefix, or remove " +
		"the branch."
)

func TestPlan(t *testing.T) {
	type situation = pullrequest.Situation
	for _, test := range []struct {
		rule string
		with func(*situation)
		want string
	}{
		{"our branch contains the change on top of the target", func(*situation) {}, "edit"},
		{"neither branch nor pull request exists", func(s *situation) {
			s.PullRequest, s.Known, s.Comparison.Existing, s.Comparison.OwnBranch = nil, nil, false, pullrequest.OwnBranch{}
		}, "push, open"},
		{"an apply was killed after its push", func(s *situation) { s.PullRequest, s.Known = nil, nil }, "open"},
		{"an apply was killed after its push, and the fleet changed", func(s *situation) {
			s.PullRequest, s.Known = nil, nil
			other(s, true)
		}, "push, open"},

		// Our branch.
		{"the target moved", func(s *situation) { s.Comparison.OwnBranch.Parents = []string{"older"} }, "push, edit"},
		{"people merged the target into our branch",
			func(s *situation) { s.Comparison.OwnBranch.Parents = []string{"target", "other"} },
			"push, edit"},
		{"our branch contains an older change of ours", func(s *situation) { other(s, true) }, "push, edit"},
		{"our branch was deleted",
			func(s *situation) { s.Comparison.Existing, s.Comparison.OwnBranch = false, pullrequest.OwnBranch{} },
			"push, edit"},
		{"people pushed to our branch, and the plan listed the push",
			func(s *situation) { other(s, false); s.Comparison.Listed = true },
			"push, edit"},
		{"people pushed to our branch after the plan", func(s *situation) {
			other(s, false)
			s.Comparison.Listed, s.Comparison.Moved = true, errMoved
		}, "refuses: people pushed after the plan"},
		{"our branch contains our commit, and the plan listed another commit", func(s *situation) {
			other(s, true)
			s.Comparison.Listed, s.Comparison.Moved = true, errMoved
		}, "push, edit"},
		{"people pushed to our branch, and the state was lost", func(s *situation) { other(s, false) }, peoplePushed},
		{"the branch is foreign, and has no pull request", func(s *situation) {
			other(s, false)
			s.PullRequest = nil
		}, notOurs},
		{"people pushed to our branch, then closed the pull request", func(s *situation) {
			other(s, false)
			closed(s, "head")
		}, "push, open"},
		{"people closed the pull request, then pushed to our branch", func(s *situation) {
			other(s, false)
			closed(s, "older")
		}, notOurs},
		{"people pushed to our branch, and merged the pull request", func(s *situation) {
			other(s, false)
			s.PullRequest.State = githost.Merged
		}, "push, open"},
		{"people wrote the same commit", func(s *situation) { s.Comparison.OwnBranch.Unchanged = false }, "edit"},

		// A pull request that was merged or closed.
		{"people closed the pull request of the change", func(s *situation) { closed(s, "head") }, "nothing"},
		{"closed pull request, and the target moved", func(s *situation) {
			closed(s, "head")
			s.Comparison.OwnBranch.Parents = []string{"older"}
		}, "nothing"},
		{"closed pull request, the apply waits", func(s *situation) { closed(s, "head"); s.Settings.Wait = true }, "wait"},
		{"closed pull request, reopen is set", func(s *situation) { closed(s, "head"); s.Settings.Reopen = true }, "open"},
		{"closed pull request, reopen is set, and the target moved", func(s *situation) {
			closed(s, "head")
			s.Settings.Reopen, s.Comparison.OwnBranch.Parents = true, []string{"older"}
		}, "push, open"},
		{"closed pull request with auto-merge configured",
			func(s *situation) { closed(s, "head"); s.Settings.AutoMerge = "squash" },
			"nothing"},
		{"people closed the pull request of another change", func(s *situation) { closed(s, "older") }, "open"},
		{"closed pull request, and another change is desired", func(s *situation) { closed(s, "head"); other(s, true) },
			"push, open"},
		{"merged pull request, and the target lacks the change again", func(s *situation) {
			s.PullRequest.State = githost.Merged
		}, "open"},

		// Auto-merge and wait.
		{"auto-merge is configured", func(s *situation) { s.Settings.AutoMerge = "squash" }, "edit, auto-merge squash"},
		{"we enabled auto-merge, which is still configured",
			func(s *situation) { s.Settings.AutoMerge, s.Known.AutoMerge = "squash", "merge" }, "edit, auto-merge squash"},
		{"we enabled auto-merge, which is no longer configured", func(s *situation) { s.Known.AutoMerge = "squash" },
			"edit, auto-merge off, unless people changed squash"},
		{"people enabled auto-merge", func(s *situation) { s.PullRequest.AutoMerge = "squash" }, "edit"},
		{"we enabled auto-merge of another pull request",
			func(s *situation) { s.Known.Number, s.Known.AutoMerge = 6, "squash" }, "edit"},
		{"the state was lost with auto-merge enabled",
			func(s *situation) { s.Known, s.PullRequest.AutoMerge = nil, "squash" }, "edit"},
		{"the apply waits", func(s *situation) { s.Settings.Wait = true }, "edit, wait"},
		{"the host merges, the apply waits", func(s *situation) { s.Settings.AutoMerge, s.Settings.Wait = "rebase", true },
			"edit, auto-merge rebase, wait"},

		// The target contains the change.
		{"the target contains the change, and the pull request is open", func(s *situation) { s.Comparison.Needed = false },
			"close 7, delete at head"},
		{"the target contains the change, and the apply waits", func(s *situation) {
			s.Comparison.Needed, s.Settings.Wait, s.Settings.AutoMerge = false, true, "merge"
		}, "close 7, delete at head"},
		{"the target contains the change, and people closed the pull request", func(s *situation) {
			s.Comparison.Needed = false
			closed(s, "head")
		}, "delete at head"},
		{"the target contains the change, and the state was lost",
			func(s *situation) { s.Comparison.Needed, s.Known = false, nil },
			"close 7, delete if ours"},
		{"the target contains the change, and the branch was kept", func(s *situation) {
			s.Comparison.Needed, s.Comparison.Discard = false, false
		}, "close 7"},
		{"the target contains the change by the merge", func(s *situation) {
			s.Comparison.Needed, s.Comparison.Discard, s.PullRequest.State = false, false, githost.Merged
		}, "nothing"},
		{"the target contains the change, and the state knows another open pull request",
			func(s *situation) { s.Comparison.Needed, s.Known.Number = false, 6 }, "close 7, close 6, delete at head"},
		{"the target contains the change, and only the state knows a pull request",
			func(s *situation) { s.Comparison.Needed, s.PullRequest = false, nil }, "close 7, delete at head"},
		{"the target contains the change, and the apply was killed before a pull request was opened",
			func(s *situation) { s.Comparison.Needed, s.PullRequest, s.Known.Number = false, nil, 0 }, "delete at head"},
		{"the target contains the change, foreign branch",
			func(s *situation) { s.Comparison.Needed = false; other(s, false) },
			"close 7, delete at head"},
	} {
		t.Run(test.rule, func(t *testing.T) {
			s := usual()
			test.with(s)
			if got := textOf(pullrequest.Plan(*s)); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// TestPlanInvariants checks the invariants of a plan for all combinations of its inputs.
func TestPlanInvariants(t *testing.T) {
	count := 0
	for s := range situations {
		count++
		steps, err := pullrequest.Plan(s)
		if broken := check(s, steps, err); broken != "" {
			t.Errorf("%s: %s\n%+v\n%+v", broken, textOf(steps, err), s, s.PullRequest)
		}
	}
	t.Logf("%d situations", count)
}

// situations yields all combinations of the inputs of a plan.
func situations(yield func(pullrequest.Situation) bool) {
	bools := []bool{false, true}
	branches := []pullrequest.OwnBranch{
		{}, {Head: "head", Parents: []string{"target"}, Unchanged: true},
		{Head: "head", Parents: []string{"older"}, Unchanged: true},
		{Head: "head", Parents: []string{"target"}}, {Head: "head", Parents: []string{"older"}},
	}
	pulls := []*githost.PullRequest{nil}
	for _, state := range []githost.PullRequestState{githost.Open, githost.Closed, githost.Merged} {
		for _, head := range []string{"head", "older"} {
			pulls = append(pulls, &githost.PullRequest{Number: 7, State: state, HeadCommit: head})
		}
	}
	known := []*pullrequest.Known{
		nil, {Number: 7, Open: true, Head: "head"}, {Number: 6, Open: true, Head: "head"}, {Number: 7, Head: "head"},
		{Number: 7, Open: true, AutoMerge: "merge"},
	}
	flags := 1 << 8
	for _, branch := range branches {
		for _, pr := range pulls {
			for _, k := range known {
				for n := range flags {
					flag := func(i int) bool { return bools[n>>i&1] }
					s := pullrequest.Situation{
						Head: "target", PullRequest: pr, Known: k,
						Comparison: pullrequest.Comparison{
							Needed: flag(0), Existing: flag(1) && branch.Head != "", OwnBranch: branch, Listed: flag(2), Discard: flag(4),
						},
						Settings: pullrequest.Settings{Wait: flag(5), Reopen: flag(6)},
					}
					if flag(3) {
						s.Comparison.Moved = errMoved
					}
					if flag(7) {
						s.Settings.AutoMerge = "squash"
					}
					if !yield(s) {
						return
					}
				}
			}
		}
	}
}

// check returns the rule that a plan breaks, or "".
func check(s pullrequest.Situation, steps []pullrequest.Step, err error) string {
	at := func(action pullrequest.Action) int {
		return slices.IndexFunc(steps, func(step pullrequest.Step) bool { return step.Action == action })
	}
	has := func(action pullrequest.Action) bool { return at(action) >= 0 }
	open := s.PullRequest != nil && s.PullRequest.State == githost.Open
	last := len(steps) - 1
	switch {
	case err != nil && len(steps) > 0:
		return "a plan that is refused has steps"
	case err != nil && (!s.Comparison.Needed || s.Comparison.Existing || s.Comparison.OwnBranch.Unchanged ||
		s.Comparison.OwnBranch.Head == ""):
		return "a plan is refused although no foreign commit would be overwritten"
	case !s.Comparison.Needed && (has(pullrequest.Push) || has(pullrequest.Create) || has(pullrequest.Update)),
		!s.Comparison.Needed && has(pullrequest.Wait):
		return "a change is proposed that the target already contains"
	case !s.Comparison.Needed && open && !has(pullrequest.Close):
		return "a pull request without a change is left open"
	case !s.Comparison.Needed && has(pullrequest.Delete) != s.Comparison.Discard:
		return "our branch is not deleted although Discard is set, or deleted although it is not set"
	case s.Comparison.Needed && (has(pullrequest.Close) || has(pullrequest.Delete)):
		return "the pull request of a needed change is closed"
	case has(pullrequest.Push) && at(pullrequest.Push) != 0:
		return "a step comes before the push"
	case has(pullrequest.Create) && open:
		return "two pull requests are open"
	case has(pullrequest.Update) && !open:
		return "a pull request that is not open is edited"
	case has(pullrequest.Push) && !has(pullrequest.Create) && !has(pullrequest.Update):
		return "a push without a pull request"
	case has(pullrequest.Push) && !s.Comparison.Existing && s.Comparison.OwnBranch.Head != "" &&
		!s.Comparison.OwnBranch.Unchanged && s.Comparison.Listed &&
		s.Comparison.Moved != nil:
		return "a push replaces commits that no plan listed"
	case has(pullrequest.Push) && !s.Comparison.Existing && s.Comparison.OwnBranch.Head != "" &&
		!s.Comparison.OwnBranch.Unchanged && !s.Comparison.Listed &&
		(s.PullRequest == nil || open || s.PullRequest.HeadCommit != s.Comparison.OwnBranch.Head):
		return "a push replaces a foreign branch"
	case err == nil && s.Comparison.Needed && s.Settings.Wait && (last < 0 || steps[last].Action != pullrequest.Wait):
		return "the apply does not wait"
	case !s.Settings.Wait && has(pullrequest.Wait):
		return "the apply waits"
	case has(pullrequest.AutoMerge) && !has(pullrequest.Create) && !has(pullrequest.Update):
		return "auto-merge without a pull request"
	case s.Settings.AutoMerge != "" && (has(pullrequest.Create) || has(pullrequest.Update)) != has(pullrequest.AutoMerge):
		return "auto-merge is not enabled"
	}
	return ""
}
