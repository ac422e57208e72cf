package source

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/configure"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitremote"
)

// FollowOptions says how registrations are followed.
type FollowOptions struct {
	// Pins are the commits to read instead of the heads of branches, by the names of registrations.
	Pins map[string]string
	// LastGood are the origins that a rendering of the same environment was last delivered with. What is broken is read
	// at the commit that they name for it. Nil: what is broken is an error. It is called when something is broken.
	LastGood func(context.Context) ([]Origin, error)
	// AllowLocal lets registrations name repos of this machine, whatever it can read.
	AllowLocal bool
}

// Workloads are the Workload documents behind registrations.
type Workloads struct {
	Manifests map[string]string // repo@commit:path#name → document, with its workspace
	Commits   map[string]string // name of a registration → commit that was read
	Names     []string          // of the Workloads, sorted
	Problems  Problems
}

// Workloads follows registrations: it reads each, at its pin or the head of its branch. All are tried, and all that is
// wrong with each is reported.
func (r *Reader) Workloads(ctx context.Context, registrations []*fleet.WorkloadRegistration, f FollowOptions) *Workloads {
	all := newRegistrationResults(registrations, f)
	r.readRegistrations(ctx, all)
	if f.LastGood != nil {
		r.readLastGood(ctx, all, f.LastGood)
	}
	result := &Workloads{Manifests: map[string]string{}, Commits: map[string]string{}}
	arrived := map[string]*foundWorkload{} // Workload's name → where it came from
	for _, v := range all {
		result.Problems = append(result.Problems, v.problems...)
		if v.problems.HasErrors() {
			continue
		}
		result.Commits[v.registration.Name] = v.location.Commit
		for _, a := range v.workloads {
			name := a.workload.Name
			if first := arrived[name]; first != nil {
				result.Problems = append(result.Problems, a.duplicateProblem(first))
				continue
			}
			arrived[name] = a
			result.Manifests[v.location.key(a.file, name)] = a.text
			result.Names = append(result.Names, name)
		}
	}
	slices.Sort(result.Names)
	if total := totalSize(result.Manifests); total > r.limits.Total {
		result.Problems = append(result.Problems, totalTooLarge(Location{}, total, r.limits.Total))
	}
	result.Problems.Sort()
	return result
}

// registrationResult is a registration with what was found behind it.
type registrationResult struct {
	registration *fleet.WorkloadRegistration
	pinned       bool
	read         bool
	location     Location
	workloads    []*foundWorkload
	problems     Problems
}

// foundWorkload is a Workload with the registration that it came through.
type foundWorkload struct {
	via       *registrationResult
	workload  *fleet.Workload
	file      string
	line      int
	text      string         // its document, with the registration's workspace
	duplicate *foundWorkload // of another registration, that has the same name
}

func (a *foundWorkload) duplicateProblem(first *foundWorkload) Problem {
	where := fmt.Sprintf("in %s, line %d", first.file, first.line)
	if first.via != a.via {
		where = fmt.Sprintf("through registration %q, from %s, line %d", first.via.registration.Name, first.via.location.key(first.file, ""), first.line)
	}
	return Problem{
		Registration: a.via.registration.Name, Location: a.via.location, File: a.file, Line: a.line, Summary: "Duplicate workload",
		Detail: fmt.Sprintf("A Workload named %q is there already, %s. Rename or remove one of them.", a.workload.Name, where),
	}
}

// newRegistrationResults are the registrations, by name, with where they are read.
func newRegistrationResults(registrations []*fleet.WorkloadRegistration, f FollowOptions) []*registrationResult {
	var all []*registrationResult
	byName := map[string]*registrationResult{}
	for _, reg := range registrations {
		v := &registrationResult{registration: reg, location: Location{Repo: reg.Repo, Branch: reg.Branch, Path: reg.Path, NamedBy: reg.Origin.String()}}
		all = append(all, v)
		if commit := f.Pins[reg.Name]; commit != "" {
			v.location.Commit, v.pinned = commit, true
		}
		v.problems = append(v.problems, v.validationProblems(reg.Validate())...)
		if at, err := gitremote.ParseURL(reg.Repo); err == nil && at.IsLocal() && !f.AllowLocal {
			v.problems = append(v.problems, v.problem("Local repo in a registration", localRepo))
		}
		if first := byName[reg.Name]; first != nil && reg.Name != "" {
			v.problems = append(v.problems, v.problem("Duplicate registration", fmt.Sprintf("A WorkloadRegistration named %q is given twice: by %s and by %s. Rename or remove one of them.",
				reg.Name, first.registration.Origin, reg.Origin)))
		}
		byName[reg.Name] = v
	}
	slices.SortStableFunc(all, func(a, b *registrationResult) int { return strings.Compare(a.registration.Name, b.registration.Name) })
	for _, name := range sortedKeys(f.Pins) {
		if byName[name] == nil && f.Pins[name] != "" {
			all = append(all, &registrationResult{registration: &fleet.WorkloadRegistration{}, problems: Problems{{
				Summary: "Pin without registration",
				Detail:  fmt.Sprintf("pins names the registration %q, which is not there. There are: %s.", name, joinNames(byName)),
			}}})
		}
	}
	return all
}

// localRepo is why a registration is refused that names a repo of this machine.
const localRepo = "The registration names a repo of the machine that runs Terraform. Whoever writes the registration would " +
	"choose what is read there. Name a repo on a server, or set allow_local_repos = true in the provider's configuration."

