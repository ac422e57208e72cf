package promotionlookup

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
)

// depths lists how many generations of commits are read. Each later depth is tried if a needed commit is still missing.
var depths = []int{64, promotion.MaxCandidates + 1 + promotion.LookBehind, 1<<31 - 1}

// readCurrent reads the promoted commit from the record, or without a record from the operator's file. If the branch is
// missing or has neither file, nothing is promoted yet.
func readCurrent(ctx context.Context, client *gitremote.Client, at destination.Destination) (promotion.Current, error) {
	snapshot, err := gitbranch.ReadHead(ctx, client, at.Repo, at.Branch)
	if err != nil {
		return promotion.Current{}, err
	}
	defer snapshot.Close()
	found, tracked, err := record.ReadPromoted(snapshot, at)
	if err != nil {
		return promotion.Current{}, err
	}
	current := promotion.Current{Head: snapshot.Commit.String()}
	from := at.RecordPath()
	if found != nil {
		// The record names the rollout's commit only after the last wave. Until then, Rollout.PromotedCommit is
		// rendered.
		current.Promotion, current.OtherCommits = found.FinalPromotion(), found.Others()
		current.Rollout = found.Rollout.UnderWay()
	}
	if current.Commit == "" {
		current.Commit, from = tracked, record.PromotedCommitFile
	}
	if current.Commit == "" {
		return current, nil
	}
	if err := githost.CheckCommit(current.Commit); err != nil {
		return current, fmt.Errorf("at %s, %s names %q: %w", at, from, current.Commit, err)
	}
	return current, nil
}

// readDeliveries reads the deliveries so far, newest first, from the history of the GitOps branch. It skips commits
// that cannot be read, since another delivery may be good. [readCurrent] refuses a branch whose head has a newer
// record.
func readDeliveries(
	ctx context.Context, client *gitremote.Client, at destination.Destination,
) (delivered []promotion.Delivery, err error) {
	snapshot, err := gitbranch.ReadHead(ctx, client, at.Repo, at.Branch)
	if err != nil || snapshot.Commit.IsZero() {
		return nil, err
	}
	defer snapshot.Close()
	history := snapshot.History()
	all, err := history.Ancestry(promotion.MaxDeliveries)
	if err != nil {
		return nil, err
	}
	revisions, err := record.Along(history, at, all.FirstParents)
	if err != nil {
		return nil, err
	}
	tracked, err := history.FileAt(record.PromotedCommitFile, gitbranch.Hashes(all.FirstParents))
	if err != nil {
		return nil, err
	}
	for r := range revisions {
		if r.Err != nil {
			continue
		}
		next := promotion.Delivery{Commit: strings.TrimSpace(string(tracked[r.Commit.Hash]))}
		if found := r.Record; found != nil {
			next.Commit, next.RolledBack = found.PromotedCommit, found.Promotion.RolledBack
			if taken := found.FinalPromotion(); found.Rollout.UnderWay() && taken.RolledBack != "" {
				delivered = append(delivered, promotion.Delivery{
					Commit: taken.Commit, RolledBack: taken.RolledBack, Partial: true,
				})
			}
			if !found.Rollout.UnderWay() {
				next.Folders = map[string]string{}
				for _, name := range found.ClusterTypes {
					next.Folders[name] = r.Folders[name].String()
				}
			}
		}
		last := len(delivered) - 1
		switch {
		case githost.CheckCommit(next.Commit) != nil:
		case last < 0 || delivered[last].Commit != next.Commit:
			delivered = append(delivered, next)
		case delivered[last].Folders == nil:
			delivered[last].Folders = next.Folders
		}
	}
	return delivered, nil
}

// readHistory reads the first-parent history of the control plane's branch, as far back as the decision needs.
func (req Request) readHistory(ctx context.Context, world *promotion.World) error {
	history := &world.History
	*history = promotion.History{Branch: req.ControlPlane.Branch}
	snapshot, err := gitbranch.ReadHead(ctx, req.Client, req.ControlPlane.Repo, req.ControlPlane.Branch)
	if err != nil {
		return err
	}
	defer snapshot.Close()
	if snapshot.Commit.IsZero() {
		history.NoBranch = true
		return nil
	}
	world.Signatures = req.signatures(snapshot.History())
	for _, depth := range depths {
		all, err := snapshot.History().Ancestry(depth)
		if err != nil {
			return err
		}
		history.Commits = lists.Map(all.FirstParents, func(c gitbranch.Commit) string { return c.Hash.String() })
		history.Trees = map[string]string{}
		for _, c := range all.Commits {
			history.Trees[c.Hash.String()] = c.Tree.String()
		}
		if all.Whole || reaches(*history, *world) {
			return readLost(snapshot.History(), history, world.Current.Commit, world.Current.RolledBack)
		}
	}
	return errors.New("the history of the branch can't be read to its beginning")
}

// signatures returns the judge of the signatures in a history, or nil if signatures are not verified. It judges each
// commit once.
func (req Request) signatures(history gitbranch.History) *promotion.Signatures {
	if req.ControlPlane.Verify == nil {
		return nil
	}
	type result struct {
		signer string
		err    error
	}
	known := map[string]result{}
	return &promotion.Signatures{
		History: req.ControlPlane.Verify.History,
		Signer: func(commit string) (string, error) {
			r, ok := known[commit]
			if !ok {
				var raw []byte
				raw, r.err = history.Raw(plumbing.NewHash(commit))
				if r.err == nil {
					r.signer, r.err = req.ControlPlane.Verify.Commit(raw, req.Now)
				}
				known[commit] = r
			}
			return r.signer, r.err
		},
	}
}

// readLost adds the trees of lost commits, and the points where they left the branch, if the server still has them.
// After a rewrite of the history, the commit with the same tree replaces the current one.
func readLost(repo gitbranch.History, history *promotion.History, commits ...string) error {
	history.ForkPoints = map[string]string{}
	for _, lost := range commits {
		if lost == "" || history.Has(lost) {
			continue
		}
		read, err := repo.AncestryOf(plumbing.NewHash(lost), promotion.MaxCandidates)
		if err != nil {
			return err
		}
		chain := read.FirstParents
		if len(chain) > 0 {
			history.Trees[lost] = chain[0].Tree.String()
		}
		onBranch := func(c gitbranch.Commit) bool { return history.Has(c.Hash.String()) }
		if i := slices.IndexFunc(chain, onBranch); i >= 0 {
			history.ForkPoints[lost] = chain[i].Hash.String()
		}
	}
	return nil
}

// reaches reports whether a history contains all commits that a decision needs.
func reaches(h promotion.History, world promotion.World) bool {
	current := world.Current
	wanted := slices.Concat(world.Mentioned(), current.OtherCommits, []string{current.Commit, current.RolledBack})
	for _, d := range current.Delivered {
		wanted = append(wanted, d.Commit)
	}
	length := promotion.MaxCandidates
	if i := slices.Index(h.Commits, current.Commit); i >= 0 {
		length = i + 1 + promotion.LookBehind
	}
	return len(h.Commits) >= length && !slices.ContainsFunc(wanted, func(c string) bool { return c != "" && !h.Has(c) })
}
