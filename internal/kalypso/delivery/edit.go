package delivery

import (
	"github.com/go-git/go-git/v5/plumbing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitops"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/tree"
)

// edit returns the commit of a change. It neither contains nor renders folders that the branch already holds.
func (d *Desired) edit(c *Change) *gitops.Edit {
	promoted := ""
	if d.Complete() {
		promoted = d.Promotion.Commit
	}
	edit := &gitops.Edit{
		Files:   c.Record.Files(d.Destination, promoted),
		Remove:  c.Remove,
		Message: d.commitMessage(c),
		Author:  d.Author,
	}
	rendered := make(map[string]int, len(d.Tree.Folders))
	for i, folder := range d.Tree.Folders {
		rendered[folder.ClusterType] = i
	}
	for _, name := range c.Wanted.Names() {
		hash, at := c.Wanted[name].Hash, d.Destination.Join(name)
		if c.Held[name].Hash == hash {
			continue
		}
		if i, ok := rendered[name]; ok && d.Target()[name].Hash == hash {
			edit.Folders = append(edit.Folders, d.clusterTypeFolder(i, at))
			continue
		}
		edit.Folders = append(edit.Folders, gitops.Folder{Path: at, Hash: plumbing.Hash(hash), Stored: true})
	}
	return edit
}

// clusterTypeFolder returns folder i of the fleet's tree, at a path, with what the branch keeps in it. Only targets
// that the branch does not hold are rendered.
func (d *Desired) clusterTypeFolder(i int, at string) gitops.Folder {
	t := d.Tree
	target := d.Target()[t.Folders[i].ClusterType]
	folder := gitops.Folder{
		Path: at,
		Hash: plumbing.Hash(target.Hash),
		Files: func(yield func(gitops.File, error) bool) {
			yield(gitops.File{Path: tree.ReadmeFile, Content: []byte(tree.Readme)}, nil)
		},
	}
	for n, target := range t.Folders[i].Targets {
		folder.Folders = append(folder.Folders, gitops.Folder{
			Path: target.Name,
			Hash: plumbing.Hash(target.Hash),
			Files: func(yield func(gitops.File, error) bool) {
				for f := range t.TargetFiles(i, n) {
					if !yield(gitops.File{Path: f.Path, Content: f.Content}, nil) {
						return
					}
				}
			},
		})
	}
	for was, is := range pairs(target.Targets, d.rendered()[t.Folders[i].ClusterType].Targets) {
		if is == nil {
			folder.Folders = append(folder.Folders, gitops.Folder{Path: was.Name, Hash: plumbing.Hash(was.Whole), Stored: true})
		}
	}
	return folder
}
