package kubernetes_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/kubernetes"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/clusters/apiserver"
)

const (
	sha   = "0123456789abcdef0123456789abcdef01234567"
	since = "2026-01-31T12:00:00Z"
)

// rendering is the rendering to report on. Its folder large contains a Kustomization and an Application.
var rendering = deployment.Rendering{
	Repo: "https://git.acme.io/acme/gitops", Branch: "stage", Path: "fleet", Folders: []string{"large", "plain"},
	Files: func(folder string) (map[string][]byte, error) {
		if folder != "large" {
			return nil, nil
		}
		return map[string][]byte{
			"fleet/large/shop/reconciler.yaml": []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n---\n" +
				"apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: shop, namespace: apps}\n"),
			"fleet/large/bill/reconciler.yaml": []byte(
				"apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: bill, namespace: argocd}\n",
			),
			"fleet/large/bill/not-there.yaml": []byte(
				"apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: later, namespace: apps}\n",
			),
			"fleet/large/shop/no-kubernetes.yml": []byte("a: [1\n"),
		}, nil
	},
}

// gitRepository returns a GitRepository. spec contains its fields as YAML.
func gitRepository(name, spec, status string) string {
	return fmt.Sprintf(
		"apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: %s, namespace: flux-system}\n"+
			"spec: {interval: 1m, %s}\nstatus: {%s}\n",
		name,
		spec,
		status,
	)
}

// kustomization returns a Kustomization that follows a source.
func kustomization(name, source, spec, status string) string {
	return fmt.Sprintf(
		"apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: %s, namespace: flux-system}\n"+
			"spec: {interval: 1m, prune: true, sourceRef: {%s}, %s}\nstatus: {%s}\n",
		name,
		source,
		spec,
		status,
	)
}

// recordedStatus returns the status of the GitRepository or Kustomization of the target in the scenario healthy. It is
// as the controller wrote it, except for the revision.
func recordedStatus(t *testing.T, kind, revision string) string {
	t.Helper()
	events := readTimeline(t, "healthy").Events
	for _, e := range slices.Backward(events) {
		o := &unstructured.Unstructured{Object: e.Object}
		if o.GetKind() != kind || o.GetName() != "web" || conditionOf(o, "Ready")["status"] != "True" {
			continue
		}
		text, err := json.Marshal(o.Object["status"])
		if err != nil {
			t.Fatal(err)
		}
		text = regexp.MustCompile(`main@sha1:[0-9a-f]{40}`).ReplaceAll(text, []byte(revision))
		return strings.TrimSuffix(strings.TrimPrefix(string(text), "{"), "}")
	}
	t.Fatalf("no %s is Ready in the timeline", kind)
	return ""
}

// application returns an Argo CD Application. SOURCE and DESTINATION in its status are replaced by its source and
// destination.
func application(name, source, destination, status string) string {
	status = strings.NewReplacer("SOURCE", source, "DESTINATION", destination).Replace(status)
	return fmt.Sprintf("apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: %s, namespace: argocd}\n"+
		"spec: {project: default, source: {%s}, destination: {%s}}\nstatus: {%s}\n", name, source, destination, status)
}

// absent is the text for an object that the folder large contains, but the cluster does not.
const absent = "aks-1 large progressing the folder contains it, but the cluster does not yet"

const (
	argoSource = "repoURL: 'git@git.acme.io:acme/gitops.git', path: fleet/plain, targetRevision: stage"
	inCluster  = "server: 'https://kubernetes.default.svc', namespace: x"
)

// comparedStatus returns the status of an Application that Argo CD compared with its source after its last operation.
func comparedStatus(sync, health, phase string) string {
	return fmt.Sprintf(
		"reconciledAt: '2026-01-31T13:00:00Z', health: {status: %s, lastTransitionTime: %q, message: the health}, sync: "+
			"{status: %s, revision: %s, comparedTo: {source: {SOURCE}, destination: {DESTINATION}}}, operationState: "+
			"{phase: %s, startedAt: %q, finishedAt: %q, message: the operation, operation: {}}",
		health,
		since,
		sync,
		sha,
		phase,
		since,
		since,
	)
}

