// Package promotion chooses the commit of a control plane that an environment renders. The history of the control
// plane's branch, the statuses on its commits, and the record of the environment give a [Choice] with its reasons. The
// package does no I/O: the host's answer contains the time, and the caller says whether a window is open. Package
// lookup reads the inputs of a decision.
//
// A gate never raises an error: it is open, or it waits with a reason. If something is unclear, nothing is promoted.
package promotion

import (
	"maps"
	"slices"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/windows"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
)

// Kind is the kind of a decision.
type Kind string

// The values of [Kind].
const (
	Pinned   Kind = "pinned"     // pinned_commit is set
	Frozen   Kind = "frozen"     // nothing is written: hold is set, or no good delivery replaces a bad commit
	Rollback Kind = "rollback"   // the current commit is rejected or failed: the decision chooses an earlier delivery
	Promote  Kind = "promote"    // the decision chooses a commit other than the current one
	Hold     Kind = "hold"       // a rollout is under way, or newer commits wait; the argument hold gives Frozen
	UpToDate Kind = "up_to_date" // no newer commit waits
)

// Limits of reading and of texts.
const (
	// MaxCandidates limits the commits that one decision considers.
	MaxCandidates = 500
	// LookBehind is the number of commits before the current one whose statuses are read too: an environment may have
	// been rolled back to one of them. Runs of older commits are unknown, and leave a gap. A soak restarts after the
	// gap ([Gate.RenewedWithin]); a dwell continues.
	LookBehind = 20
	// MaxWaiting limits the waiting gates, and the skipped commits, that a decision lists.
	MaxWaiting = 100
	// MaxDeliveries limits the commits of the GitOps branch that are searched for an earlier delivery.
	MaxDeliveries = 512
)

// Rules contains the arguments of a promotion.
type Rules struct {
	Environment string
	Gates       []Gate       `attribute:"-"` // all must be open; sorted by Name
	Statuses    []StatusGate `attribute:"-"`
	Dwell       time.Duration
	Hold        string // the reason why the environment is frozen; "": it is not
	Pinned      string `attribute:"pinned_commit"` // full hash; "": none
	Approved    []string
	Rejected    map[string]string  `attribute:"-"` // commit → the first good commit after it; "": none yet
	Rollback    *AutomaticRollback `attribute:"-"` // nil: the environment is never rolled back automatically
	Windows     windows.Windows    `attribute:"-"` // the times at which a commit may be promoted
}

// Gate is an environment that must run a commit first.
type Gate struct {
	Name    string        `attribute:"-"` // the environment
	Context string        // of its status
	Soak    time.Duration // 0: none
	// RenewedWithin is how long a good status proves that the environment runs the commit; 0: for ever. Between two
	// statuses that are further apart, the environment may have run a commit whose statuses were not read.
	RenewedWithin time.Duration
	By            string // who may have set the status; "": any account
	// Deployed is a state that replaces the status.
	Deployed *Deployed
}

// StatusGate is a status or a check run that must be successful on a commit.
type StatusGate struct {
	Name string
	By   string // who may have set it; "": any account
}

// Deployed is the state of an environment, as it was observed.
type Deployed struct {
	Verdict string
	Summary string // the state in one line; "": unknown
	Commit  string `attribute:"promoted_commit"` // that the verdict is about; "": none
}

// ContextOf returns the context of the status that shows whether an environment runs a commit. Kalypso's workflows use
// the same context.
func ContextOf(environment string) string { return environment + " environment" }

// History is the first-parent history of the control plane's branch.
type History struct {
	Branch  string
	Commits []string          // newest first, as far back as they were read
	Trees   map[string]string // commit → its tree, for Commits and, if it can be read, the current one
	// ForkPoints maps a commit that the branch lost to the newest commit that both contain, if the server still has the
	// lost one.
	ForkPoints map[string]string
	NoBranch   bool // the repo has no such branch
}

