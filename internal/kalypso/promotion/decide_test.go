package promotion_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/seeds"
)

// hash returns the commit with a number. Newer commits have higher numbers.
func hash(n int) string { return fmt.Sprintf("%040x", 0xc000+n) }

// hashes returns the commits from one number down to another.
func hashes(from, to int) (all []string) {
	for n := from; n >= to; n-- {
		all = append(all, hash(n))
	}
	return all
}

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// at returns the time this number of minutes after noon.
func at(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }

// status is a status of a commit. Statuses are listed in the order in which they were set.
type status struct {
	commit  int
	context string
	state   githost.StatusState
	at      int // minutes after noon
	by      string
	text    string
	run     bool
}

// ledger returns the statuses as read from a host, a number of minutes after noon.
func ledger(now int, all ...status) promotion.Ledger {
	l := promotion.Ledger{Histories: map[string]promotion.StatusHistory{}}
	l.ByCommit, l.SeenAt = map[string][]githost.Status{}, at(now)
	for _, s := range all {
		one := githost.Status{
			Context: s.context, State: s.state, Description: s.text, Creator: s.by, CheckRun: s.run, SetAt: at(s.at),
			SeenAt: at(now),
		}
		commit := hash(s.commit)
		l.ByCommit[commit] = slices.DeleteFunc(l.ByCommit[commit], func(o githost.Status) bool {
			return strings.EqualFold(o.Context, s.context) && !s.run
		})
		l.ByCommit[commit] = append(l.ByCommit[commit], one)
		if !s.run {
			h := l.Histories[commit]
			h.Statuses = append([]githost.Status{one}, h.Statuses...)
			l.Histories[commit] = h
		}
	}
	return l
}

// delivered returns deliveries of commits, newest first.
func delivered(commits ...string) (all []promotion.Delivery) {
	for _, commit := range commits {
		all = append(all, promotion.Delivery{Commit: commit})
	}
	return all
}

const stage = "stage environment"

func promoted(commit string) promotion.Promotion { return promotion.Promotion{Commit: commit} }

// prod is a world in which environment prod is at commit 1 of 5, after stage.
func prod(change func(*promotion.World), statuses ...status) promotion.World {
	w := promotion.World{
		Rules:   promotion.Rules{Environment: "prod", Gates: []promotion.Gate{{Name: "stage", Context: stage}}},
		History: promotion.History{Branch: "main", Commits: hashes(5, 0)},
		Current: promotion.Current{Promotion: promoted(hash(1))},
	}
	w.Ledger = ledger(600, statuses...)
	if change != nil {
		change(&w)
	}
	return w
}

func soak(d time.Duration) func(*promotion.World) {
	return func(w *promotion.World) { w.Gates[0].Soak = d }
}

func renewed(within time.Duration) func(*promotion.World) {
	return func(w *promotion.World) { w.Gates[0].Soak, w.Gates[0].RenewedWithin = 4*time.Hour, within }
}

// byCI makes the status ci, which the app ci[bot] must have set, the only gate.
func byCI(w *promotion.World) {
	w.Gates, w.Statuses = nil, []promotion.StatusGate{{Name: "ci", By: "ci[bot]"}}
}

