package promotion_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// office is a window from 8 to 16 o'clock in Berlin, from Monday to Thursday.
var office = map[string]any{
	"kind": "allow", "schedule": "0 8 * * 1-4", "duration": "8h", "time_zone": "Europe/Berlin",
}

// atTime sets the clock that the provider and the host use.
func (p *promotionRoot) atTime(text string) {
	p.T.Helper()
	now, err := time.Parse("2006-01-02 15:04", text)
	if err != nil {
		p.T.Fatal(err)
	}
	p.now = now
}

// withClock makes the provider use the clock of the test, and sets it to a time at which the windows are open.
func withClock(p *promotionRoot) *promotionRoot {
	p.T.Helper()
	p.Attached = acc.ServeProvider(p.T, provider.WithClock(func() time.Time { return p.now }))
	p.Write("windows.tf", "output \"windows\" {\n  value = [data.kalypso_promotion.this.opens_at, "+
		"data.kalypso_promotion.this.open_until]\n}\n")
	p.atTime("2026-11-25 09:00") // a Wednesday
	return p
}

// expectWindows expects the outputs opens_at and open_until after a run.
func (p *promotionRoot) expectWindows(opensAt, openUntil string) {
	p.T.Helper()
	var got []*string
	p.Output("windows", &got)
	texts := []string{"", ""}
	for i, text := range got {
		if text != nil {
			texts[i] = *text
		}
	}
	if texts[0] != opensAt || texts[1] != openUntil {
		p.T.Errorf("opens_at is %q, and open_until %q", texts[0], texts[1])
	}
}

// planChange makes a saved plan, and expects that it changes the rendering.
func (p *promotionRoot) planChange() acc.Change {
	p.T.Helper()
	c := p.Plan()["kalypso_environment_rendering.this"]
	if len(c.Actions) != 1 || c.Actions[0] == "no-op" {
		p.T.Fatalf("the plan has the actions %v", c.Actions)
	}
	return c
}

// expectLate expects that the saved plan writes nothing, because its window closed.
func (p *promotionRoot) expectLate(closed string) {
	p.T.Helper()
	head := gitserver.Git(p.T, p.gitAt, "for-each-ref")
	p.ExpectError([]string{"Error: The window closed", "The window closed at " + closed + "; plan again."}, "apply",
		"-no-color", "plan")
	if now := gitserver.Git(p.T, p.gitAt, "for-each-ref"); now != head {
		p.T.Errorf("the apply wrote to the branch:\n%s\n%s", head, now)
	}
}

