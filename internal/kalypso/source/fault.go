package source

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
)

// Fault is one thing that is wrong with what was read, and where.
type Fault struct {
	Severity     fleet.Severity
	Registration string // through which it was read; empty: it is of the control plane itself
	Place        Place
	File         string // below the place's repo or folder; empty: of the place as a whole
	Line         int    // in the file; 0: not known
	Summary      string // one line
	Detail       string // what is wrong, and what to do
}

// Error implements error.
func (f Fault) Error() string {
	return strings.Join(append([]string{f.Summary + ": " + f.Detail}, f.Facts()...), "\n")
}

// Facts say where, a line each.
func (f Fault) Facts() []string {
	var facts []string
	add := func(name, value string) {
		if value != "" {
			facts = append(facts, name+": "+value)
		}
	}
	add("Registration", f.Registration)
	add("Repo", shown(f.Place.Repo))
	add("Folder", f.Place.Directory)
	add("Branch", f.Place.Branch)
	add("Commit", f.Place.Commit)
	file := f.File
	if f.Line > 0 {
		file = fmt.Sprintf("%s, line %d", file, f.Line)
	}
	add("File", file)
	if f.File == "" {
		add("Named by", f.Place.NamedBy)
	}
	return facts
}

// Faults are all that was found wrong.
type Faults []Fault

// HasErrors reports whether any of them is an error.
func (fs Faults) HasErrors() bool {
	return slices.ContainsFunc(fs, func(f Fault) bool { return f.Severity == fleet.Error })
}

// Sort orders them: errors first, then those of the control plane, then by registration and place.
func (fs Faults) Sort() {
	slices.SortStableFunc(fs, func(a, b Fault) int {
		return cmp.Or(
			cmp.Compare(a.Severity, b.Severity),
			cmp.Compare(a.Registration, b.Registration),
			cmp.Compare(a.Place.String(), b.Place.String()),
			cmp.Compare(a.File, b.File),
			cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Summary, b.Summary),
			cmp.Compare(a.Detail, b.Detail),
		)
	})
}

// ofProblems are problems of objects or files as faults.
func ofProblems(place Place, registration string, ps fleet.Problems) Faults {
	var fs Faults
	for _, p := range ps {
		detail := p.Detail
		if p.Kind != "" {
			detail = fmt.Sprintf("%s %q: %s", p.Kind, p.Name, detail)
		}
		fs = append(fs, Fault{
			Severity: p.Severity, Registration: registration, Place: place, File: p.Origin.Key, Line: p.Origin.Line,
			Summary: p.Summary, Detail: detail,
		})
	}
	return fs
}
