package kubernetes_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/clusters/apiserver"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/seeds"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/slow"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

const (
	success = deployment.Success
	pending = deployment.Pending
	failure = deployment.Failure
)

// scenario is a sequence of events on a cluster with Flux or Argo CD, with the verdicts that must be read meanwhile.
type scenario struct {
	name     string
	deadline time.Duration // one hour if 0
	play     func(p *player)
	phases   []deployment.Verdict // verdicts in order
	says     []string             // texts that a problem contains at some time
	never    []string             // texts that no problem ever contains
}

// scenarios lists the scenarios of Flux. [TestFlux] plays and records them, and [TestTimelines] replays the records.
var scenarios = []scenario{
	{
		name: "healthy", phases: []deployment.Verdict{pending, success},
		play: func(p *player) {
			p.start(target{spec: "wait: true,"})
			p.awaitReads(200)
		},
	},
	{
		name: "change", phases: []deployment.Verdict{pending, success, pending, success, pending, success},
		play: func(p *player) {
			p.start(target{})
			p.settle(1)
			p.awaitReady("Kustomization", "web", "True", p.push("main", configMap("2")))
			p.settle(1)
			p.awaitReady("Kustomization", "fleet", "True", p.deliver(p.target(target{spec: "wait: true,"})))
			p.awaitReady("Kustomization", "web", "True", "")
			p.settle(2)
		},
	},
	{
		name: "health-fails", deadline: 45 * time.Second,
		phases: []deployment.Verdict{pending, success, pending, failure, pending, success},
		says: []string{
			"Kustomization health-fails/web: unhealthy", "for longer than 45s",
			"Deployment/health-fails/web status: 'InProgress'",
		},
		play: func(p *player) {
			p.start(target{spec: "wait: true,"})
			p.settle(1)
			p.push("main", neverReady)
			p.awaitReady("Kustomization", "web", "False", "timeout waiting for")
			p.settle(4)
			p.awaitReady("Kustomization", "web", "True", p.push("main", configMap("2")))
			p.settle(2)
		},
	},
	{
		name: "does-not-build", deadline: 45 * time.Second,
		phases: []deployment.Verdict{pending, success, pending, failure, pending, success},
		says:   []string{"Kustomization does-not-build/web: unhealthy: failed to decode Kubernetes YAML"},
		play: func(p *player) {
			p.start(target{})
			p.settle(1)
			p.push("main", "a: [\n")
			p.awaitReady("Kustomization", "web", "False", "failed to decode")
			p.settle(9)
			p.awaitReady("Kustomization", "web", "True", p.push("main", configMap("2")))
			p.settle(2)
		},
	},
	{
		// The Kustomization fails at the generation and revision at which it was ready, since an input of its build was
		// removed.
		name: "fails-at-the-same-revision", phases: []deployment.Verdict{pending, success, pending, success},
		play: func(p *player) {
			values := "{apiVersion: v1, kind: ConfigMap, metadata: {name: values, namespace: " + p.namespace + "}, data: {a: b}}"
			p.cluster.Write(p, values)
			p.start(target{spec: "postBuild: {substituteFrom: [{kind: ConfigMap, name: values}]},"})
			p.settle(2)
			p.cluster.Delete(p, "v1", "ConfigMap", p.namespace, "values")
			p.awaitReady("Kustomization", "web", "False", "")
			p.settle(7)
			p.cluster.Write(p, values)
			p.awaitReady("Kustomization", "web", "True", "")
			p.settle(2)
		},
	},
	{
		name: "suspended", phases: []deployment.Verdict{pending, success, pending, success, pending, success},
		says: []string{
			"suspended: Kustomization suspended/web: its reconciliation is suspended",
			"suspended: Kustomization suspended/web: GitRepository suspended/web: it is suspended",
		},
		play: func(p *player) {
			p.start(target{})
			for _, kind := range []string{"Kustomization", "GitRepository"} {
				p.settle(2)
				// An admin suspends the object by hand, and disables its reconciliation, which would revert this.
				p.cluster.Patch(p, p.object(kind, "web"),
					`{"metadata": {"annotations": {"kustomize.toolkit.fluxcd.io/reconcile": "disabled"}}, "spec": {"suspend": true}}`)
				p.settle(2)
				p.cluster.Patch(p, p.object(kind, "web"), `{"spec": {"suspend": null}}`)
				p.awaitReady(kind, "web", "True", "")
			}
			p.settle(2)
		},
	},
	{
		// The tree names a branch that does not exist. The Kustomization remains ready with the last artifact.
		name: "branch-does-not-exist", deadline: 45 * time.Second,
		phases: []deployment.Verdict{pending, success, pending, failure, pending, success},
		says: []string{
			"Kustomization branch-does-not-exist/web: unhealthy", "GitRepository branch-does-not-exist/web: failed to checkout",
		},
		play: func(p *player) {
			p.start(target{})
			p.settle(1)
			p.deliver(p.target(target{branch: "nope"}))
			p.awaitReady("GitRepository", "web", "False", "")
			p.settle(9)
			p.awaitReady("Kustomization", "fleet", "True", p.deliver(p.target(target{})))
			p.awaitReady("GitRepository", "web", "True", "")
			p.settle(2)
		},
	},
	{
		name: "repo-is-down", deadline: 45 * time.Second,
		phases: []deployment.Verdict{pending, success, pending, failure, success},
		says:   []string{"GitRepository repo-is-down/web: failed to checkout"},
		play: func(p *player) {
			p.start(target{})
			p.settle(8) // until the deadline after the last artifact has passed
			p.shop.down.Store(true)
			p.awaitReady("GitRepository", "web", "False", "")
			p.settle(9)
			p.shop.down.Store(false)
			p.awaitReady("GitRepository", "web", "True", "")
			p.settle(2)
		},
	},
	{
		// The tree names another branch, and the repo is slow. Nothing is deployed until the branch is fetched.
		name: "repo-is-slow", phases: []deployment.Verdict{pending, success, pending, success},
		play: func(p *player) {
			next := p.push("next", configMap("2"))
			p.start(target{})
			p.settle(1)
			p.shop.delay.Store(int64(2 * time.Second))
			p.awaitReady("Kustomization", "fleet", "True", p.deliver(p.target(target{branch: "next"})))
			p.awaitReady("Kustomization", "web", "True", next)
			p.settle(2)
		},
	},
	{
		name: "source-is-deleted", deadline: 45 * time.Second,
		phases: []deployment.Verdict{pending, success, pending, failure},
		says:   []string{"GitRepository source-is-deleted/web does not exist"},
		play: func(p *player) {
			p.start(target{})
			p.settle(3)
			p.deliver(p.target(target{without: "canary/web/source.yaml"}))
			p.awaitReady("Kustomization", "web", "False", "not found")
			p.settle(9)
		},
	},
	{
		// The same digest of objects is applied for the second time.
		name: "rollback", phases: []deployment.Verdict{pending, success, pending, success, pending, success},
		play: func(p *player) {
			p.start(target{})
			p.settle(2)
			p.awaitReady("Kustomization", "web", "True", p.push("main", configMap("2")))
			p.settle(2)
			p.awaitReady("Kustomization", "web", "True", p.push("main", configMap("1")))
			p.settle(2)
		},
	},
	{
		name: "other-files-change", phases: []deployment.Verdict{pending, success, pending, success, pending, success},
		play: func(p *player) {
			p.start(target{})
			for range 2 {
				p.settle(1)
				other := "other/" + time.Now().Format("150405") + ".yaml"
				p.awaitReady("Kustomization", "web", "True", p.push("main", configMap("1"), other))
			}
			p.settle(2)
		},
	},
	{
		// The first reconciliation of a generation fails, so status.observedGeneration is -1.
		name: "fails-at-first", phases: []deployment.Verdict{pending, success},
		says: []string{"kustomization path not found", "GitRepository fails-at-first/web: failed to checkout"},
		play: func(p *player) {
			p.shop.down.Store(true)
			workload := gitserver.Seed(p, p.shop.path, "main", map[string]string{"other.yaml": configMap("1")})
			p.deliver(p.target(target{}))
			p.follow("branch: prod")
			p.awaitReady("GitRepository", "web", "False", "")
			p.settle(1)
			p.shop.down.Store(false)
			p.awaitReady("GitRepository", "web", "True", workload)
			p.awaitReady("Kustomization", "web", "False", "path not found")
			p.settle(1)
			p.awaitReady("Kustomization", "web", "True", p.push("main", configMap("1")))
			p.settle(2)
		},
	},
	{
		name: "follows-a-tag", phases: []deployment.Verdict{pending, success},
		says: []string{
			`GitRepository follows-a-tag/fleet follows the tag "v1.0.0" instead of the branch "prod"`,
			`GitRepository follows-a-tag/fleet follows the semver range ">=1.0.0" instead of the branch "prod"`,
			`GitRepository follows-a-tag/fleet follows the branch "other" instead of the branch "prod"`,
		},
		play: func(p *player) {
			workload, head := p.push("main", configMap("1")), p.deliver(p.target(target{}))
			p.tag("v1.0.0", head)
			for _, ref := range []string{"tag: v1.0.0", `semver: ">=1.0.0"`, "branch: other"} {
				p.follow(ref)
				p.awaitReady("Kustomization", "web", "True", workload)
				p.settle(1)
			}
			p.awaitRunning(workload, head, func() { p.follow("branch: prod") })
			p.settle(2)
		},
	},
	{
		name: "helm-release", deadline: 45 * time.Second,
		phases: []deployment.Verdict{pending, success, pending, failure, pending, success},
		says:   []string{"HelmRelease helm-release/web: unhealthy"},
		play: func(p *player) {
			p.pushChart(configMap("1"))
			p.follow("branch: prod")
			p.awaitReady("Kustomization", "fleet", "True", p.deliver(p.helmTarget()))
			p.awaitReady("HelmRelease", "web", "True", "")
			p.settle(3)
			p.pushChart(neverReady)
			p.awaitReady("HelmRelease", "web", "False", "")
			p.settle(8)
			p.pushChart(configMap("2"))
			p.awaitReady("HelmRelease", "web", "True", "")
			p.settle(2)
		},
	},
	{
		name: "controllers-restart", phases: []deployment.Verdict{pending, success},
		play: func(p *player) {
			p.start(target{spec: "wait: true,"})
			p.settle(1)
			for _, controller := range []string{apiserver.KustomizeController, apiserver.SourceController} {
				p.cluster.Stop(controller)
				p.cluster.Run(controller)
				p.settle(3)
			}
		},
	},
}

