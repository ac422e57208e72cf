package azuredevops

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/microsoft/azure-devops-go-api/azuredevops/v7/core"
	"github.com/microsoft/azure-devops-go-api/azuredevops/v7/git"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
)

const (
	// listed is the number of pull requests of a list that are read.
	listed = 100
	// listedBody is the length at which lists cut descriptions, in UTF-16 units.
	listedBody = 400
	// maxSingles limits how many pull requests are read one by one to get their whole description.
	maxSingles = 10

	branchPrefix = "refs/heads/"
)

// Find returns the newest pull request that matches the query: an open one, or one in any state. Pull requests from
// forks do not match.
func (r *pullRequests) Find(ctx context.Context, q githost.Query) (*githost.PullRequest, error) {
	status := git.PullRequestStatusValues.All
	if q.Open {
		status = git.PullRequestStatusValues.Active
	}
	criteria := git.GitPullRequestSearchCriteria{Status: &status, TargetRefName: new(branchPrefix + q.Target)}
	if q.Branch != "" {
		criteria.SourceRefName = new(branchPrefix + q.Branch)
	}
	all, err := r.git.GetPullRequests(ctx, git.GetPullRequestsArgs{
		RepositoryId: &r.name, Project: &r.project, SearchCriteria: &criteria, Top: new(listed),
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(*all, func(a, b git.GitPullRequest) int { return deref(b.PullRequestId) - deref(a.PullRequestId) })
	singles := 0
	for _, p := range *all {
		body := deref(p.Description)
		has := q.Marker == "" || githost.HasMarker(body, q.Marker)
		cut := len(utf16.Encode([]rune(body))) >= listedBody
		if p.ForkSource != nil || !has && (!cut || singles == maxSingles) {
			continue
		}
		if !has {
			singles++
		}
		// Read the single pull request, since a list may lack more than the end of the description.
		one, err := r.read(ctx, deref(p.PullRequestId))
		if err != nil {
			return nil, err
		}
		if has || githost.HasMarker(deref(one.Description), q.Marker) {
			one.Labels = p.Labels // the single answer has no labels
			return r.convert(one), nil
		}
	}
	return nil, nil //nolint:nilnil // nil means none
}

// Read implements [githost.PullRequestCalls].
func (r *pullRequests) Read(ctx context.Context, number int) (*githost.PullRequest, error) {
	p, err := r.read(ctx, number)
	if err == nil {
		p.Labels, err = r.labels(ctx, number)
	}
	return r.answer(p, err)
}

// labels reads the labels of a pull request, since the answer about a single pull request does not contain them.
func (r *pullRequests) labels(ctx context.Context, number int) (*[]core.WebApiTagDefinition, error) {
	return r.git.GetPullRequestLabels(ctx, git.GetPullRequestLabelsArgs{
		RepositoryId: &r.name, Project: &r.project, PullRequestId: &number,
	})
}

func (r *pullRequests) read(ctx context.Context, number int) (*git.GitPullRequest, error) {
	return r.git.GetPullRequest(ctx, git.GetPullRequestArgs{
		RepositoryId: &r.name, Project: &r.project, PullRequestId: &number,
	})
}

// Open implements [githost.PullRequestCalls].
func (r *pullRequests) Open(ctx context.Context, p githost.PullRequestContent) (*githost.PullRequest, error) {
	labels := lists.Map(p.Labels, func(name string) core.WebApiTagDefinition {
		return core.WebApiTagDefinition{Name: &name}
	})
	created, err := r.git.CreatePullRequest(ctx, git.CreatePullRequestArgs{
		RepositoryId: &r.name, Project: &r.project, GitPullRequestToCreate: &git.GitPullRequest{
			SourceRefName: new(branchPrefix + p.Branch), TargetRefName: new(branchPrefix + p.Target), Title: &p.Title,
			Description: &p.Body, IsDraft: &p.Draft, Labels: &labels,
		},
	})
	if err == nil && len(p.Labels) > 0 { // Azure may have kept them
		created.Labels, err = r.labels(ctx, deref(created.PullRequestId))
		if err != nil {
			return r.convert(created), githost.About(githost.FieldLabels, err)
		}
	}
	return r.answer(created, err)
}

// Edit implements [githost.PullRequestCalls].
func (r *pullRequests) Edit(
	ctx context.Context, now githost.PullRequest, p githost.PullRequestContent,
) (*githost.PullRequest, error) {
	change := git.GitPullRequest{Title: &p.Title, Description: &p.Body, IsDraft: &p.Draft}
	edited, err := r.answer(r.update(ctx, now.Number, change))
	if err == nil {
		edited.Labels = now.Labels // the answer may have none
	}
	return edited, err
}

// update changes a pull request. If people completed or abandoned it in the meantime, Azure refuses the change, and
// update returns the current pull request.
func (r *pullRequests) update(
	ctx context.Context, number int, change git.GitPullRequest,
) (*git.GitPullRequest, error) {
	p, err := r.git.UpdatePullRequest(ctx, git.UpdatePullRequestArgs{
		RepositoryId: &r.name, Project: &r.project, PullRequestId: &number, GitPullRequestToUpdate: &change,
	})
	if githost.Says(err, notEditable) {
		now, failed := r.read(ctx, number)
		if failed != nil || deref(now.Status) != git.PullRequestStatusValues.Active {
			return now, failed
		}
	}
	return p, err
}

// AddLabels implements [githost.MetadataCalls]. Azure creates labels that it does not know.
func (r *pullRequests) AddLabels(ctx context.Context, number int, names []string) error {
	for _, name := range names {
		_, err := r.git.CreatePullRequestLabel(ctx, git.CreatePullRequestLabelArgs{
			RepositoryId: &r.name, Project: &r.project, PullRequestId: &number,
			Label: &core.WebApiCreateTagRequestData{Name: &name},
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// RemoveLabel implements [githost.MetadataCalls]. It removes a label by its id, since names may contain any character.
func (r *pullRequests) RemoveLabel(ctx context.Context, number int, name string) error {
	stored, err := r.labels(ctx, number)
	if err != nil {
		return err
	}
	for _, label := range deref(stored) {
		if label.Id == nil || !strings.EqualFold(deref(label.Name), name) {
			continue
		}
		err = r.git.DeletePullRequestLabels(ctx, git.DeletePullRequestLabelsArgs{
			RepositoryId: &r.name, Project: &r.project, PullRequestId: &number, LabelIdOrName: new(label.Id.String()),
		})
	}
	return err
}

// Close implements [githost.PullRequestCalls].
func (r *pullRequests) Close(ctx context.Context, number int) (*githost.PullRequest, error) {
	now, err := r.read(ctx, number)
	if err == nil && deref(now.Status) == git.PullRequestStatusValues.Active {
		abandoned := git.PullRequestStatusValues.Abandoned
		now, err = r.update(ctx, number, git.GitPullRequest{Status: &abandoned})
	}
	return r.answer(now, err)
}

// answer converts the answer to a request for one pull request.
func (r *pullRequests) answer(p *git.GitPullRequest, err error) (*githost.PullRequest, error) {
	if err != nil {
		return nil, err
	}
	return r.convert(p), nil
}

// convert converts a pull request.
func (r *pullRequests) convert(p *git.GitPullRequest) *githost.PullRequest {
	number := deref(p.PullRequestId)
	c := &githost.PullRequest{
		Number: number, URL: r.traits.Pages + "pullrequest/" + strconv.Itoa(number), State: githost.Open,
		Title: deref(p.Title),
		Body:  deref(p.Description), Branch: strings.TrimPrefix(deref(p.SourceRefName), branchPrefix),
		Target:     strings.TrimPrefix(deref(p.TargetRefName), branchPrefix),
		HeadCommit: deref(deref(p.LastMergeSourceCommit).CommitId), Draft: deref(p.IsDraft), AutoMerge: autoMerge(p),
	}
	switch deref(p.Status) {
	case git.PullRequestStatusValues.Abandoned:
		c.State = githost.Closed
	case git.PullRequestStatusValues.Completed: // until then, the merge commit is only a test merge
		c.State, c.MergeCommit = githost.Merged, deref(deref(p.LastMergeCommit).CommitId)
	}
	for _, l := range deref(p.Labels) {
		if l.Active == nil || *l.Active {
			c.Labels = append(c.Labels, deref(l.Name))
		}
	}
	for _, v := range deref(p.Reviewers) {
		c.Reviewers = append(c.Reviewers, reviewerName(v))
	}
	return c
}
