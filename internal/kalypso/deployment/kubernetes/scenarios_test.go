package kubernetes_test

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/kubernetes"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/clusters/apiserver"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

var record = flag.Bool("record", false, "TestFlux and TestArgoCD write what they play to testdata/timelines")

// The intervals of the scenarios. The retry interval is long, so that a late reconciliation of a busy controller does
// not look like a retry.
const (
	syncInterval  = 5 * time.Second
	retryInterval = 14 * time.Second
	healthTimeout = 4 * time.Second
	// attempt is the longest time between two attempts of a Kustomization on a slow machine.
	attempt = 30 * time.Second
)

// repo is a Git repo over HTTP that a test can make slow or unreachable.
type repo struct {
	url, path string
	down      atomic.Bool
	delay     atomic.Int64
}

func newRepo(t *testing.T, name string) *repo {
	t.Helper()
	root := t.TempDir()
	r := &repo{path: filepath.Join(root, name)}
	gitserver.Git(t, root, "init", "-q", "--bare", "-b", "main", r.path)
	_, handler := gitserver.Handler(t, root, gitserver.WithFilter())
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if r.down.Load() {
			http.Error(w, "down", http.StatusServiceUnavailable)
			return
		}
		time.Sleep(time.Duration(r.delay.Load()))
		handler.ServeHTTP(w, req)
	}))
	t.Cleanup(s.Close)
	r.url = s.URL + "/" + name
	return r
}

// player plays a scenario in its own namespace. A GitRepository and a Kustomization named fleet follow a folder of the
// GitOps repo. The folder contains the target web, with a GitRepository and a Kustomization that follow the workload's
// repo.
type player struct {
	*testing.T
	cluster      *apiserver.Kubernetes
	namespace    string
	gitops, shop *repo
	names        *strings.Replacer // replaces the addresses of servers by names
	line         timeline
	reads        atomic.Int32 // number of times the cluster was read
	mu           sync.Mutex   // guards line and the fields below
	latest       map[string]*unstructured.Unstructured
	changed      chan struct{}
}

