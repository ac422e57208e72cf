// Package render renders the files of assignments from templates.
package render

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/configure"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule/requires"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// ReconcilerFile is the name of the file that a reconciler renders, without extension.
const ReconcilerFile = "reconciler"

// MaxFiles is the largest number of files of an assignment.
const MaxFiles = 4

// builtin contains the templates of cluster types that name none, by type.
var builtin = map[string]*fleet.Template{
	fleet.TemplateConfig: builtinConfig, fleet.TemplateSecret: builtinSecret,
}

// builtinConfig renders the values of a cluster type without a configType.
var builtinConfig = &fleet.Template{
	Meta: fleet.Meta{Name: "(built-in config template)"},
	Type: fleet.TemplateConfig,
	Manifests: []string{`apiVersion: v1
kind: ConfigMap
metadata:
  name: platform-config
  namespace: {{ .Namespace }}
data:
{{ stringify .ConfigData | indent 2 }}
`},
}

// builtinSecret renders the references of a cluster type without a secretType.
var builtinSecret = &fleet.Template{
	Meta: fleet.Meta{Name: "(built-in secret template)"},
	Type: fleet.TemplateSecret,
	Manifests: []string{`apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata:
  name: platform-secret
  namespace: {{ .Namespace }}
spec:
{{ externalSecretSpec .SecretData | indent 2 }}
`},
}

// File is a file of an assignment.
type File struct {
	Path    string // relative to the folder it belongs to, such as reconciler.yaml
	Content []byte
	// Unknown means that the content is not known yet. With MayBeAbsent, the existence of the file is unknown too.
	Unknown     bool
	MayBeAbsent bool
	Template    *fleet.Template // the template that renders the file
}

// Renderer renders the assignments of a schedule.
type Renderer struct {
	environment  string
	limits       fleet.Limits
	schedule     *schedule.Schedule
	config       *configure.Configuration
	requires     *requires.Index
	undecided    bool // see [requires.Index.Uncertain]
	clusterTypes map[*fleet.ClusterType]*clusterTypeInput
	targets      map[*fleet.DeploymentTarget]*targetInput
	values       sync.Map // *configure.Values → *valuesCache
	executors    sync.Pool
	forms        goForms
	slow         sync.Map // *fleet.Template → Failure, of the templates that exceeded the time of a file
}

// clusterTypeInput is the input that the assignments of a cluster type share.
type clusterTypeInput struct {
	parts   []part
	unknown bool     // is a label
	cache   sync.Map // *piece → string
}

// valuesCache contains what is rendered once of values that several assignments share.
type valuesCache struct {
	texts   sync.Map // *piece → string: the result for all values
	entries sync.Map // *piece → *renderedEntries: the results for each key; nil if rendering fails for a key
	orders  sync.Map // orderKey → []string: the keys of these values and of an assignment's own values
}

// cacheOf returns the cache of values that several assignments share.
func (r *Renderer) cacheOf(v *configure.Values) *valuesCache {
	found, ok := r.values.Load(v)
	if !ok {
		found, _ = r.values.LoadOrStore(v, &valuesCache{})
	}
	return found.(*valuesCache) //nolint:forcetypeassert // nothing else is stored
}

// part is a template of a cluster type, which renders one file of each assignment.
type part struct {
	*parsed
	of   string // the type of [fleet.TemplateUse]
	file string // the name of the file
}

// targetInput is the input that the assignments of a deployment target share.
type targetInput struct {
	shared   bool     // it is assigned to more than one cluster type
	notPlain bool     // the target has texts that are not plain, see [fleet.IsPlainScalar]
	unknown  bool     // whether the text is a value of manifests, or a label
	cache    sync.Map // *piece → string
}

