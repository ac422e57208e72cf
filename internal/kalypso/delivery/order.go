package delivery

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitops"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/tree"
)

// Order is a tree to bring to its place.
type Order struct {
	Place          Place
	Environment    string
	Tree           *tree.Tree
	PromotedCommit string                        // empty: none
	Origins        []string                      // for the record
	Configs        []*fleet.Config               // of the tree's fleet
	Registrations  []*fleet.WorkloadRegistration // likewise
	Review         Review
	Adopt          bool
	CreateBranch   bool
	Guardrails     Guardrails
	Message        string // of the commit; empty: one that says what changes
	Author         gitops.Signature
	// Before is the state that the plan was made from; nil where nothing was delivered before.
	Before *State
}

// Takeover is what an order finds at a place that it did not write.
type Takeover struct {
	Adopted []string // folders that become ours
	Removed []string // folders among them, and others of the operator's, that go
}

// draft is the change that an order makes to a branch as it is.
type draft struct {
	edit       *gitops.Edit // nil: the branch holds the order already
	wanted     Footprint
	takeover   Takeover
	changes    map[string]string
	recordHash string
	others     []string
	files      []string
	// before is what is changed, for [Order.Describe]: what was delivered, or where that is not known, what the branch holds
	// of ours or is taken over.
	before *State
	at     *survey
	held   Footprint // what is ours, or becomes ours, on the branch
}

// draft finds what the order changes on the branch, and refuses what is not ours to change.
func (o *Order) draft(snapshot *gitops.Snapshot) (*draft, error) {
	s, err := newSurvey(snapshot, o.Place, o.Before)
	if err != nil {
		return nil, err
	}
	owned, err := o.owned(s)
	if err != nil {
		return nil, err
	}
	if err := CheckPromotedCommit(o.Place, o.Tree, o.PromotedCommit); err != nil {
		return nil, err
	}
	wanted := FootprintOf(o.Tree)
	d := &draft{wanted: wanted, at: s, files: without(s.files, slices.Concat(owned, wanted.Names()))}
	if d.takeover, err = o.takeover(s, owned, wanted); err != nil {
		return nil, err
	}
	d.others = without(s.folders, slices.Concat(owned, d.takeover.Adopted, wanted.Names()))

	held, err := s.footprint(slices.Concat(owned, d.takeover.Adopted))
	if err != nil {
		return nil, err
	}
	d.held = held
	replaced := o.Before.Current() && o.Before.Environment != o.Environment
	if err := o.Guardrails.Check(held, wanted, replaced); err != nil {
		return nil, err
	}
	if o.moves() {
		if err := o.Guardrails.Check(o.Before.Seen, wanted, replaced); err != nil {
			return nil, err
		}
	}
	d.changes = Changes(held, wanted)
	if d.before = o.Before; !o.Before.Current() {
		d.before = s.found(held)
	}
	record := o.record()
	d.recordHash = s.recordHash
	if o.moves() || s.record == nil || !s.record.same(record) || !held.Equal(wanted) {
		ours := slices.Concat(owned, d.takeover.Adopted)
		d.edit, d.recordHash, err = o.edit(record, held, slices.DeleteFunc(ours, func(name string) bool {
			_, keep := wanted[name]
			_, folder := held[name]
			return keep && folder // what others put in place of a folder of ours goes
		}), d.changes)
		if err == nil && o.moves() && o.Place.SameBranch(o.Before.Place) {
			err = o.leave(snapshot, d.edit)
		}
	}
	return d, err
}

// moves reports whether what was delivered before lies elsewhere.
func (o *Order) moves() bool { return o.Before.Current() && !o.Before.Place.Same(o.Place) }

// updates reports whether the order is for the place where the one before was delivered.
func (o *Order) updates() bool { return o.Before.Current() && o.Before.Place.Same(o.Place) }

// known is what was read of the place's branch before.
func (o *Order) known() gitops.Way {
	if !o.updates() {
		return gitops.Way{}
	}
	return o.Before.known(FootprintOf(o.Tree))
}

