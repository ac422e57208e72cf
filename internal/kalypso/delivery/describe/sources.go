package describe

import (
	"cmp"
	"maps"
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/origin"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/sets"
)

// PromotionChange is a change of the promoted commit. "" means none.
type PromotionChange struct {
	Repo        string // the repo of the commits; "" if unknown
	From, To    string
	Explanation string // of several lines; "": not recorded
}

// SourceChange is a change of the commit that a repo is read at.
type SourceChange struct {
	Repo     string
	From, To string   // commits; "" means none
	Paths    []string // of the affected files, sorted
	// Registrations are the known registrations that read the repo, sorted.
	Registrations []string
}

// file is an object's file in a repo, with the object's name if the file contains several.
type file struct{ repo, path string }

// SourceChanges compares the origins of two records, and returns the repos whose commit changed. It skips origins whose
// commits are not known.
func SourceChanges(before, after []origin.Origin) []SourceChange {
	type way struct{ repo, from, to string }
	old, now := commitsOf(before), commitsOf(after)
	paths := map[way][]string{}
	for f := range sets.Keys(old, now) {
		for _, m := range changedCommits(old[f], now[f]) {
			w := way{f.repo, m.From, m.To}
			paths[w] = append(paths[w], f.path)
		}
	}
	var moves []SourceChange
	for w, p := range paths {
		slices.Sort(p)
		moves = append(moves, SourceChange{Repo: w.repo, From: w.from, To: w.to, Paths: p})
	}
	slices.SortFunc(moves, func(a, b SourceChange) int {
		return cmp.Or(cmp.Compare(a.Repo, b.Repo), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	return moves
}

// reading describes how a file was read: the branch, and the registration or base if the branch was read at several
// commits.
type reading struct{ branch, via string }

// commitsOf returns the commits at which files were read.
func commitsOf(origins []origin.Origin) map[file]map[reading]string {
	commits := map[file]map[reading]string{}
	for _, o := range origins {
		if o.Commit == "" {
			continue
		}
		f := file{o.Repo, o.File()}
		if commits[f] == nil {
			commits[f] = map[reading]string{}
		}
		commits[f][reading{o.Branch, o.Via}] = o.Commit
	}
	return commits
}

// changedCommits compares the commits at which one file was read. A file that was read once before and once now is
// compared even if the branch changed.
func changedCommits(old, now map[reading]string) []SourceChange {
	if len(old) == 1 && len(now) == 1 {
		m := SourceChange{From: slices.Collect(maps.Values(old))[0], To: slices.Collect(maps.Values(now))[0]}
		if m.From == m.To {
			return nil
		}
		return []SourceChange{m}
	}
	var moves []SourceChange
	for r := range sets.Keys(old, now) {
		if old[r] != now[r] {
			moves = append(moves, SourceChange{From: old[r], To: now[r]})
		}
	}
	return moves
}