// New prepares the rendering of a valid fleet's schedule with its configuration. It parses each template once, and
// reports all templates that do not parse. If nothing uses such a template, the report is only a warning.
func New(
	ctx context.Context,
	f *fleet.Fleet,
	s *schedule.Schedule,
	config *configure.Configuration,
	index *requires.Index,
) (*Renderer, problem.Problems) {
	var problems problem.Problems
	r := &Renderer{
		environment:  f.Environment,
		limits:       f.Limits.WithDefaults(),
		schedule:     s,
		config:       config,
		requires:     index,
		undecided:    index.Uncertain(),
		clusterTypes: make(map[*fleet.ClusterType]*clusterTypeInput, len(s.Placements)),
		targets:      make(map[*fleet.DeploymentTarget]*targetInput, len(s.Targets)),
	}
	byTemplate := map[*fleet.Template]*parsed{}
	parse := func(t *fleet.Template) *parsed {
		p, ok := byTemplate[t]
		if !ok {
			var ps problem.Problems
			p, ps = parseTemplate(t)
			problems = append(problems, ps...)
			byTemplate[t] = p
		}
		return p
	}
	used := f.TemplatesOf(s.MayUse)
	for _, t := range f.Templates {
		if ctx.Err() != nil {
			return r, problems
		}
		before := len(problems)
		parse(t)
		if !used[t] {
			problem.Unused(problems[before:], "no cluster type with assignments names this template")
		}
	}
	for _, p := range s.Placements {
		input := &clusterTypeInput{unknown: unknown.Any(p.ClusterType.Labels)}
		for _, use := range p.ClusterType.TemplateUses() {
			t := builtin[use.Type]
			if t == nil || use.Name != "" {
				t = f.Template(use.Name)
			}
			if t != nil { // a missing template is reported elsewhere
				input.parts = append(input.parts, part{parse(t), use.Type, t.File(use.File)})
			}
		}
		slices.SortFunc(input.parts, func(a, b part) int { return strings.Compare(a.file, b.file) })
		r.clusterTypes[p.ClusterType] = input
		for i := range p.Assignments {
			r.addTarget(p.Assignments[i].Target)
		}
	}
	problems.Sort()
	return r, problems
}

// addTarget adds the input that the assignments of a target share. It is called once for each assignment.
func (r *Renderer) addTarget(t *fleet.DeploymentTarget) {
	if known, ok := r.targets[t]; ok {
		known.shared = true
		return
	}
	r.targets[t] = &targetInput{notPlain: !t.HasPlainScalars(), unknown: unknown.Any(t.Manifests) || unknown.Any(t.Labels)}
}

// Placement renders the assignments [from, to) of placement i, in order. It is safe for concurrent use. Each result
// has the failures of its assignment. A failed assignment has no files. The files are in b. It stops once ctx is done.
// A file that takes too long fails, and so do all later files of the same template.
func (r *Renderer) Placement(
	ctx context.Context, i, from, to int, b *Buffer,
) iter.Seq2[*schedule.Assignment, AssignmentFiles] {
	return func(yield func(*schedule.Assignment, AssignmentFiles) bool) {
		w := r.worker(ctx, b)
		w.first = true
		defer r.executors.Put(w.executor)
		p := r.schedule.Placements[i]
		for n := from; n < to && ctx.Err() == nil; n++ {
			if !yield(&p.Assignments[n], w.assignment(i, n)) {
				return
			}
		}
	}
}

// Assignment renders assignment n of placement i again, however long that takes: a file that was rendered once must not
// be missing because the machine is busy now. It is safe for concurrent use. The files are in b.
func (r *Renderer) Assignment(ctx context.Context, i, n int, b *Buffer) AssignmentFiles {
	w := r.worker(ctx, b)
	defer r.executors.Put(w.executor)
	return w.assignment(i, n)
}

// Warnings returns what is doubtful in the files rendered so far: values that templates print in Go's form.
func (r *Renderer) Warnings() problem.Problems { return r.forms.problems() }

// worker returns a worker. The caller must put its executor back into the pool.
func (r *Renderer) worker(ctx context.Context, b *Buffer) *worker {
	x, ok := r.executors.Get().(*executor)
	if !ok {
		x = newExecutor(r.limits)
	}
	x.ctx, x.forms = ctx, &r.forms
	return &worker{renderer: r, executor: x, buffer: b}
}

// AssignmentFiles is the result of rendering an assignment.
type AssignmentFiles struct {
	Files    []File // sorted by name
	Failures []Failure
}

// Failure is the reason why an assignment can't be rendered.
type Failure struct {
	Template  *fleet.Template // nil: the values violate a schema
	Manifest  int             // index in the template
	Err       error
	Violation configure.Violation
}

// worker renders assignments, one after another.
type worker struct {
	renderer *Renderer
	executor *executor
	buffer   *Buffer
	first    bool // each file has a deadline
}

// assignmentInput is the input for rendering an assignment.
type assignmentInput struct {
	data       Data
	target     *fleet.DeploymentTarget
	ofTarget   *targetInput
	ofType     *clusterTypeInput
	values     *configure.Values
	secrets    *configure.Values
	base       *configure.Values          // the values that it shares with other assignments; nil if it shares all or none
	own        []string                   // the keys of all other values
	unknown    map[string]map[string]bool // the unknown keys of the maps of the data
	beforePass func(text string) error    // checks a result before the next pass; may be nil
	templates  bool                       // values may contain templates
	rendered   map[string]*renderedValue  // the values that contain templates, once they are rendered
	real       *assignmentInput           // of an input with placeholders: the input with the texts of the team
}

