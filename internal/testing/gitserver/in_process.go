package gitserver

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/format/pktline"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"
	"github.com/go-git/go-git/v5/plumbing/storer"
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

// upload answers a command of protocol version 2.
func upload(w io.Writer, store *filesystem.Storage, body io.Reader) error {
	request, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	var lines []string
	for rest := string(request); len(rest) >= 4; {
		size, err := strconv.ParseUint(rest[:4], 16, 16)
		if err != nil || int(size) > len(rest) {
			return errors.New("the request is no list of packets")
		}
		if size < 4 { // a flush or a delimiter
			rest = rest[4:]
			continue
		}
		lines, rest = append(lines, strings.TrimSuffix(rest[4:size], "\n")), rest[size:]
	}
	switch {
	case len(lines) == 0:
		return errors.New("the request is empty")
	case lines[0] == "command=ls-refs":
		return listRefs(w, store, lines[1:])
	case lines[0] == "command=fetch":
		return fetch(w, store, lines[1:])
	}
	return fmt.Errorf("%q is not supported", lines[0])
}

func listRefs(w io.Writer, store *filesystem.Storage, arguments []string) error {
	var prefixes []string
	unborn, symrefs := false, false
	for _, a := range arguments {
		prefix, isPrefix := strings.CutPrefix(a, "ref-prefix ")
		if isPrefix {
			prefixes = append(prefixes, prefix)
		}
		unborn, symrefs = unborn || a == "unborn", symrefs || a == "symrefs"
	}
	refs, err := references(store)
	if err != nil {
		return err
	}
	head, err := store.Reference(plumbing.HEAD)
	if err != nil {
		return err
	}
	var lines []string
	attribute := ""
	if symrefs {
		attribute = " symref-target:" + head.Target().String()
	}
	if commit, born := refs[head.Target()]; born {
		lines = append(lines, commit.String()+" HEAD"+attribute+"\n")
	} else if unborn {
		lines = append(lines, "unborn HEAD"+attribute+"\n")
	}
	for _, name := range sorted(refs) {
		if slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name.String(), p) }) {
			lines = append(lines, refs[name].String()+" "+name.String()+"\n")
		}
	}
	return packets(w, append(lines, "")...)
}

func references(store storer.ReferenceStorer) (map[plumbing.ReferenceName]plumbing.Hash, error) {
	refs := map[plumbing.ReferenceName]plumbing.Hash{}
	all, err := store.IterReferences()
	if err != nil {
		return nil, err
	}
	return refs, all.ForEach(func(ref *plumbing.Reference) error {
		if ref.Type() == plumbing.HashReference {
			refs[ref.Name()] = ref.Hash()
		}
		return nil
	})
}

