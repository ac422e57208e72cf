package versions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/giturl"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/parallel"
)

// The limits of reading.
const (
	maxRepos = 8 // at the same time
	maxFiles = 1000
	maxBytes = 16 << 20 // of the files of a place
	maxFetch = 32 << 20 // of one answer of a server

	maxEntries = 1_000_000 // files and folders of a place
)

// The errors of a place, beside those of packages remote and branch.
var (
	ErrLocal     = errors.New("teams must not choose which local files are read; set allow_local_repos to allow it")
	errNoPlace   = errors.New("the folder of the deployment target does not show which repo it comes from")
	ErrNoFolder  = errors.New("the commit has no such folder")
	ErrDocuments = fmt.Errorf("its YAML files have more than %d documents", maxDocuments)
	ErrFiles     = fmt.Errorf("it has more than %d YAML files", maxFiles)
	ErrBytes     = fmt.Errorf("its YAML files have more than %d MiB", maxBytes>>20)
)

// At is a place at a commit.
type At struct {
	Place
	Commit string // full hash
}

// Content is the content of a place at a commit. Tree and Err are both set if the folder is known and its files can't
// be read.
type Content struct {
	Manifests
	Err error
}

// Read reads places, several repos at a time. If a repo cannot be read, only its places get the error. allowLocal
// allows places on this machine.
func Read(ctx context.Context, client *gitremote.Client, places []At, allowLocal bool) map[At]*Content {
	results := map[At]*Content{}
	byRepo := map[string][]At{}
	for _, at := range places {
		if results[at] != nil {
			continue
		}
		results[at] = &Content{}
		if key, err := check(at, allowLocal); err != nil {
			results[at].Err = err
		} else {
			byRepo[key] = append(byRepo[key], at)
		}
	}
	keys := slices.Sorted(maps.Keys(byRepo))
	parallel.Limited(len(keys), maxRepos, func(i int) {
		r := &reader{client: client, results: results, read: map[string]*Content{}}
		commits := map[string][]At{}
		for _, at := range byRepo[keys[i]] {
			commits[at.Commit] = append(commits[at.Commit], at)
		}
		for _, commit := range slices.Sorted(maps.Keys(commits)) {
			slices.SortFunc(commits[commit], func(a, b At) int {
				return cmp.Or(cmp.Compare(a.Repo, b.Repo), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Branch, b.Branch))
			})
			r.commit(ctx, commits[commit])
		}
	})
	return results
}

// check returns the key of a place's repo, by which it gets its credential.
func check(at At, allowLocal bool) (key string, err error) {
	if at.Repo == "" {
		return "", errNoPlace
	}
	url, err := giturl.Parse(at.Repo)
	switch {
	case err != nil:
		return "", err
	case url.IsLocal() && !allowLocal:
		return "", ErrLocal
	}
	return giturl.AddressKey(at.Repo), nil
}

// reader reads the places of one repo.
type reader struct {
	client  *gitremote.Client
	results map[At]*Content
	read    map[string]*Content // by the hash of the tree
}

// commit reads the places of one commit. The objects from the server are dropped afterwards.
func (r *reader) commit(ctx context.Context, places []At) {
	limits := gitremote.ReadLimits{Fetch: maxFetch, File: maxBytes, Entries: maxEntries}
	repo, err := gitbranch.OpenRepo(r.client, places[0].Repo, limits)
	if err == nil {
		repo.WithConnection(ctx, func() {
			var snapshot *gitbranch.Snapshot
			snapshot, err = repo.At(plumbing.NewHash(places[0].Commit), places[0].Branch)
			if err != nil {
				return
			}
			for _, at := range places {
				r.place(snapshot, at)
			}
		})
	}
	if err != nil {
		for _, at := range places {
			r.results[at].Err = err
		}
	}
}

// place reads one place.
func (r *reader) place(snapshot *gitbranch.Snapshot, at At) {
	result := r.results[at]
	folder, there, err := snapshot.Entry(at.Path)
	if err == nil && (!there || folder.Mode != filemode.Dir) {
		err = ErrNoFolder
	}
	result.Err = err
	if err != nil {
		return
	}
	tree := folder.Hash.String()
	known := r.read[tree]
	if known == nil {
		known = &Content{}
		var files map[string][]byte
		files, known.Err = filesBelow(snapshot, at.Path)
		if known.Err == nil {
			known.Manifests, known.Err = parse(files)
		}
		r.read[tree] = known
	}
	*result = *known
	result.Tree = tree
	if commit, err := snapshot.CommitInfo(); err == nil {
		result.CommittedAt = commit.When.UTC()
	}
}

// filesBelow returns the YAML files below a path.
func filesBelow(snapshot *gitbranch.Snapshot, at string) (map[string][]byte, error) {
	if err := snapshot.Load(at); err != nil {
		return nil, err
	}
	hashes := map[string]plumbing.Hash{}
	err := snapshot.Walk(at, func(path string, e object.TreeEntry) error {
		if e.Mode.IsFile() && e.Mode != filemode.Symlink &&
			(strings.HasSuffix(path, ".yaml") || strings.HasSuffix(path, ".yml")) {
			hashes[path] = e.Hash
		}
		if len(hashes) > maxFiles {
			return ErrFiles
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	contents, tooLarge, err := snapshot.Contents(slices.Collect(maps.Values(hashes)))
	switch {
	case errors.Is(err, gitremote.ErrTooLarge), len(tooLarge) > 0:
		return nil, ErrBytes
	case err != nil:
		return nil, err
	}
	files, size := map[string][]byte{}, 0
	for path, hash := range hashes {
		files[path] = contents[hash]
		size += len(contents[hash])
	}
	if size > maxBytes {
		return nil, ErrBytes
	}
	return files, nil
}
