package source

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/configure"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet/fleetyaml"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/giturl"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/origin"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// FollowOptions configures how registrations are followed.
type FollowOptions struct {
	// Pins maps names of registrations to the commits to read instead of the branch heads.
	Pins map[string]string
	// LastGood returns the origins of the last delivery to the GitOpsRepo. A broken registration is read at the commit
	// from which it was last delivered. LastGood is called only if a registration is broken. If it is nil, a broken
	// registration is an error.
	LastGood   OriginsFunc
	GitOpsRepo *GitOpsRepo
	// AllowLocal lets registrations name local repos.
	AllowLocal bool
	// Verify checks the signatures of the commits; nil accepts every commit. If its mode is history, Delivered returns the
	// origins of the last delivery, or nil if there is none.
	Verify    *Verification
	Delivered OriginsFunc
}

// OriginsFunc returns the origins of the last delivery to a GitOpsRepo.
type OriginsFunc func(context.Context, *GitOpsRepo) ([]origin.Origin, error)

// GitOpsRepo is the destination of an environment's tree, as its control plane names it.
type GitOpsRepo struct{ Repo, Branch, Path string }

// Workloads reads each registration at its pin, or at the head of its branch. It reads all registrations, even after
// errors, and reports the problems of each. The result is a control plane with nothing but their Workloads.
func (r *Reader) Workloads(
	ctx context.Context, registrations []*fleet.WorkloadRegistration, f FollowOptions,
) *ControlPlane {
	cp, all := newControlPlane(), r.follow(ctx, registrations, f)
	cp.setSources(locationsOf(all))
	cp.addWorkloads(Location{}, all)
	return cp.finish(Location{}, r.limits.Total)
}

// follow reads the registrations.
func (r *Reader) follow(
	ctx context.Context, registrations []*fleet.WorkloadRegistration, f FollowOptions,
) []*registrationResult {
	all := newRegistrationResults(registrations, f)
	r.readRegistrations(ctx, all)
	r.verifyRegistrations(ctx, all, f)
	if f.LastGood != nil {
		r.readLastGood(ctx, all, f)
	}
	return all
}

// verifyRegistrations checks the signatures of the registrations' commits since the last delivery.
func (r *Reader) verifyRegistrations(ctx context.Context, all []*registrationResult, f FollowOptions) {
	locations := make([]Location, len(all))
	for i, v := range all {
		if !v.problems.HasErrors() {
			locations[i] = v.location
		}
	}
	for i, err := range r.verifyHistory(ctx, locations, f) {
		if err != nil {
			all[i].problems = append(all[i].problems, all[i].location.problem(all[i].registration.Name, err))
		}
	}
}

// locationsOf returns the locations of the registrations without errors.
func locationsOf(all []*registrationResult) []*Location {
	var locations []*Location
	for _, v := range all {
		if !v.problems.HasErrors() {
			locations = append(locations, &v.location)
		}
	}
	return locations
}

// addWorkloads adds the Workloads behind the registrations of the control plane at a location. Each gets the key of its
// file and its name, with its document in the registration's workspace.
func (cp *ControlPlane) addWorkloads(at Location, registrations []*registrationResult) {
	byName := map[string]*foundWorkload{} // by the Workload's name
	for _, v := range registrations {
		cp.Problems = append(cp.Problems, v.problems...)
		if v.problems.HasErrors() {
			continue
		}
		cp.WorkloadCommits[v.registration.Name] = v.location.Commit
		for _, a := range v.workloads {
			name, key := a.workload.Name, v.location.key(a.workload.Origin.Key, a.workload.Name)
			other := byName[name]
			if other != nil {
				cp.Problems = append(cp.Problems, a.duplicateProblem(other, false), other.duplicateProblem(a, false))
				continue
			}
			if _, twice := cp.Manifests[key]; twice {
				cp.report(at, "Duplicate object", "The Workload %s comes from a registration and from the control plane "+
					"itself. List its folder in the control plane's %s.", key, ignoreFile)
			}
			byName[name], cp.Manifests[key] = a, a.text
			cp.Names[fleet.KindWorkload] = append(cp.Names[fleet.KindWorkload], name)
		}
	}
}