// TestDecide has rows for each rule in the guide Promotion.
func TestDecide(t *testing.T) {
	ok := func(commit, at int) status {
		return status{commit: commit, context: stage, state: githost.Success, at: at, by: "ci[bot]"}
	}
	no := func(commit, at int, state githost.StatusState) status {
		return status{commit: commit, context: stage, state: state, at: at, by: "ci[bot]"}
	}
	for name, tc := range map[string]struct {
		world   promotion.World
		kind    promotion.Kind
		commit  int // -1 if there is none, -2 for the current commit
		waiting string
		summary string
		warning string
	}{
		"no newer commit": {prod(func(w *promotion.World) { w.Current.Commit = hash(5) }), "up_to_date", 5, "",
			"no newer commit waits", ""},
		"the newest commit whose gates are open": {
			prod(nil, ok(2, 1), ok(3, 2), no(4, 3, githost.Pending)), "promote", 3,
			`c004: stage: status "stage environment" is pending by ci[bot]`, "Promote", "",
		},
		"no gate is open": {prod(nil), "hold", 1, "no status", "no newer commit may be promoted yet",
			""},
		"no gates at all": {prod(func(w *promotion.World) { w.Gates = nil }), "promote", 5, "", "", ""},
		"no promoted commit": {prod(func(w *promotion.World) { w.Current.Commit = "" }, ok(2, 1)),
			"promote", 2, "", "as its first promoted commit", ""},
		"no promoted commit, and no gate is open": {prod(func(w *promotion.World) { w.Current.Commit = "" }), "hold", -1,
			"no status", "has no promoted commit", ""},
		"a pending status with Kalypso's description Deployed": {prod(nil,
			status{commit: 2, context: stage, state: githost.Pending,
				text: "Deployed"}), "promote", 2, "", "", ""},
		"a pending status with Kalypso's description Deploying": {prod(nil,
			status{commit: 2, context: stage, state: githost.Pending,
				text: "Deploying"}), "hold", 1, "Deploying", "", ""},
		"a misspelled context": {prod(nil, status{commit: 2, context: "stag",
			state: githost.Success}),
			"hold", 1, `check the name: the names in use are ["stag"]`, "", ""},
		"a context in another case": {prod(nil, status{commit: 2, context: "Stage Environment",
			state: githost.Success}), "promote", 2, "", "", ""},
		"a gate's status by another account": {
			prod(func(w *promotion.World) { w.Gates[0].By = "acme-ci[bot]" }, ok(2, 1)), "hold", 1,
			`"acme-ci[bot]" set none of the latest statuses`, "", "",
		},
		"a gate's status by the right account": {prod(func(w *promotion.World) { w.Gates[0].By = "CI[bot]" },
			ok(2, 1)), "promote", 2, "",
			"by ci[bot] at 2026-03-01T12:01:00Z", ""},
		"a status in the future":            {prod(nil, ok(2, 606)), "hold", 1, "in the future", "", ""},
		"a clock that is five minutes fast": {prod(nil, ok(2, 605)), "promote", 2, "", "", ""},
		"statuses and check runs": {
			prod(func(w *promotion.World) { w.Statuses = []promotion.StatusGate{{Name: "ci"}, {Name: "qa"}} },
				ok(2, 1), ok(3, 1),
				status{commit: 2, context: "ci", state: githost.Success, run: true},
				status{commit: 2, context: "qa", state: githost.Success},
				status{commit: 3, context: "ci", state: githost.Success, run: true},
				status{commit: 3, context: "qa", state: githost.Failure, by: "eve"}),
			"promote", 2, `c003: qa: status "qa" is failure by eve`, "", "",
		},
		"a required status by another account": {
			prod(byCI, status{2, "ci", githost.Success, 1, "eve", "", false}), "hold", 1,
			`status "ci" is success by eve at 2026-03-01T12:01:00Z, but only a status by "ci[bot]" counts; ` +
				`"ci[bot]" set none of the latest statuses`, "", "",
		},
		"a required status by the right account, and a failure by another": {
			prod(byCI, status{2, "ci", githost.Success, 1, "CI[bot]", "", true},
				status{2, "ci", githost.Failure, 1, "eve", "", true}), "promote", 2, "", "by CI[bot]", "",
		},
		"two check runs with one name, one of them skipped": {
			prod(func(w *promotion.World) { w.Gates, w.Statuses = nil, []promotion.StatusGate{{Name: "ci"}} },
				status{commit: 2, context: "ci", state: githost.Success, run: true},
				status{commit: 2, context: "ci", state: githost.Errored, text: "skipped", run: true}),
			"hold", 1, `c002: ci: check run "ci" is error`, "", "",
		},

		"the soak is over": {prod(soak(4*time.Hour), ok(2, 0), ok(2, 240)), "promote", 2, "",
			"soaked for 4h since 2026-03-01T12:00:00Z", ""},
		"the soak is not over": {prod(soak(4*time.Hour), ok(2, 0), ok(2, 239)), "hold", 1,
			"needs a good status at 2026-03-01T16:00:00Z or later", "", ""},
		"a soak during which the pipeline stopped": {prod(soak(4*time.Hour), ok(2, 0)), "hold", 1,
			"needs a good status", "", ""},
		"a failure during a soak": {prod(soak(4*time.Hour), ok(2, 0), no(2, 60, githost.Failure), ok(2, 120),
			ok(2, 300)), "hold", 1, "from 2026-03-01T14:00:00Z on", "", ""},
		"a pending status during a soak": {prod(soak(4*time.Hour), ok(2, 0), no(2, 60, githost.Pending), ok(2, 120),
			ok(2, 300)), "hold", 1, "from 2026-03-01T14:00:00Z on, and needs a good status at 2026-03-01T18:00:00Z or later; " +
			"its soak began again, because it was pending at 2026-03-01T13:00:00Z", "", ""},
		"a gap between the statuses of a soak": {prod(renewed(time.Hour), ok(2, 0), ok(2, 60), ok(2, 121), ok(2, 180),
			ok(2, 240)),
			"hold", 1, "no good status came from 2026-03-01T13:00:00Z to 2026-03-01T14:01:00Z, and a status counts for 1h",
			"", ""},
		"a soak with statuses renewed in time": {prod(renewed(time.Hour), ok(2, 0), ok(2, 60), ok(2, 120), ok(2,
			180), ok(2, 240)),
			"promote", 2, "", "soaked for 4h since 2026-03-01T12:00:00Z", ""},
		"a gap after the soak": {prod(renewed(2*time.Hour), ok(2, 0), ok(2, 120), ok(2, 240), ok(2, 500)), "promote", 2, "",
			"soaked for 4h since 2026-03-01T12:00:00Z", ""},
		"a status by another account in a gap": {prod(func(w *promotion.World) {
			renewed(2 * time.Hour)(w)
			w.Gates[0].By = "ci[bot]"
		}, ok(2, 0), status{2, stage, githost.Success, 120, "eve", "", false}, ok(2, 240)), "hold", 1,
			"no good status came from 2026-03-01T12:00:00Z to 2026-03-01T16:00:00Z", "", ""},
		"the statuses of a commit can't be read": {prod(func(w *promotion.World) {
			w.Ledger.Unread = map[string]string{hash(3): "it has too many statuses"}
		}, ok(2, 1)), "promote", 2, "c003: stage: it has too many statuses", "", ""},
		"a soak while another commit can't be read": {prod(func(w *promotion.World) {
			soak(4 * time.Hour)(w)
			w.Ledger.Unread = map[string]string{hash(3): "it has too many statuses"}
			w.Ledger.Histories[hash(3)] = promotion.StatusHistory{Partial: true}
		}, ok(2, 0), ok(2, 240)), "hold", 1, "unclear whether it ran all the time", "", ""},
		"a soak while another commit's history can be read": {prod(func(w *promotion.World) {
			soak(4 * time.Hour)(w)
			w.Ledger.Unread = map[string]string{hash(3): "it has too many statuses"}
			w.Ledger.Histories[hash(3)] = promotion.StatusHistory{Statuses: []githost.Status{{Context: stage, SetAt: at(60)}}}
		}, ok(2, 0), ok(2, 240)), "hold", 1, "it soaks for 4h from 2026-03-01T16:00:00Z on", "", ""},
		"the host removed the first statuses of a soak": {prod(soak(4*time.Hour), ok(2, 240), ok(2, 300)), "hold", 1,
			"it soaks for 4h from 2026-03-01T16:00:00Z on, and needs a good status at 2026-03-01T20:00:00Z or later", "", ""},
		"the host removed all statuses": {prod(soak(4 * time.Hour)), "hold", 1, `no status "stage environment"`, "", ""},
		"the host shows the latest status of the commit, but not its history": {prod(func(w *promotion.World) {
			soak(4 * time.Hour)(w)
			w.Ledger.Histories[hash(2)] = promotion.StatusHistory{}
		}, ok(2, 0), ok(2, 240)), "hold", 1, "it soaks for 4h from 2026-03-01T16:00:00Z on", "", ""},
		"the host shows the latest status of a newer commit, but not its history": {prod(func(w *promotion.World) {
			soak(4 * time.Hour)(w)
			w.Ledger.Histories[hash(3)] = promotion.StatusHistory{}
		}, ok(2, 0), no(3, 60, githost.Pending), ok(2, 240)), "hold", 1,
			"it soaks for 4h from 2026-03-01T16:00:00Z on", "", ""},
		"a dwell, after the host removed the statuses of the current commit": {prod(func(w *promotion.World) {
			w.Dwell = time.Hour
		}, ok(2, 0)), "hold", 1, "", `has no status "prod environment"`, ""},
		"the newest status is not good": {prod(soak(time.Hour), ok(2, 0), ok(2, 120), no(2, 130, githost.Pending)),
			"hold", 1, "is pending", "", ""},
		"a commit replaced during its soak": {prod(soak(4*time.Hour), ok(2, 0), no(3, 60, githost.Pending), ok(2, 300)),
			"hold", 1, "", "", ""},
		"a commit replaced after its soak": {prod(soak(time.Hour), ok(2, 0), ok(2, 60), no(3, 90, githost.Pending)),
			"promote", 2, "c003", "", ""},
		"a commit that returned after it was replaced": {prod(soak(time.Hour), ok(2, 0), no(3, 10, githost.Pending),
			ok(2, 20),
			ok(2, 80)), "promote", 2, "c003", "soaked for 1h since 2026-03-01T12:20:00Z", ""},
		"a commit replaced by an older commit during its soak": {prod(soak(time.Hour), ok(2, 0), ok(0, 30), ok(2, 70)),
			"hold", 1, "", "",
			""},
		"a failure after a soak": {prod(soak(time.Hour), ok(2, 0), ok(2, 70), no(2, 80,
			githost.Failure),
			ok(2, 90)), "hold", 1, "", "", ""},
		"a soak whose first status is by another account": {
			prod(func(w *promotion.World) { w.Gates[0].Soak, w.Gates[0].By = time.Hour, "ci[bot]" },
				status{commit: 2, context: stage, state: githost.Success, at: 0, by: "eve"},
				ok(2, 60)), "hold", 1, "from 2026-03-01T13:00:00Z on", "", "",
		},

		"deployed of another commit": {
			prod(func(w *promotion.World) {
				w.Gates[0].Deployed = &promotion.Deployed{Verdict: "success", Commit: hash(3)}
			}), "promote", 3, "environment \"stage\" is at", "", "",
		},
		"deployed pending": {prod(func(w *promotion.World) {
			w.Gates[0].Deployed = &promotion.Deployed{Verdict: "pending", Commit: hash(3)}
		}), "hold", 1, `the verdict on environment "stage" is pending`, "", ""},
		"deployed pending, with a summary": {prod(func(w *promotion.World) {
			w.Gates[0].Deployed = &promotion.Deployed{
				Verdict: "pending", Commit: hash(3), Summary: "0 of 1 clusters current; not deployed yet: large.",
			}
		}), "hold", 1, `"stage" is pending: 0 of 1 clusters current; not deployed yet: large`, "", ""},
		"deployed without a promoted commit": {prod(func(w *promotion.World) {
			w.Gates[0].Deployed = &promotion.Deployed{Verdict: "pending"}
		}), "hold", 1, "no promoted commit", "", ""},

		"a dwell without a status": {prod(func(w *promotion.World) { w.Dwell = time.Hour }, ok(2, 1)), "hold", 1,
			"has no status", "", ""},
		"a dwell that began with the first good status": {prod(func(w *promotion.World) { w.Dwell = time.Hour }, ok(2, 1),
			own(1, 550),
			own(1, 590)), "hold", 1, "until 2026-03-01T22:10:00Z", "", ""},
		"a dwell that is over": {prod(func(w *promotion.World) { w.Dwell = time.Hour }, ok(2, 1), own(1, 540)),
			"promote", 2, "", "", ""},
		"a dwell of a commit that failed": {prod(func(w *promotion.World) { w.Dwell = time.Hour }, ok(2, 1),
			status{commit: 1, context: "prod environment", state: githost.Failure, at: 590}), "promote", 2, "", "", ""},
		"an approved commit during a dwell": {prod(func(w *promotion.World) {
			w.Dwell, w.Approved = time.Hour,
				[]string{hash(3)}
		}, ok(2, 1)), "promote", 3, "", "approved", ""},

		"a hold": {prod(func(w *promotion.World) { w.Hold = "freeze" }, ok(2, 1)), "frozen", 1, "freeze",
			"Hold: freeze.", ""},
		"a hold without newer commits": {prod(func(w *promotion.World) { w.Hold, w.Current.Commit = "freeze", hash(5) }),
			"frozen", 5, "", "Hold: freeze.", ""},
		"a hold and an approved commit": {prod(func(w *promotion.World) {
			w.Hold, w.Approved = "freeze",
				[]string{hash(3)}
		}),
			"frozen", 1, "freeze", "", ""},
		"a hold during a rollout": {prod(func(w *promotion.World) { w.Hold, w.Current.Rollout = "freeze", true }),
			"frozen", 1, "freeze", "4 newer commits wait", ""},
		"a hold without a current commit": {prod(func(w *promotion.World) { w.Hold, w.Current.Commit = "freeze", "" }),
			"frozen", -1, "freeze", "has no promoted commit", ""},
		"a hold and a rejected commit": {prod(func(w *promotion.World) {
			w.Hold, w.Rejected, w.Current.Delivered = "freeze", map[string]string{hash(1): ""}, delivered(hashes(1, 0)...)
		}), "frozen", 1, "", "Hold: freeze.", ""},
		"the current commit is rejected": {prod(func(w *promotion.World) {
			w.Rejected, w.Current.Delivered = map[string]string{hash(1): ""}, delivered(hashes(1, 0)...)
		}, ok(2, 1)), "rollback", 0, "", "is rejected, and this is the newest earlier delivery", ""},
		"the current commit is rejected, and a newer commit is good": {prod(func(w *promotion.World) {
			w.Rejected, w.Current.Delivered = map[string]string{hash(1): hash(2)}, delivered(hashes(1, 0)...)
		}, ok(2, 1)), "rollback", 0, "", "Roll back", ""},
		"the current commit is in a rejected range": {prod(func(w *promotion.World) {
			w.Current.Commit, w.Rejected = hash(4), map[string]string{hash(2): hash(5)}
			w.Current.Delivered = delivered(hash(4), hash(3), hash(1), hash(0))
		}), "rollback", 1, "", "is rejected", ""},
		"a rejected commit after foreign and newer deliveries": {prod(func(w *promotion.World) {
			w.Current.Commit, w.Rejected = hash(2), map[string]string{hash(2): ""}
			w.Current.Delivered = delivered(hash(2), hash(4), "f00", hash(1))
		}), "rollback", 1, "", "", ""},
		"a rejected commit without an earlier delivery": {prod(func(w *promotion.World) {
			w.Rejected, w.Current.Delivered = map[string]string{hash(1): ""}, delivered(hash(1))
		}, ok(2, 1)), "frozen", 1, "", "no earlier delivery on branch \"main\" is good. Set pinned_commit", ""},
		"the commit of a rollout is rejected": {prod(func(w *promotion.World) {
			w.Current = promotion.Current{Promotion: promoted(hash(3)), Rollout: true, OtherCommits: []string{hash(1)},
				Delivered: delivered(hash(1), hash(0))}
			w.Rejected = map[string]string{hash(3): ""}
		}), "rollback", 1, "", "is rejected", ""},
		"the commit that a rollout replaces is rejected": {prod(func(w *promotion.World) {
			w.Current = promotion.Current{Promotion: promoted(hash(3)), Rollout: true, OtherCommits: []string{hash(1)},
				Delivered: delivered(hash(1), hash(0))}
			w.Rejected = map[string]string{hash(1): hash(2)}
		}), "rollback", 0, "", "is rejected", ""},
		"a rejected commit that the branch no longer contains": {prod(func(w *promotion.World) {
			w.Current = promotion.Current{Promotion: promoted("f00"), Delivered: delivered("f00", hash(1))}
			w.Rejected = map[string]string{"f00": ""}
		}), "rollback", 1, "", "", ""},
		"a pin to a rejected commit": {prod(func(w *promotion.World) {
			w.Pinned, w.Rejected = hash(2), map[string]string{hash(2): ""}
		}), "pinned", 2, "", "which is rejected. The pin has precedence", ""},
		"an approved commit": {prod(func(w *promotion.World) { w.Approved = []string{hash(3)} }), "promote", 3,
			"c005", "approved: no gate is needed", ""},
		"an approved commit that is older": {prod(func(w *promotion.World) { w.Approved = []string{hash(0)} }),
			"hold", 1, "",
			"Note: approved names", ""},
		"a pin, a hold and an approved commit": {
			prod(func(w *promotion.World) { w.Hold, w.Approved, w.Pinned = "freeze", []string{hash(3)}, hash(0) }), "pinned", 0,
			"", "pinned_commit", "",
		},
		"a pin to a newer commit": {prod(func(w *promotion.World) { w.Pinned = hash(4) }), "pinned", 4, "", "",
			""},
		"a pin to the current commit": {prod(func(w *promotion.World) { w.Pinned = hash(1) }, ok(3, 1)), "pinned", 1,
			"", "keeps it there", ""},
		"a rollout under way": {prod(func(w *promotion.World) { w.Current.Rollout = true }, ok(2, 1)), "hold",
			1, "rollout", "rollout is under way", ""},
		"a rollout under way without newer commits": {prod(func(w *promotion.World) {
			w.Current.Rollout, w.Current.Commit = true, hash(5)
		}), "hold", 5, "", "while its rollout is under way", ""},
		"an approved commit during a rollout": {prod(func(w *promotion.World) {
			w.Current.Rollout, w.Approved = true,
				[]string{hash(2)}
		}), "promote", 2, "", "", ""},
		"a pin during a rollout": {prod(func(w *promotion.World) {
			w.Current.Rollout, w.Pinned = true,
				hash(2)
		}), "pinned", 2, "", "", ""},
		"a rejected range": {prod(func(w *promotion.World) { w.Rejected = map[string]string{hash(2): hash(4)} },
			ok(2, 1), ok(3, 1)), "hold", 1, "c005", "2 commits skipped", ""},
		"a rejected range, and the gates of the first good commit are open": {
			prod(func(w *promotion.World) { w.Rejected = map[string]string{hash(2): hash(4)} },
				ok(3, 1), ok(4, 1)), "promote", 4, "c005", "", ""},
		"a rejected commit without a good one": {prod(func(w *promotion.World) {
			w.Rejected = map[string]string{hash(2): ""}
		}, ok(2, 1), ok(5, 1)), "up_to_date", 1, "", "4 commits skipped", ""},
		"a rejected range that begins before the current commit": {prod(func(w *promotion.World) {
			w.Rejected = map[string]string{hash(0): hash(5)}
		}, ok(4, 1)), "frozen", 1, "", "no earlier delivery", ""},
		"a rejected range that is older": {
			prod(func(w *promotion.World) { w.Rejected = map[string]string{hash(0): hash(1)} },
				ok(2, 1)), "promote", 2, "", "Note: rejected names", ""},
		"a rejected commit that is unknown": {prod(func(w *promotion.World) { w.Rejected = map[string]string{hash(77): ""} },
			ok(2, 1)), "promote", 2, "", "not on branch", ""},
		"a good commit that is older": {prod(func(w *promotion.World) { w.Rejected = map[string]string{hash(3): hash(2)} },
			ok(2, 1), ok(5, 1)), "promote", 2, "", "", "First good commit does not follow the rejected one"},
		"a commit that is rejected and approved": {prod(func(w *promotion.World) {
			w.Rejected,
				w.Approved = map[string]string{hash(3): ""}, []string{hash(3)}
		}), "hold", 1, "c002", "", ""},
		"the commits up to a rolled-back one": {prod(func(w *promotion.World) { w.Current.RolledBack = hash(4) }, ok(4, 1),
			ok(3, 1)), "hold", 1, "c005", "rolled back", ""},
		"a newer commit after a rollback": {prod(func(w *promotion.World) { w.Current.RolledBack = hash(4) }, ok(5, 1)),
			"promote", 5, "", "", ""},
		"a rolled-back commit that is approved": {prod(func(w *promotion.World) {
			w.Current.RolledBack, w.Approved = hash(4),
				[]string{hash(4)}
		}), "promote", 4, "c005", "", ""},
		"the host does not answer": {prod(func(w *promotion.World) {
			w.Ledger = promotion.Ledger{FailureReason: "GitHub is down."}
		}), "hold", 1, "can't be read", "", "The statuses can't be read"},
		"an approved commit while the host does not answer": {prod(func(w *promotion.World) {
			w.Ledger,
				w.Approved = promotion.Ledger{FailureReason: "x"}, []string{hash(2)}
		}), "promote", 2, "", "", "The statuses can't be read"},
		"a force-push, and an approved commit": {prod(func(w *promotion.World) {
			w.Current = promotion.Current{Promotion: promoted("f00"), Delivered: delivered("f00", hash(1))}
			w.Approved = []string{hash(1), hash(2)}
		}), "promote", 2, "", "approved: no gate is needed", ""},
		"a force-push, and an approval from before it": {prod(func(w *promotion.World) {
			w.Current = promotion.Current{Promotion: promoted("f00"), Delivered: delivered("f00", hash(3))}
			w.Approved = []string{hash(2), hash(3)}
		}), "hold", -2, "", "which is not on branch", ""},
		"a force-push that kept the tree": {prod(func(w *promotion.World) {
			w.Current = promotion.Current{Promotion: promoted("f00")}
			w.History.Trees = map[string]string{"f00": "t", hash(1): "t", hash(3): "t", hash(5): "u"}
		}, ok(2, 1)), "promote", 3, "c004", "rewritten: it has the tree of f00", ""},
		"a force-push that kept the tree, and a newer commit whose gates are open": {prod(func(w *promotion.World) {
			w.Current = promotion.Current{Promotion: promoted("f00")}
			w.History.Trees = map[string]string{"f00": "t", hash(3): "t"}
		}, ok(4, 1)), "promote", 4, "c005", "stage environment", ""},
		"a force-push that kept the tree of a rejected commit": {prod(func(w *promotion.World) {
			w.Current, w.Rejected = promotion.Current{Promotion: promoted("f00")}, map[string]string{hash(3): ""}
			w.History.Trees = map[string]string{"f00": "t", hash(3): "t"}
		}), "up_to_date", -2, "", "3 commits skipped", ""},
		"a force-push, without gates": {prod(func(w *promotion.World) {
			w.Current, w.Gates = promotion.Current{Promotion: promoted("f00")}, nil
			w.History.Trees = map[string]string{"f00": "t", hash(2): "t"}
		}), "promote", 5, "", "no gates", ""},
		"a force-push": {prod(func(w *promotion.World) { w.Current.Commit = hash(99) }, ok(3, 1)),
			"hold", 99, "", "once approved or pinned_commit names a commit", ""},
		"a pin after a force-push": {prod(func(w *promotion.World) {
			w.Current.Commit, w.Pinned = hash(99),
				hash(3)
		}), "pinned", 3, "", "", ""},
		"another account sets our own context": {prod(func(w *promotion.World) { w.Ledger.Viewer = "us" }, ok(2, 1),
			own(1, 2)), "promote", 2, "", "", "Unexpected reporter"},
		"our account sets our own context": {prod(func(w *promotion.World) { w.Ledger.Viewer = "ci[bot]" }, ok(2, 1),
			own(1, 2)), "promote", 2, "", "", ""},
		"Kalypso's descriptions in our own context": {prod(func(w *promotion.World) { w.Ledger.Viewer = "ci[bot]" }, ok(2, 1),
			status{commit: 5, context: "prod environment", state: githost.Pending, text: "Deploying",
				by: "ci[bot]"}), "promote", 2, "", "", "Unexpected reporter"},
		"more than 500 commits": {prod(func(w *promotion.World) { w.History.Commits = hashes(600, 0) },
			ok(600, 1)), "promote", 600, "", "", "More commits than candidates"},
		"more than 500 commits, no candidate": {prod(func(w *promotion.World) { w.History.Commits = hashes(600, 0) },
			ok(100, 1)), "hold", 1, "", "500 newer commits wait", "More commits"},
		"exactly 500 commits": {prod(func(w *promotion.World) { w.History.Commits = hashes(501, 0) },
			ok(2, 1)), "promote", 2, "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := promotion.Decide(tc.world)
			if err != nil {
				t.Fatal(err)
			}
			want := ""
			if tc.commit >= 0 {
				want = hash(tc.commit)
			} else if tc.commit == -2 {
				want = tc.world.Current.Commit
			}
			var waiting, warnings []string
			for _, w := range d.Waiting {
				waiting = append(waiting, w.Commit[36:]+": "+w.Gate+": "+w.Reason)
			}
			for _, w := range d.Warnings {
				warnings = append(warnings, w.Summary+": "+w.Detail)
			}
			if d.Decision != tc.kind || d.Commit != want || len(d.Unread) > 0 {
				t.Errorf("%s %q, want %s %q; unread %v", d.Decision, d.Commit, tc.kind, want, d.Unread)
			}
			if text := strings.Join(waiting, "\n"); tc.waiting != "" && !strings.Contains(text, tc.waiting) {
				t.Errorf("no commit waits with %q:\n%s", tc.waiting, text)
			}
			if !strings.Contains(d.Summary, tc.summary) {
				t.Errorf("the summary lacks %q:\n%s", tc.summary, d.Summary)
			}
			if text := strings.Join(warnings, "\n"); !strings.Contains(text, tc.warning) || tc.warning == "" && text != "" {
				t.Errorf("the warnings are %q, want %q", text, tc.warning)
			}
			again := tc.world
			again.Current.Commit, again.Current.RolledBack = d.Commit, d.RolledBack
			if !again.Current.Rollout {
				second, err := promotion.Decide(again)
				moves := err == nil && (second.Commit != d.Commit || second.Decision == promotion.Promote)
				if err != nil || moves && d.Decision != promotion.Rollback { // after a rollback, a good commit may be promoted
					t.Errorf("a second run changes the decision: %+v, %v", second, err)
				}
			}
		})
	}
}

