// Package history computes the deliveries to an environment from the commits of its GitOps branch and of its control
// plane, and the runs on clusters from observations. It does no I/O: [Store] has its implementations below.
package history

import (
	"maps"
	"slices"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion"
)

// Kind is the kind of a delivery.
type Kind string

// The kinds.
const (
	First     Kind = "first"     // nothing was delivered before
	Rollback  Kind = "rollback"  // it restores the state from before the previous delivery
	Promotion Kind = "promotion" // the promoted commit changes
	Change    Kind = "change"    // the promoted commit stays
)

// Kinds lists all kinds.
var Kinds = []Kind{First, Rollback, Promotion, Change}

// Input contains the inputs of a history.
type Input struct {
	// Branch is the first-parent history of the GitOps branch, newest first.
	Branch []Commit
	// Complete says that Branch reaches the first commit. Without it, the oldest commit only shows the state before.
	Complete bool
	// ControlPlane is the first-parent history of the control plane's branch, newest first. It may be cut off at its
	// end.
	ControlPlane []Source
	// Observed are the observations in the store, oldest first; none without a store.
	Observed []RecordedVerdict
	// Since and Until limit the deliveries by when they started: Since is within the window, Until is not.
	Since, Until time.Time
}

// Commit is a commit of the GitOps branch.
type Commit struct {
	Hash    string
	Time    time.Time // the committer's
	Author  string    // Name <mail>
	Subject string    // the first line of the message
	// Rendering is from the record on the branch; nil: there is none.
	Rendering *Rendering
	// Folders contains the hash of the tree of each cluster type's folder that the record lists. The values are not
	// used without a record.
	Folders map[string]string
}

// Rendering is the part of a rendering that its record shows and a history needs.
type Rendering struct {
	Environment string
	Promotion   promotion.Promotion
	// Target is the hash of the tree that the rollout leads to; "": there is no rollout.
	Target string
	// UnderWay says that the rollout is not complete.
	UnderWay bool
	// Changes are the objects of the fleet that changed, as the message names them; empty if they are not known.
	Changes []string
	// RolledBack says that the folders of a rollout returned to their trees from before it.
	RolledBack bool
}

// Source is a commit of the control plane.
type Source struct {
	Hash string
	Time time.Time // the committer's
}

// Delivery is a change of the tree that an environment should run: one commit, or the commits of one rollout.
type Delivery struct {
	FirstCommit string
	Commit      string // the last one
	Started     time.Time
	Delivered   time.Time // zero: the rollout never completed
	Author      string
	Kind        Kind
	// PromotedCommit and PreviousCommit are the promoted commits of this delivery and of the previous one; "": none.
	PromotedCommit, PreviousCommit string
	// Commits are the commits of the control plane that this delivery is the first to bring, newest first. They are
	// Known if the history of the control plane reaches back to them.
	Commits []Source
	Known   bool
	Folders []string // that it changed, sorted
	Changes []string // the objects of the fleet that changed; empty if they are not known
	Reason  string
	// By is [promotion.ByRollback] if the environment went back by itself; "": gates or people decided.
	By string
	// Running is the time at which it was first observed to succeed; zero: never.
	Running time.Time
	// Failed says that the next delivery rolled this one back, or that this one was observed to fail. FailedAt is the
	// time from which it counts as failed, and Restored the time at which the environment was good again; zero: not
	// yet.
	Failed             bool
	FailedAt, Restored time.Time
}

// Complete reports whether all cluster types got the delivery.
func (d *Delivery) Complete() bool { return !d.Delivered.IsZero() }

