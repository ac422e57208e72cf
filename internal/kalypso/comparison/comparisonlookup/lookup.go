// Package comparisonlookup reads the branches of a comparison: their records, trees, and the files whose hashes differ.
package comparisonlookup

import (
	"cmp"
	"context"
	"crypto/sha1" //nolint:gosec // identifies entries as Git does, and protects nothing
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/comparison"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitobject"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/historylookup"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/parallel"
)

// Request says what to compare.
type Request struct {
	Client  *gitremote.Client
	Sides   comparison.Pair[destination.Destination]
	Options comparison.Options
	// ControlPlane is the branch of the promoted commits. If it is empty, no branch is read.
	ControlPlane struct{ Repo, Branch string }
}

// ErrNoRecord means that a branch has no record of a rendering at the path.
var ErrNoRecord = errors.New("no rendering was delivered there: the branch has no record")

// SideError means that a side can't be read.
type SideError struct {
	Right bool
	At    destination.Destination
	Err   error
}

// Error implements error.
func (e *SideError) Error() string { return fmt.Sprintf("at %s: %s", e.At, e.Err) }

// Unwrap returns the cause.
func (e *SideError) Unwrap() error { return e.Err }

// foldersPerRead is the number of folders whose trees and files are in memory at the same time.
const foldersPerRead = 6000

// Read compares two branches. The error is a [*SideError] for each side that can't be read, or a
// [*historylookup.ControlPlaneError]. The problems concern the options; if they have errors, there is no comparison.
func Read(ctx context.Context, req Request) (*comparison.Comparison, problem.Problems, error) {
	left, right := &side{at: req.Sides.Left}, &side{at: req.Sides.Right, right: true}
	defer left.close()
	defer right.close()
	if err := both(left, right, func(s *side) error { return s.open(ctx, req.Client) }); err != nil {
		return nil, nil, err
	}
	ps := req.Options.Check(left.content, right.content)
	if ps.HasErrors() {
		return nil, ps, nil
	}
	c, pairs := comparison.New(left.content, right.content, req.Options)
	for part := range slices.Chunk(pairs, foldersPerRead) {
		if err := compare(c, part, left, right); err != nil {
			return nil, nil, err
		}
	}
	c.Finish()
	if at := req.ControlPlane; at.Repo != "" {
		commits, err := historylookup.ReadControlPlane(ctx, req.Client, at.Repo, at.Branch)
		if err == nil && len(commits) == 0 {
			err = gitbranch.ErrBranchNotFound
		}
		if err != nil {
			return nil, nil, &historylookup.ControlPlaneError{Err: err}
		}
		hashes := lists.Map(commits, func(commit history.Source) string { return commit.Hash })
		c.SetHistory(hashes)
	}
	return c, ps, nil
}

// both works on both sides at the same time.
func both(left, right *side, work func(*side) error) error {
	errs := [2]error{}
	parallel.Limited(2, 2, func(i int) {
		s := [...]*side{left, right}[i]
		if err := work(s); err != nil {
			errs[i] = &SideError{Right: s.right, At: s.at, Err: err}
		}
	})
	return errors.Join(errs[:]...)
}

// side is a rendering on a branch that is being read.
type side struct {
	right    bool
	at       destination.Destination
	snapshot *gitbranch.Snapshot
	content  comparison.Side

	// The part of the side that is in memory.
	part     *gitbranch.Snapshot
	entries  []map[string]object.TreeEntry // of each folder
	contents map[plumbing.Hash][]byte
}

func (s *side) close() {
	if s.snapshot != nil {
		s.snapshot.Close()
	}
}

// open reads the record, and the trees of the cluster types' folders.
func (s *side) open(ctx context.Context, client *gitremote.Client) (err error) {
	at := s.at
	s.snapshot, err = gitbranch.ReadHead(ctx, client, at.Repo, at.Branch)
	if err != nil {
		return err
	}
	if s.snapshot.Commit.IsZero() {
		return gitbranch.ErrBranchNotFound
	}
	r, err := record.Read(s.snapshot, at)
	switch {
	case err != nil:
		return err
	case r == nil:
		return ErrNoRecord
	}
	s.content = comparison.Side{
		Environment: r.Environment, PromotedCommit: r.PromotedCommit, Folders: map[string]map[string]gitobject.Hash{},
	}
	folders, err := s.snapshot.Folders(at.Path)
	if err != nil {
		return err
	}
	// The hash is zero if people removed the folder.
	trees := lists.Map(r.ClusterTypes, func(name string) plumbing.Hash { return folders[name] })
	if err := s.snapshot.LoadTrees(trees); err != nil {
		return err
	}
	for _, name := range r.ClusterTypes {
		targets, err := s.snapshot.Folders(at.Join(name))
		if err != nil {
			return err
		}
		hashes := make(map[string]gitobject.Hash, len(targets)+1)
		for target, tree := range targets {
			hashes[target] = gitobject.Hash(tree)
		}
		hashes[""], err = s.ownFiles(name)
		if err != nil {
			return err
		}
		s.content.Folders[name] = hashes
	}
	return nil
}

