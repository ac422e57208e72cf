package kubernetes_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/clusters"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/kubernetes"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/clusters/apiserver"
)

// condition returns a condition of a status, as YAML.
func condition(kind, status string) string {
	return fmt.Sprintf("{type: %s, status: %q, reason: R, message: it said so, lastTransitionTime: %q}", kind, status,
		since)
}

// readInventory returns the clusters that an inventory lists: by name, a text with the namespace, labels, properties
// and health. Objects that are left out have the key "left out" and a number.
func readInventory(t *testing.T, i kubernetes.Inventory) map[string]string {
	t.Helper()
	found, err := i.Clusters(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, c := range found.Clusters {
		text := c.Namespace
		for _, set := range []map[string]string{c.Labels, c.Properties} {
			for _, key := range slices.Sorted(maps.Keys(set)) {
				text += " " + key + "=" + set[key]
			}
		}
		if c.Healthy != nil {
			text += fmt.Sprintf(" healthy=%t", *c.Healthy)
		}
		if c.Reason != "" {
			text += " (" + c.Reason + ")"
		}
		all[c.Name] = text
		if c.Source != i.Name() {
			t.Errorf("%s: source %q", c.Name, c.Source)
		}
	}
	for n, text := range found.LeftOut {
		all[fmt.Sprint("left out ", n)] = text
	}
	return all
}

// TestInventory reads each kind of object that stands for a cluster from a real API server. The health of a cluster
// comes from the object's conditions. If the server does not know a kind, the error names the kind.
func TestInventory(t *testing.T) {
	t.Parallel()
	s := apiserver.Start(t, apiserver.ClusterProfiles, apiserver.ManagedClusters, apiserver.CAPIClusters,
		apiserver.PlacementDecisions)
	profile := func(name, namespace, labels, status string) string {
		return fmt.Sprintf("apiVersion: multicluster.x-k8s.io/v1alpha1\nkind: ClusterProfile\n"+
			"metadata: {name: %s, namespace: %s, labels: {%s}, annotations: {token: canary-annotation}}\n"+
			"spec: {clusterManager: {name: ocm}}\nstatus: {%s}\n", name, namespace, labels, status)
	}
	s.Apply(t,
		profile("one", "a", "size: large", "version: {kubernetes: v1.34.0}, conditions: ["+
			condition("Joined", "False")+", "+condition("ControlPlaneHealthy", "True")+
			"], properties: [{name: region.example.com/name, value: west europe}]"),
		profile("two", "b", "", "conditions: ["+condition("ControlPlaneHealthy", "False")+"]"),
		profile("three", "b", "", "conditions: ["+condition("ControlPlaneHealthy", "Unknown")+"]"),
		"apiVersion: cluster.open-cluster-management.io/v1\nkind: ManagedCluster\n"+
			"metadata: {name: m, labels: {vendor: AKS}}\n"+
			"spec: {hubAcceptsClient: true}\nstatus: {clusterClaims: [{name: id.k8s.io, value: x}], conditions: ["+
			condition("ManagedClusterJoined", "True")+", "+condition("ManagedClusterConditionAvailable", "True")+"]}\n",
		"apiVersion: cluster.x-k8s.io/v1beta2\nkind: Cluster\nmetadata: {name: new, namespace: a}\nstatus: {conditions: ["+
			condition("Ready", "True")+", "+condition("Available", "False")+"]}\n",
		"apiVersion: cluster.x-k8s.io/v1beta2\nkind: Cluster\nmetadata: {name: old, namespace: a}\nstatus: {conditions: ["+
			condition("Ready", "True")+"]}\n",
	)
	on := func(kind string, namespaces ...string) kubernetes.Inventory {
		return kubernetes.Inventory{Hub: "hub", Kind: kind, Namespaces: namespaces,
			Connection: kubernetes.Connection{Kubeconfig: s.Kubeconfig(apiserver.Reader)}}
	}
	const failed = "healthy=false (%s is False: R: it said so)"
	one := "a size=large region.example.com/name=west europe healthy=true"
	two := "b " + fmt.Sprintf(failed, "ControlPlaneHealthy")
	for _, test := range []struct {
		of   kubernetes.Inventory
		want map[string]string
	}{
		{on(kubernetes.ClusterProfile), map[string]string{"one": one, "two": two,
			"three": "b (ControlPlaneHealthy is Unknown: R: it said so)"}},
		{on(kubernetes.ClusterProfile, "a", "c"), map[string]string{"one": one}},
		{on(kubernetes.ManagedCluster), map[string]string{"m": " vendor=AKS id.k8s.io=x healthy=true"}},
		{on(kubernetes.ClusterAPI), map[string]string{"new": "a " + fmt.Sprintf(failed, "Available"),
			"old": "a healthy=true"}},
	} {
		if diff := cmp.Diff(test.want, readInventory(t, test.of)); diff != "" {
			t.Errorf("%s %v (-want +got):\n%s", test.of.Kind, test.of.Namespaces, diff)
		}
	}
	_, err := on(kubernetes.FleetCluster).Clusters(t.Context())
	if err == nil || errors.Is(err, deployment.ErrNoAnswer) || !strings.Contains(err.Error(),
		"it does not serve clusters.fleet.cattle.io, the objects of the kind rancher_fleet") {
		t.Errorf("a kind whose CRD is not installed: %v", err)
	}
	for token, want := range map[string]string{apiserver.Nobody: "it denies the request", "canary-other": "rejects"} {
		of := on(kubernetes.ClusterProfile)
		of.Connection.Kubeconfig = s.Kubeconfig(token)
		if _, err := of.Clusters(t.Context()); err == nil || errors.Is(err, deployment.ErrNoAnswer) ||
			!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %v", token, err)
		}
	}
	s.Install(t, []string{apiserver.FleetClusters})
	s.Apply(t, "apiVersion: fleet.cattle.io/v1alpha1\nkind: Cluster\n"+
		"metadata: {name: f, namespace: fleet-default, labels: {env: dev}}\nstatus: {conditions: ["+
		condition("Processed", "True")+", "+condition("Ready", "False")+"]}\n")
	if diff := cmp.Diff(map[string]string{"f": "fleet-default env=dev " + fmt.Sprintf(failed, "Ready")},
		readInventory(t, on(kubernetes.FleetCluster))); diff != "" {
		t.Errorf("Rancher Fleet (-want +got):\n%s", diff)
	}
	testPlacementDecisions(t, s)
}

