package kubernetes_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/kubernetes"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/clusters/apiserver"
)

// A Kustomization that syncs an artifact of one folder reports the branch's head if the artifact contains the tree of
// head. Otherwise, it reports the commit from which the artifact was built.
func TestArtifactsOfFolders(t *testing.T) {
	t.Parallel()
	const (
		head = "ffffffffffffffffffffffffffffffffffffffff"
		tree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
		old  = "1111111111111111111111111111111111111111"
	)
	s := apiserver.Start(
		t, apiserver.CRDs(t, apiserver.Kustomizations, apiserver.GitRepositories, apiserver.OCIRepositories)...)
	digest := func(digit string) string { return "latest@sha256:" + strings.Repeat(digit, 64) }
	artifact := func(name, repo, folder, tree string) string {
		status := strings.Replace(recorded(t, "GitRepository", digest("b")), `"artifact":{`, fmt.Sprintf(
			`"artifact":{"metadata":{"org.opencontainers.image.source":%q,"org.opencontainers.image.revision":"stage@sha1:%s",`+
				`"io.github.terraform-kalypso.folder":%q,"io.github.terraform-kalypso.tree":%q},`, repo, sha, folder, tree), 1)
		return fmt.Sprintf("apiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\n"+
			"metadata: {name: %s, namespace: flux-system}\nspec: {interval: 1m, url: 'oci://acme.io/fleet/%s'}\nstatus: {%s}\n",
			name, name, status)
	}
	follow := func(name, path, revision, more string) string {
		return kustomization(name, "kind: OCIRepository, name: "+name, "path: "+path,
			recorded(t, "Kustomization", revision)+", lastAppliedOriginRevision: 'stage@sha1:"+old+"'"+more)
	}
	const repo = "https://git.acme.io/acme/gitops"
	s.Apply(t,
		artifact("current", repo, "fleet/plain", tree), follow("current", "./", digest("b"), ""),
		artifact("changed", repo, "fleet/plain", "another"), follow("changed", "", digest("b"), ""),
		artifact("behind", repo, "fleet/plain", tree), follow("behind", "./", digest("a"), ""),
		artifact("below", repo, "fleet/plain", tree), follow("below", "./web", digest("b"), ""),
		artifact("of-other", "https://git.acme.io/acme/other", "fleet/plain", tree), follow("of-other", "./", digest("b"), ""),
		artifact("elsewhere", repo, "other/plain", tree), follow("elsewhere", "./", digest("b"), ""),
	)
	of := rendering
	of.Head, of.Tree = head, func(folder string) string { return map[string]string{"plain": tree}[folder] }
	reports, err := kubernetes.Source{"aks-1": {Kubeconfig: s.Kubeconfig(apiserver.Reader)}}.Reports(t.Context(), of)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, r := range reports {
		if !r.Nested {
			got[strings.TrimPrefix(r.Object, "Kustomization flux-system/")] = fmt.Sprintf("%s %s %s", r.Folder, r.Health, r.Revision)
		}
	}
	if diff := cmp.Diff(map[string]string{
		"current": "plain current stage@sha1:" + head,
		"changed": "plain current stage@sha1:" + sha,
		"behind":  "plain progressing stage@sha1:" + old,
		"below":   "plain/web current stage@sha1:" + sha,
	}, got); diff != "" {
		t.Errorf("reports (-want +got):\n%s", diff)
	}
}
