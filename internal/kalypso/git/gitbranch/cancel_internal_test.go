package gitbranch

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// TestCanceled: once its context is canceled, a walk ends in its loop. All objects were fetched before, so that no
// request to the server ends it.
func TestCanceled(t *testing.T) {
	t.Parallel()
	repo := gitserver.InitBare(t)
	files, changed := map[string]string{}, map[string]string{}
	for i := range 2000 {
		path := fmt.Sprintf("large/%04d/file.yaml", i)
		files[path], changed[path] = path, path+"!"
	}
	gitserver.Seed(t, repo, "main", files)
	client, err := gitremote.NewClient(nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Open(client, "file://"+repo, "main")
	if err != nil {
		t.Fatal(err)
	}
	before := plumbing.NewHash(gitserver.Rev(t, repo, "main^{tree}"))
	gitserver.Seed(t, repo, "main", changed)
	visits := 0
	for name, call := range map[string]func(*Snapshot) error{
		"Load": func(s *Snapshot) error { return s.Load("large") },
		"Walk": func(s *Snapshot) error {
			visits = 0
			return s.Walk("large", func(string, object.TreeEntry) error { visits++; return nil })
		},
		"Find": func(s *Snapshot) error {
			_, err := s.Find("large", func(e object.TreeEntry) bool { return e.Name == "file.yaml" }, 5000)
			return err
		},
		"FoldersWith": func(s *Snapshot) error {
			_, err := s.FoldersWith("file.yaml")
			return err
		},
		"diff": func(s *Snapshot) error {
			left, change := maxCompared, ChangingCommit{}
			err := diff{s.objects, &change, &left}.roots(before, s.Root, []string{"large"})
			visits = change.Count
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			s, err := b.Snapshot(ctx)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if err := s.objects.fetchSubtrees([]plumbing.Hash{before, s.Root}); err != nil {
				t.Fatal(err)
			}
			if err := call(s); err != nil {
				t.Fatal(err)
			}
			cancel()
			visits = 0
			if err := call(s); !errors.Is(err, context.Canceled) || visits > 1100 {
				t.Errorf("got %v after %d visits", err, visits)
			}
		})
	}
}
