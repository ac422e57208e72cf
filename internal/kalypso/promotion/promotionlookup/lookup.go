// Package promotionlookup reads the inputs of a promotion: the history of the control plane's branch, the record on
// the GitOps branch, and the statuses on the host. [promotion.Decide] then chooses the commit.
package promotionlookup

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/verify"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// Request describes the promotion to decide on.
type Request struct {
	Client *gitremote.Client
	// Host has the statuses of the control plane's commits; nil: no host.
	Host githost.Host
	// Credential says that the host may be asked even if no gate needs it, to warn of other writers.
	Credential   bool
	Rules        promotion.Rules
	ControlPlane ControlPlane
	GitOps       destination.Destination
	Now          time.Time // by which the windows are open or closed
}

// ControlPlane is a branch of the control plane.
type ControlPlane struct {
	Repo, Branch string
	Verify       *verify.Verifier // judges the commits; nil: every commit counts
}

const (
	// hostTime limits the time of the host's answers. After it, the decision is made without them.
	hostTime = time.Minute
	// proposalTime limits the time of finding the open pull request.
	proposalTime = 15 * time.Second
	// maxHistories limits the commits whose status history is read.
	maxHistories = 30
)

// ErrNoHost means that gates need the statuses of a host, but the control plane's repo is on none.
var ErrNoHost = errors.New("no host with statuses")

// ErrCurrent means that the promoted commit can't be read.
var ErrCurrent = errors.New("the promoted commit can't be read")

// Decide reads the inputs, and decides. It asks the host for the history of a commit's statuses only if the decision
// depends on it. If the host does not answer, the decision contains that as the reason. The errors are those of Git,
// [promotion.ErrNotOnBranch], [ErrNoHost] and [ErrCurrent].
func Decide(ctx context.Context, req Request) (*promotion.Choice, error) {
	world := promotion.World{Rules: req.Rules, Window: req.Rules.Windows.At(req.Now)}
	var err error
	world.Current, err = readCurrent(ctx, req.Client, req.GitOps)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCurrent, err)
	}
	if err := req.readHistory(ctx, &world); err != nil {
		return nil, err
	}
	world.Current.Proposal, err = req.readProposal(ctx, world.Current.Commit)
	if err != nil {
		return nil, err
	}
	if world.NeedsDeliveries() {
		world.Current.Delivered, err = readDeliveries(ctx, req.Client, req.GitOps)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrCurrent, err)
		}
		if err := req.readHistory(ctx, &world); err != nil {
			return nil, err
		}
	}
	repo, err := req.repo()
	if err != nil {
		return nil, err
	}
	ledger := &world.Ledger
	ledger.Histories = map[string]promotion.StatusHistory{}
	asked, cancel := context.WithTimeout(ctx, hostTime)
	defer cancel()
	if commits := world.StatusCommits(); repo != nil && len(commits) > 0 {
		found, err := repo.LatestStatuses(asked, commits, world.Names())
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err == nil:
			ledger.Statuses = *found
		case req.Rules.UsesStatuses():
			ledger.FailureReason = problem.Sentence(err)
		}
	}
	for {
		decision, err := promotion.Decide(world)
		if err != nil || len(decision.Unread) == 0 {
			return decision, err
		}
		if len(ledger.Histories) >= maxHistories {
			for _, commit := range decision.Unread {
				ledger.Histories[commit] = promotion.StatusHistory{Partial: true}
			}
			continue
		}
		commit := decision.Unread[0]
		statuses, more, err := repo.StatusHistory(asked, commit)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(err, githost.ErrRejected): // of this commit alone
			ledger.Histories[commit] = promotion.StatusHistory{Partial: true}
		case err != nil:
			ledger.FailureReason = problem.Sentence(err)
		default:
			ledger.Histories[commit] = promotion.StatusHistory{Statuses: statuses, Partial: more}
		}
	}
}

// readProposal returns the promotion in the open pull request of the environment's rendering, or nil if the pull
// request cannot be found or promotes nothing.
func (req Request) readProposal(ctx context.Context, current string) (*promotion.PendingPromotion, error) {
	if req.Host == nil || !req.Credential {
		return nil, nil //nolint:nilnil // no host to ask
	}
	repo, err := req.Host.Repo(req.GitOps.Repo)
	if err != nil {
		return nil, nil //nolint:nilnil // on no host
	}
	asked, cancel := context.WithTimeout(ctx, proposalTime)
	defer cancel()
	at := req.GitOps
	pr, err := repo.Find(asked, githost.Query{
		Target: at.Branch, Marker: githost.Marker(req.Rules.Environment, at.Branch, at.Path), Open: true,
	})
	if err != nil || pr == nil {
		return nil, ctx.Err()
	}
	at.Branch = pr.Branch
	proposed, err := readCurrent(asked, req.Client, at)
	if err != nil || proposed.Commit == "" || proposed.Commit == current {
		return nil, ctx.Err()
	}
	return &promotion.PendingPromotion{Number: pr.Number, Promotion: proposed.Promotion}, nil
}

// repo returns the statuses of the control plane's repo on the host, or nil if nothing needs them.
func (req Request) repo() (githost.CommitStatuses, error) {
	needed := req.Rules.UsesStatuses()
	if req.Host == nil {
		if needed {
			return nil, ErrNoHost
		}
		return nil, nil //nolint:nilnil // no host to ask
	}
	repo, err := req.Host.Repo(req.ControlPlane.Repo)
	switch {
	case err != nil && needed:
		return nil, fmt.Errorf("%w: %w", ErrNoHost, err)
	case err != nil || !needed && !req.Credential:
		return nil, nil //nolint:nilerr,nilnil // no host to ask
	}
	return repo, nil
}