func (w *worker) assignment(i, n int) AssignmentFiles {
	a, c := &w.renderer.schedule.Placements[i].Assignments[n], w.renderer.config.Of(i, n)
	merged, references := c.Values.Merge(), c.Secrets.Merge()
	var out AssignmentFiles
	for _, violation := range c.Violations(merged) {
		out.Failures = append(out.Failures, Failure{Violation: violation})
	}
	ofTarget, ofType := w.renderer.targets[a.Target], w.renderer.clusterTypes[a.ClusterType]
	s := assignmentInput{target: a.Target, ofTarget: ofTarget, ofType: ofType, values: c.Values, secrets: c.Secrets}
	s.templates = c.Values.Templates
	s.data = Data{
		DeploymentTargetName: a.Target.Name,
		Namespace:            a.Namespace,
		Environment:          w.renderer.environment,
		Workspace:            a.Target.Workspace,
		Workload:             a.Target.Workload.Name,
		ClusterType:          a.ClusterType.Name,
		Labels:               a.Target.Labels,
		Manifests:            a.Target.Manifests,
		ConfigData:           merged.Data,
		more:                 More{ClusterTypeLabels: a.ClusterType.Labels, SecretData: references.Data},
	}
	requiresUnknown := false
	if len(a.Target.Requires) > 0 {
		index := w.renderer.requires
		s.data.more.Requires = func() []requires.Target {
			all, _ := index.Satisfying(i, n)
			return all
		}
		if w.renderer.undecided {
			_, known := index.Satisfying(i, n)
			requiresUnknown = !known
		}
	}
	if !c.Values.Shared && merged.Base != nil && merged.Base.Continued >= worthEntries {
		s.base, s.own = merged.Base, merged.Own
	}
	if t, ct := a.Target, a.ClusterType; len(merged.Unknown)+len(references.Unknown) > 0 ||
		ofTarget.unknown || ofType.unknown || requiresUnknown {
		s.unknown = map[string]map[string]bool{
			"ConfigData": merged.Unknown, "SecretData": references.Unknown, "Manifests": unknownKeys(t.Manifests),
			"Labels": unknownKeys(t.Labels), "ClusterTypeLabels": unknownKeys(ct.Labels),
		}
		if unknown.Is(t.Workspace) { // if the workspace is unknown, so is its label
			s.unknown["Workspace"] = map[string]bool{unknown.Text: true}
		}
		if requiresUnknown {
			s.unknown["Requires"] = map[string]bool{unknown.Text: true}
		}
	}
	first := len(w.buffer.files)
	for _, p := range ofType.parts {
		if p.of == fleet.TemplateSecret && len(references.Data)+len(references.Unknown) == 0 {
			continue
		}
		file, failures := w.file(p, &s)
		out.Failures = append(out.Failures, failures...)
		if p.of == fleet.TemplateSecret && !references.Certain {
			file.Unknown, file.MayBeAbsent = true, true
		}
		if len(file.Content) > 0 || file.Unknown || !p.mayBeAbsent() {
			w.buffer.files = append(w.buffer.files, file)
		}
	}
	if len(out.Failures) == 0 {
		out.Files = slices.Clip(w.buffer.files[first:])
	}
	return out
}

// mayBeAbsent reports whether a file is left out if it is empty.
func (p part) mayBeAbsent() bool { return p.of == fleet.TemplateConfig || p.of == fleet.TemplateSecret }

func unknownKeys(m map[string]string) map[string]bool {
	keys := map[string]bool{}
	for k, v := range m {
		if unknown.Is(k) || unknown.Is(v) {
			keys[k] = true
		}
	}
	return keys
}

