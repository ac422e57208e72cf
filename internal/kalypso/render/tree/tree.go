// Package tree builds the GitOps tree of a fleet from its rendered files: a folder for each cluster type, with a
// folder for each of its deployment targets, and their Git hashes.
package tree

import (
	"context"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitobject"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render/objects"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule/requires"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/parallel"
)

// The README of a cluster type's folder. It also identifies the folders that the operator wrote.
const (
	ReadmeFile = "README.md"
	Readme     = "This folder contains deployment targets scheduled on the cluster type"
)

// Tree is the GitOps tree of a fleet.
type Tree struct {
	Schedule *schedule.Schedule
	Folders  []Folder // sorted by cluster type
	// Hash is the hash of a Git tree that contains only the folders. It is meaningless if Unknown is set.
	Hash    Hash
	Unknown bool

	options  Options
	renderer *render.Renderer
	requires *requires.Index

	validator *objects.Validator
}

// Hash is the name of a Git object.
type Hash = gitobject.Hash

// Folder is the folder of a cluster type.
type Folder struct {
	ClusterType string
	Hash        Hash           // no meaning if Unknown is set
	Targets     []TargetFolder // sorted by name
	Unknown     bool
	Undecided   bool // the targets are not known yet, so Targets is empty
}

// TargetFolder is the folder of a deployment target.
type TargetFolder struct {
	Name    string
	Hash    Hash
	Empty   bool // all its files are empty
	Unknown bool

	assignment int // its index in the placement of the schedule
}

// File is a file of the tree.
type File = render.File

// Options say what a tree leaves out, and which faults of rendered objects it looks for.
type Options struct {
	// LeaveOutFailed says that a deployment target with a [problem.TeamFault] is left out of the tree, instead of failing
	// the rendering.
	LeaveOutFailed bool
	// LeftOut contains the names of deployment targets that are left out in any case.
	LeftOut map[string]bool
	// Valid says that the fleet has no error so far. Only then are rendered objects compared and files checked.
	Valid bool
	// Duplicates is the reaction to objects that several deployment targets of a cluster type render. If it is
	// [problem.Ignore], empty or not known yet, the rendered objects are not compared.
	Duplicates problem.Reaction
	// Invalid is the reaction to rendered files that no cluster can apply. If it is [problem.Ignore], empty or not known
	// yet, the files are not checked.
	Invalid problem.Reaction
	// Delivered returns the first bytes of the hash of a folder as it was last delivered: the folder of a cluster type,
	// or of a deployment target in it. It returns nil if the folder was not delivered. The function may be nil.
	Delivered func(clusterType, target string) []byte
	// Progress is called after each folder, from one goroutine at a time. It may be nil.
	Progress func(done, total int)
}

// Build renders the assignments of a schedule on all CPUs and reports the failures, and the requirements in the index
// that are not met. The tree has no folder for an assignment that fails, or whose deployment target is left out. It
// does not contain the files: [Tree.Files] renders them again. Build reports duplicate objects and invalid files in the
// folders that change. It stops once ctx is done.
func Build(
	ctx context.Context, s *schedule.Schedule, r *render.Renderer, index *requires.Index, o Options,
) (*Tree, problem.Problems) {
	n := len(s.Placements)
	t := &Tree{Schedule: s, Folders: make([]Folder, n), options: o, renderer: r, requires: index,
		validator: &objects.Validator{}}
	failures, read := make([][]failure, n), make([]found, n)
	var mu sync.Mutex
	done := 0
	workspaces := sync.Pool{New: func() any { return &workspace{} }}
	parallel.Do(n, func(i int) {
		if ctx.Err() != nil {
			return
		}
		w := workspaces.Get().(*workspace) //nolint:forcetypeassert // nothing else is stored
		defer workspaces.Put(w)
		t.Folders[i], failures[i], read[i] = t.build(ctx, i, w)
		if o.Progress != nil {
			mu.Lock()
			defer mu.Unlock()
			done++
			o.Progress(done, n)
		}
	})
	entries := make([]entry, n)
	for i, folder := range t.Folders {
		entries[i] = folderEntry(folder.ClusterType, folder.Hash)
		t.Unknown = t.Unknown || folder.Unknown
	}
	t.Hash = gitobject.NewHasher().Tree(entries)
	problems := append(problemsOf(slices.Concat(failures...)), index.Faults(ctx)...)
	if len(problems) > 0 && !o.LeaveOutFailed { // failed targets are not left out, so there is no tree
		return t, append(problems, r.Warnings()...)
	}
	return t, slices.Concat(problems, r.Warnings(), t.problemsOfObjects(read))
}