// History is the history of an environment, as its branch contains it.
type History struct {
	Since, Until time.Time
	Environment  string // as the newest record names it; "": there is none
	// Deliveries are those that started in the window, newest first.
	Deliveries []*Delivery
	Metrics    Metrics
	// Complete says that no delivery of the window is missing: the branch was read back to its beginning.
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
	if newest := slices.IndexFunc(in.Branch, func(c Commit) bool { return c.Rendering != nil }); newest >= 0 {
		h.Environment = in.Branch[newest].Rendering.Environment
	}
	for _, d := range slices.Backward(all) {
		if !d.unseen && !d.Started.Before(in.Since) && d.Started.Before(in.Until) {
			h.Deliveries = append(h.Deliveries, d.Delivery)
		}
	}
	h.Metrics = metricsOf(h.Deliveries, in.Until.Sub(in.Since))
	return h
}

// delivery is a delivery, with the facts that the next ones are compared with.
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
		changes := c.Rendering != nil && !sameTree(parent, c)
		switch {
		case !whole && i == len(branch)-1:
			if c.Rendering != nil {
				all = append(all, &delivery{Delivery: &Delivery{}, unseen: true})
				all[0].take(c)
			}
		case last != nil && last.goesOn(c) && (changes || !c.Rendering.UnderWay):
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
	return parent.Rendering != nil && parent.Rendering.Promotion.Commit == c.Rendering.Promotion.Commit &&
		maps.Equal(parent.Folders, c.Folders)
}

// goesOn reports whether a commit is of the rollout that is under way.
func (d *delivery) goesOn(c Commit) bool {
	return c.Rendering != nil && d.to.Rendering.UnderWay && c.Rendering.Target == d.to.Rendering.Target
}

// take makes a commit the last one of d.
func (d *delivery) take(c Commit) {
	d.to, d.Commit, d.Author, d.PromotedCommit = c, c.Hash, c.Author, c.Rendering.Promotion.Commit
	if d.Reason = c.Rendering.Promotion.Why; d.Reason == "" {
		d.Reason = c.Subject
	}
	d.Changes = c.Rendering.Changes
	if !c.Rendering.UnderWay {
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
			if d.Kind = Rollback; d.to.Rendering.Promotion.By == promotion.ByRollback {
				d.By = promotion.ByRollback
			}
		case d.PromotedCommit != d.PreviousCommit:
			d.Kind = Promotion
		default:
			d.Kind = Change
		}
	}
}

// decidesToGoBack reports whether the record of d says that it goes back: to another promoted commit, or from a
// rollout.
func (d *delivery) decidesToGoBack(before *delivery) bool {
	is := d.to.Rendering
	return is.RolledBack ||
		is.Promotion.Decision == promotion.Rollback && d.PromotedCommit != before.PromotedCommit
}

// goesBack reports whether d restores the state from before the previous delivery: by a pin to an earlier commit, or
// with the tree or the commit of the delivery before that.
func (d *delivery) goesBack(before *delivery, earlier []*delivery) bool {
	is, was := d.to.Rendering.Promotion, before.to.Rendering.Promotion
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

// observe sets the times from the observations. An observation belongs to the newest delivery that its head contains.
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
				if d.Running.IsZero() {
					d.Running = o.VerdictSince
				}
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

// setFailures sets which deliveries failed, and when the environment was good again after each of them.
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
	var good time.Time // of the next delivery that is complete and did not fail
	for _, d := range slices.Backward(all) {
		switch {
		case d.Failed:
			d.Restored = good
		case d.Complete():
			if good = d.Running; good.IsZero() {
				good = d.Delivered
			}
		}
	}
}

// bring sets the commits of the control plane that each delivery is the first to bring.
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
		if d.Kind == First || d.unseen { // all up to its commit is there
			d.Known = true
			for i := to; ok && i < len(branch); i++ {
				brought[i] = true
			}
			continue
		}
		from, known := position[d.PreviousCommit]
		if d.PromotedCommit == d.PreviousCommit {
			d.Known = true
			continue
		}
		if d.Known = ok && known; !d.Known {
			continue
		}
		for i := to; i < from; i++ {
			if !brought[i] {
				brought[i] = true
				d.Commits = append(d.Commits, branch[i])
			}
		}
	}
}