// testPlacementDecisions applies our placement decisions to the API server, which validates them by the standard's CRD.
func testPlacementDecisions(t *testing.T, s *apiserver.Server) {
	t.Helper()
	names := make([]string, 250)
	for i := range names {
		names[i] = fmt.Sprint("cluster-", i)
	}
	made, err := clusters.Decisions(map[string][]string{"large": {"shop-web"}, "small": {"shop-web", "shop-api"}},
		map[string][]string{"large": names, "small": {}}, clusters.DecisionOptions{})
	if err != nil || len(made) != 4 {
		t.Fatalf("%d objects: %v", len(made), err)
	}
	for _, object := range made {
		text, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		s.Apply(t, string(text))
	}
}

// clusterSecret returns the Secret in which Argo CD stores a cluster. Its credentials contain "canary", which must not
// be read.
func clusterSecret(name, cluster, more string) string {
	text := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	data := fmt.Sprintf("config: %s, server: %s", text(`{"bearerToken":"canary-bearer"}`), text("https://canary-server"))
	if cluster != "" {
		data += ", name: " + text(cluster)
	}
	return fmt.Sprintf("apiVersion: v1\nkind: Secret\nmetadata: {name: %s, namespace: argocd, "+
		"labels: {argocd.argoproj.io/secret-type: cluster, %s}, annotations: {a: canary-annotation}}\ndata: {%s}\n",
		name, more, data)
}

// TestFluxServerSecrets lists the Secrets of Argo CD's clusters on a real API server. Only their labels and the
// clusters' names are read.
func TestFluxServerSecrets(t *testing.T) {
	k := apiserver.StartKubernetes(t)
	k.Write(t, "{apiVersion: v1, kind: Namespace, metadata: {name: argocd}}", clusterSecret("one", "store-1",
		"size: large"),
		clusterSecret("two", "", "size: small"),
		"{apiVersion: v1, kind: Secret, metadata: {name: other, namespace: argocd}, data: {name: YQ==}}")
	argo := kubernetes.Inventory{Hub: "hub", Kind: kubernetes.ArgoCDCluster, Namespaces: []string{"argocd"},
		Connection: kubernetes.Connection{Kubeconfig: k.Kubeconfig(apiserver.Admin)}}
	if diff := cmp.Diff(map[string]string{
		"store-1":    "argocd argocd.argoproj.io/secret-type=cluster size=large",
		"left out 0": "hub/argocd argocd/two: it has no data.name, the name of the cluster",
	}, readInventory(t, argo)); diff != "" {
		t.Errorf("clusters (-want +got):\n%s", diff)
	}
	argo.Connection.Kubeconfig = k.Kubeconfig(apiserver.Nobody)
	if _, err := argo.Clusters(t.Context()); err == nil || !strings.Contains(err.Error(), "permission to list secrets") {
		t.Errorf("without the permission: %v", err)
	}
}

