package promotion_test

import (
	"strings"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/windows"
	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion"
)

var (
	closed = windows.State{Closed: "closed until 2026-03-02T08:00:00Z", Reason: "the night", OpensAt: at(20 * 60)}
	frozen = windows.State{Closed: "closed until 2026-03-02T08:00:00Z", Reason: "a freeze", OpensAt: at(20 * 60),
		Strict: true}
	open = windows.State{OpenUntil: at(4 * 60)}
)

// In a closed window, no commit is promoted by its gates. People act at night too: approved, pinned_commit and
// rejected pass.
func TestWindows(t *testing.T) {
	t.Parallel()
	ok := func(commit int) status {
		return status{commit: commit, context: stage, state: githost.Success, at: 1, by: "ci[bot]"}
	}
	in := func(state windows.State, change func(*promotion.World)) func(*promotion.World) {
		return func(w *promotion.World) {
			if w.Window = state; change != nil {
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
		commit  int    // 0: none
		waiting string // all of it
		summary string
	}{
		"open": {prod(in(open, nil), ok(3)), "promote", 3, "c005: stage: , c004: stage: ",
			"- the window is open until 2026-03-01T16:00:00Z"},
		"open, with no end": {prod(in(windows.State{}, nil), ok(3)), "promote", 3, "c005: stage: , c004: stage: ",
			"Promote"},
		"closed: the commit that would go waits": {prod(in(closed, nil), ok(2), ok(3)), "hold", 1,
			"c005: stage: , c004: stage: , c003" + waits + "the night", ", window: waits until"},
		"closed, and no gate is open": {prod(in(closed, nil)), "hold", 1,
			"c005: stage: , c004: stage: , c003: stage: , c002: stage: ", "no newer commit may be promoted yet"},
		"closed, and nothing waits": {prod(in(closed, func(w *promotion.World) { w.Current.Commit = hash(5) })),
			"up_to_date", 5, "", "no newer commit waits"},
		"closed before the first promotion": {prod(in(closed, func(w *promotion.World) { w.Current.Commit = "" }), ok(5)),
			"hold", 0, "c005" + waits + "the night", "has no promoted commit"},
		"closed: the newest one is approved": {prod(in(closed, approve(5)), ok(3)), "promote", 5, "", "approved"},
		"closed: an older one is approved": {prod(in(closed, approve(2)), ok(4)), "promote", 2,
			"c005: stage: , c004" + waits + "the night", "approved"},
		"strict: approved waits too": {prod(in(frozen, approve(4))), "hold", 1,
			"c005: stage: , c004" + waits + "a freeze", "window: waits until"},
		"strict: both wait": {prod(in(frozen, approve(2)), ok(4)), "hold", 1,
			"c005: stage: , c004" + waits + "a freeze, c002" + waits + "a freeze", "window: waits until"},
		"strict: a pin passes": {prod(in(frozen, func(w *promotion.World) { w.Pinned = hash(3) })), "pinned", 3, "",
			"Pin environment"},
		"strict: a rollback passes": {prod(in(frozen, func(w *promotion.World) {
			w.Rejected = map[string]string{hash(1): ""}
			w.Current.Delivered = []promotion.Delivery{{Commit: hash(1)}, {Commit: hash(0)}}
		})), "rollback", -1, "", "Roll back"},
		"closed and frozen": {prod(in(closed, func(w *promotion.World) { w.Hold = "an incident" }), ok(5)), "frozen", 1,
			"c005: hold: an incident, c004: hold: an incident, c003: hold: an incident, c002: hold: an incident",
			"Hold: an incident"},
		"closed after a force-push that kept the tree": {prod(in(closed, func(w *promotion.World) {
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
				t.Errorf("it is %+v", d)
			}
		})
	}
}

// A promotion that chose another commit may not begin after its window closed. Nothing else is bound to a window.
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
