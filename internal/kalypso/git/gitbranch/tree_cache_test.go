package gitbranch_test

import (
	"encoding/json"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// TestPushCache: a push does not fetch the trees that the last push left in the cache. It ignores an outdated or
// damaged cache.
func TestPushCache(t *testing.T) {
	repo := gitserver.InitBare(t)
	server, url := gitserver.Serve(t, repo, gitserver.WithFilter())
	branch := open(t, url, "main")
	change := func(text string) *gitbranch.Edit {
		e := edit(text, folder("env/large", map[string]string{"a": text}))
		e.Files = map[string][]byte{"env/.kalypso/rendering.json": []byte(text)}
		return e
	}
	apply := func(text string, cache gitbranch.TreeCache) (kept gitbranch.TreeCache, requests int) {
		server.ResetLog()
		r := mustPush(t, branch, gitbranch.PushOptions{CreateBranch: true, CachePath: "env/.kalypso/rendering.json",
			Cache: cache}, change(text))
		requests = server.Reads()
		// Encode and decode it, as private state does.
		data, err := json.Marshal(r.Cache)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(data, &kept); err != nil {
			t.Fatal(err)
		}
		gitserver.Fsck(t, repo)
		equal(t, "tree", gitserver.Tree(t, repo, "main")["env/large/a"], text)
		return kept, requests
	}
	cache, _ := apply("one", gitbranch.TreeCache{})
	equal(t, "trees on the path", len(cache.Trees), 3)

	cache, known := apply("two", cache)
	equal(t, "requests with a full cache: the reference, and the reference again after the push", known, 2)
	_, unknown := apply("three", gitbranch.TreeCache{})
	equal(t, "requests with an empty cache: also the commit and three trees", unknown, known+4)

	gitserver.Seed(t, repo, "main", map[string]string{"theirs": "x"})
	cache, _ = apply("four", cache)
	equal(t, "theirs", gitserver.Tree(t, repo, "main")["theirs"], "x")

	cache.Trees[0] = append([]byte("100644 bogus\x00"), make([]byte, 20)...)
	cache, _ = apply("five", cache)
	equal(t, "theirs", gitserver.Tree(t, repo, "main")["theirs"], "x")

	last := mustPush(t, branch, gitbranch.PushOptions{CachePath: "env/.kalypso/rendering.json", Cache: cache},
		edit("six", folder("env/large", map[string]string{"a": "six"})))
	equal(t, "trees on the path after a push of another folder", len(last.Cache.Trees), 3)
}