// New returns a tree without folders, which renders nothing yet.
func New(s *schedule.Schedule, r *render.Renderer) *Tree { return &Tree{Schedule: s, renderer: r} }

// RenderTarget renders the files of a deployment target on a cluster type, sorted by name, and returns its namespace.
// There are no files if the target is not assigned there, or fails to render. The files are in b.
func (t *Tree) RenderTarget(clusterType, target string, b *render.Buffer) (files []render.File, namespace string) {
	i, n, ok := t.Assignment(clusterType, target)
	if !ok {
		return nil, ""
	}
	result := t.renderer.Assignment(context.Background(), i, n, b)
	return result.Files, t.Schedule.Placements[i].Assignments[n].Namespace
}

// Assignment finds the assignment of a deployment target to a cluster type: the number of the placement in the
// schedule, and the number of the assignment in it.
func (t *Tree) Assignment(clusterType, target string) (i, n int, ok bool) {
	placements := t.Schedule.Placements
	i, ok = slices.BinarySearchFunc(placements, clusterType, func(p schedule.Placement, name string) int {
		return strings.Compare(p.ClusterType.Name, name)
	})
	if !ok {
		return 0, 0, false
	}
	n, ok = slices.BinarySearchFunc(placements[i].Assignments, target, func(a schedule.Assignment, name string) int {
		return strings.Compare(a.Target.Name, name)
	})
	return i, n, ok
}

// build renders the folder i.
func (t *Tree) build(ctx context.Context, i int, w *workspace) (Folder, []failure, found) {
	ct := t.Schedule.Placements[i].ClusterType
	defer problem.NamePanic(string(ct.Kind()), ct.Name)
	rendered := t.renderTargets(ctx, i, w)
	var failures []failure
	for n := range rendered {
		failures = append(failures, rendered[n].failures...)
		rendered[n].folder.assignment = n
		rendered[n].leftOut = len(rendered[n].failures) > 0 || t.options.LeftOut[rendered[n].folder.Name] ||
			t.requires.Refuses(i, n)
	}
	failures = append(failures, t.leaveOutWithout(ctx, i, rendered)...)
	folder, read := t.folder(i, rendered, w), found{}
	if t.checksObjects() && (folder.Unknown || t.options.changes(folder.ClusterType, "", folder.Hash)) {
		read = t.checkObjects(ctx, i, rendered)
		if read.leaveOut(&t.options, rendered) {
			failures = append(failures, t.leaveOutWithout(ctx, i, rendered)...)
			folder = t.folder(i, rendered, w)
		}
	}
	return folder, failures, read
}

// folder returns folder i, with the folders of these targets.
func (t *Tree) folder(i int, rendered []renderedTarget, w *workspace) Folder {
	p := &t.Schedule.Placements[i]
	folder := Folder{
		ClusterType: p.ClusterType.Name,
		Targets:     make([]TargetFolder, 0, len(rendered)),
		Unknown:     p.Undecided,
		Undecided:   p.Undecided,
	}
	entries := append(w.entries[:0], readme)
	for _, r := range rendered {
		if r.leftOut {
			continue
		}
		folder.Unknown = folder.Unknown || r.folder.Unknown
		folder.Targets = append(folder.Targets, r.folder)
		entries = append(entries, folderEntry(r.folder.Name, r.folder.Hash))
	}
	folder.Hash, w.entries = gitobject.NewHasher().Tree(entries), entries
	return folder
}

type renderedTarget struct {
	folder   TargetFolder
	failures []failure
	leftOut  bool
	files    []render.File // the files, until their objects are read; nil if the objects are not read
	objects  objectsRead
}

// targetsPerChunk is the number of targets that one goroutine renders in a row.
const targetsPerChunk = 64

// workspace is memory for building one folder after another.
type workspace struct {
	rendered []renderedTarget
	buffers  []render.Buffer // the files that wait until their objects are read, by chunk
	entries  []entry
}

// targets returns n empty targets.
func (w *workspace) targets(n int) []renderedTarget {
	w.rendered = slices.Grow(w.rendered[:0], n)[:n]
	clear(w.rendered)
	return w.rendered
}

