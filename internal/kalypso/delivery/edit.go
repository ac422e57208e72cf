package delivery

import (
	"github.com/go-git/go-git/v5/plumbing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render/tree"
)

// Edit returns the commit of a change, with a message. It neither contains nor renders folders that the branch already
// contains.
func (c *Change) Edit(message string) *gitbranch.Edit {
	t := c.Next
	promoted := ""
	if t.Complete {
		promoted = t.Args.Promotion.Commit
	}
	edit := &gitbranch.Edit{
		Files:   c.Record.Files(t.Args.Destination, promoted),
		Remove:  c.Remove,
		Message: message,
		Trailer: c.Before.ProofKey.Proof(t.Args.Destination, c.RecordHash, c.Wanted),
		Author:  t.Args.Author,

		NoTrailers: t.Args.Message == "",
	}
	rendered := make(map[string]int, len(t.Rendered.Tree.Folders))
	for i, folder := range t.Rendered.Tree.Folders {
		rendered[folder.ClusterType] = i
	}
	for _, name := range c.Wanted.Names() {
		hash, at := c.Wanted[name].Hash, t.Args.Destination.Join(name)
		if c.Existing[name].Hash == hash {
			continue
		}
		if i, ok := rendered[name]; ok && t.Target()[name].Hash == hash {
			edit.Folders = append(edit.Folders, c.clusterTypeFolder(i, at))
			continue
		}
		edit.Folders = append(edit.Folders, gitbranch.FolderContent{Path: at, Hash: plumbing.Hash(hash), Stored: true})
	}
	return edit
}

// clusterTypeFolder returns folder i of the fleet's tree, at a path, with what the branch keeps in it. Only targets
// that the branch does not contain are rendered.
func (c *Change) clusterTypeFolder(i int, at string) gitbranch.FolderContent {
	whole := c.Next.Rendered.Tree
	target := c.Next.Target()[whole.Folders[i].ClusterType]
	folder := gitbranch.FolderContent{
		Path: at,
		Hash: plumbing.Hash(target.Hash),
		Files: func(yield func(gitbranch.File, error) bool) {
			yield(gitbranch.File{Path: tree.ReadmeFile, Content: []byte(tree.Readme)}, nil)
		},
	}
	for n, target := range whole.Folders[i].Targets {
		folder.Folders = append(folder.Folders, gitbranch.FolderContent{
			Path: target.Name,
			Hash: plumbing.Hash(target.Hash),
			Files: func(yield func(gitbranch.File, error) bool) {
				for f := range whole.TargetFiles(i, n) {
					if !yield(gitbranch.File{Path: f.Path, Content: f.Content}, nil) {
						return
					}
				}
			},
		})
	}
	for was, is := range inventory.Pairs(target.Targets, c.Next.Rendered.Folders[whole.Folders[i].ClusterType].Targets) {
		if is == nil {
			folder.Folders = append(
				folder.Folders, gitbranch.FolderContent{Path: was.Name, Hash: plumbing.Hash(was.FullHash), Stored: true},
			)
		}
	}
	return folder
}
