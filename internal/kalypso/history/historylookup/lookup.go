// Package historylookup reads the inputs of a history: the commits of the GitOps branch with their records and
// folders, and the commits of the control plane's branch. [history.Of] then computes the deliveries.
package historylookup

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/sets"
)

// MaxCommits limits the commits of a branch that are read.
const MaxCommits = 10_000

// Request says which history to read.
type Request struct {
	Client *gitremote.Client
	GitOps destination.Destination
	// ControlPlane is the branch whose commits are promoted. If it is empty, none is read.
	ControlPlane struct{ Repo, Branch string }
	// Observed lists the observations in the store. It is empty without a store.
	Observed []history.RecordedVerdict
	// Since and Until are the window, see [history.Input].
	Since, Until time.Time
}

// ControlPlaneError means that the control plane can't be read.
type ControlPlaneError struct{ Err error }

// Error implements error.
func (e *ControlPlaneError) Error() string {
	return fmt.Sprintf("the control plane can't be read: %s", e.Err)
}

// Unwrap returns the cause.
func (e *ControlPlaneError) Unwrap() error { return e.Err }

// Read reads the history, which is empty if the branch does not exist. The error is [record.ErrNewer] or an error of
// Git. If the control plane can't be read, it is a [*ControlPlaneError].
func Read(ctx context.Context, req Request) (history.History, error) {
	in := history.Input{Since: req.Since, Until: req.Until, Observed: req.Observed}
	var err error
	in.Branch, in.Complete, err = readBranch(ctx, req.Client, req.GitOps)
	if err != nil {
		return history.History{}, err
	}
	if at := req.ControlPlane; at.Repo != "" && len(in.Branch) > 0 {
		in.ControlPlane, err = ReadControlPlane(ctx, req.Client, at.Repo, at.Branch)
		if err != nil {
			return history.History{}, &ControlPlaneError{err}
		}
	}
	return history.Of(in), nil
}

// readBranch reads the commits of the GitOps branch, newest first. It leaves out commits whose record can't be parsed;
// their changes become a part of the next commit. If a newer version of the provider wrote the record at the head, the
// error is [record.ErrNewer].
func readBranch(
	ctx context.Context, client *gitremote.Client, at destination.Destination,
) (commits []history.Commit, whole bool, err error) {
	snapshot, err := gitbranch.ReadHead(ctx, client, at.Repo, at.Branch)
	if err != nil {
		return nil, false, err
	}
	defer snapshot.Close()
	if snapshot.Commit.IsZero() {
		return nil, true, nil
	}
	all, err := snapshot.History().Ancestry(MaxCommits)
	if err != nil {
		return nil, false, err
	}
	messages := make(map[plumbing.Hash]string, len(all.Commits))
	for _, c := range all.Commits {
		messages[c.Hash] = c.Message
	}
	revisions, err := record.Along(snapshot.History(), at, all.FirstParents)
	if err != nil {
		return nil, false, err
	}
	for r := range revisions {
		c := r.Commit
		switch {
		case errors.Is(r.Err, record.ErrNewer) && c.Hash == snapshot.Commit:
			return nil, false, &record.Error{At: at, Err: r.Err}
		case r.Err != nil:
			continue
		}
		next := history.Commit{Hash: c.Hash.String(), Time: c.When, Subject: c.Subject,
			Author: printable.Line(fmt.Sprintf("%s <%s>", c.Author.Name, c.Author.Email))}
		if found := r.Record; found != nil {
			next.Folders = sets.MapValues(r.Listed(), plumbing.Hash.String)
			next.Changes = objectsOf(c, messages)
			next.Record = &record.Record{Environment: found.Environment, PromotedCommit: found.PromotedCommit,
				Promotion: found.Promotion, Rollout: found.Rollout} // the other fields take much memory
			if found.Rollout != nil {
				found.Rollout.EarlierHashes = nil // likewise
			}
		}
		commits = append(commits, next)
	}
	return commits, all.Whole, nil
}

// ReadControlPlane returns the commits of a branch along first parents, newest first, at most [MaxCommits]. It returns
// no commits if the branch does not exist.
func ReadControlPlane(ctx context.Context, client *gitremote.Client, repo, branch string) ([]history.Source, error) {
	snapshot, err := gitbranch.ReadHead(ctx, client, repo, branch)
	if err != nil {
		return nil, err
	}
	defer snapshot.Close()
	if snapshot.Commit.IsZero() {
		return nil, nil
	}
	all, err := snapshot.History().Ancestry(MaxCommits)
	return lists.Map(all.FirstParents, func(c gitbranch.Commit) history.Source {
		return history.Source{Hash: c.Hash.String(), Time: c.When}
	}), err
}

// objectsOf returns the changed objects that the message of a commit names. The host writes the message of a merge
// commit, so objectsOf reads the message of the merged commit instead.
func objectsOf(c gitbranch.Commit, messages map[plumbing.Hash]string) []string {
	found := record.ObjectsIn(c.Message)
	if len(found) == 0 && len(c.Parents) > 1 {
		found = record.ObjectsIn(messages[c.Parents[1]])
	}
	return found
}