// TestPinOfLostCommit: main was force-pushed and lost the environment's commit, which branched off at commit 2. People
// pin a commit, and later remove the pin. A pin to a commit that is newer than commit 2 is no rollback, so the next
// commit is promoted afterwards. With any other pin, it is unclear what was rolled back, so nothing is promoted.
func TestPinOfLostCommit(t *testing.T) {
	const lost = "f00"
	left := map[string]string{lost: hash(2)}
	for name, tc := range map[string]struct {
		pinned int
		left   map[string]string
		want   string // the rolled-back commit
	}{
		"the newest commit": {5, left, ""},
		"the newest commit, lost one deleted on the server": {5, nil, ""},
		"a newer commit": {3, left, ""},
		"a newer commit, lost one deleted on the server": {3, nil, lost},
		"the commit at which the lost one branched off":  {2, left, lost},
		"an older commit": {1, left, lost},
		"an older commit, lost one deleted on the server": {1, nil, lost},
	} {
		t.Run(name, func(t *testing.T) {
			w := prod(func(w *promotion.World) {
				w.Current.Commit, w.Pinned, w.History.ForkPoints = lost, hash(tc.pinned), tc.left
			})
			decide := func() *promotion.Choice {
				d, err := promotion.Decide(w)
				if err != nil {
					t.Fatal(err)
				}
				return d
			}
			d := decide()
			if d.Decision != promotion.Pinned || d.Commit != hash(tc.pinned) || d.RolledBack != tc.want {
				t.Errorf("%s %s rolls back %q, want %q", d.Decision, d.Commit, d.RolledBack, tc.want)
			}
			w.Current.Commit, w.Current.RolledBack = d.Commit, d.RolledBack
			w.Pinned, w.History.Commits = "", hashes(6, 0)
			w.Ledger = ledger(600, status{commit: 6, context: stage, state: githost.Success, at: 1})
			want := promotion.Promote
			if tc.want != "" {
				want = promotion.Hold
			}
			if d := decide(); d.Decision != want {
				t.Errorf("without the pin, the decision is %s, want %s: %s", d.Decision, want, d.Summary)
			}
			w.Current.RolledBack = lost
			if tc.want == "" && tc.left != nil && decide().Decision != promotion.Promote {
				t.Error("with a record that an earlier version wrote, the next commit is not promoted")
			}
		})
	}
}