// profiles starts a hub with count ClusterProfiles, which it lists in pages. item returns the JSON of one of them.
func profiles(t testing.TB, count int, item func(i int) string) kubernetes.Inventory {
	return hubOf(t, func(w http.ResponseWriter, r *http.Request) {
		from, _ := strconv.Atoi(r.FormValue("continue"))
		limit, _ := strconv.Atoi(r.FormValue("limit"))
		to, next := min(from+limit, count), ""
		if to < count {
			next = strconv.Itoa(to)
		}
		fmt.Fprintf(w, `{"kind":"ClusterProfileList","apiVersion":"multicluster.x-k8s.io/v1alpha1",`+
			`"metadata":{"continue":%q},"items":[`, next)
		for i := from; i < to; i++ {
			if i > from {
				fmt.Fprint(w, ",")
			}
			fmt.Fprint(w, item(i))
		}
		fmt.Fprint(w, "]}")
	})
}

// hubOf starts a hub whose lists of objects come from a handler.
func hubOf(t testing.TB, list http.HandlerFunc) kubernetes.Inventory {
	t.Helper()
	return kubernetes.Inventory{Hub: "hub", Kind: kubernetes.ClusterProfile,
		Connection: kubernetes.Connection{Kubeconfig: apiserver.NewHub(t, list).Kubeconfig("canary-token")}}
}

// TestHostileHub: if a hostile hub lists an object that is too large or malformed, the object is left out. The reason
// names it without its content. An answer that does not end is an error before the deadline.
func TestHostileHub(t *testing.T) {
	t.Parallel()
	odd := []string{
		`{"metadata":{"namespace":"a"}}`,
		`{"metadata":{"name":"large","namespace":"a","annotations":{"x":"` + strings.Repeat("canary", 200_000) + `"}}}`,
		`{"metadata":{"name":"list","labels":["canary"]}}`,
		`"canary"`,
		`{"metadata":{"name":"echo","labels":{"a":"canary-token"}}}`,
		`{"metadata":{"name":"good"},"status":{"properties":[{"name":"a","value":"b"}]}}`,
	}
	got := readInventory(t, profiles(t, len(odd), func(i int) string { return odd[i] }))
	if diff := cmp.Diff(map[string]string{
		"left out 0": "hub/cluster_profile number 1 of a page: it has no name",
		"left out 1": "hub/cluster_profile a/large: it is larger than 1 MiB",
		"left out 2": "hub/cluster_profile list: it can't be read: it is not in Kubernetes' format",
		"left out 3": "hub/cluster_profile number 4 of a page: it can't be read: it is not in Kubernetes' format",
		"echo":       " a=(secret)", "good": " a=b",
	}, got); diff != "" {
		t.Errorf("odd objects (-want +got):\n%s", diff)
	}
	// If a page is too large, smaller pages are read.
	medium := `{"metadata":{"name":"n%d","annotations":{"x":"` + strings.Repeat("x", 500_000) + `"}}}`
	if got := readInventory(t, profiles(t, 60, func(i int) string { return fmt.Sprintf(medium, i) })); len(got) != 60 {
		t.Errorf("large pages: %d clusters", len(got))
	}
	large := `{"metadata":{"name":"n%d","annotations":{"x":"` + strings.Repeat("x", 5_000_000) + `"}}}`
	if got := readInventory(t, profiles(t, 6, func(i int) string { return fmt.Sprintf(large, i) })); len(got) != 6 {
		t.Errorf("pages of few large objects: %d objects", len(got))
	}
	for name, test := range map[string]struct {
		hub  kubernetes.Inventory
		want string
		dead bool // the error is ErrNoAnswer
	}{
		"too many clusters": {profiles(t, 20_000, func(i int) string {
			return fmt.Sprintf(`{"metadata":{"name":"n%d"}}`, i)
		}), "it lists more than 10000 clusters", false},
		"answer without an end": {hubOf(t, func(w http.ResponseWriter, _ *http.Request) {
			for chunk := strings.Repeat(" ", 1<<16); ; {
				if _, err := w.Write([]byte(chunk)); err != nil {
					return
				}
			}
		}), "a response is larger than 16 MiB", false},
		"invalid JSON": {hubOf(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "{canary") }),
			"its list of clusterprofiles can't be read", false},
		"pages without an end": {hubOf(t, func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `{"metadata":{"continue":"x"},"items":[]}`)
		}), "it did not answer in time", true},
		"no answer": {hubOf(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }),
			"it did not answer in time", true},
		"status 503": {hubOf(t, func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "canary-token is busy", http.StatusServiceUnavailable)
		}), "", true},
		"closed port": {kubernetes.Inventory{Hub: "hub", Kind: kubernetes.ClusterProfile,
			Connection: kubernetes.Connection{Kubeconfig: config("http://127.0.0.1:9")}}, "connection refused", true},
		"redirect": {hubOf(t, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:9/", http.StatusFound)
		}), "", false},
	} {
		start := time.Now()
		_, err := test.hub.Clusters(withTimeout(t, time.Second))
		if took := time.Since(start); err == nil || took > 5*time.Second || !strings.Contains(err.Error(), test.want) ||
			errors.Is(err, deployment.ErrNoAnswer) != test.dead || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: after %s: %v", name, took, err)
		}
	}
}

