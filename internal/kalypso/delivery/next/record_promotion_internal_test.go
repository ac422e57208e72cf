package next

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/past"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/wish"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/rollout"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion"
)

// promotionRun is one apply: the decision, and whether the tree of the apply is complete.
type promotionRun struct {
	commit   string
	decision promotion.Reason
	partial  bool // a wave that is not the last one
}

// play applies runs one after another, and returns the record after the last one.
func play(runs ...promotionRun) *record.Record {
	var last *record.Record
	for _, run := range runs {
		at := &past.Branch{Record: last}
		r := NewRendered(&wish.Arguments{
			Environment: "prod", Promotion: promotion.Promotion{Commit: run.commit, Reason: run.decision},
		}, nil)
		d := &Next{
			Wish: r.Wish, Rendered: r, Complete: !run.partial, NewRollout: true,
			Rollout: &rollout.StoredProgress{Progress: rollout.Progress{PromotedCommit: run.commit, Complete: !run.partial}},
		}
		promoted := run.commit
		if run.partial {
			promoted = at.PromotedCommit()
		}
		next := d.settle(promoted, false).RecordOn(at)
		last = &next
	}
	return last
}

// TestRecordOfPromotion reads the record during a rollout. It has the reason for the promoted commit and the
// rolled-back commits, even if the promotion has decided otherwise since. A second run does not change it.
func TestRecordOfPromotion(t *testing.T) {
	promote := func(commit string) promotion.Reason {
		return promotion.Reason{Decision: "promote", Summary: "to " + commit}
	}
	pin := func(back string) promotion.Reason {
		return promotion.Reason{Decision: "pinned", Summary: "pin", RolledBack: back}
	}
	hold := func(back string) promotion.Reason {
		return promotion.Reason{Decision: "hold", Summary: "hold", RolledBack: back}
	}
	for name, tc := range map[string]struct {
		runs []promotionRun
		want promotion.Reason
		next promotion.Reason // of the current rollout
	}{
		"a promotion without waves": {runs: []promotionRun{{"a", promote("a"), false}}, want: promote("a")},
		"a change of the environment's own": {runs: []promotionRun{{"a", promote("a"), false}, {"a", hold(""), false}},
			want: promote("a")},
		"the first wave": {
			runs: []promotionRun{{"a", promote("a"), false}, {"b", promote("b"), true}},
			want: promote("a"), next: promote("b"),
		},
		"an apply while the rollout waits": {
			runs: []promotionRun{{"a", promote("a"), false}, {"b", promote("b"), true}, {"b", hold(""), true}},
			want: promote("a"), next: promote("b"),
		},
		"the last wave": {
			runs: []promotionRun{{"a", promote("a"), false}, {"b", promote("b"), true}, {"b", hold(""), false}},
			want: promote("b"),
		},
		"a pin without waves, which is removed later": {
			runs: []promotionRun{{"b", promote("b"), false}, {"a", pin("b"), false}, {"a", hold("b"), false}},
			want: pin("b"),
		},
		"a pin during the rollout": {
			runs: []promotionRun{{"a", promote("a"), false}, {"b", promote("b"), true}, {"a", pin("b"), false}},
			want: pin("b"),
		},
		"a pin during the rollout, without rolled-back commits": {
			runs: []promotionRun{{"a", promote("a"), false}, {"b", promote("b"), true}, {"a", pin(""), false}},
			want: pin("b"),
		},
		"a pin forward": {
			runs: []promotionRun{{"a", promote("a"), false}, {"b", pin(""), false}},
			want: pin(""),
		},
		"a pin in waves that is removed before they end": {
			runs: []promotionRun{{"b", promote("b"), false}, {"a", pin("b"), true}, {"a", hold("b"), false}},
			want: pin("b"),
		},
		"a pin in waves that is removed, and whose decision does not repeat the rolled-back commits": {
			runs: []promotionRun{{"b", promote("b"), false}, {"a", pin("b"), true}, {"a", hold(""), true}},
			want: promote("b"), next: pin("b"),
		},
		"a rollout that restarts with a newer commit": {
			runs: []promotionRun{{"a", promote("a"), false}, {"b", promote("b"), true}, {"c", promote("c"), true}},
			want: promote("a"), next: promote("c"),
		},
		"a newer commit after a rollback": {
			runs: []promotionRun{{"b", promote("b"), false}, {"a", pin("b"), false}, {"c", promote("c"), true},
				{"c", hold(""), false}},
			want: promote("c"),
		},
	} {
		got := play(tc.runs...)
		if diff := cmp.Diff(tc.want, got.Promotion); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(tc.next, got.Promoting); diff != "" {
			t.Errorf("%s, under way (-want +got):\n%s", name, diff)
		}
		last := tc.runs[len(tc.runs)-1]
		last.decision = hold(last.decision.RolledBack)
		if diff := cmp.Diff(got, play(append(tc.runs, last)...)); diff != "" {
			t.Errorf("%s: a second run changes the record (-first +second):\n%s", name, diff)
		}
	}
}