// TestGatesOfCurrentCommit has rows for the reasons why the current commit would or would not be promoted now.
func TestGatesOfCurrentCommit(t *testing.T) {
	ok := func(commit, at int) status {
		return status{commit: commit, context: stage, state: githost.Success, at: at, by: "ci[bot]"}
	}
	rolledBack := func(to int) func(*promotion.World) {
		return func(w *promotion.World) {
			w.Current = promotion.Current{Promotion: promoted(hash(to))}
			w.Current.Decision, w.Current.RolledBack = promotion.Rollback, hash(3)
			w.Rejected = map[string]string{hash(3): ""}
		}
	}
	for name, tc := range map[string]struct {
		world promotion.World
		want  string // a part of the reason; empty if it would be promoted
	}{
		"the gates of the commit are open":   {prod(nil, ok(1, 1)), ""},
		"the gates of the commit are closed": {prod(nil, ok(2, 1)), `stage: no status "stage environment"`},
		"the environment stage failed": {
			prod(nil, status{commit: 1, context: stage, state: githost.Failure, at: 1}), "is failure",
		},
		"nothing is promoted":        {prod(func(w *promotion.World) { w.Current.Commit = "" }), ""},
		"the commit is pinned":       {prod(func(w *promotion.World) { w.Pinned = hash(1) }), ""},
		"another commit is pinned":   {prod(func(w *promotion.World) { w.Pinned = hash(2) }), "no status"},
		"the commit is approved":     {prod(func(w *promotion.World) { w.Approved = []string{hash(1)} }), ""},
		"another commit is approved": {prod(func(w *promotion.World) { w.Approved = []string{hash(2)} }), "no status"},
		"the commit is rejected": {prod(func(w *promotion.World) {
			w.Rejected, w.Approved = map[string]string{hash(1): ""}, []string{hash(1)}
		}, ok(1, 1)), "it is rejected"},
		"the commit contains a rejected one": {prod(func(w *promotion.World) { w.Rejected = map[string]string{hash(0): ""} },
			ok(1, 1)), "it is rejected: it contains"},
		"the commit is the target of a rollback": {prod(rolledBack(1)), ""},
		"the record claims a rollback to a newer commit": {prod(func(w *promotion.World) {
			rolledBack(4)(w)
			w.Rejected = map[string]string{hash(3): hash(4)}
		}), "no status"},
		"a rollback of a commit that is not rejected": {prod(func(w *promotion.World) {
			rolledBack(1)(w)
			w.Rejected = nil
		}), "no status"},
		"the commit is not on the branch": {prod(func(w *promotion.World) { w.Current.Commit = hash(99) }, ok(99, 1)),
			`not on the first-parent history of branch "main"`},
		"the commit is not on the branch, and there are no gates": {prod(func(w *promotion.World) {
			w.Current.Commit, w.Gates = hash(99), nil
		}), "not on the first-parent history"},
		"there are no gates":        {prod(func(w *promotion.World) { w.Gates = nil }), ""},
		"the environment is frozen": {prod(func(w *promotion.World) { w.Hold = "freeze" }), "no status"},
		"a rollout is under way":    {prod(func(w *promotion.World) { w.Current.Rollout = true }, ok(1, 1)), ""},
		"the host does not answer": {prod(func(w *promotion.World) { w.Ledger.FailureReason = "GitHub is down." }, ok(1, 1)),
			"the statuses can't be read"},
		"the environment before runs another commit": {prod(func(w *promotion.World) {
			w.Gates = []promotion.Gate{{Name: "stage", Deployed: &promotion.Deployed{Verdict: "success", Commit: hash(2)}}}
		}), `environment "stage" is at`},
		"the commit soaked":       {prod(soak(4*time.Hour), ok(1, 1), ok(1, 300)), ""},
		"the commit did not soak": {prod(soak(4*time.Hour), ok(1, 1), ok(1, 100)), "it soaks for 4h"},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := promotion.Decide(tc.world)
			if err != nil || len(d.Unread) > 0 {
				t.Fatalf("%v, unread %v", err, d.Unread)
			}
			if !strings.Contains(d.Unproven, tc.want) || tc.want == "" && d.Unproven != "" {
				t.Errorf("the reason is %q, want %q", d.Unproven, tc.want)
			}
		})
	}
	unread := prod(soak(time.Hour), ok(1, 1), ok(1, 100))
	unread.Ledger.Histories = nil
	if d, err := promotion.Decide(unread); err != nil || !slices.Equal(d.Unread, []string{hash(1)}) {
		t.Errorf("the decision requests the histories of %+v (%v)", d.Unread, err)
	}
}

