package fleet

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/printable"
)

// Origin says where an object came from: the attribute and the key under which the caller handed it in, and for YAML
// the document and the line.
type Origin struct {
	Attribute string // such as "cluster_types"; empty where there is none
	Key       string // the key in that attribute
	Document  int    // the number of the document in a YAML text, from 1; 0: not from YAML
	Line      int    // the line at which that document begins, from 1
}

// String is the origin as errors name it; empty where nothing is known.
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

// Severity of a [Problem].
type Severity int

// An Error stops the fleet; a Warning does not.
const (
	Error Severity = iota
	Warning
)

// Step is one step of a [Problem]'s path: an attribute's name, an index of a list or a key of a map.
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

// Attr steps into an attribute, named as in Terraform.
func Attr(name string) Step { return Step{Attribute: name} }

// Index steps to an element of a list.
func Index(i int) Step { return Step{Index: i, kind: indexStep} }

// Key steps to an element of a map.
func Key(k string) Step { return Step{Key: k, kind: keyStep} }

// Visit calls the function of the step's sort.
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

// Problem is one thing that is wrong, with the object it is wrong with and what to do about it.
type Problem struct {
	Severity Severity
	Kind     Kind   // of the object; empty where none is meant
	Name     string // of the object
	Origin   Origin
	Path     []Step // in the object
	Summary  string // one line, such as "Invalid label value"
	Detail   string // what is wrong and what to do
	Err      error  // the cause, for errors.Is; may be nil
}

// Subject names the object and where it came from.
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

// Unwrap gives the cause.
func (p Problem) Unwrap() error { return p.Err }

// Problems are all that was found wrong.
type Problems []Problem

// HasErrors reports whether any of them is an error.
func (ps Problems) HasErrors() bool {
	return slices.ContainsFunc(ps, func(p Problem) bool { return p.Severity == Error })
}

// Err returns the problems as an error where there is an error among them, else nil.
func (ps Problems) Err() error {
	if !ps.HasErrors() {
		return nil
	}
	return ps
}

// Error implements error: all of them, a line each.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives each of them to errors.Is and errors.As.
func (ps Problems) Unwrap() []error {
	errs := make([]error, len(ps))
	for i, p := range ps {
		errs[i] = p
	}
	return errs
}

// Sort orders them: errors first, then by kind, name, origin and text.
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

// Sentence is the text of an error as a sentence of a [Problem]'s Detail: it begins with a capital letter where it begins
// with a word, ends with one full stop, and is printable.
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

// IndentedList are lines for a [Problem]'s Detail, one below the other, indented and printable: the first ones, and how many
// more there are.
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
