package render

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"strings"
	"text/template"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule/requires"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// Data is the data of a template. Its exported fields are the fields that Kalypso's operator has, so that a template
// that prints or hashes all data gives the same result as with the operator.
type Data struct {
	DeploymentTargetName string
	Namespace            string
	Environment          string
	Workspace            string
	Workload             string
	Labels               map[string]string
	Manifests            map[string]string
	ClusterType          string
	ConfigData           map[string]any

	more More
}

// More is data that the operator does not have.
type More struct {
	ClusterTypeLabels map[string]string
	SecretData        map[string]any // references: maps with the keys store, key and property
	// Requires returns the deployment targets that satisfy the assignment's requirements. Nil: there are none.
	Requires func() []requires.Target
}

// With returns d with more data.
func (d Data) With(more More) Data {
	d.more = more
	return d
}

// ClusterTypeLabels returns the labels of the cluster type.
func (d Data) ClusterTypeLabels() map[string]string { return d.more.ClusterTypeLabels }

// SecretData returns the references to secrets.
func (d Data) SecretData() map[string]any { return d.more.SecretData }

// Requires returns the deployment targets on the cluster type that satisfy the requirements, sorted by name.
func (d Data) Requires() []requires.Target {
	if d.more.Requires == nil {
		return nil
	}
	return d.more.Requires()
}

// Format implements [fmt.Formatter]. It leaves out the fields that the operator does not have.
func (d Data) Format(f fmt.State, verb rune) {
	type data struct {
		DeploymentTargetName string
		Namespace            string
		Environment          string
		Workspace            string
		Workload             string
		Labels               map[string]string
		Manifests            map[string]string
		ClusterType          string
		ConfigData           map[string]any
	}
	_, _ = fmt.Fprintf(f, fmt.FormatString(f, verb), data{
		d.DeploymentTargetName, d.Namespace, d.Environment, d.Workspace, d.Workload, d.Labels, d.Manifests, d.ClusterType,
		d.ConfigData,
	})
}

// Repo is the older name of .Manifests.repo. It is nil if that is missing.
func (d Data) Repo() any { return d.storage("repo") }

// Branch is the older name of .Manifests.branch. It is nil if that is missing.
func (d Data) Branch() any { return d.storage("branch") }

// Path is the older name of .Manifests.path. It is nil if that is missing.
func (d Data) Path() any { return d.storage("path") }

func (d Data) storage(key string) any {
	if v, ok := d.Manifests[key]; ok {
		return v
	}
	return nil
}

// clone returns d with copies of its maps, also of maps that are nil, for a template that changes them.
func (d Data) clone() Data {
	d.Labels = maps.Collect(maps.All(d.Labels))
	d.more.ClusterTypeLabels = maps.Collect(maps.All(d.more.ClusterTypeLabels))
	d.Manifests = maps.Collect(maps.All(d.Manifests))
	d.ConfigData, _ = deepCopy(d.ConfigData).(map[string]any)
	d.more.SecretData, _ = deepCopy(d.more.SecretData).(map[string]any)
	return d
}

func deepCopy(v any) any {
	switch v := v.(type) {
	case map[string]any:
		c := make(map[string]any, len(v))
		for k, e := range v {
			c[k] = deepCopy(e)
		}
		return c
	case []any:
		return lists.Map(v, deepCopy)
	}
	return v
}

// parsed is a template with its parsed manifests.
type parsed struct {
	template  *fleet.Template
	manifests []*manifest // nil if not known yet
}

func parseTemplate(t *fleet.Template) (*parsed, problem.Problems) {
	defer problem.NamePanic(string(t.Kind()), t.Name)
	p := &parsed{template: t}
	var problems problem.Problems
	for i, text := range t.Manifests {
		if unknown.Is(text) {
			p.manifests = append(p.manifests, nil)
			continue
		}
		m, err := parseManifest(text)
		if err != nil {
			problems = append(problems, fleet.ProblemOf(t, problem.Problem{
				Path:    []problem.Step{problem.Attr("manifests"), problem.Index(i)},
				Summary: "Template does not parse", Detail: fmt.Sprintf("Manifest %d, %s.%s", i+1, err, quoteLine(text, err)),
				Err: err,
			}))
		}
		p.manifests = append(p.manifests, m)
	}
	return p, problems
}

// quoteLine returns the line of the text that the error is about, or "".
func quoteLine(text string, err error) string {
	var located *LineError
	if !errors.As(err, &located) {
		return ""
	}
	const maxLength = 200 // characters
	n := 0
	for line := range strings.Lines(text) {
		n++
		if n == located.Line {
			quoted := []rune(strings.TrimSpace(line))
			return "\n" + problem.IndentedList([]string{string(quoted[:min(len(quoted), maxLength)])}, 1)
		}
	}
	return ""
}

// errUnknown means that a result depends on an unknown value.
var errUnknown = errors.New("depends on a value that is not known yet")

// executor renders manifests, one after another.
type executor struct {
	bounds
	functions template.FuncMap // with their bounds, by name
	clones    map[*template.Template]*template.Template
	values    map[string]*valueTemplate // the templates in values, by text
	out       bytes.Buffer
}

func newExecutor(limits fleet.Limits) *executor {
	x := &executor{
		bounds: bounds{size: limits.FileSize, fileTime: limits.FileTime},
		clones: map[*template.Template]*template.Template{},
		values: map[string]*valueTemplate{}}
	x.functions = x.instruments()
	return x
}

// bounding returns the named functions with their bounds.
func (x *executor) bounding(names []string) template.FuncMap {
	all := x.instruments()
	for _, name := range names {
		all[name] = x.function(name)
	}
	return all
}

// function returns the named function with its bounds. It returns nil for an empty name.
func (x *executor) function(name string) any {
	f, ok := x.functions[name]
	if !ok && name != "" {
		f = x.bounded(name, functions[name])
		x.functions[name] = f
	}
	return f
}

// execute renders one piece with the data. If the manifest will be executed again, it keeps a clone of it with the
// bounded functions.
func (x *executor) execute(p *piece, d *Data, again bool) (string, error) {
	tmpl, ok := x.clones[p.root]
	switch {
	case ok:
	case again:
		var err error
		tmpl, err = p.root.Clone()
		if err != nil {
			return "", err
		}
		x.clones[p.root] = tmpl.Funcs(x.bounding(p.functions))
	default:
		tmpl = p.root.Funcs(x.bounding(p.functions))
	}
	// Pass a copy, since a template could print the address of a pointer.
	dot := *d
	if p.mutates {
		dot = d.clone()
	}
	x.noted, x.returned = nil, 0
	x.out.Reset()
	if err := tmpl.ExecuteTemplate(&limitedWriter{&x.out, x}, p.name, dot); err != nil {
		return "", executionError(err)
	}
	return x.out.String(), nil
}

type limitedWriter struct {
	b *bytes.Buffer
	x *executor
}

func (w *limitedWriter) Write(p []byte) (int, error) {
	if err := w.x.fits("the file renders to", int64(w.b.Len()+len(p))); err != nil {
		return 0, err
	}
	return w.b.Write(p)
}