// ownFiles returns a hash of the files directly in the folder of a cluster type.
func (s *side) ownFiles(clusterType string) (gitobject.Hash, error) {
	files, err := s.snapshot.NonFolders(s.at.Join(clusterType))
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintln(&text, files[name].Mode, files[name].Hash, name)
	}
	return sha1.Sum([]byte(text.String())), err //nolint:gosec // as above
}

// files returns the files of a folder, by their paths relative to it.
func (s *side) files(walker *gitbranch.Walker, of comparison.Folder) (map[string]object.TreeEntry, error) {
	folder := s.at.Join(of.String())
	if of.Target == "" {
		return s.part.NonFolders(folder)
	}
	found := map[string]object.TreeEntry{}
	return found, walker.Walk(folder, func(path string, e object.TreeEntry) error {
		found[strings.TrimPrefix(path, folder+"/")] = e
		return nil
	})
}

// compare compares the files of some folders.
func compare(c *comparison.Comparison, pairs []comparison.FolderPair, left, right *side) error {
	if err := both(left, right, func(s *side) error { return s.readTrees(pairs) }); err != nil {
		return err
	}
	var differing []file
	for i := range pairs {
		names := maps.Clone(left.entries[i])
		maps.Copy(names, right.entries[i])
		for name := range names {
			e := comparison.Pair[object.TreeEntry]{Left: left.entries[i][name], Right: right.entries[i][name]}
			if e.Left != e.Right {
				differing = append(differing, file{i, name, e})
			}
		}
	}
	if err := both(left, right, func(s *side) error { return s.readFiles(differing) }); err != nil {
		return err
	}
	slices.SortFunc(differing, file.compare)
	for _, f := range differing {
		c.Add(pairs[f.pair], f.name, left.contentOf(f.entries.Left), right.contentOf(f.entries.Right))
	}
	return nil
}

// file is a file that differs in a pair of folders. A zero entry means that the side lacks the file.
type file struct {
	pair    int
	name    string
	entries comparison.Pair[object.TreeEntry]
}

func (f file) compare(other file) int {
	return cmp.Or(cmp.Compare(f.pair, other.pair), cmp.Compare(f.name, other.name))
}

// readTrees reads the trees of folders.
func (s *side) readTrees(pairs []comparison.FolderPair) error {
	s.part, s.entries, s.contents = s.snapshot.Fork(), nil, nil
	folders := lists.Map(pairs, func(f comparison.FolderPair) comparison.Folder {
		if s.right {
			f.ClusterType = f.RightClusterType
		}
		return f.Folder
	})
	var paths []string
	for _, f := range folders {
		if f.Target != "" {
			paths = append(paths, s.at.Join(f.String()))
		}
	}
	if err := s.part.Load(paths...); err != nil {
		return err
	}
	walker := s.part.Walker()
	for _, f := range folders {
		found, err := s.files(walker, f)
		if err != nil {
			return err
		}
		s.entries = append(s.entries, found)
	}
	return nil
}

// readFiles reads the contents of differing files.
func (s *side) readFiles(differing []file) (err error) {
	var blobs []plumbing.Hash
	for _, f := range differing {
		e := f.entries.Left
		if s.right {
			e = f.entries.Right
		}
		if isBlob(e) {
			blobs = append(blobs, e.Hash)
		}
	}
	s.contents, _, err = s.part.Contents(blobs)
	return err
}

func isBlob(e object.TreeEntry) bool { return !e.Hash.IsZero() && e.Mode != filemode.Submodule }

// contentOf returns the content of a file, the commit of a submodule, or nil for a missing file. The content of an
// executable file or a link includes its mode, so that it differs from a plain file.
func (s *side) contentOf(e object.TreeEntry) []byte {
	switch {
	case e.Hash.IsZero():
		return nil
	case !isBlob(e):
		return []byte("commit " + e.Hash.String())
	case e.Mode != filemode.Regular:
		return append([]byte("mode "+e.Mode.String()+"\n"), s.contents[e.Hash]...)
	case len(s.contents[e.Hash]) == 0:
		return []byte{}
	}
	return s.contents[e.Hash]
}
