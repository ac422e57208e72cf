package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/giturl"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/parallel"
)

// Limits bounds the work of a [Reader].
type Limits struct {
	Repos int   // repos read at the same time
	Fetch int64 // bytes of one fetch
	File  int64 // bytes of a file
	Total int64 // bytes of all returned manifests
	// Entries bounds the files and folders of a location, and Files the YAML files to read. Each counts at all of its
	// paths: a repo may contain one tree or file at any number of them.
	Entries, Files int
}

// DefaultLimits is generous for control planes and fits the memory of a pipeline. Total stays well below the size
// that Terraform accepts in one response of a provider.
var DefaultLimits = Limits{
	Repos: 8, Fetch: 256 << 20, File: 10 << 20, Total: 64 << 20, Entries: 1_000_000, Files: 100_000,
}

// Reader reads locations and caches what it read. It is safe for concurrent use.
type Reader struct {
	client *gitremote.Client
	limits Limits
	slots  chan struct{}

	mu    sync.Mutex
	repos map[string]*repo // by [giturl.URL.AddressKey]: each has its own credential and mirror
}

// NewReader returns the reader of a run. Without a client it reads only local folders.
func NewReader(client *gitremote.Client, limits Limits) *Reader {
	return &Reader{client: client, limits: limits, slots: make(chan struct{}, limits.Repos), repos: map[string]*repo{}}
}

// repo is a repo that one goroutine at a time reads.
type repo struct {
	slot chan struct{}
	git  *gitbranch.Repo
}

// contents is the content of a location.
type contents struct {
	location Location // with its commit
	listing
	// The contents of files, and the sizes of files that are too large to read, by path: of all locations at the commit.
	text     map[string]string
	tooLarge map[string]int64
	err      error // the reason why the location can't be read
}

// read reads locations, each repo in one session. The results are in the order of the locations.
func (r *Reader) read(ctx context.Context, locations []Location) []*contents {
	all := make([]*contents, len(locations))
	byRepo := map[string][]*contents{}
	for i, p := range locations {
		c := &contents{}
		all[i] = c
		c.location, c.err = p.check()
		if c.err != nil {
			continue
		}
		if p.Directory != "" {
			r.readDirectory(ctx, c)
			continue
		}
		key := giturl.AddressKey(c.location.Repo)
		byRepo[key] = append(byRepo[key], c)
	}
	keys := sortedKeys(byRepo)
	parallel.Limited(len(keys), cap(r.slots), func(i int) { r.readRepo(ctx, byRepo[keys[i]]) })
	return all
}

// errNoClient means that the provider is not configured yet.
var errNoClient = errors.New("the provider configuration is not known yet, so no repo can be read")

