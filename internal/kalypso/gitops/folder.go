package gitops

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
)

// ErrTreeMismatch means that the files of a folder do not make the tree that
// was announced. It is a fault of the program, and nothing is written.
var ErrTreeMismatch = errors.New("the files of the folder do not make the tree that was announced")

// errOrder: files came out of order, or a file and a folder have one name.
var errOrder = errors.New("out of the byte order of paths, or there twice")

// emptyTree is the hash of a tree without entries.
var emptyTree = plumbing.ComputeHash(plumbing.TreeObject, nil)

// batchBytes and batchFiles are how much a worker gets at once.
const (
	batchBytes = 256 << 10
	batchFiles = 128
)

// batch is some files of a folder on their way through a worker.
type batch struct {
	paths  []string
	data   [][]byte
	hashes []plumbing.Hash
	err    error
	done   chan struct{}
}

// crew compresses files on all cores.
type crew struct {
	jobs chan *batch
	wg   sync.WaitGroup
	size int
}

func newCrew(ctx context.Context, p *pack) *crew {
	c := &crew{jobs: make(chan *batch), size: runtime.GOMAXPROCS(0)}
	for range c.size {
		c.wg.Go(func() {
			w := newPacker(p)
			defer w.flush()
			for b := range c.jobs {
				b.hashes = make([]plumbing.Hash, len(b.data))
				for i, content := range b.data {
					if b.err = ctx.Err(); b.err != nil {
						break
					}
					if b.hashes[i], b.err = w.add(plumbing.BlobObject, content); b.err != nil {
						break
					}
				}
				b.data = nil
				close(b.done)
			}
		})
	}
	return c
}

// close waits until all is in the pack.
func (c *crew) close() {
	close(c.jobs)
	c.wg.Wait()
}

// folder packs the files of a folder and gives the hash of its tree; zero
// where it has no files. count is called with the files of each batch.
func (c *crew) folder(ctx context.Context, f Folder, trees *packer, count func(int)) (plumbing.Hash, error) {
	ordered := make(chan *batch, 2*c.size)
	result := make(chan error, 1)
	builder := &treeBuilder{packer: trees}
	go func() {
		var err error
		for b := range ordered {
			<-b.done
			if err == nil {
				err = errors.Join(b.err, builder.addAll(b))
			}
			count(len(b.paths))
		}
		result <- err
	}()
	err := c.read(ctx, f, ordered)
	close(ordered)
	if err = errors.Join(err, <-result); err != nil {
		return plumbing.ZeroHash, fmt.Errorf("folder %s: %w", quote(f.Path), err)
	}
	h, err := builder.finish()
	if err != nil {
		return plumbing.ZeroHash, err
	}
	want := f.Hash
	if want == emptyTree {
		want = plumbing.ZeroHash
	}
	if h != want {
		return plumbing.ZeroHash, fmt.Errorf("folder %s: %w: %s, not %s", quote(f.Path), ErrTreeMismatch, h, f.Hash)
	}
	return h, nil
}

// read cuts the files into batches, each to a worker and into the order.
func (c *crew) read(ctx context.Context, f Folder, ordered chan<- *batch) error {
	b := &batch{done: make(chan struct{})}
	size := 0
	send := func() {
		ordered <- b
		c.jobs <- b
		b, size = &batch{done: make(chan struct{})}, 0
	}
	for file, err := range f.Files {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		b.paths = append(b.paths, file.Path)
		b.data = append(b.data, file.Content)
		if size += len(file.Content); size >= batchBytes || len(b.data) >= batchFiles {
			send()
		}
	}
	if len(b.data) > 0 {
		send()
	}
	return nil
}

// treeBuilder makes trees of files that come in the byte order of their paths,
// which is Git's order: what is open is the way to the last one.
type treeBuilder struct {
	packer *packer
	open   []level // open[0] is the folder itself
	last   string
	raw    []byte
}

type level struct {
	name    string
	entries []entry
}

func (t *treeBuilder) addAll(b *batch) error {
	for i, p := range b.paths {
		if err := t.add(p, b.hashes[i]); err != nil {
			return err
		}
	}
	return nil
}

func (t *treeBuilder) add(path string, blob plumbing.Hash) error {
	names, err := splitPath(path)
	if err != nil {
		return err
	}
	if len(names) == 0 || path <= t.last {
		return &PathError{Path: path, Err: errOrder}
	}
	t.last = path
	if t.open == nil {
		t.open = []level{{}}
	}
	dirs, name := names[:len(names)-1], names[len(names)-1]
	same := 0
	for same < len(dirs) && same+1 < len(t.open) && t.open[same+1].name == dirs[same] {
		same++
	}
	if err := t.shut(same + 1); err != nil {
		return err
	}
	for _, d := range dirs[same:] {
		t.open = append(t.open, level{name: d})
	}
	top := &t.open[len(t.open)-1]
	top.entries = append(top.entries, entry{mode: modeFile, name: name, hash: blob})
	return nil
}

// shut writes the open folders from a depth on.
func (t *treeBuilder) shut(depth int) error {
	for len(t.open) > depth {
		done := t.open[len(t.open)-1]
		h, err := t.write(done)
		if err != nil {
			return err
		}
		t.open = t.open[:len(t.open)-1]
		top := &t.open[len(t.open)-1]
		// All that sorts between a file and a folder of one name starts with it.
		for i := len(top.entries) - 1; i >= 0 && strings.HasPrefix(top.entries[i].name, done.name); i-- {
			if top.entries[i].name == done.name {
				return &PathError{Path: done.name, Err: errOrder}
			}
		}
		top.entries = append(top.entries, entry{mode: modeTree, name: done.name, hash: h})
	}
	return nil
}

func (t *treeBuilder) write(l level) (plumbing.Hash, error) {
	t.raw = appendTree(t.raw[:0], l.entries)
	return t.packer.add(plumbing.TreeObject, t.raw)
}

// finish gives the hash of the whole; zero where there was no file.
func (t *treeBuilder) finish() (plumbing.Hash, error) {
	if t.open == nil {
		return plumbing.ZeroHash, nil
	}
	if err := t.shut(1); err != nil {
		return plumbing.ZeroHash, err
	}
	return t.write(t.open[0])
}