// TestFollowedFolders: Reports returns the Kustomizations that follow a folder of the rendering. It also returns
// Kustomizations that follow such a folder on another branch or in a missing source, with the reason.
func TestFollowedFolders(t *testing.T) {
	t.Parallel()
	s := apiserver.Start(
		t,
		apiserver.CRDs(t, apiserver.Kustomizations, apiserver.GitRepositories, apiserver.OCIRepositories)...)
	good := "stage@sha1:" + sha
	fetched, applied := recordedStatus(t, "GitRepository", good), recordedStatus(t, "Kustomization", good)
	packed := "latest@sha256:" + strings.Repeat("b", 64)
	git := func(name, spec string) string { return gitRepository(name, spec, fetched) }
	of := func(name, source, path string) string {
		return kustomization(name, "kind: GitRepository, name: "+source, "path: "+path, applied)
	}
	s.Apply(
		t,
		git("fleet", "url: 'https://Git.acme.io/acme/gitops.git', ref: {branch: stage}"),
		git("ssh", "url: 'ssh://git@git.acme.io/acme/gitops', ref: {name: refs/heads/stage}"),
		git("prod", "url: 'https://git.acme.io/acme/gitops', ref: {branch: prod}"),
		git("tagged", "url: 'https://git.acme.io/acme/gitops', ref: {branch: stage, tag: v1}"),
		git("range", "url: 'https://git.acme.io/acme/gitops', ref: {semver: '>=1'}"),
		git("pinned", "url: 'https://git.acme.io/acme/gitops', ref: {branch: stage, commit: abc}"),
		git("named", "url: 'https://git.acme.io/acme/gitops', ref: {name: refs/tags/v1}"),
		git("unnamed", "url: 'https://git.acme.io/acme/gitops'"),
		git("other", "url: 'https://git.acme.io/acme/other', ref: {branch: stage}"),
		"apiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\nmetadata: {name: artifact, namespace: flux-system}\n"+
			"spec: {interval: 1m, url: 'oci://acme.io/gitops'}\nstatus: {"+recordedStatus(t, "GitRepository", packed)+"}\n",
		of("current", "fleet", "./fleet/plain/"),
		of("over-ssh", "ssh", "fleet/plain"),
		kustomization("of-an-artifact", "kind: OCIRepository, name: artifact", "path: ./fleet/plain",
			recordedStatus(t, "Kustomization", packed)+", lastAppliedOriginRevision: '"+good+"'"),
		of("gone", "fleet", "./fleet/gone"),
		of("large", "fleet", "./fleet/large"),
		of("elsewhere", "fleet", "./other/plain"),
		of("whole", "fleet", "./"),
		of("of-prod", "prod", "./fleet/plain"),
		of("of-tag", "tagged", "./fleet/plain"),
		of("of-range", "range", "./fleet/plain"),
		of("of-commit", "pinned", "./fleet/plain"),
		of("of-name", "named", "./fleet/plain"),
		of("of-master", "unnamed", "./fleet/plain"),
		of("of-other", "other", "./fleet/plain"),
		of("of-nothing", "not-there", "./fleet/plain"),
		strings.Replace(of("shop", "shop", "./shop"), "namespace: flux-system", "namespace: apps", 1),
	)
	reports, err := kubernetes.Source{"aks-1": {Kubeconfig: s.Kubeconfig(apiserver.Reader), Context: "fleet"}}.Reports(
		t.Context(),
		rendering,
	)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{
		"Kustomization flux-system/current":        "aks-1 plain current",
		"Kustomization flux-system/over-ssh":       "aks-1 plain current",
		"Kustomization flux-system/of-an-artifact": "aks-1 plain current",
		"Kustomization flux-system/gone":           "aks-1 gone current",
		"Kustomization flux-system/large":          "aks-1 large current",
		"Kustomization apps/shop":                  "aks-1 large failed GitRepository apps/shop does not exist",
		"Kustomization apps/later":                 absent,
		"Application argocd/bill":                  absent,
		"Kustomization flux-system/of-prod": `aks-1 plain elsewhere GitRepository flux-system/prod follows the branch ` +
			`"prod" instead of the branch "stage"`,
		"Kustomization flux-system/of-tag": `aks-1 plain elsewhere GitRepository flux-system/tagged follows the tag "v1" ` +
			`instead of the branch "stage"`,
		"Kustomization flux-system/of-range": `aks-1 plain elsewhere GitRepository flux-system/range follows the semver ` +
			`range ">=1" instead of the branch "stage"`,
		"Kustomization flux-system/of-commit": `aks-1 plain elsewhere GitRepository flux-system/pinned follows the commit ` +
			`"abc" instead of the branch "stage"`,
		"Kustomization flux-system/of-name": `aks-1 plain elsewhere GitRepository flux-system/named follows ` +
			`"refs/tags/v1" instead of the branch "stage"`,
		"Kustomization flux-system/of-master": `aks-1 plain elsewhere GitRepository flux-system/unnamed follows the branch ` +
			`"master", the default, instead of the branch "stage"`,
		"Kustomization flux-system/of-nothing": "aks-1 plain elsewhere GitRepository flux-system/not-there does not exist",
	}, byObject(t, reports)); diff != "" {
		t.Errorf("reports (-want +got):\n%s", diff)
	}

	// A cluster that denies the request is offline. Its message has the reason.
	nobody, err := kubernetes.Source{
		"aks-1": {Kubeconfig: s.Kubeconfig(apiserver.Nobody)},
		"aks-2": {Kubeconfig: s.Kubeconfig("canary-wrong")},
	}.Reports(
		t.Context(),
		rendering,
	)
	if err != nil || len(nobody) != 2 || nobody[0].Health != deployment.Offline ||
		!strings.Contains(nobody[0].Message, "it denies the request") ||
		!strings.Contains(nobody[1].Message, "it rejects the credential") {
		t.Errorf("users without permission: %+v, %v", nobody, err)
	}
}

