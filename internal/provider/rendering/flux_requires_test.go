package rendering_test

import (
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
)

// TestFluxRequires lets real Flux sync a shop that requires a cache, with the template of the module templates. The
// shop does not start while the cache is broken, and starts once the cache is ready.
func TestFluxRequires(t *testing.T) {
	cluster := apiserver.StartFlux(t)
	repos := t.TempDir()
	_, handler := gitserver.Handler(t, repos, gitserver.WithFilter())
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	gitops, app := filepath.Join(repos, "gitops"), filepath.Join(repos, "app")
	for _, repo := range []string{gitops, app} {
		gitserver.Git(t, repos, "init", "-q", "--bare", repo)
		gitserver.Git(t, repo, "config", "http.receivepack", "true")
	}
	push := func(cache string) {
		gitserver.Seed(t, app, "main", map[string]string{
			"redis/all.yaml": cache, "shop/all.yaml": strings.ReplaceAll(fluxConfigMap("1"), "web", "shop"),
		})
	}
	push(fluxNeverReady)

	r := acc.NewRootFrom(t, "testdata/TestFluxRequires")
	template := acc.ReadFile(t, filepath.Join(acc.Examples, "modules", "templates", "flux.yaml"))
	r.Write("flux.yaml", strings.NewReplacer("interval: 1m", "interval: 2s", "interval: 10m", "interval: 5s",
		"retryInterval: 1m", "retryInterval: 3s", "timeout: 5m", "timeout: 4s").Replace(template))
	r.Set("gitops_url", server.URL+"/gitops")
	r.Set("app_url", server.URL+"/app")
	r.Apply()
	cluster.Write(t, fmt.Sprintf(`apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: fleet, namespace: flux-system}
spec: {interval: 5s, url: %q, ref: {branch: prod}}
`, server.URL+"/gitops"), `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: fleet, namespace: flux-system}
spec: {interval: 5s, prune: true, path: ./large, sourceRef: {kind: GitRepository, name: fleet}}
`)

	get := func(apiVersion, kind, namespace, name string) *unstructured.Unstructured {
		of := &unstructured.Unstructured{}
		of.SetAPIVersion(apiVersion)
		of.SetKind(kind)
		of.SetNamespace(namespace)
		found, err := cluster.Objects(of).Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return nil
		}
		return found
	}
	ready := func(name string) (status, reason string, since time.Time) {
		k := get("kustomize.toolkit.fluxcd.io/v1", "Kustomization", "flux-system", name)
		if k == nil {
			return "", "", since
		}
		all, _, _ := unstructured.NestedSlice(k.Object, "status", "conditions")
		for _, c := range all {
			if condition, _ := c.(map[string]any); condition["type"] == "Ready" {
				status, _ = condition["status"].(string)
				reason, _ = condition["reason"].(string)
				at, _ := condition["lastTransitionTime"].(string)
				since, _ = time.Parse(time.RFC3339, at)
			}
		}
		return status, reason, since
	}
	shop := func() *unstructured.Unstructured { return get("v1", "ConfigMap", "prod-large-shop-main", "shop") }
	until := func(what string, is func() bool) {
		t.Helper()
		for end := time.Now().Add(fluxPatience); !is(); time.Sleep(200 * time.Millisecond) {
			if time.Now().After(end) {
				status, reason, _ := ready("redis-main")
				waits, why, _ := ready("shop-main")
				t.Fatalf("waited in vain for %s: the cache is %s (%s), the shop %s (%s)", what, status, reason, waits, why)
			}
		}
	}

	until("the broken cache", func() bool {
		status, reason, _ := ready("redis-main")
		return status == "False" && reason == "HealthCheckFailed"
	})
	until("the shop to wait", func() bool {
		_, reason, _ := ready("shop-main")
		return reason == "DependencyNotReady"
	})
	for range 20 { // more than two attempts of Flux
		if shop() != nil {
			t.Fatal("the shop runs beside a broken cache")
		}
		time.Sleep(500 * time.Millisecond)
	}

	push(strings.ReplaceAll(fluxConfigMap("1"), "web", "redis"))
	until("the shop", func() bool {
		status, _, _ := ready("shop-main")
		return status == "True" && shop() != nil
	})
	status, _, since := ready("redis-main")
	if made := shop().GetCreationTimestamp(); status != "True" || made.Time.Before(since) {
		t.Errorf("the shop was created at %s, and the cache was ready (%s) since %s", made, status, since)
	}
}
