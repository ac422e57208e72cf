package delivery

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitops"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/record"
)

// FileChange is a change of one file that a pull request proposes.
type FileChange struct {
	Target record.Destination // its Path is the file's
	Name   string             // of our branch, after the prefix
	// Known is what the state knows about an earlier proposal; nil: nothing.
	Known  *FileProposal
	Author gitops.Signature
	// Edit returns the desired file, its commit message and the description of the pull request. It gets the head of the
	// target branch, and the file there; nil: there is none. If both files are equal, nothing is proposed.
	Edit func(head string, now []byte) (file []byte, message, text string, err error)
}

// FileProposal is a pull request that changes one file.
type FileProposal struct {
	Number int           `json:"number"`
	State  hosting.State `json:"state"`
	Head   string        `json:"head"` // our commit
	// Broken says that our branch does not hold our commit any more.
	Broken             bool                `json:"broken,omitempty"`
	AutoMerge          hosting.MergeMethod `json:"auto_merge,omitempty"`
	RequestedReviewers []string            `json:"asked,omitempty"`
}

// fileTopic returns the topic branch that proposes a change of a file.
func (r *PullRequests) fileTopic(client *gitremote.Client, at record.Destination, name string) (*topic, error) {
	k, marker := key{branch: at.Branch, path: at.Path}, hosting.FileMarker(at.Branch, at.Path)
	return r.topic(client, nameBranch(r.BranchPrefix, key{name, name, "."}, marker), marker, k, at)
}

// ProposeFile commits a file to a branch of our own, on top of the target branch, and opens or updates one pull
// request. If the target holds the file already, it closes an open pull request and returns nil. If people closed the
// pull request of the same file, it opens none, unless the settings say so. After an error, proposing again completes
// it.
func (r *PullRequests) ProposeFile(
	ctx context.Context, client *gitremote.Client, f FileChange,
) (pr *hosting.PullRequest, proposal *FileProposal, err error) {
	t, err := r.fileTopic(client, f.Target, f.Name)
	if err != nil {
		return nil, nil, err
	}
	err = r.retry(ctx, func() error {
		pr, proposal, err = r.proposeFile(ctx, t, f)
		return err
	})
	var review *ReviewError
	if errors.As(err, &review) {
		review.Untracked = f.Known == nil
	}
	return pr, proposal, err
}

func (r *PullRequests) proposeFile(
	ctx context.Context, t *topic, f FileChange,
) (*hosting.PullRequest, *FileProposal, error) {
	found, err := t.find(ctx, f.number())
	if err != nil {
		return nil, nil, err
	}
	action, message, text := reviewNothing, "", ""
	edit := func(_ context.Context, base, now *gitops.Snapshot) (*gitops.Edit, error) {
		files, err := base.ReadFiles([]string{f.Target.Path})
		if err != nil {
			return nil, err
		}
		var file []byte
		before, there := files[f.Target.Path]
		if file, message, text, err = f.Edit(base.Commit.String(), before); err != nil {
			return nil, err
		}
		if action = reviewNothing; there && string(file) == string(before) {
			return nil, nil
		}
		ours, held, err := t.readFile(now, f.Target.Path)
		if err != nil {
			return nil, err
		}
		action, err = r.reviewFile(t, ours, string(held) == string(file), base.Commit.String(), found)
		if err != nil || action != reviewPush {
			return nil, err
		}
		return &gitops.Edit{
			Files:   map[string][]byte{f.Target.Path: file},
			Message: withTrailer(message, t.fileTrailer(file)), Author: f.Author,
		}, nil
	}
	pushed, err := t.branch.ForceWithLease(ctx, t.onto, gitops.UpdateOptions{}, edit)
	if err != nil {
		return nil, nil, err
	}
	proposal := &FileProposal{Head: pushed.Commit.String(), AutoMerge: r.AutoMerge}
	switch action {
	case reviewNothing:
		return nil, nil, t.closeFile(ctx, found, f.Target.Path)
	case reviewStayClosed:
		proposal.Number, proposal.State = found.Number, found.State
		if r.Wait {
			err = &ReviewError{PullRequest: found, Closed: true}
		}
		return found, proposal, err
	}
	p := r.proposal(t, message, text, true)
	pr, err := r.publish(ctx, t, found, p, proposal.Head, f.knownAs(found))
	if err != nil {
		return nil, nil, err
	}
	proposal.Number, proposal.State, proposal.RequestedReviewers = pr.Number, pr.State, p.Reviewers
	return pr, proposal, nil
}