// check compares the moments of a scenario with the expected verdicts and problems.
func (s scenario) check(t *testing.T, moments []moment) {
	t.Helper()
	phases := phasesOf(moments)
	var verdicts []deployment.Verdict
	all := ""
	for _, p := range phases {
		verdicts = append(verdicts, p.verdict)
		all += p.says() + "\n"
		if p.verdict == success && len(p.sinces()) != 1 {
			t.Errorf("one phase of success has %d values of since: %v", len(p.sinces()), p.sinces())
		}
		if p.verdict == success && p.sinces()[0].After(p.first) {
			t.Errorf("the success at %[2]s has the later time %[1]s", p.sinces()[0], p.first)
		}
	}
	if !slices.Equal(verdicts, s.phases) {
		t.Errorf("verdicts %v, want %v", verdicts, s.phases)
	}
	for i, p := range phases {
		if p.verdict == failure && i > 0 {
			if took := p.first.Sub(phases[i-1].first); took > s.deadline+2*attempt {
				t.Errorf("the failure came %s after the change", took)
			}
		}
	}
	for _, text := range s.says {
		if !strings.Contains(all, text) {
			t.Errorf("no problem says %q", text)
		}
	}
	for _, text := range append(s.never, ": \n") {
		if strings.Contains(all, text) {
			t.Errorf("a problem says %q", text)
		}
	}
	if t.Failed() || testing.Verbose() {
		t.Logf("%d reads:\n%s", len(moments), describePhases(phases))
	}
}

