package tfvalue

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// ManifestsAttribute names the argument that takes Kalypso YAML.
const ManifestsAttribute = "manifests"

// maxProblems limits how many problems are shown. Terraform prints several lines for each.
const maxProblems = 50

// AppendProblems turns problems into diagnostics, errors first. Each points to its attribute: of the resource, of an
// object in a map of a rendering, or of the YAML text that contains the object. If there are more than [maxProblems], a
// last diagnostic counts the rest.
func AppendProblems(diags *diag.Diagnostics, ps problem.Problems) {
	ps = slices.Clone(ps)
	ps.Sort()
	for _, p := range ps[:min(len(ps), maxProblems)] {
		diags.Append(diagnostic(p))
	}
	if len(ps) > maxProblems {
		rest := ps[maxProblems:]
		diags.Append(diagnostic(problem.Problem{
			Severity: rest[0].Severity,
			Summary:  problem.Count(len(rest), "more problem"),
			Detail: fmt.Sprintf("The first %d of %d are shown. Fix them, and plan again to see the rest.", maxProblems,
				len(ps)),
		}))
	}
}

func diagnostic(p problem.Problem) diag.Diagnostic {
	at := pathOf(p, false)
	var facts []string
	switch subject := p.Subject(); {
	case subject == "":
	case p.Kind == "":
		facts = append(facts, "From: "+subject)
	default:
		facts = append(facts, "Object: "+subject)
	}
	if field := fleet.YAMLPath(p); field != "" {
		facts = append(facts, "Field: "+field)
	}
	if whole := PathOf(p); len(whole.Steps()) > 1 { // Terraform itself shows only the resource's attribute
		facts = append(facts, "Attribute: "+whole.String())
	}
	detail := p.Detail
	if len(facts) > 0 {
		detail = strings.Join(append([]string{detail + "\n"}, facts...), "\n")
	}
	severity := diag.SeverityError
	if p.Severity == problem.Warning {
		severity = diag.SeverityWarning
	}
	return newDiagnostic(severity, at, p.Summary, printable.Text(detail))
}

// newDiagnostic returns a diagnostic at a path, which may be empty.
func newDiagnostic(severity diag.Severity, at path.Path, summary, detail string) diag.Diagnostic {
	d := diag.Diagnostic(diag.NewErrorDiagnostic(summary, detail))
	if severity == diag.SeverityWarning {
		d = diag.NewWarningDiagnostic(summary, detail)
	}
	if at.Equal(path.Empty()) {
		return d
	}
	return diag.WithPath(at, d)
}

// Restate returns a diagnostic with another severity and other texts at the path of d.
func Restate(d diag.Diagnostic, severity diag.Severity, summary, detail string) diag.Diagnostic {
	at := path.Empty()
	if located, ok := d.(diag.DiagnosticWithPath); ok {
		at = located.Path()
	}
	return newDiagnostic(severity, at, summary, detail)
}

// PathOf returns the path of the attribute that p is about.
func PathOf(p problem.Problem) path.Path { return pathOf(p, true) }

// pathOf returns the path of [PathOf]. Without nested, it returns the part that Terraform can show: the attribute of
// the resource, and the element in it. For a path to a nested attribute, Terraform would show the resource's own
// attribute of the same name, or none.
func pathOf(p problem.Problem, nested bool) path.Path {
	at, steps := rootOf(p)
	for _, s := range steps {
		switch s := s.(type) {
		case problem.Attr:
			if !nested && !at.Equal(path.Empty()) {
				return at
			}
			at = at.AtName(string(s))
		case problem.Index:
			at = at.AtListIndex(int(s))
		case problem.Key:
			if s == unknown.Text {
				return at
			}
			at = at.AtMapKey(string(s))
		}
	}
	return at
}

// rootOf returns the argument that the object came from, and the remaining steps of the path.
func rootOf(p problem.Problem) (path.Path, []problem.Step) {
	o := p.Origin
	switch {
	case o.Document > 0 && o.Attribute == "":
		return path.Root(ManifestsAttribute).AtMapKey(o.Key), nil // the arguments of a document are in its text
	case o.Document > 0:
		return path.Root(o.Attribute).AtMapKey(o.Key), nil
	case o.Attribute != "" && o.Key != "":
		return path.Root(o.Attribute).AtMapKey(o.Key), p.Path
	case o.Attribute != "":
		return path.Root(o.Attribute), p.Path
	}
	return path.Empty(), p.Path
}
