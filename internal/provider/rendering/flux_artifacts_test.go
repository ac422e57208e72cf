package rendering_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/clusters/apiserver"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/registryserver"
)

// artifactFleet is the root module of testdata/TestFluxArtifacts with a cluster of real Flux.
type artifactFleet struct {
	*acc.Root
	gitops  string // a bare repo
	cluster *apiserver.Kubernetes
}

// artifactState is the output of the data source.
type artifactState struct {
	Head     string `json:"head"`
	Verdict  string `json:"verdict"`
	Problems []struct {
		Folder, State, Message string
	} `json:"problems"`
	Clusters map[string][]struct {
		Folder, Revision, State string
	} `json:"clusters"`
}

// TestFluxArtifacts publishes a fleet as artifacts, which real Flux verifies and applies. Flux applies no artifact
// without a signature, or with the signature of another key. Waves wait for what the cluster applied, and a folder that
// is changed back is current with its earlier artifact.
func TestFluxArtifacts(t *testing.T) {
	f := newArtifactFleet(t)
	right, public := signingKey(t)
	wrong, _ := signingKey(t)
	f.cluster.Write(t, fmt.Sprintf("{apiVersion: v1, kind: Secret, metadata: {name: cosign, namespace: flux-system}, "+
		"stringData: {cosign.pub: %q}}", public))

	// Flux refuses an artifact that is not signed, or that another key signed.
	f.step()
	var objects []string
	f.Output("objects", &objects)
	f.cluster.Write(t, objects...)
	const refused = "failed to verify the signature"
	for _, key := range []map[string]any{nil, wrong} {
		f.step("signing", key)
		f.until("a refusal", f.says("canary", "missing", refused))
		if got := f.applied("canary"); got != "" {
			t.Fatalf("Flux applied the region %s, which it can't verify", got)
		}
	}
	f.step("signing", right)
	state := f.until("the first delivery", f.succeeds)
	for _, folder := range state.Clusters["one"] {
		if folder.Revision != "prod@sha1:"+state.Head {
			t.Errorf("the cluster reports %+v, and the head is %s", folder, state.Head)
		}
	}

	// The second wave waits until the cluster runs the artifact of the first wave, even if this is an earlier artifact,
	// which names an earlier commit.
	for _, wave := range [][2]string{{"2", "2 1"}, {"1", "1 2"}} {
		f.step("in_waves", true, "region", wave[0])
		if got := f.regions(); got != wave[1] {
			t.Errorf("the first wave commits the regions %s, want %s", got, wave[1])
		}
		f.until("the second wave", func(artifactState) bool { return f.regions() == wave[0]+" "+wave[0] })
		if got := f.applied("canary"); got != wave[0] {
			t.Errorf("the second wave was committed while the canary ran the region %s", got)
		}
		f.until("the rest to run", f.succeeds)
	}

	// A signature of another key stops the canary, and so the waves.
	f.step("region", "3", "signing", wrong)
	f.until("the refused change", f.says("canary", "progressing", refused))
	if got := f.regions() + ", " + f.applied("canary"); got != "3 1, 1" {
		t.Errorf("the regions on the branch, and the region that the canary runs, are %s", got)
	}
	f.step("signing", right)
	f.until("the rest to run", f.succeeds)
}

func newArtifactFleet(t *testing.T) *artifactFleet {
	t.Helper()
	registry, cluster := registryserver.Start(t), apiserver.StartFlux(t)
	repos := t.TempDir()
	_, handler := gitserver.Handler(t, repos, gitserver.WithFilter())
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	f := &artifactFleet{acc.NewRootFrom(t, "testdata/TestFluxArtifacts"), filepath.Join(repos, "gitops"), cluster}
	gitserver.Git(t, repos, "init", "-q", "--bare", f.gitops)
	gitserver.Git(t, f.gitops, "config", "http.receivepack", "true")
	for name, value := range map[string]any{
		"gitops_url": server.URL + "/gitops", "repository": "oci://" + registry.Host + "/fleet", "region": "1",
		"in_waves": false, "signing": nil, "kubeconfig": cluster.Kubeconfig(apiserver.Reader),
	} {
		f.Set(name, value)
	}
	return f
}

