package source

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// Problem is a problem of a location or a file that was read, with its place.
type Problem struct {
	Severity     problem.Severity
	Registration string // the registration that was read; empty: the control plane itself
	Location     Location
	File         string // relative to the repo or folder; empty: the location as a whole
	Line         int    // in the file; 0: unknown
	Field        string // of the object in the file; "": the object as a whole
	Summary      string // one line
	Detail       string // the fault, and what to do
}

// Error implements error.
func (f Problem) Error() string {
	return strings.Join(append([]string{f.Summary + ": " + f.Detail}, f.Facts()...), "\n")
}

// Facts returns the place of the problem, one fact a line.
func (f Problem) Facts() []string {
	var facts []string
	add := func(name, value string) {
		if value != "" {
			facts = append(facts, name+": "+value)
		}
	}
	add("Registration", f.Registration)
	add("Repo", displayURL(f.Location.Repo))
	add("Folder", f.Location.Directory)
	add("Branch", f.Location.Branch)
	add("Commit", f.Location.Commit)
	file := f.File
	if f.Line > 0 {
		file = fmt.Sprintf("%s, line %d", file, f.Line)
	}
	add("File", file)
	add("Field", f.Field)
	if f.File == "" {
		add("Named by", f.Location.NamedBy)
	}
	return facts
}

// Problems is a list of problems.
type Problems []Problem

// HasErrors reports whether any problem is an error.
func (fs Problems) HasErrors() bool {
	return slices.ContainsFunc(fs, func(f Problem) bool { return f.Severity == problem.Error })
}

// Sort sorts errors first, then problems of the control plane, then by registration and location.
func (fs Problems) Sort() {
	slices.SortStableFunc(fs, func(a, b Problem) int {
		return cmp.Or(
			cmp.Compare(a.Severity, b.Severity),
			cmp.Compare(a.Registration, b.Registration),
			cmp.Compare(a.Location.String(), b.Location.String()),
			cmp.Compare(a.File, b.File),
			cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Field, b.Field),
			cmp.Compare(a.Summary, b.Summary),
			cmp.Compare(a.Detail, b.Detail),
		)
	})
}

// fromFleetProblems converts the problems of objects or files.
func fromFleetProblems(location Location, registration string, ps problem.Problems) Problems {
	var fs Problems
	for _, p := range ps {
		detail := p.Detail
		if p.Kind != "" {
			detail = fmt.Sprintf("%s %q: %s", p.Kind, p.Name, detail)
		}
		fs = append(fs, Problem{
			Severity: p.Severity, Registration: registration, Location: location, File: p.Origin.Key, Line: p.Origin.Line,
			Field: fleet.YAMLPath(p), Summary: p.Summary, Detail: detail,
		})
	}
	return fs
}
