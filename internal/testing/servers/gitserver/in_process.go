package gitserver

import (
	"bytes"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/storer"
	"github.com/go-git/go-git/v5/storage/filesystem"
)

// InProcess serves reads without a git process, which saves some milliseconds in each request. Clients read with
// protocol version 2 and filters. It supports only the requests that gitremote sends; git http-backend serves pushes.
// The tests of gitremote run over it as over the real servers.
func InProcess() Option {
	return func(s *Server) {
		s.inProcess = &inProcess{}
		s.config = append(s.config, "receive.unpackLimit=1000000") // a storage does not see later packs
	}
}

type inProcess struct {
	stores sync.Map // path of a repo → *filesystem.Storage, which keeps objects that it read
}

// store returns the storage of a repo.
func (p *inProcess) store(repo string) *filesystem.Storage {
	store, known := p.stores.Load(repo)
	if !known {
		store, _ = p.stores.LoadOrStore(repo, storageOf(repo))
	}
	return store.(*filesystem.Storage) //nolint:forcetypeassert // stored above
}

func storageOf(repo string) *filesystem.Storage {
	return filesystem.NewStorage(osfs.New(repo), cache.NewObjectLRUDefault())
}

// Storage returns the storage of the repo at a path. If the server is [InProcess], it is the server's storage, which
// caches objects; otherwise it is a new storage.
func (s *Server) Storage(repo string) *filesystem.Storage {
	if s.inProcess == nil {
		return storageOf(repo)
	}
	return s.inProcess.store(repo)
}

// References returns the references whose names have one of the prefixes, with their hashes. It reads the files of
// loose references itself, in a third of the time that the storage takes.
func References(
	store *filesystem.Storage, prefixes ...string,
) (map[plumbing.ReferenceName]plumbing.Hash, error) {
	refs := map[plumbing.ReferenceName]plumbing.Hash{}
	repo := store.Filesystem().Root()
	if _, err := os.Stat(filepath.Join(repo, "packed-refs")); err == nil {
		return refs, packedReferences(store, refs, prefixes)
	}
	return refs, looseReferences(repo, refs, prefixes)
}

func packedReferences(
	store storer.ReferenceStorer, refs map[plumbing.ReferenceName]plumbing.Hash, prefixes []string,
) error {
	all, err := store.IterReferences()
	if err != nil {
		return err
	}
	return all.ForEach(func(ref *plumbing.Reference) error {
		if ref.Type() == plumbing.HashReference && hasPrefix(ref.Name().String(), prefixes) {
			refs[ref.Name()] = ref.Hash()
		}
		return nil
	})
}

// looseReferences reads the references that have files of their own.
func looseReferences(repo string, refs map[plumbing.ReferenceName]plumbing.Hash, prefixes []string) error {
	return filepath.WalkDir(filepath.Join(repo, "refs"), func(path string, entry fs.DirEntry, err error) error {
		var hash []byte
		if err == nil && !entry.IsDir() && hasPrefix(path[len(repo)+1:], prefixes) && filepath.Ext(path) != ".lock" {
			hash, err = os.ReadFile(path)
		}
		if errors.Is(err, fs.ErrNotExist) { // the reference was deleted in the meantime
			return nil
		}
		if text := strings.TrimSpace(string(hash)); plumbing.IsHash(text) {
			refs[plumbing.ReferenceName(path[len(repo)+1:])] = plumbing.NewHash(text)
		}
		return err
	})
}

func hasPrefix(name string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}

// serve answers a request of the Git protocol.
func (p *inProcess) serve(s *Server, w http.ResponseWriter, req *http.Request, git http.Handler) {
	if service(req) == "git-receive-pack" {
		git.ServeHTTP(w, req)
		return
	}
	folder, _, _ := strings.Cut(req.URL.Path, "/info/refs")
	folder = strings.TrimSuffix(folder, "/git-upload-pack")
	repo := filepath.Join(s.Root, filepath.FromSlash(folder))
	if _, err := os.Stat(repo); err != nil {
		repo += ".git" // as git does
	}
	store := p.store(repo)
	if _, err := store.Reference(plumbing.HEAD); err != nil {
		http.NotFound(w, req)
		return
	}
	var answer bytes.Buffer
	kind := "result"
	if req.Method == http.MethodGet {
		kind = "advertisement"
		packets(&answer, "version 2\n", "agent=git/in-process\n", "ls-refs=unborn\n", "fetch=shallow filter\n",
			"object-format=sha1\n", "")
	} else if err := upload(&answer, store, req.Body); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/x-git-upload-pack-"+kind)
	w.Header().Set("Cache-Control", "no-cache")
	_, _ = answer.WriteTo(w)
}

// packets writes a packet for each text. An empty text is a flush packet.
func packets(w *bytes.Buffer, texts ...string) {
	for _, text := range texts {
		if text == "" {
			w.WriteString("0000")
		} else {
			w.WriteString(Packet(text))
		}
	}
}
