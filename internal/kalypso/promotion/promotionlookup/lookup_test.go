package promotionlookup_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/github"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/httpapi"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion/promotionlookup"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/githubfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// A promotion with soak and dwell makes at most four requests to GitHub's API, even if there are 100 environments and
// the environment is 500 commits behind.
func TestRequests(t *testing.T) {
	now := time.Now().UTC().Truncate(time.Second)
	fake := githubfake.New(t, hostfake.WithClock(func() time.Time { return now }))
	controlPlane, gitops := fake.AddRepo(t, "acme/control-plane"), fake.AddRepo(t, "acme/gitops")
	gitserver.Seed(t, controlPlane.Path, "main", map[string]string{"a": "0"})
	var commits []string // newest last
	parent := gitserver.Rev(t, controlPlane.Path, "main")
	tree := strings.TrimSpace(gitserver.Git(t, controlPlane.Path, "rev-parse", "main^{tree}"))
	commits = append(commits, parent)
	for i := range 500 {
		parent = strings.TrimSpace(
			gitserver.Git(t, controlPlane.Path, "commit-tree", tree, "-p", parent, "-m", fmt.Sprint(i)),
		)
		commits = append(commits, parent)
	}
	gitserver.Git(t, controlPlane.Path, "update-ref", "refs/heads/main", parent)
	gitserver.Seed(t, gitops.Path, "env99", map[string]string{".github/tracking/Promoted_Commit_Id": commits[0]})
	set := func(commit string, environments int) {
		for e := range environments {
			controlPlane.SetStatusAs("ci[bot]", commit, fmt.Sprintf("env%d environment", e), "success", "")
		}
	}
	set(commits[0], 100)
	now = now.Add(time.Hour)
	set(commits[400], 99)
	now = now.Add(4 * time.Hour)
	controlPlane.SetStatusAs("ci[bot]", commits[400], "env98 environment", "success", "")
	now = now.Add(time.Minute)
	set(commits[450], 99)
	for i := 451; i <= 500; i++ {
		set(commits[i], 1)
	}
	client, err := gitremote.NewClient([]gitremote.Credential{{URL: fake.URL, Username: "x", Password: fake.Token}})
	if err != nil {
		t.Fatal(err)
	}
	host, err := github.New(github.Config{Access: httpapi.Access{Token: fake.Token, BaseURL: fake.URL}})
	if err != nil {
		t.Fatal(err)
	}
	fake.ResetLog()
	start := time.Now()
	found, err := promotionlookup.Decide(t.Context(), promotionlookup.Request{
		Client: client, Host: host, ControlPlane: promotionlookup.ControlPlane{Repo: controlPlane.URL, Branch: "main"},
		GitOps: destination.Destination{Repo: gitops.URL, Branch: "env99", Path: "."},
		Rules: promotion.Rules{Environment: "env99", Dwell: 4 * time.Hour, Gates: []promotion.Gate{
			{Name: "env98", Context: "env98 environment", Soak: 4 * time.Hour},
		}},
	})
	took := time.Since(start)
	if err != nil {
		t.Fatal(err)
	}
	if found.Decision != promotion.Promote || found.Commit != commits[400] {
		t.Errorf("the decision is %s %s, want %s\n%s", found.Decision, found.Commit, commits[400], found.Summary)
	}
	requests := fake.Requests()
	t.Logf("a promotion with 100 environments and 500 commits behind: %d requests to the API, at most 4; %d ms with Git",
		len(requests), took.Milliseconds())
	if len(requests) > 4 {
		t.Errorf("the requests are %+v", requests)
	}
}

// TestPinOfLostCommit: main is force-pushed, and loses the environment's commit. A pin to a commit after the point
// where the lost one branched off is no rollback, but a pin to the commit at that point may be. To find this point, the
// lost commit is read from the server, over each transport.
func TestPinOfLostCommit(t *testing.T) {
	for _, backend := range gitserver.Transports() {
		t.Run(backend.Name, func(t *testing.T) {
			controlPlane, gitops := gitserver.InitBare(t), gitserver.InitBare(t)
			commit := func(text string) string {
				return gitserver.Seed(t, controlPlane, "main", map[string]string{"a": text})
			}
			commit("first")
			left := commit("second")
			commit("third")
			lost := commit("fourth")
			gitserver.Git(t, controlPlane, "update-ref", "refs/heads/main", left)
			newer := commit("fifth")
			commit("sixth")
			gitserver.Seed(t, gitops, "prod", map[string]string{record.PromotedCommitFile: lost})
			url, credentials := backend.Start(t, controlPlane)
			client, err := gitremote.NewClient(credentials)
			if err != nil {
				t.Fatal(err)
			}
			for pinned, want := range map[string]string{newer: "", left: lost} {
				found, err := promotionlookup.Decide(t.Context(), promotionlookup.Request{
					Client: client, ControlPlane: promotionlookup.ControlPlane{Repo: url, Branch: "main"},
					GitOps: destination.Destination{Repo: "file://" + gitops, Branch: "prod", Path: "."},
					Rules:  promotion.Rules{Environment: "prod", Pinned: pinned},
				})
				if err != nil || found.Commit != pinned || found.RolledBack != want {
					t.Errorf("pinned to %s, the decision is %+v (%v), want %q rolled back", pinned, found, err, want)
				}
			}
		})
	}
}
