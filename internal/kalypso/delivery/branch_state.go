package delivery

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitops"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/tree"
)

// BranchState is what a branch holds at a destination, as far as decisions look at it. What reads the branch makes one;
// the state keeps it, so that the next plan decides by it without contacting anything.
type BranchState struct {
	Head string    `json:"head"`          // the commit that was read; empty: the branch is absent
	Time time.Time `json:"time,omitzero"` // of that commit, as its committer says
	// Folders are those at the path, but the ones with a leading dot. The targets of folders that are neither ours nor wanted
	// are not read.
	Folders Inventory `json:"folders"`
	Files   []string  `json:"files,omitempty"` // what lies beside them and is no folder
	// Operators are the folders that the record does not list and that have the operator's README.
	Operators []string `json:"operators,omitempty"`
	// Record is the one at the path: nil where there is none, or none that can be used, as RecordError says.
	Record      *Record `json:"record,omitempty"`
	RecordHash  string  `json:"record_hash,omitempty"` // of its blob; empty: there is no such file
	RecordError string  `json:"record_error,omitempty"`
	// RecordObstacle, and PromotedCommitObstacle, say what stands where the record, or the file with the promoted commit, is
	// written, and can't be replaced by it: a file that should be a directory, or the other way round.
	RecordObstacle         string `json:"record_obstacle,omitempty"`
	PromotedCommitObstacle string `json:"promoted_commit_obstacle,omitempty"`
	// Renderings are the paths of other records above the path and below it.
	Renderings []string `json:"renderings,omitempty"`
	// Obstacle says what at or above the destination's path exists but is not a directory.
	Obstacle string `json:"obstacle,omitempty"`
	// PromotedCommitFile is the blob of the file at the repo's root that names the promoted commit, which all renderings of the
	// branch write; empty where there is none.
	PromotedCommitFile string `json:"promoted_commit_file,omitempty"`
}

// listed returns the folders that the record says are ours.
func (b *BranchState) listed() []string {
	if b.Record == nil {
		return nil
	}
	return b.Record.ClusterTypes
}

// foreign returns the folders that are not among the owned ones, sorted.
func (b *BranchState) foreign(owned []string) []string { return without(b.Folders.Names(), owned) }

// promotedCommit returns what the record names; empty where it names none.
func (b *BranchState) promotedCommit() string {
	if b.Record == nil {
		return ""
	}
	return b.Record.PromotedCommit
}

// changedSince returns our folders, and the record's file, that differ from what was seen before.
func (b *BranchState) changedSince(s *State) []string {
	before := s.Ours()
	names := b.Folders.only(before.Names()).differing(before)
	if b.RecordHash != s.Seen.RecordHash {
		names = append(names, RecordFile)
	}
	return names
}

// branchReader reads the state of a branch from a snapshot of it.
type branchReader struct {
	*gitops.Snapshot
	at Destination
	// known are the targets in folders by the hashes of these: they are not fetched.
	known map[tree.Hash][]Target
}

// readBranch reads what a branch holds at a destination, with the targets of our folders. before is the state of the last run;
// nil: there is none. With wanted, which are the folders that a tree needs, folders of others are looked into too: for other
// renderings, for the operator's README, and for the targets of those that are wanted.
func readBranch(snapshot *gitops.Snapshot, at Destination, before *State, wanted []string) (*BranchState, error) {
	r := branchReader{snapshot, at, map[tree.Hash][]Target{}}
	if before != nil {
		for _, inventory := range []Inventory{before.Delivered, before.Seen.Folders} {
			for _, folder := range inventory {
				if folder.Targets != nil {
					r.known[folder.Hash] = folder.Targets
				}
			}
		}
	}
	b := &BranchState{Head: commitName(snapshot.Commit)}
	var err error
	if b.Time, err = snapshot.CommitTime(); err != nil {
		return nil, err
	}
	reads := []func(*BranchState, *State) error{r.obstacle, r.entries, r.record}
	if wanted != nil {
		reads = append(reads, r.renderings, r.operators)
	}
	for _, read := range reads {
		if err := read(b, before); err != nil {
			return nil, err
		}
	}
	names := union(b.listed(), wanted)
	if before != nil {
		names = union(names, before.Delivered.Names())
	}
	return b, r.targets(b, union(names, b.Operators))
}

// commitName returns the hash of a commit; empty where there is none.
func commitName(commit plumbing.Hash) string {
	if commit.IsZero() {
		return ""
	}
	return commit.String()
}

func (r *branchReader) obstacle(b *BranchState, _ *State) error {
	var err error
	if b.Obstacle, err = r.noDirectory(r.at.Path); err != nil || b.Obstacle != "" {
		return err
	}
	if b.RecordObstacle, err = r.noFile(r.at.RecordPath()); err != nil {
		return err
	}
	b.PromotedCommitObstacle, err = r.noFile(tree.PromotedCommitFile)
	return err
}

// noDirectory says what at a path, or above it, exists but is not a directory; "" where nothing does.
func (r *branchReader) noDirectory(at string) (obstacle string, err error) {
	for ; at != "."; at = path.Dir(at) {
		entry, ok, err := r.Entry(at)
		if err != nil {
			return "", err
		}
		if ok && entry.Mode != filemode.Dir {
			obstacle = fmt.Sprintf("%q (mode %s) exists but is not a directory", at, entry.Mode)
		}
	}
	return obstacle, nil
}

