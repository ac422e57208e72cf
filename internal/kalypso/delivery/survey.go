package delivery

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitops"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/tree"
)

// ErrNoRendering is a path that holds no rendering's record.
var ErrNoRendering = errors.New("no rendering")

// survey is what a branch holds at a place.
type survey struct {
	place    Place
	snapshot *gitops.Snapshot
	trees    map[string]plumbing.Hash // of the folders at the path
	folders  []string                 // their names, sorted; those with a leading dot are left out
	files    []string                 // what lies beside them and is no folder
	record   *Record                  // that of the place; nil: there is none that can be read
	// recordHash is the record's blob, empty where there is none.
	recordHash string
	broken     error // why the record can't be read
	tracking string // the blob of the file that names the promoted commit, empty where there is none
	// known are the targets in folders whose trees are known by their hash: they are not fetched.
	known map[tree.Hash]tree.Targets
}

// newSurvey reads a place of a branch. before is what was read of our folders the last time; nil: nothing.
func newSurvey(snapshot *gitops.Snapshot, place Place, before *State) (*survey, error) {
	s := &survey{place: place, snapshot: snapshot, known: map[tree.Hash]tree.Targets{}}
	if before != nil {
		for _, f := range []Footprint{before.Delivered, before.Seen} {
			for _, folder := range f {
				s.known[folder.Hash] = folder.Targets
			}
		}
	}
	var err error
	if s.trees, err = snapshot.Folders(place.Path); err != nil {
		return nil, err
	}
	for name := range s.trees {
		if !strings.HasPrefix(name, ".") {
			s.folders = append(s.folders, name)
		}
	}
	slices.Sort(s.folders)
	if s.files, err = snapshot.Others(place.Path); err != nil {
		return nil, err
	}
	tracked, ok, err := snapshot.Entry(tree.PromotedCommitFile)
	if err != nil {
		return nil, err
	}
	if ok {
		s.tracking = tracked.Hash.String()
	}
	entry, ok, err := snapshot.Entry(place.RecordPath())
	if err != nil || !ok || !entry.Mode.IsFile() {
		return s, err
	}
	s.recordHash = entry.Hash.String()
	if before.Current() && s.recordHash == before.DeliveredRecord {
		record := before.record()
		s.record = &record
		return s, nil
	}
	data, err := snapshot.ReadFile(place.RecordPath())
	if err != nil {
		return nil, err
	}
	record, err := ParseRecord(data)
	if err != nil {
		s.broken = &OwnershipError{Place: place, Reason: fmt.Sprintf("the record %s can't be used: %s.", place.RecordPath(), err)}
		return s, nil
	}
	s.record = &record
	return s, nil
}

// listed are the folders that the record says are ours.
func (s *survey) listed() []string {
	if s.record == nil {
		return nil
	}
	return s.record.ClusterTypes
}

// found is what the place holds of a rendering of which nothing was kept.
func (s *survey) found(held Footprint) *State {
	found := &State{Place: s.place, Seen: held}
	if s.record != nil {
		found.PromotedCommit, found.Inputs = s.record.PromotedCommit, inputsOf(s.record).pack()
	}
	return found
}

// unlike are the folders, and the record, that are not as they were when s was read.
func (s *survey) unlike(before *State) ([]string, error) {
	held, err := s.footprint(before.Seen.Names())
	if err != nil {
		return nil, err
	}
	names := held.differing(before.Seen)
	if s.recordHash != before.SeenRecord {
		names = append(names, RecordFile)
	}
	return names, nil
}

// hashes are those of the folders named; those that are not there are left out.
func (s *survey) hashes(names []string) map[string]tree.Hash {
	hashes := map[string]tree.Hash{}
	for _, name := range names {
		if hash, ok := s.trees[name]; ok {
			hashes[name] = tree.Hash(hash)
		}
	}
	return hashes
}