// Outside of its windows, an environment gets no newer commit. It still gets its own changes, approved commits, pins
// and rollbacks. A plan that was made in an open window is not applied after the window has closed.
func TestAccWindows(t *testing.T) {
	t.Parallel()
	p := withClock(newPromotionRootOfFiles(t))
	holidays := map[string]any{
		"kind": "deny", "from": "2026-12-20T00:00:00+01:00", "until": "2027-01-04T00:00:00+01:00", "reason": "holidays",
	}
	windows := []any{office, holidays}
	p.rules("windows", windows)

	// Before the first promotion, at night: nothing is delivered.
	p.atTime("2026-11-24 22:00")
	first := p.commit()
	seen := p.expect("hold", "")
	if len(seen.Waiting) != 1 || seen.Waiting[0].Gate != "window" || seen.Waiting[0].Commit != first {
		t.Errorf("%+v", seen.Waiting)
	}
	acc.ExpectTexts(t, seen.Waiting[0].Reason, "waits until 2026-11-25T08:00:00+01:00 (2026-11-25T07:00:00Z): ")
	p.expectWindows("2026-11-25T07:00:00Z", "")
	p.expectUnchanged("Nothing is promoted yet", "waits until 2026-11-25T08:00:00+01:00")
	p.atTime("2026-11-25 07:00")
	p.expect("promote", first)
	p.expectWindows("", "2026-11-25T15:00:00Z")
	acc.ExpectTexts(t, p.message(), "the window is open until 2026-11-25T15:00:00Z")
	p.expect("up_to_date", first)
	p.ExpectEmptyPlan()

	// A plan that is made during the day and applied in the evening writes nothing. The next plan waits, and is empty.
	second := p.commit()
	p.planChange()
	p.atTime("2026-11-25 15:00")
	p.expectLate("2026-11-25T15:00:00Z")
	p.apply()
	p.expectWindows("2026-11-26T07:00:00Z", "")
	if seen := p.decision(); seen.Decision != "hold" || seen.Commit != first || seen.Candidate != second {
		t.Errorf("%+v", seen)
	}
	p.ExpectEmptyPlan()
	p.atTime("2026-11-25 23:59")
	p.ExpectEmptyPlan() // no output changes from minute to minute

	// The environment's own changes are delivered at night, and by a plan of the day that is applied after the window.
	p.ownChange("small")
	p.expect("hold", first)
	p.atTime("2026-11-26 14:00")
	p.rules("windows", windows, "rejected", map[string]any{second: nil}) // so that nothing is promoted
	p.ownChange("tiny")
	p.planChange()
	p.atTime("2026-11-26 16:00")
	p.ApplyPlan()
	if files := gitserver.Tree(t, p.gitAt, "prod"); files["small/shop-web/namespace.yaml"] == "" ||
		files["tiny/shop-web/namespace.yaml"] == "" {
		t.Errorf("the branch has %v", files)
	}

	// People act at night: they approve, pin and reject.
	third := p.commit()
	p.rules("windows", windows)
	p.expect("hold", first)
	p.rules("windows", windows, "approved", []string{third})
	p.expect("promote", third)
	p.rules("windows", windows, "pinned_commit", first)
	p.expect("pinned", first)
	p.rules("windows", windows)
	p.expect("up_to_date", first)
	fourth := p.commit()
	p.rules("windows", windows, "approved", []string{fourth})
	p.expect("promote", fourth)
	p.rules("windows", windows, "rejected", map[string]any{fourth: nil})
	p.expect("rollback", first)

	// The holidays deny changes, even while the other window is open.
	fifth := p.commit()
	p.rules("windows", windows)
	p.atTime("2026-12-21 10:00")
	seen = p.expect("hold", first)
	acc.ExpectTexts(t, seen.Summary, "window: waits until 2027-01-04T08:00:00+01:00 (2027-01-04T07:00:00Z): holidays")
	strict := map[string]any{"strict": true}
	for name, value := range holidays {
		strict[name] = value
	}
	p.rules("windows", []any{office, strict}, "approved", []string{fifth})
	p.expect("hold", first)
	p.rules("windows", windows, "approved", []string{fifth})
	p.expect("promote", fifth)
	p.atTime("2027-01-04 07:00")
	p.rules("windows", windows)
	p.expect("promote", p.commit())
}

// observes sets the rollout with its windows, other arguments in pairs, and an observation with the current time.
func (p *promotionRoot) observes(windows []any, pairs ...any) {
	p.T.Helper()
	p.inWaves()
	rollout, _ := p.Vars["rollout"].(map[string]any)
	rollout["windows"] = windows
	observed, _ := rollout["observed"].(map[string]any)
	observed["observed_at"] = p.now.UTC().Format(time.RFC3339)
	for i := 0; i < len(pairs); i += 2 {
		rollout[fmt.Sprint(pairs[i])] = pairs[i+1]
	}
	p.Set("rollout", rollout)
}

