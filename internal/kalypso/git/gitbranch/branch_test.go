package gitbranch_test

import (
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"iter"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

func TestMain(m *testing.M) {
	// The git processes for file:// URLs run in this environment.
	for _, name := range []string{"GIT_CONFIG_GLOBAL", "HOME"} {
		_ = os.Setenv(name, "/dev/null")
	}
	_ = os.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	os.Exit(m.Run())
}

// forEachTransport runs a test over each transport, with a new empty repo.
func forEachTransport(t *testing.T, test func(t *testing.T, repo string, b *gitbranch.Branch)) {
	t.Helper()
	for _, backend := range gitserver.Transports() {
		t.Run(backend.Name, func(t *testing.T) {
			t.Parallel()
			repo := gitserver.InitBare(t)
			url, credentials := backend.Start(t, repo)
			test(t, repo, open(t, url, "main", credentials...))
		})
	}
}

func open(t testing.TB, url, branch string, credentials ...gitremote.Credential) *gitbranch.Branch {
	t.Helper()
	client, err := gitremote.NewClient(credentials)
	if err != nil {
		t.Fatal(err)
	}
	b, err := gitbranch.Open(client, url, branch)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

var author = gitbranch.Author{Name: "Kalypso", Email: "kalypso@acme.io", When: time.Unix(1700000000, 0).UTC()}

// folder returns a folder with files. Its hash comes from [treeHash], so that the package's own hashes are tested.
func folder(path string, files map[string]string) gitbranch.FolderContent {
	return gitbranch.FolderContent{Path: path, Hash: treeHash(files), Files: stream(files)}
}

func stream(files map[string]string) iter.Seq2[gitbranch.File, error] {
	return func(yield func(gitbranch.File, error) bool) {
		for _, p := range slices.Sorted(maps.Keys(files)) {
			if !yield(gitbranch.File{Path: p, Content: []byte(files[p])}, nil) {
				return
			}
		}
	}
}

func treeHash(files map[string]string) plumbing.Hash {
	if len(files) == 0 {
		return plumbing.ZeroHash
	}
	type line struct {
		key, mode, name string
		hash            plumbing.Hash
	}
	below := map[string]map[string]string{}
	var lines []line
	for p, content := range files {
		if dir, rest, ok := strings.Cut(p, "/"); ok {
			if below[dir] == nil {
				below[dir] = map[string]string{}
			}
			below[dir][rest] = content
			continue
		}
		lines = append(lines, line{p, "100644", p, objectHash("blob", content)})
	}
	for dir, files := range below {
		lines = append(lines, line{dir + "/", "40000", dir, treeHash(files)})
	}
	slices.SortFunc(lines, func(a, b line) int { return strings.Compare(a.key, b.key) })
	var raw strings.Builder
	for _, l := range lines {
		raw.WriteString(l.mode + " " + l.name + "\x00" + string(l.hash[:]))
	}
	return objectHash("tree", raw.String())
}

func objectHash(kind, content string) plumbing.Hash {
	return sha1.Sum(fmt.Appendf(nil, "%s %d\x00%s", kind, len(content), content))
}

// readFile returns the content of a file of a snapshot, or nothing if there is none.
func readFile(s *gitbranch.Snapshot, path string) (string, error) {
	files, err := s.ReadFiles([]string{path})
	return string(files[path]), err
}

func edit(message string, folders ...gitbranch.FolderContent) *gitbranch.Edit {
	return &gitbranch.Edit{Folders: folders, Message: message, Author: author}
}

// push pushes an edit, as the callers of [gitbranch.Branch.Attempts] do.
func push(
	ctx context.Context, b *gitbranch.Branch, opts gitbranch.PushOptions, compare func(*gitbranch.Attempt) *gitbranch.Edit,
) (pushed gitbranch.PushResult, err error) {
	for attempt, err := range b.Attempts(ctx, opts) {
		if err != nil {
			return gitbranch.PushResult{}, err
		}
		pushed, err = attempt.Push(ctx, compare(attempt))
		if err == nil {
			break
		}
	}
	return pushed, nil
}

func mustPush(t testing.TB, b *gitbranch.Branch, opts gitbranch.PushOptions, e *gitbranch.Edit) gitbranch.PushResult {
	t.Helper()
	r, err := push(t.Context(), b, opts, returnEdit(e))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func returnEdit(e *gitbranch.Edit) func(*gitbranch.Attempt) *gitbranch.Edit {
	return func(*gitbranch.Attempt) *gitbranch.Edit { return e }
}

func equal(t testing.TB, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func fails(t testing.TB, err, kind error) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Fatalf("got error %v, want %v", err, kind)
	}
	if strings.Contains(err.Error(), "canary") {
		t.Errorf("the error contains a secret: %v", err)
	}
}

func as[E error](err error, target *E) bool { return errors.As(err, target) }

// TestCheckAuthor rejects names that Git cannot write, and names with characters that a terminal interprets.
func TestCheckAuthor(t *testing.T) {
	for text, want := range map[string]bool{
		"Kalypso": true, "Jürgen 日本": true, "": false, " ": false, "a <b": false, "a\nb": false,
		"a\x1b[2J": false, "a\u202eb": false,
	} {
		if err := gitbranch.CheckAuthor(text); (err == nil) != want {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestCheckName(t *testing.T) {
	for _, name := range []string{"main", "rel/1.0", "feature/ü", "head", "HEAD/x"} {
		if err := gitbranch.CheckName(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{"", "HEAD", "refs/heads/main", "a b", "a..b", "-a", "a/", "a.lock"} {
		if gitbranch.CheckName(name) == nil {
			t.Errorf("CheckName accepts %q", name)
		}
	}
}
