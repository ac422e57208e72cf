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

	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
)

// person is the user that the credential belongs to.
type person struct{ id, name string }

// myself returns the user that the credential belongs to. It is read once.
func (r *repo) myself(ctx context.Context, op string) (person, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.me != nil {
		return *r.me, nil
	}
	data, err := r.location.GetConnectionData(ctx, location.GetConnectionDataArgs{})
	if err != nil {
		return person{}, r.wrapError(op, err)
	}
	user := deref(data.AuthenticatedUser)
	if user.Id == nil {
		return person{}, r.rejected(op, "", errors.New("the server does not say whose the credential is"))
	}
	r.me = &person{user.Id.String(), property(user, "Account")}
	return *r.me, nil
}

// property returns a text among the properties of an identity, or "".
func property(of identity.Identity, name string) string {
	all, _ := of.Properties.(map[string]any)
	one, _ := all[name].(map[string]any)
	text, _ := one["$value"].(string)
	return text
}

// CheckReviewers implements [githost.Repo]: a reviewer is a user's mail or "project/team".
func (r *repo) CheckReviewers(reviewers []string) error {
	var errs []error
	for _, name := range reviewers {
		project, team, isTeam := strings.Cut(name, "/")
		if isTeam && (project == "" || team == "" || strings.Contains(team, "/")) {
			errs = append(errs, r.rejected("ask for reviews in "+r.String(), githost.FieldReviewers,
				fmt.Errorf("%q is neither the mail of a user nor project/team", name)))
		}
	}
	return errors.Join(errs...)
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

// find returns the id of a user or a team. It is looked up once.
func (r *repo) find(ctx context.Context, op, name string) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := strings.ToLower(name)
	if id := r.identities[key]; id != "" {
		return id, nil
	}
	value := name
	if project, team, isTeam := strings.Cut(name, "/"); isTeam {
		value = "[" + project + `]\` + team
	}
	found, err := r.identity.ReadIdentities(ctx, identity.ReadIdentitiesArgs{
		SearchFilter: new("General"), FilterValue: &value,
	})
	if err != nil {
		return "", r.wrapError(op, err)
	}
	// A search finds similar names too.
	same := slices.DeleteFunc(*found, func(i identity.Identity) bool {
		account := property(i, "Account")
		names := []string{account, property(i, "Mail"), property(i, "Domain") + `\` + account}
		if value != name {
			names = []string{deref(i.ProviderDisplayName)}
		}
		return i.Id == nil || len(withoutFold([]string{value}, names)) > 0
	})
	if len(same) != 1 {
		return "", r.rejected(op, githost.FieldReviewers,
			fmt.Errorf("%s has %d identities %q; a reviewer is the mail of a user, or project/team", hostName, len(same), name))
	}
	r.identities[key] = same[0].Id.String()
	return r.identities[key], nil
}

// missing returns the wanted reviewers that a pull request lacks, by name, with their ids. The name of a user may
// differ from the mail, so the ids decide. A reviewer who cannot be found is missing, without an id.
func (r *repo) missing(
	ctx context.Context, op string, now githost.PullRequest, reviewers []string,
) (names []string, ids map[string]string, err error) {
	unlisted := withoutFold(reviewers, now.Reviewers)
	if len(unlisted) == 0 {
		return nil, nil, nil
	}
	stored, err := r.read(ctx, op, now.Number)
	if err != nil {
		return nil, nil, err
	}
	var errs []error
	ids = map[string]string{}
	for _, name := range unlisted {
		id, err := r.find(ctx, op, name)
		asked := err == nil && slices.ContainsFunc(deref(stored.Reviewers), func(v git.IdentityRefWithVote) bool {
			return strings.EqualFold(deref(v.Id), id)
		})
		switch {
		case err != nil:
			names, errs = append(names, name), append(errs, err)
		case !asked:
			names, ids[name] = append(names, name), id
		}
	}
	return names, ids, errors.Join(errs...)
}

// syncReviewers requests the reviewers who were not requested yet. A reviewer who has voted is not requested again,
// since that would withdraw the vote.
func (r *repo) syncReviewers(ctx context.Context, now *githost.PullRequest, reviewers []string) error {
	if err := r.CheckReviewers(reviewers); err != nil {
		return err
	}
	op := r.op("request reviews of", now.Number)
	names, ids, err := r.missing(ctx, op, *now, reviewers)
	errs := []error{err}
	for _, name := range names {
		id, known := ids[name]
		if !known {
			continue
		}
		_, err := r.git.CreatePullRequestReviewer(ctx, git.CreatePullRequestReviewerArgs{
			RepositoryId: &r.name, Project: &r.project, PullRequestId: &now.Number, ReviewerId: &id,
			Reviewer: &git.IdentityRefWithVote{Vote: new(int)},
		})
		if err != nil {
			errs = append(errs, r.wrapError(op, err))
			continue
		}
		now.Reviewers = append(slices.Clone(now.Reviewers), name)
	}
	return errors.Join(errs...)
}

// Unasked implements [githost.Repo]. Azure keeps reviewers who voted in the list.
func (r *repo) Unasked(ctx context.Context, now githost.PullRequest, reviewers []string) ([]string, error) {
	names, _, err := r.missing(ctx, r.op("read the reviewers of", now.Number), now, reviewers)
	if errors.Is(err, githost.ErrRejected) { // a reviewer who cannot be found was not requested
		err = nil
	}
	return names, err
}
