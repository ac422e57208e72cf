package delivery

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitops"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting"
)

// topic is our branch, from which a pull request of one rendering comes.
type topic struct {
	key    key
	place  Place  // on our branch
	target string // branch
	branch *gitops.Branch
	onto   *gitops.Branch
	repo   hosting.Repo
}

func (r *PullRequests) topic(client *gitremote.Client, name string, k key, target Place) (*topic, error) {
	t := &topic{key: k, place: Place{target.Repo, name, target.Path}, target: target.Branch}
	var err error
	if t.repo, err = r.Host.Repo(target.Repo); err != nil {
		return nil, err
	}
	if t.branch, err = gitops.Open(client, target.Repo, name); err != nil {
		return nil, err
	}
	t.onto, err = gitops.Open(client, target.Repo, target.Branch)
	return t, err
}

func (t *topic) find(ctx context.Context) (*hosting.PullRequest, error) {
	return t.repo.Find(ctx, hosting.Query{Branch: t.place.Branch, Target: t.target, Marker: t.key.marker()})
}

// rebuilds bounds how often a pull request is opened that the host has nothing for: its target took the change meanwhile, or
// the host has not seen the push yet.
const rebuilds = 5

// Propose pushes the order to our branch, one commit on top of the place's, and has it reviewed in one pull request, ours
// if there is one. Where the place's branch holds the order already there is nothing to propose. Doing it again completes
// what failed.
func Propose(ctx context.Context, client *gitremote.Client, o *Order, r *PullRequests, progress func(stage string, done, total int)) (*Receipt, error) {
	t, err := r.topic(client, branchName(r.BranchPrefix, o.key()), o.key(), o.Place)
	if err != nil {
		return nil, err
	}
	var receipt *Receipt
	for try := 1; ; try++ {
		receipt, err = t.propose(ctx, client, o, r, progress)
		early := errors.Is(err, hosting.ErrNothingToMerge) || errors.Is(err, hosting.ErrNoBranch)
		if !early || try == rebuilds || r.pause(ctx, try) != nil {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	if err := r.leave(ctx, client, o, t.place, receipt); err != nil {
		return nil, fmt.Errorf("the tree was proposed, and what was there before could not be cleaned; the next apply tries again: %w", err)
	}
	return receipt, nil
}

func (t *topic) propose(ctx context.Context, client *gitremote.Client, o *Order, r *PullRequests, progress func(stage string, done, total int)) (*Receipt, error) {
	found, err := t.find(ctx)
	if err != nil {
		return nil, err
	}
	var last *draft
	var head *State // as it is to be
	kept, abandoned := false, false
	result, err := t.branch.Rebuild(ctx, t.onto, gitops.UpdateOptions{Progress: progress, Known: o.known()}, func(_ context.Context, base, now *gitops.Snapshot) (*gitops.Edit, error) {
		var err error
		if last, err = o.draft(base); err != nil || last.edit == nil {
			return nil, err
		}
		head = &State{
			Version: stateVersion, Engine: engineVersion, Build: build(), Place: t.place, Environment: o.Environment,
			Delivered: last.wanted, DeliveredRecord: last.recordHash, PromotedCommit: o.PromotedCommit, Inputs: o.inputs().pack(),
		}
		holds, built, err := t.keeps(o, r, base, now, found)
		abandoned = holds && !r.Reopen && found != nil && found.State == hosting.Closed && found.HeadCommit == now.Commit.String()
		if kept = abandoned || built; err != nil || kept {
			if err != nil {
				return nil, err
			}
			entry, ok, err := now.Entry(t.place.RecordPath())
			if ok {
				head.DeliveredRecord = entry.Hash.String()
			}
			return nil, err
		}
		last.edit.Message = withSeal(last.edit.Message, t.key.seal(last.recordHash, last.wanted.hashes()))
		return last.edit, nil
	})
	if err != nil {
		return nil, err
	}
	receipt := &Receipt{State: last.standing(o), Changes: last.changes, Before: last.before, Takeover: last.takeover, Pushed: result.Pushed}
	if !kept && !result.Pushed {
		return receipt, t.settle(ctx, client, r.Host, o, found, last, receipt)
	}
	head.Base, head.Head = result.Commit.String(), result.Commit.String()
	head.Seen, head.SeenRecord = head.Delivered, head.DeliveredRecord
	receipt.State.Proposal = &Proposal{Head: head, Pushed: head.Base, State: hosting.Open, Adopted: last.adopted(), Tracking: last.at.tracking}
	if abandoned {
		receipt.PullRequest, receipt.State.Proposal.Number, receipt.State.Proposal.State = found, found.Number, found.State
		if r.Wait {
			err = &ReviewError{PullRequest: found, Closed: true}
		}
		return receipt, err
	}
	p := r.proposal(t.repo, t.place.Branch, t.target, o.message(last.changes), o.Describe(last.before), t.key.marker(), last.promotes(o))
	pr, err := r.publish(ctx, t.repo, found, p, t.key.marker(), head.Head, o.Before.autoMerge())
	if err != nil {
		return nil, err
	}
	receipt.PullRequest, receipt.State.Proposal.Number, receipt.State.Proposal.State = pr, pr.Number, pr.State
	receipt.State.Proposal.AutoMerge = r.AutoMerge
	if pr.State != hosting.Merged {
		return receipt, nil
	}
	receipt.State, receipt.PullRequest, err = Follow(ctx, client, r.Host, receipt.State)
	receipt.Commit = pr.MergeCommit
	return receipt, err
}

// standing is the state of the branch that a pull request goes to: what it holds of ours, which what is proposed does not
// change yet.
func (d *draft) standing(o *Order) *State {
	held := Footprint{}
	for name, folder := range d.held {
		if !slices.Contains(d.takeover.Adopted, name) {
			held[name] = folder
		}
	}
	s := &State{
		Version: stateVersion, Engine: engineVersion, Place: o.Place, Environment: o.Environment,
		Delivered: held, DeliveredRecord: d.at.recordHash, PromotedCommit: d.promoted(), Base: d.at.snapshot.Commit.String(),
		Seen: held, SeenRecord: d.at.recordHash, Others: without(d.at.folders, held.Names()), Files: without(d.at.files, held.Names()), Tracking: d.at.tracking,
	}
	s.Head, s.Way = s.Base, d.at.snapshot.Way(o.Place.RecordPath())
	if d.at.record != nil {
		s.Environment = d.at.record.Environment
	}
	if len(held) > 0 {
		s.Inputs = d.before.Inputs
	}
	return s
}

// adopted is what the place holds of others that is taken over.
func (d *draft) adopted() Footprint {
	adopted := Footprint{}
	for _, name := range d.takeover.Adopted {
		adopted[name] = d.held[name]
	}
	return adopted
}

// promoted is the promoted commit that the branch names.
func (d *draft) promoted() string {
	if d.at.record == nil {
		return ""
	}
	return d.at.record.PromotedCommit
}

// promotes reports whether the order changes the promoted commit. What moves within the branch, or is taken over from the
// operator, has no record there that names the one before.
func (d *draft) promotes(o *Order) bool {
	switch {
	case d.at.record != nil:
	case o.moves() && o.Place.SameBranch(o.Before.Place):
		return o.Before.PromotedCommit != o.PromotedCommit
	case len(d.takeover.Adopted) > 0 && o.PromotedCommit != "":
		return d.at.tracking != blob([]byte(o.PromotedCommit))
	}
	return d.promoted() != o.PromotedCommit
}

// settle ends a proposal whose target holds the tree already, whoever brought it there. Our branch goes with one that was not
// merged: the same tree may be proposed again later.
func (t *topic) settle(ctx context.Context, client *gitremote.Client, host hosting.Host, o *Order, found *hosting.PullRequest, last *draft, receipt *Receipt) error {
	receipt.State.Delivered, receipt.State.Seen, receipt.State.Inputs, receipt.State.Build = last.wanted, last.wanted, o.inputs().pack(), build()
	receipt.State.Others, receipt.State.Files = last.others, last.files
	receipt.Commit = receipt.State.Head
	switch {
	case found == nil:
	case found.State != hosting.Merged:
		return t.end(ctx, client, host, o.Before, found)
	case found.MergeCommit == receipt.Commit:
		receipt.PullRequest = found
	}
	return nil
}

// keeps reports whether our branch holds the order already, and whether that is one commit on top of the target's head. It
// refuses a branch that is not ours, or that others pushed to since the plan was made.
func (t *topic) keeps(o *Order, r *PullRequests, base, now *gitops.Snapshot, found *hosting.PullRequest) (holds, built bool, err error) {
	if now.Commit.IsZero() {
		return false, false, nil
	}
	at, err := newSurvey(now, t.place, nil)
	if err != nil {
		return false, false, err
	}
	if !o.heldBy(at) {
		return false, false, t.own(at, o.Before, found, r.Overwrite)
	}
	_, parents, err := now.Last()
	return true, len(parents) == 1 && parents[0] == base.Commit, err
}

// own returns why our branch may not be written anew, or nil.
func (t *topic) own(at *survey, before *State, found *hosting.PullRequest, overwrite bool) error {
	commit := at.snapshot.Commit.String()
	sealed, err := at.sealed(t.key)
	if err != nil || sealed {
		return err
	}
	if before != nil && before.Proposal != nil && before.Proposal.Head.Place.Same(t.place) {
		moved, err := at.unlike(before.Proposal.Head)
		if err == nil && len(moved) > 0 {
			err = &MovedError{t.place, moved}
		}
		return err
	}
	switch {
	case found != nil && (overwrite || found.State != hosting.Open && found.HeadCommit == commit):
		return nil
	case found != nil && found.State == hosting.Open:
		return &OwnershipError{Place: t.place, Reason: fmt.Sprintf(
			"people pushed to the branch of pull request %d (%s). Merge it, close it, or set on_drift = \"overwrite\" to put the rendered tree back.", found.Number, found.URL)}
	}
	return &OwnershipError{Place: t.place, Reason: "the branch is there and not this rendering's. Choose another delivery.branch_prefix, or remove it."}
}
