package deployment_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/clusters/apiserver"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/clusters/azurefake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// The credentials in the Secret of a cluster that Argo CD knows, encoded as in the Secret's data.
var argoCredentials = []string{encoded("https://canary-server"), encoded(`{"bearerToken":"canary-bearer"}`)}

func encoded(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

// argoCD serves the Secret of a cluster that Argo CD knows. Each value of the Secret that the provider must not read,
// such as the credential, is a canary.
func argoCD(t *testing.T) *apiserver.Server {
	t.Helper()
	return apiserver.NewHub(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/v1/namespaces/argocd/secrets" ||
			r.FormValue("labelSelector") != "argocd.argoproj.io/secret-type=cluster" {
			http.NotFound(w, r)
			return
		}
		fmt.Fprintf(w, `{"kind":"SecretList","apiVersion":"v1","metadata":{},"items":[{"metadata":{"name":"c","namespace":`+
			`"argocd","labels":{"argocd.argoproj.io/secret-type":"cluster","size":"tiny"},"annotations":{"a":`+
			`"canary-annotation","kubectl.kubernetes.io/last-applied-configuration":"canary-applied"}},"type":"Opaque",`+
			`"data":{"name":%q,"server":%q,"config":%q}},{"metadata":{"name":"unnamed","namespace":"argocd"},`+
			`"data":{"config":%[3]q}}]}`,
			encoded("kiosk-1"), argoCredentials[0], argoCredentials[1])
	})
}

type inventoryOutput struct {
	Clusters map[string]struct {
		Source, Namespace, Name, Reason string
		ClusterType                     string `json:"cluster_type"`
		Labels, Properties              map[string]string
		Healthy                         *bool
	}
	ClusterTypes map[string]struct{ Clusters []string } `json:"cluster_types"`
	Unmatched    []string
	Empty        []string
	Ambiguous    []string
	Summary      string
}