// signingKey returns a new key: as the argument signing, and the public key in PEM.
func signingKey(t *testing.T) (signing map[string]any, public string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	text := func(kind string, der []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
	}
	return map[string]any{"key": text("PRIVATE KEY", private)}, text("PUBLIC KEY", der)
}

// step applies as a pipeline does, and returns the cluster's reports of before the apply. After changes, it waits until
// Flux has looked at the registry, since Flux retries a failing source less and less often.
func (f *artifactFleet) step(changes ...any) (state artifactState) {
	f.T.Helper()
	for i := 0; i < len(changes); i += 2 {
		name, _ := changes[i].(string)
		f.Set(name, changes[i+1])
	}
	f.Apply()
	f.Output("state", &state)
	if len(changes) == 0 {
		return state
	}
	now := time.Now().String()
	for _, name := range []string{"canary", "large"} {
		source := func() *unstructured.Unstructured {
			return f.object("source.toolkit.fluxcd.io/v1", "OCIRepository", "flux-system", name)
		}
		f.cluster.Patch(f.T, source(), fmt.Sprintf(
			`{"metadata": {"annotations": {"reconcile.fluxcd.io/requestedAt": %q}}}`, now))
		for end, done := time.Now().Add(fluxPatience), ""; done != now; time.Sleep(100 * time.Millisecond) {
			done, _, _ = unstructured.NestedString(source().Object, "status", "lastHandledReconcileAt")
			if time.Now().After(end) {
				f.T.Fatalf("Flux did not look at the artifact of %s", name)
			}
		}
	}
	return state
}

// until applies until a condition is true.
func (f *artifactFleet) until(what string, is func(artifactState) bool) artifactState {
	f.T.Helper()
	for end := time.Now().Add(fluxPatience); ; time.Sleep(300 * time.Millisecond) {
		state := f.step()
		if is(state) {
			return state
		}
		if time.Now().After(end) {
			f.T.Fatalf("waited in vain for %s: %+v, regions %s", what, state, f.regions())
		}
	}
}

func (*artifactFleet) succeeds(s artifactState) bool { return s.Verdict == "success" }

// says is a condition: a problem of a folder with a state and a text.
func (*artifactFleet) says(folder, state, text string) func(artifactState) bool {
	return func(s artifactState) bool {
		for _, p := range s.Problems {
			if p.Folder == folder && p.State == state && strings.Contains(p.Message, text) {
				return true
			}
		}
		return false
	}
}

// regions returns the value of the config REGION in the folders canary and large on the branch.
func (f *artifactFleet) regions() string {
	f.T.Helper()
	return fluxRegions(gitserver.Tree(f.T, f.gitops, "prod"), "fleet/canary/", "fleet/large/")
}

// applied returns the region that the cluster runs in a folder, or "" if it runs none.
func (f *artifactFleet) applied(folder string) string {
	config := f.object("v1", "ConfigMap", "prod-"+folder+"-shop-web", "platform-config")
	if config == nil {
		return ""
	}
	region, _, _ := unstructured.NestedString(config.Object, "data", "REGION")
	return region
}

// object returns an object on the cluster, or nil.
func (f *artifactFleet) object(apiVersion, kind, namespace, name string) *unstructured.Unstructured {
	of := &unstructured.Unstructured{}
	of.SetAPIVersion(apiVersion)
	of.SetKind(kind)
	of.SetNamespace(namespace)
	found, err := f.cluster.Objects(of).Get(f.T.Context(), name, metav1.GetOptions{})
	if err != nil {
		return nil
	}
	return found
}
