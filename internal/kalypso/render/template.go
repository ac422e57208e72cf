package render

import (
	"bytes"
	"errors"
	"fmt"
	"text/template"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
)

// Data is what a template is given.
type Data struct {
	DeploymentTargetName string
	Namespace            string
	Environment          string
	Workspace            string
	Workload             string
	ClusterType          string
	Labels               map[string]string
	Manifests            map[string]string
	ConfigData           map[string]any
	// The older names of .Manifests.repo, .branch and .path: a string, or nil where that is missing.
	Repo, Branch, Path any
}

// setStorage sets Manifests and the older names of its keys.
func (d *Data) setStorage(manifests map[string]string) {
	d.Manifests = manifests
	older := func(key string) any {
		if v, ok := manifests[key]; ok {
			return v
		}
		return nil
	}
	d.Repo, d.Branch, d.Path = older("repo"), older("branch"), older("path")
}

// copied is d with maps of its own, for a template that changes them.
func (d *Data) copied() *Data {
	c := *d
	c.Labels = copyMap(d.Labels)
	c.Manifests = copyMap(d.Manifests)
	c.ConfigData, _ = deepCopy(d.ConfigData).(map[string]any)
	return &c
}

func copyMap(m map[string]string) map[string]string {
	c := make(map[string]string, len(m))
	for k, v := range m {
		c[k] = v
	}
	return c
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
		c := make([]any, len(v))
		for i, e := range v {
			c[i] = deepCopy(e)
		}
		return c
	}
	return v
}

// parsed is a template with its manifests parsed.
type parsed struct {
	template  *fleet.Template
	manifests []*manifest // nil elements: not known yet
}

func parseTemplate(t *fleet.Template) (*parsed, fleet.Problems) {
	p := &parsed{template: t}
	var problems fleet.Problems
	for i, text := range t.Manifests {
		if fleet.IsUnknown(text) {
			p.manifests = append(p.manifests, nil)
			continue
		}
		m, err := parseManifest(text)
		if err != nil {
			problems = append(problems, fleet.Problem{
				Kind: t.Kind(), Name: t.Name, Origin: t.Origin, Path: []fleet.Step{fleet.Attr("manifests"), fleet.Index(i)},
				Summary: "Template does not parse", Detail: fmt.Sprintf("Manifest %d, %s.", i+1, err), Err: err,
			})
		}
		p.manifests = append(p.manifests, m)
	}
	return p, problems
}

// errUnknown says that a result depends on what is not known yet.
var errUnknown = errors.New("depends on a value that is not known yet")

// ErrPasses is a result that still holds templates after the last rendering.
var ErrPasses = fmt.Errorf("the result still holds a template ({{) after %d more renderings; its values may refer to each other in a circle", maxPasses)

// executor renders manifests, one after another.
type executor struct {
	ticks  int
	clones map[*template.Template]*template.Template
	out    bytes.Buffer
}

func newExecutor() *executor { return &executor{clones: map[*template.Template]*template.Template{}} }

func (x *executor) tick() (string, error) {
	if x.ticks++; x.ticks > maxIterations {
		return "", fmt.Errorf("the template loops more than %d times", maxIterations)
	}
	return "", nil
}

// execute renders one piece with the data.
func (x *executor) execute(p *piece, d *Data) (string, error) {
	clone, ok := x.clones[p.tmpl]
	if !ok {
		var err error
		if clone, err = p.tmpl.Clone(); err != nil {
			return "", err
		}
		clone.Funcs(template.FuncMap{tickFunc: x.tick})
		x.clones[p.tmpl] = clone
	}
	if p.mutates {
		d = d.copied()
	}
	x.out.Reset()
	x.ticks = 0
	if err := clone.Execute(&limitedWriter{&x.out}, d); err != nil {
		return "", executionError(err)
	}
	return x.out.String(), nil
}

func executionError(err error) error {
	located := lineOf(err)
	var missing *MissingValueError
	var line *LineError
	if errors.As(err, &missing) && errors.As(located, &line) {
		line.Text = missing.Error()
	}
	return located
}

type limitedWriter struct{ b *bytes.Buffer }

func (w *limitedWriter) Write(p []byte) (int, error) {
	if w.b.Len()+len(p) > maxBytes {
		return 0, fmt.Errorf("the manifest renders to more than %d bytes", maxBytes)
	}
	return w.b.Write(p)
}
