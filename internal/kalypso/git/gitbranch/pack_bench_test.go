package gitbranch_test

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"iter"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// The fleet of the benchmarks has as many files as golden/large-10k renders, of about 1.5 KB each.
const benchTypes, benchTargets = 100, 100

// benchFolder returns the files of one cluster type. The first file contains the mark.
func benchFolder(n int, mark string) iter.Seq2[gitbranch.File, error] {
	return func(yield func(gitbranch.File, error) bool) {
		for target := range benchTargets {
			for _, name := range []string{"namespace.yaml", "platform-config.yaml", "reconciler.yaml"} {
				path := fmt.Sprintf("target-%03d/%s", target, name)
				if !yield(gitbranch.File{Path: path, Content: benchContent(n, target, name, mark)}, nil) {
					return
				}
				mark = ""
			}
		}
	}
}

func benchContent(n, target int, name, mark string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: %s-%d-%d%s\ndata:\n", name, n, target, mark)
	h := fnv.New32a()
	for i := range 45 {
		fmt.Fprintf(h, "%d %d %s %d", n, target, name, i)
		fmt.Fprintf(&b, "  key-%d: value-%08x-%d-%d\n", i, h.Sum32(), n, target)
	}
	return b.Bytes()
}

// benchFiles contains the files, so that the benchmarks do not measure their creation.
var benchFiles = sync.OnceValue(func() []gitbranch.FolderContent {
	var folders []gitbranch.FolderContent
	for n := range benchTypes {
		folders = append(folders, storedFolder(n, ""))
	}
	return folders
})

// storedFolder returns the folder of [benchFolder] with its files in memory.
func storedFolder(n int, mark string) gitbranch.FolderContent {
	var files []gitbranch.File
	contents := map[string]string{}
	for f, err := range benchFolder(n, mark) {
		if err != nil {
			panic(err)
		}
		files = append(files, f)
		contents[f.Path] = string(f.Content)
	}
	return gitbranch.FolderContent{
		Path: fmt.Sprintf("cluster-%03d", n), Hash: treeHash(contents),
		Files: func(yield func(gitbranch.File, error) bool) {
			for _, f := range files {
				if !yield(f, nil) {
					return
				}
			}
		},
	}
}

// BenchmarkPushFirst writes and pushes 30,000 new files into an empty bare repo, and reports the ratio of its time to
// the time of git fast-import and git push.
func BenchmarkPushFirst(b *testing.B) {
	folders := benchFiles()
	var ours, git time.Duration
	for b.Loop() {
		repo := gitserver.InitBare(b)
		start := time.Now()
		mustPush(b, open(b, "file://"+repo, "main"), gitbranch.PushOptions{CreateBranch: true}, edit("first", folders...))
		ours += time.Since(start)
		b.StopTimer()
		git += fastImport(b, folders)
		b.StartTimer()
	}
	b.ReportMetric(ours.Seconds()/float64(b.N), "s/push")
	b.ReportMetric(git.Seconds()/float64(b.N), "s/git")
	b.ReportMetric(ours.Seconds()/git.Seconds(), "ratio")
}

// BenchmarkPushOne changes one of the 30,000 files and pushes it, and reports the ratio of its time to the time of the
// first push.
func BenchmarkPushOne(b *testing.B) {
	folders := append([]gitbranch.FolderContent(nil), benchFiles()...)
	repo := gitserver.InitBare(b)
	branch := open(b, "file://"+repo, "main")
	start := time.Now()
	mustPush(b, branch, gitbranch.PushOptions{CreateBranch: true}, edit("first", folders...))
	whole := time.Since(start)
	n := 0
	for b.Loop() {
		b.StopTimer()
		n++
		folders[0] = storedFolder(0, fmt.Sprint(n))
		b.StartTimer()
		mustPush(b, branch, gitbranch.PushOptions{}, edit("one", folders...))
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/whole.Seconds(), "of-first")
}

// BenchmarkSnapshot reads all trees of the 30,000 files.
func BenchmarkSnapshot(b *testing.B) {
	repo := gitserver.InitBare(b)
	branch := open(b, "file://"+repo, "main")
	mustPush(b, branch, gitbranch.PushOptions{CreateBranch: true}, edit("first", benchFiles()...))
	for b.Loop() {
		if _, err := branch.Snapshot(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

// fastImport returns the time in which git writes and pushes the same folders: git fast-import into a repo, and git
// push from there to an empty repo.
func fastImport(b *testing.B, folders []gitbranch.FolderContent) time.Duration {
	var stream bytes.Buffer
	stream.WriteString("commit refs/heads/main\ncommitter A <a@b> 0 +0000\ndata 1\nx\n")
	for _, f := range folders {
		for file, err := range f.Files {
			if err != nil {
				b.Fatal(err)
			}
			fmt.Fprintf(&stream, "M 100644 inline %s/%s\ndata %d\n%s\n", f.Path, file.Path, len(file.Content), file.Content)
		}
	}
	from, to := gitserver.InitBare(b), gitserver.InitBare(b)
	start := time.Now()
	for _, c := range []*exec.Cmd{exec.Command("git", "fast-import", "--quiet"),
		exec.Command("git", "push", "--quiet", to, "main")} {
		c.Dir, c.Env = from, gitserver.Env()
		if strings.HasSuffix(c.Args[1], "import") {
			c.Stdin = &stream
		}
		if out, err := c.CombinedOutput(); err != nil {
			b.Fatalf("%s: %v\n%s", filepath.Base(c.Path), err, out)
		}
	}
	return time.Since(start)
}