// Overwritten are the states of the branches on which the order changes what others made of our folders: its place's, and
// our own of a proposal.
func (o *Order) Overwritten() []*State {
	var all []*State
	if o.Overwrites() {
		all = append(all, o.Before)
	}
	if !o.Before.Current() || o.Before.Proposal == nil {
		return all
	}
	p := o.Before.Proposal
	head := *o
	head.Before = p.Head
	if o.Before.Place.Same(o.Place) {
		head.Place = p.Head.Place
	}
	switch {
	case head.Overwrites():
		all = append(all, p.Head)
	case len(p.Others) > 0:
		others := *p.Head
		others.Drift = p.Others
		all = append(all, &others)
	}
	return all
}

// Overwrites reports whether the order changes what others made of our folders. It does not where they are as it wants
// them: a change of others that came into the fleet, or an apply that was killed after its push.
func (o *Order) Overwrites() bool {
	s := o.Before
	if !s.Current() || !s.Drifted() {
		return false
	}
	var wanted Footprint
	record := ""
	if o.updates() {
		if o.Tree == nil {
			return true
		}
		wanted = FootprintOf(o.Tree)
		if text, err := o.record().Marshal(); err == nil {
			record = blob(text)
		}
	}
	for _, name := range s.Delivered.differing(s.Seen) {
		if s.Seen[name].Hash != wanted[name].Hash {
			return true
		}
	}
	return s.SeenRecord != s.DeliveredRecord && s.SeenRecord != record
}

func (o *Order) record() Record {
	names := make([]string, len(o.Tree.Folders))
	for i, folder := range o.Tree.Folders {
		names[i] = folder.ClusterType
	}
	return NewRecord(o.Environment, names, o.PromotedCommit, o.Origins)
}

// owned are the folders at the place that are ours: those of our record, and those that were delivered there. It
// refuses a place that is another rendering's, or nested with one, and one that changed since the plan was made.
func (o *Order) owned(s *survey) ([]string, error) {
	for at := o.Place.Path; at != "."; at = path.Dir(at) {
		entry, there, err := s.snapshot.Entry(at)
		if err != nil {
			return nil, err
		}
		if there && entry.Mode != filemode.Dir {
			return nil, &OwnershipError{Place: o.Place, Reason: fmt.Sprintf(
				"%q is there and no folder (mode %s). Choose another path, or move it away.", at, entry.Mode)}
		}
	}
	others, err := s.otherRecords()
	if err != nil {
		return nil, err
	}
	for _, other := range others {
		left := o.moves() && o.Place.SameBranch(o.Before.Place) && other == o.Before.Place.Path
		if nested(other, o.Place.Path) && !left {
			return nil, &OwnershipError{Place: o.Place, Reason: fmt.Sprintf(
				"another rendering writes to path %q of this branch, and neither may lie in the other: %s. Choose a path beside it.", other, ErrNested)}
		}
	}
	var owned []string
	if r := s.record; r != nil {
		if r.Environment != o.Environment && (!o.updates() || r.Environment != o.Before.Environment) {
			return nil, &OwnershipError{Place: o.Place, Reason: fmt.Sprintf(
				"the record %s says that this is the rendering of environment %q, not of %q. Choose another branch or path.", s.place.RecordPath(), r.Environment, o.Environment)}
		}
		owned = slices.Clone(r.ClusterTypes)
	}
	if !o.updates() && s.broken != nil {
		return nil, s.broken
	}
	if o.updates() {
		moved, err := s.unlike(o.Before)
		if err == nil && len(moved) > 0 && !o.heldBy(s) {
			err = &MovedError{o.Place, moved}
		}
		if err != nil {
			return nil, err
		}
		owned = append(owned, o.Before.Delivered.Names()...)
	}
	slices.Sort(owned)
	return slices.Compact(owned), nil
}

// heldBy reports whether a branch holds the order: then whoever wrote it did what was to be done.
func (o *Order) heldBy(s *survey) bool {
	return s.record != nil && s.record.same(o.record()) && maps.Equal(s.hashes(s.listed()), FootprintOf(o.Tree).hashes())
}