// renderTargets renders the targets of folder i on all CPUs, because most changes affect a single folder.
func (t *Tree) renderTargets(ctx context.Context, i int, w *workspace) []renderedTarget {
	n := len(t.Schedule.Placements[i].Assignments)
	rendered, chunks := w.targets(n), (n+targetsPerChunk-1)/targetsPerChunk
	for len(w.buffers) < chunks {
		w.buffers = append(w.buffers, render.Buffer{})
	}
	var waiting atomic.Int64
	mayWait := t.maxWaiting(i)
	parallel.Do(chunks, func(chunk int) {
		h := gitobject.NewHasher()
		entries := make([]entry, 0, render.MaxFiles)
		reader := objectReader{tree: t, folder: i, placement: &t.Schedule.Placements[i]}
		b := &w.buffers[chunk]
		b.Reset()
		next, waits := chunk*targetsPerChunk, false
		for a, result := range t.renderer.Placement(ctx, i, next, min(n, next+targetsPerChunk), b) {
			r := &rendered[next]
			size := r.set(a, result, h, entries)
			if t.checksObjects() {
				r.files = result.Files
				if waiting.Add(size) > mayWait {
					reader.read(next, r)
				}
			}
			waits = waits || r.files != nil
			if !waits {
				b.Reset()
			}
			next++
		}
	})
	return rendered
}

// set sets the result of rendering an assignment, except its objects. It returns the size of the files in bytes. The
// slice files must be empty, with room for all of them.
func (r *renderedTarget) set(
	a *schedule.Assignment, result render.AssignmentFiles, h *gitobject.Hasher, files []entry,
) (size int64) {
	r.folder.Name, r.folder.Empty = a.Target.Name, true
	for _, f := range result.Failures {
		r.failures = append(r.failures, failure{f, a})
	}
	for _, f := range result.Files {
		r.folder.Unknown = r.folder.Unknown || f.Unknown
		r.folder.Empty = r.folder.Empty && !f.Unknown && len(f.Content) == 0
		files = append(files, fileEntry(f, h))
		size += int64(len(f.Content))
	}
	r.folder.Hash = h.Tree(files)
	return size
}

// FilesHash returns the hash of the folder of a deployment target that contains these files.
func FilesHash(files []render.File) Hash {
	h := hashers.Get().(*filesHasher) //nolint:forcetypeassert // nothing else is stored
	defer hashers.Put(h)
	h.entries = h.entries[:0]
	for _, f := range files {
		h.entries = append(h.entries, fileEntry(f, h.Hasher))
	}
	return h.Tree(h.entries)
}

// filesHasher is a hasher with memory for the entries of a folder. Without the pool, a description of all changed lines
// of 100,000 assignments takes 30 MiB more.
type filesHasher struct {
	*gitobject.Hasher
	entries []entry
}

var hashers = sync.Pool{New: func() any { return &filesHasher{Hasher: gitobject.NewHasher()} }}

func fileEntry(f render.File, h *gitobject.Hasher) entry {
	return entry{Mode: gitobject.ModeFile, Name: f.Path, Hash: h.Object(gitobject.Blob, f.Content)}
}

// FolderHash returns the hash of a Git tree that contains only these folders, as [Tree.Hash] does.
func FolderHash(folders map[string]Hash) Hash { return hashWith(folders) }

// ClusterTypeHash returns the hash of a cluster type's folder that contains the folders of these deployment targets, as
// [Folder.Hash] does.
func ClusterTypeHash(targets map[string]Hash) Hash { return hashWith(targets, readme) }

// hashWith returns the hash of a tree with these folders and entries.
func hashWith(folders map[string]Hash, entries ...entry) Hash {
	for name, hash := range folders {
		entries = append(entries, folderEntry(name, hash))
	}
	return gitobject.NewHasher().Tree(entries)
}

// IsReadme reports whether blob is the hash of a cluster type folder's README.
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

// Files renders the files of folder i: its README, then the files of each target, sorted by name. The paths are
// relative to the folder. On the branch, the file "web/reconciler.yaml" of the folder large is at
// "<path>/large/web/reconciler.yaml", where <path> is the path of the destination, or nothing at the repo's root. The
// folder of the file is the deployment target. The template names the file, or else its use does: reconciler,
// namespace, platform-config or platform-secret.
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

// TargetFiles renders the files of target n of folder i, sorted by name. It takes no context, since an interrupted
// result would look complete.
func (t *Tree) TargetFiles(i, n int) iter.Seq[File] {
	return func(yield func(File) bool) {
		assignment := t.Folders[i].Targets[n].assignment
		for _, f := range t.renderer.Assignment(context.Background(), i, assignment, &render.Buffer{}).Files {
			if !yield(f) {
				return
			}
		}
	}
}
