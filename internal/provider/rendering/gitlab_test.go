package rendering_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/gitlabfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// gitlabChain is a chain of dev, which is rendered by merge request, and stage, whose BaseRepo changes by merge
// request.
type gitlabChain struct {
	*acc.Root
	fake                 *gitlabfake.Server
	controlPlane, gitops *gitlabfake.Project
	now                  time.Time
}

func newGitLabChain(t *testing.T, options ...hostfake.Option) *gitlabChain {
	t.Helper()
	c := &gitlabChain{Root: acc.NewRootFrom(t, "testdata/TestAccGitLab"), now: time.Now().UTC().Truncate(time.Second)}
	c.fake = gitlabfake.New(t, append(options, hostfake.WithClock(func() time.Time { return c.now }))...)
	c.controlPlane, c.gitops = c.fake.AddProject(t, "acme/platform/control-plane"), c.fake.AddProject(t, "acme/gitops")
	c.Vars = map[string]any{
		"gitlab":        map[string]any{"base_url": c.fake.URL + "/api/v4/", "token": c.fake.Token},
		"control_plane": c.controlPlane.URL, "gitops": c.gitops.URL + ".git",
	}
	c.Set("verdict", "pending")
	own := map[string]string{"fleet.yaml": acc.KalypsoYAML("ClusterType", "large",
		"{reconciler: flux, namespaceService: namespace}") + "---\n" +
		acc.KalypsoYAML("SchedulingPolicy", "all", "{deploymentTargetSelector: {}, clusterTypeSelector: {}}")}
	for _, environment := range []string{"dev", "stage"} {
		gitserver.Seed(t, c.controlPlane.Dir, environment, own)
		gitserver.Seed(t, c.gitops.Dir, environment, map[string]string{"README.md": "GitOps\n"})
	}
	gitserver.Seed(t, c.controlPlane.Dir, "stage", map[string]string{"base-repo.yaml": "apiVersion: " +
		"scheduler.kalypso.io/v1alpha1\nkind: BaseRepo\nmetadata:\n  name: main\nspec:\n  repo: " + c.controlPlane.URL +
		"\n  branch: main\n  path: .\n"})
	return c
}

// merge pushes a commit to main.
func (c *gitlabChain) merge(version int) string {
	c.T.Helper()
	return gitserver.Seed(c.T, c.controlPlane.Dir, "main", map[string]string{"main.yaml": strings.Join([]string{
		acc.KalypsoYAML("Template", "flux", `{type: reconciler, manifests: ["# R"]}`),
		acc.KalypsoYAML("Template", "namespace", fmt.Sprintf(`{type: namespace, manifests: ["# N%d"]}`, version)),
		acc.KalypsoYAML("Workload", "shop",
			"{deploymentTargets: [{name: web, environment: dev, manifests: {repo: r, branch: b, path: p}}]}"),
	}, "---\n")})
}

// run applies a minute later, and compares the promoted commits of dev and stage. An environment without a commit has
// "".
func (c *gitlabChain) run(dev, stage string) {
	c.T.Helper()
	c.now = c.now.Add(time.Minute)
	c.Apply()
	var got map[string]string
	c.Output("commits", &got)
	if diff := cmp.Diff(map[string]string{"dev": dev, "stage": stage}, got); diff != "" {
		c.T.Errorf("the commits (-want +got):\n%s", diff)
	}
}

// requests returns the merge requests of a project.
func (c *gitlabChain) requests(of *gitlabfake.Project) string {
	var all []string
	for _, m := range of.PullRequests() {
		all = append(all, fmt.Sprintf("%d %s to %s", m.Number, m.State, m.Base))
	}
	return strings.Join(all, ", ")
}

func (c *gitlabChain) expectRequests(of *gitlabfake.Project, want string) {
	c.T.Helper()
	if got := c.requests(of); got != want {
		c.T.Errorf("the merge requests are %q, want %q", got, want)
	}
}

// A chain on GitLab: a rendering by merge request, the status of its commit, the gate that reads it, and the merge
// request of kalypso_base_repo. Git over HTTPS signs in with the API's token. The results are the same while GitLab's
// answers lag behind.
func TestAccGitLab(t *testing.T) {
	t.Parallel()
	for name, lag := range map[string]int{"no lag": 0, "lag of two answers": 2} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newGitLabChain(t, hostfake.WithLag(lag))
			first := c.merge(1)
			c.run(first, "")
			c.ExpectEmptyPlan()
			c.expectRequests(c.gitops, "1 open to dev")
			opened := c.gitops.PullRequests()[0]
			if strings.Join(opened.Labels, " ") != "platform promoted" || strings.Join(opened.Reviewers, " ") != "ann" ||
				!strings.Contains(opened.Body, c.controlPlane.URL+"/-/commit/"+first) {
				t.Errorf("opened: %+v", opened)
			}
			if s, _ := c.controlPlane.Status(first, "dev environment"); s.State != "pending" {
				t.Errorf("the status is %q", s.State)
			}
			c.gitops.Merge(t, 1, "squash")
			c.now = c.now.Add(2 * time.Hour) // a pending status can't be renewed
			c.ExpectEmptyPlan()

			c.Set("verdict", "success")
			c.run(first, "") // this run sets the status, and the next run reads it
			c.run(first, first)
			c.expectRequests(c.controlPlane, "1 open to stage")
			c.ExpectEmptyPlan()

			// Actions of people are described in GitLab's terms.
			c.controlPlane.Close(t, 1)
			if out := c.Succeed("plan", "-no-color").Text(); !strings.Contains(out, "The merge request was closed") ||
				!strings.Contains(out, "People closed merge request 1") {
				t.Errorf("the plan:\n%s", out)
			}
			second := c.merge(2)
			c.run(second, first)
			c.expectRequests(c.gitops, "1 merged to dev, 2 open to dev")
			for _, request := range c.fake.Requests() {
				if request.Authorization != "Bearer "+c.fake.Token {
					t.Errorf("%s %s was sent %q", request.Method, request.Path, request.Authorization)
				}
			}
		})
	}
}

