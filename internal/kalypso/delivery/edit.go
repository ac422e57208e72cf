package delivery

import (
	"slices"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	gitbranch "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/branch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render/tree"
)

// Edit returns the commit of a change. It neither contains nor renders folders that the branch already contains.
func (p *PlannedChange) Edit() *gitbranch.Edit {
	t := p.Tree
	promoted := ""
	if t.complete {
		promoted = t.Promotion.Commit
	}
	edit := &gitbranch.Edit{
		Files:   p.Record.Files(t.Destination, promoted),
		Remove:  p.Remove,
		Message: p.CommitMessage(),
		Author:  t.Author,
	}
	rendered := make(map[string]int, len(t.Tree.Folders))
	for i, folder := range t.Tree.Folders {
		rendered[folder.ClusterType] = i
	}
	for _, name := range p.Wanted.Names() {
		hash, at := p.Wanted[name].Hash, t.Destination.Join(name)
		if p.Existing[name].Hash == hash {
			continue
		}
		if i, ok := rendered[name]; ok && t.Target()[name].Hash == hash {
			edit.Folders = append(edit.Folders, p.clusterTypeFolder(i, at))
			continue
		}
		edit.Folders = append(edit.Folders, gitbranch.FolderContent{Path: at, Hash: plumbing.Hash(hash), Stored: true})
	}
	return edit
}

// clusterTypeFolder returns folder i of the fleet's tree, at a path, with what the branch keeps in it. Only targets
// that the branch does not contain are rendered.
func (p *PlannedChange) clusterTypeFolder(i int, at string) gitbranch.FolderContent {
	whole := p.Tree.Tree
	target := p.Tree.Target()[whole.Folders[i].ClusterType]
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
	for was, is := range inventory.Pairs(target.Targets, p.Tree.Rendered.inventory[whole.Folders[i].ClusterType].Targets) {
		if is == nil {
			folder.Folders = append(
				folder.Folders, gitbranch.FolderContent{Path: was.Name, Hash: plumbing.Hash(was.Whole), Stored: true},
			)
		}
	}
	return folder
}

// FilesOf renders the files of a target, by name. It returns false if a file is not known yet.
func FilesOf(applied *AppliedTree, clusterType, target string) (map[string][]byte, bool) {
	i := slices.IndexFunc(applied.Tree.Folders, func(f tree.Folder) bool { return f.ClusterType == clusterType })
	if i < 0 || applied.Target()[clusterType].Hash != applied.inventory[clusterType].Hash {
		return nil, false // its wave is pending
	}
	n := slices.IndexFunc(applied.Tree.Folders[i].Targets, func(t tree.TargetFolder) bool { return t.Name == target })
	if n < 0 { // it fails to render
		return nil, false
	}
	files := map[string][]byte{}
	for f := range applied.Tree.TargetFiles(i, n) {
		if f.Unknown {
			return nil, false
		}
		files[f.Path] = f.Content
	}
	return files, true
}