// TestTimelines: the verdict is right in each state of each recorded scenario.
func TestTimelines(t *testing.T) {
	t.Parallel()
	for _, s := range slices.Concat(scenarios, argoScenarios) {
		t.Run(s.name, func(t *testing.T) {
			s.check(t, readTimeline(t, s.name).replay(t, s.name, newRecordedCluster(t)))
		})
	}
}

// onAPIServer names the scenarios that always run on a real API server, with an object of each kind. They would take
// most of the package's processor time if all ran, so other scenarios run there only in a long run.
var onAPIServer = []string{"source-is-deleted", "helm-release", "argocd-sync-fails"}

// TestTimelinesOnAPIServer: a real API server with the recorded objects gives the same verdicts as the recorded cluster
// in each state.
func TestTimelinesOnAPIServer(t *testing.T) {
	slow.Skip(t)
	t.Parallel()
	server := apiserver.Start(t,
		apiserver.CRDs(t, apiserver.Kustomizations, apiserver.GitRepositories, apiserver.OCIRepositories,
			apiserver.HelmReleases, apiserver.HelmCharts, apiserver.Applications)...)
	played := 0
	for _, s := range slices.Concat(scenarios, argoScenarios) {
		if !seeds.Long() && !slices.Contains(onAPIServer, s.name) {
			continue
		}
		played++
		t.Run(s.name, func(t *testing.T) {
			line := readTimeline(t, s.name)
			want, got := line.replay(t, s.name, newRecordedCluster(t)), line.replay(t, s.name, newClockProxy(t, server))
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(moment{})); diff != "" {
				t.Errorf("moments differ between the recorded cluster and the API server (-recorded +server):\n%s", diff)
			}
		})
	}
	if played < len(onAPIServer) {
		t.Errorf("only %d scenarios were played", played)
	}
}

