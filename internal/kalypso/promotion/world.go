package promotion

import (
	"fmt"
	"maps"
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
)

// StatusCommits returns the commits whose latest statuses a decision depends on: the candidates, the current commit and
// some before it.
func (w *World) StatusCommits() []string {
	all := slices.Clone(w.History.Commits[:min(len(w.History.Commits), len(w.candidates())+1+LookBehind)])
	if current := w.Current.Commit; current != "" && !slices.Contains(all, current) {
		all = append(all, current)
	}
	return all
}

// candidates returns the commits after the current one, newest first, at most [MaxCandidates].
func (w *World) candidates() []string {
	n := len(w.History.Commits)
	if at := w.History.index(w.Current.Commit); at >= 0 {
		n = at
	} else if at := w.History.index(w.rewritten()); at >= 0 {
		n = at + 1
	}
	return w.History.Commits[:min(n, MaxCandidates)]
}

// rewritten returns the commit that replaces the current one after the branch's history was rewritten: the newest
// commit with the same tree, or "". This tree already passed its gates.
func (w *World) rewritten() string {
	tree := w.History.Trees[w.Current.Commit]
	if tree == "" || w.History.Has(w.Current.Commit) {
		return ""
	}
	for _, commit := range w.History.Commits {
		if w.History.Trees[commit] == tree {
			return commit
		}
	}
	return ""
}

// lost reports whether the branch lost the current commit, and contains no commit with the same tree.
func (w *World) lost() bool {
	return w.Current.Commit != "" && !w.History.Has(w.Current.Commit) && w.rewritten() == ""
}

// NeedsDeliveries reports whether the decision depends on [Current.Delivered]: folders contain a rejected commit or
// have failed, an automatic rollback was made or is proposed, or the branch lost the current commit and the rules
// approve commits.
func (w *World) NeedsDeliveries() bool {
	p := w.Current.Proposal
	return w.Current.By == ByRollback || w.Pinned == "" && w.Hold == "" && (len(w.rejected()) > 0 ||
		len(rollback{w}.failedFolders()) > 0 || p != nil && p.By == ByRollback || w.lost() && len(w.Approved) > 0)
}

// rejected returns the rejected commits that folders of the environment may contain.
func (w *World) rejected() (all []string) {
	for _, commit := range append([]string{w.Current.Commit}, w.Current.OtherCommits...) {
		if commit != "" && w.rejection(commit) != "" {
			all = append(all, commit)
		}
	}
	return all
}

// noGoodCommit says why all commits after a rejected one are skipped.
const noGoodCommit = "and no good commit after it is named"

// rejection returns the reason why a commit is rejected, or "".
func (w *World) rejection(commit string) string {
	if _, named := w.Rejected[commit]; named {
		return "rejected"
	}
	at := w.History.index(commit)
	for _, bad := range slices.Sorted(maps.Keys(w.Rejected)) {
		from, good := w.History.index(bad), w.firstGood(bad)
		switch {
		case at < 0 || at > from || from < 0 || good >= 0 && at <= good:
		case good < 0:
			return fmt.Sprintf("rejected: it contains %s, %s", short(bad), noGoodCommit)
		default:
			return fmt.Sprintf("rejected: it contains %s, and comes before the first good commit %s", short(bad),
				short(w.Rejected[bad]))
		}
	}
	return ""
}

// firstGood returns the position of the first good commit after a rejected one, or -1 if there is none yet. It ignores
// a commit that does not come after the rejected one.
func (w *World) firstGood(bad string) int {
	good, from := w.History.index(w.Rejected[bad]), w.History.index(bad)
	if from >= 0 && good >= from {
		return -1
	}
	return good
}

// newest returns the newest commit after the current one that is not skipped, or "".
func (w *World) newest() string {
	if w.lost() {
		return ""
	}
	for _, commit := range w.candidates() {
		if w.skipped(commit) == "" {
			return commit
		}
	}
	return ""
}

// skipped returns the reason why a commit after the current one cannot be a candidate, or "".
func (w *World) skipped(commit string) string {
	if reason := w.rejection(commit); reason != "" {
		return reason
	}
	at, back := w.History.index(commit), w.History.index(w.Current.RolledBack)
	switch {
	case back < 0 || at < back || w.approves(commit):
		return ""
	case commit == w.Current.RolledBack:
		return "rolled back: approve it, or wait for a newer commit"
	}
	return fmt.Sprintf("rolled back together with %s: approve it, or wait for a newer commit",
		short(w.Current.RolledBack))
}

// approves reports whether people approved a commit: it needs no gate.
func (w *World) approves(commit string) bool { return slices.Contains(w.Approved, commit) }

// delivered reports whether a commit, or a newer commit of the branch, was delivered before. Then its approval no
// longer counts.
func (w *World) delivered(commit string) bool {
	at := w.History.index(commit)
	return slices.ContainsFunc(w.Current.Delivered, func(was Delivery) bool {
		i := w.History.index(was.Commit)
		return i >= 0 && i <= at && !was.Partial
	})
}

// mayRollBack reports whether the branch lost a commit, and the change from lost to another commit may have rolled back
// commits of the branch. It rolled nothing back if the other commit is the newest, or newer than the point where lost
// left the branch.
func (w *World) mayRollBack(lost, to string) bool {
	at := w.History.index(to)
	return lost != "" && !w.History.Has(lost) && at != 0 && (at < 0 || at >= w.History.index(w.History.ForkPoints[lost]))
}

// isRollbackTarget reports whether the current commit replaced a newer one that is rejected or failed. The record alone
// does not prove a failure: the current commit must also have been delivered before.
func (w *World) isRollbackTarget() bool {
	current := w.Current
	return current.Decision == Rollback && w.rejection(current.Commit) == "" &&
		w.History.index(current.RolledBack) < w.History.index(current.Commit) &&
		(w.rejection(current.RolledBack) != "" || current.By == ByRollback && rollback{w}.deliveredBefore(current.Commit))
}

// outsideWindows reports whether the windows are closed for a commit. An approved commit passes, unless the windows are
// strict.
func (w *World) outsideWindows(commit string) bool {
	return w.Window.Closed != "" && (w.Window.Strict || !w.approves(commit))
}

// blocked returns the reason that stops all candidates, even if their gates are open, or nil.
func (w *World) blocked() *Waiting {
	switch {
	case w.Current.Rollout:
		return &Waiting{Gate: gateRollout, Reason: fmt.Sprintf("a rollout of environment %q is under way", w.Environment)}
	case w.mayRollBack(w.Current.RolledBack, w.Current.Commit):
		return &Waiting{Gate: gateRollback,
			Reason: fmt.Sprintf("%s was rolled back and is not on branch %q any more, so it is unclear which commits were "+
				"rolled back with it: approve the newest good commit", short(w.Current.RolledBack), w.History.Branch)}
	}
	return nil
}

// short abbreviates a hash.
func short(commit string) string { return printable.Line(commit[:min(len(commit), 12)]) }