// byObject returns the cluster, folder, health and message of each report, by its object. It also checks the revisions
// and times, which are the same in all reports.
func byObject(t *testing.T, reports []deployment.Report) map[string]string {
	t.Helper()
	got := map[string]string{}
	for _, r := range reports {
		got[r.Object] = strings.TrimSpace(fmt.Sprintf("%s %s %s %s", r.Cluster, r.Folder, r.Health, r.Message))
		if revision := deployment.ParseRevision(r.Revision); r.Nested != (r.Revision == "" && r.Folder == "large") ||
			!r.Nested && revision.Hash != sha && r.Health != deployment.Elsewhere {
			t.Errorf("%s: revision %q, nested %v", r.Object, r.Revision, r.Nested)
		}
		if age := time.Since(r.Now); age < -2*time.Second || age > time.Minute || r.Recorded {
			t.Errorf("%s: the clock of the cluster is %s", r.Object, r.Now)
		}
	}
	return got
}

// TestApplications reads Applications in each state from a real API server.
func TestApplications(t *testing.T) {
	t.Parallel()
	s := apiserver.Start(t, apiserver.CRDs(t, apiserver.Applications)...)
	s.Apply(
		t,
		application(
			"bill",
			"repoURL: https://git.acme.io/apps/bill, path: ., targetRevision: HEAD",
			inCluster,
			comparedStatus("Synced", "Progressing", "Succeeded"),
		),
		application("large", strings.Replace(argoSource, "plain", "large", 1), inCluster,
			comparedStatus("Synced", "Healthy", "Succeeded")),
		application("synced", argoSource, inCluster, comparedStatus("Synced", "Healthy", "Succeeded")),
		application("degraded", argoSource, inCluster, comparedStatus("Synced", "Degraded", "Succeeded")),
		application("starting", argoSource, inCluster, comparedStatus("Synced", "Progressing", "Succeeded")),
		application("paused", argoSource, inCluster, comparedStatus("Synced", "Suspended", "Succeeded")),
		application("out-of-sync", argoSource, inCluster, comparedStatus("OutOfSync", "Healthy", "Succeeded")),
		application("operating", argoSource, inCluster,
			strings.Replace(comparedStatus("Synced", "Healthy", "Running"), "finishedAt: "+fmt.Sprintf("%q, ", since), "", 1)),
		application("waiting", argoSource, inCluster, comparedStatus("Synced", "Healthy", "Running")),
		application("retrying", argoSource, inCluster,
			strings.Replace(comparedStatus("Synced", "Healthy", "Running"), "operation: {}", "retryCount: 2, operation: {}", 1)),
		application("asked", argoSource, inCluster, comparedStatus("Synced", "Healthy",
			"Succeeded"))+"operation: {sync: {}}\n",
		application("moved", argoSource, inCluster,
			strings.Replace(comparedStatus("Synced", "Healthy", "Succeeded"), "{DESTINATION}", "{name: before}", 1)),
		application("with-defaults", argoSource+", helm: {parameters: []}", inCluster,
			strings.Replace(comparedStatus("Synced", "Healthy", "Succeeded"), "{SOURCE}", "{"+argoSource+"}", 1)),
		application("broken", argoSource, inCluster, comparedStatus("Synced", "Healthy", "Failed")),
		application(
			"uncompared",
			argoSource,
			inCluster,
			strings.Replace(comparedStatus("Synced", "Healthy", "Succeeded"), "13:00:00", "11:00:00", 1),
		),
		application(
			"changed",
			argoSource,
			inCluster,
			strings.Replace(comparedStatus("Synced", "Healthy", "Succeeded"), "SOURCE", "repoURL: other", 1),
		),
		application(
			"invalid",
			argoSource,
			inCluster,
			comparedStatus("Synced", "Healthy", "Succeeded")+", conditions: [{type: ComparisonError, message: no such path}]",
		),
		application("remote", argoSource, "name: edge-1, namespace: x", comparedStatus("Synced", "Healthy", "Succeeded")),
		application(
			"remote-by-server",
			argoSource,
			"server: 'https://10.0.0.1:6443', namespace: x",
			comparedStatus("Synced", "Healthy", "Succeeded"),
		),
		application(
			"other-branch",
			strings.Replace(argoSource, "stage", "prod", 1),
			inCluster,
			comparedStatus("Synced", "Healthy", "Succeeded"),
		),
		application(
			"other-repo",
			strings.Replace(argoSource, "gitops", "other", 1),
			inCluster,
			comparedStatus("Synced", "Healthy", "Succeeded"),
		),
		strings.Replace(
			application("many", "X", inCluster, strings.Replace(
				strings.Replace(comparedStatus("Synced", "Healthy", "Succeeded"), "revision: "+sha, "revisions: [x, "+sha+"]", 1),
				"source: {SOURCE}",
				"sources: [{repoURL: 'other', path: z}, {"+argoSource+"}]",
				1,
			)),
			"source: {X}",
			"sources: [{repoURL: 'other', path: z}, {"+argoSource+"}]",
			1,
		),
	)
	reports, err := kubernetes.Source{"aks-1": {Kubeconfig: s.Kubeconfig(apiserver.Reader), Context: "fleet"}}.Reports(
		t.Context(),
		rendering,
	)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{
		"Application argocd/bill":             "aks-1 large progressing the health",
		"Application argocd/large":            "aks-1 large current",
		"Kustomization apps/shop":             absent,
		"Kustomization apps/later":            absent,
		"Application argocd/synced":           "aks-1 plain current",
		"Application argocd/degraded":         "aks-1 plain failed the health",
		"Application argocd/starting":         "aks-1 plain progressing the health",
		"Application argocd/paused":           "aks-1 plain suspended the health",
		"Application argocd/out-of-sync":      "aks-1 plain progressing not synced: OutOfSync",
		"Application argocd/waiting":          "aks-1 plain failed the operation",
		"Application argocd/retrying":         "aks-1 plain failed the operation",
		"Application argocd/asked":            "aks-1 plain progressing an operation is about to begin",
		"Application argocd/moved":            "aks-1 plain progressing Argo CD has not observed its latest change",
		"Application argocd/with-defaults":    "aks-1 plain current",
		"Application argocd/operating":        "aks-1 plain progressing an operation is running",
		"Application argocd/broken":           "aks-1 plain failed the operation",
		"Application argocd/uncompared":       "aks-1 plain progressing not compared since the last operation ended",
		"Application argocd/changed":          "aks-1 plain progressing Argo CD has not observed its latest change",
		"Application argocd/invalid":          "aks-1 plain failed ComparisonError: no such path",
		"Application argocd/remote":           "aks-1/edge-1 plain current",
		"Application argocd/remote-by-server": "aks-1/https://10.0.0.1:6443 plain current",
		"Application argocd/many":             "aks-1 plain current",
	}, byObject(t, reports)); diff != "" {
		t.Errorf("reports (-want +got):\n%s", diff)
	}
}