// registrationResult is a registration with the Workloads that were read through it.
type registrationResult struct {
	registration *fleet.WorkloadRegistration
	pinned       bool
	read         bool
	fellBack     bool // its last good commit was read or could not be determined
	location     Location
	workloads    []*foundWorkload
	problems     Problems
}

// foundWorkload is a Workload and the registration it came from.
type foundWorkload struct {
	via      *registrationResult
	workload *fleet.Workload
	text     string // the document, with the registration's workspace
}

// duplicateProblem reports that another Workload has the same name. With delivered, the last delivery contains the
// other one.
func (a *foundWorkload) duplicateProblem(other *foundWorkload, delivered bool) Problem {
	at, first := a.workload.Origin, other.workload.Origin
	here, there := a.via.registration.Name, other.via.registration.Name
	where := fmt.Sprintf("through registration %q, from %s, line %d", there, other.via.location.key(first.Key, ""),
		first.Line)
	var advice string
	switch {
	case other.via == a.via:
		where, advice = fmt.Sprintf("in %s, line %d", first.Key, first.Line), "Rename or remove one of them."
	case delivered:
		advice = "The last delivery contains that one. Rename or remove this one."
	default:
		advice = fmt.Sprintf("It is not known which of the registrations %q and %q delivered it, so either may be wrong. "+
			"Rename or remove one of them.", here, there)
	}
	p := a.via.problem("Duplicate workload",
		fmt.Sprintf("Workload %q already exists, %s. %s", a.workload.Name, where, advice))
	p.File, p.Line = at.Key, at.Line
	return p
}

// newRegistrationResults returns the registrations sorted by name, each with the location to read.
func newRegistrationResults(registrations []*fleet.WorkloadRegistration, f FollowOptions) []*registrationResult {
	var all []*registrationResult
	byName := map[string]*registrationResult{}
	for _, reg := range registrations {
		v := &registrationResult{
			registration: reg,
			location: Location{
				Repo: reg.Repo, Branch: reg.Branch, Path: reg.Path, NamedBy: reg.Origin.String(), name: reg.Name,
				Verify: f.Verify,
			},
		}
		all = append(all, v)
		if commit := f.Pins[reg.Name]; commit != "" {
			v.location.Commit, v.pinned = commit, true
		}
		for _, p := range fromFleetProblems(v.location, reg.Name, reg.Validate()) {
			p.File, p.Line = "", 0 // they are those of the registration, not of a file in its folder
			v.problems = append(v.problems, p)
		}
		if at, err := giturl.Parse(reg.Repo); err == nil && at.IsLocal() && !f.AllowLocal {
			v.problems = append(v.problems, v.problem("Local repo in a registration", localRepo))
		}
		if first := byName[reg.Name]; first != nil && reg.Name != "" {
			v.problems = append(v.problems, v.problem("Duplicate registration", fmt.Sprintf("WorkloadRegistration %q is "+
				"defined twice: in %s and in %s. Rename or remove one of them.",
				reg.Name, first.registration.Origin, reg.Origin)))
		}
		byName[reg.Name] = v
	}
	slices.SortStableFunc(all, func(a, b *registrationResult) int {
		return strings.Compare(a.registration.Name, b.registration.Name)
	})
	for _, name := range sortedKeys(f.Pins) {
		if byName[name] == nil && f.Pins[name] != "" {
			existing := cmp.Or(strings.Join(sortedKeys(byName), ", "), "none")
			all = append(all, &registrationResult{registration: &fleet.WorkloadRegistration{}, problems: Problems{{
				Summary: "Pinned commit without a registration", Detail: fmt.Sprintf(
					"pins names the registration %q, which does not exist. Existing registrations: %s.", name, existing),
			}}})
		}
	}
	return all
}

// localRepo is the detail of the problem for a registration of a local repo.
const localRepo = "The registration names a repo on the machine that runs Terraform. The author of a registration " +
	"must not choose which local files are read. Name a repo on a server, or set allow_local_repos = true in the " +
	"provider's configuration."

func (v *registrationResult) problem(summary, detail string) Problem {
	return Problem{Registration: v.registration.Name, Location: v.location, Summary: summary, Detail: detail}
}

