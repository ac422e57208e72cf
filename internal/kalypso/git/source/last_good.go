package source

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/giturl"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/origin"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// readLastGood reads broken registrations at their last delivered commits. A pinned registration stays broken: a pin
// asks for exactly that commit.
func (r *Reader) readLastGood(ctx context.Context, all []*registrationResult, f FollowOptions) {
	if len(duplicateWorkloads(all)) == 0 && !slices.ContainsFunc(all, (*registrationResult).canFallBack) {
		return
	}
	origins, err := f.LastGood(ctx, f.GitOpsRepo)
	r.fallBack(ctx, all, origins, err)
	for breakNewcomers(all, origins) {
		r.fallBack(ctx, all, origins, err)
	}
}

// breakNewcomers adds an error to each registration with a Workload whose name another registration delivered. If no
// registration delivered the name, it adds the error to those that can fall back. It reports whether it added any.
func breakNewcomers(all []*registrationResult, origins []origin.Origin) bool {
	broke := false
	for _, same := range duplicateWorkloads(all) {
		delivered := func(a *foundWorkload) bool { return a.via.delivered(a.workload.Name, all, origins) }
		owner := slices.IndexFunc(same, delivered)
		for i, a := range same {
			commit, _ := a.via.lastGoodCommit(all, origins)
			switch {
			case owner >= 0 && !delivered(a):
				a.via.problems = append(a.via.problems, a.duplicateProblem(same[owner], true))
			case owner < 0 && commit != "" && !a.via.pinned && !a.via.fellBack:
				a.via.problems = append(a.via.problems, a.duplicateProblem(same[(i+1)%len(same)], false))
			default:
				continue
			}
			broke = true
		}
	}
	return broke
}

// fallBack reads the broken registrations at their last good commits. It does so once for each registration.
func (r *Reader) fallBack(ctx context.Context, all []*registrationResult, origins []origin.Origin, err error) {
	var broken, good []*registrationResult // good are the same registrations at their last good commits
	for _, v := range all {
		if !v.canFallBack() {
			continue
		}
		v.fellBack = true
		commit, why := v.lastGoodCommit(all, origins)
		if err != nil {
			commit, why = "", "The last good commit can't be determined: "+problem.Sentence(err)
		}
		if commit == "" {
			v.addNote(why)
			continue
		}
		location := v.location
		location.Commit = commit
		broken = append(broken, v)
		good = append(good, &registrationResult{registration: v.registration, location: location})
	}
	r.readRegistrations(ctx, good)
	for i, v := range broken {
		if now := good[i]; now.problems.HasErrors() {
			now.problems.Sort() // errors first
			v.addNote(fmt.Sprintf("The last delivered commit %s is broken too: %s", now.location.Commit, now.problems[0].Detail))
		} else {
			v.replace(now)
		}
	}
}

// lastGoodCommit returns the commit from which a registration was last delivered, or "" and the reason why it can't be
// determined.
func (v *registrationResult) lastGoodCommit(
	all []*registrationResult, origins []origin.Origin,
) (commit, why string) {
	withoutCommit := func(o origin.Origin) bool { return o.Commit == "" && v.owns(o, all) }
	switch commits, rival := deliveredAt(v, all, origins); {
	case len(commits) == 0 && slices.ContainsFunc(origins, withoutCommit):
		return "", "It was delivered before, but the record does not name the commit. Set the rendering's sources too."
	case len(commits) == 0:
		return "", "No commit of this registration was delivered before, so there is no last good commit."
	case rival != nil:
		return "", fmt.Sprintf("Registration %q reads the same folder, so it can't be determined which of the two was "+
			"delivered from commit %s. Name a commit in pins.", rival.registration.Name, strings.Join(commits, ", "))
	case len(commits) > 1:
		return "", "It was delivered from several commits, so the last good commit can't be determined: " +
			strings.Join(commits, ", ") + ". Name one in pins."
	default:
		return commits[0], ""
	}
}

// addNote appends text to the detail of each error.
func (v *registrationResult) addNote(text string) {
	for i := range v.problems {
		if v.problems[i].Severity == problem.Error {
			v.problems[i].Detail += " " + text
		}
	}
}

