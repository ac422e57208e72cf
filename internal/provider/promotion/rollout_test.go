package promotion_test

import (
	"strings"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// inWaves configures one wave for each cluster type, with reports that all clusters run what the branch contains.
func (p *promotionRoot) inWaves() {
	p.T.Helper()
	folders := map[string]any{}
	for line := range strings.Lines(gitserver.Git(p.T, p.gitAt, "ls-tree", "-d", "prod")) {
		if fields := strings.Fields(line); !strings.HasPrefix(fields[3], ".") {
			folders[fields[3]] = map[string]any{"tree_hash": fields[2], "verdict": "success", "total": 1, "current": 1}
		}
	}
	p.Set("rollout", map[string]any{
		"stages": []any{map[string]any{"name": "all", "cluster_type_selector": map[string]any{"match_all": true},
			"max_concurrency": "1"}},
		"observed": map[string]any{
			"gitops_repo": map[string]any{"repo": p.Vars["gitops"], "branch": "prod"},
			"observed_at": time.Now().Add(time.Minute).UTC().Format(time.RFC3339), "folders": folders, "problems": []any{},
		},
	})
}

// wave applies the next wave, compares the decision, its commit and the promoted commit on the branch, and returns the
// decision. During a rollout, the record and Promoted_Commit_Id keep the promoted commit of before.
func (p *promotionRoot) wave(decision, commit, promoted string) promotionOutput {
	p.T.Helper()
	p.inWaves()
	p.apply()
	seen := p.decision()
	if seen.Decision != decision || seen.Commit != commit {
		p.T.Errorf("the decision is %s %s, want %s %s\n%s", seen.Decision, seen.Commit, decision, commit, seen.Summary)
	}
	file := strings.TrimSpace(gitserver.Git(p.T, p.gitAt, "show", "prod:.github/tracking/Promoted_Commit_Id"))
	if got := p.record().PromotedCommit; got != promoted || file != promoted {
		p.T.Errorf("the record has %s, and the file %s, want %s", got, file, promoted)
	}
	return seen
}

// If a promotion reaches the cluster types in waves, the record keeps its reason. A rollback in the middle of the waves
// excludes the rolled-back commits, even if its pin is removed before its own waves end.
func TestAccPromotionRollout(t *testing.T) {
	t.Parallel()
	p := newPromotionRoot(t)
	p.ownChange("small")
	first := p.commit()
	p.expect("promote", first)

	second := p.commit()
	p.wave("promote", second, first)
	acc.ExpectTexts(t, p.message(), "Rollout: all, wave 1", "Promoted commit, in waves: "+second, "- no gates")
	third := p.commit() // it must wait for the rollout
	seen := p.wave("hold", second, second)
	acc.ExpectTexts(t, seen.Summary, "1 newer commit waits", "a rollout of environment \"prod\" is under way")
	acc.ExpectTexts(t, p.message(), "Promoted commit: "+second, "- no gates")
	if r := p.record(); r.Promotion.Decision != "promote" || !strings.Contains(r.Promotion.Summary, second[:12]) {
		t.Errorf("the record lost the reason: %+v", r)
	}

	p.wave("promote", third, second)
	p.rules("pinned_commit", second) // in the middle: the rollback is complete at once
	p.wave("pinned", second, second)
	if r := p.record(); r.Promotion.RolledBack != third {
		t.Errorf("the record no longer names the commit that was rolled back: %+v", r)
	}
	p.rules()
	if seen := p.wave("up_to_date", second, second); len(seen.Skipped) != 1 || seen.Skipped[0].Commit != third {
		t.Errorf("the promotion skips %+v", seen.Skipped)
	}

	fourth := p.commit()
	p.wave("promote", fourth, second)
	p.wave("hold", fourth, fourth)
	p.rules("pinned_commit", first) // this rollback goes in waves
	p.wave("pinned", first, fourth)
	p.rules() // before these waves end
	p.wave("hold", first, first)
	if r := p.record(); r.Promotion.RolledBack != fourth || r.Promotion.Decision != "pinned" {
		t.Errorf("the record no longer names the commit that was rolled back: %+v", r)
	}
	if seen := p.run(); seen.Decision != "up_to_date" || seen.Commit != first || len(seen.Skipped) != 3 {
		t.Errorf("the promotion skips %+v", seen.Skipped)
	}
}
