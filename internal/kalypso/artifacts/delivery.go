package artifacts

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/giturl"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/sets"
)

var (
	// ErrNoCommit means that a branch does not contain a commit.
	ErrNoCommit = errors.New("the branch does not contain the commit")
	// ErrNoRecord means that no rendering was delivered with a commit.
	ErrNoRecord = errors.New("no rendering was delivered there: the commit has no record at the path")
	// ErrNoFolder means that people removed a folder of a rendering.
	ErrNoFolder = errors.New("the record lists it, but the branch does not contain it")
)

// Delivery lists the folders that a branch contains of a rendering at a commit. It is not safe for concurrent use.
type Delivery struct {
	at       destination.Destination
	repo     string // without credentials
	commit   plumbing.Hash
	snapshot *gitbranch.Snapshot
	trees    map[string]plumbing.Hash    // by cluster type
	changed  map[string]gitbranch.Commit // see readChanges
}

// Open reads which folders a rendering has at a commit of its branch. The errors are [ErrNoCommit], [ErrNoRecord],
// [ErrNoFolder], [*record.Error] and those of Git.
func Open(ctx context.Context, client *gitremote.Client, at destination.Destination, commit string) (*Delivery, error) {
	head, err := gitbranch.ReadHead(ctx, client, at.Repo, at.Branch)
	if err != nil {
		return nil, err
	}
	d := &Delivery{at: at, commit: plumbing.NewHash(commit), changed: map[string]gitbranch.Commit{}}
	if err := d.read(head); err != nil {
		head.Close()
		return nil, err
	}
	return d, nil
}

func (d *Delivery) read(head *gitbranch.Snapshot) error {
	repo, err := giturl.Parse(d.at.Repo)
	if err != nil {
		return err
	}
	d.repo = repo.String()
	switch {
	case head.Commit.IsZero():
		return gitbranch.ErrBranchNotFound
	case head.Commit != d.commit:
		switch _, found, err := head.History().Find(d.commit); {
		case err != nil:
			return err
		case !found:
			return ErrNoCommit
		}
	}
	d.snapshot, err = head.History().At(d.commit)
	if err != nil {
		return err
	}
	r, err := record.Read(d.snapshot, d.at)
	switch {
	case err != nil:
		return err
	case r == nil:
		return ErrNoRecord
	}
	folders, err := d.snapshot.Folders(d.at.Path)
	if err != nil {
		return err
	}
	d.trees = map[string]plumbing.Hash{}
	var missing []error
	for _, name := range r.ClusterTypes {
		tree, there := folders[name]
		if !there {
			missing = append(missing, fmt.Errorf("folder %q: %w", d.at.Join(name), ErrNoFolder))
		}
		d.trees[name] = tree
	}
	return problem.Join(missing...)
}

// Close closes the connection to the Git server.
func (d *Delivery) Close() { d.snapshot.Close() }

// TreeHashes returns the hashes of the folders, by cluster type.
func (d *Delivery) TreeHashes() map[string]string {
	return sets.MapValues(d.trees, plumbing.Hash.String)
}

// hashPrefix is between the branch and the commit in the annotation with the revision, as Flux writes it.
const hashPrefix = "@sha1:"

// source returns what the annotations of a cluster type's artifact say of its origin: the repo, and the commit that
// last changed the folder. A digest then does not depend on the time of the publication.
func (d *Delivery) source(clusterType string) source {
	return d.sourceAt(clusterType, d.changed[clusterType])
}

func (d *Delivery) sourceAt(clusterType string, changed gitbranch.Commit) source {
	return source{
		repo: d.repo, revision: d.at.Branch + hashPrefix + changed.Hash.String(), created: changed.When.UTC(),
		folder: d.at.Join(clusterType), tree: d.trees[clusterType].String(),
	}
}

// earlierSources returns the sources of artifacts that were published when an earlier commit gave the folders the same
// content. commits has a commit for each cluster type, which may be any hash.
func (d *Delivery) earlierSources(commits map[string]plumbing.Hash) (map[string]source, error) {
	earlier := maps.Clone(commits)
	maps.DeleteFunc(earlier, func(clusterType string, commit plumbing.Hash) bool {
		return commit.IsZero() || commit == d.changed[clusterType].Hash
	})
	if len(earlier) == 0 {
		return nil, nil
	}
	changes, err := d.snapshot.History().EarlierChanges(d.commit, d.at.Path, earlier)
	if err != nil {
		return nil, err
	}
	all := map[string]source{}
	for clusterType, changed := range changes {
		all[clusterType] = d.sourceAt(clusterType, changed)
	}
	return all, nil
}

// readChanges reads the commits that last changed the folders of cluster types. It reads the history of each once: what
// is uploaded is also signed.
func (d *Delivery) readChanges(clusterTypes []string) error {
	unread := slices.DeleteFunc(slices.Clone(clusterTypes), func(clusterType string) bool {
		_, read := d.changed[clusterType]
		return read
	})
	if len(unread) == 0 {
		return nil
	}
	read, err := d.snapshot.History().LastChanges(d.commit, d.at.Path, unread)
	maps.Copy(d.changed, read)
	return err
}

// files reads the files of some folders, by cluster type. It leaves out links and submodules, as flux push artifact
// does.
func (d *Delivery) files(clusterTypes []string) (map[string][]file, error) {
	part := d.snapshot.Fork() // its files can be freed
	folders := lists.Map(clusterTypes, d.at.Join)
	if err := part.Load(folders...); err != nil {
		return nil, err
	}
	blobs := map[plumbing.Hash]bool{}
	type entry struct {
		name string
		object.TreeEntry
	}
	entries := map[string][]entry{}
	walker := part.Walker()
	for i, folder := range folders {
		err := walker.Walk(folder, func(at string, e object.TreeEntry) error {
			if e.Mode.IsRegular() || e.Mode == filemode.Executable {
				name := strings.TrimPrefix(at, path.Clean(folder)+"/")
				entries[clusterTypes[i]] = append(entries[clusterTypes[i]], entry{name, e})
				blobs[e.Hash] = true
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	contents, _, err := part.Contents(slices.Collect(maps.Keys(blobs)))
	if err != nil {
		return nil, err
	}
	all := map[string][]file{}
	for clusterType, found := range entries {
		for _, e := range found {
			all[clusterType] = append(all[clusterType],
				file{e.name, contents[e.Hash], e.Mode == filemode.Executable})
		}
	}
	return all, nil
}
