package gitops_test

import (
	"fmt"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitops"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/gitserver"
)

// nested returns a folder of n folders, each with a file with the text.
func nested(path string, n int, text string) gitops.FolderContent {
	f := gitops.FolderContent{Path: path}
	files := map[string]string{}
	for i := range n {
		name := fmt.Sprintf("t-%04d", i)
		files[name+"/file"] = text
		f.Folders = append(f.Folders, folder(name, map[string]string{"file": text}))
	}
	f.Hash = treeHash(files)
	return f
}

// TestUpdateFetchesAlong: a small change fetches its trees in one round trip, no matter how many folders are new.
func TestUpdateFetchesAlong(t *testing.T) {
	reads := func(beside ...gitops.FolderContent) int {
		repo := gitserver.InitBare(t)
		server, url := gitserver.Serve(t, repo, gitserver.WithFilter())
		branch := open(t, url, "main")
		made := update(t, branch, gitops.UpdateOptions{CreateBranch: true}, edit("one", nested("large", 3, "one")))
		server.ResetLog()
		update(t, branch, gitops.UpdateOptions{Cache: made.Cache}, edit("two", append(beside, nested("large", 3, "two"))...))
		gitserver.Fsck(t, repo)
		return server.Reads()
	}
	equal(t, "requests beside a new folder", reads(nested("new", 1100, "new")), reads())
}
