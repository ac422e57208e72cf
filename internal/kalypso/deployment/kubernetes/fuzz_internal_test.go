package kubernetes

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/pkg/apis/clientauthentication"
	"k8s.io/client-go/pkg/apis/clientauthentication/install"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/clusters"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/redact"
)

// canary is a credential that was sent to a hub.
const canary = "canary-0123456789"

// FuzzInventoryPage: each object of a hub's page becomes a cluster or is left out with a reason. What is read is text,
// and contains no credential of the hub, although the hub may repeat it.
func FuzzInventoryPage(f *testing.F) {
	for _, text := range []string{
		`{"metadata":{"continue":"next"},"items":[{"metadata":{"name":"a","namespace":"fleet","labels":{"x":"y"}},` +
			`"status":{"conditions":[{"type":"ManagedClusterConditionAvailable","status":"False","reason":"R","message":"M"}],` +
			`"clusterClaims":[{"name":"region","value":"eu"}],"properties":[{"name":"p","value":"v"}]}}]}`,
		`{"items":[{"metadata":{"name":"s"},"data":{"name":"YQ==","config":"c2VjcmV0"}}]}`,
		`{"items":[{"data":{"name":"/w=="}}]}`, `{"items":[null]}`, `{"items":[1]}`, `{"items":[{}]}`, `{"items":{}}`,
		`{"items":[{"metadata":{"name":"` + canary + `","labels":{"` + canary + `":"` + canary + `"}}}]}`,
		`{"items":[{"metadata":{"name":"a/b","namespace":"c/d"}}]} x`, `null`, `{"items":[],"items":[{}]}`,
	} {
		for kind := range InventoryKinds {
			f.Add(uint(kind), []byte(text))
		}
	}
	f.Fuzz(func(t *testing.T, kind uint, text []byte) {
		c := &client{secrets: &redact.Secrets{}}
		c.secrets.Add(canary)
		i := Inventory{Hub: "hub", Kind: InventoryKinds[kind%uint(len(InventoryKinds))]}
		var found clusters.List
		_, err := i.page(c, text, &found)
		var page struct{ Items []json.RawMessage }
		if err != nil {
			if len(found.Clusters)+len(found.LeftOut) > clusters.Max+1 || strings.Contains(err.Error(), canary) {
				t.Errorf("%d clusters, and then %v", len(found.Clusters), err)
			}
			return
		}
		if err := json.Unmarshal(text, &page); err != nil {
			t.Fatalf("%q is a page, and encoding/json says %v", text, err)
		}
		if n := len(found.Clusters) + len(found.LeftOut); n != len(page.Items) {
			t.Errorf("%d of %d objects are clusters, or left out", n, len(page.Items))
		}
		texts := found.LeftOut
		for _, one := range found.Clusters {
			texts = append(texts, one.Source, one.Namespace, one.Name, one.Reason)
			for _, set := range []map[string]string{one.Labels, one.Properties} {
				for key, value := range set {
					texts = append(texts, key, value)
				}
			}
		}
		for _, text := range texts {
			if !utf8.ValidString(text) || strings.Contains(text, canary) {
				t.Errorf("%q is no text, or contains a credential", text)
			}
		}
	})
}