// readRegistrations reads the registrations that have no error.
func (r *Reader) readRegistrations(ctx context.Context, all []*registrationResult) {
	var asked []*registrationResult
	var locations []Location
	for _, v := range all {
		if !v.problems.HasErrors() {
			asked, locations = append(asked, v), append(locations, v.location)
		}
	}
	for i, c := range r.read(ctx, locations) {
		asked[i].parse(ctx, c)
	}
}

// parse parses the documents of the registration's folder.
func (v *registrationResult) parse(ctx context.Context, c *contents) {
	v.location, v.read = c.location, true
	if c.err != nil {
		v.problems = append(v.problems, c.location.problem(v.registration.Name, c.err))
		return
	}
	v.problems = append(v.problems, c.problems(v.registration.Name)...)
	byName := map[string]*foundWorkload{}
	others := 0
	for _, at := range c.files {
		objects, passed, ps := fleetyaml.Parse(ctx, problem.Origin{Key: at}, c.text[at])
		if err := ctx.Err(); err != nil {
			v.problems = append(v.problems, c.location.problem(v.registration.Name, err))
			return
		}
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
			a := &foundWorkload{via: v, workload: w}
			if first := byName[w.Name]; first != nil && w.Name != "" {
				v.problems = append(v.problems, a.duplicateProblem(first, false))
				continue
			}
			byName[w.Name] = a
			v.workloads = append(v.workloads, a)
			v.problems = append(v.problems, a.prepare()...)
		}
	}
	if len(v.workloads) == 0 && !v.problems.HasErrors() {
		v.problems = append(v.problems, v.problem("No workload", fmt.Sprintf(
			"The folder %s contains no Workload, only %d YAML files with %d documents of other kinds. Check the "+
				"registration's path, and the documents' apiVersion and kind.",
			v.location.Path, len(c.files), others)))
	}
}

func (v *registrationResult) skipped(o fleet.Object) Problem {
	f := v.problem("Object skipped",
		fmt.Sprintf("Only Workloads are read through a registration. The %s %q is skipped: it belongs in the control plane.",
			o.Kind(), o.Metadata().Name))
	f.Severity, f.File, f.Line = problem.Warning, o.Metadata().Origin.Key, o.Metadata().Origin.Line
	return f
}

// prepare sets the Workload's workspace to that of its registration, and returns its problems. It removes the team's
// own workspace label and Flux's owner labels, which could name another registration.
func (a *foundWorkload) prepare() Problems {
	w, registration := a.workload, a.via.registration
	ps := w.Validate()
	check := func(owner string, schemas []string) {
		for i, schema := range schemas {
			if err := configure.CheckSchema(schema); err != nil {
				ps = append(ps, fleet.ProblemOf(w, problem.Problem{
					Summary: "Invalid JSON Schema", Err: err,
					Detail: fmt.Sprintf("Config schema %d of %s: %s", i+1, owner, problem.Sentence(err)),
				}))
			}
		}
	}
	for _, t := range w.Targets {
		check(fmt.Sprintf("target %q", t.Name), t.ConfigSchemas)
	}
	check("the workload", w.ConfigSchemas)
	if claimed, ok := w.Labels[fleet.WorkspaceLabel]; ok && claimed != registration.Workspace {
		ps = append(ps, fleet.ProblemOf(w, problem.Problem{
			Severity: problem.Warning, Summary: "Workspace claimed",
			Detail: fmt.Sprintf("Its label names workspace %q. The registration's workspace %q is used instead.", claimed,
				registration.Workspace),
		}))
	}
	labels := map[string]string{}
	maps.Copy(labels, w.Labels)
	for _, label := range []string{fleet.WorkspaceLabel, fleet.FluxOwnerLabel, fleet.FluxNamespaceLabel} {
		delete(labels, label)
	}
	if registration.Workspace != "" {
		labels[fleet.WorkspaceLabel] = registration.Workspace
	}
	w.Labels = labels
	text, err := fleetyaml.Marshal(w)
	if err != nil {
		ps = append(ps, fleet.ProblemOf(w, problem.Problem{
			Summary: "Object can't be written as YAML", Detail: problem.Sentence(err), Err: err,
		}))
	}
	a.text = text
	return fromFleetProblems(a.via.location, registration.Name, ps)
}