// noFile says why there can be no file at a path; "" where there can.
func (r *branchReader) noFile(at string) (obstacle string, err error) {
	if obstacle, err = r.noDirectory(path.Dir(at)); err != nil || obstacle != "" {
		return obstacle, err
	}
	entry, ok, err := r.Entry(at)
	if err == nil && ok && !entry.Mode.IsFile() {
		obstacle = fmt.Sprintf("%q (mode %s) exists but is not a file", at, entry.Mode)
	}
	return obstacle, err
}

func (r *branchReader) entries(b *BranchState, _ *State) (err error) {
	folders, err := r.Folders(r.at.Path)
	if err != nil {
		return err
	}
	b.Folders = Inventory{}
	for name, hash := range folders {
		if !strings.HasPrefix(name, ".") {
			b.Folders[name] = Folder{Hash: tree.Hash(hash)}
		}
	}
	if b.Files, err = r.NonFolders(r.at.Path); err != nil {
		return err
	}
	entry, ok, err := r.Entry(tree.PromotedCommitFile)
	if ok && entry.Mode.IsFile() {
		b.PromotedCommitFile = entry.Hash.String()
	}
	return err
}

// record reads the record. One that the last run read is known by its hash.
func (r *branchReader) record(b *BranchState, before *State) error {
	entry, ok, err := r.Entry(r.at.RecordPath())
	if err != nil || !ok || !entry.Mode.IsFile() {
		return err
	}
	b.RecordHash = entry.Hash.String()
	if before.Current() && before.Seen.RecordHash == b.RecordHash {
		b.Record, b.RecordError = before.Seen.Record, before.Seen.RecordError
		return nil
	}
	data, err := r.ReadFile(r.at.RecordPath())
	if err != nil {
		return err
	}
	record, err := ParseRecord(data)
	if err != nil {
		b.RecordError = err.Error()
		return nil //nolint:nilerr // it decides nothing here: see RecordError
	}
	b.Record = &record
	return nil
}

// renderings finds the other renderings whose folders this one's would lie in, or the other way round.
func (r *branchReader) renderings(b *BranchState, _ *State) error {
	look := func(at string) error {
		_, ok, err := r.Entry(path.Join(at, RecordFile))
		if ok && at != r.at.Path {
			b.Renderings = append(b.Renderings, at)
		}
		return err
	}
	for at := r.at.Path; at != "."; at = path.Dir(at) {
		if err := look(path.Dir(at)); err != nil {
			return err
		}
	}
	foreign := b.foreign(b.listed()) // what is listed is ours to the last file
	for i, name := range foreign {
		foreign[i] = r.at.Join(name)
	}
	if err := r.Load(foreign...); err != nil {
		return err
	}
	var visit func(folder string) error
	visit = func(folder string) error {
		if err := look(folder); err != nil {
			return err
		}
		below, err := r.Folders(folder)
		if err != nil {
			return err
		}
		for name := range below {
			if err := visit(path.Join(folder, name)); err != nil {
				return err
			}
		}
		return nil
	}
	for _, folder := range foreign {
		if err := visit(folder); err != nil {
			return err
		}
	}
	slices.Sort(b.Renderings)
	return nil
}

func (r *branchReader) operators(b *BranchState, _ *State) error {
	for _, name := range b.foreign(b.listed()) {
		entry, ok, err := r.Entry(path.Join(r.at.Join(name), tree.ReadmeFile))
		if err != nil {
			return err
		}
		if ok && entry.Mode.IsFile() && tree.IsReadme(tree.Hash(entry.Hash)) {
			b.Operators = append(b.Operators, name)
		}
	}
	return nil
}

// targets reads the targets in the folders with the names, those that are not known together.
func (r *branchReader) targets(b *BranchState, names []string) error {
	var missing, paths []string
	for name, folder := range b.Folders.only(names) {
		targets, ok := r.known[folder.Hash]
		if !ok {
			missing = append(missing, name)
			paths = append(paths, r.at.Join(name))
			continue
		}
		folder.Targets = targets
		b.Folders[name] = folder
	}
	if err := r.Load(paths...); err != nil {
		return err
	}
	for i, name := range missing {
		folder := b.Folders[name]
		var err error
		if folder.Targets, err = r.targetsIn(paths[i]); err != nil {
			return err
		}
		b.Folders[name] = folder
	}
	return nil
}

var emptyBlob = plumbing.ComputeHash(plumbing.BlobObject, nil)

func (r *branchReader) targetsIn(folder string) ([]Target, error) {
	hashes, err := r.Folders(folder)
	if err != nil {
		return nil, err
	}
	targets := make([]Target, 0, len(hashes))
	for name, hash := range hashes {
		empty := true
		err := r.Walk(path.Join(folder, name), func(_ string, e object.TreeEntry) error {
			empty = empty && e.Hash == emptyBlob
			return nil
		})
		if err != nil {
			return nil, err
		}
		targets = append(targets, newTarget(name, tree.Hash(hash), empty))
	}
	slices.SortFunc(targets, func(a, b Target) int { return strings.Compare(a.Name, b.Name) })
	return targets, nil
}

// without returns the elements of list that are not in drop, in their order.
func without(list, drop []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return slices.Contains(drop, s) })
}

// union returns the elements of both lists, sorted, each once.
func union(a, b []string) []string {
	both := slices.Concat(a, b)
	slices.Sort(both)
	return slices.Compact(both)
}