func own(commit, at int) status {
	return status{commit: commit, context: "prod environment", state: githost.Success, at: at, by: "ci[bot]"}
}

// A pin to a commit that is not on the branch, such as a commit of a fork, is an error.
func TestPinNotOnBranch(t *testing.T) {
	_, err := promotion.Decide(prod(func(w *promotion.World) { w.Pinned = hash(77) }))
	if !errors.Is(err, promotion.ErrNotOnBranch) || !strings.Contains(err.Error(), `"main"`) {
		t.Errorf("the error is %v", err)
	}
}

// The rolled-back commit is kept after further pins, until it or a newer commit is promoted: no commit up to it is
// promoted by its gates.
func TestRolledBackCommitIsKept(t *testing.T) {
	for name, tc := range map[string]struct {
		current, before, pinned, approved int
		want                              string
	}{
		"a pin to an older commit": {current: 4, before: -1, pinned: 2, approved: -1,
			want: hash(4)},
		"a pin to a newer commit": {current: 2, before: -1, pinned: 4, approved: -1},
		"a second pin, to an older commit than the first": {current: 2, before: 4, pinned: 1, approved: -1,
			want: hash(4)},
		"a second pin, to a newer commit than the first": {current: 1, before: 4, pinned: 3, approved: -1,
			want: hash(4)},
		"a pin to the delivered commit": {current: 1, before: 4, pinned: 4, approved: -1},
		"no pin any more": {current: 1, before: 4, pinned: -1, approved: -1,
			want: hash(4)},
		"no pin, an approved commit before the rolled-back one": {current: 1, before: 4, pinned: -1, approved: 3,
			want: hash(4)},
		"no pin, the rolled-back commit is approved": {current: 1, before: 4, pinned: -1, approved: 4},
		"no pin, a newer commit is approved":         {current: 1, before: 4, pinned: -1, approved: 5},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := promotion.Decide(prod(func(w *promotion.World) {
				w.Current.Commit = hash(tc.current)
				if tc.before >= 0 {
					w.Current.RolledBack = hash(tc.before)
				}
				if tc.pinned >= 0 {
					w.Pinned = hash(tc.pinned)
				}
				if tc.approved >= 0 {
					w.Approved = []string{hash(tc.approved)}
				}
			}))
			if err != nil || d.RolledBack != tc.want {
				t.Errorf("the rolled-back commit is %q, want %q: %v", d.RolledBack, tc.want, err)
			}
		})
	}
}

