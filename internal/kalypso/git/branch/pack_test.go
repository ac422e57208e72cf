package branch_test

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	gitbranch "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/branch"
	gitremote "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/remote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// noise returns a text of n bytes that does not compress to half its size.
func noise(seed uint64, n int) string {
	r := rand.New(rand.NewPCG(seed, 1))
	b := make([]byte, n/2)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return hex.EncodeToString(b)
}

// noisyFolders returns n folders of a megabyte each, and their files by path. One file is the same in all folders.
func noisyFolders(n int) (folders []gitbranch.FolderContent, files map[string]string) {
	files = map[string]string{}
	for i := range n {
		these := map[string]string{"a": noise(uint64(i), 1<<20), "b": fmt.Sprint(i), "same": "same", "deep/er": "x"}
		path := fmt.Sprintf("large-%d", i)
		folders = append(folders, folder(path, these))
		for p, c := range these {
			files[path+"/"+p] = c
		}
	}
	return folders, files
}

// TestUpdateLargePack: a pack of several chunks, packed by several goroutines, contains each new object once.
func TestUpdateLargePack(t *testing.T) {
	forEachTransport(t, func(t *testing.T, repo string, b *gitbranch.Branch) {
		folders, files := noisyFolders(6)
		update(t, b, gitbranch.UpdateOptions{CreateBranch: true}, edit("one", folders...))
		equal(t, "tree", gitserver.Tree(t, repo, "main"), files)
		gitserver.Git(t, repo, "config", "transfer.fsckObjects", "true") // refuses a pack that contains an object twice

		for i := range folders {
			path := fmt.Sprintf("large-%d", i)
			these := map[string]string{"a": noise(uint64(i)+100, 1<<20), "same": "same", "new": "new"}
			folders[i] = folder(path, these)
			for _, p := range []string{"b", "deep/er"} {
				delete(files, path+"/"+p)
			}
			files[path+"/a"], files[path+"/new"] = these["a"], "new"
		}
		update(t, b, gitbranch.UpdateOptions{}, edit("two", folders...))
		equal(t, "tree", gitserver.Tree(t, repo, "main"), files)
		gitserver.Fsck(t, repo)
	})
}

// TestUpdateErrorWhilePacking: the files of the last folder of a large pack cannot be read. The update returns the
// error, and the branch does not change.
func TestUpdateErrorWhilePacking(t *testing.T) {
	broken := errors.New("a broken template")
	forEachTransport(t, func(t *testing.T, repo string, b *gitbranch.Branch) {
		gitserver.Seed(t, repo, "main", map[string]string{"x": "1"})
		head := gitserver.Rev(t, repo, "main")
		for name, test := range map[string]struct {
			file gitbranch.File
			err  error
			want error
		}{
			"different files": {gitbranch.File{Path: "a", Content: []byte("other")}, nil, gitbranch.ErrTreeMismatch},
			"error":           {gitbranch.File{}, broken, broken},
		} {
			folders, _ := noisyFolders(6)
			last := &folders[5]
			calls := 0
			last.Files = func(yield func(gitbranch.File, error) bool) {
				calls++
				yield(test.file, test.err)
			}
			_, err := b.Update(t.Context(), gitbranch.UpdateOptions{}, returnEdit(edit("no", folders...)))
			if calls != 1 {
				t.Fatalf("%s: the folder was asked for its files %d times, want 1", name, calls)
			}
			fails(t, err, test.want)
			equal(t, name+": head", plumbing.NewHash(gitserver.Rev(t, repo, "main")), plumbing.NewHash(head))
			gitserver.Fsck(t, repo)
		}
	})
}

// TestUpdateLeavesNoTempFile: the file of a pack is removed.
func TestUpdateLeavesNoTempFile(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	b := open(t, "file://"+gitserver.InitBare(t), "main")
	update(t, b, gitbranch.UpdateOptions{CreateBranch: true}, edit("one", folder("a", map[string]string{"b": "c"})))
	if left, err := filepath.Glob(os.TempDir() + "/kalypso-pack-*"); err != nil || len(left) > 0 {
		t.Errorf("temporary files: %v, %v", left, err)
	}
}

// TestUpdateWithoutTempFile: if no temporary file can be written, the error says so, and the branch does not change.
func TestUpdateWithoutTempFile(t *testing.T) {
	repo := gitserver.InitBare(t)
	b := open(t, "file://"+repo, "main")
	t.Setenv("TMPDIR", t.TempDir()+"/missing")
	_, err := b.Update(t.Context(), gitbranch.UpdateOptions{CreateBranch: true},
		returnEdit(edit("no", folder("a", map[string]string{"b": "c"}))))
	fails(t, err, gitremote.ErrNoTempFile)
}

// TestUpdatePanicWhilePacking: a panic of the files of a folder reaches the caller, and does not end the process.
func TestUpdatePanicWhilePacking(t *testing.T) {
	b := open(t, "file://"+gitserver.InitBare(t), "main")
	broken := folder("a", map[string]string{"b": "c"})
	broken.Files = func(func(gitbranch.File, error) bool) { panic("a bug") }
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	_, _ = b.Update(t.Context(), gitbranch.UpdateOptions{CreateBranch: true}, returnEdit(edit("no", broken)))
}