func newPlayer(
	t *testing.T, cluster *apiserver.Kubernetes, namespace string, deadline time.Duration, kinds []string,
) *player {
	t.Helper()
	p := &player{
		T: t, cluster: cluster, namespace: namespace, gitops: newRepo(t, "gitops"), shop: newRepo(t, "shop"),
		latest: map[string]*unstructured.Unstructured{}, changed: make(chan struct{}, 1),
	}
	p.line.Deadline = deadline
	cluster.Write(t, "{apiVersion: v1, kind: Namespace, metadata: {name: "+namespace+"}}")
	p.names = strings.NewReplacer(p.gitops.url, recordedRepo(namespace), p.shop.url, "https://git.example.com/shop")
	for _, kind := range kinds {
		objects := cluster.Objects(p.object(kind, ""))
		none, err := objects.List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		watcher, err := objects.Watch(t.Context(), metav1.ListOptions{ResourceVersion: none.GetResourceVersion()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(watcher.Stop)
		go func() {
			for e := range watcher.ResultChan() {
				o, ok := e.Object.(*unstructured.Unstructured)
				if !ok {
					if t.Context().Err() == nil {
						t.Errorf("the watch ended: %v", e.Object)
					}
					return
				}
				version, err := strconv.ParseUint(o.GetResourceVersion(), 10, 64)
				if err != nil {
					t.Error(err)
				}
				p.mu.Lock()
				p.line.Events = append(p.line.Events, objectEvent{
					At: time.Now().UTC(), Type: string(e.Type), Object: withoutServerFields(o, p.names), version: version,
				})
				p.latest[o.GetKind()+" "+o.GetName()] = o
				p.mu.Unlock()
				select {
				case p.changed <- struct{}{}:
				default:
				}
			}
		}()
	}
	return p
}

// object returns an empty object in the player's namespace.
func (p *player) object(kind, name string) *unstructured.Unstructured {
	apiVersion := map[string]string{
		"Kustomization": "kustomize.toolkit.fluxcd.io/v1", "GitRepository": "source.toolkit.fluxcd.io/v1",
		"HelmRelease": "helm.toolkit.fluxcd.io/v2", "HelmChart": "source.toolkit.fluxcd.io/v1",
		"Application": "argoproj.io/v1alpha1",
	}[kind]
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": kind}}
	o.SetNamespace(p.namespace)
	o.SetName(name)
	return o
}

// target describes the target web: the branch of its source, more fields of its Kustomization, and a file to leave out.
type target struct {
	branch, spec string
	without      string
}

// target returns the files of the target web, as a template renders them.
func (p *player) target(with target) map[string]string {
	if with.branch == "" {
		with.branch = "main"
	}
	files := map[string]string{
		"canary/web/source.yaml": fmt.Sprintf(`apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: web, namespace: %s}
spec: {interval: %s, url: %q, ref: {branch: %s}}
`, p.namespace, syncInterval, p.shop.url, with.branch),
		"canary/web/sync.yaml": fmt.Sprintf(`apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: web, namespace: %s}
spec:
  {interval: %s, retryInterval: %s, timeout: %s, prune: true, path: ./web, targetNamespace: %[1]s, %[5]s
   sourceRef: {kind: GitRepository, name: web}}
`, p.namespace, syncInterval, retryInterval, healthTimeout, with.spec),
	}
	delete(files, with.without)
	return files
}

// helmTarget returns the files of the target web if it is a HelmRelease. Its chart is in the workload's repo.
func (p *player) helmTarget() map[string]string {
	files := p.target(target{without: "canary/web/sync.yaml"})
	files["canary/web/release.yaml"] = fmt.Sprintf(`apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: web, namespace: %s}
spec:
  interval: %s
  timeout: 5s
  chart:
    spec: {chart: ./web, interval: %[2]s, reconcileStrategy: Revision, sourceRef: {kind: GitRepository, name: web}}
  install: {strategy: {name: RetryOnFailure, retryInterval: %[3]s}}
  upgrade: {strategy: {name: RetryOnFailure, retryInterval: %[3]s}}
`, p.namespace, syncInterval, retryInterval)
	return files
}

// pushChart commits the chart of [player.helmTarget] with one template.
func (p *player) pushChart(template string) string {
	p.Helper()
	return gitserver.Seed(p, p.shop.path, "main", map[string]string{
		"web/Chart.yaml":         "apiVersion: v2\nname: web\nversion: 1.0.0\n",
		"web/templates/all.yaml": template,
	})
}

// deliver replaces the files of the folder in the GitOps repo by a commit, and returns the commit.
func (p *player) deliver(files map[string]string) string {
	p.Helper()
	edit := map[string]gitserver.File{}
	if n := len(p.line.Commits); n > 0 {
		for name := range p.line.Commits[n-1].Files {
			edit[name] = gitserver.File{}
		}
	}
	for name, content := range files {
		edit[name] = gitserver.File{Mode: "100644", Content: content}
	}
	hash := gitserver.SeedFiles(p, p.gitops.path, "prod", "change", edit)
	tree := gitserver.Git(p, p.gitops.path, "rev-parse", hash+":canary")
	p.mu.Lock()
	defer p.mu.Unlock()
	p.line.Commits = append(p.line.Commits,
		folderCommit{time.Now().UTC().Truncate(time.Second), hash, strings.TrimSpace(tree), files})
	return hash
}

// push commits web/all.yaml and the other named files with the content to a branch of the workload's repo.
func (p *player) push(branch, content string, more ...string) string {
	p.Helper()
	files := map[string]string{"web/all.yaml": content}
	for _, name := range more {
		files[name] = content
	}
	return gitserver.Seed(p, p.shop.path, branch, files)
}

// tag tags a commit of the GitOps repo, and creates the branch other at this commit.
func (p *player) tag(name, commit string) {
	p.Helper()
	gitserver.Git(p, p.gitops.path, "tag", name, commit)
	gitserver.Git(p, p.gitops.path, "branch", "other", commit)
}

// follow creates the objects with which an admin of Flux makes the cluster follow the folder.
func (p *player) follow(ref string) {
	p.Helper()
	p.cluster.Write(p, fmt.Sprintf(`apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: fleet, namespace: %s}
spec: {interval: %s, url: %q, ref: {%s}}
`, p.namespace, syncInterval, p.gitops.url, ref), fmt.Sprintf(`apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: fleet, namespace: %s}
spec: {interval: %s, retryInterval: %s, timeout: %s, prune: true, path: ./canary,
  sourceRef: {kind: GitRepository, name: fleet}}
`, p.namespace, syncInterval, retryInterval, healthTimeout))
}

// await waits until an object meets a condition. what describes the condition if the test fails.
func (p *player) await(kind, name, what string, is func(o *unstructured.Unstructured) bool) {
	p.Helper()
	end := time.After(time.Minute)
	for {
		p.mu.Lock()
		o := p.latest[kind+" "+name]
		good := o != nil && is(o)
		p.mu.Unlock()
		if good {
			return
		}
		select {
		case <-p.changed:
		case <-end:
			p.Fatalf("%s %s is not %s: %v", kind, name, what, o)
		}
	}
}

// awaitReady waits until the condition Ready of an object has a value for its current generation, and a message that
// contains a text.
func (p *player) awaitReady(kind, name, value, text string) {
	p.Helper()
	p.await(kind, name, value+" "+text, func(o *unstructured.Unstructured) bool {
		ready := conditionOf(o, "Ready")
		message, _ := ready["message"].(string)
		return ready["status"] == value && strings.Contains(message, text) && ready["observedGeneration"] == o.GetGeneration()
	})
}

func conditionOf(o *unstructured.Unstructured, kind string) map[string]any {
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, c := range conditions {
		if c, ok := c.(map[string]any); ok && c["type"] == kind {
			return c
		}
	}
	return nil
}

// settle waits as long as n reconciliations of all objects take.
func (p *player) settle(n int) { time.Sleep(time.Duration(n) * (syncInterval + time.Second)) }

// awaitReads waits until the cluster was read n times, or the test has failed.
func (p *player) awaitReads(n int32) {
	for !p.Failed() && p.reads.Load() < n {
		p.settle(1)
	}
}

// start delivers a healthy target, and waits until it runs.
func (p *player) start(with target) {
	p.Helper()
	p.awaitRunning(p.push("main", configMap("1")), p.deliver(p.target(with)), func() { p.follow("branch: prod") })
}

// awaitRunning calls after, and waits until the cluster runs the folder's head and the target runs a commit of the
// workload.
func (p *player) awaitRunning(workload, head string, after func()) {
	p.Helper()
	if after != nil {
		after()
	}
	p.awaitReady("Kustomization", "fleet", "True", head)
	p.awaitReady("Kustomization", "web", "True", workload)
}

func configMap(value string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {value: " + fmt.Sprintf("%q", value) + "}\n"
}

// neverReady is a Deployment that never becomes healthy, since no controller for Deployments runs.
const neverReady = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: web}]}
`

// watching reads the cluster again and again while a scenario is played, as users of the provider do. stop ends this
// and returns the moments. The end of the test ends it, too.
func (p *player) watching() (stop func() []moment) {
	source := kubernetes.Source{"one": {Kubeconfig: p.cluster.Kubeconfig(apiserver.Reader)}}
	done, ended := make(chan struct{}), make(chan struct{})
	var moments []moment
	go func() {
		defer close(ended)
		for {
			select {
			case <-done:
				return
			case <-time.After(200 * time.Millisecond):
			}
			p.mu.Lock()
			commits := p.line.Commits[:len(p.line.Commits):len(p.line.Commits)]
			p.mu.Unlock()
			if len(commits) == 0 {
				continue
			}
			reports, err := source.Reports(context.WithoutCancel(p.Context()), renderingOf(p.gitops.url, commits))
			if err != nil {
				p.Error(err)
				return
			}
			p.reads.Add(1)
			moments = append(moments, momentOf(time.Now().UTC(), evaluate(p.T, commits, reports, p.line.Deadline)))
		}
	}()
	end := sync.OnceFunc(func() { close(done); <-ended })
	p.Cleanup(end)
	return func() []moment { end(); return moments }
}

// recorded returns the events and commits so far. Names replace the addresses of servers, whose ports change.
func (p *player) recorded() timeline {
	p.mu.Lock()
	defer p.mu.Unlock()
	line := timeline{Deadline: p.line.Deadline, Events: inOrder(p.line.Events)}
	for _, c := range p.line.Commits {
		files := map[string]string{}
		for name, content := range c.Files {
			files[name] = p.names.Replace(content)
		}
		c.Files = files
		line.Commits = append(line.Commits, c)
	}
	return line
}

// inOrder returns the events in the order of their writes. Each kind has its own watch, and a busy machine may deliver
// a later write of one kind before an earlier write of another. An event is at the latest at the time of the next one.
func inOrder(events []objectEvent) []objectEvent {
	sorted := slices.SortedStableFunc(slices.Values(events), func(a, b objectEvent) int {
		return cmp.Compare(a.version, b.version)
	})
	for i := len(sorted) - 2; i >= 0; i-- {
		if next := sorted[i+1].At; sorted[i].At.After(next) {
			sorted[i].At = next
		}
	}
	return sorted
}
