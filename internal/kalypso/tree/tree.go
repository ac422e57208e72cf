// Package tree puts the rendered files of a fleet together to the GitOps tree: a folder for each cluster type, with a
// folder for each deployment target, and the Git hashes of all of them.
package tree

import (
	"context"
	"iter"
	"slices"
	"sync"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitobject"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/parallel"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule"
)

// The README of a cluster type's folder; it is also how a folder is known to be the operator's.
const (
	ReadmeFile = "README.md"
	Readme     = "This folder contains deployment targets scheduled on the cluster type"
)

// PromotedCommitFile holds the promoted commit; its path is from the repo's root.
const PromotedCommitFile = ".github/tracking/Promoted_Commit_Id"

// Tree is the GitOps tree of a fleet.
type Tree struct {
	Schedule *schedule.Schedule
	Folders  []Folder // by cluster type
	// Hash is that of a Git tree whose entries are the folders alone. Where something is Unknown it means nothing.
	Hash    Hash
	Unknown bool

	renderer *render.Renderer
}

// Hash is the name of a Git object.
type Hash = gitobject.Hash

// Folder is the folder of a cluster type.
type Folder struct {
	ClusterType string
	Hash        Hash
	Targets     []Target // those of its placement, by name
	Unknown     bool
}

// Target is the folder of a deployment target.
type Target struct {
	Name    string
	Hash    Hash
	Empty   bool // all its files are empty
	Unknown bool
}

// File is a file of the tree.
type File struct {
	Path    string // from the folder that holds it
	Content []byte
	// Unknown says that the content, and with MayLack also whether there is such a file, is not known yet.
	Unknown     bool
	MayBeAbsent bool
}

// Build renders the assignments of a schedule, on all processors, and reports what fails. The tree holds no content:
// [Tree.Files] renders again what is asked for. Build calls progress, unless nil, after each folder, from one goroutine
// at a time. Once ctx is done, it leaves out the rest.
func Build(
	ctx context.Context, s *schedule.Schedule, r *render.Renderer, progress func(done, total int),
) (*Tree, fleet.Problems) {
	n := len(s.Placements)
	t := &Tree{Schedule: s, Folders: make([]Folder, n), renderer: r}
	failures := make([][]failure, n)
	var mu sync.Mutex
	done := 0
	parallel.Do(n, func(i int) {
		if ctx.Err() != nil {
			return
		}
		t.Folders[i], failures[i] = t.build(ctx, i)
		if progress != nil {
			mu.Lock()
			defer mu.Unlock()
			done++
			progress(done, n)
		}
	})
	entries := make([]entry, n)
	for i, folder := range t.Folders {
		entries[i] = folderEntry(folder.ClusterType, folder.Hash)
		t.Unknown = t.Unknown || folder.Unknown
	}
	t.Hash = gitobject.NewHasher().Tree(entries)
	return t, problemsOf(slices.Concat(failures...))
}

// build renders the folder i.
func (t *Tree) build(ctx context.Context, i int) (Folder, []failure) {
	rendered := t.renderTargets(ctx, i)
	folder := Folder{ClusterType: t.Schedule.Placements[i].ClusterType.Name, Targets: make([]Target, len(rendered))}
	entries := make([]entry, 0, len(rendered)+1)
	entries = append(entries, readme)
	var failures []failure
	for n, r := range rendered {
		failures = append(failures, r.failures...)
		folder.Unknown = folder.Unknown || r.Unknown
		folder.Targets[n] = r.Target
		entries = append(entries, folderEntry(r.Name, r.Hash))
	}
	folder.Hash = gitobject.NewHasher().Tree(entries)
	return folder, failures
}

type renderedTarget struct {
	Target
	failures []failure
}

// targetsPerChunk is how many targets are rendered one after the other.
const targetsPerChunk = 64

// renderTargets renders the targets of the folder i on all processors: after most changes it is the only folder.
func (t *Tree) renderTargets(ctx context.Context, i int) []renderedTarget {
	n := len(t.Schedule.Placements[i].Assignments)
	return slices.Concat(parallel.Map((n+targetsPerChunk-1)/targetsPerChunk, func(chunk int) (all []renderedTarget) {
		h := gitobject.NewHasher()
		for a, rendered := range t.renderer.Placement(ctx, i, chunk*targetsPerChunk, min(n, (chunk+1)*targetsPerChunk)) {
			r := renderedTarget{Target: Target{Name: a.Target.Name, Empty: true}}
			for _, f := range rendered.Failures {
				r.failures = append(r.failures, failure{f, a})
			}
			files := make([]entry, len(rendered.Files))
			for k, f := range rendered.Files {
				r.Unknown = r.Unknown || f.Unknown
				r.Empty = r.Empty && !f.Unknown && len(f.Content) == 0
				files[k] = entry{Mode: gitobject.ModeFile, Name: f.Name, Hash: h.Object(gitobject.Blob, f.Content)}
			}
			r.Hash = h.Tree(files)
			all = append(all, r)
		}
		return all
	})...)
}

// FolderHash is the hash of the Git tree whose entries are these folders alone: what [Tree.Hash] is of a tree that is
// known by the hashes of its folders.
func FolderHash(folders map[string]Hash) Hash {
	entries := make([]entry, 0, len(folders))
	for name, hash := range folders {
		entries = append(entries, folderEntry(name, hash))
	}
	return gitobject.NewHasher().Tree(entries)
}

// IsReadme reports whether a blob of that hash is the README of a cluster type's folder.
func IsReadme(blob Hash) bool { return blob == readme.Hash }

var readme = entry{
	Mode: gitobject.ModeFile,
	Name: ReadmeFile,
	Hash: gitobject.NewHasher().Object(gitobject.Blob, []byte(Readme)),
}

type entry = gitobject.Entry[Hash]

func folderEntry(name string, hash Hash) entry {
	return entry{Mode: gitobject.ModeTree, Name: name, Hash: hash}
}

// Files renders the files of the folder i: its README, then target by target, by name, and of each its files by name.
func (t *Tree) Files(i int) iter.Seq[File] {
	return func(yield func(File) bool) {
		if !yield(File{Path: ReadmeFile, Content: []byte(Readme)}) {
			return
		}
		for n, target := range t.Folders[i].Targets {
			for f := range t.TargetFiles(i, n) {
				f.Path = target.Name + "/" + f.Path
				if !yield(f) {
					return
				}
			}
		}
	}
}

// TargetFiles renders the files of the target n of the folder i, by name. No context stops it: half of the files would look
// like all of them.
func (t *Tree) TargetFiles(i, n int) iter.Seq[File] {
	return func(yield func(File) bool) {
		for _, f := range t.renderer.Assignment(context.Background(), i, n).Files {
			if !yield(File{f.Name, f.Content, f.Unknown, f.MayBeAbsent}) {
				return
			}
		}
	}
}
