package main

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render/tree"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/golden"
)

// checkGolden compares a tree with the operator's tree of a golden fleet, by the hash.
func checkGolden(g *golden.Fleet, t *tree.Tree) error {
	promoted, err := g.Promoted()
	if err != nil {
		return err
	}
	files := map[string]string{record.PromotedCommitFile: promoted}
	for i, folder := range t.Folders {
		for f := range t.Files(i) {
			files[folder.ClusterType+"/"+f.Path] = string(f.Content)
		}
	}
	if got := golden.SHA256(files); got != g.Summary.TreeSHA256 {
		return fmt.Errorf("the tree of %s differs from the golden one: %s, want %s", g.Name, got, g.Summary.TreeSHA256)
	}
	return nil
}

// checkBranch compares the folders on a branch with the folders of a tree that was rendered from scratch.
func checkBranch(ctx context.Context, repo, branch string, t *tree.Tree) error {
	var want bytes.Buffer
	for _, folder := range t.Folders {
		fmt.Fprintf(&want, "040000 tree %s\t%s\n", folder.Hash, folder.ClusterType)
	}
	got, err := listFolders(ctx, repo, branch)
	if err != nil {
		return err
	}
	if got != want.String() {
		return fmt.Errorf("the branch %s differs from the tree rendered from scratch", branch)
	}
	return nil
}

// listFolders lists the folders of cluster types on a branch, as git ls-tree does.
func listFolders(ctx context.Context, repo, branch string) (string, error) {
	out, err := gitOutput(ctx, nil, "-C", repo, "ls-tree", branch)
	if err != nil {
		return "", err
	}
	var folders strings.Builder
	for line := range strings.Lines(out) {
		if !strings.HasSuffix(line, "\t.kalypso\n") {
			folders.WriteString(line)
		}
	}
	return folders.String(), nil
}

// checkCommits compares the number of commits on a branch with the number of applies that changed something.
func checkCommits(ctx context.Context, repo, branch string, want int) error {
	out, err := gitOutput(ctx, nil, "-C", repo, "rev-list", "--count", branch)
	if err != nil {
		return err
	}
	if got := strings.TrimSpace(out); got != strconv.Itoa(want) {
		return fmt.Errorf("the branch %s has %s commits, want %d", branch, got, want)
	}
	return nil
}