// TestAppliedRevisions: if versions are asked for, the reports contain the revisions that the objects in a folder
// applied.
func TestAppliedRevisions(t *testing.T) {
	t.Parallel()
	s := apiserver.Start(t, apiserver.CRDs(t, apiserver.Kustomizations, apiserver.GitRepositories,
		apiserver.OCIRepositories, apiserver.HelmReleases, apiserver.HelmCharts,
		apiserver.Applications)...)
	of := rendering
	of.Versions = true
	objects := []string{
		kustomization("git", "kind: GitRepository, name: git", "path: ./", "lastAppliedRevision: 'main@sha1:"+sha+"'"),
		kustomization("new", "kind: GitRepository, name: git", "path: ./", "observedGeneration: 1"),
		kustomization("oci", "kind: OCIRepository, name: oci", "path: ./",
			"lastAppliedRevision: '1.2@sha256:"+strings.Repeat("b", 64)+"'"),
		helmRelease("chart", "superseded", "0.9", "deployed", "1.0", "superseded", "0.8"),
		helmRelease("failing", "failed", "1.1", "superseded", "1.0"),
		application("synced", argoSource, inCluster, comparedStatus("Synced", "Healthy", "Succeeded")),
		application("behind", argoSource, inCluster, comparedStatus("OutOfSync", "Healthy", "Succeeded")+
			", history: [{id: 0, deployedAt: "+since+", revision: first}, {id: 1, deployedAt: "+since+", revision: second}]"),
		application("never", argoSource, inCluster, "sync: {status: Unknown}"),
		strings.Replace(application("many", "X", inCluster, "sync: {status: Synced, revisions: [values, the-path]}"),
			"source: {X}", "sources: [{repoURL: a, ref: v}, {repoURL: b, path: c}]", 1),
	}
	of.Files = func(folder string) (map[string][]byte, error) {
		return map[string][]byte{"all.yaml": []byte(strings.Join(objects, "---\n"))}, nil
	}
	s.Apply(t, append(objects,
		gitRepository("fleet", "url: 'https://git.acme.io/acme/gitops', ref: {branch: stage}",
			recordedStatus(t, "GitRepository", "stage@sha1:"+sha)),
		kustomization("large", "kind: GitRepository, name: fleet", "path: ./fleet/large",
			recordedStatus(t, "Kustomization", "stage@sha1:"+sha)))...)
	reports, err := kubernetes.Source{"aks-1": {Kubeconfig: s.Kubeconfig(apiserver.Reader)}}.Reports(t.Context(), of)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, r := range reports {
		if r.Nested {
			got[r.Object] = r.Revision
		}
	}
	if diff := cmp.Diff(map[string]string{
		"Kustomization flux-system/git":   "main@sha1:" + sha,
		"Kustomization flux-system/new":   "",
		"Kustomization flux-system/oci":   "1.2@sha256:" + strings.Repeat("b", 64),
		"HelmRelease flux-system/chart":   "1.0",
		"HelmRelease flux-system/failing": "",
		"Application argocd/synced":       sha,
		"Application argocd/behind":       "second",
		"Application argocd/never":        "",
		"Application argocd/many":         "the-path",
	}, got); diff != "" {
		t.Errorf("revisions (-want +got):\n%s", diff)
	}
}