// Outside of its windows, a rollout writes no wave, but it still rolls folders back. The plan of a wave is not applied
// after its window has closed.
func TestAccWindowsOfRollout(t *testing.T) {
	t.Parallel()
	p := withClock(newPromotionRootOfFiles(t))
	windows := []any{office}
	gitserver.Seed(t, p.gitAt, "prod", map[string]string{"README.md": "GitOps\n"})
	p.ownChange("small")
	first := p.commit()

	// The first wave of a new rendering waits too, and the create stores that nothing is delivered.
	p.atTime("2026-11-24 22:00")
	p.observes(windows)
	p.apply()
	p.expectUnchanged("The rollout is paused", "rollout.windows are closed until 2026-11-25T08:00:00+01:00 "+
		"(2026-11-25T07:00:00Z): no window that allows changes is open", "nothing is written until they open")
	p.atTime("2026-11-25 08:00")
	p.observes(nil)
	p.apply()
	p.now = p.now.Add(time.Minute)
	p.observes(nil)
	p.apply()
	p.expectVersions("1 1")

	second := p.commit()
	p.atTime("2026-11-25 09:00")
	p.observes(windows)
	target := p.planChange().After["target_tree_hash"]
	p.atTime("2026-11-25 15:00")
	p.expectLate("2026-11-25T15:00:00Z")
	p.observes(windows)
	p.expectUnchanged("The rollout is paused", "rollout.windows are closed until 2026-11-26T08:00:00+01:00",
		"No further wave follows until they open")
	p.observes(windows, "skip", target)
	p.apply()
	p.expectUnchanged("The rollout is paused") // skip opens no window
	p.expectVersions("1 1")

	// A window that is added in the middle stops the second wave. A rollback is written at night too.
	p.atTime("2026-11-26 09:00")
	p.observes(nil)
	p.apply()
	p.expectVersions("2 1")
	p.atTime("2026-11-26 20:00")
	p.observes(windows)
	p.expectUnchanged("The rollout is paused")
	p.rules("rejected", map[string]any{second: nil})
	p.expectVersions("2 1")
	p.apply()
	p.expectVersions("1 1")
	if seen := p.decision(); seen.Decision != "rollback" || seen.Commit != first {
		t.Errorf("%+v", seen)
	}

	// In the open window, the waves continue.
	third := p.commit()
	p.rules()
	p.atTime("2026-11-30 08:00")
	p.observes(windows)
	p.apply()
	p.now = p.now.Add(time.Minute)
	p.observes(windows)
	p.apply()
	p.expectVersions("3 3")
	if seen := p.decision(); seen.Commit != third {
		t.Errorf("%+v", seen)
	}
	p.atTime("2026-11-30 20:00")
	p.observes(windows)
	p.expectUnchanged() // nothing waits, so nothing is paused
	if plan := p.Succeed("plan", "-no-color").Text(); strings.Contains(plan, "Warning") {
		t.Errorf("the plan:\n%s", plan)
	}
}

// When the windows close, the open pull request of a promotion becomes a draft until they open. Meanwhile, this pull
// request delivers the environment's own changes.
func TestAccWindowsOfPullRequest(t *testing.T) {
	t.Parallel()
	p := withClock(newPromotionRoot(t))
	p.reviews()
	holidays := map[string]any{
		"kind": "deny", "from": "2026-11-25T20:00:00Z", "until": "2026-11-26T00:00:00Z", "reason": "holidays",
	}
	p.rules("windows", []any{office, holidays})
	closes := func(number int) {
		t.Helper()
		p.apply()
		p.expectPullRequest(number, "open", true)
		acc.ExpectTexts(t, p.gitops.PullRequests()[number-1].Body, "**Do not merge this pull request now.**",
			"The windows of the promotion are closed until 2026-11-26T08:00:00+01:00 (2026-11-26T07:00:00Z).")
		p.ExpectEmptyPlan()
		p.atTime("2026-11-25 21:00") // the other window denies too, which changes nothing
		p.expectUnchanged(fmt.Sprintf("Pull request %d is a draft", number))
	}

	// The first promotion.
	p.commit()
	p.run()
	p.expectPullRequest(1, "open", false)
	p.atTime("2026-11-25 16:00")
	closes(1)
	p.atTime("2026-11-26 07:00")
	p.run()
	p.expectPullRequest(1, "open", false)
	p.gitops.Merge(t, 1, "merge")
	p.run()

	// The second promotion.
	p.atTime("2026-11-25 09:00")
	second := p.commit()
	p.run()
	p.expectPullRequest(2, "open", false)
	p.atTime("2026-11-25 15:00")
	closes(2)
	if seen := p.decision(); seen.Decision != "hold" || seen.ProposedCommit != second {
		t.Errorf("%+v", seen)
	}
	p.atTime("2026-11-26 07:00")
	p.run()
	p.expectPullRequest(2, "open", false)
	if body := p.gitops.PullRequests()[1].Body; strings.Contains(body, "Do not merge") {
		t.Errorf("the text is still %s", body)
	}

	// The environment's own change replaces the promotion in the pull request.
	p.atTime("2026-11-26 20:00")
	p.ownChange("small")
	p.run()
	p.expectPullRequest(2, "open", false)
	p.gitops.Merge(t, 2, "merge")
	p.expectUnchanged()
	p.expectVersions("1 1")
	p.atTime("2026-11-30 07:00")
	p.run()
	p.expectPullRequest(3, "open", false)
	p.gitops.Merge(t, 3, "merge")
	p.expectUnchanged()
	p.expectVersions("2 2")
}

