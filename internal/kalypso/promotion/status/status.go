// Package status decides on the content of a commit's status, when it is due, and which foreign changes count as drift.
// Its functions are pure: they depend only on the arguments, the last status that was read, and its times.
package status

import (
	"slices"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// Arguments describe a status. An empty text is null, and [unknown.Text] stands for a text that is not known yet.
type Arguments struct {
	Repo        string // URL
	Commit      string // full hash
	Context     string
	State       string
	Description string
	TargetURL   string
	Deployment  *Deployment   // replaces Commit, State and Description; nil: it is not set
	RenewAfter  time.Duration // the age from which on the status is set again; 0: never, or it is not known yet
}

// Deployment is the part of the state of a deployment that a status shows.
type Deployment struct {
	PromotedCommit string // "": nothing was promoted yet
	Verdict        string
	Summary        string
}

// Target returns the commit that gets the status, or "" if the deployment has none.
func (a Arguments) Target() string {
	if a.Deployment != nil {
		return a.Deployment.PromotedCommit
	}
	return a.Commit
}

// Status returns the status to set. It keeps the case of the context, and shortens the summary of a deployment.
func (a Arguments) Status() githost.Status {
	s := githost.Status{
		Context: a.Context, State: githost.StatusState(a.State), Description: a.Description, TargetURL: a.TargetURL,
	}
	if d := a.Deployment; d != nil {
		s.State, s.Description = githost.StatusState(d.Verdict), Shorten(d.Summary)
	}
	return s
}

// known reports whether the whole content of the status is known.
func (a Arguments) known() bool {
	texts := []string{a.Repo, a.Commit, a.Context, a.State, a.Description, a.TargetURL}
	if d := a.Deployment; d != nil {
		texts = append(texts, d.PromotedCommit, d.Verdict, d.Summary)
	}
	return !slices.ContainsFunc(texts, unknown.Is)
}

// Same reports whether a status equals another one of the same commit and context, as [githost.Traits.SameStatus] does.
type Same func(want, have githost.Status) bool

// Due reports whether an apply sets a status: the arguments differ, or may differ, from the prior ones, or the last
// status was older than RenewAfter when it was read.
func (a Arguments) Due(prior Arguments, last Times, same Same) bool {
	moved := a.Repo != prior.Repo || a.Target() != prior.Target() || a.Context != prior.Context
	return !a.known() || moved || !same(a.compared(), prior.compared()) ||
		a.RenewAfter > 0 && last.age() > a.RenewAfter && a.renewable(same)
}

// renewable reports whether the host accepts the same status once more. A host that ignores a changed description does
// not.
func (a Arguments) renewable(same Same) bool {
	s := a.Status()
	other := s
	other.Description += "."
	return !same(other, s)
}

// compared returns the status without the summary of a deployment, whose counts change with every check.
func (a Arguments) compared() githost.Status {
	s := a.Status()
	if a.Deployment != nil {
		s.Description = ""
	}
	return s
}

// Observe returns the arguments for the status that the host has, by any account: differences are drift. It ignores
// differences in the case of the context, in the description of a deployment, and between texts that the host considers
// the same.
func (a Arguments) Observe(found githost.Status, same Same) Arguments {
	if same(a.Status(), found) {
		return a
	}
	a.TargetURL = found.TargetURL
	if a.Deployment == nil {
		a.State, a.Description = string(found.State), found.Description
		return a
	}
	d := *a.Deployment
	d.Verdict = string(found.State)
	a.Deployment = &d
	return a
}

// Times are the times at which the last status was set and read, by the host's clock. A read keeps them for the plan,
// which makes no requests. The zero value stands for no status, or for a host that reports no times.
type Times struct {
	SetAt  time.Time `json:"set_at"`
	SeenAt time.Time `json:"seen_at"`
}

// TimesOf returns the times of a status.
func TimesOf(s githost.Status) Times { return Times{s.SetAt, s.SeenAt} }

// age returns the age of the status when it was read, or 0 if that is unknown.
func (t Times) age() time.Duration {
	if t.SetAt.IsZero() {
		return 0
	}
	return t.SeenAt.Sub(t.SetAt)
}
