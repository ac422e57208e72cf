package promotion_test

import (
	"strings"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/windows"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion"
)

var (
	closed = windows.State{Closed: "closed until 2026-03-02T08:00:00Z", Reason: "the night", OpensAt: at(20 * 60)}
	frozen = windows.State{Closed: "closed until 2026-03-02T08:00:00Z", Reason: "a freeze", OpensAt: at(20 * 60),
		Strict: true}
	open = windows.State{OpenUntil: at(4 * 60)}
)

// While the window is closed, no commit is promoted by its gates. Decisions of people are still carried out: approved,
// pinned_commit and rejected. In a strict freeze, an approved commit waits too.
func TestWindows(t *testing.T) {
	t.Parallel()
	ok := func(commit int) status {
		return status{commit: commit, context: stage, state: githost.Success, at: 1, by: "ci[bot]"}
	}
	in := func(state windows.State, change func(*promotion.World)) func(*promotion.World) {
		return func(w *promotion.World) {
			w.Window = state
			if change != nil {
				change(w)
			}
		}
	}
	approve := func(n int) func(*promotion.World) {
		return func(w *promotion.World) { w.Approved = []string{hash(n)} }
	}
	const waits = ": window: waits until 2026-03-02T08:00:00Z: "
	for name, tc := range map[string]struct {
		world   promotion.World
		kind    promotion.Kind
		commit  int    // 0 if there is none, -1 for commit 0, 0xf00 for the commit f00
		waiting string // all waiting commits, without the reason of the gate stage
		summary string
	}{
		"an open window": {prod(in(open, nil), ok(3)), "promote", 3, "c005: stage: , c004: stage: ",
			"- the window is open until 2026-03-01T16:00:00Z"},
		"an open window without an end": {prod(in(windows.State{}, nil), ok(3)), "promote", 3, "c005: stage: , c004: stage: ",
			"Promote"},
		"a closed window": {prod(in(closed, nil), ok(2), ok(3)), "hold", 1,
			"c005: stage: , c004: stage: , c003" + waits + "the night", ", window: waits until"},
		"a closed window, and no gate is open": {prod(in(closed, nil)), "hold", 1,
			"c005: stage: , c004: stage: , c003: stage: , c002: stage: ", "no newer commit may be promoted yet"},
		"a closed window, and no newer commit": {prod(in(closed, func(w *promotion.World) { w.Current.Commit = hash(5) })),
			"up_to_date", 5, "", "no newer commit waits"},
		"a closed window before the first promotion": {prod(in(closed, func(w *promotion.World) { w.Current.Commit = "" }),
			ok(5)),
			"hold", 0, "c005" + waits + "the night", "has no promoted commit"},
		"a closed window, and the newest commit is approved": {prod(in(closed, approve(5)), ok(3)), "promote", 5, "",
			"approved"},
		"a closed window, and an older commit is approved": {prod(in(closed, approve(2)), ok(4)), "promote", 2,
			"c005: stage: , c004" + waits + "the night", "approved"},
		"a strict freeze, and an approved commit": {prod(in(frozen, approve(4))), "hold", 1,
			"c005: stage: , c004" + waits + "a freeze", "window: waits until"},
		"a strict freeze, an approved commit, and one with open gates": {prod(in(frozen, approve(2)), ok(4)), "hold", 1,
			"c005: stage: , c004" + waits + "a freeze, c002" + waits + "a freeze", "window: waits until"},
		"a strict freeze, and a pin": {prod(in(frozen, func(w *promotion.World) { w.Pinned = hash(3) })), "pinned", 3, "",
			"Pin environment"},
		"a strict freeze, and a rollback": {prod(in(frozen, func(w *promotion.World) {
			w.Rejected = map[string]string{hash(1): ""}
			w.Current.Delivered = []promotion.Delivery{{Commit: hash(1)}, {Commit: hash(0)}}
		})), "rollback", -1, "", "Roll back"},
		"a closed window, and a hold": {prod(in(closed, func(w *promotion.World) { w.Hold = "an incident" }), ok(5)),
			"frozen", 1,
			"c005: hold: an incident, c004: hold: an incident, c003: hold: an incident, c002: hold: an incident",
			"Hold: an incident"},
		"a closed window, after a force-push that kept the tree": {prod(in(closed, func(w *promotion.World) {
			w.Current, w.Gates = promotion.Current{Promotion: promoted("f00")}, nil
			w.History.Trees = map[string]string{"f00": "t", hash(5): "t"}
		})), "hold", 0xf00, "c005" + waits + "the night", "window: waits until"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := promotion.Decide(tc.world)
			if err != nil {
				t.Fatal(err)
			}
			want := map[int]string{0: "", -1: hash(0), 0xf00: "f00"}[tc.commit]
			if tc.commit > 0 && tc.commit < 0xf00 {
				want = hash(tc.commit)
			}
			var waiting []string
			for _, w := range d.Waiting {
				reason := w.Reason
				if w.Gate == "stage" {
					reason = ""
				}
				waiting = append(waiting, w.Commit[36:]+": "+w.Gate+": "+reason)
			}
			if d.Decision != tc.kind || d.Commit != want || strings.Join(waiting, ", ") != tc.waiting {
				t.Errorf("%s %q, waiting %q", d.Decision, d.Commit, waiting)
			}
			if !strings.Contains(d.Summary, tc.summary) {
				t.Errorf("the summary lacks %q:\n%s", tc.summary, d.Summary)
			}
			if window := tc.world.Window; d.Closed != window.Closed || d.OpensAt != window.OpensAt ||
				d.OpenUntil != window.OpenUntil {
				t.Errorf("the window of the decision is %+v", d)
			}
		})
	}
}

// An apply may not promote another commit after the window closed. Other decisions do not depend on the window.
func TestCheckWindow(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		kind       promotion.Kind
		until, now time.Time
		late       bool
	}{
		{promotion.Promote, at(60), at(59), false},
		{promotion.Promote, at(60), at(60), true},
		{promotion.Promote, at(60), at(600), true},
		{promotion.Promote, time.Time{}, at(600), false},
		{promotion.Hold, at(60), at(600), false},
		{promotion.UpToDate, at(60), at(600), false},
		{promotion.Pinned, at(60), at(600), false},
		{promotion.Rollback, at(60), at(600), false},
		{promotion.Frozen, at(60), at(600), false},
		{"", at(60), at(600), false},
	} {
		p := promotion.Promotion{OpenUntil: tc.until, Reason: promotion.Reason{Decision: tc.kind}}
		err := p.CheckWindow(tc.now)
		if (err != nil) != tc.late || tc.late && !strings.Contains(err.Error(),
			"The window closed at 2026-03-01T13:00:00Z; plan again.") {
			t.Errorf("%s until %s at %s: %v", tc.kind, tc.until, tc.now, err)
		}
	}
}