func (r *Reader) repo(url string) (*repo, error) {
	if r.client == nil {
		return nil, errNoClient
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	key := giturl.AddressKey(url)
	if known := r.repos[key]; known != nil {
		return known, nil
	}
	limits := gitremote.ReadLimits{Fetch: r.limits.Fetch, File: r.limits.File, Entries: r.limits.Entries}
	git, err := gitbranch.OpenRepo(r.client, url, limits)
	if err != nil {
		return nil, err
	}
	r.repos[key] = &repo{slot: make(chan struct{}, 1), git: git}
	return r.repos[key], nil
}

// withRepo runs f with a connection to a repo, while no other goroutine reads the repo.
func (r *Reader) withRepo(ctx context.Context, url string, f func(*gitbranch.Repo)) error {
	repo, err := r.repo(url)
	if err != nil {
		return err
	}
	for _, slots := range []chan struct{}{r.slots, repo.slot} {
		select {
		case slots <- struct{}{}:
			defer func() { <-slots }()
		case <-ctx.Done(): // the current reader may have a later deadline
			return ctx.Err()
		}
	}
	repo.git.WithConnection(ctx, func() { f(repo.git) })
	return nil
}

// readRepo reads the locations of one repo.
func (r *Reader) readRepo(ctx context.Context, asked []*contents) {
	err := r.withRepo(ctx, asked[0].location.Repo, func(git *gitbranch.Repo) {
		at := map[string][]*contents{} // by commit
		for _, c := range asked {
			if c.location.Commit == "" {
				var head plumbing.Hash
				head, c.err = git.Head(c.location.Branch)
				switch {
				case c.err != nil:
					continue
				case head.IsZero():
					c.err = gitbranch.ErrBranchNotFound
					continue
				}
				c.location.Commit = head.String()
			}
			at[c.location.Commit] = append(at[c.location.Commit], c)
		}
		for _, commit := range sortedKeys(at) {
			snapshot, err := git.At(plumbing.NewHash(commit), at[commit][0].location.Branch)
			if err == nil {
				err = r.limits.readSnapshot(snapshot, at[commit])
			}
			for _, c := range at[commit] {
				switch {
				case c.err != nil:
				case err != nil || c.location.Verify == nil:
					c.err = err
				default:
					c.location.Signer, c.err = c.location.Verify.commit(snapshot.History(), snapshot.Commit)
				}
			}
		}
	})
	if err != nil {
		for _, c := range asked {
			c.err = err
		}
	}
}

// readSnapshot reads folders of one commit: first all trees, then all ignore files, then all other files. If a folder
// can't be read because of its content, only this folder gets the error.
func (l Limits) readSnapshot(snapshot *gitbranch.Snapshot, asked []*contents) error {
	folders := lists.Map(asked, func(c *contents) string { return c.location.Path })
	if err := snapshot.Load(folders...); err != nil {
		return err
	}
	hashes := map[string]plumbing.Hash{} // of files, by path
	entries, ignoreFiles := make([][]entry, len(asked)), make([][]string, len(asked))
	for i, c := range asked {
		var err error
		entries[i], ignoreFiles[i], err = listFolder(snapshot, c, hashes)
		if _, fault := errors.AsType[*gitbranch.FolderError](err); fault {
			c.err = err
		} else if err != nil {
			return err
		}
	}
	text, _, err := readTexts(snapshot, slices.Concat(ignoreFiles...), hashes)
	if err != nil {
		return err
	}
	var wants []string
	for i, c := range asked {
		ignores := map[string]string{}
		for _, p := range ignoreFiles[i] {
			ignores[p] = text[p]
		}
		c.err = cmp.Or(c.err, checkIgnoreWork(entries[i], ignores))
		if c.err != nil {
			continue
		}
		c.listing = newListing(c.location.Path, entries[i], ignores)
		if len(c.files) > l.Files && l.Files > 0 {
			c.err = fmt.Errorf("%w: folder %q has %d YAML files, and at most %d are read", errTooManyFiles, c.location.Path,
				len(c.files), l.Files)
			continue
		}
		wants = append(wants, c.files...)
	}
	text, tooLarge, err := readTexts(snapshot, wants, hashes)
	for _, c := range asked {
		c.text, c.tooLarge = text, tooLarge
		if size := c.size(); size > l.Fetch && l.Fetch > 0 && c.err == nil {
			c.err = fmt.Errorf("%w: the YAML files of folder %q have %d bytes, and at most %d are read", errTooManyFiles,
				c.location.Path, size, l.Fetch)
		}
	}
	return err
}

// errTooManyFiles means that a folder has too many files, or that they are too large together.
var errTooManyFiles = errors.New("the folder is too large")

// size returns the bytes of the files of a location. A file counts at each of its paths.
func (c *contents) size() (size int64) {
	for _, p := range c.files {
		size += int64(len(c.text[p]))
	}
	return size
}

// listFolder lists the folder of c with the paths of its ignore files, and adds the hashes of its files by path. If
// there is no such folder, it sets c.err.
func listFolder(
	snapshot *gitbranch.Snapshot, c *contents, hashes map[string]plumbing.Hash,
) (entries []entry, ignoreFiles []string, err error) {
	found, _, err := snapshot.Entry(c.location.Path)
	if err != nil {
		return nil, nil, err
	}
	if found.Mode != filemode.Dir {
		c.err = folderNotFound(c.location.Path, found.Mode)
		return nil, nil, nil
	}
	err = snapshot.Walk(c.location.Path, func(p string, e object.TreeEntry) error {
		found := entry{p, e.Mode}
		ignores := e.Name == ignoreFile && isFile(e.Mode)
		if isListed(found) {
			entries = append(entries, found)
		}
		if ignores {
			ignoreFiles = append(ignoreFiles, p)
		}
		if ignores || isListed(found) {
			hashes[p] = e.Hash
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	for _, p := range ignoreFilePaths(c.location.Path) {
		e, _, err := snapshot.Entry(p)
		if err != nil {
			return nil, nil, err
		}
		if isFile(e.Mode) {
			hashes[p], ignoreFiles = e.Hash, append(ignoreFiles, p)
		}
	}
	return entries, ignoreFiles, nil
}

// readTexts reads files, whose hashes are given, by path.
func readTexts(
	snapshot *gitbranch.Snapshot, paths []string, hashes map[string]plumbing.Hash,
) (text map[string]string, tooLarge map[string]int64, err error) {
	contents, sizes, err := snapshot.Contents(lists.Map(paths, func(p string) plumbing.Hash { return hashes[p] }))
	if err != nil {
		return nil, nil, fmt.Errorf("the files can't be read: %w", err)
	}
	texts := make(map[plumbing.Hash]string, len(contents)) // a file at many paths is in memory once
	for hash, content := range contents {
		texts[hash] = string(content)
	}
	text, tooLarge = map[string]string{}, map[string]int64{}
	for _, p := range paths {
		if size, large := sizes[hashes[p]]; large {
			tooLarge[p] = size
		} else {
			text[p] = texts[hashes[p]]
		}
	}
	return text, tooLarge, nil
}
