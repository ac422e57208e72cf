package problem

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// issues is the page where people report bugs of the provider.
const issues = "https://github.com/terraform-kalypso/terraform-provider-kalypso/issues"

// Panic is a panic of this program: a bug. It implements error.
type Panic struct {
	Kind, Name string // the object that the program worked on; empty: not known
	cause      string
	frames     []string // the functions of this program, the innermost first
}

// Error implements error.
func (p *Panic) Error() string {
	what := "the provider"
	if p.Kind != "" {
		what += fmt.Sprintf(", at %s %q,", p.Kind, unknown.Display(p.Name))
	}
	return fmt.Sprintf("%s stopped with an internal error: %s. This is a bug. Report it at %s, with the configuration of "+
		"the object and these lines:\n%s", what, p.cause, issues, IndentedList(p.frames, maxFrames))
}

const maxFrames = 10

// Problem returns the panic as an error at the object.
func (p *Panic) Problem() Problem {
	return Problem{
		Kind: p.Kind, Name: p.Name, Err: p, Summary: "Internal error of the provider", Detail: Sentence(p),
	}
}

// Recovered converts the result of recover to a [Panic], or nil if there was no panic. Call it in the deferred function
// that calls recover, while the stack is still there.
func Recovered(value any) *Panic {
	if value == nil {
		return nil
	}
	if p, ok := value.(*Panic); ok {
		return p
	}
	p := &Panic{cause: fmt.Sprintf("a panic with a %T", value)} // the value itself may contain secrets
	if err, ok := value.(runtime.Error); ok {
		p.cause = err.Error()
	}
	calls := make([]uintptr, 100)
	frames := runtime.CallersFrames(calls[:runtime.Callers(2, calls)])
	for {
		frame, more := frames.Next()
		_, name, ours := strings.Cut(frame.Function, "/terraform-provider-kalypso/")
		if ours && !strings.HasPrefix(name, "internal/kalypso/text/problem.") {
			p.frames = append(p.frames, fmt.Sprintf("%s, line %d", name, frame.Line))
		}
		if !more {
			return p
		}
	}
}

// NamePanic adds the object that a function works on to its panic. Defer it. If several calls are deferred, the
// innermost one names the object.
func NamePanic(kind, name string) {
	if p := Recovered(recover()); p != nil {
		if p.Kind == "" {
			p.Kind, p.Name = kind, name
		}
		panic(p)
	}
}

// ReportPanic recovers from a panic and passes it to report. Defer it.
func ReportPanic(report func(*Panic)) {
	if p := Recovered(recover()); p != nil {
		report(p)
	}
}
