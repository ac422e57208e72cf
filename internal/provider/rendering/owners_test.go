package rendering_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/githubfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// TestOwners: a pull request asks the owners of the folders that it changes for a review, each owner once. Its
// description lists the owners with these folders, also the folders of a removed workload.
func TestOwners(t *testing.T) {
	t.Parallel()
	fake := githubfake.New(t)
	on := fake.AddRepo(t, "acme/gitops")
	gitserver.Seed(t, on.Path, "dev", map[string]string{"README.md": "hello\n"})
	p := acc.NewRenderingRun(t)
	p.Config = map[string]any{"github": map[string]any{"base_url": fake.URL, "token": fake.Token}}
	workloads := map[string]any{}
	workload := func(name, workspace string) {
		workloads[name] = map[string]any{"name": name, "labels": map[string]any{"workspace": workspace},
			"deployment_targets": []any{map[string]any{"name": "web", "environment": "dev"}}}
	}
	workload("shop", "kaizen")
	workload("bank", "payments")
	owners := []any{
		map[string]any{"workspace": "kaizen", "reviewers": []any{"kim"}},
		map[string]any{"workspace": "payments", "reviewers": []any{"pat", "octocat"}},
		map[string]any{"cluster_types": []any{"large"}, "workspace": "kaizen", "reviewers": []any{"lee"}},
	}
	arguments := func() map[string]any {
		all := fleetArguments("", "one")
		delete(all, "create_branch")
		all["gitops_repo"] = map[string]any{"repo": on.URL, "branch": "dev"}
		all["workloads"] = workloads
		all["guardrails"] = map[string]any{"max_removed": "100%"}
		all["delivery"] = map[string]any{"strategy": "pull_request", "describe": "keys", "reviewers": []any{"octocat"},
			"owners": owners}
		return all
	}
	var description string
	expect := func(number int, want ...string) {
		t.Helper()
		_, state := p.Run(arguments(), arguments())
		var err error
		description, err = strconv.Unquote(state["description"])
		if err != nil {
			t.Fatal(err)
		}
		if got := on.PullRequests()[number-1].Asked; !slices.Equal(got, want) {
			t.Errorf("asked for a review of %d: %v, want %v", number, got, want)
		}
		if body := on.PullRequests()[number-1].Body; !strings.Contains(body, "### Owners of the changed folders") {
			t.Errorf("the pull request lists no owners:\n%s", body)
		}
	}
	describes := func(lines ...string) {
		t.Helper()
		for _, line := range lines {
			if !strings.Contains(description, line+"\n") {
				t.Errorf("the description lacks %q:\n%s", line, description)
			}
		}
	}
	expect(1, "octocat", "kim", "pat", "lee")
	describes("- workspace `kaizen` (`kim`): `large/shop-web`",
		"- workspace `payments` (`pat`, `octocat`): `large/bank-web`",
		"- workspace `kaizen` on cluster type `large` (`lee`): `large/shop-web`")
	on.Merge(t, 1, "merge")

	// A workload of kaizen is added, so payments is not asked. Then the workload of payments is removed.
	workload("cart", "kaizen")
	expect(2, "octocat", "kim", "lee")
	if strings.Contains(description, "payments") {
		t.Error(description)
	}
	delete(workloads, "bank")
	expect(2, "octocat", "kim", "lee", "pat")
	describes("- workspace `payments` (`pat`, `octocat`): `large/bank-web`")

	// The request to payments stays, and is not repeated.
	workload("bank", "payments")
	expect(2, "octocat", "kim", "lee", "pat")
	delete(workloads, "bank")
	expect(2, "octocat", "kim", "lee", "pat")

	// New owners are asked by the next apply, unless there are too many of them.
	many := []any{}
	for i := range 16 {
		many = append(many, fmt.Sprint("user", i))
	}
	owners = append(owners, map[string]any{"cluster_types": []any{"large"}, "reviewers": []any{"sre"}})
	expect(2, "octocat", "kim", "lee", "pat", "sre")
	owners[3] = map[string]any{"cluster_types": []any{"large"}, "reviewers": many}
	made, ds := p.Start().Plan(t.Context(), &p.Resource, arguments())
	if made == nil || !strings.Contains(ds.String(), "Owners are not asked") ||
		!strings.Contains(ds.String(), "needs 20 reviewers") {
		t.Error(ds)
	}
	expect(2, "octocat", "kim", "lee", "pat", "sre")

	// The plan of a create does not read the branch, so the apply warns.
	gitserver.Seed(t, on.Path, "live", map[string]string{"README.md": "hello\n"})
	created := &acc.ProtocolRun{T: t, Resource: acc.NewRenderingRun(t).Resource, Config: p.Config}
	given := arguments()
	given["gitops_repo"] = map[string]any{"repo": on.URL, "branch": "live"}
	if applied, ds := created.TryRun(given); !applied || !strings.Contains(ds.String(), "Owners are not asked") {
		t.Errorf("applied: %t\n%s", applied, ds)
	}
	if got := on.PullRequests()[2].Asked; !slices.Equal(got, []string{"octocat"}) {
		t.Errorf("asked for a review: %v", got)
	}
}
