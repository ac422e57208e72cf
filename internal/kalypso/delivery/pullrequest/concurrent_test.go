package pullrequest_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
)

// TestConcurrent: 20 pull requests of one repo, and the statuses of their commits, use one client at the same time, as
// Terraform's resources do. Run this test with the race detector.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	const resources = 20
	for _, host := range []hosts.Host{
		{Name: "GitHub", New: hosts.GitHub(hostfake.WithGitBackend())},
		{Name: "GitLab", New: hosts.GitLab(hostfake.WithGitBackend(), hostfake.WithLag(1))},
		{Name: "Azure DevOps", New: hosts.AzureDevOps(hostfake.WithLag(1))},
		{Name: "Gitea", New: hosts.Gitea},
	} {
		t.Run(host.Name, func(t *testing.T) {
			t.Parallel()
			w := newWorldOn(t, host)
			w.settings.Labels = []string{"platform"}
			var all [resources]world
			for i := range all {
				all[i] = *w
				all[i].settings.BranchPrefix, all[i].value = fmt.Sprintf("ours-%d/", i), fmt.Sprint(i)
			}
			for range 2 { // the second time, nothing changes
				var wait sync.WaitGroup
				for i := range all {
					wait.Go(func() {
						if err := all[i].deliver(); err != nil {
							t.Errorf("%d: %v", i, err)
						}
					})
				}
				wait.Wait()
			}
			open := map[string]bool{}
			for _, pr := range w.people.PullRequests() {
				if pr.State == githost.Open && len(pr.Labels) == 1 {
					open[pr.Branch] = true
				}
			}
			var commits []string
			for i := range all {
				commits = append(commits, all[i].pushed)
				if !open[all[i].branch()] {
					t.Errorf("%s has no open pull request", all[i].branch())
				}
			}
			if requests := len(w.people.PullRequests()); requests != resources {
				t.Errorf("the repo has %d pull requests", requests)
			}
			latest, err := w.topic().Host().LatestStatuses(w.ctx, commits, []string{"dev"})
			if err != nil {
				t.Fatal(err)
			}
			for _, commit := range commits {
				if got := latest.ByCommit[commit]; len(got) != 1 || got[0].State != githost.Success {
					t.Errorf("the statuses of %s are %+v", commit, got)
				}
			}
		})
	}
}

// deliver proposes the change, and sets the status of its commit.
func (w *world) deliver() error {
	w.Helper()
	if err := w.run(); err != nil {
		return err
	}
	want := githost.Status{Context: "dev", State: githost.Success}
	repo := w.topic().Host()
	have, err := repo.Status(w.ctx, w.pushed, want.Context)
	if err == nil && (have == nil || !repo.SameStatus(want, *have)) {
		_, err = repo.SetStatus(w.ctx, w.pushed, want)
	}
	return err
}