func joinNames(set map[string]*registrationResult) string {
	if len(set) == 0 {
		return "none"
	}
	return strings.Join(sortedKeys(set), ", ")
}

func (v *registrationResult) problem(summary, detail string) Problem {
	return Problem{Registration: v.registration.Name, Location: v.location, Summary: summary, Detail: detail}
}

// validationProblems are problems of the registration itself.
func (v *registrationResult) validationProblems(ps fleet.Problems) Problems {
	var fs Problems
	for _, p := range ps {
		f := v.problem(p.Summary, fmt.Sprintf("WorkloadRegistration %q: %s", v.registration.Name, p.Detail))
		f.Severity = p.Severity
		fs = append(fs, f)
	}
	return fs
}

// readRegistrations reads those of which nothing is known to be broken.
func (r *Reader) readRegistrations(ctx context.Context, all []*registrationResult) {
	var asked []*registrationResult
	var places []Location
	for _, v := range all {
		if !v.problems.HasErrors() {
			asked, places = append(asked, v), append(places, v.location)
		}
	}
	for i, c := range r.read(ctx, places) {
		asked[i].parse(c)
	}
}

// parse reads the documents of the registration's folder.
func (v *registrationResult) parse(c *contents) {
	v.location, v.read = c.location, true
	if c.err != nil {
		v.problems = append(v.problems, c.location.problem(v.registration.Name, c.err))
		return
	}
	v.problems = append(v.problems, c.problems(v.registration.Name)...)
	byName := map[string]*foundWorkload{}
	others := 0
	for _, at := range c.files {
		objects, passed, ps := fleet.ParseYAML(fleet.Origin{Key: at}, c.text[at])
		v.problems = append(v.problems, fromFleetProblems(v.location, v.registration.Name, ps)...)
		others += passed
		for _, o := range objects {
			w, ok := o.(*fleet.Workload)
			if !ok {
				others++
				if o.Kind() != fleet.KindConfig {
					v.problems = append(v.problems, v.skipped(o))
				}
				continue
			}
			a := &foundWorkload{via: v, workload: w, file: at, line: w.Origin.Line}
			if first := byName[w.Name]; first != nil && w.Name != "" {
				v.problems = append(v.problems, a.duplicateProblem(first))
				continue
			}
			byName[w.Name] = a
			v.workloads = append(v.workloads, a)
			v.problems = append(v.problems, a.prepare()...)
		}
	}
	if len(v.workloads) == 0 && !v.problems.HasErrors() {
		v.problems = append(v.problems, v.problem("No workload", fmt.Sprintf(
			"The folder %s holds no Workload: %d YAML files, and in them %d documents of other kinds. Check the registration's path, and the documents' apiVersion and kind.",
			v.location.Path, len(c.files), others)))
	}
}

func (v *registrationResult) skipped(o fleet.Object) Problem {
	f := v.problem("Object passed over", fmt.Sprintf("A registration hands in Workloads alone. The %s %q is passed over: it belongs in the control plane.",
		o.Kind(), o.Metadata().Name))
	f.Severity, f.File, f.Line = fleet.Warning, o.Metadata().Origin.Key, o.Metadata().Origin.Line
	return f
}

// prepare gives the Workload the workspace of its registration, and says what is wrong with it. Nothing that the team
// claims in the labels counts: neither a workspace nor, in Flux's own labels, another registration.
func (a *foundWorkload) prepare() Problems {
	w, registration := a.workload, a.via.registration
	ps := w.Validate()
	for i, schema := range allSchemas(w) {
		if err := configure.CheckSchema(schema); err != nil {
			ps = append(ps, fleet.Problem{
				Kind: w.Kind(), Name: w.Name, Origin: w.Origin, Summary: "Invalid JSON Schema",
				Detail: fmt.Sprintf("Schema %d of its targets and its own: %s", i+1, fleet.Sentence(err)), Err: err,
			})
		}
	}
	if claimed, ok := w.Labels[fleet.WorkspaceLabel]; ok && claimed != registration.Workspace {
		ps = append(ps, fleet.Problem{
			Severity: fleet.Warning, Kind: w.Kind(), Name: w.Name, Origin: w.Origin, Summary: "Workspace claimed",
			Detail: fmt.Sprintf("Its label says workspace %q. The registration's counts, which is %q.", claimed, registration.Workspace),
		})
	}
	labels := maps.Clone(w.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	for _, label := range []string{fleet.WorkspaceLabel, fleet.FluxOwnerLabel, fleet.FluxNamespaceLabel} {
		delete(labels, label)
	}
	if registration.Workspace != "" {
		labels[fleet.WorkspaceLabel] = registration.Workspace
	}
	w.Labels = labels
	text, err := fleet.MarshalYAML(w)
	if err != nil {
		ps = append(ps, fleet.Problem{Kind: w.Kind(), Name: w.Name, Origin: w.Origin, Summary: "The object can't be written as YAML", Detail: fleet.Sentence(err), Err: err})
	}
	a.text = text
	return fromFleetProblems(a.via.location, registration.Name, ps)
}

func allSchemas(w *fleet.Workload) []string {
	var all []string
	for _, t := range w.Targets {
		all = append(all, t.ConfigSchemas...)
	}
	return append(all, w.ConfigSchemas...)
}
