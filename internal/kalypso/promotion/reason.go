package promotion

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/windows"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// Promotion is the commit of a control plane that an environment renders, with the reason why it was chosen.
type Promotion struct {
	Commit       string // "": none
	Repo, Branch string `attribute:"-"` // of the commit; "": unknown
	// Unproven says why the gates of the record's commit are closed now; "": they are open, the record names no commit,
	// or this is unknown. The record itself opens no gate: a rendering whose state knows another commit refuses an
	// unproven one.
	Unproven string
	// Unverified says why the signature of an approved or pinned commit does not count; "": it counts, or signatures
	// are not verified.
	Unverified string
	// Settled says that the environment succeeded after an automatic rollback: [Reason.Unsettled] ends.
	Settled bool `attribute:"-"`
	// Closed says until when the windows of the promotion are closed, see [windows.State]; "": they are open. OpenUntil is
	// the time at which they close; zero: not within years.
	Closed    string
	OpenUntil time.Time
	Reason
}

// Reason says why a promoted commit was chosen, as the record on the branch contains it. People and the next decision
// read it; nothing else depends on it. The zero value is an unknown reason.
type Reason struct {
	Decision Kind `json:"decision,omitempty"`
	// Explanation explains the choice, in several lines: gates with who opened them, overrides. It is the same before and
	// after the promotion. Summary describes the run that chose the commit.
	Explanation string `json:"reason,omitempty" attribute:"reason"`
	Summary     string `json:"summary,omitempty"`
	// RolledBack is the newest commit that was rolled back. It must not be promoted again without an approval.
	RolledBack string `json:"rolled_back,omitempty"`
	// By is [ByRollback] after an automatic rollback. It is empty if gates or people decided.
	By string `json:"by,omitempty"`
	// Unsettled says that the environment has not succeeded since an automatic rollback. Until it
	// succeeds, it is not rolled back again: a single broken cluster would roll it back through its whole history.
	Unsettled bool `json:"unsettled,omitempty"`
}

// Withheld returns the reason why an open pull request that promotes another commit must not be merged now: the windows
// closed after it was opened. "": they are open, or the promotion does not wait.
func (p Promotion) Withheld() string {
	if p.Closed == "" || p.Decision != Hold {
		return ""
	}
	return fmt.Sprintf("The windows of the promotion are %s.", p.Closed)
}

// CheckWindow returns a *[windows.ClosedError] if the window closed in which the promotion chose another commit.
func (p Promotion) CheckWindow(now time.Time) error {
	if p.Decision != Promote {
		return nil
	}
	return windows.CheckOpen(p.OpenUntil, now, "promotion")
}

// KeepsCommit reports whether the decision chose no other commit than the current one.
func (r Reason) KeepsCommit() bool {
	return r.Decision == Hold || r.Decision == UpToDate || r.Decision == Frozen
}

// maxFacts limits the lines of a reason in a commit message.
const maxFacts = 25

// harmless removes everything from a commit message that hosts act on: mentions, references that close issues, and
// instructions in brackets, such as [skip ci]. It keeps [bot], the end of the names of GitHub's apps.
var harmless = strings.NewReplacer(
	"[bot]", "[bot]", "[", "(", "]", ")", "@", "(at)", "#", "no. ", "://", ": //", "***", "*",
)

// Facts returns the reason why the commit was chosen as a list for a commit message. Nothing in it triggers an action
// of a host, even if a team wrote it. The summary is only for descriptions: it contains untrusted texts.
func (r Reason) Facts() string {
	var b strings.Builder
	for i, line := range strings.Split(strings.TrimSpace(r.Explanation), "\n") {
		line = strings.TrimSpace(printable.Line(line))
		if line != "" && i < maxFacts {
			b.WriteString("- " + harmless.Replace(line) + "\n")
		}
	}
	return b.String()
}

// Frozen returns the reason why nothing may be written, or "".
func (r Reason) Frozen() string {
	if r.Decision != Frozen {
		return ""
	}
	why, _, _ := strings.Cut(strings.TrimSpace(r.Summary), "\n")
	return cmp.Or(problem.EndSentence(why), "The promotion is frozen.")
}

// Waits says in one line that a newer commit waits, and for which gate, or that it is skipped since a rejected commit
// has no good one yet; "": none waits.
func (r Reason) Waits() string {
	lines := strings.Split(strings.TrimSpace(r.Summary), "\n")
	switch r.Decision {
	case Hold:
	case UpToDate:
		for _, line := range lines {
			if strings.Contains(line, noGoodCommit) {
				return printable.Line(fmt.Sprintf("%s %s. If it is good, name it in rejected.", lines[0], line))
			}
		}
		return ""
	default:
		return ""
	}
	for i, line := range lines[:len(lines)-1] {
		if gate, ok := strings.CutPrefix(lines[i+1], "- "); ok && strings.HasSuffix(line, ":") {
			return printable.Line(fmt.Sprintf("%s %s %s", lines[0], line, problem.EndSentence(gate)))
		}
	}
	return printable.Line(lines[0])
}
