package deployment

import (
	"slices"
	"time"
)

// Commit is one commit of a branch's history.
type Commit struct {
	Hash    string
	Parents []string
	Time    time.Time // the committer's
}

// History is the commits of a branch, as far back as they were read, and the trees of folders in them. It answers whether
// what a cluster synced is what the branch holds.
type History struct {
	commits []Commit // all that head leads to, each after its children
	at      map[string]int
	parents [][]int
	// beyond are the parents that were not read. A commit that does not lead to all of them may be older than one of them.
	beyond  []string
	settled []bool // by commit: all that came after it was read
	tree    func(commit, folder string) string
	same    map[string][]bool    // by folder, see unchanged
	changes map[string]time.Time // by folder, see LastChange
}

// NewHistory returns the history of a head. tree gives the hash of a folder in a commit; "" where it is not there, or was
// not read.
func NewHistory(head string, commits []Commit, tree func(commit, folder string) string) *History {
	h := &History{at: map[string]int{}, tree: tree, same: map[string][]bool{}, changes: map[string]time.Time{}}
	h.sort(head, commits)
	h.parents = make([][]int, len(h.commits))
	missing := map[string]int{}
	for i, c := range h.commits {
		for _, p := range c.Parents {
			if j, read := h.at[p]; read {
				h.parents[i] = append(h.parents[i], j)
			} else if _, twice := missing[p]; !twice {
				missing[p] = len(h.beyond)
				h.beyond = append(h.beyond, p)
			}
		}
	}
	h.settle(missing)
	return h
}

// sort puts what head leads to in an order in which each commit follows its children.
func (h *History) sort(head string, commits []Commit) {
	all := make(map[string]Commit, len(commits))
	for _, c := range commits {
		all[c.Hash] = c
	}
	children := map[string]int{head: 0}
	queue := []string{head}
	for len(queue) > 0 {
		c := all[queue[0]]
		queue = queue[1:]
		for _, p := range slices.Compact(slices.Sorted(slices.Values(c.Parents))) {
			if _, read := all[p]; !read {
				continue
			}
			if _, met := children[p]; !met {
				queue = append(queue, p)
			}
			children[p]++
		}
	}
	ready := []string{head}
	for len(ready) > 0 {
		c, read := all[ready[0]]
		ready = ready[1:]
		if !read {
			continue
		}
		h.at[c.Hash] = len(h.commits)
		h.commits = append(h.commits, c)
		for _, p := range slices.Compact(slices.Sorted(slices.Values(c.Parents))) {
			if n, met := children[p]; met {
				if children[p] = n - 1; n == 1 {
					ready = append(ready, p)
				}
			}
		}
	}
}

// settle finds the commits that lead to all that was not read: what was not read came before them.
func (h *History) settle(missing map[string]int) {
	h.settled = make([]bool, len(h.commits))
	words := (len(h.beyond) + 63) / 64
	leads := make([][]uint64, len(h.commits))
	for i := len(h.commits) - 1; i >= 0; i-- { // parents first
		leads[i] = make([]uint64, words)
		for _, p := range h.commits[i].Parents {
			if j, read := h.at[p]; read {
				for w := range leads[i] {
					leads[i][w] |= leads[j][w]
				}
			} else {
				n := missing[p]
				leads[i][n/64] |= 1 << (n % 64)
			}
		}
		h.settled[i] = true
		for n := range h.beyond {
			h.settled[i] = h.settled[i] && leads[i][n/64]&(1<<(n%64)) != 0
		}
	}
}

// Len is the number of commits that were read.
func (h *History) Len() int { return len(h.commits) }

// Has reports whether a commit was read, as one that the head leads to.
func (h *History) Has(commit string) bool {
	_, ok := h.at[commit]
	return ok
}

// Whole reports whether the history was read to its beginning.
func (h *History) Whole() bool { return len(h.beyond) == 0 }

// After are the commits from each of these on to the head, themselves among them: all that the branch can have been at
// since. Commits that were not read are left out.
func (h *History) After(commits []string) []string {
	marked := make([]bool, len(h.commits))
	for _, c := range commits {
		if i, read := h.at[c]; read {
			marked[i] = true
		}
	}
	for i := len(h.commits) - 1; i >= 0; i-- { // parents first
		for _, p := range h.parents[i] {
			marked[i] = marked[i] || marked[p]
		}
	}
	var after []string
	for i, c := range h.commits {
		if marked[i] {
			after = append(after, c.Hash)
		}
	}
	return after
}

// FirstParents are the commits along first parents, from the head on.
func (h *History) FirstParents() []string {
	var all []string
	for i := 0; i < len(h.commits); {
		c := h.commits[i]
		all = append(all, c.Hash)
		if len(c.Parents) == 0 {
			break
		}
		next, read := h.at[c.Parents[0]]
		if !read {
			break
		}
		i = next
	}
	return all
}

// LastChange is when a folder came to be as it is at head: the time of the commit, along first parents. Where the history
// was not read that far back, it is that of the oldest commit that was read: the change is no younger.
func (h *History) LastChange(folder string) time.Time {
	if at, known := h.changes[folder]; known {
		return at
	}
	chain := h.FirstParents()
	if len(chain) == 0 {
		return time.Time{}
	}
	want, at := h.tree(chain[0], folder), chain[0]
	for _, c := range chain[1:] {
		if h.tree(c, folder) != want {
			break
		}
		at = c
	}
	h.changes[folder] = h.commits[h.at[at]].Time
	return h.changes[folder]
}

// unchanged tells of each commit whether a folder is in it as at head, and in all commits between the two: a cluster that
// synced it has synced nothing else since. Equal trees alone would not tell: a folder that went from A to B and back to A
// proves nothing of a cluster that reports the first A.
func (h *History) unchanged(folder string) []bool {
	if same, known := h.same[folder]; known {
		return same
	}
	same := make([]bool, len(h.commits))
	for i := range same {
		same[i] = true
	}
	want := ""
	if len(h.commits) > 0 {
		want = h.tree(h.commits[0].Hash, folder)
	}
	for i, c := range h.commits { // children first
		same[i] = same[i] && want != "" && h.tree(c.Hash, folder) == want
		for _, p := range h.parents[i] {
			same[p] = same[p] && same[i]
		}
	}
	h.same[folder] = same
	return same
}

// standing is what a commit is to a folder at head.
type standing int

const (
	isCurrent  standing = iota // the folder is the same, and was all the time since
	isOlder                    // the folder was another one, then or since
	isBeyond                   // not among the commits that were read
	isNowhere                  // all commits were read, and it is not among them
	isUnproven                 // it was read, and not all that came after it
)

func (h *History) standing(commit, folder string) standing {
	i, read := h.at[commit]
	switch {
	case !read && h.Whole():
		return isNowhere
	case !read:
		return isBeyond
	case !h.unchanged(folder)[i]:
		return isOlder
	case !h.settled[i]:
		return isUnproven
	}
	return isCurrent
}
