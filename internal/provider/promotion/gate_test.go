package promotion_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/clusters/azurefake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// gateRoot is a root module with a gate that gets its reports from a fake Azure.
type gateRoot struct {
	*acc.Root
	repo string
	fake *azurefake.Server
}

func newGateRoot(t *testing.T) *gateRoot {
	t.Helper()
	g := &gateRoot{acc.NewRootFrom(t, "testdata/TestAccDeploymentGate"), gitserver.InitBare(t), azurefake.New(t)}
	g.Set("gitops_repo", map[string]any{"repo": "file://" + g.repo, "branch": "stage", "path": "fleet"})
	g.Env = append(g.Env, "SSL_CERT_FILE="+g.fake.CA)
	g.OwnProcess()
	g.Set("azure", g.fake.Provider(azurefake.Secret))
	g.Set("source_of_reports", map[string]any{
		"azure_resource_graph": map[string]any{"subscriptions": []string{"s"}, "management_groups": []string{}},
	})
	return g
}

// report sets what a cluster reports: the commit that it applied, and its compliance.
func (g *gateRoot) report(commit, compliance string) {
	row := azurefake.Configuration(azurefake.AKS("a"), "file://"+g.repo, "stage", "./fleet/large", "stage@sha1:"+commit)
	properties, _ := row["properties"].(map[string]any)
	properties["complianceState"], properties["statuses"] = compliance, nil
	g.fake.Set("kubernetesconfigurationresources", row)
}

// after runs f after n more queries to Azure.
func (g *gateRoot) after(queries int, f func()) <-chan struct{} {
	done := make(chan struct{})
	from := len(g.fake.Queries())
	go func() {
		defer close(done)
		for end := time.Now().Add(time.Minute); len(g.fake.Queries()) < from+queries &&
			time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		}
		f()
	}()
	return done
}

// A gate waits until the clusters run the tree. A refresh makes no request. With a new tree, the gate waits again. A
// destroy only removes the gate from the state.
func TestAccDeploymentGate(t *testing.T) {
	t.Parallel()
	g := newGateRoot(t)
	g.StartProviders() // for its log
	g.Env = append(g.Env, "TF_LOG_PROVIDER=INFO")
	first := acc.SeedDelivery(t, g.repo, nil, map[string]string{"large": "one"})
	g.Set("goal", map[string]any{"commit": first})
	g.report(strings.Repeat("d", 40), "Compliant")
	done := g.after(3, func() { g.report(first, "Compliant") })
	out := g.Apply()
	<-done
	if n := strings.Count(
		out.Stderr,
		"waiting for the deployment",
	); n < 3 ||
		!strings.Contains(out.Stderr, "1 clusters current") {
		t.Errorf("the progress was logged %d times:\n%s", n, out.Stderr)
	}
	state := g.State()["kalypso_deployment_gate.this"]
	if summary, _ := state["summary"].(string); state["head"] != first || state["observed_at"] == "" ||
		!strings.Contains(summary, "1 of 1 cluster types deployed") {
		t.Errorf("the state: %v", state)
	}
	asked := len(g.fake.Queries())
	g.report(first, "Non-Compliant")
	g.ExpectEmptyPlan()
	if n := len(g.fake.Queries()); n != asked {
		t.Errorf("a plan sent %d queries to Azure", n-asked)
	}

	// With another tree, a failure is an error that lists the problems and leaves the state unchanged.
	second := acc.SeedDelivery(t, g.repo, nil, map[string]string{"large": "two"})
	tree := treeHashOf(t, g.repo, second)
	g.Set("goal", map[string]any{"tree_hash": tree})
	g.Set("options", map[string]any{"progress_deadline": "1h"})
	g.report(second, "Non-Compliant")
	// Azure's condition has no transition time and the commit is from 2023, so the deadline has passed.
	g.ExpectError(
		[]string{"The deployment failed", "failed: large " + azurefake.AKS("a"), "unhealthy for longer than 1h"},
		"apply",
		"-no-color",
		"-auto-approve",
	)
	if state := g.State()["kalypso_deployment_gate.this"]; state["head"] != first || state["commit"] != first {
		t.Errorf("after a failure the state is %v", state)
	}
	g.report(second, "Compliant")
	g.Apply()
	g.ExpectEmptyPlan()
	if state := g.State()["kalypso_deployment_gate.this"]; state["head"] != second || state["tree_hash"] != tree {
		t.Errorf("after the next apply the state is %v", state)
	}
	asked = len(g.fake.Queries())
	g.Succeed("destroy", "-no-color", "-auto-approve")
	if n := len(g.fake.Queries()); n != asked {
		t.Errorf("a destroy sent %d queries to Azure", n-asked)
	}
}

