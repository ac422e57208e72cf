package fleet

import (
	"context"
	"errors"
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// checker checks a part of an object, and collects the problems of the whole object.
type checker struct {
	object Object
	found  *problem.Problems
	path   []problem.Step // to the part
	fault  problem.Fault
}

func checkerOf(o Object) checker { return checker{object: o, found: &problem.Problems{}} }

// at returns the checker of a part of c's part.
func (c checker) at(steps ...problem.Step) checker {
	c.path = slices.Concat(c.path, steps)
	return c
}

func (c checker) attr(name string) checker { return c.at(problem.Attr(name)) }
func (c checker) index(i int) checker      { return c.at(problem.Index(i)) }
func (c checker) key(k string) checker     { return c.at(problem.Key(k)) }

// ofTeam returns a checker whose problems are faults of a team.
func (c checker) ofTeam() checker {
	c.fault = problem.TeamFault
	return c
}

// add adds an error.
func (c checker) add(summary, detail string) {
	*c.found = append(*c.found, problem.Problem{Summary: summary, Detail: detail, Path: c.path, Fault: c.fault})
}

// warn adds a warning.
func (c checker) warn(summary, detail string) {
	c.add(summary, detail)
	(*c.found)[len(*c.found)-1].Severity = problem.Warning
}

// refuse adds an error if a text violates rules of Kubernetes.
func (c checker) refuse(summary, text string, msgs []string) {
	if len(msgs) > 0 {
		c.add(summary, validationDetail(text, msgs))
	}
}

// problems returns the problems as problems of the object; see [ProblemsOf].
func (c checker) problems() problem.Problems { return ProblemsOf(c.object, *c.found) }

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
