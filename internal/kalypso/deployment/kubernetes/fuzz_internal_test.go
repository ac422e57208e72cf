package kubernetes

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/pkg/apis/clientauthentication"
	"k8s.io/client-go/pkg/apis/clientauthentication/install"

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
