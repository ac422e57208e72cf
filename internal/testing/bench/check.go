package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"

	"sigs.k8s.io/yaml"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/tree"
)

// checkGolden holds the tree of a golden fleet against the operator's, file by file.
func (b *bench) checkGolden(name string, t *tree.Tree) error {
	var want struct {
		TreeSHA256 string `json:"tree_sha256"`
	}
	if err := read(filepath.Join(b.golden, name, "expected", "summary.json"), &want); err != nil {
		return err
	}
	var base struct {
		Spec struct {
			Commit string `json:"commit"`
		} `json:"spec"`
	}
	if err := read(filepath.Join(b.golden, name, "input", "base-repo.yaml"), &base); err != nil {
		return err
	}
	sums := map[string][sha256.Size]byte{tree.PromotedCommitFile: sha256.Sum256([]byte(base.Spec.Commit))}
	paths := []string{tree.PromotedCommitFile}
	for i, folder := range t.Folders {
		for f := range t.Files(i) {
			path := folder.ClusterType + "/" + f.Path
			sums[path], paths = sha256.Sum256(f.Content), append(paths, path)
		}
	}
	slices.Sort(paths)
	h := sha256.New()
	for _, path := range paths {
		fmt.Fprintf(h, "%s\x00%x\n", path, sums[path])
	}
	if got := fmt.Sprintf("%x", h.Sum(nil)); got != want.TreeSHA256 {
		return fmt.Errorf("the tree of %s is not the golden one: %s, want %s", name, got, want.TreeSHA256)
	}
	return nil
}

// read reads a file of a golden fleet, YAML or JSON.
func read(name string, into any) error {
	data, err := os.ReadFile(name) //nolint:gosec // a golden fleet
	if err != nil {
		return err
	}
	return yaml.Unmarshal(data, into)
}

// checkBranch holds the folders on a branch against those of a tree that was rendered from nothing.
func checkBranch(ctx context.Context, repo, branch string, t *tree.Tree) error {
	var want bytes.Buffer
	for _, folder := range t.Folders {
		fmt.Fprintf(&want, "040000 tree %s\t%s\n", folder.Hash, folder.ClusterType)
	}
	out, err := exec.CommandContext(ctx, "git", "-C", repo, "ls-tree", branch).Output() //nolint:gosec // git
	if err != nil {
		return fmt.Errorf("git ls-tree: %w", err)
	}
	var got bytes.Buffer
	for line := range bytes.Lines(out) {
		if !bytes.HasSuffix(line, []byte("\t.kalypso\n")) {
			got.Write(line)
		}
	}
	if !bytes.Equal(got.Bytes(), want.Bytes()) {
		return fmt.Errorf("the branch %s does not hold the tree that is rendered from nothing", branch)
	}
	return nil
}

// checkCommits holds the number of the commits on a branch against that of the applies that changed something.
func checkCommits(ctx context.Context, repo, branch string, want int) error {
	out, err := exec.CommandContext(ctx, "git", "-C", repo, "rev-list", "--count", branch).Output() //nolint:gosec // git
	if err != nil {
		return fmt.Errorf("git rev-list: %w", err)
	}
	if got := string(bytes.TrimSpace(out)); got != strconv.Itoa(want) {
		return fmt.Errorf("the branch %s has %s commits, want %d", branch, got, want)
	}
	return nil
}
