package record

import (
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion"
)

// SetPromotion sets the reason of the promoted commit. before is the record on the branch, or nil. During a rollout, r
// keeps the reason of the promoted commit, and separately the reason of the rollout's commit.
func (r *Record) SetPromotion(p promotion.Promotion, before *Record) {
	r.Promotion = p.Reason
	if p.Reason == (promotion.Reason{}) {
		return
	}
	r.Promotion = reasonAfter(before, p)
	switch {
	case r.Rollout != nil && r.Rollout.RolledBack != "" && r.PromotedCommit != p.Commit && before != nil:
		r.Promotion = before.Promotion // of the commit from before the rollout
		return
	case !r.Rollout.UnderWay():
		return
	}
	r.Promotion, r.Promoting = promotion.Reason{}, r.Promotion
	if before != nil {
		r.Promotion = before.Promotion
	}
}

// reasonAfter returns the reason of a promotion that is recorded after before. While a record leads to the same commit,
// its reason stays: a later decision only says why it chose no other commit.
func reasonAfter(before *Record, p promotion.Promotion) promotion.Reason {
	if before == nil {
		return p.Reason
	}
	taken := before.FinalPromotion()
	switch {
	case taken.Commit == p.Commit && taken.Reason != (promotion.Reason{}):
		taken.Unsettled = taken.Unsettled && !p.Settled
		return taken.Reason
	case p.Decision == promotion.Pinned && p.RolledBack == "" && slices.Contains(before.Others(), p.Commit):
		// A pin of the commit that a rollout replaces takes back the commit of the rollout. The decision says so itself,
		// unless it was written by hand.
		p.RolledBack = taken.Commit
		if taken.RolledBack != "" {
			p.RolledBack = taken.RolledBack
		}
	}
	return p.Reason
}

// Others returns the other commits that folders may contain during a rollout, besides the commit of
// [Record.FinalPromotion].
func (r *Record) Others() (all []string) {
	if !r.Rollout.UnderWay() {
		return nil
	}
	taken := r.FinalPromotion().Commit
	for _, commit := range append([]string{r.PromotedCommit}, r.Rollout.Interrupted...) {
		if commit != "" && commit != taken && !slices.Contains(all, commit) {
			all = append(all, commit)
		}
	}
	return all
}

// FinalPromotion returns the promotion that a record leads to: an incomplete rollout's, otherwise the promoted one. A
// record does not name the repo.
func (r *Record) FinalPromotion() promotion.Promotion {
	p := promotion.Promotion{Commit: r.PromotedCommit, Reason: r.Promotion}
	if !r.Rollout.UnderWay() {
		return p
	}
	if r.Rollout.PromotedCommit != "" {
		p.Commit = r.Rollout.PromotedCommit
	}
	if r.Promoting != (promotion.Reason{}) {
		p.Reason = r.Promoting
	}
	return p
}

// NewReason returns the reason why a record takes another commit than the previous record, or the zero reason if it
// does not.
func (r *Record) NewReason(before *Record) promotion.Reason {
	taken := r.FinalPromotion()
	if before != nil && before.FinalPromotion().Commit == taken.Commit && before.PromotedCommit == r.PromotedCommit {
		return promotion.Reason{}
	}
	return taken.Reason
}