// Clusters join, get a cluster type, are expected, and leave. A hub that does not answer is an error, or with last a
// warning. Neither output, log nor state contains a credential.
func TestAccClusters(t *testing.T) {
	t.Parallel()
	r := acc.NewRootFrom(t, "testdata/TestAccClusters")
	repo := gitserver.InitBare(t)
	commit := acc.SeedDelivery(t, repo, nil, map[string]string{"large": "one", "small": "one"})
	r.Set("head", commit)
	r.Set("gitops_repo", map[string]any{"repo": "file://" + repo, "branch": "stage", "path": "fleet"})
	s := apiserver.Start(t, apiserver.ClusterProfiles)
	argo := argoCD(t)
	hubs := map[string]any{
		"ocm":    map[string]any{"kubeconfig": s.Kubeconfig(apiserver.Reader)},
		"argocd": map[string]any{"kubeconfig": argo.Kubeconfig("canary-token")},
	}
	r.Set("hubs", hubs)
	r.Set("source_of_clusters", map[string]any{
		"kubernetes": []any{
			map[string]any{"cluster": "ocm", "kind": "cluster_profile"},
			map[string]any{"cluster": "argocd", "kind": "argocd", "namespaces": []string{"argocd"}},
		},
		"clusters": map[string]any{"edge-1": map[string]any{"labels": map[string]any{"size": "small"}}},
	})
	r.OwnProcess("TF_LOG=TRACE")
	profile := func(name, labels string) string {
		return "apiVersion: multicluster.x-k8s.io/v1alpha1\nkind: ClusterProfile\nmetadata: {name: " + name +
			", namespace: fleet, labels: {" + labels + "}}\nspec: {clusterManager: {name: ocm}}\n" +
			"status: {conditions: [{type: ControlPlaneHealthy, status: 'True', reason: R, message: m, " +
			"lastTransitionTime: '2026-01-31T12:00:00Z'}], properties: [{name: location, value: west europe}]}\n"
	}
	look := func() (all inventoryOutput, verdict string, said string) {
		t.Helper()
		said = strings.Join(strings.Fields(strings.ReplaceAll(r.Apply().Text(), "│", "")), " ")
		var state deploymentOutput
		r.Output("inventory", &all)
		r.Output("state", &state)
		return all, fmt.Sprint(state.Verdict, " ", state.Folders["large"].Current, "/", state.Folders["large"].Total), said
	}

	all, verdict, said := look()
	if diff := cmp.Diff([]string{"large"}, all.Empty); diff != "" || verdict != "pending 0/1" ||
		!strings.Contains(said, "Cluster types without a cluster") ||
		!strings.Contains(said, "Clusters are left out") ||
		!strings.Contains(said, "argocd/argocd argocd/unnamed: it has no data.name") {
		t.Errorf("no large cluster: %s\n%+v\n%s", verdict, all, said)
	}
	s.Apply(t, profile("store-1", "runs: it")) // it joins without a cluster type
	all, verdict, said = look()
	if !strings.Contains(said, "Clusters without a cluster type") ||
		!strings.Contains(said, "store-1") || verdict != "pending 0/1" {
		t.Errorf("a cluster without a cluster type: %s\n%+v\n%s", verdict, all, said)
	}
	s.Apply(t, profile("store-1", "size: large, runs: it"), profile("store-2", "size: large"))
	all, verdict, said = look()
	if verdict != "pending 1/2" || strings.Contains(said, "Clusters without a cluster type") {
		t.Errorf("one of two clusters is current: %s\n%+v\n%s", verdict, all, said)
	}
	s.Delete(t, "multicluster.x-k8s.io/v1alpha1", "ClusterProfile", "fleet", "store-2")
	all, verdict, said = look()
	if verdict != "success 1/1" {
		t.Errorf("the only cluster is current: %s\n%+v\n%s", verdict, all, said)
	}
	store := all.Clusters["store-1"]
	if store.Source != "ocm/cluster_profile" || store.Namespace != "fleet" || store.ClusterType != "large" ||
		store.Healthy == nil || !*store.Healthy || store.Properties["location"] != "west europe" ||
		all.Clusters["kiosk-1"].Healthy != nil || len(all.Clusters["kiosk-1"].Labels) != 2 ||
		all.Summary != "3 clusters of 2 cluster types, 1 left out." {
		t.Errorf("%+v", all)
	}
	if diff := cmp.Diff([]string{"edge-1", "kiosk-1"}, all.ClusterTypes["small"].Clusters); diff != "" {
		t.Errorf("small (-want +got):\n%s", diff)
	}
	var types map[string]struct{ Labels map[string]string }
	r.Output("cluster_types", &types)
	if len(types) != 2 || types["small"].Labels["clusters"] != "2" {
		t.Errorf("kalypso_cluster_type: %+v", types)
	}
	var decisions []struct {
		Decisions []struct {
			ClusterProfileRef map[string]string `json:"clusterProfileRef"`
		} `json:"decisions"`
	}
	r.Output("decisions", &decisions)
	if len(decisions) != 1 || len(decisions[0].Decisions) != 1 ||
		decisions[0].Decisions[0].ClusterProfileRef["name"] != "store-1" {
		t.Errorf("decisions: %+v", decisions)
	}

	// The hub can't be reached.
	gone := strings.Replace(s.Kubeconfig(apiserver.Reader), s.Host, "127.0.0.1:9", 1)
	r.Set("hubs", map[string]any{"ocm": map[string]any{"kubeconfig": gone}, "argocd": hubs["argocd"]})
	r.ExpectError([]string{"A source did not answer", "Source ocm/cluster_profile:", "connection refused", "set last"},
		"plan", "-no-color")
	var kept struct{ Clusters map[string]any }
	r.Output("inventory", &kept)
	r.Set("last", kept.Clusters)
	all, verdict, said = look()
	if verdict != "success 1/1" || !strings.Contains(said, "A source did not answer") ||
		!strings.Contains(said, "The last list is used for it: 1 cluster.") || all.Clusters["store-1"].Namespace != "fleet" {
		t.Errorf("with last: %s\n%+v\n%s", verdict, all, said)
	}

	canaries := append([]string{"canary"}, argoCredentials...)
	for name, data := range acc.FilesBelow(t, r.Folder) {
		for _, canary := range canaries {
			if name != "terraform.tfvars.json" && strings.Contains(string(data), canary) {
				t.Errorf("%s contains a credential", name)
			}
		}
	}
	for _, canary := range canaries {
		if at := strings.Index(r.Printed.String(), canary); at >= 0 {
			t.Errorf("a credential was printed: %s", r.Printed.String()[max(0, at-100):at+len(canary)])
		}
	}
}

