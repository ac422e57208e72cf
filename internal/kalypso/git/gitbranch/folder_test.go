package gitbranch_test

import (
	"fmt"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// nestedFolder returns a folder of n folders. Each of them has one file with the text.
func nestedFolder(path string, n int, text string) gitbranch.FolderContent {
	f := gitbranch.FolderContent{Path: path}
	files := map[string]string{}
	for i := range n {
		name := fmt.Sprintf("t-%04d", i)
		files[name+"/file"] = text
		f.Folders = append(f.Folders, folder(name, map[string]string{"file": text}))
	}
	f.Hash = treeHash(files)
	return f
}

// TestPushFetchesTreesInOneRoundTrip: a small change fetches its trees in one round trip, no matter how many folders
// are new.
func TestPushFetchesTreesInOneRoundTrip(t *testing.T) {
	reads := func(beside ...gitbranch.FolderContent) int {
		repo := gitserver.InitBare(t)
		server, url := gitserver.Serve(t, repo, gitserver.WithFilter())
		branch := open(t, url, "main")
		made := mustPush(t, branch, gitbranch.PushOptions{CreateBranch: true}, edit("one", nestedFolder("large", 3, "one")))
		server.ResetLog()
		two := edit("two", append(beside, nestedFolder("large", 3, "two"))...)
		mustPush(t, branch, gitbranch.PushOptions{Cache: made.Cache}, two)
		gitserver.Fsck(t, repo)
		return server.Reads()
	}
	equal(t, "requests if a new folder is added, too", reads(nestedFolder("new", 1100, "new")), reads())
}
