package kubernetes_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/kubernetes"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/clusters/apiserver"
)

// TestArtifactsOfFolders: a Kustomization may sync an OCI artifact of one folder. If the artifact contains the folder's
// tree at the branch's head, the report names the head. Otherwise, it names the commit from which the artifact was
// built.
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
	artifact := func(name, repo, branch, folder, tree string) string {
		status := strings.Replace(recordedStatus(t, "GitRepository", digest("b")), `"artifact":{`, fmt.Sprintf(
			`"artifact":{"metadata":{"org.opencontainers.image.source":%q,"org.opencontainers.image.revision":"%s@sha1:%s",`+
				`"io.github.terraform-kalypso.folder":%q,"io.github.terraform-kalypso.tree":%q},`,
			repo, branch, sha, folder, tree), 1)
		return fmt.Sprintf("apiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\n"+
			"metadata: {name: %s, namespace: flux-system}\nspec: {interval: 1m, url: 'oci://acme.io/fleet/%s'}\nstatus: {%s}\n",
			name, name, status)
	}
	follow := func(name, path, revision, more string) string {
		return kustomization(name, "kind: OCIRepository, name: "+name, "path: "+path,
			recordedStatus(t, "Kustomization", revision)+", lastAppliedOriginRevision: 'stage@sha1:"+old+"'"+more)
	}
	const repo = "https://git.acme.io/acme/gitops"
	s.Apply(t,
		artifact("current", repo, "stage", "fleet/plain", tree), follow("current", "./", digest("b"), ""),
		artifact("changed", repo, "stage", "fleet/plain", "another"), follow("changed", "", digest("b"), ""),
		artifact("behind", repo, "stage", "fleet/plain", tree), follow("behind", "./", digest("a"), ""),
		artifact("below", repo, "stage", "fleet/plain", tree), follow("below", "./web", digest("b"), ""),
		artifact("of-other", "https://git.acme.io/acme/other", "stage", "fleet/plain", tree),
		follow("of-other", "./", digest("b"), ""),
		artifact("of-dev", repo, "dev", "fleet/plain", tree), follow("of-dev", "./", digest("b"), ""),
		artifact("elsewhere", repo, "stage", "other/plain", tree), follow("elsewhere", "./", digest("b"), ""),
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
			name := strings.TrimPrefix(r.Object, "Kustomization flux-system/")
			got[name] = fmt.Sprintf("%s %s %s", r.Folder, r.Health, r.Revision+r.Message)
		}
	}
	if diff := cmp.Diff(map[string]string{
		"current": "plain current stage@sha1:" + head,
		"changed": "plain current stage@sha1:" + sha,
		"behind": "plain progressing stage@sha1:" + old + "OCIRepository flux-system/behind: its artifact is " + digest("b") +
			", and " + digest("a") + " is applied",
		"below": "plain/web current stage@sha1:" + sha,
		"of-dev": `plain elsewhere OCIRepository flux-system/of-dev is built from the branch "dev" instead of the branch ` +
			`"stage"`,
	}, got); diff != "" {
		t.Errorf("reports (-want +got):\n%s", diff)
	}
}

// TestRecordedArtifacts reads objects that real Flux wrote during TestFluxArtifacts of the rendering. One artifact is
// applied. Another has a signature that Flux refuses, once as the first artifact and once after another artifact was
// applied.
func TestRecordedArtifacts(t *testing.T) {
	t.Parallel()
	const (
		head    = "ffffffffffffffffffffffffffffffffffffffff"
		refused = "OCIRepository flux-system/canary: failed to verify the signature using provider 'cosign': no matching " +
			"signatures were found for '127.0.0.1:5000/fleet/canary@sha256:"
	)
	text, err := os.ReadFile(filepath.Join("testdata", "artifacts.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all map[string][]map[string]any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&all); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		tree string // tree of the folder at head
		want deployment.Report
	}{
		"applied": {"d74864564fb08e63a9199146a62a3c77ff1bf4ec", deployment.Report{
			Health: deployment.Healthy, Revision: "prod@sha1:" + head, Since: parseTime(t, "2026-11-26T03:35:38Z"),
		}},
		"applied, and changed since": {"b", deployment.Report{
			Health: deployment.Healthy, Revision: "prod@sha1:f68bd37a23f976f8e00a9c042daf84bb07849d91",
			Since: parseTime(t, "2026-11-26T03:35:38Z"),
		}},
		"refused": {"b", deployment.Report{
			Health: deployment.Elsewhere, Message: refused + "8e7899ef515467612ed825bb2a51f458e67f1e4efd226e772dbd15bd3241004e'",
		}},
		"refused-later": {"b", deployment.Report{
			Health: deployment.Failed, Revision: "prod@sha1:f68bd37a23f976f8e00a9c042daf84bb07849d91",
			Since:   parseTime(t, "2026-11-26T03:35:43Z"),
			Message: refused + "50abaa803d1faba3fb6518a2eb7310636197263e4e8d05b1de9851d51e2a756e'",
		}},
	} {
		cluster := newRecordedCluster(t)
		cluster.at(parseTime(t, "2026-11-26T03:36:00Z"))
		recording, _, _ := strings.Cut(name, ",")
		for _, o := range all[recording] {
			toIntegers(o)
			cluster.change(t, objectEvent{Type: string(watch.Added), Object: o})
		}
		source := kubernetes.Source{"one": {Kubeconfig: config(cluster.url())}}
		reports, err := source.Reports(t.Context(), deployment.Rendering{
			Repo: "https://git.example.com/gitops", Branch: "prod", Path: "fleet", Folders: []string{"canary"}, Head: head,
			Tree:  func(string) string { return tt.tree },
			Files: func(string) (map[string][]byte, error) { return nil, nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		tt.want.Cluster, tt.want.Folder, tt.want.Object = "one", "canary", "Kustomization flux-system/canary"
		tt.want.Now = cluster.now
		if diff := cmp.Diff([]deployment.Report{tt.want}, reports); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func parseTime(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}
