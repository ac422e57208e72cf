package fleet

import (
	"fmt"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// templateUse is a template that a cluster type names.
type templateUse struct {
	attribute, name, as string // as is the type that the template should have, by the argument that names it
}

func (ct *ClusterType) templateUses() []templateUse {
	uses := []templateUse{
		{"reconciler", ct.Reconciler, TemplateReconciler},
		{"namespace_service", ct.NamespaceService, TemplateNamespace},
		{"config_type", ct.ConfigType, TemplateConfig},
		{"secret_type", ct.SecretType, TemplateSecret},
	}
	return slices.DeleteFunc(uses, func(use templateUse) bool { return use.name == "" || unknown.Is(use.name) })
}

// TemplatesOf returns the templates that some cluster types name.
func (f *Fleet) TemplatesOf(some func(*ClusterType) bool) map[*Template]bool {
	all := map[*Template]bool{}
	for _, ct := range f.ClusterTypes {
		for _, use := range ct.templateUses() {
			if t := f.Template(use.name); t != nil && !all[t] && some(ct) {
				all[t] = true
			}
		}
	}
	return all
}

// missingTemplate is a template that the fleet lacks, with the cluster types that name it.
type missingTemplate struct {
	first     *ClusterType
	attribute string // of first
	needed    bool   // some cluster type that names it has assignments
	lines     []string
}

// ValidateReferences reports missing templates, each once with the cluster types that name it, and templates of the
// wrong type. A missing template is only a warning if nothing is assigned to these cluster types.
func (f *Fleet) ValidateReferences(assigned func(*ClusterType) bool) (ps problem.Problems) {
	missing := map[string]*missingTemplate{}
	for _, ct := range f.ClusterTypes {
		var other objectProblems
		attributes := map[string][]string{}
		for _, use := range ct.templateUses() {
			t := f.Template(use.name)
			switch {
			case t == nil:
				if missing[use.name] == nil {
					missing[use.name] = &missingTemplate{first: ct, attribute: use.attribute}
				}
				attributes[use.name] = append(attributes[use.name], ct.field(use.attribute))
			case t.Type != use.as && slices.Contains(TemplateTypes, t.Type):
				other.warn("Wrong template type", fmt.Sprintf("%s names the template %q, whose type is %q instead of %q.",
					ct.field(use.attribute), use.name, t.Type, use.as), problem.Attr(use.attribute))
			}
		}
		ps = append(ps, f.checkFileNames(ct).of(ct)...)
		for name, named := range attributes {
			m := missing[name]
			m.needed = m.needed || assigned(ct)
			m.lines = append(m.lines, fmt.Sprintf("%s: %s", unknown.Display(ct.Name), strings.Join(named, ", ")))
		}
		ps = append(ps, other.of(ct)...)
	}
	for name, m := range missing {
		ps = append(ps, m.problem(name, f.templateNames()))
	}
	ps.Sort()
	return ps
}

// parts are the attributes of a cluster type that name templates, with the names of the files that the templates
// render.
var parts = [...]struct{ attribute, file string }{
	{"reconciler", "reconciler"}, {"namespace_service", "namespace"}, {"config_type", "platform-config"},
	{"secret_type", "platform-secret"},
}

// checkFileNames reports templates of a cluster type that render files with the same name.
func (f *Fleet) checkFileNames(ct *ClusterType) (ps objectProblems) {
	first := map[string]string{}
	for i, name := range [...]string{ct.Reconciler, ct.NamespaceService, ct.ConfigType, ct.SecretType} {
		t := f.Template(name)
		file := parts[i].file + "." + ContentYAML
		switch {
		case t != nil && unknown.Is(t.FileName) || t == nil && name != "":
			continue
		case t != nil:
			file = t.File(parts[i].file)
		}
		key := strings.ToLower(file) // not every file system distinguishes case
		if other, twice := first[key]; twice {
			ps.add("Duplicate file name", fmt.Sprintf("The templates of %s and %s both render the file %q of a deployment "+
				"target. "+
				"Give one of them another file_name.", ct.field(other), ct.field(parts[i].attribute), file),
				problem.Attr(parts[i].attribute))
			continue
		}
		first[key] = parts[i].attribute
	}
	return ps
}

func (m *missingTemplate) problem(name, others string) problem.Problem {
	p := problem.Problem{
		Kind: string(KindTemplate), Name: name, Origin: m.first.Origin, Path: []problem.Step{problem.Attr(m.attribute)},
		Summary: "Missing template",
		Detail: fmt.Sprintf("The template %q does not exist. These cluster types name it:\n%s\nAdd it, or use one of: %s.",
			name, problem.IndentedList(m.lines, problem.MaxListed), others),
	}
	if !m.needed {
		p.Severity = problem.Warning
		p.Detail += " Nothing is assigned to these cluster types. Once something is, this is an error."
	}
	return p
}

func (f *Fleet) templateNames() string {
	names := make([]string, 0, len(f.Templates))
	for _, t := range f.Templates {
		names = append(names, fmt.Sprintf("%q", unknown.Display(t.Name)))
	}
	if len(names) == 0 {
		return "(there are none)"
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ", ")
}
