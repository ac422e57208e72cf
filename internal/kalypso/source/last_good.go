package source

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
)

// readLastGood reads the registrations that are broken at the commits that the last delivery names for them. One that is
// pinned stays broken: whoever pinned it wants that commit and no other.
func (r *Reader) readLastGood(ctx context.Context, all []*registrationResult, lastGood func(context.Context) ([]Origin, error)) {
	taken := duplicateWorkloads(all)
	if len(taken) == 0 && !slices.ContainsFunc(all, (*registrationResult).canFallBack) {
		return
	}
	origins, err := lastGood(ctx)
	for _, a := range taken {
		// Whose Workload was delivered keeps the name. Where nobody can go back, it stays an error.
		v := a.via
		if commits, rival := deliveredAt(v, all, origins); len(commits) == 1 && rival == nil && !v.pinned && !v.delivered(a.workload.Name, all, origins) {
			v.problems = append(v.problems, a.duplicateProblem(a.duplicate))
		}
	}
	var broken []*registrationResult
	for _, v := range all {
		if v.canFallBack() {
			broken = append(broken, v)
		}
	}
	if err != nil {
		for _, v := range broken {
			v.addNote("The last good commit can't be told: " + fleet.Sentence(err))
		}
		return
	}
	again := map[*registrationResult]*registrationResult{}
	var second []*registrationResult
	for _, v := range broken {
		commits, rival := deliveredAt(v, all, origins)
		switch {
		case len(commits) == 0:
			v.addNote("No commit of it was delivered before, so there is no last good one.")
		case rival != nil:
			v.addNote(fmt.Sprintf("It can't be told whether it or registration %q, which has the same folder, was delivered from commit %s. Name one in pins.",
				rival.registration.Name, strings.Join(commits, ", ")))
		case len(commits) == 1:
			place := v.location
			place.Commit = commits[0]
			again[v] = &registrationResult{registration: v.registration, location: place}
			second = append(second, again[v])
		default:
			v.addNote("It was delivered from several commits, so the last good one can't be told: " + strings.Join(commits, ", ") + ". Name one in pins.")
		}
	}
	r.readRegistrations(ctx, second)
	for _, v := range broken {
		good := again[v]
		switch {
		case good == nil:
		case good.problems.HasErrors():
			v.addNote(fmt.Sprintf("At commit %s, which was delivered last, it is broken too: %s", good.location.Commit, good.problems[0].Detail))
		default:
			v.replace(good)
		}
	}
}

// addNote adds to what is said of each of the errors.
func (v *registrationResult) addNote(text string) {
	for i := range v.problems {
		if v.problems[i].Severity == fleet.Error {
			v.problems[i].Detail += " " + text
		}
	}
}

// replace takes what was found at the last good commit instead of what is broken, with a warning.
func (v *registrationResult) replace(good *registrationResult) {
	v.problems = slices.DeleteFunc(v.problems, func(f Problem) bool { return f.Severity != fleet.Error })
	for i := range v.problems {
		v.problems[i].Severity = fleet.Warning
		v.problems[i].Detail += fmt.Sprintf(" The registration is read at commit %s instead, which was delivered last.", good.location.Commit)
	}
	v.problems = append(v.problems, good.problems...)
	v.location, v.workloads = good.location, good.workloads
	for _, a := range v.workloads {
		a.via = v
	}
}

// canFallBack reports whether a registration is broken, and not pinned.
func (v *registrationResult) canFallBack() bool { return v.read && v.problems.HasErrors() && !v.pinned }

// duplicateWorkloads are the Workloads that sound registrations have under one name, each with a rival.
func duplicateWorkloads(all []*registrationResult) []*foundWorkload {
	byName := map[string][]*foundWorkload{}
	for _, v := range all {
		for _, a := range v.workloads {
			if !v.problems.HasErrors() {
				byName[a.workload.Name] = append(byName[a.workload.Name], a)
			}
		}
	}
	var taken []*foundWorkload
	for _, name := range sortedKeys(byName) {
		for i, a := range byName[name] {
			if others := byName[name]; len(others) > 1 {
				a.duplicate = others[(i+1)%len(others)]
				taken = append(taken, a)
			}
		}
	}
	return taken
}

// delivered reports whether the origins have a Workload of this name from the registration.
func (v *registrationResult) delivered(name string, all []*registrationResult, origins []Origin) bool {
	return slices.ContainsFunc(origins, func(o Origin) bool { return o.Name == name && v.owns(o, all) })
}

// deliveredAt are the commits at which the origins have Workloads of a registration, sorted. A registration is delivered
// from one commit, so where another one has the same folder, by another branch, the names of its Workloads show which
// commit is that one's; where they show none, it is the rival, and the commits may be its.
func deliveredAt(v *registrationResult, all []*registrationResult, origins []Origin) (commits []string, rival *registrationResult) {
	var owned []Origin
	for _, o := range origins {
		if v.owns(o, all) {
			owned, commits = append(owned, o), append(commits, o.Commit)
		}
	}
	slices.Sort(commits)
	commits = slices.Compact(commits)
	for _, other := range all {
		if other == v || !other.sameFolder(v) {
			continue
		}
		var theirs []string
		for _, o := range owned {
			if slices.ContainsFunc(other.workloads, func(a *foundWorkload) bool { return a.workload.Name == o.Name }) {
				theirs = append(theirs, o.Commit)
			}
		}
		if len(theirs) == 0 {
			rival = other
		}
		commits = slices.DeleteFunc(commits, func(commit string) bool { return slices.Contains(theirs, commit) })
	}
	return commits, rival
}

// owns reports whether an origin lies in the registration's folder, and not in a nearer one of another registration.
func (v *registrationResult) owns(origin Origin, all []*registrationResult) bool {
	nearer := func(other *registrationResult) bool {
		return other.contains(origin) && len(other.folder()) > len(v.folder())
	}
	return v.contains(origin) && !slices.ContainsFunc(all, nearer)
}

func (v *registrationResult) contains(origin Origin) bool {
	return repoKey(origin.Repo) == repoKey(v.location.Repo) && (v.folder() == "." || strings.HasPrefix(origin.Path, v.folder()+"/"))
}

func (v *registrationResult) sameFolder(other *registrationResult) bool {
	return repoKey(v.location.Repo) == repoKey(other.location.Repo) && v.folder() == other.folder()
}

// folder is the registration's path in the form that compares.
func (v *registrationResult) folder() string {
	folder, err := cleanPath(v.location.Path)
	if err != nil {
		return v.location.Path
	}
	return folder
}