// replace adopts the result of the last good commit, and turns the errors into warnings.
func (v *registrationResult) replace(good *registrationResult) {
	v.problems = slices.DeleteFunc(v.problems, func(f Problem) bool { return f.Severity != problem.Error })
	for i := range v.problems {
		v.problems[i].Severity = problem.Warning
		v.problems[i].Detail += fmt.Sprintf(" The last delivered commit %s is read instead.", good.location.Commit)
	}
	v.problems = append(v.problems, good.problems...)
	v.location, v.workloads = good.location, good.workloads
	for _, a := range v.workloads {
		a.via = v
	}
}

// canFallBack reports whether a registration is broken and not pinned, and did not fall back yet.
func (v *registrationResult) canFallBack() bool {
	return v.read && v.problems.HasErrors() && !v.pinned && !v.fellBack
}

// duplicateWorkloads returns the Workloads whose name occurs in several registrations without errors, grouped by name.
func duplicateWorkloads(all []*registrationResult) [][]*foundWorkload {
	byName := map[string][]*foundWorkload{}
	for _, v := range all {
		for _, a := range v.workloads {
			if !v.problems.HasErrors() {
				byName[a.workload.Name] = append(byName[a.workload.Name], a)
			}
		}
	}
	var groups [][]*foundWorkload
	for _, name := range sortedKeys(byName) {
		if len(byName[name]) > 1 {
			groups = append(groups, byName[name])
		}
	}
	return groups
}

// delivered reports whether the origins contain a Workload of this name from the registration.
func (v *registrationResult) delivered(name string, all []*registrationResult, origins []origin.Origin) bool {
	return slices.ContainsFunc(origins, func(o origin.Origin) bool { return o.Name == name && v.owns(o, all) })
}

// deliveredAt returns the sorted commits that a registration was delivered from. A registration is delivered from one
// commit. If another registration reads the same folder from another branch, the origins may not distinguish the two.
// Then the names of the other registration's Workloads show which commits belong to it. If they do not show that,
// deliveredAt returns the other registration as rival, since the commits may belong to either of them.
func deliveredAt(
	v *registrationResult, all []*registrationResult, origins []origin.Origin,
) (commits []string, rival *registrationResult) {
	var owned []origin.Origin
	for _, o := range origins {
		if o.Commit != "" && v.owns(o, all) {
			owned, commits = append(owned, o), append(commits, o.Commit)
		}
	}
	slices.Sort(commits)
	commits = slices.Compact(commits)
	for _, other := range all {
		alike := func(o origin.Origin) bool { return other.likeness(o) == v.likeness(o) }
		if other == v || !other.sameFolder(v) || !slices.ContainsFunc(owned, alike) {
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

// owns reports whether an origin is in the registration's folder, and does not match another registration better.
func (v *registrationResult) owns(o origin.Origin, all []*registrationResult) bool {
	own := v.likeness(o)
	return own > 0 && !slices.ContainsFunc(all, func(other *registrationResult) bool {
		likeness := other.likeness(o)
		return likeness > own || likeness == own && len(other.folder()) > len(v.folder())
	})
}

// likeness rates how likely an origin belongs to the registration. It is 0 if the origin is outside of the
// registration's folder or names another registration.
func (v *registrationResult) likeness(o origin.Origin) int {
	switch {
	case !giturl.Same(o.Repo, v.location.Repo) || v.folder() != "." && !strings.HasPrefix(o.Path, v.folder()+"/"),
		o.Via != "" && o.Via != v.registration.Name:
		return 0
	case o.Via != "":
		return 4
	case o.Branch == v.location.Branch:
		return 3
	case o.Branch == "":
		return 2
	}
	return 1 // the registration may have had another branch
}

func (v *registrationResult) sameFolder(other *registrationResult) bool {
	return giturl.Same(v.location.Repo, other.location.Repo) && v.folder() == other.folder()
}

// folder returns the registration's path, cleaned for comparison.
func (v *registrationResult) folder() string {
	folder, err := cleanPath(v.location.Path)
	if err != nil {
		return v.location.Path
	}
	return folder
}
