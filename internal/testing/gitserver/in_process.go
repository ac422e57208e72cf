package gitserver

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/storage/filesystem"
)

// InProcess serves Git without a git process: reading by protocol version 2 with filters, pushing by version 0. It
// knows what gitremote requests and no more, and does not check that pushed objects are connected. The tests of
// gitremote run over it as over the real servers. A test that makes thousands of requests saves some milliseconds each.
func InProcess() Option {
	return func(s *Server) { s.inProcess = &inProcess{} }
}

type inProcess struct {
	mu     sync.Mutex // of pushes
	stores sync.Map   // path of a repo → *filesystem.Storage, which keeps objects that it read
}

// store returns the storage of a repo.
func (p *inProcess) store(repo string) *filesystem.Storage {
	store, _ := p.stores.LoadOrStore(repo, filesystem.NewStorage(osfs.New(repo), cache.NewObjectLRUDefault()))
	return store.(*filesystem.Storage) //nolint:forcetypeassert // stored above
}

// serve answers a request of the Git protocol.
func (p *inProcess) serve(s *Server, w http.ResponseWriter, req *http.Request) {
	folder, _, _ := strings.Cut(req.URL.Path, "/info/refs")
	folder = strings.TrimSuffix(folder, "/"+service(req))
	repo := filepath.Join(s.Root, filepath.FromSlash(folder))
	if _, err := os.Stat(repo); err != nil {
		repo += ".git" // as git does
	}
	store := p.store(repo)
	if _, err := store.Reference(plumbing.HEAD); err != nil {
		http.NotFound(w, req)
		return
	}
	body := io.Reader(req.Body)
	if req.Header.Get("Content-Encoding") == "gzip" {
		unpacked, err := gzip.NewReader(req.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		body = unpacked
	}
	kind := "result"
	if req.Method == http.MethodGet {
		kind = "advertisement"
	}
	w.Header().Set("Content-Type", "application/x-"+service(req)+"-"+kind)
	w.Header().Set("Cache-Control", "no-cache")
	var answer bytes.Buffer
	var err error
	switch {
	case service(req) == "git-receive-pack" && req.Method == http.MethodGet:
		err = advertise(&answer, store)
	case service(req) == "git-receive-pack":
		p.mu.Lock()
		defer p.mu.Unlock()
		err = receive(&answer, store, repo, body)
	case req.Method == http.MethodGet:
		err = packets(&answer, "version 2\n", "agent=git/in-process\n", "ls-refs=unborn\n", "fetch=shallow filter\n",
			"object-format=sha1\n", "")
	default:
		err = upload(&answer, store, body)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	_, _ = answer.WriteTo(w)
}

// packets writes packets; an empty text is a flush.
func packets(w io.Writer, texts ...string) error {
	for _, text := range texts {
		packet := "0000"
		if text != "" {
			packet = fmt.Sprintf("%04x%s", len(text)+4, text)
		}
		if _, err := io.WriteString(w, packet); err != nil {
			return err
		}
	}
	return nil
}

// delimiter is the packet between the sections of a request or an answer.
const delimiter = "0001"