// index returns the position of a commit, or -1.
func (h History) index(commit string) int { return slices.Index(h.Commits, commit) }

// Has reports whether a commit was read.
func (h History) Has(commit string) bool { return h.index(commit) >= 0 }

// Current is the state of the environment's GitOps branch.
type Current struct {
	Promotion        // the promoted commit, as the record says
	Head      string // of the GitOps branch
	Rollout   bool   // a rollout is under way
	// OtherCommits are the other commits that folders may contain during a rollout: the previous one, and those of
	// rollouts that it interrupted.
	OtherCommits []string
	// Delivered are the deliveries in the history of the GitOps branch, newest first. They are read only if
	// [World.NeedsDeliveries].
	Delivered []Delivery
	// Proposal is the open pull request of the environment's rendering, or nil.
	Proposal *PendingPromotion
}

// PendingPromotion is an open pull request that would promote a commit.
type PendingPromotion struct {
	Number int
	Promotion
}

// Ledger contains what the host knows about the commits.
type Ledger struct {
	githost.Statuses
	Histories map[string]StatusHistory // by commit, as far as they were read
	// FailureReason says why the host gave no statuses. It is "" if it gave them.
	FailureReason string
}

// StatusHistory contains all statuses of a commit, newest first.
type StatusHistory struct {
	Statuses []githost.Status
	Partial  bool // older ones exist and were not read
}

// World contains everything that a decision depends on.
type World struct {
	Rules
	History History
	Current Current
	Ledger  Ledger
	Window  windows.State // of Windows now
	// Signatures judges the commits of the history; nil: signatures are not verified.
	Signatures *Signatures
}

// Choice is the commit to render, with the reason.
type Choice struct {
	Promotion           // the commit to render
	Current   string    // "": none
	Candidate string    // the newest commit that may be promoted once its gates are open; "": none
	Waiting   []Waiting // at most [MaxWaiting], newest commits first
	Skipped   []Skipped // likewise
	Proposed  string    `attribute:"proposed_commit"` // of the open pull request of the rendering; "": none
	OpensAt   time.Time // when the closed windows open next; zero: they are open, or it does not come within years
	Warnings  []Warning
	Verified  map[string]string // the commit to render → its signer, if its signature counts
	// Unread lists the commits whose status history the decision depends on. Unless it is empty, the other fields are
	// not valid yet.
	Unread []string
}

// Waiting is a closed gate.
type Waiting struct {
	Commit string
	Gate   string // an environment, a status, or "hold", "dwell", "rollout", "rollback", "window", "signature"
	Reason string
	By     string // who set the insufficient status; "": no one, or unknown
}

// Skipped is a commit that can't be a candidate.
type Skipped struct{ Commit, Reason string }

// Warning is a fact that people should check. It does not stop a promotion by itself.
type Warning struct{ Summary, Detail string }

// UsesStatuses reports whether the rules need the statuses of a host.
func (r Rules) UsesStatuses() bool {
	return len(r.Statuses) > 0 || r.Dwell > 0 || slices.ContainsFunc(r.Gates,
		func(g Gate) bool { return g.Deployed == nil })
}

// Names returns the names of the statuses and check runs that the rules depend on, sorted.
func (r Rules) Names() []string {
	all := []string{ContextOf(r.Environment)}
	for _, g := range r.Statuses {
		all = append(all, g.Name)
	}
	for _, g := range r.Gates {
		if g.Deployed == nil {
			all = append(all, g.Context)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Mentioned returns the commits in pinned_commit and rejected. The history is searched for them, to its beginning if
// need be: the decision depends on their positions, or on their absence.
func (r Rules) Mentioned() []string {
	all := slices.AppendSeq([]string{r.Pinned}, maps.Keys(r.Rejected))
	all = slices.AppendSeq(all, maps.Values(r.Rejected))
	return slices.DeleteFunc(all, func(commit string) bool { return commit == "" })
}
