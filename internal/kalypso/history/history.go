// Package history computes the deliveries to an environment from the commits of its GitOps branch and of its control
// plane, and the runs on clusters from observations. It does no I/O; the implementations of [Store] are in packages
// below this one.
package history

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/rollout"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
)

// Kind is the kind of a delivery.
type Kind string

// The kinds.
const (
	First     Kind = "first"     // nothing was delivered before
	Rollback  Kind = "rollback"  // it restores the state before the previous delivery
	Promotion Kind = "promotion" // the promoted commit changes
	Change    Kind = "change"    // the promoted commit stays
)

// Input contains the inputs of a history.
type Input struct {
	// Branch is the first-parent history of the GitOps branch, newest first.
	Branch []Commit
	// Complete says that Branch reaches back to the first commit. Otherwise, the oldest commit only shows the state before
	// the deliveries.
	Complete bool
	// ControlPlane is the first-parent history of the control plane's branch, newest first. It may be cut off at its
	// end.
	ControlPlane []Source
	// Observed lists the observations in the store, oldest first. It is empty without a store.
	Observed []RecordedVerdict
	// Since and Until limit the deliveries to those that started at or after Since and before Until.
	Since, Until time.Time
}

// Commit is a commit of the GitOps branch.
type Commit struct {
	Hash    string
	Time    time.Time // the committer's
	Author  string    // Name <mail>
	Subject string    // the first line of the message
	// Record is the record on the branch: its environment, promotion and rollout. It is nil if the commit has none.
	Record *record.Record
	// Folders contains the hash of the tree of each cluster type's folder that the record lists. The values are not
	// used without a record.
	Folders map[string]string
	// Changes lists the fleet's objects that changed, as the commit message names them. It is empty if they are not known.
	Changes []string
}

// rollout returns the rollout in the record of a commit, or the zero value without one.
func (c Commit) rollout() rollout.Progress {
	if c.Record == nil || c.Record.Rollout == nil {
		return rollout.Progress{}
	}
	return *c.Record.Rollout
}

// Source is a commit of the control plane.
type Source struct {
	Hash string
	Time time.Time // the committer's
}

// Delivery is a change of the tree that an environment should run: one commit, or the commits of one rollout.
type Delivery struct {
	FirstCommit string
	Commit      string    // the last one
	Started     time.Time `attribute:"started_at"`
	Delivered   time.Time `attribute:"delivered_at"` // zero: the rollout never completed
	Author      string
	Kind        Kind
	// PromotedCommit and PreviousCommit are the promoted commits of this delivery and of the previous delivery. They are
	// empty without promotion.
	PromotedCommit, PreviousCommit string
	// Commits lists the commits of the control plane that this delivery contains and no earlier one does, newest first.
	// Known says that they are known: the control plane's history reaches back far enough.
	Commits []Source `attribute:"-"`
	Known   bool
	Folders []string // the folders that it changed, sorted
	Changes []string // the objects of the fleet that changed; empty if they are not known
	Reason  string
	// By is [promotion.ByRollback] if an automatic rollback made the delivery. It is empty if gates or people decided.
	By string `attribute:"decided_by"`
	// Running is the time at which the delivery was first observed to succeed, or zero.
	Running time.Time `attribute:"running_at"`
	// Failed says that the next delivery rolled this one back, or that this delivery was observed to fail. FailedAt is the
	// time of the failure. Restored is the time at which the environment was good again, or zero if it was not.
	Failed   bool
	FailedAt time.Time
	Restored time.Time `attribute:"restored_at"`
}

// Complete reports whether all cluster types got the delivery.
func (d *Delivery) Complete() bool { return !d.Delivered.IsZero() }

// History is the history of an environment, as its branch contains it.
type History struct {
	Since, Until time.Time
	Environment  string // as the newest record names it; "": there is none
	// Deliveries lists the deliveries that started in the window, newest first.
	Deliveries []*Delivery
	Metrics    Metrics
	// Complete says that no delivery of the window is missing, because the branch was read back to its beginning.
	Complete bool
}

