package kubernetes_test

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/kubernetes"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/clusters/apiserver"
)

// timeline contains all that the controllers of Flux or Argo CD wrote in one scenario: each version of each object as a
// whole, and the commits of the branch that the cluster followed. [TestFlux] and [TestArgoCD] record the timelines in
// testdata/timelines.
type timeline struct {
	Deadline time.Duration // progress_deadline
	Commits  []folderCommit
	Events   []objectEvent
}

// folderCommit is a commit of the GitOps branch, which contains one folder.
type folderCommit struct {
	At    time.Time // time of the push
	Hash  string
	Tree  string            // hash of the folder
	Files map[string]string // files of the folder by their paths in the repo
}

// objectEvent is a change of an object on the cluster, as a watch reports it: ADDED, MODIFIED or DELETED.
type objectEvent struct {
	At      time.Time
	Type    string
	Object  map[string]any
	version uint64 // resourceVersion of the object, which grows with each write to the API server
}

const recordedFolder = "canary"

// recordedRepo returns the URL that a scenario's timeline contains for the GitOps repo.
func recordedRepo(scenario string) string { return "https://git.example.com/" + scenario + "/gitops" }

// renderingOf returns the rendering after the last of the commits.
func renderingOf(repo string, commits []folderCommit) deployment.Rendering {
	return deployment.Rendering{
		Repo: repo, Branch: "prod", Path: ".", Folders: []string{recordedFolder},
		Files: func(string) (map[string][]byte, error) {
			files := map[string][]byte{}
			for name, content := range commits[len(commits)-1].Files {
				files[name] = []byte(content)
			}
			return files, nil
		},
	}
}