// TestNeededHistories checks that a decision requests only the histories that it needs.
func TestNeededHistories(t *testing.T) {
	ok := func(commit, at int) status {
		return status{commit: commit, context: stage, state: githost.Success, at: at}
	}
	w := prod(soak(time.Hour), ok(2, 0), ok(2, 60), ok(3, 90), ok(3, 100), ok(4, 110), ok(4, 115))
	w.Dwell = 0
	all := w.Ledger.Histories
	w.Ledger.Histories = map[string]promotion.StatusHistory{}
	var asked []string
	for range 10 {
		d, err := promotion.Decide(w)
		if err != nil {
			t.Fatal(err)
		}
		if len(d.Unread) == 0 {
			if d.Commit != hash(2) {
				t.Errorf("it promotes %s", d.Commit)
			}
			break
		}
		asked = append(asked, d.Unread[0])
		w.Ledger.Histories[d.Unread[0]] = all[d.Unread[0]]
	}
	if want := []string{hash(4), hash(3), hash(2)}; !slices.Equal(asked, want) {
		t.Errorf("the decisions requested %v, want %v", asked, want)
	}
}

// The reason of a promotion stays the same after the promotion and while its pull request is open, even if statuses are
// set again.
func TestReasonIsStable(t *testing.T) {
	decide := func(change func(*promotion.World), at int) *promotion.Choice {
		t.Helper()
		d, err := promotion.Decide(prod(change, status{commit: 2, context: stage, state: githost.Success, at: at, by: "ci",
			text: "closes #12"}))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	first := decide(nil, 1)
	if want := `status "stage environment" is success by ci at 2026-03-01T12:01:00Z`; first.Explanation != want {
		t.Errorf("the reason is %q, want %q", first.Explanation, want)
	}
	after := decide(
		func(w *promotion.World) { w.Current.Commit, w.Current.Explanation = first.Commit, first.Explanation },
		30,
	)
	proposed := decide(func(w *promotion.World) {
		w.Current.Proposal = &promotion.PendingPromotion{Number: 7, Promotion: first.Promotion}
	}, 30)
	pinned := decide(func(w *promotion.World) {
		w.Current.Commit, w.Current.Explanation, w.Pinned = first.Commit, first.Explanation, first.Commit
	}, 30)
	for name, d := range map[string]*promotion.Choice{"after the promotion": after, "open pull request": proposed,
		"a pin to this commit": pinned} {
		if d.Explanation != first.Explanation {
			t.Errorf("%s: the reason is %q", name, d.Explanation)
		}
	}
	if proposed.Proposed != hash(2) ||
		!strings.Contains(proposed.Summary, "Pull request 7, which is open, would promote") {
		t.Errorf("it proposes %q: %s", proposed.Proposed, proposed.Summary)
	}
	for want, change := range map[string]func(*promotion.World){
		"approved: no gate is needed": func(w *promotion.World) { w.Approved = []string{hash(2)} },
		"pinned by pinned_commit":     func(w *promotion.World) { w.Pinned = hash(2) },
		"":                            func(w *promotion.World) { w.Current.Commit = hash(5) },
	} {
		if d := decide(change, 1); d.Explanation != want {
			t.Errorf("the reason is %q, want %q", d.Explanation, want)
		}
	}
}

// Hosts remove old statuses. If the oldest statuses are missing, no commit may be promoted that would not be promoted
// with all of them.
func TestRemovedStatuses(t *testing.T) {
	promoted, heldBack := 0, 0
	for seed := range seeds.Of(t, 3000, 100_000) {
		r := rand.New(rand.NewPCG(seed, 37))
		var all []status
		for minute := 0; minute < 600; minute += 1 + r.IntN(90) {
			all = append(all, status{
				commit: r.IntN(5), context: []string{stage, stage, "prod environment"}[r.IntN(3)], at: minute, by: "ci[bot]",
				state: []githost.StatusState{
					githost.Success, githost.Success, githost.Success, githost.Success, githost.Pending, githost.Failure,
				}[r.IntN(6)],
			})
		}
		decide := func(statuses []status) *promotion.Choice {
			w := prod(nil, statuses...)
			pick := rand.New(rand.NewPCG(seed, 38))
			w.Gates[0].Soak = time.Duration(pick.IntN(5)) * time.Hour
			if w.Gates[0].Soak > 0 {
				w.Gates[0].RenewedWithin = []time.Duration{0, time.Hour, 3 * time.Hour}[pick.IntN(3)]
			}
			w.Dwell = time.Duration(pick.IntN(3)) * time.Hour
			for n := range 6 { // the histories of all commits were read
				if _, has := w.Ledger.Histories[hash(n)]; !has {
					w.Ledger.Histories[hash(n)] = promotion.StatusHistory{}
				}
			}
			d, err := promotion.Decide(w)
			if err != nil || len(d.Unread) > 0 {
				t.Fatal(err, d.Unread)
			}
			return d
		}
		cut := r.IntN(600)
		whole := decide(all)
		left := decide(slices.DeleteFunc(slices.Clone(all), func(s status) bool { return s.at < cut }))
		if whole.Decision == promotion.Promote {
			promoted++
		}
		if left.Commit < whole.Commit {
			heldBack++
		}
		if left.Decision == promotion.Promote && left.Commit > whole.Commit {
			t.Fatalf("with the statuses since minute %d it promotes %s (%s), and with all of them %s (%s)", cut,
				left.Commit, left.Summary, whole.Commit, whole.Summary)
		}
	}
	if !seeds.Single() && (promoted == 0 || heldBack == 0) {
		t.Errorf("%d promotions, %d prevented: the test does not cover both", promoted, heldBack)
	}
}
