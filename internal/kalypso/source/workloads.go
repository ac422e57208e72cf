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

// Follow says how registrations are followed.
type Follow struct {
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
	Faults    Faults
}

// Workloads follows registrations: it reads each, at its pin or the head of its branch. All are tried, and all that is
// wrong with each is reported.
func (r *Reader) Workloads(ctx context.Context, registrations []*fleet.WorkloadRegistration, f Follow) *Workloads {
	all := followed(registrations, f)
	r.visit(ctx, all)
	if f.LastGood != nil {
		r.fallBack(ctx, all, f.LastGood)
	}
	result := &Workloads{Manifests: map[string]string{}, Commits: map[string]string{}}
	arrived := map[string]*arrival{} // Workload's name → where it came from
	for _, v := range all {
		result.Faults = append(result.Faults, v.faults...)
		if v.faults.HasErrors() {
			continue
		}
		result.Commits[v.registration.Name] = v.place.Commit
		for _, a := range v.workloads {
			name := a.workload.Name
			if first := arrived[name]; first != nil {
				result.Faults = append(result.Faults, a.twice(first))
				continue
			}
			arrived[name] = a
			result.Manifests[v.place.key(a.file, name)] = a.text
			result.Names = append(result.Names, name)
		}
	}
	slices.Sort(result.Names)
	if total := size(result.Manifests); total > r.limits.Total {
		result.Faults = append(result.Faults, tooMuch(Place{}, total, r.limits.Total))
	}
	result.Faults.Sort()
	return result
}

// visited is a registration with what was found behind it.
type visited struct {
	registration *fleet.WorkloadRegistration
	pinned       bool
	read         bool
	place        Place
	workloads    []*arrival
	faults       Faults
}

// arrival is a Workload with the registration that it came through.
type arrival struct {
	via      *visited
	workload *fleet.Workload
	file     string
	line     int
	text     string   // its document, with the registration's workspace
	rival    *arrival // of another registration, that has the same name
}

func (a *arrival) twice(first *arrival) Fault {
	where := fmt.Sprintf("in %s, line %d", first.file, first.line)
	if first.via != a.via {
		where = fmt.Sprintf("through registration %q, from %s, line %d", first.via.registration.Name, first.via.place.key(first.file, ""), first.line)
	}
	return Fault{
		Registration: a.via.registration.Name, Place: a.via.place, File: a.file, Line: a.line, Summary: "Duplicate workload",
		Detail: fmt.Sprintf("A Workload named %q is there already, %s. Rename or remove one of them.", a.workload.Name, where),
	}
}

// followed are the registrations, by name, with where they are read.
func followed(registrations []*fleet.WorkloadRegistration, f Follow) []*visited {
	var all []*visited
	byName := map[string]*visited{}
	for _, reg := range registrations {
		v := &visited{registration: reg, place: Place{Repo: reg.Repo, Branch: reg.Branch, Path: reg.Path, NamedBy: reg.Origin.String()}}
		all = append(all, v)
		if commit := f.Pins[reg.Name]; commit != "" {
			v.place.Commit, v.pinned = commit, true
		}
		v.faults = append(v.faults, v.wrong(reg.Validate())...)
		if at, err := gitremote.ParseURL(reg.Repo); err == nil && at.Local() && !f.AllowLocal {
			v.faults = append(v.faults, v.fault("Local repo in a registration", localRepo))
		}
		if first := byName[reg.Name]; first != nil && reg.Name != "" {
			v.faults = append(v.faults, v.fault("Duplicate registration", fmt.Sprintf("A WorkloadRegistration named %q is given twice: by %s and by %s. Rename or remove one of them.",
				reg.Name, first.registration.Origin, reg.Origin)))
		}
		byName[reg.Name] = v
	}
	slices.SortStableFunc(all, func(a, b *visited) int { return strings.Compare(a.registration.Name, b.registration.Name) })
	for _, name := range sortedKeys(f.Pins) {
		if byName[name] == nil && f.Pins[name] != "" {
			all = append(all, &visited{registration: &fleet.WorkloadRegistration{}, faults: Faults{{
				Summary: "Pin without registration",
				Detail:  fmt.Sprintf("pins names the registration %q, which is not there. There are: %s.", name, names(byName)),
			}}})
		}
	}
	return all
}

