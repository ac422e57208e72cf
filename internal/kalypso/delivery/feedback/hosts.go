package feedback

import (
	"errors"
	"fmt"
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/giturl"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// CheckRepo reports that no issues can be opened in the repo that feedback names, because the provider opens none on
// its host. It returns an error if the repo is on no configured host. It contacts no server.
func CheckRepo(hosts githost.Host, f *delivery.Feedback) (problem.Problems, error) {
	if f == nil || f.Unknown || f.Issues == nil || f.Issues.Repo == "" || unknown.Is(f.Issues.Repo) {
		return nil, nil
	}
	repo, err := hosts.Repo(f.Issues.Repo)
	if err != nil || repo.Issues != nil {
		return nil, err
	}
	return problem.Problems{problem.At("Issues need another host", fmt.Sprintf("The provider opens no issues on %s. Name "+
		"a repo on another host, or use feedback.status alone.", repo.Host), "feedback", "issues", "repo")}, nil
}

// Reach removes the statuses and issues that cannot be posted: for repos on no configured host or without a credential,
// and issues on a host that has none. It warns of all such repos at once. If no workload can get an issue, it reports
// an error, since the argument has no effect. It contacts no server.
func (m *Message) Reach(
	hosts githost.Host, f *delivery.Feedback, hasCredential func(repos ...string) bool,
) (ps problem.Problems) {
	if f == nil {
		return nil
	}
	out := map[string]string{} // repo → why
	takes := func(url string, issues bool) bool {
		repo, err := hosts.Repo(url)
		switch {
		case errors.Is(err, githost.ErrOtherHost):
			out[url] = "it is on no server that the provider has a block for"
		case err != nil:
			out[url] = err.Error()
		case !hasCredential(url):
			out[url] = "the provider has no credential for " + repo.Host
			return false
		case issues && repo.Issues == nil:
			out[url] = "the provider opens no issues on " + repo.Host
			return false
		}
		return err == nil
	}
	m.Statuses = slices.DeleteFunc(m.Statuses, func(s Status) bool { return !takes(s.Repo, false) })
	if f.Issues != nil && f.Issues.Repo == "" {
		ps = m.checkOwnRepos(hosts)
	}
	m.Issues = slices.DeleteFunc(m.Issues, func(i Issue) bool { return !takes(i.Repo, true) })
	m.IssueRepos = slices.DeleteFunc(slices.Clone(m.IssueRepos), func(url string) bool {
		repo, err := hosts.Repo(url)
		return err != nil || repo.Issues == nil || !hasCredential(url)
	})
	var lines []string
	for url, why := range out {
		shown := printable.Line(url)
		if at, err := giturl.Parse(url); err == nil {
			shown = at.String()
		}
		lines = append(lines, shown+": "+printable.Line(why))
	}
	slices.Sort(lines)
	if len(lines) > 0 {
		ps = append(ps, problem.WarningAt("Some teams get no feedback", fmt.Sprintf(
			"These repos get no status, or no issue:\n%s\nAdd the provider's block for the server, or set "+
				"feedback.issues.repo.", problem.IndentedList(lines, problem.MaxListed)), "feedback"))
	}
	return ps
}

// checkOwnRepos reports an error if issues belong into the repos of the workloads, and none of these has issues.
func (m *Message) checkOwnRepos(hosts githost.Host) problem.Problems {
	var without githost.Repo
	for _, url := range m.repos {
		repo, err := hosts.Repo(url)
		switch {
		case err != nil:
		case repo.Issues != nil:
			return nil
		default:
			without = repo
		}
	}
	if without.Host == "" {
		return nil
	}
	return problem.Problems{problem.At("Issues need another host", fmt.Sprintf("All workloads come from %s, where the "+
		"provider opens no issues. Remove feedback.issues, and use feedback.status alone. Or name a repo with issues on "+
		"another host in feedback.issues.repo.", without.Host), "feedback", "issues")}
}

// Due reports whether an apply tells teams something: it leaves the tree on its branch. With pull requests, that is
// after the merge. known is false if that depends on the apply.
func Due(plan delivery.Plan) (due, known bool) {
	p := plan.All()
	if p.Args.Strategy == destination.None {
		return false, true
	}
	switch plan.(type) {
	case *delivery.Rest, *delivery.Withhold:
		return false, true
	case *delivery.Undecided:
		return false, false
	}
	_, writes := plan.(*delivery.Write)
	switch {
	case unknown.Is(string(p.Args.Strategy)):
		return false, false
	case p.Args.Strategy == destination.Push:
		return true, true
	case writes:
		return false, !p.Args.PullRequest.Wait
	}
	return !Proposed(p.State), true
}

// Proposed reports whether a pull request still proposes the tree of a state.
func Proposed(s *delivery.State) bool { return !s.Current() || s.Proposal != nil }
