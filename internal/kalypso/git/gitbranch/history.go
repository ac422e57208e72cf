package gitbranch

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"path"
	"slices"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
)

// Commit is one commit of a history.
type Commit struct {
	Hash    plumbing.Hash
	Tree    plumbing.Hash
	Parents []plumbing.Hash
	When    time.Time // committer time
	Author  Author
	Subject string // first line of the message
	Message string
}

// History is a commit with its ancestors. It fetches commits, and their folders and files, on demand.
type History struct{ objects *objects }

// Ancestors are the newest commits of a history.
type Ancestors struct {
	Commits      []Commit // the newest first, by generations
	FirstParents []Commit // the chain of first parents, starting with the newest commit
	Whole        bool     // the last commit of FirstParents has no parent
}

// Ancestry returns the newest commit and its ancestors, up to depth generations, without their trees. Older
// parents appear only in the Parents of their children.
func (h History) Ancestry(depth int) (Ancestors, error) { return h.AncestryOf(h.objects.tip, depth) }

// AncestryOf returns the ancestry of another commit, like [History.Ancestry]. The branch need not contain the commit
// any more. AncestryOf returns no commits if the server does not serve the commit.
func (h History) AncestryOf(commit plumbing.Hash, depth int) (found Ancestors, err error) {
	err = h.objects.fetchCommits(commit, depth, filterAll)
	if err != nil && (commit == h.objects.tip || !errors.Is(err, gitremote.ErrObjectNotServed)) {
		return found, err
	}
	// If the same session already sent the commit, Git's own server may send more generations than requested.
	met := map[plumbing.Hash]bool{commit: true}
	for generation := []plumbing.Hash{commit}; len(generation) > 0 && depth > 0; depth-- {
		var next []plumbing.Hash
		for _, hash := range generation {
			c, read, err := h.objects.commit(hash)
			switch {
			case err != nil:
				return found, err
			case !read:
				continue
			}
			found.Commits = append(found.Commits, c)
			for _, p := range c.Parents {
				if !met[p] {
					met[p] = true
					next = append(next, p)
				}
			}
		}
		generation = next
	}
	if commit == h.objects.tip && len(found.Commits) == 0 {
		return found, fmt.Errorf("commit %s: %w", commit, errNotSent)
	}
	found.FirstParents, found.Whole = firstParents(commit, found.Commits)
	return found, nil
}

// deeper yields the ancestry of a commit, each time with more generations, until it is complete.
func (h History) deeper(commit plumbing.Hash) iter.Seq2[Ancestors, error] {
	return func(yield func(Ancestors, error) bool) {
		for _, depth := range []int{64, 1024, allGenerations} {
			all, err := h.AncestryOf(commit, depth)
			if !yield(all, err) || err != nil || len(all.Commits) < depth {
				return
			}
		}
	}
}

const allGenerations = 1<<31 - 1

// Find returns a commit of the history. ok is false if the history does not contain it. It fetches no more generations
// than the search needs.
func (h History) Find(hash plumbing.Hash) (found Commit, ok bool, err error) {
	for all, err := range h.deeper(h.objects.tip) {
		if err != nil {
			return Commit{}, false, err
		}
		if i := slices.IndexFunc(all.Commits, func(c Commit) bool { return c.Hash == hash }); i >= 0 {
			return all.Commits[i], true, nil
		}
	}
	return Commit{}, false, nil
}

// At returns a snapshot of another commit of the history, which has been read.
func (h History) At(commit plumbing.Hash) (*Snapshot, error) {
	root, err := h.objects.rootOf(commit)
	return &Snapshot{Commit: commit, Root: root, objects: h.objects}, err
}

// LastChanges returns the newest commit, along the first parents of a commit, that changed each of these folders
// directly below a path.
func (h History) LastChanges(commit plumbing.Hash, at string, names []string) (map[string]Commit, error) {
	for all, err := range h.deeper(commit) {
		if err != nil {
			return nil, err
		}
		chain := all.FirstParents
		trees, err := h.FoldersAt(at, Hashes(chain))
		if err != nil {
			return nil, err
		}
		changed := map[string]Commit{}
		for _, name := range names {
			now := trees[commit][name]
			for i, c := range chain {
				last := i == len(chain)-1
				if last && all.Whole || !last && trees[chain[i+1].Hash][name] != now {
					changed[name] = c
					break
				}
			}
		}
		if all.Whole || len(changed) == len(names) {
			return changed, nil
		}
	}
	return nil, fmt.Errorf("commit %s: %w", commit, errNotSent)
}

// EarlierChanges returns those of the commits in by, which has one for each folder directly below a path, that changed
// the folder to its content at the given commit. It looks for them along the first parents of the given commit.
func (h History) EarlierChanges(
	commit plumbing.Hash, at string, by map[string]plumbing.Hash,
) (map[string]Commit, error) {
	var chain []Commit
	var whole bool
	var place map[plumbing.Hash]int // in the chain
	placed := func(c plumbing.Hash) bool {
		i, found := place[c]
		return found && (whole || i < len(chain)-1) // with its parent
	}
	for all, err := range h.deeper(commit) {
		if err != nil {
			return nil, err
		}
		chain, whole, place = all.FirstParents, all.Whole, map[plumbing.Hash]int{}
		for i, c := range chain {
			place[c.Hash] = i
		}
		if whole || !slices.ContainsFunc(slices.Collect(maps.Values(by)), func(c plumbing.Hash) bool { return !placed(c) }) {
			break
		}
	}
	read := []plumbing.Hash{commit}
	for _, c := range by {
		if placed(c) {
			i := place[c]
			read = append(read, Hashes(chain[i:min(i+2, len(chain))])...)
		}
	}
	trees, err := h.FoldersAt(at, read)
	if err != nil {
		return nil, err
	}
	changes := map[string]Commit{}
	for name, c := range by {
		now, there := trees[commit][name]
		if !there || !placed(c) || trees[c][name] != now {
			continue
		}
		if i := place[c]; i == len(chain)-1 || trees[chain[i+1].Hash][name] != now {
			changes[name] = chain[i]
		}
	}
	return changes, nil
}

