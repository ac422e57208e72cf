package promotion_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion"
)

// signedBy returns the signatures of commits. Ann signed the given commits, and Ben the other ones with a revoked key.
func signedBy(history bool, commits ...int) *promotion.Signatures {
	return &promotion.Signatures{History: history, Signer: func(commit string) (string, error) {
		if slices.ContainsFunc(commits, func(n int) bool { return hash(n) == commit }) {
			return "ann@acme.io", nil
		}
		return "", errors.New("it is signed by ben@acme.io with a revoked key")
	}}
}

// A commit whose signature is not accepted waits for the gate signature, whatever the state of other gates, and an
// older commit is promoted. People can approve or pin it; then the reason says why its signature is not accepted.
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
		"all commits are signed": {world: with(signedBy(false, 1, 2, 3, 4, 5), nil), kind: "promote", commit: 5,
			reason: "signed by ann@acme.io"},
		"an older commit is signed": {world: with(signedBy(false, 1, 3), nil), kind: "promote", commit: 3,
			waiting: []int{5, 4}, reason: "signed by ann@acme.io"},
		"only the newest commit is signed": {world: with(signedBy(false, 1, 5), nil), kind: "promote", commit: 5,
			reason: "signed by ann@acme.io"},
		"no newer commit is signed": {world: with(signedBy(false, 1), nil), kind: "hold", commit: 1,
			waiting: []int{5, 4, 3, 2},
			reason:  why},
		"the current commit is not signed": {world: with(signedBy(false, 2), nil), kind: "promote", commit: 2,
			waiting: []int{5, 4, 3}, reason: "signed by ann@acme.io", unproven: "signature: " + why},
		"history, an older commit is not signed": {world: with(signedBy(true, 1, 2, 4, 5), nil), kind: "promote", commit: 2,
			waiting: []int{5, 4, 3}, reason: "the earlier commit 000000000000 does not count: " + why},
		"history, the current commit is not signed": {world: with(signedBy(true, 2, 3, 4, 5), nil), kind: "promote",
			commit: 5,
			reason: "signed by ann@acme.io", unproven: "signature: " + why},
		"history, the unsigned commit is approved": {world: with(signedBy(true, 1, 2, 4, 5), approve(3)), kind: "promote",
			commit: 5,
			reason: "signed by ann@acme.io"},
		"history without a current commit": {world: with(signedBy(true, 5), func(w *promotion.World) {
			w.Current.Commit = ""
		}), kind: "promote", commit: 5, reason: "signed by ann@acme.io"},
		"an approved commit": {world: with(signedBy(false, 1), approve(4)), kind: "promote", commit: 4, waiting: []int{5},
			reason: "approved: no gate is needed" + lifted, unverified: why},
		"an approved commit that is signed": {world: with(signedBy(false, 1, 5), approve(5)), kind: "promote", commit: 5,
			reason: "approved: no gate is needed"},
		"an approved commit that is current": {world: with(signedBy(false), approve(1)), kind: "hold", commit: 1,
			waiting: []int{5, 4, 3, 2}, reason: why, unverified: why},
		"a pinned commit": {world: with(signedBy(false, 1), func(w *promotion.World) { w.Pinned = hash(3) }), kind: "pinned",
			commit: 3, reason: "pinned by pinned_commit" + lifted, unverified: why},
		"a pin to an older commit": {world: with(signedBy(true, 1), func(w *promotion.World) { w.Pinned = hash(0) }),
			kind:   "pinned",
			commit: 0, reason: "pinned by pinned_commit" + lifted, unverified: why},
		"a rewritten branch": {world: with(signedBy(false), func(w *promotion.World) {
			w.Current.Commit = hash(9)
			w.History.Trees = map[string]string{hash(9): "tree", hash(5): "tree"}
		}), kind: "hold", commit: 9, waiting: []int{5}, reason: why, unproven: "it is not on the first-parent history"},
		"a dwell": {world: with(signedBy(false), func(w *promotion.World) {
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
					t.Errorf("a commit waits for %s: %s", w.Gate, w.Reason)
				}
				for n := range 10 {
					if hash(n) == w.Commit {
						waiting = append(waiting, n)
					}
				}
				reason += "\n" + w.Reason
			}
			if got.Decision != tc.kind || got.Commit != hash(tc.commit) || !slices.Equal(waiting, tc.waiting) {
				t.Errorf("the decision is %s %s, and %v wait\n%s", got.Decision, got.Commit, waiting, got.Summary)
			}
			if !strings.Contains(reason, tc.reason) || got.Unverified != tc.unverified ||
				!strings.HasPrefix(got.Unproven, tc.unproven) || tc.unproven == "" && got.Unproven != "" {
				t.Errorf("reason %q, unverified %q, unproven %q", reason, got.Unverified, got.Unproven)
			}
			if strings.Contains(got.Summary, "Remove the entry") {
				t.Errorf("the summary advises to remove an entry of approved that is needed:\n%s", got.Summary)
			}
			signer, err := tc.world.Signatures.Signer(got.Commit)
			if got.Verified[got.Commit] != signer || len(got.Verified) > 0 != (err == nil) {
				t.Errorf("verified is %v", got.Verified)
			}
		})
	}
}
