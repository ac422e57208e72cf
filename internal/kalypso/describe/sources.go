package describe

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
)

// Promotion is the promoted commit before and now; "" for none.
type Promotion struct {
	Repo     string // where the commits lie; "" where that is not known
	From, To string
}

// SourceChange is a repo's way from one commit to another.
type SourceChange struct {
	Repo     string
	From, To string   // commits; "" for none
	Paths    []string // of what comes from there, sorted
	// Registrations are those through which it comes, sorted, as far as they are known.
	Registrations []string
}

// origin is the form of an origin that names a commit: repo@commit:path[#name].
var origin = regexp.MustCompile(`^(.+?)@([0-9a-f]{40}):(.*)$`)

// SourceChanges compares the origins that two records name: what came from one commit
// of a repo, and comes from another one now.
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

// ReposAt are the repos of which origins name the commit, sorted.
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
