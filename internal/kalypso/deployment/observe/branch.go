package observe

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render/tree"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
)

// depths lists how many generations of commits are read. The second applies if a report names a commit beyond the
// first.
var depths = []int{64, 1024}

// branch reads one branch in one session with its server.
type branch struct {
	deployment.GitOpsBranch
	at       destination.Destination
	snapshot *gitbranch.Snapshot
	names    []string // cluster types in the record, sorted
	trees    map[plumbing.Hash]map[string]plumbing.Hash
	reading  sync.Mutex // guards snapshot, which sources read concurrently
}

// openBranch reads the head of a branch and its record. Head stays empty if the branch or the record does not exist.
func openBranch(ctx context.Context, client *gitremote.Client, at destination.Destination) (*branch, error) {
	b := &branch{at: at, trees: map[plumbing.Hash]map[string]plumbing.Hash{}}
	b.Name = at.Branch
	var err error
	b.snapshot, err = gitbranch.ReadHead(ctx, client, at.Repo, at.Branch)
	if err != nil {
		return nil, err
	}
	if err := b.readRecord(); err != nil {
		b.close()
		return nil, err
	}
	return b, nil
}

func (b *branch) close() { b.snapshot.Close() }

func (b *branch) readRecord() error {
	if b.snapshot.Commit.IsZero() {
		return nil
	}
	found, err := record.Read(b.snapshot, b.at)
	if err != nil || found == nil {
		return err
	}
	folders, err := b.snapshot.Folders(b.at.Path)
	if err != nil {
		return err
	}
	b.Head, b.PromotedCommit = b.snapshot.Commit.String(), found.PromotedCommit
	b.Environment = found.Environment
	b.Complete, b.names = !found.Rollout.UnderWay(), found.ClusterTypes
	b.Folders = map[string]deployment.ExpectedFolder{}
	for _, name := range b.names {
		folder := deployment.ExpectedFolder{}
		if hash, there := folders[name]; there {
			folder.Tree = hash.String()
		}
		b.Folders[name] = folder
	}
	return nil
}

// treeHash returns the hash of the tree that contains the cluster types' folders and nothing else.
func (b *branch) treeHash() string {
	folders := map[string]tree.Hash{}
	for name, folder := range b.Folders {
		if folder.Tree != "" {
			folders[name] = tree.Hash(plumbing.NewHash(folder.Tree))
		}
	}
	return tree.FolderHash(folders).String()
}

// readManifests returns the contents of the YAML files in folders at head, by path.
func (b *branch) readManifests(folders ...string) (map[string][]byte, error) {
	b.reading.Lock()
	defer b.reading.Unlock()
	at := lists.Map(folders, b.at.Join)
	if err := b.snapshot.Load(at...); err != nil {
		return nil, err
	}
	var paths []string
	walker := b.snapshot.Walker()
	for _, folder := range at {
		err := walker.Walk(folder, func(path string, e object.TreeEntry) error {
			if e.Mode.IsFile() && (strings.HasSuffix(path, ".yaml") || strings.HasSuffix(path, ".yml")) {
				paths = append(paths, path)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return b.snapshot.ReadFiles(paths)
}

// readTargets reads the names of the deployment targets at head.
func (b *branch) readTargets() error {
	paths := lists.Map(b.names, b.at.Join)
	if err := b.snapshot.Load(paths...); err != nil {
		return err
	}
	for i, name := range b.names {
		below, err := b.snapshot.Folders(paths[i])
		if err != nil {
			return err
		}
		folder := b.Folders[name]
		folder.Targets = slices.DeleteFunc(
			slices.Sorted(maps.Keys(below)),
			func(n string) bool { return !isTarget(n) },
		)
		b.Folders[name] = folder
	}
	return nil
}

// isTarget reports whether a folder can be of a deployment target. Git takes names that are no text.
func isTarget(name string) bool { return !strings.HasPrefix(name, ".") && printable.Line(name) == name }

// readHistory reads the history back to the commits that reports name and the awaited one, and the trees of all commits
// after these.
func (b *branch) readHistory(reports []deployment.Report, awaited string) error {
	hashes := map[string]bool{awaited: true}
	for _, r := range reports {
		hashes[deployment.ParseRevision(r.Revision).Hash] = true
	}
	delete(hashes, "")
	named := slices.Collect(maps.Keys(hashes))
	for _, depth := range depths {
		all, err := b.snapshot.History().Ancestry(depth)
		if err != nil {
			return err
		}
		b.History = b.historyOf(all.Commits)
		if b.History.Complete() || !slices.ContainsFunc(named, func(hash string) bool { return !b.History.Has(hash) }) {
			break
		}
	}
	if err := b.readTrees(b.History.Descendants(named)); err != nil {
		return err
	}
	return b.readChanges()
}

func (b *branch) historyOf(read []gitbranch.Commit) *deployment.History {
	commits := make([]deployment.Commit, len(read))
	for i, c := range read {
		commits[i] = deployment.Commit{Hash: c.Hash.String(), Time: c.When}
		for _, p := range c.Parents {
			commits[i].Parents = append(commits[i].Parents, p.String())
		}
	}
	return deployment.NewHistory(b.Head, commits, b.folderAt)
}

// folderAt returns the hash of a folder in a commit, or "" if it is absent or unread.
func (b *branch) folderAt(commit, folder string) string {
	hash, there := b.trees[plumbing.NewHash(commit)][folder]
	if !there {
		return ""
	}
	return hash.String()
}

// readTrees reads the folders of commits that were not read yet.
func (b *branch) readTrees(commits []string) error {
	var wants []plumbing.Hash
	for _, c := range commits {
		if _, read := b.trees[plumbing.NewHash(c)]; !read {
			wants = append(wants, plumbing.NewHash(c))
		}
	}
	found, err := b.snapshot.History().FoldersAt(b.at.Path, wants)
	if err != nil {
		return err
	}
	for _, c := range wants {
		b.trees[c] = found[c]
	}
	return nil
}

// readChanges reads the folders along first parents until it finds the last change of each.
func (b *branch) readChanges() error {
	chain := b.History.FirstParents()
	for n := 2; ; n *= 4 {
		n = min(n, len(chain))
		if err := b.readTrees(chain[:n]); err != nil {
			return err
		}
		if n == len(chain) || b.changedWithin(chain[0], chain[:n]) {
			return nil
		}
	}
}

func (b *branch) changedWithin(head string, commits []string) bool {
	for _, name := range b.names {
		same := func(c string) bool { return b.folderAt(c, name) == b.folderAt(head, name) }
		if !slices.ContainsFunc(commits, func(c string) bool { return !same(c) }) {
			return false
		}
	}
	return true
}
