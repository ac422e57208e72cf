package pullrequest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
)

var unusual = regexp.MustCompile(`[^a-zA-Z0-9_-]+`)

// maxName limits the readable part of a branch name, in bytes. Git and file systems have limits too.
const maxName = 60

// BranchName returns the name of our branch. A digest makes it unique per marker. After the prefix, it contains no
// slash, so that no branch name contains another one.
func BranchName(prefix, marker string, parts ...string) string {
	name := strings.Trim(unusual.ReplaceAllString(strings.Join(parts, "-"), "-"), "-")
	if len(name) > maxName {
		name = name[:maxName]
	}
	sum := sha256.Sum256([]byte(marker))
	return prefix + strings.TrimLeft(name+"-", "-") + hex.EncodeToString(sum[:4])
}

// CheckBranchPrefix returns an error if Git does not allow branch names with the prefix.
func CheckBranchPrefix(prefix string) error {
	if err := gitbranch.CheckName(BranchName(prefix, "", "dev")); err != nil {
		return fmt.Errorf("no branch name can start with %q: %w", prefix, err)
	}
	return nil
}

// trailerKey starts the last line of our commit messages.
const trailerKey = "Kalypso-Rendering: "

// Trailer returns the last line of the message of a commit of ours. contents identifies the part of the change in the
// commit. The line proves that a branch is ours and unchanged, even without a state, as after an apply that was killed.
func Trailer(marker, contents string) string {
	sum := sha256.Sum256([]byte(marker + "\n" + contents))
	return trailerKey + hex.EncodeToString(sum[:20])
}

// OwnBranch is our branch as it was read.
type OwnBranch struct {
	Head      string   // commit; empty if the branch does not exist
	Parents   []string // of the head
	Contents  string   // the part of the change on the branch
	Unchanged bool     // the head is a commit of ours, with the contents that we pushed
}

// OnTopOf reports whether the branch is one commit ahead of a commit.
func (b OwnBranch) OnTopOf(commit string) bool { return slices.Equal(b.Parents, []string{commit}) }

// Branch is our branch of a topic.
type Branch struct {
	// Contents returns the part of the change on our branch, for the [Trailer].
	Contents func(ours *gitbranch.Snapshot) (string, error)

	marker         string
	branch, target *gitbranch.Branch
}

// Snapshot opens our branch. The caller must close the snapshot.
func (b *Branch) Snapshot(ctx context.Context) (*gitbranch.Snapshot, error) {
	return b.branch.Snapshot(ctx)
}

// Read opens our branch and reads its head. Foreign commits may be below the head.
func (b *Branch) Read(ctx context.Context) (OwnBranch, error) {
	snapshot, err := b.branch.Snapshot(ctx)
	if err != nil {
		return OwnBranch{}, err
	}
	defer snapshot.Close()
	return b.ReadSnapshot(snapshot)
}

// ReadSnapshot is [Branch.Read] of an open branch.
func (b *Branch) ReadSnapshot(ours *gitbranch.Snapshot) (OwnBranch, error) {
	contents, err := b.Contents(ours)
	if err != nil {
		return OwnBranch{}, err
	}
	return b.read(ours, contents)
}

// read reads the head of our branch, if the branch exists. contents is the part of the change on it.
func (b *Branch) read(ours *gitbranch.Snapshot, contents string) (OwnBranch, error) {
	if ours.Commit.IsZero() {
		return OwnBranch{}, nil
	}
	commit, err := ours.CommitInfo()
	if err != nil {
		return OwnBranch{}, err
	}
	found := OwnBranch{Head: ours.Commit.String(), Contents: contents}
	found.Unchanged = strings.HasSuffix(strings.TrimRight(commit.Message, "\n"), "\n"+Trailer(b.marker, contents))
	for _, parent := range commit.Parents {
		found.Parents = append(found.Parents, parent.String())
	}
	return found, nil
}

// ReadAlone is [Branch.ReadSnapshot] for a branch on which foreign commits must not be below ours either. contents is
// the part of the change on the branch. pushed is our last commit from the state, and target the head of the target
// branch; either may be empty.
func (b *Branch) ReadAlone(
	ctx context.Context, ours *gitbranch.Snapshot, contents, pushed, target string,
) (OwnBranch, error) {
	found, err := b.read(ours, contents)
	if err != nil || !found.Unchanged || found.Head == pushed || found.OnTopOf(target) {
		return found, err
	}
	found.Unchanged, err = b.onTopOfAny(ctx, found)
	return found, err
}

// onTopOfAny reports whether the branch is one commit ahead of some commit of the target.
func (b *Branch) onTopOfAny(ctx context.Context, found OwnBranch) (bool, error) {
	if len(found.Parents) != 1 {
		return false, nil
	}
	_, contained, err := b.target.ChangesSince(ctx, plumbing.NewHash(found.Parents[0]), nil)
	return contained, err
}

// Head looks up the head of our branch; empty: there is none.
func (b *Branch) Head(ctx context.Context) (string, error) {
	head, err := b.branch.Head(ctx)
	if err != nil || head.IsZero() {
		return "", err
	}
	return head.String(), nil
}

// OtherCommits returns the commits on top of ours, except merge commits. If the branch does not contain our commit,
// people rebased it. Then rebased names the foreign commits; empty: there are none.
func (b *Branch) OtherCommits(
	ctx context.Context, pushed string,
) (others []gitbranch.ChangingCommit, rebased string, err error) {
	commits, found, err := b.branch.ChangesSince(ctx, plumbing.NewHash(pushed), []string{"."})
	switch {
	case err != nil:
		return nil, "", err
	case found:
		merges := func(c gitbranch.ChangingCommit) bool { return len(c.Commit.Parents) > 1 }
		return slices.DeleteFunc(commits, merges), "", nil
	}
	read, err := b.Read(ctx)
	switch {
	case err != nil:
		return nil, "", err
	case !read.Unchanged:
		return nil, "the branch was rebased, and contains other people's commits on top of ours", nil
	}
	if alone, err := b.onTopOfAny(ctx, read); err != nil || alone {
		return nil, "", err
	}
	return nil, "the branch was rebased, and contains other people's commits below ours", nil
}

// delete deletes our branch if its head is a commit; empty: any commit of ours. It keeps a branch with foreign commits.
func (b *Branch) delete(ctx context.Context, commit string) error {
	if commit == "" {
		read, err := b.Read(ctx)
		if err != nil || !read.Unchanged {
			return err
		}
		commit = read.Head
	}
	if err := b.branch.Delete(ctx, plumbing.NewHash(commit)); err != nil && !errors.Is(err, gitremote.ErrBranchMoved) {
		return err
	}
	return nil
}
