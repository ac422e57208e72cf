package promotion_test

import (
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion"
)

// TestFacts: a commit message lists the facts of a reason, without its summary. They are changed so that they trigger
// no action of a host, such as closing an issue.
func TestFacts(t *testing.T) {
	for reason, want := range map[string]string{
		"": "",
		`status "ci" is success by acme-ci[bot] at 2026-03-01T12:00:00Z`: "- status \"ci\" is success by acme-ci[bot] at " +
			"2026-03-01T12:00:00Z\n",
		"no gates\n\nskip-checks: true":  "- no gates\n- skip-checks: true\n",
		"[skip ci] closes #12 @everyone": "- (skip ci) closes no. 12 (at)everyone\n",
		"fixes https://github.com/a/b/1": "- fixes https: //github.com/a/b/1\n",
		"***NO_CI***":                    "- *NO_CI*\n",
		strings.Repeat("many\n", 100):    strings.Repeat("- many\n", 25),
	} {
		if got := (promotion.Reason{Explanation: reason, Summary: "[skip ci]"}).Facts(); got != want {
			t.Errorf("%q is %q, want %q", reason, got, want)
		}
	}
}

// TestReasonOfFrozenPromotion: the reason of a frozen promotion is one complete sentence, since our texts continue
// after it.
func TestReasonOfFrozenPromotion(t *testing.T) {
	for r, want := range map[promotion.Reason]string{
		{Decision: promotion.Hold, Summary: "x"}:          "",
		{Decision: promotion.Frozen, Summary: "x\ny"}:     "x.",
		{Decision: promotion.Frozen, Summary: "Hold: x!"}: "Hold: x!",
		{Decision: promotion.Frozen, Summary: "\x1b[2J"}:  `\x1b[2J.`,
		{Decision: promotion.Frozen}:                      "The promotion is frozen.",
	} {
		if got := r.Frozen(); got != want {
			t.Errorf("%+v: %q, want %q", r, got, want)
		}
	}
}

// TestWaits: one line says that a newer commit waits, with the gate that is closed.
func TestWaits(t *testing.T) {
	t.Parallel()
	const stays = `Environment "prod" stays at 1111111: no newer commit may be promoted yet.`
	for name, tt := range map[string]struct {
		reason promotion.Reason
		want   string
	}{
		"a gate is closed": {
			promotion.Reason{Decision: promotion.Hold, Summary: stays + "\n2 newer commits wait:\n" +
				"- 2222222, stage: no status\n- 3333333, dev: no status"},
			stays + " 2 newer commits wait: 2222222, stage: no status.",
		},
		"a rollout":     {promotion.Reason{Decision: promotion.Hold, Summary: "It stays.\nNote: x"}, "It stays."},
		"nothing waits": {promotion.Reason{Decision: promotion.UpToDate, Summary: stays}, ""},
		"a commit after a rejected one": {
			promotion.Reason{Decision: promotion.UpToDate, Summary: "It stays.\n2 commits skipped. The newest is 3333333: " +
				"rejected: it contains 2222222, and no good commit after it is named\nNote: x"},
			"It stays. 2 commits skipped. The newest is 3333333: rejected: it contains 2222222, and no good commit after it " +
				"is named. If it is good, name it in rejected.",
		},
		"the rejected commit is the newest": {
			promotion.Reason{Decision: promotion.UpToDate, Summary: "It stays.\n1 commit skipped. The newest is 2222222: " +
				"rejected"}, "",
		},
		"a promotion":       {promotion.Reason{Decision: promotion.Promote, Summary: "Promote 2\n- gate"}, ""},
		"no summary":        {promotion.Reason{Decision: promotion.Hold}, ""},
		"text of strangers": {promotion.Reason{Decision: promotion.Hold, Summary: "a\x1b[2J\nb:\n- c"}, `a\x1b[2J b: c.`},
	} {
		if got := tt.reason.Waits(); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