// The pull request of a wave becomes a draft while the windows of the rollout are closed, as during a pause.
func TestAccWindowsOfWaveInReview(t *testing.T) {
	t.Parallel()
	p := withClock(newPromotionRoot(t))
	p.reviews()
	p.ownChange("small")
	p.commit()
	p.run()
	p.gitops.Merge(t, 1, "merge")
	p.run()
	p.commit()
	p.now = p.now.Add(time.Minute)
	p.observes([]any{office})
	p.apply()
	p.expectPullRequest(2, "open", false)
	p.atTime("2026-11-25 15:30")
	p.observes([]any{office})
	p.apply()
	p.expectPullRequest(2, "open", true)
	acc.ExpectTexts(t, p.gitops.PullRequests()[1].Body,
		"The rollout is paused: its windows are closed until 2026-11-26T08:00:00+01:00")
	p.atTime("2026-11-25 22:30")
	p.observes([]any{office})
	p.ExpectEmptyPlan()
	p.atTime("2026-11-26 07:00")
	p.observes([]any{office})
	p.apply()
	p.expectPullRequest(2, "open", false)
}

// Invalid windows are errors at their arguments, all in one plan. If a window is known after apply, so is the planned
// tree.
func TestAccWindowsInput(t *testing.T) {
	t.Parallel()
	p := withClock(newPromotionRootOfFiles(t))
	p.commit()
	p.apply()
	bad := []any{
		map[string]any{"kind": "allow", "schedule": "@daily", "duration": "8h"},
		map[string]any{"kind": "allow", "schedule": "0 8 * * *", "duration": "8h", "time_zone": "Local"},
		map[string]any{"kind": "deny", "from": "2026-01-02T00:00:00Z", "until": "2026-01-01T00:00:00Z"},
		map[string]any{"kind": "allow", "schedule": "0 8 * * *", "duration": "8 hours", "reason": " "},
	}
	errors := map[string][]string{
		`does not accept descriptors`: {"Invalid schedule"},
		`"Local" is not a time zone`:  {"Invalid time zone"},
		`not after its beginning`:     {"Invalid time"},
		`"8 hours" is not a duration`: {"Invalid duration"},
		`reason is blank`:             {"Blank argument"},
	}
	p.rules("windows", bad)
	p.ExpectErrors(errors, "plan", "-no-color")
	p.rules()
	p.observes(bad)
	p.ExpectErrors(errors, "plan", "-no-color")
	many := make([]any, 101)
	for i := range many {
		many[i] = office
	}
	p.observes(many)
	p.ExpectError([]string{"Too many windows", "There are 101 windows"}, "plan", "-no-color")
	p.rules("windows", many)
	p.Set("rollout", nil)
	p.ExpectError([]string{"Too many windows", "There are 101 windows"}, "plan", "-no-color")
	p.rules()
	p.observes([]any{office}, "observed", nil)
	p.ExpectError([]string{"Missing observation"}, "plan", "-no-color")

	// A window that is known after apply: of the promotion, and of the rollout.
	main := acc.ReadFile(t, p.Folder+"/main.tf")
	unknown := func(kind, replace, with string) {
		t.Helper()
		window := fmt.Sprintf("[{ kind = %q, from = terraform_data.begin.output, until = \"2026-11-27T00:00:00Z\" }]", kind)
		text := strings.Replace(main, replace, fmt.Sprintf(with, window), 1)
		if text == main {
			t.Fatalf("the module has no %s", replace)
		}
		p.Write("main.tf", text+"\nresource \"terraform_data\" \"begin\" {\n  input = \"2026-11-20T00:00:00Z\"\n}\n")
		if c := p.planChange(); c.Unknown["tree_hash"] != true {
			t.Errorf("%v", c.Unknown)
		}
		p.ApplyPlan()
		p.Write("main.tf", main)
		p.Succeed("state", "rm", "terraform_data.begin")
	}
	first := p.decision().Commit
	second := p.commit()
	p.now = p.now.Add(time.Minute)
	p.Set("rollout", nil)
	unknown("deny", "windows       = try(var.rules.windows, null)", "windows = %s")
	if seen := p.decision(); seen.Decision != "hold" || seen.Commit != first {
		t.Errorf("%+v", seen)
	}
	p.observes(nil)
	unknown("allow", "rollout       = var.rollout", "rollout = merge(var.rollout, { windows = %s })")
	if seen := p.decision(); seen.Decision != "promote" || seen.Commit != second || p.record().PromotedCommit != second {
		t.Errorf("%+v", seen)
	}
}