// localRepo is why a registration is refused that names a repo of this machine.
const localRepo = "The registration names a repo of the machine that runs Terraform. Whoever writes the registration would " +
	"choose what is read there. Name a repo on a server, or set allow_local_repos = true in the provider's configuration."

func names(set map[string]*visited) string {
	if len(set) == 0 {
		return "none"
	}
	return strings.Join(sortedKeys(set), ", ")
}

func (v *visited) fault(summary, detail string) Fault {
	return Fault{Registration: v.registration.Name, Place: v.place, Summary: summary, Detail: detail}
}

// wrong are problems of the registration itself.
func (v *visited) wrong(ps fleet.Problems) Faults {
	var fs Faults
	for _, p := range ps {
		f := v.fault(p.Summary, fmt.Sprintf("WorkloadRegistration %q: %s", v.registration.Name, p.Detail))
		f.Severity = p.Severity
		fs = append(fs, f)
	}
	return fs
}

// visit reads those of which nothing is known to be broken.
func (r *Reader) visit(ctx context.Context, all []*visited) {
	var asked []*visited
	var places []Place
	for _, v := range all {
		if !v.faults.HasErrors() {
			asked, places = append(asked, v), append(places, v.place)
		}
	}
	for i, c := range r.read(ctx, places) {
		asked[i].take(c)
	}
}

// take reads the documents of the registration's folder.
func (v *visited) take(c *contents) {
	v.place, v.read = c.place, true
	if c.err != nil {
		v.faults = append(v.faults, c.place.fault(v.registration.Name, c.err))
		return
	}
	v.faults = append(v.faults, c.faults(v.registration.Name)...)
	byName := map[string]*arrival{}
	others := 0
	for _, at := range c.files {
		objects, passed, ps := fleet.ParseYAML(fleet.Origin{Key: at}, c.text[at])
		v.faults = append(v.faults, ofProblems(v.place, v.registration.Name, ps)...)
		others += passed
		for _, o := range objects {
			w, ok := o.(*fleet.Workload)
			if !ok {
				others++
				if o.Kind() != fleet.KindConfig {
					v.faults = append(v.faults, v.passedOver(o))
				}
				continue
			}
			a := &arrival{via: v, workload: w, file: at, line: w.Origin.Line}
			if first := byName[w.Name]; first != nil && w.Name != "" {
				v.faults = append(v.faults, a.twice(first))
				continue
			}
			byName[w.Name] = a
			v.workloads = append(v.workloads, a)
			v.faults = append(v.faults, a.settle()...)
		}
	}
	if len(v.workloads) == 0 && !v.faults.HasErrors() {
		v.faults = append(v.faults, v.fault("No workload", fmt.Sprintf(
			"The folder %s holds no Workload: %d YAML files, and in them %d documents of other kinds. Check the registration's path, and the documents' apiVersion and kind.",
			v.place.Path, len(c.files), others)))
	}
}

func (v *visited) passedOver(o fleet.Object) Fault {
	f := v.fault("Object passed over", fmt.Sprintf("A registration hands in Workloads alone. The %s %q is passed over: it belongs in the control plane.",
		o.Kind(), o.Metadata().Name))
	f.Severity, f.File, f.Line = fleet.Warning, o.Metadata().Origin.Key, o.Metadata().Origin.Line
	return f
}

// settle gives the Workload the workspace of its registration, and says what is wrong with it. Nothing that the team
// claims in the labels counts: neither a workspace nor, in Flux's own labels, another registration.
func (a *arrival) settle() Faults {
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
	return ofProblems(a.via.place, registration.Name, ps)
}

func allSchemas(w *fleet.Workload) []string {
	var all []string
	for _, t := range w.Targets {
		all = append(all, t.ConfigSchemas...)
	}
	return append(all, w.ConfigSchemas...)
}