// footprint is what the branch holds of the folders named; those that are not there are left out.
func (s *survey) footprint(names []string) (Footprint, error) {
	f := Footprint{}
	var fetch []string
	for name, hash := range s.hashes(names) {
		targets, known := s.known[hash]
		f[name] = tree.Folder{ClusterType: name, Hash: hash, Targets: targets}
		if !known {
			fetch = append(fetch, name)
		}
	}
	paths := make([]string, len(fetch))
	for i, name := range fetch {
		paths[i] = s.place.Join(name)
	}
	if err := s.snapshot.Load(paths...); err != nil {
		return nil, err
	}
	for i, name := range fetch {
		folder := f[name]
		var err error
		if folder.Targets, err = s.targets(paths[i]); err != nil {
			return nil, err
		}
		s.known[folder.Hash] = folder.Targets
		f[name] = folder
	}
	return f, nil
}

// targets are the folders in one, by name.
func (s *survey) targets(folder string) (targets tree.Targets, err error) {
	hashes, err := s.snapshot.Folders(folder)
	if err != nil {
		return targets, err
	}
	for _, name := range slices.Sorted(maps.Keys(hashes)) {
		empty := true
		err := s.snapshot.Walk(path.Join(folder, name), func(_ string, e object.TreeEntry) error {
			empty = empty && e.Hash.String() == emptyBlob
			return nil
		})
		if err != nil {
			return targets, err
		}
		targets.Add(name, tree.Hash(hashes[name]), empty)
	}
	return targets, nil
}

const emptyBlob = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"

// isOperators reports whether the folder has the operator's README.
func (s *survey) isOperators(name string) (bool, error) {
	entry, ok, err := s.snapshot.Entry(path.Join(s.place.Join(name), tree.ReadmeFile))
	return err == nil && ok && entry.Mode.IsFile() && tree.IsReadme(tree.Hash(entry.Hash)), err
}

// otherRecords are the paths of the other renderings whose folders this one's would lie in, or the other way round.
func (s *survey) otherRecords() ([]string, error) {
	var paths []string
	look := func(at string) error {
		_, ok, err := s.snapshot.Entry(path.Join(at, RecordFile))
		if ok && at != s.place.Path {
			paths = append(paths, at)
		}
		return err
	}
	for at := s.place.Path; at != "."; at = path.Dir(at) {
		if err := look(path.Dir(at)); err != nil {
			return nil, err
		}
	}
	var others []string
	for _, name := range without(s.folders, s.listed()) { // what is listed is ours to the last file
		others = append(others, s.place.Join(name))
	}
	if err := s.snapshot.Load(others...); err != nil {
		return nil, err
	}
	var visit func(folder string) error
	visit = func(folder string) error {
		if err := look(folder); err != nil {
			return err
		}
		below, err := s.snapshot.Folders(folder)
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
	for _, folder := range others {
		if err := visit(folder); err != nil {
			return nil, err
		}
	}
	slices.Sort(paths)
	return paths, nil
}

// OwnershipError is a place, or folders there, that are not ours to write.
type OwnershipError struct {
	Place   Place
	Folders []string // such that adoption would take over; empty where adoption does not help
	Reason  string
}

// Error implements error.
func (e *OwnershipError) Error() string {
	return fmt.Sprintf("At %s: %s", e.Place, e.Reason)
}

// notOurs is the error of folders at a place that a tree needs and that are not the rendering's.
func notOurs(place Place, folders []string) *OwnershipError {
	return &OwnershipError{Place: place, Folders: folders, Reason: fmt.Sprintf(
		"these folders are there and not this rendering's: %s. Set adopt = true to take them over: what is in them and not rendered is removed.",
		strings.Join(folders, ", "))}
}

// noFolders is the error of what is no folder where a tree needs one.
func noFolders(place Place, names []string) *OwnershipError {
	return &OwnershipError{Place: place, Reason: fmt.Sprintf(
		"these are there and no folders, so that the folders of the cluster types can't be written: %s. Move them away.", strings.Join(names, ", "))}
}

// MovedError is folders of ours that changed on the branch since they were last read.
type MovedError struct {
	Place   Place
	Folders []string
}

// Error implements error.
func (e *MovedError) Error() string {
	return fmt.Sprintf("At %s, these of our folders or our record changed after the plan was made: %s. They are left as they are. Make a new plan: it shows what changed.",
		e.Place, strings.Join(e.Folders, ", "))
}
