package deployment

import (
	"fmt"
	"strings"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/printable"
)

// judged is a report with what it counts as.
type judged struct {
	Report
	state State
	since time.Time // when it came to its state; zero: not known
	why   string
}

// judge says what a report of a folder at head counts as, by the table of the states.
func (w *World) judge(r Report) judged {
	j := judged{Report: r, since: r.Since}
	if j.since.IsZero() {
		j.since = r.Time
	}
	changed := w.Branch.History.LastChange(r.Folder)
	// What makes the folder current can't be older than the folder.
	if !j.since.IsZero() && changed.After(j.since) {
		j.since = changed
	}
	j.state, j.why = w.stateOf(r, later(changed, r.Since))
	if j.state == StateFailed {
		j.since = later(changed, r.Since).Add(w.Rules.Deadline)
	}
	if message := Clip(r.Message); message != "" {
		j.why = join(j.why, message)
	}
	j.Revision = Clip(r.Revision)
	return j
}

// maxText is how many characters of a text of a cluster are kept.
const maxText = 300

// Clip makes one line of a text that a cluster or a server wrote, bounds it, and escapes what a terminal would act on.
func Clip(text string) string {
	text = printable.Line(strings.Join(strings.Fields(text), " "))
	if runes := []rune(text); len(runes) > maxText {
		return string(runes[:maxText]) + "…"
	}
	return text
}

// stateOf judges a report. from is when the deadline began.
func (w *World) stateOf(r Report, from time.Time) (State, string) {
	overdue := func(why string) (State, string) {
		if !from.IsZero() && r.Now.Sub(from) > w.Rules.Deadline {
			return StateFailed, fmt.Sprintf("%s for longer than %s", why, short(w.Rules.Deadline))
		}
		return StateProgressing, why
	}
	if r.Health == Offline {
		return StateOffline, ""
	}
	for _, t := range []time.Time{r.Time, r.Since} {
		if ahead := t.Sub(r.Now); !t.IsZero() && ahead > MaxSkew {
			return StateProgressing, fmt.Sprintf("its time, %s, is %s in the future of its clock",
				t.UTC().Format(time.RFC3339), short(ahead.Round(time.Second)))
		}
	}
	if r.Kept {
		switch age := r.Now.Sub(r.Time); {
		case r.Time.IsZero():
			return StateStale, "the report has no time, so that nothing tells it from an old one"
		case age > w.Rules.StaleAfter:
			return StateStale, fmt.Sprintf("the report is %s old", short(age.Round(time.Second)))
		}
	}
	if r.Health == Suspended {
		return StateSuspended, ""
	}
	if !r.Within {
		if state, why, done := w.contentOf(r, overdue); done {
			return state, why
		}
	}
	switch r.Health {
	case Healthy:
		return StateCurrent, ""
	case Failed:
		return overdue("unhealthy")
	}
	return overdue("not ready")
}

// contentOf judges what was synced. done is false where it is the folder at head, or nothing was synced and that is not
// healthy either.
func (w *World) contentOf(r Report, overdue func(string) (State, string)) (state State, why string, done bool) {
	revision := ParseRevision(r.Revision)
	switch {
	case revision.Branch != "" && revision.Branch != w.Branch.Name && revision.Branch != "HEAD":
		return StateProgressing, fmt.Sprintf("it follows %q, and not the branch %q", revision.Branch, w.Branch.Name), true
	case revision.Hash == "" && r.Health != Healthy:
		return "", "", false
	case revision.Hash == "":
		return StateProgressing, "it names no commit", true
	}
	switch w.Branch.History.standing(revision.Hash, r.Folder) {
	case isNowhere:
		return StateProgressing, fmt.Sprintf("the commit is not on the branch %q: the branch was rewritten, or it is of another repo", w.Branch.Name), true
	case isBeyond:
		return StateProgressing, fmt.Sprintf("the commit is not among the last %d of the branch %q", w.Branch.History.Len(), w.Branch.Name), true
	case isUnproven:
		return StateProgressing, fmt.Sprintf("the last %d commits of the branch %q do not tell what came after the commit", w.Branch.History.Len(), w.Branch.Name), true
	case isOlder:
		state, why = overdue("it runs an older tree of the folder")
		return state, why, true
	}
	return "", "", false
}

// severity orders the states of several objects on one cluster: the cluster counts as the worst of them.
var severity = map[State]int{
	StateCurrent: 0, StateProgressing: 1, StateSuspended: 2, StateStale: 3, StateOffline: 4, StateFailed: 5,
}

// agree is what several reports of one object come to. A stale one says nothing beside one that is not.
func agree(all []judged) judged {
	var fresh []judged
	for _, j := range all {
		if j.state != StateStale {
			fresh = append(fresh, j)
		}
	}
	if len(fresh) == 0 {
		return all[0]
	}
	first := fresh[0]
	for _, j := range fresh[1:] {
		if j.state != first.state {
			first.why = fmt.Sprintf("reports of it contradict each other: %s, and %s", first.state, j.state)
			first.state = StateProgressing
			return first
		}
		first.since = later(first.since, j.since)
	}
	return first
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// join puts a source's own words behind ours.
func join(why, message string) string {
	if why == "" {
		return message
	}
	return why + ": " + message
}

// short is a duration without the zeroes at its end: "1h", not "1h0m0s".
func short(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
