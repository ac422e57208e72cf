package branch

import (
	"context"
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	gitobject "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/object"
	gitremote "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/remote"
)

// Bounds of a history: how many commits it covers, and how many paths it lists for each.
const (
	MaxHistory      = 50
	MaxHistoryPaths = 20
)

// ChangingCommit is a commit that changed something below the requested folders.
type ChangingCommit struct {
	Commit  plumbing.Hash
	Author  Author
	Subject string
	Merge   bool     // a merge commit: its changes may come from another branch
	Paths   []string // the first MaxHistoryPaths, in tree order
	Count   int      // number of all paths
}

// History returns the changes below the folders in the commits after since, newest first, along first parents, at
// most [MaxHistory] commits back. It also reports whether it found since: if not, there may be more commits, or the
// branch was rewritten. Without folders it reads only commits, no trees.
func (b *Branch) History(ctx context.Context, since plumbing.Hash, folders []string) ([]ChangingCommit, bool, error) {
	head, err := b.Head(ctx)
	if err != nil || head.IsZero() {
		return nil, false, err
	}
	// Most often the last commits cause the drift. A server without filters sends their contents each time, so there is
	// only one request to it.
	var changes []ChangingCommit
	for _, depth := range []int{8, MaxHistory + 1} {
		var found, whole bool
		changes, found, whole, err = b.history(ctx, head, since, depth, folders)
		if err != nil || found || whole {
			return changes, found, err
		}
	}
	return changes, false, nil
}

// history reads depth commits, or [MaxHistory] and one from a server without filters. whole reports whether there is no
// more to read.
func (b *Branch) history(
	ctx context.Context, head, since plumbing.Hash, depth int, folders []string,
) (changes []ChangingCommit, found, whole bool, err error) {
	reader, err := b.remote.Reader(ctx)
	if err != nil {
		return nil, false, false, err
	}
	if !reader.Filters() {
		depth = MaxHistory + 1
	}
	last := depth > MaxHistory
	s := newSnapshot(head, reader, gitremote.Objects{})
	defer s.Close()
	want := gitremote.FetchRequest{Wants: []plumbing.Hash{head}, Depth: depth, Filter: filterAll}
	if err := s.reader.Fetch(want, s.store); err != nil {
		return nil, false, false, err
	}
	at, ok, err := s.commitAt(head)
	for range depth {
		if err == nil && !ok {
			err = errNotSent
		}
		if err != nil {
			return nil, false, false, fmt.Errorf("%s: %w", b, err)
		}
		if at.Hash == since {
			return changes, true, false, nil
		}
		var parent *object.Commit
		before := plumbing.ZeroHash
		if len(at.ParentHashes) > 0 {
			if parent, ok, err = s.commitAt(at.ParentHashes[0]); err != nil {
				return nil, false, false, fmt.Errorf("%s: %w", b, err)
			}
			if !ok {
				return changes, false, last, nil // end of the fetched history
			}
			before = parent.TreeHash
		}
		change, err := s.commitChange(at, before, folders)
		if err != nil {
			return nil, false, false, fmt.Errorf("%s: %w", b, err)
		}
		if change.Count > 0 {
			changes = append(changes, change)
		}
		if parent == nil {
			return changes, false, true, nil
		}
		at = parent
	}
	return changes, false, last, nil
}

func (s *Snapshot) commitChange(c *object.Commit, before plumbing.Hash, folders []string) (ChangingCommit, error) {
	change := ChangingCommit{Commit: c.Hash, Subject: subjectOf(c), Merge: len(c.ParentHashes) > 1, Author: authorOf(c)}
	if len(folders) == 0 {
		return change, nil
	}
	if err := s.fetch([]plumbing.Hash{before, c.TreeHash}, filterAll); err != nil {
		return change, err
	}
	for _, folder := range folders {
		s.Root = before
		old, _, err := s.find(folder)
		if err != nil {
			return change, err
		}
		s.Root = c.TreeHash
		now, _, err := s.find(folder)
		if err != nil {
			return change, err
		}
		if err := s.diff(folder, old, now, &change); err != nil {
			return change, err
		}
	}
	return change, nil
}

// subjectOf returns the first line of a commit's message.
func subjectOf(c *object.Commit) string {
	subject, _, _ := strings.Cut(strings.TrimSpace(c.Message), "\n")
	return strings.TrimSpace(subject)
}

func authorOf(c *object.Commit) Author {
	return Author{Name: c.Author.Name, Email: c.Author.Email, When: c.Author.When}
}

// diff adds the paths that differ between two entries. The zero entry means absent.
func (s *Snapshot) diff(path string, old, now entry, change *ChangingCommit) error {
	if old.Hash == now.Hash && old.Mode == now.Mode {
		return nil
	}
	if !old.IsTree() && !now.IsTree() {
		change.add(path)
		return nil
	}
	prefix := path + "/"
	if path == "." {
		prefix = ""
	}
	before, after, err := s.bothChildren(old, now)
	if err != nil {
		return err
	}
	if !old.IsTree() && old.Mode != "" || !now.IsTree() && now.Mode != "" {
		change.add(path) // a file became a folder, or a folder a file
	}
	for _, e := range merged(before, after) {
		if err := s.diff(prefix+e, before[e], after[e], change); err != nil {
			return err
		}
	}
	return nil
}

// add adds a path that differs. It lists the first [MaxHistoryPaths] and counts all.
func (c *ChangingCommit) add(path string) {
	if c.Count++; len(c.Paths) < MaxHistoryPaths {
		c.Paths = append(c.Paths, path)
	}
}

// bothChildren returns the entries of two folders, of which one may be none, and fetches the folders in them that
// differ.
func (s *Snapshot) bothChildren(old, now entry) (before, after map[string]entry, err error) {
	// A folder on one side only differs in all its files.
	if old.IsTree() != now.IsTree() {
		side := old
		if now.IsTree() {
			side = now
		}
		if err := s.fetch([]plumbing.Hash{side.Hash}, filterBlobs); err != nil {
			return nil, nil, err
		}
	}
	if before, err = s.children(old); err != nil {
		return nil, nil, err
	}
	if after, err = s.children(now); err != nil {
		return nil, nil, err
	}
	var wants []plumbing.Hash
	for name, e := range before {
		if other := after[name]; e.IsTree() && other.IsTree() && e.Hash != other.Hash {
			wants = append(wants, e.Hash, other.Hash)
		}
	}
	return before, after, s.fetch(wants, filterAll)
}

func (s *Snapshot) children(e entry) (map[string]entry, error) {
	children := map[string]entry{}
	if !e.IsTree() {
		return children, nil
	}
	entries, err := s.tree(e.Hash)
	for _, c := range entries {
		children[c.Name] = c
	}
	return children, err
}

// merged returns the names of both maps in tree order.
func merged(a, b map[string]entry) []string {
	var both []entry
	for _, e := range a {
		both = append(both, e)
	}
	for name, e := range b {
		if _, twice := a[name]; !twice {
			both = append(both, e)
		}
	}
	gitobject.SortTree(both)
	names := make([]string, len(both))
	for i, e := range both {
		names[i] = e.Name
	}
	return names
}