// takeover finds the folders that are there and not ours: those that the tree needs, and with adoption those that the
// operator left.
func (o *Order) takeover(s *survey, owned []string, wanted Footprint) (t Takeover, err error) {
	var inTheWay []string
	for _, name := range without(wanted.Names(), owned) {
		switch {
		case slices.Contains(s.files, name):
			inTheWay = append(inTheWay, name)
		case slices.Contains(s.folders, name):
			t.Adopted = append(t.Adopted, name)
		}
	}
	if len(inTheWay) > 0 {
		return t, noFolders(o.Place, inTheWay)
	}
	if !o.Adopt {
		if len(t.Adopted) > 0 {
			return t, notOurs(o.Place, t.Adopted)
		}
		return t, nil
	}
	if o.updates() && s.record != nil {
		return t, nil // what the operator left was taken over with the first delivery, which showed it
	}
	for _, name := range without(s.folders, slices.Concat(owned, t.Adopted)) {
		operators, err := s.isOperators(name)
		if err != nil {
			return t, err
		}
		if operators {
			t.Adopted = append(t.Adopted, name)
			t.Removed = append(t.Removed, name)
		}
	}
	slices.Sort(t.Adopted)
	return t, nil
}

// edit is the change to the branch, which holds some folders already, and the hash of the record in it. Folders that are held
// as they shall be have no part in it, and are not rendered for it.
func (o *Order) edit(record Record, held Footprint, removed []string, changes map[string]string) (*gitops.Edit, string, error) {
	text, err := record.Marshal()
	if err != nil {
		return nil, "", err
	}
	edit := &gitops.Edit{
		Files:   map[string][]byte{o.Place.RecordPath(): text},
		Message: o.message(changes),
		Author:  o.Author,
	}
	if o.PromotedCommit != "" {
		edit.Files[tree.PromotedCommitFile] = []byte(o.PromotedCommit)
	}
	for i, folder := range o.Tree.Folders {
		if held[folder.ClusterType].Hash != folder.Hash {
			edit.Folders = append(edit.Folders, clusterTypeFolder(o.Tree, i, o.Place.Join(folder.ClusterType)))
		}
	}
	for _, name := range removed {
		edit.Remove = append(edit.Remove, o.Place.Join(name))
	}
	return edit, blob(text), nil
}

// clusterTypeFolder is the folder i of a tree at a path. Of its targets those alone are rendered again that the branch
// has not.
func clusterTypeFolder(t *tree.Tree, i int, at string) gitops.Folder {
	folder := gitops.Folder{
		Path: at,
		Hash: plumbing.Hash(t.Folders[i].Hash),
		Files: func(yield func(gitops.File, error) bool) {
			yield(gitops.File{Path: tree.ReadmeFile, Content: []byte(tree.Readme)}, nil)
		},
	}
	targets := t.WholeTargets(i)
	for n, name := range targets.Names {
		folder.Folders = append(folder.Folders, gitops.Folder{
			Path: name,
			Hash: plumbing.Hash(targets.At(n).Hash),
			Files: func(yield func(gitops.File, error) bool) {
				for f := range t.TargetFiles(i, n) {
					if !yield(gitops.File{Path: f.Path, Content: f.Content}, nil) {
						return
					}
				}
			},
		})
	}
	return folder
}

// leave adds the removal of what was delivered to another path of the same branch.
func (o *Order) leave(snapshot *gitops.Snapshot, edit *gitops.Edit) error {
	old, err := newSurvey(snapshot, o.Before.Place, o.Before)
	if err != nil {
		return err
	}
	remove, err := departure(old, o.Before)
	if err != nil {
		return err
	}
	edit.Remove = append(edit.Remove, remove...)
	return snapshot.Load(remove...) // what moves is not sent again
}

func (o *Order) message(changes map[string]string) string {
	if o.Message != "" {
		return o.Message
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Render environment %s\n", o.Environment)
	names := make([]string, 0, len(changes))
	for name := range changes {
		names = append(names, name)
	}
	slices.Sort(names)
	if len(names) > 0 {
		b.WriteString("\n")
	}
	for i, name := range names {
		if i == listed {
			fmt.Fprintf(&b, "and %d more cluster types\n", len(names)-listed)
			break
		}
		fmt.Fprintf(&b, "%s: %s\n", printable.Line(name), changes[name])
	}
	if o.PromotedCommit != "" {
		fmt.Fprintf(&b, "\nPromoted commit: %s\n", o.PromotedCommit)
	}
	return b.String()
}

// without are the elements of list that are not in drop, in their order.
func without(list, drop []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return slices.Contains(drop, s) })
}