// file renders one template and joins its manifests in order. It skips empty manifests, adds a missing newline if
// another manifest follows, and separates the manifests of a YAML file by ---.
func (w *worker) file(p part, s *assignmentInput) (File, []Failure) {
	f := File{Path: p.file, Template: p.template}
	if unknown.Is(p.template.ContentType) || unknown.Is(p.template.FileName) {
		f.Unknown, f.MayBeAbsent = true, true
		return f, nil
	}
	if failure, ok := w.renderer.slow.Load(p.template); ok && w.first {
		return f, []Failure{failure.(Failure)} //nolint:forcetypeassert // nothing else is stored
	}
	separator := "---\n"
	if p.template.Extension() == fleet.ContentShell {
		separator = ""
	}
	w.buffer.start = w.buffer.content.Len()
	w.executor.start(p.template, w.first)
	var failures []Failure
	exists := !p.mayBeAbsent()
	var placeholders []*placeholderRendering
	if s.ofTarget.notPlain {
		placeholders = w.renderPlaceholders(p.parsed, s)
	}
	for i, m := range p.manifests {
		start := w.buffer.content.Len()
		if start > w.buffer.start {
			if w.buffer.since(start - 1)[0] != '\n' {
				w.buffer.content.WriteByte('\n')
			}
			w.buffer.content.WriteString(separator)
		}
		body := w.buffer.content.Len()
		var placeholder *placeholderRendering
		if placeholders != nil {
			placeholder = placeholders[i]
		}
		err := w.checkedManifest(m, s, placeholder, p.template.RendersObjects())
		if errors.Is(err, ErrTooSlow) {
			failure := Failure{Template: p.template, Manifest: i, Err: err}
			w.renderer.slow.LoadOrStore(p.template, failure)
			return f, []Failure{failure}
		}
		switch {
		case errors.Is(err, errUnknown):
			f.Unknown = true
			exists = exists || m != nil && m.prints
		case err != nil:
			failures = append(failures, Failure{Template: p.template, Manifest: i, Err: nameText(err, s)})
		case w.buffer.content.Len() > body:
			exists = true
			continue
		}
		w.buffer.content.Truncate(start)
	}
	if f.Unknown {
		w.buffer.content.Truncate(w.buffer.start)
		f.MayBeAbsent = !exists
	} else {
		f.Content = slices.Clip(w.buffer.since(w.buffer.start))
	}
	return f, failures
}

// checkedManifest appends the result of m, and checks it. With placeholders, it also checks what the texts of the team
// change.
func (w *worker) checkedManifest(m *manifest, s *assignmentInput, with *placeholderRendering, isYAML bool) error {
	body := w.buffer.content.Len()
	if with != nil {
		s.beforePass = with.checkPass(s.target)
	}
	err := w.manifest(m, s)
	if with != nil && err == nil {
		err = with.compare(s.target, string(w.buffer.since(body)), isYAML)
	}
	if err == nil {
		err = checkUTF8(w.buffer.since(body))
	}
	if late := w.executor.late; late != nil && !errors.Is(err, ErrTooSlow) {
		return late // a check of a value took too long, so the result does not count
	}
	return err
}

// manifest appends the result of m.
func (w *worker) manifest(m *manifest, s *assignmentInput) error {
	start := w.buffer.content.Len()
	for pass := 0; ; pass++ {
		if m == nil || s.unknown != nil && m.needs.any(s.unknown) {
			return errUnknown
		}
		for i := range m.pieces {
			if err := w.piece(&m.pieces[i], s, pass == 0); err != nil {
				return inPass(pass, err)
			}
		}
		out := w.buffer.since(start)
		if !bytes.Contains(out, []byte("{{")) {
			return nil
		}
		text := string(out)
		if pass == maxPasses {
			return passesError(text, s.data.ConfigData)
		}
		w.buffer.content.Truncate(start)
		if s.beforePass != nil {
			if err := s.beforePass(text); err != nil {
				return err
			}
		}
		var err error
		m, err = parseManifest(text)
		if err != nil {
			return inPass(pass+1, err)
		}
	}
}

// inPass adds the number of the pass to an error, except in the first pass. In a later pass, line numbers refer to the
// result of the pass before.
func inPass(pass int, err error) error {
	if pass == 0 {
		return err
	}
	return fmt.Errorf("in pass %d, in a template that came from a value: %w", pass+1, err)
}

// Text renders all manifests of a template with the data, joined as in a file.
func Text(ctx context.Context, t *fleet.Template, data Data) (string, error) {
	return textWithin(ctx, fleet.DefaultLimits, t, data)
}

func textWithin(ctx context.Context, limits fleet.Limits, t *fleet.Template, data Data) (string, error) {
	p, problems := parseTemplate(t)
	if err := problems.Err(); err != nil {
		return "", err
	}
	w := (&Renderer{limits: limits}).worker(ctx, &Buffer{})
	w.first = true
	file, failures := w.file(part{p, fleet.TemplateReconciler, ""}, &assignmentInput{
		data: data, values: &configure.Values{},
		secrets: &configure.Values{}, ofTarget: &targetInput{}, ofType: &clusterTypeInput{},
		templates: containsTemplate(data.ConfigData),
	})
	if len(failures) > 0 {
		return "", fmt.Errorf("manifest %d, %w", failures[0].Manifest+1, failures[0].Err)
	}
	return string(file.Content), nil
}
