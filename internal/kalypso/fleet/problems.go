package fleet

import (
	"context"
	"errors"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// objectProblems collects the problems of one object.
type objectProblems problem.Problems

// add appends an error at a path.
func (ps *objectProblems) add(summary, detail string, path ...problem.Step) {
	*ps = append(*ps, problem.Problem{Summary: summary, Detail: detail, Path: path})
}

// warn appends a warning at a path.
func (ps *objectProblems) warn(summary, detail string, path ...problem.Step) {
	*ps = append(*ps, problem.Problem{Severity: problem.Warning, Summary: summary, Detail: detail, Path: path})
}

// refuse appends an error for each rule of Kubernetes that a text violates.
func (ps *objectProblems) refuse(summary, text string, msgs []string, path ...problem.Step) {
	if len(msgs) > 0 {
		ps.add(summary, validationDetail(text, msgs), path...)
	}
}

// of returns the problems as problems of object o; see [ProblemsOf].
func (ps objectProblems) of(o Object) problem.Problems { return ProblemsOf(o, problem.Problems(ps)) }

// ProblemOf returns p as a problem of object o: with its kind, name and origin.
func ProblemOf(o Object, p problem.Problem) problem.Problem {
	m := o.Metadata()
	p.Kind, p.Name, p.Origin = string(o.Kind()), m.Name, m.Origin
	return p
}

// ProblemsOf is [ProblemOf] for a list, which it changes.
func ProblemsOf(o Object, ps problem.Problems) problem.Problems {
	for i := range ps {
		ps[i] = ProblemOf(o, ps[i])
	}
	return ps
}

// PanicProblem reports a panic at the object that it names.
func PanicProblem(all []Object, p *problem.Panic) problem.Problem {
	for _, o := range all {
		if string(o.Kind()) == p.Kind && o.Metadata().Name == p.Name {
			return ProblemOf(o, p.Problem())
		}
	}
	return p.Problem()
}

// StoppedProblem reports that a run stopped, with the error of its context.
func StoppedProblem(err error) problem.Problem {
	if errors.Is(err, context.DeadlineExceeded) {
		return problem.Problem{
			Summary: "Timeout exceeded", Err: err,
			Detail: "Rendering took longer than timeouts allow. Raise timeouts, or check what takes so long.",
		}
	}
	return problem.Problem{Summary: "Rendering was stopped", Detail: "The run was interrupted.", Err: err}
}
