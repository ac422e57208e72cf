package tree

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render/objects"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// invalidFile is a file of a target that no cluster can apply.
type invalidFile struct {
	invalidKind
	by     *fleet.Template
	target problem.AffectedTarget
}

// invalidKind identifies faults that a problem reports in one line.
type invalidKind struct {
	file string
	objects.Invalid
}

// validate returns the files of an assignment that no cluster can apply.
func (t *Tree) validate(a *schedule.Assignment, files []render.File) (invalid []invalidFile) {
	for i := range files {
		f := &files[i]
		if !holdsObjects(f) {
			continue
		}
		if fault := t.validator.Check(f.Path, f.Content); fault != nil {
			target := problem.AffectedTarget{ClusterType: a.ClusterType.Name, Name: a.Target.Name}
			invalid = append(invalid, invalidFile{invalidKind{f.Path, *fault}, f.Template, target})
		}
	}
	return invalid
}

// invalidProblems returns a problem for each template that renders files that no cluster can apply.
func invalidProblems(f *fleet.Fleet, files []invalidFile) (problems problem.Problems) {
	byTemplate := map[*fleet.Template][]invalidFile{}
	for _, file := range files {
		byTemplate[file.by] = append(byTemplate[file.by], file)
	}
	for by, all := range byTemplate {
		problems = append(problems, fleet.ProblemOf(by, invalidProblem(f, by, all)))
	}
	return problems
}

func invalidProblem(f *fleet.Fleet, by *fleet.Template, files []invalidFile) problem.Problem {
	faults := map[invalidKind][]problem.AffectedTarget{}
	p := problem.Problem{Summary: "Rendered file is invalid", Severity: f.Invalid.Severity()}
	for _, file := range files {
		faults[file.invalidKind] = append(faults[file.invalidKind], file.target)
	}
	keys := slices.SortedFunc(maps.Keys(faults), func(a, b invalidKind) int {
		return cmp.Or(cmp.Compare(len(faults[b]), len(faults[a])), cmp.Compare(a.file, b.file),
			cmp.Compare(a.Line, b.Line), cmp.Compare(a.Message, b.Message))
	})
	lines := make([]string, len(keys))
	for i, key := range keys {
		targets := faults[key]
		lines[i] = fmt.Sprintf("%s, line %d: %s (%s, such as %s/%s)", key.file, key.Line, key.Message,
			problem.Count(len(targets), "deployment target folder"), targets[0].ClusterType, targets[0].Name)
	}
	p.Detail = fmt.Sprintf("Template %q renders files that kustomize refuses. Flux then applies nothing of the folder of "+
		"the cluster type:\n%s\nThe line is in the rendered file, which provider::kalypso::render_template shows. Correct "+
		"the template, or quote the values that it prints. guardrails.invalid_objects is %q.",
		by.Name, problem.IndentedList(lines, problem.MaxListed), f.Invalid)
	if p.Severity == problem.Error {
		p.Fault, p.Cause = problem.TeamFault, p.Detail
		for _, file := range files {
			p.Affects = append(p.Affects, file.target)
		}
	}
	return p
}