// FuzzObjects: whatever the objects of Flux and Argo CD on a cluster say, the reports on them are the same the second
// time, each with a health that exists and about a folder below the rendering, and they contain no credential. There
// are at most as many as the objects, their sources and the objects in the folders allow.
func FuzzObjects(f *testing.F) {
	const source = `{"apiVersion":"source.toolkit.fluxcd.io/v1","kind":"GitRepository","metadata":{"name":"g",` +
		`"namespace":"f","generation":1},"spec":{"url":"https://x.io/a/b","ref":{"branch":"dev"}},"status":{` +
		`"observedGeneration":1,"artifact":{"revision":"dev@sha1:0123456789abcdef0123456789abcdef01234567",` +
		`"lastUpdateTime":"2026-01-01T00:00:00Z"},"conditions":[{"type":"Ready","status":"True"}]}}`
	const kustomization = `{"apiVersion":"kustomize.toolkit.fluxcd.io/v1","kind":"Kustomization","metadata":{"name":"k",` +
		`"namespace":"f","generation":1},"spec":{"path":"./large","sourceRef":{"kind":"GitRepository","name":"g"},` +
		`"interval":"1m","targetNamespace":"apps"},"status":{"observedGeneration":1,"lastAppliedRevision":"dev@sha1:` +
		`0123456789abcdef0123456789abcdef01234567","history":[{"lastReconciledStatus":"ReconciliationSucceeded",` +
		`"firstReconciled":"2026-01-01T00:00:00Z","lastReconciled":"2026-01-02T00:00:00Z"}],"conditions":[` +
		`{"type":"Ready","status":"False","reason":"R","message":"canary-0123456789","lastTransitionTime":"x"}]}}`
	const artifact = `{"kind":"OCIRepository","metadata":{"name":"g","namespace":"f"},"spec":{"url":"oci://x/large"},` +
		`"status":{"artifact":{"revision":"1","metadata":{"org.opencontainers.image.source":"https://x.io/a/b",` +
		`"org.opencontainers.image.revision":"dev@sha1:0"}}}}`
	const release = `{"kind":"HelmRelease","metadata":{"name":"k","namespace":"apps"},"spec":{"chartRef":{` +
		`"kind":"HelmChart","name":"g"}},"status":{"helmChart":"f/g","history":[{"status":"deployed","chartVersion":"1"}]}}`
	const application = `{"kind":"Application","metadata":{"name":"k","namespace":"f"},"spec":{"sources":[{` +
		`"path":"large","repoURL":"https://x.io/a/b","targetRevision":"HEAD"},{"path":"large",` +
		`"repoURL":"https://x.io/a/b"}],"destination":{"name":"in-cluster"}},"status":{"sync":{"status":"Synced",` +
		`"revisions":["1"],"comparedTo":{}},"health":{` +
		`"status":"Degraded"},"operationState":{"phase":"Running","retryCount":1,"startedAt":"2026-01-01T00:00:00Z"},` +
		`"conditions":[{"type":"ComparisonError","message":"\u001b[2J"}]}}`
	for _, items := range []string{
		"", source + "," + kustomization,
		artifact + "," + strings.ReplaceAll(kustomization, "GitRepository", "OCIRepository"),
		source + "," + kustomization + "," + release, application, application + "," + kustomization + "," + source,
		`{"kind":1}`, `{"kind":"Kustomization","metadata":[],"spec":"x","status":[null]}`, `{"kind":"Kustomization"}`,
		strings.ReplaceAll(application, "in-cluster", canary), strings.ReplaceAll(kustomization, "large", canary),
		strings.ReplaceAll(application, `"sources":[`, `"sourceHydrator":[`), strings.ReplaceAll(kustomization, "1m", "-9h"),
	} {
		f.Add([]byte(`{"items":[` + items + `]}`))
	}
	inFolder := []byte("apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: k}\n---\n" +
		"apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: k}\n---\n" +
		"apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: k, namespace: f}\n")
	of := deployment.Rendering{
		Repo: "https://x.io/a/b", Branch: "dev", Path: ".", Folders: []string{"large", "small"}, Versions: true,
		Head: "0123456789abcdef0123456789abcdef01234567",
		Tree: func(string) string { return "" },
		Files: func(string) (map[string][]byte, error) {
			return map[string][]byte{"a.yaml": inFolder}, nil
		},
	}
	at := time.Unix(1_800_000_000, 0)
	f.Fuzz(func(t *testing.T, text []byte) {
		ask := func() (*cluster, error) {
			c := &client{secrets: &redact.Secrets{}, date: &serverDate{}}
			c.secrets.Add(canary)
			c.date.at.Store(&at)
			k := newCluster("hub", c, of, readFolders(of))
			var page unstructured.UnstructuredList
			if page.UnmarshalJSON(text) != nil {
				return nil, errors.New("no list")
			}
			kinds := []resource{{group: kustomizeGroup, name: "kustomizations"}, {group: argoGroup, name: "applications"},
				{group: helmGroup, name: "helmreleases"}}
			for _, name := range sourceResources {
				kinds = append(kinds, resource{group: sourceGroup, name: name})
			}
			for _, kind := range kinds { // a server may list objects of another kind
				k.lists[kind] = &resourceList{served: true, objects: page.Items}
			}
			_, errFlux := k.flux(t.Context())
			_, errArgo := k.argoCD(t.Context())
			err := errors.Join(errFlux, errArgo, k.addNested(t.Context()))
			k.redact()
			return k, err
		}
		k, err := ask()
		if k == nil {
			return
		}
		again, _ := ask()
		if diff := cmp.Diff(k.Reports, again.Reports); diff != "" || err != nil {
			t.Errorf("%q: %v, and the second time:\n%s", text, err, diff)
		}
		// Each object and each source of an Application is a report, and each of the three objects in the folder is one of
		// these objects for each of the namespaces to which a report brings the folder.
		if n, most := len(k.Reports), len(text)*len(text); n > most {
			t.Errorf("%d bytes are %d reports", len(text), n)
		}
		healths := append(slices.Clone(deployment.ReportStates), deployment.Offline, deployment.Elsewhere)
		for _, r := range k.Reports {
			if !slices.Contains(healths, r.Health) || r.Folder == "" || strings.HasPrefix(r.Folder, "/") ||
				strings.HasPrefix(r.Folder, "..") || !r.Now.Equal(at) {
				t.Errorf("the report is %+v", r)
			}
			if strings.Contains(strings.Join([]string{r.Cluster, r.Folder, r.Object, r.Revision, r.Message}, " "), canary) {
				t.Errorf("the report contains the credential: %+v", r)
			}
		}
	})
}

// FuzzPlugin: the output of a kubeconfig's program is a credential that can be used, or an error that repeats nothing
// of it.
func FuzzPlugin(f *testing.F) {
	const version = "client.authentication.k8s.io/v1"
	for _, text := range []string{
		`{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"canary-0123456789"}}`,
		"apiVersion: client.authentication.k8s.io/v1\nkind: ExecCredential\nstatus: {token: canary-0123456789}\n",
		`{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":` +
			`{"clientCertificateData":"canary-0123456789"}}`,
		`{"apiVersion":"client.authentication.k8s.io/v1beta1","kind":"ExecCredential","status":` +
			`{"token":"canary-0123456789"}}`,
		`{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"a"}} canary-0123456789`,
		`{"kind":"ExecCredential","status":{"expirationTimestamp":"canary-0123456789"}}`, "", "null", "canary-0123456789",
	} {
		f.Add([]byte(text))
	}
	scheme := runtime.NewScheme()
	install.Install(scheme)
	codecs := serializer.NewCodecFactory(scheme)
	at, err := schema.ParseGroupVersion(version)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, output []byte) {
		found, err := parsePlugin(codecs, at, output, &clientauthentication.ExecCredential{})
		switch {
		case err != nil:
			if found != nil || strings.Contains(err.Error(), canary) || len(err.Error()) > 200 {
				t.Errorf("the error repeats the output: %v", err)
			}
		case found.Token == "" && (found.ClientCertificateData == "" || found.ClientKeyData == ""):
			t.Errorf("%q has no credential: %v", output, found)
		}
	})
}