// FirstParentsSince returns the newest commits along first parents, up to the first commit that is known, or that a
// known commit reaches along first parents. found is false if there is no such commit, or if the server does not serve
// the known ones.
func (h History) FirstParentsSince(known []plumbing.Hash) (newer []Commit, found bool, err error) {
	upTo := func(chain []Commit, past map[plumbing.Hash]bool) bool {
		i := slices.IndexFunc(chain, func(c Commit) bool { return past[c.Hash] })
		newer = chain[:max(i, 0)]
		return i >= 0
	}
	past := map[plumbing.Hash]bool{}
	for _, commit := range known {
		past[commit] = true
	}
	var chain []Commit
	for all, err := range h.deeper(h.objects.tip) {
		chain = all.FirstParents
		if err != nil || upTo(chain, past) {
			return newer, err == nil, err
		}
		if all.Whole {
			break
		}
	}
	for _, commit := range known { // the branch moved back to an older commit, or was rewritten
		older, err := h.AncestryOf(commit, allGenerations)
		if err != nil {
			return nil, false, err
		}
		for _, c := range older.FirstParents {
			past[c.Hash] = true
		}
	}
	found = upTo(chain, past)
	return newer, found, nil
}

// Raw returns a commit as Git stores it. It must have been read.
func (h History) Raw(commit plumbing.Hash) ([]byte, error) {
	raw, ok := h.objects.raw(plumbing.CommitObject, commit)
	if !ok {
		return nil, fmt.Errorf("commit %s: %w", commit, errNotSent)
	}
	return raw, nil
}

// firstParents returns the chain of first parents that starts at a commit, as far as it is in commits, and whether its
// last commit has no parent.
func firstParents(head plumbing.Hash, commits []Commit) (chain []Commit, whole bool) {
	byHash := make(map[plumbing.Hash]Commit, len(commits))
	for _, c := range commits {
		byHash[c.Hash] = c
	}
	for at := head; ; {
		c, read := byHash[at]
		if !read {
			return chain, false
		}
		chain = append(chain, c)
		if len(c.Parents) == 0 {
			return chain, true
		}
		at = c.Parents[0]
	}
}

// Hashes returns the hashes of commits.
func Hashes(commits []Commit) []plumbing.Hash {
	return lists.Map(commits, func(c Commit) plumbing.Hash { return c.Hash })
}

// FoldersAt returns the folders directly below a path for each of the commits, with the hashes of their trees. The
// commits must come from [History.Ancestry]. FoldersAt fetches the trees of all commits together, level by level,
// without file contents. A commit without a folder at the path is not in the result.
func (h History) FoldersAt(at string, commits []plumbing.Hash) (map[plumbing.Hash]map[string]plumbing.Hash, error) {
	trees, err := h.treesAt(at, commits)
	if err != nil {
		return nil, err
	}
	found := make(map[plumbing.Hash]map[string]plumbing.Hash, len(trees))
	byTree := map[plumbing.Hash]map[string]plumbing.Hash{}
	for commit, tree := range trees {
		if byTree[tree] == nil {
			entries, err := h.objects.tree(tree)
			if err != nil {
				return nil, err
			}
			byTree[tree] = folders(entries)
		}
		found[commit] = byTree[tree]
	}
	return found, nil
}

// FileAt returns the contents of a file at each of the commits, which must come from [History.Ancestry]. It fetches the
// folders and files of all commits together. A commit without the file is not in the result.
func (h History) FileAt(file string, commits []plumbing.Hash) (map[plumbing.Hash][]byte, error) {
	trees, err := h.treesAt(path.Dir(file), commits)
	if err != nil {
		return nil, err
	}
	found := map[plumbing.Hash]entry{} // by commit
	for commit, tree := range trees {
		e, _, err := h.objects.findBelow(tree, []string{path.Base(file)})
		if err != nil {
			return nil, err
		}
		e.Name = file // for errors
		found[commit] = e
	}
	return readFiles(h.objects, found)
}

// treesAt returns, for each of the commits, the tree of the folder at a path, and fetches these trees. A commit without
// such a folder is not in the result.
func (h History) treesAt(at string, commits []plumbing.Hash) (map[plumbing.Hash]plumbing.Hash, error) {
	names, err := splitPath(path.Clean(at))
	if err != nil {
		return nil, err
	}
	trees := make(map[plumbing.Hash]plumbing.Hash, len(commits)) // by commit
	for _, hash := range commits {
		trees[hash], err = h.objects.rootOf(hash)
		if err != nil {
			return nil, err
		}
	}
	for _, name := range names {
		if err := h.fetchTrees(trees); err != nil {
			return nil, err
		}
		for commit, tree := range trees {
			e, ok, err := h.objects.findBelow(tree, []string{name})
			if err != nil {
				return nil, err
			}
			delete(trees, commit)
			if ok && e.IsTree() {
				trees[commit] = e.Hash
			}
		}
	}
	return trees, h.fetchTrees(trees)
}

// fetchTrees fetches trees of several commits.
func (h History) fetchTrees(trees map[plumbing.Hash]plumbing.Hash) error {
	return h.objects.fetch(slices.Collect(maps.Values(trees)), filterAll)
}
