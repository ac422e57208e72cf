package rendering_test

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/clusters/azurefake"
	fake "github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/azuredevopsfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// azureDevOpsChain is a chain of dev, which is rendered by pull request, and stage, whose BaseRepo changes by pull
// request.
type azureDevOpsChain struct {
	*acc.Root
	fake                 *fake.Server
	controlPlane, gitops *fake.Repo
	now                  time.Time
}

func newAzureDevOpsChain(t *testing.T, options ...hostfake.Option) *azureDevOpsChain {
	t.Helper()
	c := &azureDevOpsChain{
		Root: acc.NewRootFrom(t, "testdata/TestAccAzureDevOps"), now: time.Now().UTC().Truncate(time.Second),
	}
	c.fake = fake.New(t, append(options, hostfake.WithClock(func() time.Time { return c.now }))...)
	c.controlPlane, c.gitops = c.fake.AddRepo(t, "control-plane"), c.fake.AddRepo(t, "gitops")
	c.Vars = map[string]any{
		"azure_devops":  map[string]any{"base_url": c.fake.URL, "token": c.fake.Token},
		"control_plane": c.controlPlane.URL, "gitops": c.gitops.URL,
	}
	c.Set("verdict", "pending")
	for _, environment := range []string{"dev", "stage"} {
		gitserver.Seed(t, c.controlPlane.Dir, environment, map[string]string{
			"fleet.yaml": acc.KalypsoYAML("ClusterType", "large", "{reconciler: flux, namespaceService: namespace}") + "---\n" +
				acc.KalypsoYAML("SchedulingPolicy", "all", "{deploymentTargetSelector: {}, clusterTypeSelector: {}}")})
		gitserver.Seed(t, c.gitops.Dir, environment, map[string]string{"README.md": "GitOps\n"})
	}
	gitserver.Seed(t, c.controlPlane.Dir, "stage", map[string]string{"base-repo.yaml": "apiVersion: " +
		"scheduler.kalypso.io/v1alpha1\nkind: BaseRepo\nmetadata:\n  name: main\nspec:\n  repo: " + c.controlPlane.URL +
		"\n  branch: main\n  path: .\n"})
	return c
}