// Labels and hubs that are known only after apply delay the inventory. Cluster types whose names are known are planned.
func TestAccClustersUnknown(t *testing.T) {
	t.Parallel()
	r := acc.NewRoot(t, map[string]string{"terraform.tf": acc.TerraformBlock, "main.tf": `
resource "terraform_data" "later" {
  input = "large"
}
locals {
  cluster_types = toset(["large", "small"])
}
provider "kalypso" {
  clusters = { hub = { kubeconfig = terraform_data.later.output } }
}
data "kalypso_clusters" "this" {
  source = { clusters = { one = { labels = { size = terraform_data.later.output } } } }
  match  = [for name in local.cluster_types : { cluster_type = name, match_labels = { size = name } }]
}
resource "kalypso_cluster_type" "all" {
  for_each          = local.cluster_types
  name              = each.key
  labels            = { clusters = length(data.kalypso_clusters.this.cluster_types[each.key].clusters) }
  reconciler        = "reconciler"
  namespace_service = "namespace"
}
output "decisions" {
  value = length(provider::kalypso::placement_decisions(
    { large = { shop-web = terraform_data.later.output } }, data.kalypso_clusters.this.cluster_types,
  )[0].decisions)
}
output "types" {
  value = provider::kalypso::placement_decisions(
    { large = { shop-web = terraform_data.later.output } },
  )[0].metadata.name
}
`})
	if planned := r.Succeed("plan", "-no-color").Text(); !strings.Contains(planned, "3 to add") ||
		!regexp.MustCompile(`decisions += \(known after apply\)`).MatchString(planned) ||
		!regexp.MustCompile(`types += "shop-web-0"`).MatchString(planned) {
		t.Errorf("the plan:\n%s", planned)
	}
	r.Write("hub.tf", `
data "kalypso_clusters" "hub" {
  source = { kubernetes = [{ cluster = "hub", kind = "cluster_profile" }] }
  match  = [{ cluster_type = "large", match_labels = { size = "large" } }]
}
`)
	r.ExpectError([]string{"A source did not answer", "known after apply; add depends_on"}, "plan", "-no-color")
	r.Write("hub.tf", "")
	r.Apply()
	var count int
	r.Output("decisions", &count)
	if count != 1 {
		t.Errorf("%d decisions", count)
	}
	r.ExpectNoChanges()
}

// The clusters of AKS and Arc have their tags as labels. Their names fit the argument expected of
// kalypso_deployment_state.
func TestClustersAzure(t *testing.T) {
	s := azurefake.New(t)
	t.Setenv("SSL_CERT_FILE", s.CA)
	s.Set("resources", azurefake.Resource(azurefake.AKS("a"), "Running", "Succeeded", map[string]any{"size": "large"}),
		azurefake.Resource(azurefake.Cluster("b"), "Connected", "Succeeded", nil))
	config := map[string]any{"azure": s.Provider(azurefake.Secret)}
	got, said := readClusters(t, config, map[string]any{
		"source": map[string]any{"azure_resource_graph": map[string]any{"subscriptions": []any{"s"}}},
		"match": []any{
			map[string]any{"cluster_type": "large", "match_labels": map[string]any{"size": "large"}},
			map[string]any{"cluster_type": "edge", "match_labels": map[string]any{"kind": "arc", "location": "westeurope"}},
		},
	})
	for attribute, want := range map[string]string{
		"cluster_types.large.clusters[0]": fmt.Sprintf("%q", azurefake.AKS("a")),
		"cluster_types.edge.clusters[0]":  fmt.Sprintf("%q", azurefake.Cluster("b")),
	} {
		if got[attribute] != want {
			t.Errorf("%s is %s, want %s\n%s", attribute, got[attribute], want, said)
		}
	}
}

