package gitops_test

import (
	"encoding/json"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitops"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/gitserver"
)

// TestUpdateKnown: with the way that the update before gave, what lies on it is
// not fetched again; and a way that is out of date does no harm.
func TestUpdateKnown(t *testing.T) {
	repo := gitserver.InitBare(t)
	server, url := gitserver.Serve(t, repo, gitserver.WithFilter())
	branch := open(t, url, "main")
	change := func(text string) *gitops.Edit {
		e := edit(text, folder("env/large", map[string]string{"a": text}))
		e.Files = map[string][]byte{"env/.kalypso/rendering.json": []byte(text)}
		return e
	}
	apply := func(text string, known gitops.Way) (way gitops.Way, requests int) {
		server.Forget()
		r := update(t, branch, gitops.UpdateOptions{CreateBranch: true, WayTo: "env/.kalypso/rendering.json", Known: known}, change(text))
		requests = server.Reads()
		// As private state does.
		kept, err := json.Marshal(r.Way)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(kept, &way); err != nil {
			t.Fatal(err)
		}
		gitserver.Fsck(t, repo)
		equal(t, "tree", gitserver.Tree(t, repo, "main")["env/large/a"], text)
		return way, requests
	}
	way, _ := apply("one", gitops.Way{})
	equal(t, "trees on the way", len(way.Trees), 3)

	way, known := apply("two", way)
	equal(t, "requests where all is known: the reference, the folder's tree, and after the push the reference again", known, 3)
	_, unknown := apply("three", gitops.Way{})
	equal(t, "requests where nothing is known: the commit and three trees more", unknown, known+4)

	gitserver.Seed(t, repo, "main", map[string]string{"theirs": "x"})
	way, _ = apply("four", way)
	equal(t, "theirs", gitserver.Tree(t, repo, "main")["theirs"], "x")

	way.Trees[0] = append([]byte("100644 bogus\x00"), make([]byte, 20)...)
	apply("five", way)
	equal(t, "theirs", gitserver.Tree(t, repo, "main")["theirs"], "x")
}