// merge pushes a commit to main.
func (c *azureDevOpsChain) merge(version int) string {
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
func (c *azureDevOpsChain) run(dev, stage string) {
	c.T.Helper()
	c.now = c.now.Add(time.Minute)
	c.Apply()
	var got map[string]string
	c.Output("commits", &got)
	if diff := cmp.Diff(map[string]string{"dev": dev, "stage": stage}, got); diff != "" {
		c.T.Errorf("the commits (-want +got):\n%s", diff)
	}
}

func (c *azureDevOpsChain) expectRequests(of *fake.Repo, want string) {
	c.T.Helper()
	var all []string
	for _, p := range of.PullRequests() {
		all = append(all, fmt.Sprintf("%d %s to %s", p.Number, p.State, p.Base))
	}
	if got := strings.Join(all, ", "); got != want {
		c.T.Errorf("the pull requests are %q, want %q", got, want)
	}
}

// A chain on Azure DevOps: a rendering by pull request, auto-complete that waits for a policy, the commit status, the
// gate that reads it, and the pull request of kalypso_base_repo. Git over HTTPS signs in with the API's token.
func TestAccAzureDevOps(t *testing.T) {
	t.Parallel()
	c := newAzureDevOpsChain(t, hostfake.WithLag(1))
	c.gitops.Require("dev", "ci")
	c.gitops.Expect("dev", "spelling")
	first := c.merge(1)
	c.run(first, "")
	c.ExpectEmptyPlan()
	c.expectRequests(c.gitops, "1 open to dev")
	opened := c.gitops.PullRequests()[0]
	if strings.Join(opened.Labels, " ") != "platform promoted" || opened.AutoMerge != "squash" ||
		strings.Join(opened.Reviewers, ", ") != "My Project/platform, ann" ||
		!strings.Contains(opened.Body, c.controlPlane.URL+"/commit/"+first) || !strings.HasPrefix(opened.Body, "<!-- ") {
		t.Errorf("opened: %+v", opened)
	}
	if s, _ := c.controlPlane.Status(first, "dev environment"); s.State != "pending" {
		t.Errorf("the status is %q", s.State)
	}
	c.gitops.SetStatus("ann", gitserver.Rev(t, c.gitops.Dir, opened.Head), "ci", "succeeded")
	for range 3 { // Azure completes in the background
		c.Succeed("plan", "-no-color")
	}
	c.Set("verdict", "success")
	c.run(first, "") // this run sets the status, and the next run reads it
	c.run(first, first)
	c.expectRequests(c.gitops, "1 merged to dev")
	c.expectRequests(c.controlPlane, "2 open to stage")
	c.ExpectEmptyPlan()
	want := "Basic " + base64.StdEncoding.EncodeToString([]byte(":"+c.fake.Token))
	for _, request := range c.fake.Requests() {
		if request.Authorization != want {
			t.Errorf("%s %s was sent %q", request.Method, request.Path, request.Authorization)
		}
	}
}

// Pull requests and pushes use tokens of Entra. A token that Azure refuses is replaced.
func TestAccAzureDevOpsEntra(t *testing.T) {
	t.Parallel()
	c := newAzureDevOpsChain(t)
	entra := azurefake.New(t)
	trusted := filepath.Join(t.TempDir(), "trusted.pem")
	if err := os.WriteFile(trusted, []byte(acc.ReadFile(t, entra.CA)), 0o600); err != nil {
		t.Fatal(err)
	}
	c.Env = append(c.Env, "SSL_CERT_FILE="+trusted)
	c.StartProviders()        // since providers read the variable when they start
	for n := 2; n < 40; n++ { // Azure refuses the first token
		c.fake.AddToken(fmt.Sprint("canary-devops-token-", n), "kalypso-bot", hostfake.Everywhere(hostfake.Write))
	}
	c.Set("azure", map[string]any{
		"tenant_id": azurefake.Tenant, "client_id": azurefake.Client, "client_secret": azurefake.Secret,
		"disable_instance_discovery": true, "endpoint": map[string]any{"active_directory_authority_host": entra.URL},
	})
	c.Set("azure_devops", map[string]any{"base_url": c.fake.URL, "entra": true})
	first := c.merge(1)
	c.run(first, "")
	c.expectRequests(c.gitops, "1 merged to dev")
	for _, request := range c.fake.Requests() {
		if !strings.HasPrefix(request.Authorization, "Bearer canary-devops-token-") {
			t.Errorf("%s %s was sent %q", request.Method, request.Path, request.Authorization)
		}
	}
	if strings.Contains(acc.ReadFile(t, filepath.Join(c.Folder, "terraform.tfstate")), "canary-devops") {
		t.Error("a token is in the state")
	}
	c.Set("azure_devops", map[string]any{"base_url": c.fake.URL, "entra": true, "token": "canary"})
	c.ExpectError([]string{"Two credentials for Azure DevOps", "token and entra are both set"}, "plan", "-no-color")
}

// An argument that Azure DevOps does not support fails the plan at that argument, before any request.
func TestAccAzureDevOpsRefused(t *testing.T) {
	t.Parallel()
	server := fake.New(t)
	on := server.AddRepo(t, "gitops")
	gitserver.Seed(t, on.Dir, "dev", map[string]string{"README.md": "hello\n"})
	r := newRendering(t, on.Dir)
	r.setDestination("repo", on.URL)
	r.options("delivery", map[string]any{"strategy": "pull_request"})
	r.Set("azure_devops", map[string]any{"base_url": server.URL})
	r.Set("git_credentials", []any{map[string]any{"url": server.URL, "username": "x", "password": server.Token}})
	r.ExpectError([]string{
		"No credential for Azure DevOps", "opens a pull request", "no token and no entra for Azure DevOps",
	}, "plan", "-no-color")
	r.Set("azure_devops", map[string]any{"base_url": server.URL, "token": server.Token})
	r.options("delivery", map[string]any{"strategy": "pull_request", "reviewers": []string{"a/b/c"}})
	r.ExpectError([]string{`"a/b/c" is neither a user`}, "plan", "-no-color")
	if all := server.Requests(); len(all) > 0 {
		t.Errorf("Azure DevOps got requests: %v", all)
	}
	r.options("delivery", map[string]any{"strategy": "pull_request"})
	r.Set("azure_devops", map[string]any{"base_url": "http://tfs.acme.io/c", "token": "canary"})
	r.ExpectError([]string{"base_url is not an https URL"}, "plan", "-no-color")
}

// A plan reads from Azure DevOps too: a merge method that a policy forbids and a reviewer with no identity fail the
// plan at their arguments. The error about a token without a scope names the scopes.
func TestAccAzureDevOpsPlan(t *testing.T) {
	t.Parallel()
	server := fake.New(t)
	on := server.AddRepo(t, "gitops")
	gitserver.Seed(t, on.Dir, "dev", map[string]string{"README.md": "hello\n"})
	on.LimitStrategies("dev", false, map[string]any{"allowNoFastForward": true})
	r := newRendering(t, on.Dir)
	r.setDestination("repo", on.URL)
	r.Set("azure_devops", map[string]any{"base_url": server.URL, "token": server.Token})
	r.options("delivery", map[string]any{
		"strategy": "pull_request", "auto_merge": "squash", "reviewers": []string{"ann", "nobody"},
	})
	r.ExpectError([]string{
		`a policy of branch dev does not allow the merge method "squash"`, "Attribute: delivery.auto_merge",
		`0 identities "nobody"`, "Attribute: delivery.reviewers",
	}, "plan", "-no-color")
	server.AddToken("canaryScoped", "bob", hostfake.Everywhere(hostfake.Write), fake.CodeWrite)
	r.Set("azure_devops", map[string]any{"base_url": server.URL, "token": "canaryScoped"})
	r.ExpectError([]string{
		"Azure DevOps does not accept the credential", "it needs Code (read, write, status)",
	}, "plan", "-no-color")
}
