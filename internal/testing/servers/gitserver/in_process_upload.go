package gitserver

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"
	"github.com/go-git/go-git/v5/storage/filesystem"
)

// upload answers a command of protocol version 2.
func upload(w *bytes.Buffer, store *filesystem.Storage, body io.Reader) error {
	request, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	var lines []string
	for rest := string(request); rest != ""; {
		packet, after, ok := cutPacket(rest)
		if !ok {
			return errors.New("the request is not a list of packets")
		}
		rest = after
		if packet != "" {
			lines = append(lines, packet)
		}
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

func listRefs(w *bytes.Buffer, store *filesystem.Storage, arguments []string) error {
	var prefixes []string
	for _, a := range arguments {
		if prefix, isPrefix := strings.CutPrefix(a, "ref-prefix "); isPrefix {
			prefixes = append(prefixes, prefix)
		}
	}
	head, err := store.Reference(plumbing.HEAD)
	if err != nil {
		return err
	}
	refs, err := References(store, append(prefixes, head.Target().String())...)
	if err != nil {
		return err
	}
	commit := "unborn"
	if hash, born := refs[head.Target()]; born {
		commit = hash.String()
	}
	lines := []string{commit + " HEAD symref-target:" + head.Target().String() + "\n"}
	for _, name := range slices.Sorted(maps.Keys(refs)) {
		if hasPrefix(name.String(), prefixes) {
			lines = append(lines, refs[name].String()+" "+name.String()+"\n")
		}
	}
	packets(w, append(lines, "")...)
	return nil
}

// collector collects the objects of a fetch.
type collector struct {
	store        *filesystem.Storage
	depth        int // 0 for all commits
	trees, blobs bool
	found        map[plumbing.Hash]bool
	shallow      []plumbing.Hash
}

func fetch(w *bytes.Buffer, store *filesystem.Storage, arguments []string) error {
	c := &collector{store: store, trees: true, blobs: true, found: map[plumbing.Hash]bool{}}
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
			c.blobs = false
		case a == "filter tree:0":
			c.trees, c.blobs = false, false
		case a == "no-progress", a == "ofs-delta", a == "done", a == "thin-pack":
		default:
			return fmt.Errorf("%q is not supported", a)
		}
	}
	if i := slices.IndexFunc(wants, func(want plumbing.Hash) bool { return c.add(want) != nil }); i >= 0 {
		packets(w, "ERR upload-pack: not our ref "+wants[i].String()+"\n")
		return nil
	}
	if len(c.shallow) > 0 {
		packets(w, "shallow-info\n")
		for _, hash := range c.shallow {
			packets(w, "shallow "+hash.String()+"\n")
		}
		w.WriteString("0001") // a delimiter
	}
	packets(w, "packfile\n")
	hashes := slices.Collect(maps.Keys(c.found))
	plumbing.HashesSort(hashes)
	pack := packfile.NewEncoder(sideband.NewMuxer(sideband.Sideband64k, w), store, false)
	if _, err := pack.Encode(hashes, 0); err != nil {
		return err
	}
	packets(w, "")
	return nil
}

// add adds a requested object and the objects that it refers to. A filter never leaves out the requested object itself.
func (c *collector) add(want plumbing.Hash) error {
	found, err := c.store.EncodedObject(plumbing.AnyObject, want)
	switch {
	case err != nil:
		return err
	case found.Type() == plumbing.CommitObject:
		return c.addCommits(want)
	case found.Type() == plumbing.TreeObject:
		return c.addTree(want)
	}
	c.found[want] = true
	return nil
}

func (c *collector) addCommits(next ...plumbing.Hash) error {
	for depth := 1; len(next) > 0; depth++ {
		var parents []plumbing.Hash
		for _, hash := range next {
			commit, err := object.GetCommit(c.store, hash)
			if err == nil && c.trees {
				err = c.addTree(commit.TreeHash)
			}
			if err != nil {
				return err
			}
			c.found[hash] = true
			if depth == c.depth && len(commit.ParentHashes) > 0 {
				c.shallow = append(c.shallow, hash)
				continue
			}
			parents = append(parents, commit.ParentHashes...)
		}
		next = slices.DeleteFunc(parents, func(parent plumbing.Hash) bool { return c.found[parent] })
	}
	return nil
}

func (c *collector) addTree(hash plumbing.Hash) error {
	if c.found[hash] {
		return nil
	}
	c.found[hash] = true
	tree, err := object.GetTree(c.store, hash)
	if err != nil {
		return err
	}
	for _, entry := range tree.Entries {
		switch {
		case entry.Mode == filemode.Submodule:
		case entry.Mode == filemode.Dir && c.trees:
			err = c.addTree(entry.Hash)
		case entry.Mode != filemode.Dir && c.blobs:
			c.found[entry.Hash] = true
		}
		if err != nil {
			return err
		}
	}
	return nil
}
