package tree

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render/objects"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// invalidFile is a file of a target that no cluster can apply.
type invalidFile struct {
	invalidKind
	by        *fleet.Template
	target    problem.AffectedTarget
	folder, n int // the assignment, see [render.Renderer.Assignment]
}

// invalidKind identifies faults that a problem reports in one line.
type invalidKind struct {
	file string
	objects.Invalid
}

// validate returns the files of assignment n of a folder that no cluster can apply.
func (t *Tree) validate(folder, n int, files []render.File) (invalid []invalidFile) {
	a := &t.Schedule.Placements[folder].Assignments[n]
	for i := range files {
		f := &files[i]
		if !holdsObjects(f) {
			continue
		}
		if fault := t.validator.Check(f.Path, f.Content); fault != nil {
			target := problem.AffectedTarget{ClusterType: a.ClusterType.Name, Name: a.Target.Name}
			invalid = append(invalid, invalidFile{invalidKind{f.Path, *fault}, f.Template, target, folder, n})
		}
	}
	return invalid
}

// invalidProblems returns a problem for each template that renders files that no cluster can apply.
func (t *Tree) invalidProblems(files []invalidFile) (problems problem.Problems) {
	byTemplate := map[*fleet.Template][]invalidFile{}
	for _, file := range files {
		byTemplate[file.by] = append(byTemplate[file.by], file)
	}
	for by, all := range byTemplate {
		problems = append(problems, fleet.ProblemOf(by, t.invalidProblem(by, all)))
	}
	return problems
}

func (t *Tree) invalidProblem(by *fleet.Template, files []invalidFile) problem.Problem {
	faults := map[invalidKind][]*invalidFile{}
	p := problem.Problem{Summary: "Rendered file is invalid", Severity: t.options.Invalid.Severity()}
	for i := range files {
		file := &files[i]
		faults[file.invalidKind] = append(faults[file.invalidKind], file)
	}
	keys := slices.SortedFunc(maps.Keys(faults), func(a, b invalidKind) int {
		return cmp.Or(cmp.Compare(len(faults[b]), len(faults[a])), cmp.Compare(a.file, b.file),
			cmp.Compare(a.Line, b.Line), cmp.Compare(a.Message, b.Message))
	})
	lines := make([]string, len(keys))
	for i, key := range keys {
		all := faults[key]
		example := all[0].target.ClusterType + "/" + all[0].target.Name
		if i < problem.MaxListed {
			if object := t.explain(all[0]); object != "" {
				example += ", " + object
			}
		}
		lines[i] = fmt.Sprintf("%s, line %d: %s (%s, such as %s)", key.file, key.Line, key.Message,
			problem.Count(len(all), "deployment target folder"), example)
	}
	p.Detail = fmt.Sprintf("Template %q renders files that kustomize refuses, or objects that no cluster accepts. Flux "+
		"then applies nothing of the folder of the cluster type, or drops the object:\n%s\nThe line is in the rendered "+
		"file, which provider::kalypso::render_template shows. Correct the template, or quote the values that it prints. "+
		"guardrails.invalid_objects is %q.",
		by.Name, problem.IndentedList(lines, problem.MaxListed), t.options.Invalid)
	if p.Severity == problem.Error {
		p.Fault, p.Cause = problem.TeamFault, p.Detail
		for _, file := range files {
			p.Affects = append(p.Affects, file.target)
		}
	}
	return p
}

// explain returns the object at fault in a file, and how to write it, or "". It renders the file again.
func (t *Tree) explain(file *invalidFile) string {
	result := t.renderer.Assignment(context.Background(), file.folder, file.n, &render.Buffer{})
	for _, f := range result.Files {
		if f.Path == file.file {
			return file.Explain(f.Content)
		}
	}
	return ""
}
