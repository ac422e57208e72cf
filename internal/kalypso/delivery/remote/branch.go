package remote

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render/tree"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/sets"
)

// branchReader reads the state of a branch from a snapshot of it.
type branchReader struct {
	snapshot *gitbranch.Snapshot
	at       destination.Destination
	// known maps the hash of a folder to its targets. Known folders are not fetched.
	known map[tree.Hash][]inventory.Target
}

// readBranch reads what a branch contains at a destination, with the targets of our folders. before is the state of the
// last run, or nil. wanted lists the folders of the new tree, or is nil. If it is not nil, readBranch also reads
// foreign folders: for other renderings, for the operator's README, and for the targets of wanted folders.
func readBranch(
	snapshot *gitbranch.Snapshot, at destination.Destination, before *delivery.State, wanted []string,
) (*delivery.Branch, error) {
	r := branchReader{snapshot, at, map[tree.Hash][]inventory.Target{}}
	before = cmp.Or(before, &delivery.State{})
	for _, inventory := range []inventory.Folders{before.Delivered, before.LastRead.Folders, before.LastRead.Replaced} {
		for _, folder := range inventory {
			if folder.Targets != nil {
				r.known[folder.Hash] = folder.Targets
			}
		}
	}
	head, err := snapshot.CommitInfo()
	if err != nil {
		return nil, err
	}
	b := &delivery.Branch{Time: head.When}
	if !snapshot.Commit.IsZero() {
		b.Head = snapshot.Commit.String()
	}
	reads := []func(*delivery.Branch, *delivery.State) error{r.obstacle, r.entries, r.record}
	if wanted != nil {
		reads = append(reads, r.otherRenderings, r.operatorFolders)
	}
	for _, read := range reads {
		if err := read(b, before); err != nil {
			return nil, err
		}
	}
	if err := b.SetReplaced(r.replaced); err != nil {
		return nil, err
	}
	names := sets.Union(sets.Union(b.RecordedFolders(), wanted), before.Delivered.Names())
	return b, r.targets(b, sets.Union(names, b.OperatorFolders))
}

// replaced reads a folder of an earlier commit of the branch.
func (r *branchReader) replaced(_ string, hash tree.Hash) (inventory.Folder, bool, error) {
	if targets, known := r.known[hash]; known {
		return inventory.Folder{Hash: hash, Targets: targets}, true, nil
	}
	root, ok, err := r.snapshot.Subtree(plumbing.Hash(hash))
	if err != nil || !ok {
		return inventory.Folder{}, false, err
	}
	targets, err := (&branchReader{snapshot: root}).targetsIn(".")
	return inventory.Folder{Hash: hash, Targets: targets}, true, err
}

func (r *branchReader) obstacle(b *delivery.Branch, _ *delivery.State) error {
	var err error
	b.Obstacle, err = r.directoryObstacle(r.at.Path)
	if err != nil || b.Obstacle != "" {
		return err
	}
	b.RecordObstacle, err = r.fileObstacle(r.at.RecordPath())
	if err != nil {
		return err
	}
	b.PromotedCommitObstacle, err = r.fileObstacle(record.PromotedCommitFile)
	return err
}

// directoryObstacle names what exists at or above a path but is not a directory, or returns "".
func (r *branchReader) directoryObstacle(at string) (obstacle string, err error) {
	for ; at != "."; at = path.Dir(at) {
		entry, ok, err := r.snapshot.Entry(at)
		if err != nil {
			return "", err
		}
		if ok && entry.Mode != filemode.Dir {
			obstacle = fmt.Sprintf("%q (mode %s) exists but is not a directory", at, entry.Mode)
		}
	}
	return obstacle, nil
}

// fileObstacle returns the reason why no file can be written at a path, or "".
func (r *branchReader) fileObstacle(at string) (obstacle string, err error) {
	obstacle, err = r.directoryObstacle(path.Dir(at))
	if err != nil || obstacle != "" {
		return obstacle, err
	}
	entry, ok, err := r.snapshot.Entry(at)
	if err == nil && ok && !entry.Mode.IsFile() {
		obstacle = fmt.Sprintf("%q (mode %s) exists but is not a file", at, entry.Mode)
	}
	return obstacle, err
}

func (r *branchReader) entries(b *delivery.Branch, _ *delivery.State) (err error) {
	folders, err := r.snapshot.Folders(r.at.Path)
	if err != nil {
		return err
	}
	b.Folders = inventory.Folders{}
	for name, hash := range folders {
		if !strings.HasPrefix(name, ".") {
			b.Folders[name] = inventory.Folder{Hash: tree.Hash(hash)}
		}
	}
	files, err := r.snapshot.NonFolders(r.at.Path)
	if err != nil {
		return err
	}
	b.Files = slices.Sorted(maps.Keys(files))
	entry, ok, err := r.snapshot.Entry(record.PromotedCommitFile)
	if ok && entry.Mode.IsFile() {
		b.PromotedCommitFile = entry.Hash.String()
	}
	return err
}

