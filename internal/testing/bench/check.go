package main

import (
	"fmt"
	"log"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render/tree"
)

// check ends the program with an error. A run without one of its measurements is of no use, so nothing else handles
// errors. Deferred functions still remove the files.
func check(err error) {
	if err != nil {
		log.Panic("bench: ", err)
	}
}

// must returns a value, or ends the program with the error.
func must[T any](v T, err error) T {
	check(err)
	return v
}

// expect ends the program unless a result is as wanted.
func expect[T comparable](what string, got, want T) {
	if got != want {
		log.Panicf("bench: %s: got %v, want %v", what, got, want)
	}
}

// checkBranch compares the folders on a branch with the folders of a tree that was rendered from scratch.
func checkBranch(repo, branch string, t *tree.Tree) {
	var want strings.Builder
	for _, folder := range t.Folders {
		fmt.Fprintf(&want, "040000 tree %s\t%s\n", folder.Hash, folder.ClusterType)
	}
	if listFolders(repo, branch) != want.String() {
		log.Panicf("bench: the branch %s differs from the tree rendered from scratch", branch)
	}
}

// listFolders lists the folders of cluster types on a branch, as git ls-tree does.
func listFolders(repo, branch string) string {
	var folders strings.Builder
	for line := range strings.Lines(git(nil, repo, "ls-tree", branch)) {
		if !strings.HasSuffix(line, "\t.kalypso\n") {
			folders.WriteString(line)
		}
	}
	return folders.String()
}

// checkCommits compares the number of commits on a branch with the number of applies that changed something.
func checkCommits(repo, branch string, want int) {
	got := git(nil, repo, "rev-list", "--count", branch)
	expect("the number of commits on "+branch, strings.TrimSpace(got), fmt.Sprint(want))
}
