package delivery

import (
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitops"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/tree"
)

// ErrNoRendering is a path that holds no rendering's record.
var ErrNoRendering = errors.New("no rendering")

// survey is what a branch holds at a place.
type survey struct {
	place    Place
	snapshot *gitops.Snapshot
	folders  []string // the folders at the path, sorted; those with a leading dot are left out
	files    []string // what lies beside them and is no folder
	record   *Record  // that of the place; nil: there is none that can be read
	// recordHash is the record's blob, empty where there is none.
	recordHash string
	broken     error // why the record can't be read
	// known are the targets in folders whose trees are known by their hash: they are not fetched.
	known map[string]map[string]Target
}

// newSurvey reads a place of a branch. before is what was read of our folders the last time; nil: nothing.
func newSurvey(snapshot *gitops.Snapshot, place Place, before *State) (*survey, error) {
	s := &survey{place: place, snapshot: snapshot, known: map[string]map[string]Target{}}
	if before != nil {
		for _, f := range []Footprint{before.Delivered, before.Seen} {
			for _, folder := range f {
				s.known[folder.Hash] = folder.Targets
			}
		}
	}
	for name := range snapshot.Folders(place.Path) {
		if !strings.HasPrefix(name, ".") {
			s.folders = append(s.folders, name)
		}
	}
	slices.Sort(s.folders)
	s.files = snapshot.Others(place.Path)
	entry, ok := snapshot.Entry(place.RecordPath())
	if !ok || !entry.Mode.IsFile() {
		return s, snapshot.Err()
	}
	s.recordHash = entry.Hash.String()
	if before.Current() && s.recordHash == before.DeliveredRecord {
		record := before.record()
		s.record = &record
		return s, snapshot.Err()
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
func (s *survey) unlike(before *State) []string {
	names := s.footprint(before.Seen.Names()).differing(before.Seen)
	if s.recordHash != before.SeenRecord {
		names = append(names, RecordFile)
	}
	return names
}

// hashes are those of the folders named; those that are not there are left out.
func (s *survey) hashes(names []string) map[string]string {
	hashes := map[string]string{}
	for _, name := range names {
		if entry, ok := s.snapshot.Entry(s.place.Join(name)); ok && entry.Mode == filemode.Dir {
			hashes[name] = entry.Hash.String()
		}
	}
	return hashes
}

// footprint is what the branch holds of the folders named; those that are not there are left out.
func (s *survey) footprint(names []string) Footprint {
	f := Footprint{}
	var fetch []string
	for name, hash := range s.hashes(names) {
		f[name] = Folder{Hash: hash, Targets: s.known[hash]}
		if s.known[hash] == nil {
			fetch = append(fetch, s.place.Join(name))
		}
	}
	s.snapshot.Load(fetch...)
	for name, folder := range f {
		if folder.Targets == nil {
			targets := s.targets(s.place.Join(name))
			s.known[folder.Hash] = targets
			f[name] = Folder{Hash: folder.Hash, Targets: targets}
		}
	}
	return f
}

func (s *survey) targets(folder string) map[string]Target {
	targets := map[string]Target{}
	for name, hash := range s.snapshot.Folders(folder) {
		targets[name] = Target{hash.String()[:shortHash], s.allEmpty(path.Join(folder, name))}
	}
	return targets
}

const emptyBlob = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"

func (s *survey) allEmpty(folder string) bool {
	for _, entry := range s.snapshot.Walk(folder) {
		if entry.Hash.String() != emptyBlob {
			return false
		}
	}
	return true
}

// isOperators reports whether the folder has the operator's README.
func (s *survey) isOperators(name string) bool {
	entry, ok := s.snapshot.Entry(path.Join(s.place.Join(name), tree.ReadmeFile))
	return ok && entry.Mode.IsFile() && tree.IsReadme(tree.Hash(entry.Hash))
}

// otherRecords are the paths of the other renderings whose folders this one's would lie in, or the other way round.
func (s *survey) otherRecords() []string {
	var paths []string
	look := func(at string) {
		if _, ok := s.snapshot.Entry(path.Join(at, RecordFile)); ok && at != s.place.Path {
			paths = append(paths, at)
		}
	}
	for at := s.place.Path; at != "."; at = path.Dir(at) {
		look(path.Dir(at))
	}
	var others []string
	for _, name := range without(s.folders, s.listed()) { // what is listed is ours to the last file
		others = append(others, s.place.Join(name))
	}
	s.snapshot.Load(others...)
	var visit func(folder string)
	visit = func(folder string) {
		look(folder)
		for name := range s.snapshot.Folders(folder) {
			visit(path.Join(folder, name))
		}
	}
	for _, folder := range others {
		visit(folder)
	}
	slices.Sort(paths)
	return paths
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

// NotOurs is the error of folders at a place that a tree needs and that are not the rendering's.
func NotOurs(place Place, folders []string) *OwnershipError {
	return &OwnershipError{Place: place, Folders: folders, Reason: fmt.Sprintf(
		"these folders are there and not this rendering's: %s. Set adopt = true to take them over: what is in them and not rendered is removed.",
		strings.Join(folders, ", "))}
}

// InTheWay is the error of what is no folder where a tree needs one.
func InTheWay(place Place, names []string) *OwnershipError {
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

// TreeHash is the hash of a Git tree whose entries are the folders alone.
func (f Footprint) TreeHash() (string, error) {
	folders := make(map[string]tree.Hash, len(f))
	for name, folder := range f {
		var h tree.Hash
		if n, err := hex.Decode(h[:], []byte(folder.Hash)); err != nil || n != len(h) {
			return "", fmt.Errorf("the hash of folder %q is %q: %w", name, folder.Hash, err)
		}
		folders[name] = h
	}
	return tree.FolderHash(folders).String(), nil
}