// evaluate evaluates reports of the recorded cluster at the last of the commits.
func evaluate(
	t *testing.T, commits []folderCommit, reports []deployment.Report, deadline time.Duration,
) deployment.Outcome {
	var history []deployment.Commit
	trees := map[string]string{}
	for i, c := range commits {
		next := deployment.Commit{Hash: c.Hash, Time: c.At}
		if i > 0 {
			next.Parents = []string{commits[i-1].Hash}
		}
		history, trees[c.Hash] = append(history, next), c.Tree
	}
	t.Helper()
	head := commits[len(commits)-1]
	o, err := deployment.Evaluate(context.WithoutCancel(t.Context()), deployment.Input{
		Branch: deployment.GitOpsBranch{
			Name: "prod", Head: head.Hash, Complete: true,
			Folders: map[string]deployment.ExpectedFolder{recordedFolder: {Tree: head.Tree}},
			History: deployment.NewHistory(head.Hash, history, func(commit, _ string) string { return trees[commit] }),
		},
		Reports: reports,
		Rules: deployment.Rules{
			Deadline: deadline,
			Expected: map[string]deployment.Expectation{recordedFolder: {Clusters: []string{"one"}}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// moment is the result of reading the cluster once.
type moment struct {
	at      time.Time
	verdict deployment.Verdict
	since   time.Time
	says    string // texts of the problems
}

func momentOf(at time.Time, o deployment.Outcome) moment {
	var says []string
	for _, p := range o.Problems {
		says = append(says, fmt.Sprintf("%s: %s", p.State, p.Message))
	}
	return moment{at, o.Verdict, o.Folders[recordedFolder].Since, strings.Join(says, "\n")}
}

// phase is a run of moments with the same verdict.
type phase struct {
	verdict     deployment.Verdict
	first, last time.Time
	moments     []moment
}

func phasesOf(moments []moment) []phase {
	var all []phase
	for _, m := range moments {
		if len(all) == 0 || all[len(all)-1].verdict != m.verdict {
			all = append(all, phase{verdict: m.verdict, first: m.at})
		}
		p := &all[len(all)-1]
		p.last, p.moments = m.at, append(p.moments, m)
	}
	return all
}

// sinces returns the different values of since in a phase.
func (p phase) sinces() []time.Time {
	var all []time.Time
	for _, m := range p.moments {
		all = append(all, m.since)
	}
	slices.SortFunc(all, time.Time.Compare)
	return slices.Compact(all)
}

func (p phase) says() string {
	var all []string
	for _, m := range p.moments {
		all = append(all, m.says)
	}
	return strings.Join(slices.Compact(all), "\n")
}

func describePhases(phases []phase) string {
	var b strings.Builder
	for _, p := range phases {
		fmt.Fprintf(&b, "%s to %s %s, since %v\n", p.first.Format("15:04:05.0"), p.last.Format("15:04:05.0"), p.verdict,
			p.sinces())
		before := ""
		for _, m := range p.moments {
			if m.says != before {
				says := strings.ReplaceAll(m.says, "\n", "\n                ")
				fmt.Fprintf(&b, "    %s  %s\n", m.at.Format("15:04:05.0"), says)
			}
			before = m.says
		}
	}
	return b.String()
}

func timelineFile(name string) string { return filepath.Join("testdata", "timelines", name+".json.gz") }

func readTimeline(t *testing.T, name string) timeline {
	t.Helper()
	packed, err := os.ReadFile(timelineFile(name))
	if err != nil {
		t.Fatal(err)
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	var line timeline
	d := json.NewDecoder(unpacked)
	d.UseNumber()
	if err := d.Decode(&line); err != nil {
		t.Fatal(err)
	}
	for _, e := range line.Events {
		toIntegers(e.Object)
	}
	return line
}

// toIntegers replaces the JSON numbers in a value by integers, which unstructured objects contain.
func toIntegers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name := range v {
			v[name] = toIntegers(v[name])
		}
	case []any:
		for i := range v {
			v[i] = toIntegers(v[i])
		}
	case json.Number:
		n, _ := v.Int64()
		return n
	}
	return v
}

func writeTimeline(t *testing.T, name string, line timeline) {
	t.Helper()
	text, err := json.Marshal(line)
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	w, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	_, err = w.Write(text)
	if err = cmp.Or(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(timelineFile(name), packed.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// world is a cluster that a test can set to recorded states.
type world interface {
	// at sets the time of the cluster. Reports are evaluated by their server's clock.
	at(now time.Time)
	// change applies a change of an object, as a watch reported it.
	change(t *testing.T, e objectEvent)
	// url returns the URL of the API server.
	url() string
}

// clockProxy is a world with a real API server. It forwards requests to the server, and sets the time in the answers.
type clockProxy struct {
	*httptest.Server
	behind *apiserver.Server
	now    time.Time
}

func newClockProxy(t *testing.T, s *apiserver.Server) *clockProxy {
	t.Helper()
	to, err := url.Parse("https://" + s.Host)
	if err != nil {
		t.Fatal(err)
	}
	p := &clockProxy{behind: s}
	reader, err := clientcmd.RESTConfigFromKubeConfig([]byte(s.Kubeconfig(apiserver.Reader)))
	if err != nil {
		t.Fatal(err)
	}
	transport, err := rest.TransportFor(reader) // with the token, which a client sends only over TLS
	if err != nil {
		t.Fatal(err)
	}
	forward := &httputil.ReverseProxy{Transport: transport, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }}
	forward.ModifyResponse = func(r *http.Response) error {
		r.Header.Set("Date", p.now.UTC().Format(http.TimeFormat))
		return nil
	}
	p.Server = httptest.NewServer(forward)
	t.Cleanup(p.Close)
	return p
}

func (p *clockProxy) at(now time.Time) { p.now = now }

func (p *clockProxy) url() string { return p.URL }

func (p *clockProxy) change(t *testing.T, e objectEvent) {
	t.Helper()
	p.behind.Replay(t, e.Type, &unstructured.Unstructured{Object: e.Object})
}

// recordedCluster is a world without an API server. It answers requests with the objects of a cluster at a moment, and
// with the moment as its time.
type recordedCluster struct {
	address string
	now     time.Time
	objects map[string]map[string]any // by kind, namespace and name
}

// recordedResource is a custom resource of a recorded cluster.
type recordedResource struct{ group, version, plural, kind string }

var recordedResources = []recordedResource{
	{"kustomize.toolkit.fluxcd.io", "v1", "kustomizations", "Kustomization"},
	{"source.toolkit.fluxcd.io", "v1", "gitrepositories", "GitRepository"},
	{"source.toolkit.fluxcd.io", "v1", "ocirepositories", "OCIRepository"},
	{"source.toolkit.fluxcd.io", "v1", "helmcharts", "HelmChart"},
	{"helm.toolkit.fluxcd.io", "v2", "helmreleases", "HelmRelease"},
	{"argoproj.io", "v1alpha1", "applications", "Application"},
}

func newRecordedCluster(t *testing.T) *recordedCluster {
	t.Helper()
	c := &recordedCluster{objects: map[string]map[string]any{}}
	c.address = serveCluster(t, func(w http.ResponseWriter, path string) []byte {
		w.Header().Set("Date", c.now.UTC().Format(http.TimeFormat))
		for _, r := range recordedResources {
			switch path {
			case "/apis/" + r.group:
				return groupAnswer(t, r.group, r.version)
			case "/apis/" + r.group + "/" + r.version + "/" + r.plural:
				return listAnswer(t, r.kind, c.of(r.kind)...)
			}
		}
		return nil
	})
	return c
}

func (c *recordedCluster) at(now time.Time) { c.now = now }

func (c *recordedCluster) url() string { return c.address }

// of returns the objects of a kind, in order of namespace and name.
func (c *recordedCluster) of(kind string) (found []map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(c.objects)) {
		if o := c.objects[key]; o["kind"] == kind {
			found = append(found, o)
		}
	}
	return found
}

func (c *recordedCluster) change(t *testing.T, e objectEvent) {
	t.Helper()
	o := unstructured.Unstructured{Object: e.Object}
	if !slices.ContainsFunc(recordedResources, func(r recordedResource) bool {
		return r.group+"/"+r.version == o.GetAPIVersion() && r.kind == o.GetKind()
	}) {
		t.Fatalf("the recorded cluster does not serve %s of %s", o.GetKind(), o.GetAPIVersion())
	}
	key := o.GetKind() + " " + o.GetNamespace() + "/" + o.GetName()
	if e.Type == string(watch.Deleted) {
		delete(c.objects, key)
	} else {
		c.objects[key] = e.Object
	}
}

// replay sets a cluster to each state of the timeline in turn. It reads the cluster when a state begins, and when it
// ends.
func (line timeline) replay(t *testing.T, scenario string, cluster world) []moment {
	t.Helper()
	source := kubernetes.Source{"one": {Kubeconfig: config(cluster.url())}}
	var moments []moment
	pushed := 0
	read := func(at time.Time) {
		for pushed < len(line.Commits) && !line.Commits[pushed].At.After(at) {
			pushed++
		}
		if pushed == 0 {
			return
		}
		cluster.at(at)
		reports, err := source.Reports(t.Context(), renderingOf(recordedRepo(scenario), line.Commits[:pushed]))
		if err != nil {
			t.Fatal(err)
		}
		moments = append(moments, momentOf(at, evaluate(t, line.Commits[:pushed], reports, line.Deadline)))
	}
	for _, e := range line.Events {
		if len(moments) > 0 && e.At.Sub(moments[len(moments)-1].at) > 500*time.Millisecond {
			read(e.At.Add(-time.Millisecond))
		}
		cluster.change(t, e)
		read(e.At)
	}
	return moments
}

// withoutServerFields returns an object without the fields that an API server adds. Names replace the addresses of
// servers, whose ports change.
func withoutServerFields(o *unstructured.Unstructured, names *strings.Replacer) map[string]any {
	text, err := json.Marshal(o.Object)
	if err != nil {
		panic(err)
	}
	d := json.NewDecoder(strings.NewReader(names.Replace(string(text))))
	d.UseNumber()
	var made map[string]any
	if err := d.Decode(&made); err != nil && err != io.EOF {
		panic(err)
	}
	if metadata, ok := made["metadata"].(map[string]any); ok {
		for _, name := range []string{"uid", "managedFields", "resourceVersion", "creationTimestamp"} {
			delete(metadata, name)
		}
	}
	return made
}
