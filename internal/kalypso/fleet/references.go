package fleet

import (
	"fmt"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// TemplateUse is an argument of a cluster type that names a template.
type TemplateUse struct {
	Name      string // of the template; empty: the argument is not set
	Type      string // the type that the template should have
	File      string // the name of the rendered file, without extension, unless the template names the file
	Attribute string
}

// TemplateUses returns the arguments that name templates.
func (ct *ClusterType) TemplateUses() [4]TemplateUse {
	return [...]TemplateUse{
		{ct.Reconciler, TemplateReconciler, "reconciler", "reconciler"},
		{ct.NamespaceService, TemplateNamespace, "namespace", "namespace_service"},
		{ct.ConfigType, TemplateConfig, "platform-config", "config_type"},
		{ct.SecretType, TemplateSecret, "platform-secret", "secret_type"},
	}
}

// known reports whether the argument names a template whose name is known.
func (u TemplateUse) known() bool { return u.Name != "" && !unknown.Is(u.Name) }

// TemplatesOf returns the templates that some cluster types name.
func (f *Fleet) TemplatesOf(some func(*ClusterType) bool) map[*Template]bool {
	all := map[*Template]bool{}
	for _, ct := range f.ClusterTypes {
		for _, use := range ct.TemplateUses() {
			if t := f.Template(use.Name); use.known() && t != nil && !all[t] && some(ct) {
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
		c := checkerOf(ct)
		f.checkFileNames(ct, c)
		attributes := map[string][]string{}
		for _, use := range ct.TemplateUses() {
			t := f.Template(use.Name)
			switch {
			case !use.known():
			case t == nil:
				if missing[use.Name] == nil {
					missing[use.Name] = &missingTemplate{first: ct, attribute: use.Attribute}
				}
				attributes[use.Name] = append(attributes[use.Name], ct.field(use.Attribute))
			case t.Type != use.Type && slices.Contains(TemplateTypes, t.Type):
				c.attr(use.Attribute).warn("Wrong template type", fmt.Sprintf(
					"%s names the template %q, whose type is %q instead of %q.",
					ct.field(use.Attribute), use.Name, t.Type, use.Type))
			}
		}
		for name, named := range attributes {
			m := missing[name]
			m.needed = m.needed || assigned(ct)
			m.lines = append(m.lines, fmt.Sprintf("%s: %s", unknown.Display(ct.Name), strings.Join(named, ", ")))
		}
		ps = append(ps, c.problems()...)
	}
	for name, m := range missing {
		ps = append(ps, m.problem(name, f.templateNames()))
	}
	ps.Sort()
	return ps
}

// checkFileNames reports templates of a cluster type that render files with the same name.
func (f *Fleet) checkFileNames(ct *ClusterType, c checker) {
	first := map[string]string{}
	for _, use := range ct.TemplateUses() {
		t := f.Template(use.Name)
		file := use.File + "." + ContentYAML
		switch {
		case t != nil && unknown.Is(t.FileName) || t == nil && use.Name != "":
			continue
		case t != nil:
			file = t.File(use.File)
		}
		key := strings.ToLower(file) // not every file system distinguishes case
		if other, twice := first[key]; twice {
			c.attr(use.Attribute).add("Duplicate file name", fmt.Sprintf("The templates of %s and %s both render the file %q "+
				"of a deployment target. Give one of them another file_name.",
				ct.field(other), ct.field(use.Attribute), file))
			continue
		}
		first[key] = use.Attribute
	}
}

func (m *missingTemplate) problem(name, others string) problem.Problem {
	p := ProblemOf(m.first, problem.Problem{
		Path: []problem.Step{problem.Attr(m.attribute)}, Summary: "Missing template",
		Detail: fmt.Sprintf("The template %q does not exist. These cluster types name it:\n%s\nAdd it, or use one of: %s.",
			name, problem.IndentedList(m.lines, problem.MaxListed), others),
	})
	if !m.needed {
		p.Severity = problem.Warning
		p.Detail += " Nothing is assigned to these cluster types. Once something is, this is an error."
	}
	return p
}

func (f *Fleet) templateNames() string {
	names := lists.Map(f.Templates, func(t *Template) string { return fmt.Sprintf("%q", unknown.Display(t.Name)) })
	if len(names) == 0 {
		return "(there are none)"
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ", ")
}
