package pullrequest

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
)

// Withheld is a pull request that must not be merged now, or that people merged or closed.
type Withheld struct {
	PullRequest *githost.PullRequest
	// NoDraft is the reason why the host does not make the pull request a draft; nil: it is a draft. GitHub has no
	// drafts in private repos of some plans, and a token may lack the permission.
	NoDraft error
}

// Warning returns a warning for people if the host does not make the pull request a draft, or "" if it is one.
func (w Withheld) Warning() string {
	switch {
	case w.NoDraft == nil:
		return ""
	case errors.Is(w.NoDraft, errQueuedByPeople):
		return fmt.Sprintf("Pull request %d must not be merged now, and its text begins with the reason. But people put it "+
			"into the merge queue, so it stays there, and the host will merge it unless they take it out.",
			w.PullRequest.Number)
	}
	return fmt.Sprintf("Pull request %d must not be merged now. Its text begins with the reason, and our auto-merge is "+
		"off, but the host does not make it a draft, so people can still merge it. The host's answer:\n%s",
		w.PullRequest.Number, printable.Text(w.NoDraft.Error()))
}

// Withhold makes the open pull request that the state knows a draft, disables the auto-merge that we enabled, takes it
// out of the merge queue if we put it in, and adds the reason why it must not be merged at the start of its text. If
// people put it into the queue, it stays there, and does not become a draft. If the host refuses the draft, the other
// changes are made. [Topic.Run] undoes it. Withhold does nothing if people merged or closed the pull request.
func (t *Topic) Withhold(ctx context.Context, known *Known, reason string) (Withheld, error) {
	pr, err := t.Read(ctx, known.Number)
	if err != nil || pr.State != githost.Open {
		return Withheld{PullRequest: pr}, err
	}
	if known.AutoMerge != "" {
		pr, err = t.mergeWhenReady(ctx, pr, Step{PreviousMethod: known.AutoMerge}, known)
		if err != nil || pr.State != githost.Open {
			return Withheld{PullRequest: pr}, err
		}
	} else {
		pr, err = t.withQueue(ctx, pr)
		if err != nil {
			return Withheld{PullRequest: pr}, err
		}
	}
	edited, err := t.repo.Edit(ctx, *pr, githost.PullRequestContent{
		Branch: t.Location.Branch, Target: t.Location.Target, Title: pr.Title, Draft: pr.Queue == nil,
		Body: t.body(withheld(pr.Body, reason)),
	})
	var noDraft error
	switch {
	case refusesDraft(err):
		err, noDraft = nil, err
	case err == nil && pr.Queue != nil:
		noDraft = errQueuedByPeople
	}
	if err == nil && edited.State == githost.Open { // some hosts show a push late
		var head string
		head, err = t.OwnBranch.Head(ctx)
		edited.HeadCommit = cmp.Or(head, edited.HeadCommit)
	}
	return Withheld{edited, noDraft}, err
}

// refusesDraft reports whether the host made all changes of an edit except the draft, and would refuse that again.
func refusesDraft(err error) bool {
	var host *githost.Error
	return errors.As(err, &host) && host.Field == githost.FieldDraft &&
		(errors.Is(err, githost.ErrRejected) || errors.Is(err, githost.ErrForbidden))
}
