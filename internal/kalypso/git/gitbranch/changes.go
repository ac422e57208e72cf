package gitbranch

import (
	"context"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
)

// Bounds of a history: how many commits it covers, and how many paths it lists for each.
const (
	MaxHistory      = 50
	MaxHistoryPaths = 20
)

// ChangingCommit is a commit that changed something below the requested folders.
type ChangingCommit struct {
	Commit Commit
	Paths  []string // the first MaxHistoryPaths, in tree order
	Count  int      // number of all paths, or less if millions differ
}

// ChangesSince returns the changes below the folders in the commits after since, newest first, along first parents, at
// most [MaxHistory] commits back. It also reports whether it found since: if not, there may be more commits, or the
// branch was rewritten. Without folders it reads only commits, no trees.
func (b *Branch) ChangesSince(
	ctx context.Context, since plumbing.Hash, folders []string,
) ([]ChangingCommit, bool, error) {
	r := b.reader(ctx)
	defer r.Close()
	head, err := r.Ref(b.ref)
	if err != nil || head.IsZero() {
		return nil, false, err
	}
	// Most often one of the last commits caused the drift, so a short history is read first. A server without filters
	// would send all files each time, so it gets only one request.
	depths := []int{8, MaxHistory + 1}
	if !r.Filters() {
		depths = depths[1:]
	}
	h := History{newObjects(head, r, gitremote.Objects{})}
	var changes []ChangingCommit
	for _, depth := range depths {
		all, err := h.Ancestry(depth)
		if err != nil {
			return nil, false, err
		}
		var found bool
		changes, found, err = h.changes(all, since, folders)
		if err != nil {
			return nil, false, fmt.Errorf("%s: %w", b, err)
		}
		if found || all.Whole {
			return changes, found, nil
		}
	}
	return changes, false, nil
}

// changes returns the changes of the commits after since, along first parents, and whether it found since.
func (h History) changes(
	all Ancestors, since plumbing.Hash, folders []string,
) (changes []ChangingCommit, found bool, err error) {
	left := maxCompared
	for i, c := range all.FirstParents {
		before := plumbing.ZeroHash
		switch last := i == len(all.FirstParents)-1; {
		case c.Hash == since:
			return changes, true, nil
		case last && !all.Whole: // its parent is not known
			return changes, false, nil
		case !last:
			before = all.FirstParents[i+1].Tree
		}
		change := ChangingCommit{Commit: c}
		left = max(left, maxComparedPerCommit)
		if err := (diff{h.objects, &change, &left}).roots(before, c.Tree, folders); err != nil {
			return nil, false, err
		}
		if change.Count > 0 {
			changes = append(changes, change)
		}
	}
	return changes, false, nil
}

// add adds a path that differs. It lists the first [MaxHistoryPaths] and counts all.
func (c *ChangingCommit) add(path string) {
	c.Count++
	if len(c.Paths) < MaxHistoryPaths {
		c.Paths = append(c.Paths, path)
	}
}
