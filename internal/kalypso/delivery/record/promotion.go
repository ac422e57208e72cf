package record

import (
	"cmp"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// Promotion is the commit of a control plane that an environment renders, with the reason why it was chosen.
type Promotion struct {
	Commit       string // "": none
	Repo, Branch string // of the commit; "": unknown
	// Unproven is the reason why the gates of the commit that the record names are closed now; "": they are open, or it is
	// unknown.
	Unproven string
	Reason
}

// Reason says why a promoted commit was chosen. People and the next decision read it; nothing else depends on it. The
// zero value is an unknown reason.
type Reason struct {
	Decision promotion.Kind `json:"decision,omitempty"`
	// Reason explains why the commit was chosen: gates with who opened them, overrides. Summary describes the run that
	// chose it.
	Reason  string `json:"reason,omitempty"`
	Summary string `json:"summary,omitempty"`
	// RolledBack is the newest commit that a rollback removed. It must not return by itself.
	RolledBack string `json:"rolled_back,omitempty"`
}

// Stays reports whether the decision chose no other commit than the current one.
func (r Reason) Stays() bool {
	return r.Decision == promotion.Hold || r.Decision == promotion.UpToDate || r.Decision == promotion.Frozen
}

// maxFacts limits the lines of a reason in a commit message.
const maxFacts = 25

// harmless removes from a text the parts that hosts act on in a commit message: mentions, references that close issues,
// and instructions in brackets, such as [skip ci]. The names of GitHub's apps end in [bot].
var harmless = strings.NewReplacer(
	"[bot]", "[bot]", "[", "(", "]", ")", "@", "(at)", "#", "no. ", "://", ": //", "***", "*",
)

// Facts returns the reason why the commit was chosen as a list for a commit message. Nothing in it triggers an action
// of a host, even if a team wrote it. The summary is only for descriptions: it contains untrusted texts.
func (r Reason) Facts() string {
	var b strings.Builder
	for i, line := range strings.Split(strings.TrimSpace(r.Reason), "\n") {
		if line = strings.TrimSpace(printable.Line(line)); line != "" && i < maxFacts {
			b.WriteString("- " + harmless.Replace(line) + "\n")
		}
	}
	return b.String()
}

// Frozen returns the reason why nothing may be written, or "".
func (r Reason) Frozen() string {
	if r.Decision != promotion.Frozen {
		return ""
	}
	why, _, _ := strings.Cut(strings.TrimSpace(r.Summary), "\n")
	return cmp.Or(problem.EndSentence(why), "The promotion is frozen.")
}

// SetPromotion sets the reason of the promoted commit. before is the record on the branch, or nil. During a rollout, r
// keeps the reason of the promoted commit, and separately the reason of the rollout's commit.
func (r *Record) SetPromotion(p Promotion, before *Record) {
	r.Promotion = p.Reason
	if p.Reason == (Reason{}) {
		return
	}
	r.Promotion = p.reasonAfter(before)
	if !r.Rollout.UnderWay() {
		return
	}
	r.Promotion, r.Promoting = Reason{}, r.Promotion
	if before != nil {
		r.Promotion = before.Promotion
	}
}

// reasonAfter returns the reason of the commit. While a record leads to the same commit, its reason stays: a later
// decision only says why it chose no other commit.
func (p Promotion) reasonAfter(before *Record) Reason {
	if before == nil {
		return p.Reason
	}
	taken := before.Taken()
	switch {
	case taken.Commit == p.Commit && taken.Reason != (Reason{}):
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

// Others returns the other commits that folders may contain during a rollout, besides that of [Record.Taken].
func (r *Record) Others() (all []string) {
	if !r.Rollout.UnderWay() {
		return nil
	}
	taken := r.Taken().Commit
	for _, commit := range append([]string{r.PromotedCommit}, r.Rollout.Interrupted...) {
		if commit != "" && commit != taken && !slices.Contains(all, commit) {
			all = append(all, commit)
		}
	}
	return all
}

// Taken returns the promotion that a record leads to: that of an incomplete rollout, otherwise the promoted one. A
// record does not name the repo.
func (r *Record) Taken() Promotion {
	p := Promotion{Commit: r.PromotedCommit, Reason: r.Promotion}
	if !r.Rollout.UnderWay() {
		return p
	}
	if r.Rollout.PromotedCommit != "" {
		p.Commit = r.Rollout.PromotedCommit
	}
	if r.Promoting != (Reason{}) {
		p.Reason = r.Promoting
	}
	return p
}

// NewReason returns the reason why a record takes another commit than the previous record, or the zero reason if it
// does not.
func (r *Record) NewReason(before *Record) Reason {
	taken := r.Taken()
	if before != nil && before.Taken().Commit == taken.Commit && before.PromotedCommit == r.PromotedCommit {
		return Reason{}
	}
	return taken.Reason
}
