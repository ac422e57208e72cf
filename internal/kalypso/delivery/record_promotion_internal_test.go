package delivery

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/rollout"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion"
)

// promotionRun is one apply, with the promoted commit and the reason of the decision.
type promotionRun struct {
	commit   string
	decision promotion.Reason
	partial  bool // the apply writes a wave, but not the last one
}

// play runs the applies one after another, and returns the record after the last one.
func play(runs ...promotionRun) *record.Record {
	var last *record.Record
	for _, run := range runs {
		at := &Branch{Record: last}
		r := NewRendered(&Arguments{
			Environment: "prod", Promotion: promotion.Promotion{Commit: run.commit, Reason: run.decision},
		}, nil)
		d := &NextTree{
			Args: r.Args, Rendered: r, Complete: !run.partial, NewRollout: true,
			Rollout: &rollout.StoredProgress{Progress: rollout.Progress{PromotedCommit: run.commit, Complete: !run.partial}},
		}
		promoted := run.commit
		if run.partial {
			promoted = at.PromotedCommit()
		}
		next := d.withRecord(promoted, false).RecordOn(at)
		last = &next
	}
	return last
}

// TestRecordOfPromotion: the record contains the reason why the commit was promoted, and the commits that were rolled
// back, even if the promotion has decided otherwise since. A second apply with the same commit does not change the
// record.
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
		next promotion.Reason // reason in the record for the commit of the rollout under way
	}{
		"promotion without waves": {runs: []promotionRun{{"a", promote("a"), false}}, want: promote("a")},
		"change of the environment": {runs: []promotionRun{{"a", promote("a"), false}, {"a", hold(""), false}},
			want: promote("a")},
		"first wave": {
			runs: []promotionRun{{"a", promote("a"), false}, {"b", promote("b"), true}},
			want: promote("a"), next: promote("b"),
		},
		"apply while the rollout waits": {
			runs: []promotionRun{{"a", promote("a"), false}, {"b", promote("b"), true}, {"b", hold(""), true}},
			want: promote("a"), next: promote("b"),
		},
		"last wave": {
			runs: []promotionRun{{"a", promote("a"), false}, {"b", promote("b"), true}, {"b", hold(""), false}},
			want: promote("b"),
		},
		"pin without waves, removed later": {
			runs: []promotionRun{{"b", promote("b"), false}, {"a", pin("b"), false}, {"a", hold("b"), false}},
			want: pin("b"),
		},
		"pin during the rollout": {
			runs: []promotionRun{{"a", promote("a"), false}, {"b", promote("b"), true}, {"a", pin("b"), false}},
			want: pin("b"),
		},
		"pin during the rollout, no rolled-back commits in the decision": {
			runs: []promotionRun{{"a", promote("a"), false}, {"b", promote("b"), true}, {"a", pin(""), false}},
			want: pin("b"),
		},
		"pin to a newer commit": {
			runs: []promotionRun{{"a", promote("a"), false}, {"b", pin(""), false}},
			want: pin(""),
		},
		"pin in waves, removed before the last wave": {
			runs: []promotionRun{{"b", promote("b"), false}, {"a", pin("b"), true}, {"a", hold("b"), false}},
			want: pin("b"),
		},
		"pin in waves, removed, no rolled-back commits in the next decision": {
			runs: []promotionRun{{"b", promote("b"), false}, {"a", pin("b"), true}, {"a", hold(""), true}},
			want: promote("b"), next: pin("b"),
		},
		"newer commit during the rollout": {
			runs: []promotionRun{{"a", promote("a"), false}, {"b", promote("b"), true}, {"c", promote("c"), true}},
			want: promote("a"), next: promote("c"),
		},
		"newer commit after a rollback": {
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
			t.Errorf("%s, rollout under way (-want +got):\n%s", name, diff)
		}
		last := tc.runs[len(tc.runs)-1]
		last.decision = hold(last.decision.RolledBack)
		if diff := cmp.Diff(got, play(append(tc.runs, last)...)); diff != "" {
			t.Errorf("%s: a second apply changes the record (-first +second):\n%s", name, diff)
		}
	}
}
