package delivery

import (
	"fmt"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/strategy"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render/tree"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/sets"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// OnAssignmentError is the reaction to deployment targets that fail to render by a fault of their team. If it is not
// known yet, they are errors.
type OnAssignmentError string

// The reactions.
const (
	AssignmentErrorFail OnAssignmentError = "fail" // the plan fails
	AssignmentErrorKeep OnAssignmentError = "keep" // the branch keeps their folders
)

// failures lists the deployment targets that fail to render: cluster type → names. Those below "" fail on every cluster
// type.
type failures map[string]map[string]bool

func failuresOf(ps problem.Problems) failures {
	f := failures{}
	for _, p := range ps {
		for _, t := range p.Affects {
			if f[t.ClusterType] == nil {
				f[t.ClusterType] = map[string]bool{}
			}
			f[t.ClusterType][t.Name] = true
		}
	}
	return f
}

// include reports whether a target fails on a cluster type.
func (f failures) include(clusterType, target string) bool {
	return f[""][target] || f[clusterType][target]
}

// keptTree is the fleet's tree, with the folders that the branch keeps of deployment targets that fail to render.
type keptTree struct {
	inventory inventory.Folders
	failures  failures
	// Kept lists the folders that the branch keeps, and leftOut the targets that it does not contain. Both are sorted.
	kept, leftOut []record.FailedAssignment
	// waiting lists the targets that can't join a cluster type. Until then they also stay in their current cluster
	// types.
	waiting  map[string]bool
	existing int // the number of our deployment target folders on the branch
	// incomplete says that the hashes of folders are unknown until the branch is read: the state only has the first bytes
	// of the hashes of their targets.
	incomplete bool
	// lost lists the folders that a move to another destination can't keep.
	lost []record.FailedAssignment
}

// Failing lists the deployment targets that fail to render, with the effect of an apply on them.
type Failing struct {
	Problems  problem.Problems // why they fail
	Targets   int              // on cluster types: those that the branch keeps, and those left out
	Uncertain bool             // the apply reads whether the branch contains them
	Moves     bool             // the tree moves to a destination that can't keep them all
	tree      *keptTree
}

// Affected lists the deployment targets that one problem affects, by the effect on them. Lost are those that stay at a
// previous location.
type Affected struct{ Kept, Lost, LeftOut []record.FailedAssignment }

// Failing returns the deployment targets that fail to render, or nil.
func (t *AppliedTree) Failing() *Failing {
	k := t.kept
	if k == nil {
		return nil
	}
	return &Failing{t.failed, len(k.kept) + len(k.leftOut), t.uncertain, len(k.lost) > 0, k}
}

// By returns the effect on the deployment targets that a problem affects.
func (f *Failing) By(p problem.Problem) Affected {
	k, affected, names := f.tree, failuresOf(problem.Problems{p}), map[string]bool{}
	for _, t := range p.Affects {
		names[t.Name] = true
	}
	of := func(all []record.FailedAssignment) (found []record.FailedAssignment) {
		for _, f := range all {
			// A target that can't join a cluster type is kept on others.
			joins := k.waiting[f.DeploymentTarget] && !k.failures.include(f.ClusterType, f.DeploymentTarget)
			if affected.include(f.ClusterType, f.DeploymentTarget) || joins && names[f.DeploymentTarget] {
				found = append(found, f)
			}
		}
		return found
	}
	return Affected{of(k.kept), of(k.lost), of(k.leftOut)}
}

// keep adds the failing targets on the branch to the rendered tree. existing are our folders on the branch as they were
// last read, and delivered are those that the last apply left there.
func (f failures) keep(rendered, existing, delivered inventory.Folders) *keptTree {
	k := &keptTree{
		inventory: make(inventory.Folders, len(rendered)), failures: f, waiting: map[string]bool{},
		existing: existing.Count(),
	}
	placed := existing.Placed()
	for clusterType, names := range f {
		for name := range names {
			if clusterType == "" && len(placed[name]) > 0 || slices.Contains(placed[name], clusterType) {
				continue
			}
			k.leftOut = append(k.leftOut, record.FailedAssignment{ClusterType: clusterType, DeploymentTarget: name})
			k.waiting[name] = true
		}
	}
	for name, folder := range rendered {
		k.inventory[name] = k.keepIn(name, folder, existing[name], delivered[name])
	}
	slices.SortFunc(k.kept, record.FailedAssignment.Compare)
	slices.SortFunc(k.leftOut, record.FailedAssignment.Compare)
	return k
}

// keepIn adds the failing targets on the branch to the folder of a cluster type.
func (k *keptTree) keepIn(clusterType string, folder, existing, delivered inventory.Folder) inventory.Folder {
	if folder.Undecided {
		return folder
	}
	targets := make([]inventory.Target, 0, len(folder.Targets))
	kept := len(k.kept)
	for was, is := range inventory.Pairs(existing.Targets, folder.Targets) {
		switch {
		case is != nil:
			targets = append(targets, *is)
		case k.failures.include(clusterType, was.Name) || k.waiting[was.Name]:
			targets = append(targets, *was)
			k.kept = append(k.kept, record.FailedAssignment{ClusterType: clusterType, DeploymentTarget: was.Name})
		}
	}
	if len(k.kept) == kept {
		return folder
	}
	folder.Targets = targets
	if folder.Unknown {
		return folder
	}
	hash, ok := folderHash(targets)
	switch {
	case ok:
		folder.Hash = hash
	case existing.Hash == delivered.Hash && slices.EqualFunc(targets, existing.Targets, inventory.Target.SameHash):
		folder.Hash = existing.Hash
	default:
		folder.Unknown, k.incomplete = true, true
	}
	return folder
}

// folderHash returns the hash of a cluster type's folder with these targets, if their whole hashes are known.
func folderHash(targets []inventory.Target) (tree.Hash, bool) {
	hashes := make(map[string]tree.Hash, len(targets))
	for _, t := range targets {
		if t.Whole == (tree.Hash{}) {
			return tree.Hash{}, false
		}
		hashes[t.Name] = t.Whole
	}
	return tree.ClusterTypeHash(hashes), true
}

// keeps reports whether a target on a cluster type stays as the branch has it, even if the branch does not have it.
func (k *keptTree) keeps(clusterType, target string) bool {
	return k.failures.include(clusterType, target) || k.isKept(clusterType, target)
}

// isKept reports whether the branch keeps the folder of a target.
func (k *keptTree) isKept(clusterType, target string) bool {
	_, found := slices.BinarySearchFunc(
		k.kept,
		record.FailedAssignment{ClusterType: clusterType, DeploymentTarget: target},
		record.FailedAssignment.Compare,
	)
	return found
}

// baseline returns the delivered folders, with the failing targets as on the branch: foreign changes of these are not
// drift, because the apply keeps them.
func (k *keptTree) baseline(delivered, existing inventory.Folders) inventory.Folders {
	return delivered.Replace(func(clusterType string, folder inventory.Folder) inventory.Folder {
		now, ok := existing[clusterType]
		if !ok || now.Hash == folder.Hash {
			return folder
		}
		var targets []inventory.Target
		for was, is := range inventory.Pairs(folder.Targets, now.Targets) {
			t := was
			if was == nil && k.keeps(clusterType, is.Name) || was != nil && k.keeps(clusterType, was.Name) {
				t = is
			}
			if t != nil {
				targets = append(targets, *t)
			}
		}
		hash, ok := folderHash(targets)
		if slices.EqualFunc(targets, folder.Targets, inventory.Target.SameHash) || !ok {
			return folder
		}
		return inventory.Folder{Hash: hash, Targets: targets}
	})
}

// KeepsFailed reports whether the branch keeps targets that fail to render.
func (a *Arguments) KeepsFailed() bool { return a.OnAssignmentError == AssignmentErrorKeep }

// Kept returns the deployment target folders that the branch keeps because they fail to render, sorted.
func (t *AppliedTree) Kept() []record.FailedAssignment {
	if t.kept == nil {
		return nil
	}
	return t.kept.kept
}

// keep returns the fleet's tree with the folders that the branch keeps, as far as the state shows, or nil if nothing
// fails to render. unread says that they are unknown until the branch is read. p is nil for a create. s is nil if no
// private state can be read.
func (r *Rendered) keep(p *Prior, s *State) (kept *keptTree, unread bool) {
	if len(r.failed) == 0 {
		return nil, false
	}
	f := failuresOf(r.failed)
	kept = f.keep(r.inventory, nil, nil)
	switch {
	case r.Strategy == strategy.None:
		if s != nil && s.Version == stateVersion && s.Engine == engineVersion {
			kept = f.keep(r.inventory, s.Ours(), s.Delivered)
		}
	case unknown.Is(string(r.Strategy)), !r.Located() && s.Current(),
		!s.Current() && (r.mayAdopt() || r.Incomplete || recovers(p, s)):
		return kept, true
	case r.Updates(s) && s.Environment == r.Environment:
		kept = f.keep(r.inventory, s.Ours(), s.Delivered)
	case r.Moves(s):
		kept.lost = f.keep(r.inventory, s.Ours(), s.Delivered).kept
	}
	kept.setSince(recordsIn(s)...)
	return kept, false
}

// keptOn returns the fleet's tree with the folders that a branch keeps, as that was read.
func keptOn(t *AppliedTree, s *State, at *BranchState) *keptTree {
	if t.kept == nil {
		return nil
	}
	names := at.RecordedFolders()
	if s.Current() {
		names = s.Owned(at)
	} else if t.mayAdopt() {
		names = sets.Union(sets.Union(names, at.OperatorFolders), t.Rendered.inventory.Names())
	}
	existing := at.Folders.Only(names)
	kept := t.kept.failures.keep(t.Rendered.inventory, existing, existing)
	kept.setSince(append(recordsIn(s), at.Record)...)
	return kept
}

// recordsIn returns the records of the branch and of the pull request, as they were last read.
func recordsIn(s *State) (all []*record.Record) {
	if s == nil {
		return nil
	}
	all = append(all, s.Seen.Record)
	if s.Proposal != nil {
		all = append(all, s.Proposal.Head.Seen.Record)
	}
	return all
}

// setSince sets the time since which assignments fail, from the first record that lists them.
func (k *keptTree) setSince(records ...*record.Record) {
	for _, list := range [][]record.FailedAssignment{k.kept, k.leftOut} {
		for i := range list {
			for _, r := range records {
				if list[i].Since == "" {
					list[i].Since = r.Since(list[i])
				}
			}
		}
	}
}

// baseline returns the folders that the last apply left at the destination of s, with the targets that fail to render
// now as on the branch.
func (t *AppliedTree) baseline(s *State) inventory.Folders {
	k := t.kept
	if k == nil || !t.Updates(s) {
		return s.Delivered
	}
	return k.baseline(s.Delivered, s.Ours())
}

// keptErrors returns why the apply must not keep targets that fail to render.
func keptErrors(t *AppliedTree) (errs []error) {
	k := t.kept
	if k == nil || t.uncertain {
		return nil
	}
	if len(k.lost) > 0 {
		errs = append(errs, &KeptMoveError{t.Destination, k.lost})
	}
	if most := t.Guardrails.maxKept(); !most.allows(len(k.kept), k.existing) {
		errs = append(errs, &GuardrailError{Reason: fmt.Sprintf(
			"%d of %s fail to render and would be kept, and guardrails.max_kept is %q. A team rarely breaks that many: check "+
				"the templates and the configs. If the teams did break them, raise the limit.\n%s",
			len(k.kept),
			problem.Count(k.existing, "deployment target folder"),
			most,
			problem.IndentedList(texts(k.kept), MaxListed),
		)})
	}
	return errs
}

// keptMoved returns the folders of kept targets that differ on the branch from the plan: people merged the pull request
// that changes them since then.
func (c *comparison) keptMoved() (moved []string) {
	k := c.kept
	if k == nil {
		return nil
	}
	for clusterType, folder := range k.inventory {
		for is, wanted := range inventory.Pairs(c.branch.Folders[clusterType].Targets, folder.Targets) {
			if wanted != nil && k.isKept(clusterType, wanted.Name) && (is == nil || !is.SameHash(*wanted)) {
				moved = append(moved, clusterType+"/"+wanted.Name)
			}
		}
	}
	slices.Sort(moved)
	return moved
}

// checkLeftOut returns a *LeftOutError if the rendering is created where the branch contains targets that fail to
// render.
func (c *comparison) checkLeftOut() error {
	k := c.kept
	if k == nil || c.before.Current() || c.unread {
		return nil
	}
	existing := k.failures.keep(c.Rendered.inventory, c.branch.Folders.Only(c.branch.RecordedFolders()), nil).kept
	if len(existing) == 0 {
		return nil
	}
	return &LeftOutError{c.Destination, c.Environment, existing}
}

// failuresChange reports whether the record has to list other failing assignments.
func (decision *Decision) failuresChange() bool {
	t, s := decision.Applied, decision.Before
	if !t.Delivers() || !s.Current() || !t.Known() {
		return false
	}
	all := recordsIn(s)
	last := all[len(all)-1]
	return last != nil && !last.SameFailures(t.record())
}

func texts(all []record.FailedAssignment) []string {
	lines := make([]string, len(all))
	for i, f := range all {
		lines[i] = f.String()
	}
	return lines
}

// KeptMoveError means that a rendering moves to another destination while deployment targets fail to render. The new
// destination does not contain their folders.
type KeptMoveError struct {
	To   record.Destination
	Kept []record.FailedAssignment
}

// Error implements error.
func (e *KeptMoveError) Error() string {
	return fmt.Sprintf("the rendering moves to %s, and these deployment targets fail to render:\n%s\nThe old location "+
		"contains them, and the new one can't keep them. Fix them first, or remove them from their Workloads",
		e.To, problem.IndentedList(texts(e.Kept), MaxListed))
}

// LeftOutError means that a new rendering finds folders of deployment targets on the branch that fail to render.
type LeftOutError struct {
	Destination record.Destination
	Environment string
	Existing    []record.FailedAssignment
}

// Error implements error.
func (e *LeftOutError) Error() string {
	return fmt.Sprintf("At %s, the branch contains the folders of these deployment targets, which fail to render:\n%s\n"+
		"A create does not know the branch, so it would remove them.",
		e.Destination, strings.TrimRight(problem.IndentedList(texts(e.Existing), MaxListed), "\n"))
}