// helmRelease returns a HelmRelease. releases are the status and chart version of each of its releases, the newest
// first.
func helmRelease(name string, releases ...string) string {
	var history []string
	for i := 0; i < len(releases); i += 2 {
		history = append(history, fmt.Sprintf("{status: %s, chartVersion: %q, chartName: web, configDigest: d, digest: d, "+
			"firstDeployed: %q, lastDeployed: %q, name: web, namespace: apps, version: %d}",
			releases[i], releases[i+1], since, since, len(releases)-i))
	}
	return fmt.Sprintf("apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\n"+
		"metadata: {name: %s, namespace: flux-system}\n"+
		"spec: {interval: 1m, chart: {spec: {chart: web, sourceRef: {kind: HelmRepository, name: charts}}}}\n"+
		"status: {history: [%s]}\n", name, strings.Join(history, ", "))
}

// forbid answers as an API server that denies a request.
func forbid(w http.ResponseWriter, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusForbidden)
	fmt.Fprintf(
		w,
		`{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Forbidden", "code": 403, "message": %q}`,
		message,
	)
}

// TestOffline: a cluster is offline if it has neither Flux nor Argo CD. It is also offline if its server or its proxy
// does not answer, refuses the request, redirects it, or answers without an end. The other clusters are still read.
func TestOffline(t *testing.T) {
	t.Parallel()
	served := func(f http.HandlerFunc) string {
		s := httptest.NewServer(f)
		t.Cleanup(s.Close)
		return s.URL
	}
	server := func(f http.HandlerFunc) string { return config(served(f)) }
	secure := func(f http.HandlerFunc) string { // uses TLS, since no credential is sent over plain HTTP
		s := httptest.NewTLSServer(f)
		t.Cleanup(s.Close)
		return strings.Replace(config(s.URL), "server:", "insecure-skip-tls-verify: true, server:", 1)
	}
	hang := make(chan struct{})
	elsewhere := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere++ }))
	t.Cleanup(other.Close)
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	empty := apiserver.Start(t)
	clusters := kubernetes.Source{
		"empty": {Kubeconfig: empty.Kubeconfig(apiserver.Reader)},
		"hangs": {Kubeconfig: server(func(_ http.ResponseWriter, r *http.Request) {
			select {
			case <-hang:
			case <-r.Context().Done():
			}
		})},
		"redirect": {
			Kubeconfig: server(
				func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.URL, http.StatusFound) },
			),
		},
		"huge": {Kubeconfig: server(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			part := []byte(`{"kind": "APIGroup", "x": "` + strings.Repeat("x", 1<<20))
			for range 100 {
				if _, err := w.Write(part); err != nil {
					return
				}
			}
		})},
		"repeats": {Kubeconfig: secure(func(w http.ResponseWriter, r *http.Request) {
			forbid(w, "you sent "+r.Header.Get("Authorization"))
		})},
		"repeats-password": {Kubeconfig: strings.Replace(secure(func(w http.ResponseWriter, r *http.Request) {
			_, password, _ := r.BasicAuth()
			forbid(w, "you sent "+password+", "+r.Header.Get("Authorization"))
		}), "token: canary-token", "username: me, password: canary-password", 1)},
		"not-there": {Kubeconfig: config("http://" + closed.Addr().String())},
		"html":      {Kubeconfig: server(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") })},
	}
	// Each proxy has a cluster behind it with the same name.
	proxies := map[string]string{
		"proxy-asks-for-password": served(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusProxyAuthRequired)
		}),
		"proxy-hangs": served(func(_ http.ResponseWriter, r *http.Request) {
			select {
			case <-hang:
			case <-r.Context().Done():
			}
		}),
		"proxy-not-there": "http://" + closed.Addr().String(),
	}
	for name, by := range proxies {
		by = strings.Replace(by, "//", "//me:canary-password@", 1)
		clusters[name] = kubernetes.Connection{Kubeconfig: strings.Replace(config("https://cluster.acme.io"),
			"{server: ", "{proxy-url: "+strconv.Quote(by)+", server: ", 1)}
	}
	t.Cleanup(func() { close(hang) }) // runs before the servers close, which wait for their handlers
	reports, err := clusters.Reports(withTimeout(t, 10*time.Second), rendering)
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]string{}
	for _, r := range reports {
		secret := strings.Contains(r.Message, "canary") ||
			strings.Contains(r.Message, "bWU6Y2FuYXJ5") // "me:canary", in base64
		if r.Health != deployment.Offline || r.Folder != "" || secret {
			t.Errorf("%+v", r)
		}
		said[r.Cluster] = r.Message
	}
	for name, want := range map[string]string{
		"empty": "no custom resources of Flux or Argo CD", "hangs": "did not answer", "redirect": "",
		"huge":      "a response is larger than 16 MiB",
		"not-there": "connection refused", "html": "",
		"repeats": "you sent Bearer (secret)", "repeats-password": "you sent (secret), Basic (secret)",
		"proxy-asks-for-password": "over the proxy " + proxies["proxy-asks-for-password"] + ": Proxy Authentication Required",
		"proxy-hangs":             "it did not answer in time over the proxy " + proxies["proxy-hangs"],
		"proxy-not-there":         "over the proxy " + proxies["proxy-not-there"] + ": ",
	} {
		if got, there := said[name]; !there || !strings.Contains(got, want) {
			t.Errorf("the message of %s is %q", name, got)
		}
	}
	if elsewhere != 0 {
		t.Error("a redirect was followed")
	}
}

