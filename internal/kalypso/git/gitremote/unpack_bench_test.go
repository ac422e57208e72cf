package gitremote

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/storage/memory"
)

// BenchmarkUnpack reads the pack of a branch with 10,000 targets in 200 cluster types, once with its trees only and
// once complete. It compares our decoder with go-git's parser, which also stores the objects in memory.
func BenchmarkUnpack(b *testing.B) {
	branch := renderedBranch(b)
	for _, sent := range []struct{ name, filter string }{
		{"trees only", "--filter=blob:none"}, {"complete", "--no-filter"},
	} {
		pack := packOf(b, branch, sent.filter)
		for _, by := range []struct {
			name string
			read func() (objects int, err error)
		}{
			{"unpack", func() (int, error) {
				objects := Objects{}
				err := unpack(bytes.NewReader(pack), 1<<30, 0, objects)
				return len(objects), err
			}},
			{"go-git", func() (int, error) {
				storage := memory.NewStorage()
				err := packfile.UpdateObjectStorage(storage, bytes.NewReader(pack))
				return len(storage.Objects), err
			}},
		} {
			b.Run(sent.name+"/"+by.name, func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(len(pack)))
				objects := 0
				for b.Loop() {
					n, err := by.read()
					if err != nil {
						b.Fatal(err)
					}
					objects = n
				}
				b.ReportMetric(float64(objects), "objects")
			})
		}
	}
}

// renderedBranch returns a bare repo whose branch main contains 10,000 targets in 200 cluster types.
func renderedBranch(b *testing.B) string {
	b.Helper()
	dir := b.TempDir()
	gitBench(b, dir, "", "init", "--quiet", "--bare", "--initial-branch=main")
	var stream strings.Builder
	stream.WriteString("commit refs/heads/main\ncommitter a <a@b> 1700000000 +0000\ndata 1\nx\n")
	file := func(path, content string) {
		fmt.Fprintf(&stream, "M 100644 inline %s\ndata %d\n%s\n", path, len(content), content)
	}
	for ct := range 200 {
		for target := range 50 {
			namespace := fmt.Sprintf("dev-cluster-%04d-app-%03d", ct, target)
			folder := fmt.Sprintf("cluster-%04d/app-%03d/", ct, target)
			file(folder+"namespace.yaml", "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: "+namespace+"\n")
			file(folder+"platform-config.yaml", fmt.Sprintf(
				"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: platform-config\n  namespace: %s\ndata:\n"+
					"  REGION: region-%d\n  DATABASE_URL: mysql://db-%d.example.com/app\n", namespace, ct%7, target))
			file(folder+"reconciler.yaml", fmt.Sprintf(
				"apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata:\n  name: app-%d\n"+
					"  namespace: flux-system\nspec:\n  interval: 30s\n  url: https://github.com/example/app-%d\n"+
					"  ref:\n    branch: main\n", target, target))
		}
	}
	gitBench(b, dir, stream.String(), "fast-import", "--quiet")
	return dir
}

// packOf returns the pack that a server sends for main.
func packOf(b *testing.B, dir, filter string) []byte {
	b.Helper()
	return gitBench(b, dir, "main\n", "pack-objects", "--stdout", "--revs", "--quiet", "--delta-base-offset", filter)
}

func gitBench(b *testing.B, dir, stdin string, args ...string) []byte {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), "git", args...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.Output()
	if err != nil {
		b.Fatalf("git %v: %v", args, err)
	}
	return out
}
