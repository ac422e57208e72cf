// Package render makes the files of assignments from templates.
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
)

// The names of an assignment's files, without their ending.
const (
	ReconcilerFile     = "reconciler"
	NamespaceFile      = "namespace"
	PlatformConfigFile = "platform-config"
)

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

// File is a file of an assignment.
type File struct {
	Name    string // such as reconciler.yaml
	Content []byte
	// Unknown says that the content, and with MayLack also whether there is such a file, is not known yet.
	Unknown     bool
	MayBeAbsent bool
}

// Renderer renders the assignments of a schedule.
type Renderer struct {
	environment string
	fileSize    int64 // the limit, bytes
	schedule    *schedule.Schedule
	config      *configure.Configuration
	templates   map[*fleet.ClusterType][3]*parsed
	// placedTwice are the deployment targets that are placed on more than one cluster type.
	placedTwice map[*fleet.DeploymentTarget]bool
	// notPlain are those with a text that YAML may take for more than data.
	notPlain  map[*fleet.DeploymentTarget]bool
	kept      sync.Map // pieceKey → renderedPiece
	executors sync.Pool
}

// New prepares the rendering of a valid fleet's schedule with its configuration: it parses each template once, and
// reports all that do not parse, those that no cluster type uses included.
func New(ctx context.Context, f *fleet.Fleet, s *schedule.Schedule, config *configure.Configuration) (*Renderer, fleet.Problems) {
	var problems fleet.Problems
	r := &Renderer{
		environment: f.Environment,
		fileSize:    f.Limits.WithDefaults().FileSize,
		schedule:    s,
		config:      config,
		templates:   map[*fleet.ClusterType][3]*parsed{},
		placedTwice: map[*fleet.DeploymentTarget]bool{},
		notPlain:    map[*fleet.DeploymentTarget]bool{},
	}
	for _, t := range s.Targets {
		if !t.HasPlainScalars() {
			r.notPlain[t] = true
		}
	}
	byTemplate := map[*fleet.Template]*parsed{}
	parse := func(t *fleet.Template) *parsed {
		p, ok := byTemplate[t]
		if !ok {
			var ps fleet.Problems
			p, ps = parseTemplate(t)
			problems = append(problems, ps...)
			byTemplate[t] = p
		}
		return p
	}
	for _, t := range f.Templates {
		if ctx.Err() != nil {
			return r, problems
		}
		parse(t)
	}
	for _, p := range s.Placements {
		ct := p.ClusterType
		configTemplate := builtinConfig
		if ct.ConfigType != "" {
			configTemplate = f.Template(ct.ConfigType)
		}
		var parts [3]*parsed
		for i, t := range []*fleet.Template{f.Template(ct.Reconciler), f.Template(ct.NamespaceService), configTemplate} {
			if t != nil {
				parts[i] = parse(t)
			}
		}
		r.templates[ct] = parts
		for i := range p.Assignments {
			t := p.Assignments[i].Target
			_, again := r.placedTwice[t]
			r.placedTwice[t] = again
		}
	}
	problems.Sort()
	return r, problems
}

// Placement renders the assignments of the schedule's placement i from one to before another, in their order. It is for
// concurrent use. What fails is reported assignment by assignment; an assignment that fails has no files. It stops with ctx.
func (r *Renderer) Placement(ctx context.Context, i, from, to int) iter.Seq2[*schedule.Assignment, Result] {
	return func(yield func(*schedule.Assignment, Result) bool) {
		w := r.worker(ctx)
		defer r.executors.Put(w.executor)
		p := r.schedule.Placements[i]
		for n := from; n < to && ctx.Err() == nil; n++ {
			if a := &p.Assignments[n]; !yield(a, w.assignment(a, r.config.Of(i, n))) {
				return
			}
		}
	}
}

// Assignment renders the assignment n of the schedule's placement i alone. It is for concurrent use.
func (r *Renderer) Assignment(ctx context.Context, i, n int) Result {
	w := r.worker(ctx)
	defer r.executors.Put(w.executor)
	return w.assignment(&r.schedule.Placements[i].Assignments[n], r.config.Of(i, n))
}