// Of returns the history of a branch.
func Of(in Input) History {
	all := deliveriesOf(in.Branch, in.Complete)
	setKinds(all)
	bring(all, in.ControlPlane)
	observe(all, in.Branch, in.Observed)
	setFailures(all)

	h := History{Since: in.Since, Until: in.Until}
	h.Complete = in.Complete || len(in.Branch) > 0 && in.Branch[len(in.Branch)-1].Time.Before(in.Since)
	if newest := slices.IndexFunc(in.Branch, func(c Commit) bool { return c.Record != nil }); newest >= 0 {
		h.Environment = in.Branch[newest].Record.Environment
	}
	for _, d := range slices.Backward(all) {
		if !d.unseen && !d.Started.Before(in.Since) && d.Started.Before(in.Until) {
			h.Deliveries = append(h.Deliveries, d.Delivery)
		}
	}
	h.Metrics = MetricsOf(h.Deliveries, in.Until.Sub(in.Since))
	return h
}

// delivery is a delivery with the facts that later deliveries are compared with.
type delivery struct {
	*Delivery
	unseen bool   // it began before the commits that were read
	from   Commit // the parent of its first commit
	to     Commit // its last commit
}

// deliveriesOf returns all deliveries of a branch, oldest first, without the fields that depend on other deliveries.
func deliveriesOf(branch []Commit, whole bool) []*delivery {
	var all []*delivery
	parent := Commit{}
	for i, c := range slices.Backward(branch) {
		var last *delivery
		if len(all) > 0 {
			last = all[len(all)-1]
		}
		changes := c.Record != nil && !sameTree(parent, c)
		switch {
		case !whole && i == len(branch)-1:
			if c.Record != nil {
				all = append(all, &delivery{Delivery: &Delivery{}, unseen: true})
				all[0].take(c)
			}
		case last != nil && last.goesOn(c) && (changes || !c.Record.Rollout.UnderWay()):
			last.take(c)
		case changes:
			all = append(all, &delivery{Delivery: &Delivery{FirstCommit: c.Hash, Started: c.Time}, from: parent})
			all[len(all)-1].take(c)
		}
		parent = c
	}
	return all
}

// sameTree reports whether a commit contains the tree and the promoted commit of its parent.
func sameTree(parent, c Commit) bool {
	return parent.Record != nil && parent.Record.PromotedCommit == c.Record.PromotedCommit &&
		maps.Equal(parent.Folders, c.Folders)
}

// goesOn reports whether a commit belongs to the rollout of d that is in progress.
func (d *delivery) goesOn(c Commit) bool {
	return c.Record != nil && c.rollout().RolledBack == "" && d.to.Record.Rollout.UnderWay() &&
		c.rollout().TargetTreeHash == d.to.rollout().TargetTreeHash
}

// take adds a commit to d, as its last commit.
func (d *delivery) take(c Commit) {
	d.to, d.Commit, d.Author, d.PromotedCommit, d.Changes = c, c.Hash, c.Author, c.Record.PromotedCommit, c.Changes
	d.Reason = cmp.Or(printable.Text(c.Record.Promotion.Explanation), c.Subject)
	if back := c.rollout().RolledBack; back != "" {
		d.Reason = printable.Text("automatic rollback: " + back)
	}
	if !c.Record.Rollout.UnderWay() {
		d.Delivered = c.Time
	}
	d.Folders = nil
	for _, names := range []map[string]string{d.from.Folders, c.Folders} {
		for name := range names {
			if d.from.Folders[name] != c.Folders[name] && !slices.Contains(d.Folders, name) {
				d.Folders = append(d.Folders, name)
			}
		}
	}
	slices.Sort(d.Folders)
}

