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
		if rest = after; packet != "" {
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
	unborn, symrefs := false, false
	for _, a := range arguments {
		prefix, isPrefix := strings.CutPrefix(a, "ref-prefix ")
		if isPrefix {
			prefixes = append(prefixes, prefix)
		}
		unborn, symrefs = unborn || a == "unborn", symrefs || a == "symrefs"
	}
	head, err := store.Reference(plumbing.HEAD)
	if err != nil {
		return err
	}
	refs, err := References(store, append(prefixes, head.Target().String())...)
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
	store       *filesystem.Storage
	depth       int // 0 for all commits
	trees, blob bool
	found       map[plumbing.Hash]bool
	shallow     []plumbing.Hash
}

func fetch(w *bytes.Buffer, store *filesystem.Storage, arguments []string) error {
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