// worker returns a worker whose executor belongs back into the pool.
func (r *Renderer) worker(ctx context.Context) *worker {
	x, ok := r.executors.Get().(*executor)
	if !ok {
		x = newExecutor(r.fileSize)
	}
	x.ctx = ctx
	return &worker{Renderer: r, executor: x}
}

// Result is what an assignment renders to.
type Result struct {
	Files    []File // sorted by name
	Failures []Failure
}

// Failure is why an assignment can't be rendered.
type Failure struct {
	Template  *fleet.Template // nil: the values fail their schema
	Manifest  int             // index in the template
	Err       error
	Violation configure.Violation
}

// pieceKey is a piece of a manifest with the name of what it was rendered for: the cluster type or the deployment
// target, whichever the piece depends on.
type pieceKey struct {
	piece *piece
	of    string
}

// renderedPiece is what a piece rendered to, and at what cost.
type renderedPiece struct {
	text string
	cost cost
}

type worker struct {
	*Renderer
	*executor
	buf bytes.Buffer
}

// subject is an assignment while it is rendered.
type subject struct {
	data    Data
	target  *fleet.DeploymentTarget
	values  *configure.Values
	unknown map[string]map[string]bool // keys of maps of the data that are not known yet
	seen    func(text string) error    // is asked before a result is rendered again; may be nil
}

