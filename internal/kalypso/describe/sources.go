package describe

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
)

// Promotion is a change of the promoted commit. "" means none.
type Promotion struct {
	Repo     string // the repo of the commits; "" if unknown
	From, To string
}

// SourceChange is a change of the commit that a repo is read at.
type SourceChange struct {
	Repo     string
	From, To string   // commits; "" means none
	Paths    []string // of the affected files, sorted
	// Registrations are the known registrations that read the repo, sorted.
	Registrations []string
}

// origin matches an origin that names a commit: repo@commit:path[#name].
var origin = regexp.MustCompile(`^(.+?)@([0-9a-f]{40}):(.*)$`)

// SourceChanges compares the origins of two records, and returns the repos whose commit changed.
func SourceChanges(before, after []string) []SourceChange {
	type thing struct{ repo, path string }
	parse := func(origins []string) map[thing]string {
		commits := map[thing]string{}
		for _, text := range origins {
			if m := origin.FindStringSubmatch(text); m != nil {
				commits[thing{m[1], m[3]}] = m[2]
			}
		}
		return commits
	}
	type way struct{ repo, from, to string }
	old, now := parse(before), parse(after)
	paths := map[way][]string{}
	both := maps.Clone(old)
	maps.Copy(both, now)
	for t := range both {
		if old[t] != now[t] {
			w := way{t.repo, old[t], now[t]}
			paths[w] = append(paths[w], t.path)
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

// ReposAt returns the sorted repos whose origins name the commit.
func ReposAt(commit string, origins []string) []string {
	var repos []string
	for _, text := range origins {
		if m := origin.FindStringSubmatch(text); m != nil && m[2] == commit {
			repos = append(repos, m[1])
		}
	}
	slices.Sort(repos)
	return slices.Compact(repos)
}
