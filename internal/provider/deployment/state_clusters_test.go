package deployment_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/clusters/apiserver"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// clusterObjects returns the Flux objects of a cluster that follows the folder large of a repo, at a commit.
func clusterObjects(repo, commit, status string) []string {
	revision := "stage@sha1:" + commit
	return []string{
		fmt.Sprintf(`apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: fleet, namespace: flux-system}
spec: {interval: 1m, url: %q, ref: {branch: stage}}
status:
  observedGeneration: 1
  artifact:
    {digest: "sha256:%064d", lastUpdateTime: "2026-01-31T12:00:00Z", path: p, revision: %q, url: u}
  conditions:
    - {type: Ready, status: "True", observedGeneration: 1, reason: Succeeded, message: "stored artifact",
       lastTransitionTime: "2026-01-31T12:00:00Z"}
`, repo, 0, revision),
		fmt.Sprintf(`apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: fleet, namespace: flux-system}
spec: {interval: 1m, prune: true, path: ./fleet/large, sourceRef: {kind: GitRepository, name: fleet}}
status:
  observedGeneration: 1
  lastAppliedRevision: %q
  conditions:
    - {type: Ready, status: %q, observedGeneration: 1, reason: R, message: not yet,
       lastTransitionTime: "2026-01-31T12:00:00Z"}
`, revision, status),
	}
}

// The Flux objects on clusters decide the verdict. A cluster that does not answer is offline. Neither output, log nor
// state contains the credentials.
func TestAccDeploymentStateClusters(t *testing.T) {
	t.Parallel()
	d := newDeploymentRoot(t)
	folder := filepath.Dir(d.repo)
	server := gitserver.New(t, folder, gitserver.WithFilter())
	url := server.URL + "/" + filepath.Base(d.repo)
	d.Set("gitops_repo", map[string]any{"repo": url, "branch": "stage", "path": "fleet"})
	commit := d.render(nil, map[string]string{"large": "one"})
	cluster := apiserver.Start(
		t,
		apiserver.CRDs(t, apiserver.Kustomizations, apiserver.GitRepositories, apiserver.OCIRepositories)...)
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(file, []byte(cluster.Kubeconfig(apiserver.Reader)), 0o600); err != nil {
		t.Fatal(err)
	}
	d.OwnProcess("TF_LOG=TRACE")
	d.Write("provider.tf", `
variable "clusters" {
  type = any
}
provider "kalypso" {
  clusters = var.clusters
}
`)
	d.Set("clusters", map[string]any{
		"aks-1": map[string]any{"kubeconfig": file, "context": "fleet"},
		"aks-2": map[string]any{
			"kubeconfig": strings.Replace(cluster.Kubeconfig("canary-token"), cluster.Host, "127.0.0.1:9", 1),
		},
	})
	readFrom := func(names ...string) {
		d.Set("source_of_reports", map[string]any{"kubernetes": map[string]any{"clusters": names}})
	}
	readFrom("aks-1")

	if seen := d.look(); seen.Verdict != "pending" || seen.Folders["large"].Missing != 1 {
		t.Errorf("nothing on the cluster: %+v", seen)
	}
	cluster.Apply(t, clusterObjects(url, commit, "True")...)
	if seen := d.look(); seen.Verdict != "success" || *seen.Folders["large"].Since == "" {
		t.Errorf("ready objects: %+v", seen)
	}
	cluster.Apply(t, clusterObjects(url, commit, "Unknown")...)
	d.Set("options", map[string]any{"progress_deadline": "1000000h"})
	seen := d.look()
	if diff := cmp.Diff(
		[]string{"progressing aks-1"},
		seen.states(),
	); diff != "" ||
		!strings.Contains(seen.Problems[0].Message, "Kustomization flux-system/fleet: not ready: not yet") {
		t.Errorf("not ready (-want +got):\n%s\n%+v", diff, seen.Problems)
	}
	// The objects in the folder must be ready, too. The folder now contains a Kustomization that the cluster lacks.
	cluster.Apply(t, clusterObjects(url, d.render(nil, map[string]string{
		"large": "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: shop, namespace: apps}\n",
	}), "True")...)
	if seen := d.look(); seen.Verdict != "pending" ||
		!strings.Contains(seen.Problems[0].Message, "Kustomization apps/shop: not ready: the folder contains it") {
		t.Errorf("an object in the folder: %+v", seen)
	}
	readFrom("aks-1", "aks-2")
	if diff := cmp.Diff([]string{"offline aks-2", "progressing aks-1"}, d.look().states()); diff != "" {
		t.Errorf("a cluster that does not answer (-want +got):\n%s", diff)
	}

	readFrom("aks-1", "aks-3")
	d.ExpectError([]string{"No such cluster", `has no "aks-3". It has: aks-1, aks-2.`}, "plan", "-no-color")
	d.Set(
		"clusters",
		map[string]any{"aks-1": map[string]any{"kubeconfig": file, "context": "none"}, "aks-3": map[string]any{}},
	)
	d.ExpectError([]string{"Missing kubeconfig"}, "plan", "-no-color")
	d.Set("clusters", map[string]any{"aks-1": map[string]any{"kubeconfig": file, "context": "none"}})
	readFrom("aks-1")
	d.ExpectError(
		[]string{"The cluster can't be used", `no context "none"; it has: fleet`, "source.kubernetes.clusters[0]"},
		"plan",
		"-no-color",
	)

	for name, data := range acc.FilesBelow(t, d.Folder) {
		if name != "terraform.tfvars.json" && strings.Contains(string(data), "canary") {
			t.Errorf("%s contains a credential", name)
		}
	}
	if strings.Contains(d.Printed.String(), "canary") {
		t.Error("a credential was printed")
	}
}

// A cluster whose kubeconfig is known only after apply gets no request: the verdict is pending, with a warning, and
// everything else is planned.
func TestAccDeploymentStateUnknownCluster(t *testing.T) {
	t.Parallel()
	d := newDeploymentRoot(t)
	d.render(nil, map[string]string{"large": "one"})
	d.Write("provider.tf", `
resource "terraform_data" "later" {
  input = "canary"
}
provider "kalypso" {
  clusters = { new = { kubeconfig = terraform_data.later.output } }
}
`)
	d.Set("source_of_reports", map[string]any{"kubernetes": map[string]any{"clusters": []string{"new"}}})
	planned := d.Succeed("plan", "-no-color").Text()
	for _, said := range []string{"The state of the deployment is not known yet", `verdict = "pending"`} {
		if !strings.Contains(planned, said) {
			t.Errorf("the plan does not say %q:\n%s", said, planned)
		}
	}
}