// TestFlux plays each scenario with real Flux, and checks the verdict meanwhile. With -record, it writes the objects
// that Flux wrote into a file for [TestTimelines].
func TestFlux(t *testing.T) {
	flux := apiserver.StartFlux(t)
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			if s.name != "controllers-restart" {
				t.Parallel()
			}
			s.run(t, flux, "Kustomization", "GitRepository", "HelmRelease", "HelmChart")
		})
	}
}

// run plays a scenario on a cluster, records objects of these kinds, and checks the verdicts.
func (s scenario) run(t *testing.T, cluster *apiserver.Kubernetes, kinds ...string) {
	t.Helper()
	deadline := s.deadline
	if deadline == 0 {
		deadline = time.Hour
	}
	p := newPlayer(t, cluster, s.name, deadline, kinds)
	stop := p.watching()
	s.play(p)
	reads, line := stop(), p.recorded()
	if *record {
		writeTimeline(t, s.name, line)
	}
	states := line.replay(t, s.name, newRecordedCluster(t))
	s.check(t, states)
	checkReads(t, states, reads)
}

// checkReads compares what was read from a cluster with the recorded states, in order. Reads may miss a state that is
// shorter than the time between two reads, but they may show nothing that is not a state.
func checkReads(t *testing.T, states, reads []moment) {
	t.Helper()
	seen := 0
	want, got := milestonesOf(states), milestonesOf(reads)
	for _, m := range want {
		if seen < len(got) && got[seen] == m {
			seen++
		}
	}
	if seen < len(got) || seen == 0 {
		t.Errorf("%d reads show\n%v,\nand the states show\n%v:\n%s", len(reads), got, want,
			describePhases(phasesOf(reads)))
	}
}

// milestone is a verdict, and for a success also its time.
type milestone struct {
	verdict deployment.Verdict
	since   time.Time
}

// milestonesOf returns the milestones of moments, in order.
func milestonesOf(moments []moment) []milestone {
	var all []milestone
	for _, m := range moments {
		next := milestone{verdict: m.verdict}
		if m.verdict == success {
			next.since = m.since.UTC()
		}
		all = append(all, next)
	}
	return slices.Compact(all)
}
