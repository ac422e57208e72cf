package delivery

import (
	"cmp"
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/sets"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// failures contains the deployment targets that fail to render.
type failures map[problem.AffectedTarget]bool

func failuresOf(ps problem.Problems) failures {
	f := failures{}
	for _, p := range ps {
		for _, t := range p.Affects {
			f[t] = true
		}
	}
	return f
}

// include reports whether a target fails on a cluster type.
func (f failures) include(clusterType, target string) bool {
	return f[problem.AffectedTarget{Name: target}] || f[problem.AffectedTarget{ClusterType: clusterType, Name: target}]
}

// Failing are the deployment targets that fail to render, with the effect of an apply on them.
type Failing struct {
	// Folders is the fleet's tree, with the folders that the branch keeps of these targets.
	Folders inventory.Folders
	// Kept lists the folders that the branch keeps, and LeftOut the targets that it does not contain. Both are sorted.
	// Lost lists the folders that a move to another destination can't keep.
	Kept, LeftOut, Lost []record.FailedAssignment
	Existing            int // the number of our deployment target folders on the branch
	failures            failures
	// waiting lists the targets that can't join a cluster type. Until then they also stay in their current cluster
	// types.
	waiting map[string]bool
	// incomplete says that the hashes of folders are unknown until the branch is read: the state has only abbreviated
	// hashes of their targets.
	incomplete bool
}

// AffectedBy returns a function that reports whether a problem has an effect on an assignment.
func (k *Failing) AffectedBy(p problem.Problem) func(record.FailedAssignment) bool {
	affected, names := failuresOf(problem.Problems{p}), map[string]bool{}
	for _, t := range p.Affects {
		names[t.Name] = true
	}
	return func(f record.FailedAssignment) bool {
		// A target that can't join a cluster type is kept on others.
		joins := k.waiting[f.DeploymentTarget] && !k.failures.include(f.ClusterType, f.DeploymentTarget)
		return affected.include(f.ClusterType, f.DeploymentTarget) || joins && names[f.DeploymentTarget]
	}
}

// keep adds the failing targets on the branch to the rendered tree. existing are our folders on the branch as they were
// last read, and delivered are those that the last apply left there.
func (f failures) keep(rendered, existing, delivered inventory.Folders) *Failing {
	k := &Failing{
		Folders: make(inventory.Folders, len(rendered)), failures: f, waiting: map[string]bool{},
		Existing: existing.Count(),
	}
	placed := existing.Placed()
	for t := range f {
		if t.ClusterType == "" && len(placed[t.Name]) > 0 || slices.Contains(placed[t.Name], t.ClusterType) {
			continue
		}
		k.LeftOut = append(k.LeftOut, record.FailedAssignment{ClusterType: t.ClusterType, DeploymentTarget: t.Name})
		k.waiting[t.Name] = true
	}
	for name, folder := range rendered {
		k.Folders[name] = k.keepIn(name, folder, existing[name], delivered[name])
	}
	slices.SortFunc(k.Kept, record.FailedAssignment.Compare)
	slices.SortFunc(k.LeftOut, record.FailedAssignment.Compare)
	return k
}

// keepIn adds the failing targets on the branch to the folder of a cluster type.
func (k *Failing) keepIn(clusterType string, folder, existing, delivered inventory.Folder) inventory.Folder {
	if folder.Known == inventory.Unread {
		return folder
	}
	targets := make([]inventory.Target, 0, len(folder.Targets))
	kept := len(k.Kept)
	for was, is := range inventory.Pairs(existing.Targets, folder.Targets) {
		switch {
		case is != nil:
			targets = append(targets, *is)
		case k.failures.include(clusterType, was.Name) || k.waiting[was.Name]:
			targets = append(targets, *was)
			k.Kept = append(k.Kept, record.FailedAssignment{ClusterType: clusterType, DeploymentTarget: was.Name})
		}
	}
	if len(k.Kept) == kept {
		return folder
	}
	folder.Targets = targets
	if folder.Known < inventory.Whole {
		return folder
	}
	hash, ok := inventory.FolderHash(targets)
	switch {
	case ok:
		folder.Hash = hash
	case existing.Hash == delivered.Hash && slices.EqualFunc(targets, existing.Targets, inventory.Target.SameHash):
		folder.Hash = existing.Hash
	default:
		folder.Known, k.incomplete = inventory.Partial, true
	}
	return folder
}

// isKept reports whether the apply leaves a target of a cluster type as it is on the branch, even if it is absent
// there.
func (k *Failing) isKept(clusterType, target string) bool {
	return k.failures.include(clusterType, target) || k.keeps(clusterType, target)
}

// keeps reports whether the branch keeps the folder of a target.
func (k *Failing) keeps(clusterType, target string) bool {
	_, found := slices.BinarySearchFunc(
		k.Kept,
		record.FailedAssignment{ClusterType: clusterType, DeploymentTarget: target},
		record.FailedAssignment.Compare,
	)
	return found
}

// baseline returns the delivered folders, with the failing targets as on the branch: the apply keeps foreign changes of
// failing targets, so they are no drift.
func (k *Failing) baseline(delivered, existing inventory.Folders) inventory.Folders {
	return delivered.Replace(func(clusterType string, folder inventory.Folder) inventory.Folder {
		now, ok := existing[clusterType]
		if !ok || now.Hash == folder.Hash {
			return folder
		}
		var targets []inventory.Target
		for was, is := range inventory.Pairs(folder.Targets, now.Targets) {
			t := was
			if was == nil && k.isKept(clusterType, is.Name) || was != nil && k.isKept(clusterType, was.Name) {
				t = is
			}
			if t != nil {
				targets = append(targets, *t)
			}
		}
		hash, ok := inventory.FolderHash(targets)
		if slices.EqualFunc(targets, folder.Targets, inventory.Target.SameHash) || !ok {
			return folder
		}
		return inventory.Folder{Hash: hash, Targets: targets}
	})
}

// newFailing returns the fleet's tree with the folders that the branch keeps, as far as the state shows, or nil if
// nothing fails to render. unread says that they are unknown until the branch is read.
func newFailing(r *Rendered, now *Situation) (kept *Failing, unread bool) {
	if len(r.Failed) == 0 {
		return nil, false
	}
	f, s := failuresOf(r.Failed), now.State
	if now.Case != Computed &&
		(unknown.Is(string(r.Args.Strategy)) || !r.Args.Located() && s.Current() || now.treeUnread()) {
		return f.keep(r.Folders, nil, nil), true
	}
	var existing, delivered inventory.Folders
	if now.Case == Computed && s.Readable() || now.Case == Update && s.Environment == r.Args.Environment {
		existing, delivered = s.OwnFolders(), s.Delivered
	}
	kept = f.keep(r.Folders, existing, delivered)
	if now.Case.moves() {
		kept.Lost = f.keep(r.Folders, s.OwnFolders(), s.Delivered).Kept
	}
	kept.setSince(recordsIn(s)...)
	return kept, false
}

// failingOn returns the fleet's tree with the folders that the branch keeps, from a branch that was read.
func (n *NextTree) failingOn(s *State, at *Branch) *Failing {
	if n.Failing == nil {
		return nil
	}
	names := at.RecordedFolders()
	if s.Current() {
		names = s.owned(at)
	} else if n.Args.mayAdopt() {
		names = sets.Union(sets.Union(names, at.OperatorFolders), n.Rendered.Folders.Names())
	}
	existing := at.Folders.Only(names)
	kept := n.Failing.On(n.Rendered, existing, existing)
	kept.setSince(append(recordsIn(s), at.Record)...)
	return kept
}

// recordsIn returns the records of the branch and of the pull request, as they were last read.
func recordsIn(s *State) (all []*record.Record) {
	if s == nil {
		return nil
	}
	all = append(all, s.LastRead.Record)
	if s.Proposal != nil {
		all = append(all, s.Proposal.Head.LastRead.Record)
	}
	return all
}

// On returns the fleet's tree with the folders that a branch keeps of the same targets. existing are our folders there
// as they were last read, and delivered are those that the last apply left there.
func (k *Failing) On(r *Rendered, existing, delivered inventory.Folders) *Failing {
	return k.failures.keep(r.Folders, existing, delivered)
}

// setSince sets the time since which assignments fail, from the first record that lists them.
func (k *Failing) setSince(records ...*record.Record) {
	for _, list := range [][]record.FailedAssignment{k.Kept, k.LeftOut} {
		for i := range list {
			for _, r := range records {
				list[i].Since = cmp.Or(list[i].Since, r.Since(list[i]))
			}
		}
	}
}

// baseline returns the folders that the last apply left at the destination of s, with the targets that fail to render
// now as on the branch.
func (n *NextTree) baseline(s *State) inventory.Folders {
	k := n.Failing
	if k == nil || CaseOf(n.Args, s) != Update {
		return s.Delivered
	}
	return k.baseline(s.Delivered, s.OwnFolders())
}

// FailedLines returns a line for each assignment.
func FailedLines(all []record.FailedAssignment) []string {
	return lists.Map(all, record.FailedAssignment.String)
}
