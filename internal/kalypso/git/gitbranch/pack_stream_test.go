package gitbranch_test

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
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

// smallBuffer makes a push of [noisyFolders] send a part of its pack while it is built.
var smallBuffer = gitbranch.PushOptions{}.WithPackBuffer(1 << 20)

// TestPushStreamsLargePack: if a pack is larger than the buffer, it is built while it is sent. It contains each new
// object once.
func TestPushStreamsLargePack(t *testing.T) {
	forEachTransport(t, func(t *testing.T, repo string, b *gitbranch.Branch) {
		folders, files := noisyFolders(6)
		mustPush(t, b, gitbranch.PushOptions{CreateBranch: true}.WithPackBuffer(1<<20), edit("one", folders...))
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
		mustPush(t, b, smallBuffer, edit("two", folders...))
		equal(t, "tree", gitserver.Tree(t, repo, "main"), files)
		gitserver.Fsck(t, repo)
	})
}

// TestPushPanicWhilePacking: a panic while the files of a folder are packed reaches the caller of the push, before
// the pack is sent and while it is sent, although other goroutines pack them. The branch does not change.
func TestPushPanicWhilePacking(t *testing.T) {
	forEachTransport(t, func(t *testing.T, repo string, b *gitbranch.Branch) {
		head := gitserver.Seed(t, repo, "main", map[string]string{"x": "1"})
		for at := 1; at <= 2; at++ {
			folders, _ := noisyFolders(6)
			last := &folders[5]
			files, calls := last.Files, 0
			last.Files = func(yield func(gitbranch.File, error) bool) {
				calls++
				if calls == at {
					panic("a bug")
				}
				files(yield)
			}
			func() {
				defer problem.ReportPanic(func(p *problem.Panic) {
					if p == nil || calls != at {
						t.Errorf("panic at call %d: got %v after %d calls", at, p, calls)
					}
				})
				_, err := push(t.Context(), b, smallBuffer, returnEdit(edit("no", folders...)))
				t.Errorf("panic at call %d: got no panic, but %v", at, err)
			}()
			equal(t, "head", gitserver.Rev(t, repo, "main"), head)
		}
	})
}

// TestPushErrorWhileStreaming: the folder's files cannot be read a second time, while the pack is sent. The push
// returns the error, and the branch does not change.
func TestPushErrorWhileStreaming(t *testing.T) {
	broken := errors.New("a broken template")
	forEachTransport(t, func(t *testing.T, repo string, b *gitbranch.Branch) {
		gitserver.Seed(t, repo, "main", map[string]string{"x": "1"})
		head := gitserver.Rev(t, repo, "main")
		for name, test := range map[string]struct {
			again gitbranch.File
			err   error
			want  error
		}{
			"different files": {gitbranch.File{Path: "a", Content: []byte("other")}, nil, gitbranch.ErrTreeMismatch},
			"error":           {gitbranch.File{}, broken, broken},
		} {
			folders, _ := noisyFolders(6)
			last := &folders[5]
			files, calls := last.Files, 0
			last.Files = func(yield func(gitbranch.File, error) bool) {
				calls++
				if calls == 1 {
					files(yield)
				} else {
					yield(test.again, test.err)
				}
			}
			_, err := push(t.Context(), b, smallBuffer, returnEdit(edit("no", folders...)))
			if calls != 2 {
				t.Fatalf("%s: the folder was asked for its files %d times, want 2", name, calls)
			}
			fails(t, err, test.want)
			equal(t, name+": head", plumbing.NewHash(gitserver.Rev(t, repo, "main")), plumbing.NewHash(head))
			gitserver.Fsck(t, repo)
		}
	})
}