// TestLargeLists: the objects of a cluster that lists without an end are bounded by their size, long before the bounds
// of their number and of the time. What is not read of an object does not count.
func TestLargeLists(t *testing.T) {
	t.Parallel()
	var sent atomic.Int64
	serve := func(metadata, spec string, pages int64) *httptest.Server {
		var page atomic.Int64
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			switch group, list, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/apis/"), "/"); {
			case group != "kustomize.toolkit.fluxcd.io":
				w.WriteHeader(http.StatusNotFound)
			case list == "":
				fmt.Fprint(w, `{"kind":"APIGroup","apiVersion":"v1","preferredVersion":{"version":"v1"}}`)
			default:
				next := "more"
				if page.Add(1) >= pages {
					next = ""
				}
				text := fmt.Sprintf(`{"apiVersion":"kustomize.toolkit.fluxcd.io/v1","kind":"KustomizationList",`+
					`"metadata":{"continue":%q},"items":[{"apiVersion":"kustomize.toolkit.fluxcd.io/v1","kind":"Kustomization",`+
					`"metadata":{"name":"a","namespace":"b"%s},"spec":{%s}}]}`, next, metadata, spec)
				sent.Add(int64(len(text)))
				_, _ = io.WriteString(w, text)
			}
		}))
		t.Cleanup(server.Close)
		return server
	}
	message := func(server *httptest.Server) string {
		reports, err := kubernetes.Source{"a": {Kubeconfig: config(server.URL)}}.Reports(
			withTimeout(t, 2*time.Minute), rendering)
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, r := range reports {
			all = append(all, r.Message)
		}
		return strings.Join(all, "; ")
	}
	large := strings.Repeat("x", 12<<20)
	if said := message(serve("", `"x":"`+large+`"`, 1<<30)); !strings.Contains(said, "more than 128 MiB") ||
		sent.Load() > 200<<20 {
		t.Errorf("after %d MiB: %s", sent.Load()>>20, said)
	}
	managed := `,"managedFields":[{"manager":"` + large + `"}]`
	if said := message(serve(managed, "", 14)); strings.Contains(said, "MiB") {
		t.Errorf("managed fields: %s", said)
	}
}
