package promotion

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/clock"
)

// statuses finds the statuses of a ledger by name and commit.
type statuses struct {
	ledger *Ledger
	// found contains the latest statuses, by context in lower case and commit.
	found map[string]map[string][]githost.Status
	// hinted contains the names whose spelling was questioned.
	hinted map[string]bool
}

func newStatuses(ledger *Ledger) *statuses {
	s := &statuses{ledger: ledger, found: map[string]map[string][]githost.Status{}, hinted: map[string]bool{}}
	for commit, latest := range ledger.ByCommit {
		for _, f := range latest {
			name := strings.ToLower(f.Context)
			if s.found[name] == nil {
				s.found[name] = map[string][]githost.Status{}
			}
			s.found[name][commit] = append(s.found[name][commit], f)
		}
	}
	return s
}

// of returns the latest statuses and check runs of a commit with a name.
func (s *statuses) of(commit, name string) []githost.Status {
	return s.found[strings.ToLower(name)][commit]
}

// latest returns the latest status of a commit in a context.
func (s *statuses) latest(commit, context string) (githost.Status, bool) {
	for _, found := range s.of(commit, context) {
		if !found.CheckRun {
			return found, true
		}
	}
	return githost.Status{}, false
}

// commitsWith returns the commits that have, or may have, statuses in a context, sorted.
func (s *statuses) commitsWith(context string) []string {
	all := slices.AppendSeq(slices.Collect(maps.Keys(s.found[strings.ToLower(context)])), maps.Keys(s.ledger.Unread))
	slices.Sort(all)
	return slices.Compact(all)
}

// unreadable returns the reason why the statuses of a commit cannot be read, or "".
func (s *statuses) unreadable(commit string) string {
	if s.ledger.FailureReason != "" {
		return "the statuses can't be read"
	}
	return s.ledger.Unread[commit]
}

// isFuture reports whether a status claims a time after the host's current time, so that its time is not usable.
func (s *statuses) isFuture(of githost.Status) bool {
	return of.SetAt.After(s.ledger.SeenAt.Add(deployment.MaxSkew))
}

// noteUnknownName notes, once, that no commit has a status of this name, and lists the existing names: the name may be
// misspelled.
func (s *statuses) noteUnknownName(name string) string {
	name = strings.ToLower(name)
	if s.found[name] != nil || s.hinted[name] {
		return ""
	}
	s.hinted[name] = true
	names := slices.Sorted(maps.Keys(s.found))
	if len(names) == 0 {
		return ", and no other commit has one"
	}
	const shown = 5
	more := ""
	if len(names) > shown {
		names, more = names[:shown], fmt.Sprintf(" and %d more", len(names)-shown)
	}
	return fmt.Sprintf(", and no other commit has one; check the name: the names in use are %q%s", names, more)
}

// noteUnknownCreator notes that an account set none of the latest statuses of a context: its name may be misspelled.
func (s *statuses) noteUnknownCreator(name, by string) string {
	for _, statuses := range s.found[strings.ToLower(name)] {
		if slices.ContainsFunc(statuses, func(f githost.Status) bool { return sameLogin(f.Creator, by) }) {
			return ""
		}
	}
	return fmt.Sprintf("; %q set none of the latest statuses, so check the login", by)
}

const (
	pending = githost.Pending
	// descriptionDeployed is the description that Kalypso's workflows give a pending status once an environment runs the
	// commit and another environment follows.
	descriptionDeployed = "Deployed"
)

// isGood reports whether a status proves that the environment runs the commit.
func isGood(s githost.Status) bool {
	return s.State == githost.Success || s.State == pending && s.Description == descriptionDeployed
}

// mayBeBy reports whether a gate accepts the creator of a status; by is the only accepted account, or "".
func mayBeBy(s githost.Status, by string) bool { return by == "" || sameLogin(s.Creator, by) }

// sameLogin compares two logins, ignoring the case of ASCII letters alone: strings.EqualFold equates the Kelvin sign
// with k.
func sameLogin(a, b string) bool {
	lower := func(c byte) byte {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		return c
	}
	return slices.EqualFunc([]byte(a), []byte(b), func(x, y byte) bool { return lower(x) == lower(y) })
}

// describeStatus describes a status with its creator, time and description.
func describeStatus(s githost.Status) string {
	if s.Description == "" {
		return factsOf(s)
	}
	return fmt.Sprintf("%s (%q)", factsOf(s), s.Description)
}

// factsOf describes a status with its creator and time, without the text that its creator chose: commit messages show
// it.
func factsOf(s githost.Status) string {
	kind := "status"
	if s.CheckRun {
		kind = "check run"
	}
	text := fmt.Sprintf("%s %q is %s", kind, s.Context, s.State)
	if s.Creator != "" {
		text += " by " + printable.Line(s.Creator)
	}
	if !s.SetAt.IsZero() {
		text += " at " + clock.Stamp(s.SetAt)
	}
	return text
}
