package rendering_test

import (
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/clusters/apiserver"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// Durations in testdata/TestFluxRollout.
const (
	fluxSoak     = 15 * time.Second // three intervals
	fluxDeadline = 12 * time.Second
	fluxRetry    = 9 * time.Second  // the interval of a source, and some time for a slow machine
	fluxPatience = 90 * time.Second // the limit of waits that have no other limit
)

// fluxFleet is the root module of testdata/TestFluxRollout with two clusters of real Flux.
type fluxFleet struct {
	*acc.Root
	gitops, app string // bare repos
	repos, url  string // the folder of the repos, and its URL
	clusters    map[string]*apiserver.Kubernetes
}

// fluxState is the output of the data source.
type fluxState struct {
	Verdict string `json:"verdict"`
	Folders map[string]struct {
		Verdict string    `json:"verdict"`
		Since   time.Time `json:"since"`
	} `json:"folders"`
	Problems []struct {
		Message string `json:"message"`
	} `json:"problems"`
}

func newFluxFleet(t *testing.T) *fluxFleet {
	t.Helper()
	one, two := apiserver.StartFlux(t), apiserver.StartFlux(t)
	repos := t.TempDir()
	_, handler := gitserver.Handler(t, repos, gitserver.WithFilter())
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	f := &fluxFleet{
		acc.NewRootFrom(t, "testdata/TestFluxRollout"), filepath.Join(repos, "gitops"), filepath.Join(repos, "app"),
		repos, server.URL, map[string]*apiserver.Kubernetes{"canary": one, "large": two},
	}
	for _, repo := range []string{f.gitops, f.app} {
		gitserver.Git(t, repos, "init", "-q", "--bare", repo)
		gitserver.Git(t, repo, "config", "http.receivepack", "true")
	}
	f.push(fluxConfigMap("1"))
	for name, value := range map[string]any{
		"gitops_url": server.URL + "/gitops", "app_url": server.URL + "/app", "app_branch": "main", "region": "1",
		"in_waves": false, "clusters": map[string]any{
			"one": map[string]any{"kubeconfig": one.Kubeconfig(apiserver.Reader)},
			"two": map[string]any{"kubeconfig": two.Kubeconfig(apiserver.Reader)},
		},
	} {
		f.Set(name, value)
	}
	for folder, cluster := range f.clusters {
		f.follow(folder, "")
		cluster.Write(t, fmt.Sprintf(`apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: fleet, namespace: flux-system}
spec:
  {interval: 5s, retryInterval: 14s, timeout: 4s, prune: true, path: ./%s,
   sourceRef: {kind: GitRepository, name: fleet}}
`, folder))
	}
	return f
}

// follow makes the cluster of a folder sync from the GitOps repo, with more fields of the source.
func (f *fluxFleet) follow(folder, more string) {
	f.T.Helper()
	f.clusters[folder].Write(f.T, fmt.Sprintf(`apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: fleet, namespace: flux-system}
spec: {interval: 5s, url: %q, ref: {branch: prod}%s}
`, f.url+"/gitops", more))
}

func fluxConfigMap(value string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {value: %q}\n", value)
}

// run runs a part of the test as a subtest, in which f reports its failures.
func (f *fluxFleet) run(name string, part func(t *testing.T)) {
	whole := f.T
	defer func() { f.T = whole }()
	if !whole.Run(name, func(t *testing.T) { f.T = t; part(t) }) {
		whole.FailNow()
	}
}

// push commits the workload to the branch main.
func (f *fluxFleet) push(content string) {
	f.T.Helper()
	gitserver.Seed(f.T, f.app, "main", map[string]string{"web/all.yaml": content})
}

// step applies as a pipeline does, and returns the clusters' reports of before the apply, and the output of the apply.
func (f *fluxFleet) step(changes ...any) (fluxState, string) {
	f.T.Helper()
	for i := 0; i < len(changes); i += 2 {
		name, _ := changes[i].(string)
		f.Set(name, changes[i+1])
	}
	printed := f.Apply().Text()
	var state fluxState
	f.Output("state", &state)
	return state, printed
}

// regions returns the value of the config REGION in the folders canary and large on the branch.
func (f *fluxFleet) regions() string {
	f.T.Helper()
	return fluxRegions(gitserver.Tree(f.T, f.gitops, "prod"), "canary/", "large/")
}

// fluxRegions returns the values of the config REGION in folders, in their order.
func fluxRegions(files map[string]string, folders ...string) string {
	var all []string
	for _, folder := range folders {
		for name, content := range files {
			_, value, there := strings.Cut(content, "REGION: ")
			if there && strings.HasPrefix(name, folder) {
				all = append(all, strings.Trim(strings.Fields(value)[0], `"`))
			}
		}
	}
	return strings.Join(all, " ")
}

// until applies until a condition is true, and returns the time at which it became true.
func (f *fluxFleet) until(what string, is func(fluxState, string) bool) (time.Time, fluxState, string) {
	f.T.Helper()
	for end := time.Now().Add(fluxPatience); ; time.Sleep(300 * time.Millisecond) {
		state, printed := f.step()
		if is(state, printed) {
			return time.Now(), state, printed
		}
		if time.Now().After(end) {
			f.T.Fatalf("waited in vain for %s: %+v\n%s", what, state, printed)
		}
	}
}

func (f *fluxFleet) contains(regions string) func(fluxState, string) bool {
	return func(fluxState, string) bool { return f.regions() == regions }
}

func succeeds(s fluxState, _ string) bool { return s.Verdict == "success" }

// A rollout on real Flux: a soak of three intervals ends on time, a canary that breaks during its soak restarts the
// soak, a canary that stays broken stops the rollout, and once the canary is fixed, the rollout continues.
func TestFluxRollout(t *testing.T) {
	f := newFluxFleet(t)
	f.step()
	f.until("the first delivery", succeeds)

	f.run("soak", func(t *testing.T) {
		f.step("in_waves", true, "region", "2")
		_, state, _ := f.until("the canary", func(s fluxState, _ string) bool {
			return s.Folders["canary"].Verdict == "success"
		})
		since := state.Folders["canary"].Since
		at, state, _ := f.until("the rest", f.contains("2 2"))
		if took := at.Sub(since); took < fluxSoak || took > fluxSoak+10*time.Second {
			t.Errorf("the rest was written %s after %s", took, since)
		}
		if moved := state.Folders["canary"].Since; !moved.Equal(since) {
			t.Errorf("the canary was a success since %s, and then since %s", since, moved)
		}
		f.until("the rest to run", succeeds)
	})
	f.run("canary that breaks during its soak", func(t *testing.T) {
		f.step("region", "3")
		f.until("the canary", func(s fluxState, _ string) bool { return s.Folders["canary"].Verdict == "success" })
		f.push(fluxNeverReady)
		f.until("the fault", func(s fluxState, _ string) bool { return s.Folders["canary"].Verdict != "success" })
		mended := time.Now()
		f.push(fluxConfigMap("3"))
		at, _, _ := f.until("the rest", f.contains("3 3"))
		if took := at.Sub(mended); took < fluxSoak {
			t.Errorf("the rest was written %s after the canary was fixed", took)
		}
		f.until("the rest to run", succeeds)
	})
	f.run("broken canary", func(t *testing.T) {
		begun := time.Now()
		f.step("region", "4", "app_branch", "nope")
		at, _, printed := f.until("the failure", func(s fluxState, _ string) bool { return s.Verdict == "failure" })
		if took := at.Sub(begun); took > fluxDeadline+2*fluxRetry {
			t.Errorf("the failure came after %s", took)
		}
		if !strings.Contains(printed, "The rollout stopped") || !strings.Contains(printed, "couldn't find remote ref") {
			t.Errorf("the output of the apply:\n%s", printed)
		}
		for range 10 {
			state, _ := f.step()
			if state.Verdict != "failure" || f.regions() != "4 3" {
				t.Fatalf("%+v, with %s on the branch", state, f.regions())
			}
			time.Sleep(time.Second)
		}
		f.step("app_branch", "main")
		f.until("the rest", f.contains("4 4"))
		f.until("the rest to run", succeeds)
		delivered := false
		f.Output("delivered", &delivered)
		if !delivered {
			t.Error("the fixed fleet is not delivered")
		}
	})
}

// fluxNeverReady is a workload that never becomes healthy, since no controller of Deployments runs.
const fluxNeverReady = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: web}]}
`
