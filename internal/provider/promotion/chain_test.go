package promotion_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/githubfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// promotionChain is a chain of dev, stage and prod, in which the operator renders stage.
type promotionChain struct {
	*acc.Root
	controlPlane, gitops *githubfake.Repo
	now                  time.Time
	version              int
}

func newPromotionChain(t *testing.T) *promotionChain {
	t.Helper()
	c := &promotionChain{
		Root: acc.NewRootFrom(t, "testdata/TestAccPromotionChain"), now: time.Now().UTC().Truncate(time.Second),
	}
	fake := githubfake.New(t, hostfake.WithClock(func() time.Time { return c.now }))
	c.controlPlane, c.gitops = fake.AddRepo(t, "acme/control-plane"), fake.AddRepo(t, "acme/gitops")
	c.Vars = map[string]any{
		"github":        map[string]any{"base_url": fake.URL, "token": fake.Token},
		"control_plane": c.controlPlane.URL, "gitops": c.gitops.URL,
	}
	c.Set("dev_verdict", "pending")
	own := map[string]string{"fleet.yaml": acc.KalypsoYAML("ClusterType", "large",
		"{reconciler: flux, namespaceService: namespace}") + "---\n" +
		acc.KalypsoYAML("SchedulingPolicy", "all", "{deploymentTargetSelector: {}, clusterTypeSelector: {}}")}
	for _, environment := range []string{"dev", "stage", "prod"} {
		gitserver.Seed(t, c.controlPlane.Path, environment, own)
		gitserver.Seed(t, c.gitops.Path, environment, map[string]string{"README.md": "GitOps\n"})
	}
	return c
}

// merge pushes a commit to main.
func (c *promotionChain) merge() string {
	c.T.Helper()
	c.version++
	var targets []string
	for _, environment := range []string{"dev", "stage", "prod"} {
		targets = append(targets,
			fmt.Sprintf("{name: web, environment: %s, manifests: {repo: r, branch: b, path: p}}", environment))
	}
	return gitserver.Seed(c.T, c.controlPlane.Path, "main", map[string]string{"main.yaml": strings.Join([]string{
		acc.KalypsoYAML("Template", "flux", `{type: reconciler, manifests: ["# R"]}`),
		acc.KalypsoYAML("Template", "namespace", fmt.Sprintf(`{type: namespace, manifests: ["# N%d"]}`, c.version)),
		acc.KalypsoYAML("Workload", "shop", "{deploymentTargets: ["+strings.Join(targets, ", ")+"]}"),
	}, "---\n")})
}

// run applies, and compares the promoted commits of dev, stage and prod. An environment without a promoted commit has
// "".
func (c *promotionChain) run(dev, stage, prod string) {
	c.T.Helper()
	c.now = c.now.Add(time.Minute)
	c.Apply()
	var got map[string]string
	c.Output("commits", &got)
	want := map[string]string{"dev": dev, "stage": stage, "prod": prod}
	if diff := cmp.Diff(want, got); diff != "" {
		c.T.Errorf("the commits (-want +got):\n%s\n%s", diff, c.Succeed("output", "summaries").Stdout)
	}
}

// status sets a status of stage as Kalypso's workflows do.
func (c *promotionChain) status(commit, state, description string) {
	c.now = c.now.Add(time.Minute)
	c.controlPlane.SetStatusAs("github-actions[bot]", commit, "stage environment", state, description)
}

// deployed reports whether Kalypso's workflows consider an environment deployed: they read the tracked commit from its
// GitOps branch, and the status of that commit.
func (c *promotionChain) deployed(environment, commit string) bool {
	c.T.Helper()
	tracked := gitserver.Tree(c.T, c.gitops.Path, environment)[".github/tracking/Promoted_Commit_Id"]
	last, _ := c.controlPlane.Status(commit, environment+" environment")
	return strings.TrimSpace(tracked) == commit && last.State == "success"
}

// baseRepo writes the BaseRepo of stage as Kalypso's CD does.
func (c *promotionChain) baseRepo(commit string) {
	c.T.Helper()
	gitserver.Seed(c.T, c.controlPlane.Path, "stage", map[string]string{"base-repo.yaml": c.baseRepoFile(commit)})
	c.status(commit, "pending", "Promoted")
}

func (c *promotionChain) baseRepoFile(commit string) string {
	return "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: BaseRepo\nmetadata:\n  name: main\nspec:\n  repo: " +
		c.controlPlane.URL + "\n  branch: main\n  path: .\n  commit: " + commit + "\n"
}

// operate renders the commit that the BaseRepo of stage pins, as the operator does, and merges it, as people do. Then
// the GitOps branch tracks this commit.
func (c *promotionChain) operate(commit string) {
	c.T.Helper()
	if got := gitserver.Tree(c.T, c.controlPlane.Path, "stage")["base-repo.yaml"]; got != c.baseRepoFile(commit) {
		c.T.Fatalf("stage pins\n%s", got)
	}
	gitserver.Seed(c.T, c.gitops.Path, "stage", map[string]string{
		".github/tracking/Promoted_Commit_Id": commit, "large/README.md": "operator\n",
	})
}

// Kalypso's workflows and the provider alternate in a chain. The workflows read the status that the provider sets for
// dev, and the provider reads the status that the workflows set for stage. Then kalypso_base_repo promotes to stage in
// place of the workflows.
func TestAccPromotionChainWithKalypsoWorkflows(t *testing.T) {
	t.Parallel()
	c := newPromotionChain(t)
	first := c.merge()
	c.run(first, "", "")
	if c.deployed("dev", first) {
		t.Error("Kalypso's workflows promote a commit that is not deployed in dev")
	}
	c.Set("dev_verdict", "success")
	c.run(first, "", "") // this run sets the status, and the next run reads it
	if !c.deployed("dev", first) {
		t.Fatal("Kalypso's workflows don't see that dev is deployed")
	}

	// The workflows promote from dev, which the provider renders, to stage. The provider promotes from stage to prod.
	c.baseRepo(first)
	c.run(first, first, "")
	c.operate(first)
	for _, description := range []string{"Promoted", "Deploying"} {
		c.status(first, "pending", description)
		c.run(first, first, "")
	}
	c.status(first, "failure", "Failed to deploy")
	c.run(first, first, "")
	c.status(first, "pending", "Deployed") // the workflows set this if another environment follows
	c.run(first, first, first)

	// kalypso_base_repo promotes to stage, in place of the workflow that writes the BaseRepo.
	second := c.merge()
	c.Set("promote_stage", true)
	c.run(second, first, first)
	c.run(second, second, first)
	c.operate(second)
	c.run(second, second, first)
	c.status(second, "success", "Deployed") // the workflows set this if stage is the last environment
	c.run(second, second, second)
	if plan := c.Succeed("plan", "-no-color").Text(); strings.Contains(plan, "will be ") {
		t.Errorf("a second plan changes something:\n%s", plan)
	}
}