// Every wrong argument is an error at its attribute that says what to do. All errors of a configuration are reported
// together.
func TestClustersInvalid(t *testing.T) {
	t.Parallel()
	type object = map[string]any
	argo := argoCD(t)
	config := object{"clusters": object{"hub": object{"kubeconfig": argo.Kubeconfig("canary-token")},
		"broken": object{"kubeconfig": argo.Kubeconfig("canary-token"), "context": "none"}}}
	large := []any{object{"cluster_type": "large", "match_labels": object{"size": "large"}}}
	inline := object{"clusters": object{"one": object{"labels": object{"size": "large"}}}}
	hubOf := func(more ...any) object {
		all := object{"cluster": "hub", "kind": "cluster_profile"}
		for i := 0; i < len(more); i += 2 {
			all[fmt.Sprint(more[i])] = more[i+1]
		}
		return object{"kubernetes": []any{all}}
	}
	rule := func(clusterType any, more ...any) object {
		all := object{"cluster_type": clusterType}
		for i := 0; i < len(more); i += 2 {
			all[fmt.Sprint(more[i])] = more[i+1]
		}
		return all
	}
	size := func(operator string) []any {
		return []any{object{"key": "size", "operator": operator, "values": []any{"large"}}}
	}
	for name, test := range map[string]struct {
		source object
		match  []any
		want   []string
		last   any
	}{
		"last of a wrong type": {source: inline, match: large, want: []string{"Wrong type", "Expected an object", "last"},
			last: tftypes.NewValue(tftypes.String, "x")},
		"no source": {object{}, large, []string{"Missing source", "source"}, nil},
		"no such hub": {hubOf("cluster", "other"), large,
			[]string{"No such cluster", `has no "other". It has: broken, hub.`, "source.kubernetes[0].cluster"}, nil},
		"no cluster": {hubOf("cluster", nil), large,
			[]string{"Missing cluster", "source.kubernetes[0].cluster"}, nil},
		"no kind": {hubOf("kind", nil), large, []string{"Missing kind", "source.kubernetes[0].kind"},
			nil},
		"unsupported kind": {hubOf("kind", "gke"), large, []string{"value must be one of", "cluster_profile"},
			nil},
		"kubeconfig with a wrong context": {hubOf("cluster", "broken"), large, []string{"can't be used", `no context "none"`},
			nil},
		"namespaces of a kind without namespaces": {hubOf("kind", "managed_cluster", "namespaces", []any{"a"}), large,
			[]string{"Namespaces are not allowed", "remove namespaces"}, nil},
		"invalid namespace": {hubOf("namespaces", []any{"a", "../secrets"}), large,
			[]string{"Invalid namespace", `"../secrets" can't be`, "source.kubernetes[0].namespaces[1]"}, nil},
		"no CRD": {hubOf(), large,
			[]string{"A source can't be used",
				"Source hub/cluster_profile: it does not serve clusterprofiles.multicluster.x-k8s.io", "install their CRD"}, nil},
		"no scope":     {object{"azure_resource_graph": object{}}, large, []string{"Missing scope"}, nil},
		"empty name":   {object{"clusters": object{"": object{}}}, large, []string{"Missing name", "source.clusters"}, nil},
		"null cluster": {object{"clusters": object{"a": nil}}, large, []string{"Null element"}, nil},
		"null label": {object{"clusters": object{"a": object{"labels": object{"x": nil}}}}, large,
			[]string{"Null element", `labels["x"]`}, nil},
		"no selector": {inline, []any{rule("large")}, []string{"Selector selects everything", "match[0]"}, nil},
		"no selector, and an invalid cluster type": {inline, []any{rule("large"), rule("A", "match_all", true)},
			[]string{"Selector selects everything", "match[0]", "Invalid cluster type", "match[1].cluster_type"}, nil},
		"match_all and labels": {inline, []any{rule("large", "match_all", true, "match_labels", object{"a": "b"})},
			[]string{"Contradictory selector"}, nil},
		"no cluster type": {inline, []any{rule(nil, "match_all", true)},
			[]string{"Missing cluster type", "match[0].cluster_type"}, nil},
		"contradictory rules": {inline, []any{rule("large", "match_expressions", size("In")),
			rule("large", "match_expressions", size("NotIn"))},
			[]string{"Contradictory rules", "match[1]", "size in (large)", "size notin (large)"}, nil},
		"rule that is never reached": {inline, []any{rule("all", "match_all", true), large[0]},
			[]string{"Rule is never reached", "match[1]"}, nil},
		"invalid label": {inline, []any{rule("large", "match_labels", object{"-": "b"})},
			[]string{"Invalid label key", "match[0]"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			attributes, said := readClusters(t, config, object{"source": test.source, "match": test.match, "last": test.last})
			if attributes != nil || !strings.Contains(said, "ERROR") {
				t.Errorf("the data source can be read: %v\n%s", attributes["summary"], said)
			}
			for _, want := range test.want {
				if !strings.Contains(said, want) {
					t.Errorf("no %q in\n%s", want, said)
				}
			}
			if strings.Contains(said, "canary") {
				t.Errorf("a credential is shown:\n%s", said)
			}
		})
	}
}
