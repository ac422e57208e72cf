package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/printable"
)

// Origin is the source of an object: the attribute and key of the configuration, and for YAML the document and line.
type Origin struct {
	Attribute string // such as "cluster_types"; empty if there is none
	Key       string // the key in that attribute
	Document  int    // number of the document in the YAML text, from 1; 0: not from YAML
	Line      int    // first line of that document, from 1
}

// String returns the origin as errors name it, or "" if it is unknown.
func (o Origin) String() string {
	switch {
	case o.Document > 0:
		return fmt.Sprintf("%s, document %d, line %d", o.Key, o.Document, o.Line)
	case o.Attribute != "" && o.Key == "":
		return o.Attribute
	case o.Attribute != "":
		return fmt.Sprintf("%s[%q]", o.Attribute, o.Key)
	}
	return o.Key
}

func (o Origin) compare(other Origin) int {
	return cmp.Or(
		cmp.Compare(o.Attribute, other.Attribute),
		cmp.Compare(o.Key, other.Key),
		cmp.Compare(o.Document, other.Document),
	)
}

// Severity is the severity of a [Problem].
type Severity int

// An Error blocks rendering. A Warning does not.
const (
	Error Severity = iota
	Warning
)

// Step is a step of a [Problem]'s path: the name of an attribute, the index of a list or the key of a map.
type Step struct {
	Attribute string
	Index     int
	Key       string
	kind      stepKind
}

type stepKind int

const (
	attributeStep stepKind = iota
	indexStep
	keyStep
)

// Attr returns the step to an attribute, named as in Terraform.
func Attr(name string) Step { return Step{Attribute: name} }

// Index returns the step to an element of a list.
func Index(i int) Step { return Step{Index: i, kind: indexStep} }

// Key returns the step to an element of a map.
func Key(k string) Step { return Step{Key: k, kind: keyStep} }

// Visit calls the function for the kind of step.
func (s Step) Visit(attribute func(string), index func(int), key func(string)) {
	switch s.kind {
	case indexStep:
		index(s.Index)
	case keyStep:
		key(s.Key)
	default:
		attribute(s.Attribute)
	}
}

// Problem is a problem with an object, and what to do about it.
type Problem struct {
	Severity Severity
	Kind     Kind   // of the object; empty if there is none
	Name     string // of the object
	Origin   Origin
	Path     []Step // within the object
	Summary  string // one line, such as "Invalid label value"
	Detail   string // what is wrong and what to do
	Err      error  // the cause, for errors.Is; may be nil
	// Fault says who can cause the problem. A [TeamFault] affects the listed deployment targets alone; Cause is then the
	// Detail without that list.
	Fault   Fault
	Affects []AffectedTarget
	Cause   string
}

// Subject names the object and its origin.
func (p Problem) Subject() string {
	var b strings.Builder
	if p.Kind != "" {
		fmt.Fprintf(&b, "%s %q", p.Kind, display(p.Name))
	}
	if origin := p.Origin.String(); origin != "" {
		if b.Len() > 0 {
			b.WriteString(" from ")
		}
		b.WriteString(origin)
	}
	return b.String()
}

func display(name string) string {
	if IsUnknown(name) {
		return "(known after apply)"
	}
	return name
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

// Err returns the problems as an error if any of them is an error, else nil.
func (ps Problems) Err() error {
	if !ps.HasErrors() {
		return nil
	}
	return ps
}

// Error implements error, with one line for each problem.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns each problem, for errors.Is and errors.As.
func (ps Problems) Unwrap() []error {
	errs := make([]error, len(ps))
	for i, p := range ps {
		errs[i] = p
	}
	return errs
}

// Sort sorts errors first, then by kind, name, origin and text.
func (ps Problems) Sort() {
	slices.SortStableFunc(ps, func(a, b Problem) int {
		return cmp.Or(
			cmp.Compare(a.Severity, b.Severity),
			cmp.Compare(a.Kind, b.Kind),
			cmp.Compare(a.Name, b.Name),
			a.Origin.compare(b.Origin),
			cmp.Compare(a.Summary, b.Summary),
			cmp.Compare(a.Detail, b.Detail),
		)
	})
}

// Sentence returns the text of an error as a printable sentence for a [Problem]'s Detail. It capitalizes the first
// word and ends with one full stop or question mark.
func Sentence(err error) string {
	text := strings.TrimRight(printable.Text(err.Error()), ".\n")
	if first, size := utf8.DecodeRuneInString(text); unicode.IsLower(first) {
		text = string(unicode.ToUpper(first)) + text[size:]
	}
	if strings.HasSuffix(text, "?") {
		return text
	}
	return text + "."
}

// IndentedList formats lines for a [Problem]'s Detail, indented and printable. It shows at most most lines, and
// counts the rest.
func IndentedList(lines []string, most int) string {
	more := len(lines) - most
	if more > 0 {
		lines = lines[:most]
	}
	lines = slices.Clone(lines)
	for i := range lines {
		lines[i] = printable.Line(lines[i])
	}
	if more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return "  " + strings.Join(lines, "\n  ")
}

// Count is a number with its noun: 1 assignment, 2 assignments.
func Count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// StoppedProblem reports that a run stopped, with the error of its context.
func StoppedProblem(err error) Problem {
	if errors.Is(err, context.DeadlineExceeded) {
		return Problem{
			Summary: "Out of time", Err: err,
			Detail: "Rendering took longer than timeouts allow. Raise timeouts, or check what takes so long.",
		}
	}
	return Problem{Summary: "Rendering was stopped", Detail: "The run was interrupted.", Err: err}
}

// forObject returns the problems as those of object o: its kind, name and origin.
func (ps Problems) forObject(o Object) Problems {
	m := o.Metadata()
	for i := range ps {
		ps[i].Kind, ps[i].Name, ps[i].Origin = o.Kind(), m.Name, m.Origin
	}
	return ps
}

// add appends an error at a path.
func (ps *Problems) add(summary, detail string, path ...Step) {
	*ps = append(*ps, Problem{Summary: summary, Detail: detail, Path: path})
}

// warn appends a warning at a path.
func (ps *Problems) warn(summary, detail string, path ...Step) {
	*ps = append(*ps, Problem{Severity: Warning, Summary: summary, Detail: detail, Path: path})
}