// CheckFile returns an error if the change can't be proposed: the host does not show the repo, or others own our branch
// or its pull request. It writes nothing.
func (r *PullRequests) CheckFile(ctx context.Context, client *gitremote.Client, f FileChange) error {
	t, err := r.fileTopic(client, f.Target, f.Name)
	if err != nil {
		return err
	}
	found, err := t.find(ctx, f.number())
	if err != nil {
		return err
	}
	snapshot, err := t.branch.Snapshot(ctx)
	if err != nil {
		return err
	}
	defer snapshot.Close()
	ours, _, err := t.readFile(snapshot, f.Target.Path)
	if err != nil {
		return err
	}
	return ours.checkPush(t.at, nil, found)
}

// CloseFile closes the pull request that changes a file, and deletes our branch, unless others pushed to it.
func (r *PullRequests) CloseFile(ctx context.Context, client *gitremote.Client, f FileChange) error {
	t, err := r.fileTopic(client, f.Target, f.Name)
	if err != nil {
		return err
	}
	found, err := t.find(ctx, f.number())
	if err != nil {
		return err
	}
	err = t.closeFile(ctx, found, f.Target.Path)
	if errors.Is(err, errChanged) { // people merged it
		return nil
	}
	return err
}

func (t *topic) closeFile(ctx context.Context, found *hosting.PullRequest, path string) error {
	if found == nil || found.State != hosting.Open {
		return nil
	}
	closed, err := t.repo.Close(ctx, found.Number)
	switch {
	case err != nil:
		return err
	case closed.State == hosting.Merged:
		return errChanged
	}
	snapshot, err := t.branch.Snapshot(ctx)
	if err != nil {
		return err
	}
	defer snapshot.Close()
	ours, _, err := t.readFile(snapshot, path)
	if err != nil || !ours.trailer {
		return err
	}
	if err := t.branch.Delete(ctx, snapshot.Commit); err != nil && !errors.Is(err, gitremote.ErrBranchMoved) {
		return err
	}
	return nil
}

// ReadFileProposal returns the current pull request of a proposal, and the updated proposal.
func (r *PullRequests) ReadFileProposal(
	ctx context.Context, client *gitremote.Client, f FileChange,
) (*hosting.PullRequest, *FileProposal, error) {
	t, err := r.fileTopic(client, f.Target, f.Name)
	if err != nil {
		return nil, nil, err
	}
	pr, err := t.repo.Read(ctx, f.Known.Number)
	if err != nil {
		return nil, nil, err
	}
	now := *f.Known
	if pr.Target != f.Target.Branch && pr.State == hosting.Open {
		pr.State = hosting.Closed // people changed its target branch
	}
	if now.State = pr.State; now.State == hosting.Open {
		head, err := t.branch.Head(ctx)
		if err != nil {
			return nil, nil, err
		}
		now.Broken = head.String() != now.Head
	}
	return pr, &now, nil
}

// reviewFile decides what to do with our branch. held says that it holds the file as desired.
func (r *PullRequests) reviewFile(
	t *topic, ours *reviewBranch, held bool, target string, found *hosting.PullRequest,
) (reviewAction, error) {
	switch {
	case !held || !ours.trailer:
		return reviewPush, ours.checkPush(t.at, nil, found)
	case !r.Reopen && found != nil && found.State == hosting.Closed && found.HeadCommit == ours.Head:
		return reviewStayClosed, nil
	case ours.onTopOf(target):
		return reviewKeep, nil
	}
	return reviewPush, nil
}

// readFile reads our branch, and the file there.
func (t *topic) readFile(now *gitops.Snapshot, path string) (*reviewBranch, []byte, error) {
	ours := &reviewBranch{BranchState: &BranchState{}}
	if now.Commit.IsZero() {
		return ours, nil, nil
	}
	message, parents, err := now.CommitInfo()
	if err != nil {
		return nil, nil, err
	}
	files, err := now.ReadFiles([]string{path})
	if err != nil {
		return nil, nil, err
	}
	ours.Head = now.Commit.String()
	ours.trailer = strings.HasSuffix(strings.TrimRight(message, "\n"), "\n"+t.fileTrailer(files[path]))
	for _, parent := range parents {
		ours.parents = append(ours.parents, parent.String())
	}
	return ours, files[path], nil
}

// fileTrailer returns the trailer of a commit that changes a file. It proves that a branch is ours and unchanged.
func (t *topic) fileTrailer(file []byte) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%s", t.marker, file))
	return trailerKey + hex.EncodeToString(sum[:20])
}

// number returns the number of the known pull request, or 0.
func (f FileChange) number() int {
	if f.Known == nil {
		return 0
	}
	return f.Known.Number
}

// knownAs returns what the state knows about a pull request, or nil.
func (f FileChange) knownAs(pr *hosting.PullRequest) *Proposal {
	if f.Known == nil || pr == nil || pr.Number != f.Known.Number {
		return nil
	}
	return &Proposal{Number: pr.Number, AutoMerge: f.Known.AutoMerge, RequestedReviewers: f.Known.RequestedReviewers}
}
