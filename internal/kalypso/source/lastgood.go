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
	var broken []*visited
	for _, v := range all {
		if v.read && v.faults.HasErrors() && !v.pinned {
			broken = append(broken, v)
		}
	}
	if len(broken) == 0 {
		return
	}
	origins, err := lastGood(ctx)
	if err != nil {
		for _, v := range broken {
			v.note("The last good commit can't be told: " + fleet.Sentence(err))
		}
		return
	}
	again := map[*visited]*visited{}
	var second []*visited
	for _, v := range broken {
		switch commits := deliveredAt(v, all, origins); len(commits) {
		case 0:
			v.note("No commit of it was delivered before, so there is no last good one.")
		case 1:
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
		v.faults[i].Detail += fmt.Sprintf(" It is read at commit %s instead, which was delivered last.", good.place.Commit)
	}
	v.faults = append(v.faults, good.faults...)
	v.place, v.workloads = good.place, good.workloads
	for _, a := range v.workloads {
		a.via = v
	}
}

// deliveredAt are the commits at which the origins have Workloads of a registration, sorted: what lies in its folder, and
// not in a nearer one of another registration.
func deliveredAt(v *visited, all []*visited, origins []Origin) []string {
	var commits []string
	for _, origin := range origins {
		nearer := func(other *visited) bool { return other.holds(origin) && len(other.folder()) > len(v.folder()) }
		if v.holds(origin) && !slices.ContainsFunc(all, nearer) {
			commits = append(commits, origin.Commit)
		}
	}
	slices.Sort(commits)
	return slices.Compact(commits)
}

func (v *visited) holds(origin Origin) bool {
	return repoKey(origin.Repo) == repoKey(v.place.Repo) && (v.folder() == "." || strings.HasPrefix(origin.Path, v.folder()+"/"))
}

// folder is the registration's path in the form that compares.
func (v *visited) folder() string {
	folder, err := cleanPath(v.place.Path)
	if err != nil {
		return v.place.Path
	}
	return folder
}
