package promotion_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion"
)

// signedBy returns what judges commits of which Ann signed these, and Ben the others with a lost key.
func signedBy(history bool, commits ...int) *promotion.Signatures {
	return &promotion.Signatures{History: history, Signer: func(commit string) (string, error) {
		if slices.ContainsFunc(commits, func(n int) bool { return hash(n) == commit }) {
			return "ann@acme.io", nil
		}
		return "", errors.New("it is signed by ben@acme.io with a revoked key")
	}}
}

// A commit whose signature does not count waits for the gate signature, with any state of the others. An older one
// goes. People can approve or pin a commit, and the reason says what they lifted.
func TestSignatures(t *testing.T) {
	t.Parallel()
	const why, lifted = "it is signed by ben@acme.io with a revoked key", ", although it is signed by ben@acme.io with"
	with := func(s *promotion.Signatures, change func(*promotion.World)) promotion.World {
		w := prod(change)
		w.Gates, w.Signatures = nil, s
		return w
	}
	approve := func(commits ...int) func(*promotion.World) {
		return func(w *promotion.World) {
			for _, n := range commits {
				w.Approved = append(w.Approved, hash(n))
			}
		}
	}
	for name, tc := range map[string]struct {
		world      promotion.World
		kind       promotion.Kind
		commit     int
		waiting    []int  // newest first
		reason     string // a part of the reason, or of what a commit waits for
		unverified string
		unproven   string
	}{
		"all are signed": {world: with(signedBy(false, 1, 2, 3, 4, 5), nil), kind: "promote", commit: 5,
			reason: "signed by ann@acme.io"},
		"an older one is signed": {world: with(signedBy(false, 1, 3), nil), kind: "promote", commit: 3,
			waiting: []int{5, 4}, reason: "signed by ann@acme.io"},
		"only the newest is signed": {world: with(signedBy(false, 1, 5), nil), kind: "promote", commit: 5,
			reason: "signed by ann@acme.io"},
		"none is signed": {world: with(signedBy(false, 1), nil), kind: "hold", commit: 1, waiting: []int{5, 4, 3, 2},
			reason: why},
		"the current one is not signed": {world: with(signedBy(false, 2), nil), kind: "promote", commit: 2,
			waiting: []int{5, 4, 3}, reason: "signed by ann@acme.io", unproven: "signature: " + why},
		"history: an older one is not signed": {world: with(signedBy(true, 1, 2, 4, 5), nil), kind: "promote", commit: 2,
			waiting: []int{5, 4, 3}, reason: "the earlier commit 000000000000 does not count: " + why},
		"history: the current one does not count": {world: with(signedBy(true, 2, 3, 4, 5), nil), kind: "promote", commit: 5,
			reason: "signed by ann@acme.io", unproven: "signature: " + why},
		"history: an approved one": {world: with(signedBy(true, 1, 2, 4, 5), approve(3)), kind: "promote", commit: 5,
			reason: "signed by ann@acme.io"},
		"history without a current commit": {world: with(signedBy(true, 5), func(w *promotion.World) {
			w.Current.Commit = ""
		}), kind: "promote", commit: 5, reason: "signed by ann@acme.io"},
		"approved": {world: with(signedBy(false, 1), approve(4)), kind: "promote", commit: 4, waiting: []int{5},
			reason: "approved: no gate is needed" + lifted, unverified: why},
		"approved and signed": {world: with(signedBy(false, 1, 5), approve(5)), kind: "promote", commit: 5,
			reason: "approved: no gate is needed"},
		"approved, and current": {world: with(signedBy(false), approve(1)), kind: "hold", commit: 1,
			waiting: []int{5, 4, 3, 2}, reason: why, unverified: why},
		"pinned": {world: with(signedBy(false, 1), func(w *promotion.World) { w.Pinned = hash(3) }), kind: "pinned",
			commit: 3, reason: "pinned by pinned_commit" + lifted, unverified: why},
		"pinned back": {world: with(signedBy(true, 1), func(w *promotion.World) { w.Pinned = hash(0) }), kind: "pinned",
			commit: 0, reason: "pinned by pinned_commit" + lifted, unverified: why},
		"rewritten": {world: with(signedBy(false), func(w *promotion.World) {
			w.Current.Commit = hash(9)
			w.History.Trees = map[string]string{hash(9): "tree", hash(5): "tree"}
		}), kind: "hold", commit: 9, waiting: []int{5}, reason: why, unproven: "it is not on the first-parent history"},
		"dwell": {world: with(signedBy(false), func(w *promotion.World) {
			w.Ledger = ledger(600, status{commit: 1, context: "prod environment", state: githost.Success, at: 1})
			w.Dwell = 1
		}), kind: "hold", commit: 1, waiting: []int{5, 4, 3, 2}, reason: why, unproven: "signature: " + why},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := promotion.Decide(tc.world)
			if err != nil {
				t.Fatal(err)
			}
			var waiting []int
			reason := got.Explanation
			for _, w := range got.Waiting {
				if w.Gate != "signature" {
					t.Errorf("it waits for %s: %s", w.Gate, w.Reason)
				}
				for n := range 10 {
					if hash(n) == w.Commit {
						waiting = append(waiting, n)
					}
				}
				reason += "\n" + w.Reason
			}
			if got.Decision != tc.kind || got.Commit != hash(tc.commit) || !slices.Equal(waiting, tc.waiting) {
				t.Errorf("it is %s %s, and %v wait\n%s", got.Decision, got.Commit, waiting, got.Summary)
			}
			if !strings.Contains(reason, tc.reason) || got.Unverified != tc.unverified ||
				!strings.HasPrefix(got.Unproven, tc.unproven) || tc.unproven == "" && got.Unproven != "" {
				t.Errorf("reason %q, unverified %q, unproven %q", reason, got.Unverified, got.Unproven)
			}
			if strings.Contains(got.Summary, "Remove the entry") {
				t.Errorf("an entry of approved is still needed:\n%s", got.Summary)
			}
			signer, err := tc.world.Signatures.Signer(got.Commit)
			if got.Verified[got.Commit] != signer || len(got.Verified) > 0 != (err == nil) {
				t.Errorf("verified is %v", got.Verified)
			}
		})
	}
}