// An argument that GitLab does not support fails the plan at that argument, in GitLab's terms, before any request.
func TestAccGitLabRefused(t *testing.T) {
	t.Parallel()
	fake := gitlabfake.New(t)
	on := fake.AddProject(t, "acme/gitops")
	gitserver.Seed(t, on.Dir, "dev", map[string]string{"README.md": "hello\n"})
	r := newRendering(t, on.Dir)
	r.setDestination("repo", on.URL)
	r.options("delivery", map[string]any{"strategy": "pull_request"})
	r.Set("gitlab", map[string]any{"base_url": fake.URL})
	r.Set("git_credentials", []any{map[string]any{"url": fake.URL, "username": "oauth2", "password": fake.Token}})
	r.ExpectError([]string{"No credential for GitLab", "opens a merge request", "the provider has no token for GitLab.",
		"Set token in gitlab of the provider."}, "plan", "-no-color")
	r.Set("gitlab", map[string]any{"base_url": fake.URL, "token": fake.Token})
	for argument, refused := range map[string]struct {
		value any
		said  []string
	}{
		"labels": {[]string{"a,b"}, []string{
			`label "a,b" contains a comma, which separates labels on GitLab`, "Attribute: delivery.labels"}},
		"reviewers": {[]string{"acme/platform"}, []string{"GitLab asks users for reviews, not groups"}},
		"auto_merge": {"rebase", []string{
			`GitLab can't merge by "rebase" on request`, "Attribute: delivery.auto_merge"}},
	} {
		r.options("delivery", map[string]any{"strategy": "pull_request", argument: refused.value})
		r.ExpectError(refused.said, "plan", "-no-color")
	}
	if all := fake.Requests(); len(all) > 0 {
		t.Errorf("GitLab got requests: %v", all)
	}
	r.options("delivery", map[string]any{"strategy": "pull_request"})
	r.Set("github", map[string]any{"base_url": fake.URL + "/", "token": "canary"})
	r.ExpectError([]string{"Conflicting hosts", "github and gitlab have the same server"}, "plan", "-no-color")
	r.Set("github", nil)
	r.Set("gitlab", map[string]any{"base_url": "http://gitlab.acme.io", "token": "canary"})
	r.ExpectError([]string{"base_url is not an https URL"}, "plan", "-no-color")
}

// A plan of 100 renderings that do not change makes at most three requests for each, and looks their project up once.
func TestAccGitLabRequests(t *testing.T) {
	t.Parallel()
	const renderings = 100
	fake := gitlabfake.New(t)
	on := fake.AddProject(t, "acme/gitops")
	for n := range renderings {
		gitserver.Seed(t, on.Dir, fmt.Sprint("env-", n), map[string]string{"README.md": "hello\n"})
	}
	r := acc.NewRootFrom(t, "testdata/TestAccGitLabRequests")
	r.Write("terraform.tfvars.json", acc.ToJSON(t, map[string]any{
		"gitlab": map[string]any{"base_url": fake.URL, "token": fake.Token}, "gitops": on.URL, "environments": renderings,
	}))
	count := func() (all, lookups int) {
		for _, request := range fake.Requests() {
			all++
			if strings.HasPrefix(request.Path, "/projects/acme") {
				lookups++
			}
		}
		fake.ResetLog()
		return all, lookups
	}
	r.Apply("-parallelism=1") // the Git server in the test's process serves one push at a time
	all, lookups := count()
	t.Logf("the apply made %d requests, %d of them look-ups", all, lookups)
	if lookups != 2 { // Terraform configures the provider for the plan, and again to apply it
		t.Errorf("%d look-ups of the project by an apply", lookups)
	}
	r.ExpectEmptyPlan()
	all, lookups = count()
	t.Logf("the empty plan made %d requests, %d of them look-ups", all, lookups)
	if all > 3*renderings+1 || lookups != 1 {
		t.Errorf("%d requests and %d look-ups for %d renderings", all, lookups, renderings)
	}
}
