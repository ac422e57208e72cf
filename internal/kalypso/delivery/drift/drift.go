// Package drift finds the foreign commits that changed a delivered tree.
package drift

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
)

// Reaction is the reaction to changes from outside Terraform.
type Reaction string

// The reactions. [unknown.Text] says that the reaction is not known yet.
const (
	Fail      Reaction = "fail"      // the plan fails
	Overwrite Reaction = "overwrite" // the apply overwrites the changes
)

// Commit is a foreign commit that changed a delivered tree.
type Commit struct {
	Commit  string   `json:"commit,omitempty"` // empty if it was not found in the branch's history
	Author  string   `json:"author,omitempty"` // name and email
	Time    string   `json:"time,omitempty"`   // RFC 3339
	Subject string   `json:"subject,omitempty"`
	Apply   bool     `json:"apply,omitempty"` // an apply made it that this state does not know
	Paths   []string `json:"paths"`
	More    int      `json:"more,omitempty"` // the number of paths that are not listed
}

// ProofTrailer starts a line in the message of each commit that an apply makes on top of its state.
const ProofTrailer = "Kalypso-Proof: "

// WrittenByApply reports whether a commit's message looks like the message of an apply, of any state: it has the
// trailer, or it begins as the messages of applies do.
func WrittenByApply(message string) bool {
	return strings.HasPrefix(message, "Render environment ") || strings.Contains(message, "\n"+ProofTrailer)
}

// ByApplies reports whether applies made all commits.
func ByApplies(commits []Commit) bool {
	return !slices.ContainsFunc(commits, func(c Commit) bool { return !c.Apply })
}

// Since returns the commits after base that changed the paths. If it does not find them, it returns one without a hash.
func Since(ctx context.Context, branch *gitbranch.Branch, base string, changed []string) ([]Commit, error) {
	commits, found, err := branch.ChangesSince(ctx, plumbing.NewHash(base), changed)
	if err != nil {
		return nil, err
	}
	all := Commits(commits)
	switch {
	case !found:
		all = append(all, Commit{
			Paths: changed, Subject: "the last delivered commit is not in the history of the branch, as far as it was searched",
		})
	case len(all) == 0:
		all = append(all, Commit{Paths: changed, Subject: "the pull request was merged together with other people's changes"})
	}
	return all, nil
}

// Commits returns commits of a branch in the form of a state.
func Commits(commits []gitbranch.ChangingCommit) (all []Commit) {
	for _, c := range commits {
		all = append(all, Commit{
			Commit:  c.Commit.Hash.String(),
			Author:  fmt.Sprintf("%s <%s>", c.Commit.Author.Name, c.Commit.Author.Email),
			Time:    c.Commit.Author.When.UTC().Format(time.RFC3339),
			Subject: c.Commit.Subject,
			Apply:   WrittenByApply(c.Commit.Message),
			Paths:   c.Paths,
			More:    c.Count - len(c.Paths),
		})
	}
	return all
}