// setKinds sets the fields that depend on earlier deliveries.
func setKinds(all []*delivery) {
	for i, d := range all {
		switch {
		case d.unseen:
			continue
		case i == 0:
			d.Kind = First
			continue
		}
		before := all[i-1]
		d.PreviousCommit = before.PromotedCommit
		switch {
		case d.decidesToGoBack(before), before.Kind != Rollback && d.goesBack(before, all[:i-1]):
			d.Kind = Rollback
			if d.to.Record.Promotion.By == promotion.ByRollback || d.to.rollout().RolledBack != "" {
				d.By = promotion.ByRollback
			}
		case d.PromotedCommit != d.PreviousCommit:
			d.Kind = Promotion
		default:
			d.Kind = Change
		}
	}
}

// decidesToGoBack reports whether the record of d says that d is a rollback: of the promoted commit, or of a rollout.
func (d *delivery) decidesToGoBack(before *delivery) bool {
	return d.to.rollout().RolledBack != "" ||
		d.to.Record.Promotion.Decision == promotion.Rollback && d.PromotedCommit != before.PromotedCommit
}

// goesBack reports whether d restores the state before the previous delivery. This is so if d pins an earlier commit,
// or if its tree or its promoted commit is the one that the previous delivery replaced.
func (d *delivery) goesBack(before *delivery, earlier []*delivery) bool {
	is, was := d.to.Record.Promotion, before.to.Record.Promotion
	if is.Decision == promotion.Pinned && is.RolledBack != "" && is.RolledBack != was.RolledBack {
		return true
	}
	if len(earlier) == 0 {
		return false
	}
	two := earlier[len(earlier)-1]
	if maps.Equal(d.to.Folders, two.to.Folders) && !maps.Equal(d.to.Folders, before.to.Folders) {
		return true
	}
	return is.Decision == "" && d.PromotedCommit == two.PromotedCommit && d.PromotedCommit != before.PromotedCommit
}

// observe sets the times from the observations. An observation belongs to the newest delivery that is contained in the
// observed head of the branch.
func observe(all []*delivery, branch []Commit, records []RecordedVerdict) {
	age := make(map[string]int, len(branch)) // 0: the newest
	for i, c := range branch {
		age[c.Hash] = i
	}
	for _, o := range records {
		head, there := age[o.Head]
		if !there {
			continue
		}
		for _, d := range slices.Backward(all) {
			if !d.unseen && age[d.FirstCommit] < head {
				continue
			}
			switch deployment.Verdict(o.Verdict) {
			case deployment.Success:
				d.Running = cmp.Or(d.Running, o.VerdictSince)
			case deployment.Failure:
				if !d.Failed {
					d.Failed, d.FailedAt = true, o.VerdictSince
				}
			case deployment.Pending:
			}
			break
		}
	}
}

// setFailures sets which deliveries failed, and for each of them when the environment was good again.
func setFailures(all []*delivery) {
	for i, d := range all[:max(0, len(all)-1)] {
		if all[i+1].Kind != Rollback || d.Failed {
			continue
		}
		d.Failed, d.FailedAt = true, d.Delivered
		if !d.Complete() {
			d.FailedAt = d.Started
		}
	}
	var good time.Time // the time of the next delivery that is complete and did not fail
	for _, d := range slices.Backward(all) {
		switch {
		case d.Failed:
			d.Restored = good
		case d.Complete():
			good = cmp.Or(d.Running, d.Delivered)
		}
	}
}

// bring sets, for each delivery, the commits of the control plane that no earlier delivery contains.
func bring(all []*delivery, branch []Source) {
	if len(branch) == 0 {
		return
	}
	position := make(map[string]int, len(branch))
	for i, c := range branch {
		position[c.Hash] = i
	}
	brought := make([]bool, len(branch))
	for _, d := range all {
		to, ok := position[d.PromotedCommit]
		from, known := position[d.PreviousCommit]
		first := d.Kind == First || d.unseen // all commits up to its own count as delivered earlier
		if first {
			from = len(branch)
		}
		d.Known = first || ok && known || d.PromotedCommit == d.PreviousCommit
		for i := to; ok && d.Known && i < from; i++ {
			if !brought[i] && !first {
				d.Commits = append(d.Commits, branch[i])
			}
			brought[i] = true
		}
	}
}