// record reads the record. It does not read a record again that the last run has read. The error of a newer record is
// [record.ErrNewer]: it is no drift, since nothing may replace it.
func (r *branchReader) record(b *delivery.Branch, before *delivery.State) error {
	entry, ok, err := r.snapshot.Entry(r.at.RecordPath())
	if err != nil || !ok || !entry.Mode.IsFile() {
		return err
	}
	b.RecordHash = entry.Hash.String()
	if before.Current() && before.LastRead.RecordHash == b.RecordHash {
		b.Record, b.RecordError = before.LastRead.Record, before.LastRead.RecordError
		return nil
	}
	b.Record, err = record.Read(r.snapshot, r.at)
	if unusable, ok := errors.AsType[*record.Error](err); ok && !errors.Is(err, record.ErrNewer) {
		b.RecordError = unusable.Err.Error()
		return nil
	}
	return err
}

// The bounds of the renderings in one foreign folder: how many files with the name of a record are looked at, and how
// many renderings are listed.
const (
	maxRecords         = 100_000
	maxOtherRenderings = 1000
)

func isRecord(e object.TreeEntry) bool { return e.Name == path.Base(record.File) }

// otherRenderings finds the other renderings above and below the path.
func (r *branchReader) otherRenderings(b *delivery.Branch, _ *delivery.State) error {
	for at := r.at.Path; at != "."; {
		at = path.Dir(at)
		_, ok, err := r.snapshot.Entry(path.Join(at, record.File))
		if err != nil {
			return err
		}
		if ok {
			b.OtherRenderings = append(b.OtherRenderings, at)
		}
	}
	foreign := lists.Map(b.Foreign(b.RecordedFolders()), r.at.Join) // all files in recorded folders are ours
	if err := r.snapshot.Load(foreign...); err != nil {
		return err
	}
	for _, folder := range foreign {
		files, err := r.snapshot.Find(folder, isRecord, maxRecords)
		if err != nil {
			return err
		}
		var others []string
		for _, file := range files {
			if at, ok := strings.CutSuffix(file, "/"+record.File); ok && len(others) < maxOtherRenderings {
				others = append(others, at)
			}
		}
		b.OtherRenderings = append(b.OtherRenderings, others...)
	}
	slices.Sort(b.OtherRenderings)
	return nil
}

func (r *branchReader) operatorFolders(b *delivery.Branch, _ *delivery.State) error {
	for _, name := range b.Foreign(b.RecordedFolders()) {
		entry, ok, err := r.snapshot.Entry(path.Join(r.at.Join(name), tree.ReadmeFile))
		if err != nil {
			return err
		}
		if ok && entry.Mode.IsFile() && tree.IsReadme(tree.Hash(entry.Hash)) {
			b.OperatorFolders = append(b.OperatorFolders, name)
		}
	}
	return nil
}

// targets reads the targets of the named folders. It fetches the unknown ones in one request.
func (r *branchReader) targets(b *delivery.Branch, names []string) error {
	var unknown []string
	folders := b.Folders.Only(names)
	for name, folder := range folders {
		if _, known := r.known[folder.Hash]; !known {
			unknown = append(unknown, r.at.Join(name))
		}
	}
	if err := r.snapshot.Load(unknown...); err != nil {
		return err
	}
	for name, folder := range folders {
		targets, known := r.known[folder.Hash]
		if !known {
			var err error
			targets, err = r.targetsIn(r.at.Join(name))
			if err != nil {
				return err
			}
		}
		folder.Targets = targets
		b.Folders[name] = folder
	}
	return nil
}

var emptyBlob = plumbing.ComputeHash(plumbing.BlobObject, nil)

func hasContent(e object.TreeEntry) bool { return e.Hash != emptyBlob }

func (r *branchReader) targetsIn(folder string) ([]inventory.Target, error) {
	hashes, err := r.snapshot.Folders(folder)
	if err != nil {
		return nil, err
	}
	targets := make([]inventory.Target, 0, len(hashes))
	for name, hash := range hashes {
		files, err := r.snapshot.Find(path.Join(folder, name), hasContent, 1)
		if err != nil {
			return nil, err
		}
		targets = append(targets, inventory.NewTarget(name, tree.Hash(hash), len(files) == 0))
	}
	slices.SortFunc(targets, func(a, b inventory.Target) int { return strings.Compare(a.Name, b.Name) })
	return targets, nil
}