// treeHashOf returns the hash of a tree that contains only the folder large of a commit.
func treeHashOf(t *testing.T, repo, commit string) string {
	t.Helper()
	large := strings.TrimSpace(gitserver.Git(t, repo, "rev-parse", commit+":fleet/large"))
	return gitserver.MkTree(t, repo, "040000 tree "+large+"\tlarge\n")
}

// A timeout is an error that lists the problems, and a failed create leaves no state. While the branch lacks the tree
// to wait for, the gate waits with any verdict.
func TestAccDeploymentGateTimeout(t *testing.T) {
	t.Parallel()
	g := newGateRoot(t)
	first := acc.SeedDelivery(t, g.repo, nil, map[string]string{"large": "one"})
	g.Set("goal", map[string]any{"commit": first})
	g.Set("options", map[string]any{"timeouts": map[string]any{"create": "10s"}})
	g.report(first, "Pending")
	g.ExpectError(
		[]string{
			"The deployment did not complete in time",
			"After 10s",
			"progressing: large " + azurefake.AKS("a") + ": Kustomization fleet-cluster: not ready",
		},
		"apply",
		"-no-color",
		"-auto-approve",
	)
	if state := g.State(); len(state) != 0 {
		t.Errorf("a failed create left %v", state)
	}
	g.report(first, "Compliant")
	g.Set("goal", map[string]any{"commit": strings.Repeat("e", 40)})
	g.ExpectError(
		[]string{"not complete in time", `does not contain the commit ` + strings.Repeat("e", 40)},
		"apply",
		"-no-color",
		"-auto-approve",
	)
	g.Set("goal", map[string]any{"tree_hash": strings.Repeat("e", 40)})
	g.ExpectError(
		[]string{"not complete in time", "instead of " + strings.Repeat("e", 40)},
		"apply",
		"-no-color",
		"-auto-approve",
	)
}

// An interrupt ends the wait at once.
func TestAccDeploymentGateInterrupt(t *testing.T) {
	t.Parallel()
	g := newGateRoot(t)
	g.StartProviders()
	g.Set("goal", map[string]any{"commit": acc.SeedDelivery(t, g.repo, nil, map[string]string{"large": "one"})})
	g.report(strings.Repeat("d", 40), "Compliant")
	cmd := g.Command("apply", "-no-color", "-auto-approve")
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	<-g.after(2, func() {})
	begin := time.Now()
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if took := time.Since(begin); took > 20*time.Second || !strings.Contains(out.String(), "The gate was interrupted") {
		t.Errorf("the gate took %s to stop:\n%s", took, &out)
	}
}

// A gate that can't pass is an error of plan, and of apply if a value turns out to be null.
func TestAccDeploymentGateInvalid(t *testing.T) {
	t.Parallel()
	g := newGateRoot(t)
	commit := acc.SeedDelivery(t, g.repo, nil, map[string]string{"large": "one"})
	g.Set("goal", map[string]any{})
	g.ExpectError(
		[]string{"Nothing to wait for", "commit_sha is null until its pull request is merged"},
		"plan",
		"-no-color",
	)
	g.Set("goal", map[string]any{"commit": "main"})
	g.ExpectError([]string{"Invalid commit"}, "plan", "-no-color")
	g.Set("goal", map[string]any{"commit": commit})
	g.Set("source_of_reports", map[string]any{"reports": []any{map[string]any{
		"cluster": "a", "folder": "large", "revision": "stage@sha1:" + commit, "state": "current",
		"time": time.Now().Add(-time.Minute).UTC().Format(time.RFC3339),
	}}})
	g.ExpectError([]string{"Gate needs a live source"}, "plan", "-no-color")
	if n := len(g.fake.Queries()); n != 0 {
		t.Errorf("Azure got %d queries", n)
	}
}