func sorted(refs map[plumbing.ReferenceName]plumbing.Hash) []plumbing.ReferenceName {
	var names []plumbing.ReferenceName
	for name := range refs {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// collector collects the objects of a fetch.
type collector struct {
	store       *filesystem.Storage
	depth       int // 0: all
	trees, blob bool
	found       map[plumbing.Hash]bool
	shallow     []plumbing.Hash
}

func fetch(w io.Writer, store *filesystem.Storage, arguments []string) error {
	c := &collector{store: store, trees: true, blob: true, found: map[plumbing.Hash]bool{}}
	var wants []plumbing.Hash
	for _, a := range arguments {
		name, value, _ := strings.Cut(a, " ")
		switch {
		case name == "want":
			wants = append(wants, plumbing.NewHash(value))
		case name == "deepen":
			depth, err := strconv.Atoi(value)
			if err != nil {
				return err
			}
			c.depth = depth
		case a == "filter blob:none":
			c.blob = false
		case a == "filter tree:0":
			c.trees, c.blob = false, false
		case a == "no-progress", a == "ofs-delta", a == "done", a == "thin-pack":
		default:
			return fmt.Errorf("%q is not supported", a)
		}
	}
	for _, want := range wants {
		if err := c.add(want); err != nil {
			return packets(w, "ERR upload-pack: not our ref "+want.String()+"\n")
		}
	}
	if len(c.shallow) > 0 {
		lines := []string{"shallow-info\n"}
		for _, hash := range c.shallow {
			lines = append(lines, "shallow "+hash.String()+"\n")
		}
		if err := packets(w, lines...); err != nil {
			return err
		}
		if _, err := io.WriteString(w, delimiter); err != nil {
			return err
		}
	}
	if err := packets(w, "packfile\n"); err != nil {
		return err
	}
	hashes := make([]plumbing.Hash, 0, len(c.found))
	for hash := range c.found {
		hashes = append(hashes, hash)
	}
	plumbing.HashesSort(hashes)
	pack := packfile.NewEncoder(sideband.NewMuxer(sideband.Sideband64k, w), store, false)
	if _, err := pack.Encode(hashes, 0); err != nil {
		return err
	}
	return packets(w, "")
}

// add adds a requested object, which no filter leaves out, and what belongs to it.
func (c *collector) add(want plumbing.Hash) error {
	found, err := c.store.EncodedObject(plumbing.AnyObject, want)
	if err != nil {
		return err
	}
	switch found.Type() {
	case plumbing.CommitObject:
		return c.addCommits(want)
	case plumbing.TreeObject:
		c.found[want] = true
		return c.addEntries(want)
	}
	c.found[want] = true
	return nil
}

func (c *collector) addCommits(first plumbing.Hash) error {
	next := []plumbing.Hash{first}
	for depth := 1; len(next) > 0; depth++ {
		var parents []plumbing.Hash
		for _, hash := range next {
			commit, err := object.GetCommit(c.store, hash)
			if err != nil {
				return err
			}
			c.found[hash] = true
			if c.trees {
				if err := c.addTree(commit.TreeHash); err != nil {
					return err
				}
			}
			if depth == c.depth && len(commit.ParentHashes) > 0 {
				c.shallow = append(c.shallow, hash)
				continue
			}
			for _, parent := range commit.ParentHashes {
				if !c.found[parent] {
					parents = append(parents, parent)
				}
			}
		}
		next = parents
	}
	return nil
}

func (c *collector) addTree(hash plumbing.Hash) error {
	if c.found[hash] {
		return nil
	}
	c.found[hash] = true
	return c.addEntries(hash)
}

func (c *collector) addEntries(hash plumbing.Hash) error {
	tree, err := object.GetTree(c.store, hash)
	if err != nil {
		return err
	}
	for _, entry := range tree.Entries {
		switch {
		case entry.Mode == filemode.Submodule:
		case entry.Mode == filemode.Dir && c.trees:
			err = c.addTree(entry.Hash)
		case entry.Mode != filemode.Dir && c.blob:
			c.found[entry.Hash] = true
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// advertise lists the references for a push.
func advertise(w io.Writer, store *filesystem.Storage) error {
	refs, err := references(store)
	if err != nil {
		return err
	}
	adv := packp.NewAdvRefs()
	adv.Prefix = [][]byte{[]byte("# service=git-receive-pack"), pktline.Flush}
	for name, hash := range refs {
		adv.References[name.String()] = hash
	}
	for _, c := range []capability.Capability{
		capability.ReportStatus, capability.DeleteRefs, capability.Sideband64k, capability.OFSDelta,
	} {
		if err := adv.Capabilities.Set(c); err != nil {
			return err
		}
	}
	if err := adv.Capabilities.Set(capability.Agent, "git/in-process"); err != nil {
		return err
	}
	return adv.Encode(w)
}

// receive takes a push, and reports its result in Git's words.
func receive(w io.Writer, store *filesystem.Storage, repo string, body io.Reader) error {
	request := packp.NewReferenceUpdateRequest()
	if err := request.Decode(body); err != nil {
		return err
	}
	report := packp.NewReportStatus()
	report.UnpackStatus = "ok"
	if slices.ContainsFunc(request.Commands, func(c *packp.Command) bool { return !c.New.IsZero() }) {
		if err := packfile.UpdateObjectStorage(store, request.Packfile); err != nil {
			report.UnpackStatus = err.Error()
		}
	}
	mux := sideband.NewMuxer(sideband.Sideband64k, w)
	said := writerFunc(func(p []byte) (int, error) { return mux.WriteChannel(sideband.ProgressMessage, p) })
	stdin := ""
	for _, c := range request.Commands {
		stdin += fmt.Sprintf("%s %s %s\n", c.Old, c.New, c.Name)
	}
	accepted := runHook(said, repo, "pre-receive", stdin)
	for _, command := range request.Commands {
		var status string
		switch {
		case report.UnpackStatus != "ok":
			status = "unpacker error"
		case !accepted:
			status = "pre-receive hook declined"
		default:
			status = apply(said, store, repo, command)
		}
		report.CommandStatuses = append(report.CommandStatuses,
			&packp.CommandStatus{ReferenceName: command.Name, Status: status})
	}
	var text bytes.Buffer
	if err := report.Encode(&text); err != nil {
		return err
	}
	if _, err := mux.Write(text.Bytes()); err != nil {
		return err
	}
	return packets(w, "")
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// runHook runs a hook, if the repo has it, and reports whether it accepts. What it prints goes to said.
func runHook(said io.Writer, repo, name, stdin string, arguments ...string) bool {
	hook := filepath.Join(repo, "hooks", name)
	if _, err := os.Stat(hook); err != nil {
		return true
	}
	cmd := exec.Command(hook, arguments...)
	cmd.Dir, cmd.Env, cmd.Stdin = repo, Env(), strings.NewReader(stdin)
	cmd.Stdout, cmd.Stderr = said, said
	return cmd.Run() == nil
}

// apply updates a reference, and returns its status.
func apply(said io.Writer, store *filesystem.Storage, repo string, c *packp.Command) string {
	head, err := store.Reference(plumbing.HEAD)
	if err != nil {
		return err.Error()
	}
	if c.New.IsZero() && head.Target() == c.Name {
		return "deletion of the current branch prohibited"
	}
	if !runHook(said, repo, "update", "", c.Name.String(), c.Old.String(), c.New.String()) {
		return "hook declined"
	}
	now := plumbing.ZeroHash
	if ref, err := store.Reference(c.Name); err == nil {
		now = ref.Hash()
	}
	switch {
	case now != c.Old:
		fmt.Fprintf(said, "error: cannot lock ref '%s': is at %s but expected %s\n", c.Name, now, c.Old)
		return "failed to update ref"
	case c.New.IsZero():
		err = store.RemoveReference(c.Name)
	default:
		err = store.SetReference(plumbing.NewHashReference(c.Name, c.New))
	}
	if err != nil {
		fmt.Fprintf(said, "error: %v\n", err)
		return "failed to update ref"
	}
	runHook(said, repo, "post-receive", fmt.Sprintf("%s %s %s\n", c.Old, c.New, c.Name))
	return "ok"
}
