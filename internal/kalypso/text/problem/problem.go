// Package problem describes faults of an input: severity, path, sentence and origin. It also writes the sentences,
// lists and counts that problems contain.
package problem

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// Severity is the severity of a [Problem].
type Severity int

// An Error blocks rendering. A Warning does not.
const (
	Error Severity = iota
	Warning
)

// Problem is a problem with an object, and what to do about it.
type Problem struct {
	Severity Severity
	Kind     string // of the object, such as "Workload"; empty if there is none
	Name     string // of the object
	Origin   Origin
	Path     []Step // within the object
	Summary  string // one line, such as "Invalid label value"
	Detail   string // what is wrong and what to do
	Err      error  // the cause, for errors.Is; may be nil
	// Fault says who can cause the problem. A [TeamFault] affects only the deployment targets in Affects. Cause is then
	// the Detail without the list of these targets.
	Fault   Fault
	Affects []AffectedTarget
	Cause   string
}

// At returns an error at an argument. attributes name the path to it, from the outside in.
func At(summary, detail string, attributes ...string) Problem {
	p := Problem{Summary: summary, Detail: detail}
	for _, name := range attributes {
		p.Path = append(p.Path, Attr(name))
	}
	return p
}

// WarningAt is like [At], but returns a warning.
func WarningAt(summary, detail string, attributes ...string) Problem {
	p := At(summary, detail, attributes...)
	p.Severity = Warning
	return p
}

// Unused turns the errors of an object that nothing uses into warnings. Such an object has no effect, so it must not
// stop a plan.
func Unused(ps Problems, why string) {
	for i := range ps {
		if ps[i].Severity == Error {
			ps[i].Severity, ps[i].Fault = Warning, 0
			ps[i].Detail += "\nIt is a warning, since " + why + "."
		}
	}
}

// Subject names the object and its origin.
func (p Problem) Subject() string {
	var b strings.Builder
	if p.Kind != "" {
		fmt.Fprintf(&b, "%s %q", p.Kind, unknown.Display(p.Name))
	}
	if origin := p.Origin.String(); origin != "" {
		if b.Len() > 0 {
			b.WriteString(" from ")
		}
		b.WriteString(origin)
	}
	return b.String()
}

// Error implements error.
func (p Problem) Error() string {
	text := p.Summary + ": " + p.Detail
	if s := p.Subject(); s != "" {
		text = s + ": " + text
	}
	return text
}

// Unwrap returns the cause.
func (p Problem) Unwrap() error { return p.Err }

// Problems is a list of problems.
type Problems []Problem

// HasErrors reports whether any problem is an error.
func (ps Problems) HasErrors() bool {
	return slices.ContainsFunc(ps, func(p Problem) bool { return p.Severity == Error })
}

// AsWarnings returns the problems with the severity of a warning.
func (ps Problems) AsWarnings() Problems {
	ps = slices.Clone(ps)
	for i := range ps {
		ps[i].Severity = Warning
	}
	return ps
}

// Err returns the problems as an error, or nil if all of them are warnings.
func (ps Problems) Err() error {
	if !ps.HasErrors() {
		return nil
	}
	return ps
}

// Error implements error, with one line for each problem.
func (ps Problems) Error() string {
	return strings.Join(lists.Map(ps, Problem.Error), "\n")
}

// Unwrap returns each problem, for errors.Is and errors.As.
func (ps Problems) Unwrap() []error {
	return lists.Map(ps, func(p Problem) error { return p })
}

// Sort sorts errors first, then by kind, name, origin and text.
func (ps Problems) Sort() {
	slices.SortStableFunc(ps, func(a, b Problem) int {
		return cmp.Or(
			cmp.Compare(a.Severity, b.Severity),
			cmp.Compare(a.Kind, b.Kind),
			cmp.Compare(a.Name, b.Name),
			a.Origin.Compare(b.Origin),
			cmp.Compare(a.Summary, b.Summary),
			cmp.Compare(a.Detail, b.Detail),
		)
	})
}
