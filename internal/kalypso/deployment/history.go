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

// History contains the commits of a branch, as far back as they were read, and the trees of folders in them. It shows
// whether a cluster synced the current content of the branch.
type History struct {
	commits []Commit // head and its ancestors, each after its children
	index   map[string]int
	parents [][]int
	// unread lists the parents that were not read. A commit that does not descend from all of them may be older than
	// one of them.
	unread     []string
	determined []bool // by commit: all that came after it was read
	tree       func(commit, folder string) string
	folders    map[string]*folderHistory // caches [History.folder]
}

// NewHistory returns the history of a head. tree returns the hash of a folder in a commit, or "" if it is absent or
// unread.
func NewHistory(head string, commits []Commit, tree func(commit, folder string) string) *History {
	h := &History{index: map[string]int{}, tree: tree, folders: map[string]*folderHistory{}}
	h.sort(head, commits)
	h.parents = make([][]int, len(h.commits))
	for i, c := range h.commits {
		for _, p := range c.Parents {
			if j, read := h.index[p]; read {
				h.parents[i] = append(h.parents[i], j)
			} else if !slices.Contains(h.unread, p) {
				h.unread = append(h.unread, p)
			}
		}
	}
	h.markDetermined()
	return h
}

// sort orders head and its ancestors so that each commit follows its children.
func (h *History) sort(head string, commits []Commit) {
	unvisited := make(map[string]Commit, len(commits))
	for _, c := range commits {
		unvisited[c.Hash] = c
	}
	var visit func(hash string)
	visit = func(hash string) {
		c, there := unvisited[hash]
		if !there {
			return
		}
		delete(unvisited, hash)
		for _, p := range c.Parents {
			visit(p)
		}
		h.commits = append(h.commits, c) // after its parents
	}
	visit(head)
	slices.Reverse(h.commits)
	for i, c := range h.commits {
		h.index[c.Hash] = i
	}
}

// markDetermined finds the commits that descend from all unread parents: every unread commit came before them.
func (h *History) markDetermined() {
	h.determined = slices.Repeat([]bool{true}, len(h.commits))
	for _, unread := range h.unread {
		after := make([]bool, len(h.commits))
		for i, c := range h.commits {
			after[i] = slices.Contains(c.Parents, unread)
		}
		h.markDescendants(after)
		for i := range h.determined {
			h.determined[i] = h.determined[i] && after[i]
		}
	}
}

// markDescendants also marks all descendants of the marked commits.
func (h *History) markDescendants(marked []bool) {
	for i, parents := range slices.Backward(h.parents) { // parents first
		for _, p := range parents {
			marked[i] = marked[i] || marked[p]
		}
	}
}

// Len returns the number of commits that were read.
func (h *History) Len() int { return len(h.commits) }

// Has reports whether a commit was read and is head or one of its ancestors.
func (h *History) Has(commit string) bool {
	_, ok := h.index[commit]
	return ok
}

// Time returns the time of a commit; zero: it was not read.
func (h *History) Time(commit string) time.Time {
	if i, read := h.index[commit]; read {
		return h.commits[i].Time
	}
	return time.Time{}
}

// Complete reports whether the history was read to its beginning.
func (h *History) Complete() bool { return len(h.unread) == 0 }

// Descendants returns these commits and all of their descendants up to head. It ignores commits that were not read.
func (h *History) Descendants(commits []string) []string {
	marked := make([]bool, len(h.commits))
	for _, c := range commits {
		if i, read := h.index[c]; read {
			marked[i] = true
		}
	}
	h.markDescendants(marked)
	var after []string
	for i, c := range h.commits {
		if marked[i] {
			after = append(after, c.Hash)
		}
	}
	return after
}

// FirstParents returns the commits along first parents, starting at head.
func (h *History) FirstParents() []string {
	var all []string
	for i, read := 0, len(h.commits) > 0; read; {
		c := h.commits[i]
		all = append(all, c.Hash)
		read = len(c.Parents) > 0
		if read {
			i, read = h.index[c.Parents[0]]
		}
	}
	return all
}

// LastChange returns the time of the commit, along first parents, that gave a folder its current tree. If the history
// was not read that far back, it returns the time of the oldest commit read, which is an upper bound.
func (h *History) LastChange(folder string) time.Time { return h.folder(folder).changed }

// folderHistory contains the facts about a folder that a history shows.
type folderHistory struct {
	changed time.Time // see LastChange
	// unchanged says for each commit whether it and all commits between it and head contain the same folder as head. A
	// cluster that synced such a commit has synced nothing else since. Equal trees alone are not enough: if a folder went
	// from A to B and back to A, a cluster that reports the first A may run B.
	unchanged []bool
}

// folder returns the history of a folder.
func (h *History) folder(name string) *folderHistory {
	if known := h.folders[name]; known != nil {
		return known
	}
	f := &folderHistory{}
	h.folders[name] = f
	want := h.tree(h.commits[0].Hash, name) // head is always read
	for _, c := range h.FirstParents() {
		if h.tree(c, name) != want {
			break
		}
		f.changed = h.Time(c)
	}
	f.unchanged = slices.Repeat([]bool{want != ""}, len(h.commits))
	for i, c := range h.commits { // children first
		f.unchanged[i] = f.unchanged[i] && h.tree(c.Hash, name) == want
		for _, p := range h.parents[i] {
			f.unchanged[p] = f.unchanged[p] && f.unchanged[i]
		}
	}
	return f
}

// commitState relates a commit to a folder at head.
type commitState int

const (
	folderUnchanged commitState = iota // the folder never changed since
	folderChanged                      // the folder differed then, or changed since
	beyondDepth                        // older than the commits that were read
	notOnBranch                        // not on the branch, whose whole history was read
	undetermined                       // read, but some later commits may be unread
)

func (h *History) commitState(commit, folder string) commitState {
	i, read := h.index[commit]
	switch {
	case !read && h.Complete():
		return notOnBranch
	case !read:
		return beyondDepth
	case !h.folder(folder).unchanged[i]:
		return folderChanged
	case !h.determined[i]:
		return undetermined
	}
	return folderUnchanged
}