func (w *worker) assignment(a *schedule.Assignment, c configure.AssignmentConfig) Result {
	merged := c.Values.Merge()
	var out Result
	for _, offence := range c.Check(merged) {
		out.Failures = append(out.Failures, Failure{Violation: offence})
	}
	s := subject{target: a.Target, values: c.Values, data: Data{
		DeploymentTargetName: a.Target.Name,
		Namespace:            a.Namespace,
		Environment:          w.environment,
		Workspace:            a.Target.Workspace,
		Workload:             a.Target.Workload.Name,
		ClusterType:          a.ClusterType.Name,
		Labels:               a.Target.Labels,
		Manifests:            a.Target.Manifests,
		ConfigData:           merged.Data,
	}}
	if len(merged.Unknown) > 0 || fleet.AnyUnknown(a.Target.Manifests) {
		s.unknown = map[string]map[string]bool{"ConfigData": merged.Unknown, "Manifests": unknownKeys(a.Target.Manifests)}
	}
	parts := w.templates[a.ClusterType]
	for i, name := range []string{ReconcilerFile, NamespaceFile, PlatformConfigFile} {
		if parts[i] == nil {
			continue // reported as missing
		}
		file, failures := w.file(name, parts[i], &s)
		out.Failures = append(out.Failures, failures...)
		if len(file.Content) > 0 || file.Unknown || name != PlatformConfigFile {
			out.Files = append(out.Files, file)
		}
	}
	if len(out.Failures) > 0 {
		out.Files = nil
	}
	slices.SortFunc(out.Files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func unknownKeys(m map[string]string) map[string]bool {
	keys := map[string]bool{}
	for k, v := range m {
		if fleet.IsUnknown(k) || fleet.IsUnknown(v) {
			keys[k] = true
		}
	}
	return keys
}

// file renders one template and joins its manifests: what is not empty, in order, each ending in a newline where
// another follows, with --- between those of a YAML file.
func (w *worker) file(name string, p *parsed, s *subject) (File, []Failure) {
	f := File{Name: name + "." + p.template.Extension()}
	if fleet.IsUnknown(p.template.ContentType) {
		f.Unknown, f.MayBeAbsent = true, true
		return f, nil
	}
	separator := "---\n"
	if p.template.Extension() == fleet.ContentShell {
		separator = ""
	}
	var failures []Failure
	exists := name != PlatformConfigFile
	var standIns []*standIn
	if w.notPlain[s.target] {
		standIns = w.standIns(p, s)
	}
	w.buf.Reset()
	w.spent = cost{}
	for i, m := range p.manifests {
		start := w.buf.Len()
		if start > 0 {
			if b := w.buf.Bytes(); b[start-1] != '\n' {
				w.buf.WriteByte('\n')
			}
			w.buf.WriteString(separator)
		}
		body := w.buf.Len()
		if standIns != nil {
			s.seen = standIns[i].seeing(s.target)
		}
		err := w.manifest(m, s)
		if standIns != nil && err == nil {
			err = standIns[i].compare(s.target, string(w.buf.Bytes()[body:]), p.template.Extension() == fleet.ContentYAML)
		}
		switch {
		case errors.Is(err, errUnknown):
			f.Unknown = true
			exists = exists || m != nil && m.prints
		case err != nil:
			failures = append(failures, Failure{Template: p.template, Manifest: i, Err: err})
		case w.buf.Len() > body:
			exists = true
			continue
		}
		w.buf.Truncate(start)
	}
	if f.Unknown {
		f.MayBeAbsent = !exists
	} else {
		f.Content = bytes.Clone(w.buf.Bytes())
	}
	return f, failures
}

// manifest appends what m renders to.
func (w *worker) manifest(m *manifest, s *subject) error {
	start := w.buf.Len()
	for pass := 0; ; pass++ {
		if m == nil || s.unknown != nil && m.needs.any(s.unknown) {
			return errUnknown
		}
		for i := range m.pieces {
			if err := w.piece(&m.pieces[i], s, pass == 0); err != nil {
				return inPass(pass, err)
			}
		}
		out := w.buf.Bytes()[start:]
		if !bytes.Contains(out, []byte("{{")) {
			return nil
		}
		text := string(out)
		if pass == maxPasses {
			return newPassesError(text, s.data.ConfigData)
		}
		w.buf.Truncate(start)
		if s.seen != nil {
			if err := s.seen(text); err != nil {
				return err
			}
		}
		var err error
		if m, err = parseManifest(text); err != nil {
			return inPass(pass+1, err)
		}
	}
}

// inPass says which rendering failed, where it is not the first: its lines are those of the text that the one before it
// gave.
func inPass(pass int, err error) error {
	if pass == 0 {
		return err
	}
	return fmt.Errorf("in rendering %d, of a template that came with a value: %w", pass+1, err)
}

// piece appends what p renders to. What it depends on says how often it is rendered; keep says that p will be asked for
// again.
func (w *worker) piece(p *piece, s *subject, keep bool) error {
	text := p.text
	switch {
	case p.namespace:
		text = s.data.Namespace
	case p.root != nil:
		var err error
		if text, err = w.shared(p, s, keep); err != nil {
			return err
		}
	}
	if err := w.fits("the file renders to", int64(w.buf.Len()+len(text))); err != nil {
		return err
	}
	w.buf.WriteString(text)
	return nil
}

// shared returns what p is for the values, the cluster type or the target, where it depends on that alone, and else
// executes it.
func (w *worker) shared(p *piece, s *subject, keep bool) (string, error) {
	var kept *sync.Map
	key := pieceKey{piece: p}
	switch {
	case keep && p.scope == ofValues && s.values.Shared:
		kept = &s.values.Cache
	case keep && p.scope&^ofClusterType == 0:
		kept, key.of = &w.kept, s.data.ClusterType
	case keep && p.scope == ofTarget && w.placedTwice[s.target]:
		kept, key.of = &w.kept, s.target.Name
	default:
		return w.execute(p, &s.data, keep)
	}
	if found, ok := kept.Load(key); ok {
		if done := found.(renderedPiece); w.afford(done.cost) { //nolint:forcetypeassert // nothing else is stored
			return done.text, nil
		}
	}
	before := w.spent
	text, err := w.execute(p, &s.data, keep)
	if err == nil {
		kept.Store(key, renderedPiece{text, cost{w.spent.steps - before.steps, w.spent.work - before.work}})
	}
	return text, err
}

// Text renders all manifests of a template with the data, joined as in a file.
func Text(ctx context.Context, t *fleet.Template, data Data) (string, error) {
	p, problems := parseTemplate(t)
	if err := problems.Err(); err != nil {
		return "", err
	}
	w := (&Renderer{fileSize: fleet.DefaultLimits.FileSize}).worker(ctx)
	file, failures := w.file(ReconcilerFile, p, &subject{data: data, values: &configure.Values{}})
	if len(failures) > 0 {
		return "", fmt.Errorf("manifest %d, %w", failures[0].Manifest+1, failures[0].Err)
	}
	return string(file.Content), nil
}