// TestHubRepeatsCredential: a hub repeats the credential in each text of its objects. No cluster, and no name of an
// object that is left out, contains it.
func TestHubRepeatsCredential(t *testing.T) {
	t.Parallel()
	base64Of := base64.StdEncoding.EncodeToString([]byte("canary-token"))
	for _, echo := range []string{"canary-token", "x canary-token y", base64Of, "canary%2Dtoken"} {
		items := []string{
			`{"metadata":{"name":"a-ECHO","namespace":"n"}}`,
			`{"metadata":{"name":"b","namespace":"ECHO"}}`,
			`{"metadata":{"name":"c","labels":{"ECHO":"1","k-ECHO":"2","l":"ECHO"}}}`,
			`{"metadata":{"name":"d"},"status":{"properties":[{"name":"ECHO","value":"1"},{"name":"p","value":"ECHO"}]}}`,
			`{"metadata":{"name":"e"},"status":{"conditions":[{"type":"ControlPlaneHealthy","status":"ECHO","reason":"ECHO",` +
				`"message":"ECHO"}]}}`,
			`{"metadata":{"name":"ECHO","namespace":"ECHO","labels":["left out"]}}`,
			`{"metadata":{"name":"` + strings.Repeat("ECHO ", 300) + `"}}`,
		}
		found, err := profiles(t, len(items), func(i int) string {
			return strings.ReplaceAll(items[i], "ECHO", echo)
		}).Clusters(t.Context())
		if err != nil || len(found.Clusters)+len(found.LeftOut) != len(items) || len(found.LeftOut) < 2 {
			t.Fatalf("%+v, %v", found, err)
		}
		if text := fmt.Sprintf("%+v", found); strings.Contains(text, echo) || strings.Contains(text, "canary") {
			t.Errorf("%s: %s", echo, text)
		}
	}
}

// TestVersionsInURLs: a hub announces versions of a group that lead to other paths. They are not requested.
func TestVersionsInURLs(t *testing.T) {
	t.Parallel()
	var paths []string
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/apis/multicluster.x-k8s.io" {
			fmt.Fprint(w, `{"kind":"APIGroup","apiVersion":"v1","preferredVersion":{"version":"../../api/v1/secrets?x="},`+
				`"versions":[{"version":"../v1"},{"version":"v1%2f"},{"version":""},{"version":"v1alpha1"}]}`)
			return
		}
		paths = append(paths, r.URL.Path)
		fmt.Fprint(w, `{"items":[]}`)
	}))
	defer server.Close()
	of := kubernetes.Inventory{Hub: "hub", Kind: kubernetes.ClusterProfile, Connection: kubernetes.Connection{
		Kubeconfig: strings.Replace(config(server.URL), "server:", "insecure-skip-tls-verify: true, server:", 1)}}
	if _, err := of.Clusters(t.Context()); err != nil {
		t.Error(err)
	}
	if want := []string{"/apis/multicluster.x-k8s.io/v1alpha1/clusterprofiles"}; !slices.Equal(paths, want) {
		t.Errorf("requested %q, want %q", paths, want)
	}
}
