package remote

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/pullrequest"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render/tree"
)

// key identifies a rendering within a repo.
type key struct{ environment, branch, path string }

func (k key) marker() string { return githost.Marker(k.environment, k.branch, k.path) }

func (k key) removalMarker() string { return githost.RemovalMarker(k.environment, k.branch, k.path) }

// branchName returns the name of our branch.
func branchName(prefix string, k key) string {
	return pullrequest.BranchName(prefix, k.marker(), k.nameParts()...)
}

func (k key) nameParts() []string {
	parts := []string{k.environment}
	if k.branch != k.environment {
		parts = append(parts, k.branch)
	}
	if k.path != "." {
		parts = append(parts, k.path)
	}
	return parts
}

// contents identifies the content of a rendering on a branch: the hash of its record, and its folders.
func contents(record string, folders map[string]tree.Hash) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", record)
	for _, name := range slices.Sorted(maps.Keys(folders)) {
		fmt.Fprintf(&b, "%s %s\n", folders[name], name)
	}
	return b.String()
}

func contentsOf(b *delivery.Branch) string {
	return contents(b.RecordHash, b.Folders.Only(b.RecordedFolders()).Hashes())
}

// topic returns the topic branch of a name that changes the rendering of a key.
func (r *pullRequests) topic(k key, marker, repo, name string) (*pullrequest.Topic, error) {
	host, err := r.remote.Host()
	if err != nil {
		return nil, err
	}
	t, err := pullrequest.Open(r.remote.Git, host, pullrequest.TopicLocation{
		Repo: repo, Branch: name, Target: k.branch, Path: k.path, Marker: marker,
	}, r.args.PullRequest)
	if err != nil {
		return nil, err
	}
	t.OwnBranch.Contents = func(ours *gitbranch.Snapshot) (string, error) {
		b, err := readBranch(ours, destinationOf(t), nil, nil)
		if err != nil {
			return "", err
		}
		return contentsOf(b), nil
	}
	return t, nil
}

// renderingTopic returns the topic branch that proposes the rendering.
func (r *pullRequests) renderingTopic() (*pullrequest.Topic, error) {
	at := r.args.Destination
	k := key{r.args.Environment, at.Branch, at.Path}
	return r.topic(k, k.marker(), at.Repo, branchName(r.args.PullRequest.BranchPrefix, k))
}

// removalTopic returns the topic branch that proposes the removal of a rendering. It has its own branch, because an
// approval of the rendering is no approval of its removal.
func (r *pullRequests) removalTopic(at destination.Destination, environment string) (*pullrequest.Topic, error) {
	k := key{environment, at.Branch, at.Path}
	name := pullrequest.BranchName(r.args.PullRequest.BranchPrefix+"remove-", k.removalMarker(), k.nameParts()...)
	return r.topic(k, k.removalMarker(), at.Repo, name)
}

// proposalTopic returns the topic branch of the rendering that a state knows.
func (r *pullRequests) proposalTopic(s *delivery.State) (*pullrequest.Topic, error) {
	k := key{s.Desired().Environment, s.Destination.Branch, s.Destination.Path}
	if s.Proposal == nil {
		return r.topic(k, k.marker(), s.Destination.Repo, branchName(r.args.PullRequest.BranchPrefix, k))
	}
	head := s.Proposal.Head.Destination
	return r.topic(k, k.marker(), head.Repo, head.Branch)
}

// readTopic reads our branch, and whether it contains the rendering. target is the head of the target branch; empty: it
// is not known.
func readTopic(
	ctx context.Context, t *delivery.NextTree, topic *pullrequest.Topic, now *gitbranch.Snapshot, s *delivery.State,
	target string,
) (*delivery.Branch, pullrequest.Comparison, error) {
	var compared pullrequest.Comparison
	ours, err := readBranch(now, destinationOf(topic), nil, nil)
	if err != nil {
		return nil, compared, err
	}
	pushed := "" // our last commit, if the state knows it
	if s != nil && s.Proposal != nil {
		pushed = s.Proposal.Pushed
	}
	compared.OwnBranch, err = topic.OwnBranch.ReadAlone(ctx, now, contentsOf(ours), pushed, target)
	if err != nil {
		return nil, compared, err
	}
	compared.Existing = t.IsContainedBy(ours)
	if known(s, topic) != nil {
		compared.Listed, compared.Moved = true, delivery.ProposalMoved(s.Proposal, destinationOf(topic), ours)
	}
	return ours, compared, nil
}

// known returns the state's facts about a topic, or nil.
func known(s *delivery.State, t *pullrequest.Topic) *pullrequest.Known {
	if s == nil || !s.Proposal.IsOn(destinationOf(t)) {
		return nil
	}
	p := s.Proposal
	return &pullrequest.Known{
		Number: p.Number, Open: p.Open(), Head: p.Head.Base, AutoMerge: p.AutoMerge, Reviewers: p.RequestedReviewers,
	}
}

// destinationOf returns the destination on our branch.
func destinationOf(t *pullrequest.Topic) destination.Destination {
	return destination.Destination{Repo: t.Location.Repo, Branch: t.Location.Branch, Path: t.Location.Path}
}
