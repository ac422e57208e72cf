package provider

import (
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
)

// yamlAttribute is the attribute that hands in Kalypso YAML.
const yamlAttribute = "manifests"

// appendProblems turns problems into diagnostics, each on its attribute: of the resource itself, of an object in one of
// the maps of a rendering, or the YAML text that holds the object.
func appendProblems(diags *diag.Diagnostics, ps fleet.Problems) {
	for _, p := range ps {
		diags.Append(diagnostic(p))
	}
}

func diagnostic(p fleet.Problem) diag.Diagnostic {
	detail := p.Detail
	if subject := p.Subject(); subject != "" {
		detail += "\n\nObject: " + subject
	}
	at := pathOf(p)
	switch {
	case p.Severity == fleet.Warning && at.Equal(path.Empty()):
		return diag.NewWarningDiagnostic(p.Summary, detail)
	case p.Severity == fleet.Warning:
		return diag.NewAttributeWarningDiagnostic(at, p.Summary, detail)
	case at.Equal(path.Empty()):
		return diag.NewErrorDiagnostic(p.Summary, detail)
	}
	return diag.NewAttributeErrorDiagnostic(at, p.Summary, detail)
}

// pathOf is the path of the attribute that p is about.
func pathOf(p fleet.Problem) path.Path {
	o := p.Origin
	at := path.Empty()
	switch {
	case o.Document > 0:
		// The arguments of a document are in its text.
		attribute := o.Attribute
		if attribute == "" {
			attribute = yamlAttribute
		}
		return at.AtName(attribute).AtMapKey(o.Key)
	case o.Attribute != "":
		at = at.AtName(o.Attribute)
		if o.Key != "" {
			at = at.AtMapKey(o.Key)
		}
	}
	return below(at, p.Path)
}

func below(at path.Path, steps []fleet.Step) path.Path {
	for _, s := range steps {
		if s.Key == fleet.Unknown {
			return at
		}
		s.Visit(
			func(name string) { at = at.AtName(name) },
			func(i int) { at = at.AtListIndex(i) },
			func(key string) { at = at.AtMapKey(key) },
		)
	}
	return at
}
