package azuredevops

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/microsoft/azure-devops-go-api/azuredevops/v7/git"
	"github.com/microsoft/azure-devops-go-api/azuredevops/v7/identity"
	"github.com/microsoft/azure-devops-go-api/azuredevops/v7/location"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/sets"
)

// person is the user that the credential belongs to.
type person struct{ id, name string }

// myself returns the user that the credential belongs to.
func (o *organization) myself(ctx context.Context) (person, error) {
	return o.me.Get("", func() (person, error) {
		data, err := o.location.GetConnectionData(ctx, location.GetConnectionDataArgs{})
		if err != nil {
			return person{}, err
		}
		user := deref(data.AuthenticatedUser)
		if user.Id == nil {
			return person{}, errors.New("the server does not report the user of the credential")
		}
		return person{user.Id.String(), property(user, "Account")}, nil
	})
}

// property returns a text among the properties of an identity, or "".
func property(of identity.Identity, name string) string {
	all, _ := of.Properties.(map[string]any)
	one, _ := all[name].(map[string]any)
	text, _ := one["$value"].(string)
	return text
}

// checkReviewer allows a user's mail, or "project/team".
func checkReviewer(name string) error {
	project, team, isTeam := strings.Cut(name, "/")
	if isTeam && (project == "" || team == "" || strings.Contains(team, "/")) {
		return fmt.Errorf("%q is neither the mail of a user nor project/team", name)
	}
	return nil
}

// teamName matches the display name of a team.
var teamName = regexp.MustCompile(`^\[([^\]]+)\]\\(.+)$`)

// reviewerName returns the name of a reviewer as users write it.
func reviewerName(v git.IdentityRefWithVote) string {
	if parts := teamName.FindStringSubmatch(deref(v.DisplayName)); parts != nil && deref(v.IsContainer) {
		return parts[1] + "/" + parts[2]
	}
	return deref(v.UniqueName)
}

// identityID returns the id of a user or a team.
func (o *organization) identityID(ctx context.Context, name string) (string, error) {
	return o.identityIDs.Get(strings.ToLower(name), func() (string, error) {
		value := name
		if project, team, isTeam := strings.Cut(name, "/"); isTeam {
			value = "[" + project + `]\` + team
		}
		found, err := o.identity.ReadIdentities(ctx, identity.ReadIdentitiesArgs{
			SearchFilter: new("General"), FilterValue: &value,
		})
		if err != nil {
			return "", err
		}
		same := slices.DeleteFunc(*found, func(of identity.Identity) bool { return !isCalled(of, value, value != name) })
		if len(same) != 1 {
			return "", o.server.Rejected("", githost.FieldReviewers,
				fmt.Errorf("%s has %d identities %q; a reviewer is the mail of a user, or project/team", hostName, len(same), name))
		}
		return same[0].Id.String(), nil
	})
}

// isCalled reports whether an identity has a name. A search also finds similar names.
func isCalled(of identity.Identity, name string, isTeam bool) bool {
	account := property(of, "Account")
	names := []string{account, property(of, "Mail"), property(of, "Domain") + `\` + account}
	if isTeam {
		names = []string{deref(of.ProviderDisplayName)}
	}
	return of.Id != nil && len(sets.WithoutFold([]string{name}, names)) == 0
}

// reviews reports whether a pull request has a reviewer with an id. The name of a user may differ from the mail
// address.
func reviews(p *git.GitPullRequest, id string) bool {
	return slices.ContainsFunc(deref(p.Reviewers), func(v git.IdentityRefWithVote) bool {
		return strings.EqualFold(deref(v.Id), id)
	})
}

// RequestReviews implements [githost.MetadataCalls]. A reviewer who has voted is not requested again, since that would
// withdraw the vote.
func (r *pullRequests) RequestReviews(
	ctx context.Context, now githost.PullRequest, reviewers []string,
) (requested []string, err error) {
	stored, err := r.read(ctx, now.Number)
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, name := range reviewers {
		id, err := r.identityID(ctx, name)
		if err == nil && !reviews(stored, id) {
			_, err = r.git.CreatePullRequestReviewer(ctx, git.CreatePullRequestReviewerArgs{
				RepositoryId: &r.name, Project: &r.project, PullRequestId: &now.Number, ReviewerId: &id,
				Reviewer: &git.IdentityRefWithVote{Vote: new(int)},
			})
			if err == nil {
				requested = append(requested, name)
			}
		}
		errs = append(errs, r.server.Error(r.traits.Op("request reviews of", now.Number), err))
	}
	return requested, errors.Join(errs...)
}

// MissingReviewers implements [githost.PullRequestCalls]. Azure keeps reviewers who voted in the list. A reviewer who
// can't be found has not been requested either.
func (r *pullRequests) MissingReviewers(
	ctx context.Context, now githost.PullRequest, unlisted []string,
) (missing []string, err error) {
	stored, err := r.read(ctx, now.Number)
	if err != nil {
		return nil, err
	}
	for _, name := range unlisted {
		id, err := r.identityID(ctx, name)
		switch {
		case err != nil && !errors.Is(err, githost.ErrRejected):
			return nil, err
		case err != nil || !reviews(stored, id):
			missing = append(missing, name)
		}
	}
	return missing, nil
}
