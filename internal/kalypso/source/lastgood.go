package source

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
)

// fallBack reads the registrations that are broken at the commits that the last delivery names for them. One that is
// pinned stays broken: whoever pinned it wants that commit and no other.
func (r *Reader) fallBack(ctx context.Context, all []*visited, lastGood func(context.Context) ([]Origin, error)) {
	taken := contested(all)
	if len(taken) == 0 && !slices.ContainsFunc(all, (*visited).mayFallBack) {
		return
	}
	origins, err := lastGood(ctx)
	for _, a := range taken {
		// Whose Workload was delivered keeps the name. Where nobody can go back, it stays an error.
		v := a.via
		if commits, rival := deliveredAt(v, all, origins); len(commits) == 1 && rival == nil && !v.pinned && !v.delivered(a.workload.Name, all, origins) {
			v.faults = append(v.faults, a.twice(a.rival))
		}
	}
	var broken []*visited
	for _, v := range all {
		if v.mayFallBack() {
			broken = append(broken, v)
		}
	}
	if err != nil {
		for _, v := range broken {
			v.note("The last good commit can't be told: " + fleet.Sentence(err))
		}
		return
	}
	again := map[*visited]*visited{}
	var second []*visited
	for _, v := range broken {
		commits, rival := deliveredAt(v, all, origins)
		switch {
		case len(commits) == 0:
			v.note("No commit of it was delivered before, so there is no last good one.")
		case rival != nil:
			v.note(fmt.Sprintf("It can't be told whether it or registration %q, which has the same folder, was delivered from commit %s. Name one in pins.",
				rival.registration.Name, strings.Join(commits, ", ")))
		case len(commits) == 1:
			place := v.place
			place.Commit = commits[0]
			again[v] = &visited{registration: v.registration, place: place}
			second = append(second, again[v])
		default:
			v.note("It was delivered from several commits, so the last good one can't be told: " + strings.Join(commits, ", ") + ". Name one in pins.")
		}
	}
	r.visit(ctx, second)
	for _, v := range broken {
		good := again[v]
		switch {
		case good == nil:
		case good.faults.HasErrors():
			v.note(fmt.Sprintf("At commit %s, which was delivered last, it is broken too: %s", good.place.Commit, good.faults[0].Detail))
		default:
			v.replace(good)
		}
	}
}

// note adds to what is said of each of the errors.
func (v *visited) note(text string) {
	for i := range v.faults {
		if v.faults[i].Severity == fleet.Error {
			v.faults[i].Detail += " " + text
		}
	}
}

// replace takes what was found at the last good commit instead of what is broken, with a warning.
func (v *visited) replace(good *visited) {
	v.faults = slices.DeleteFunc(v.faults, func(f Fault) bool { return f.Severity != fleet.Error })
	for i := range v.faults {
		v.faults[i].Severity = fleet.Warning
		v.faults[i].Detail += fmt.Sprintf(" The registration is read at commit %s instead, which was delivered last.", good.place.Commit)
	}
	v.faults = append(v.faults, good.faults...)
	v.place, v.workloads = good.place, good.workloads
	for _, a := range v.workloads {
		a.via = v
	}
}

// mayFallBack reports whether a registration is broken, and not pinned.
func (v *visited) mayFallBack() bool { return v.read && v.faults.HasErrors() && !v.pinned }

// contested are the Workloads that sound registrations have under one name, each with a rival.
func contested(all []*visited) []*arrival {
	byName := map[string][]*arrival{}
	for _, v := range all {
		for _, a := range v.workloads {
			if !v.faults.HasErrors() {
				byName[a.workload.Name] = append(byName[a.workload.Name], a)
			}
		}
	}
	var taken []*arrival
	for _, name := range sortedKeys(byName) {
		for i, a := range byName[name] {
			if others := byName[name]; len(others) > 1 {
				a.rival = others[(i+1)%len(others)]
				taken = append(taken, a)
			}
		}
	}
	return taken
}

// delivered reports whether the origins have a Workload of this name from the registration.
func (v *visited) delivered(name string, all []*visited, origins []Origin) bool {
	return slices.ContainsFunc(origins, func(o Origin) bool { return o.Name == name && v.owns(o, all) })
}

// deliveredAt are the commits at which the origins have Workloads of a registration, sorted. A registration is delivered
// from one commit, so where another one has the same folder, by another branch, the names of its Workloads show which
// commit is that one's; where they show none, it is the rival, and the commits may be its.
func deliveredAt(v *visited, all []*visited, origins []Origin) (commits []string, rival *visited) {
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
			if slices.ContainsFunc(other.workloads, func(a *arrival) bool { return a.workload.Name == o.Name }) {
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
func (v *visited) owns(origin Origin, all []*visited) bool {
	nearer := func(other *visited) bool { return other.holds(origin) && len(other.folder()) > len(v.folder()) }
	return v.holds(origin) && !slices.ContainsFunc(all, nearer)
}

func (v *visited) holds(origin Origin) bool {
	return repoKey(origin.Repo) == repoKey(v.place.Repo) && (v.folder() == "." || strings.HasPrefix(origin.Path, v.folder()+"/"))
}

func (v *visited) sameFolder(other *visited) bool {
	return repoKey(v.place.Repo) == repoKey(other.place.Repo) && v.folder() == other.folder()
}

// folder is the registration's path in the form that compares.
func (v *visited) folder() string {
	folder, err := cleanPath(v.place.Path)
	if err != nil {
		return v.place.Path
	}
	return folder
}
