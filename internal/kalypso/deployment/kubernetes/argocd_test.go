package kubernetes_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/kubernetes"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/clusters/apiserver"
)

// automated is the sync policy of the scenarios. A failed operation is retried twice. Objects are removed in the
// background, since the cluster has no garbage collector that would remove their dependents first.
const automated = `automated: {prune: true, selfHeal: true}, syncOptions: [PrunePropagationPolicy=background],
     retry: {limit: 2, backoff: {duration: 4s, factor: 1, maxDuration: 10s}}`

// automatedMore is another sync policy, which changes the folder but not what runs.
var automatedMore = strings.Replace(automated, "limit: 2", "limit: 3", 1)

// argoScenarios lists the scenarios of Argo CD. [TestArgoCD] plays and records them, and [TestTimelines] replays the
// records.
var argoScenarios = []scenario{
	{
		name: "argocd-healthy", phases: []deployment.Verdict{pending, success},
		play: func(p *player) {
			p.startArgo(automated)
			p.settle(8)
		},
	},
	{
		name: "argocd-change", phases: []deployment.Verdict{pending, success, pending, success, pending, success},
		play: func(p *player) {
			p.startArgo(automated)
			p.settle(1)
			p.awaitSynced("web", p.push("main", configMap("2")))
			p.settle(1)
			p.awaitSynced("fleet", p.deliver(p.application(automatedMore)))
			p.awaitSynced("web", "")
			p.settle(2)
		},
	},
	{
		name: "argocd-degraded", deadline: 30 * time.Second,
		phases: []deployment.Verdict{pending, success, pending, failure, pending, success},
		says:   []string{"Application argocd-degraded/web: unhealthy", "Degraded", "for longer than 30s"},
		play: func(p *player) {
			p.startArgo(automated)
			p.settle(1)
			p.push("main", neverReady)
			p.awaitHealth("web", "Progressing")
			p.breakDeployment()
			p.awaitHealth("web", "Degraded")
			p.settle(7)
			p.awaitSynced("web", p.push("main", configMap("2")))
			p.settle(2)
		},
	},
	{
		name: "argocd-progressing", deadline: 30 * time.Second,
		phases: []deployment.Verdict{pending, success, pending, failure, pending, success},
		says:   []string{"Application argocd-progressing/web: ", "Progressing"},
		play: func(p *player) {
			p.startArgo(automated)
			p.settle(1)
			p.push("main", neverReady)
			p.awaitHealth("web", "Progressing")
			p.settle(7)
			p.awaitSynced("web", p.push("main", configMap("2")))
			p.settle(2)
		},
	},
	{
		// The API server refuses the object. The operation fails, is retried twice, and fails again.
		name: "argocd-sync-fails", deadline: 40 * time.Second,
		phases: []deployment.Verdict{pending, success, pending, failure, pending, success},
		says:   []string{"Application argocd-sync-fails/web: unhealthy: one or more objects failed to apply", "SyncError"},
		play: func(p *player) {
			p.startArgo(automated)
			p.settle(1)
			p.push("main", refused)
			p.await("Application", "web", "failed", func(o *unstructured.Unstructured) bool {
				return textAt(o, "status", "operationState", "phase") == "Failed"
			})
			p.settle(7)
			p.awaitSynced("web", p.push("main", configMap("2")))
			p.settle(2)
		},
	},
	{
		name: "argocd-does-not-build", deadline: 30 * time.Second,
		phases: []deployment.Verdict{pending, success, pending, failure, pending, success},
		says:   []string{"Application argocd-does-not-build/web: unhealthy: ComparisonError"},
		play: func(p *player) {
			p.startArgo(automated)
			p.settle(1)
			p.push("main", broken)
			p.awaitCondition("web", "ComparisonError")
			p.settle(7)
			p.awaitSynced("web", p.push("main", configMap("2")))
			p.settle(2)
		},
	},
	{
		name: "argocd-repo-is-down", deadline: 30 * time.Second,
		phases: []deployment.Verdict{pending, success, pending, failure, success},
		says:   []string{"Application argocd-repo-is-down/web: unhealthy: ComparisonError"},
		play: func(p *player) {
			p.startArgo(automated)
			p.settle(1)
			p.shop.down.Store(true)
			p.awaitCondition("web", "ComparisonError")
			p.settle(7)
			p.shop.down.Store(false)
			p.awaitSynced("web", "")
			p.settle(3)
		},
	},
	{
		// Without automated sync, people start each operation.
		name: "argocd-sync-by-hand", phases: []deployment.Verdict{pending, success, pending, success},
		says: []string{"Application argocd-sync-by-hand/fleet: not ready: not synced: OutOfSync"},
		play: func(p *player) {
			p.followArgo("")
			for _, value := range []string{"1", "2"} {
				head := p.deliver(map[string]string{"canary/all.yaml": configMap(value)})
				p.awaitSync("fleet", "OutOfSync", head)
				p.settle(2)
				p.cluster.Patch(p, p.object("Application", "fleet"),
					`{"operation": {"initiatedBy": {"username": "admin"}, "sync": {}}}`)
				p.awaitSynced("fleet", head)
				p.settle(2)
			}
		},
	},
	{
		// The target's folder no longer contains an object. Automated sync refuses to remove all objects.
		name: "argocd-empty", deadline: 30 * time.Second,
		phases: []deployment.Verdict{pending, success, pending, failure, pending, success},
		says:   []string{"Application argocd-empty/web: unhealthy: SyncError", "auto-sync will wipe out all resources"},
		play: func(p *player) {
			p.startArgo(automated)
			p.settle(1)
			p.push("main", "# nothing\n")
			p.awaitCondition("web", "SyncError")
			p.settle(7)
			p.awaitSynced("web", p.push("main", configMap("2")))
			p.settle(2)
		},
	},
	{
		name: "argocd-suspended", phases: []deployment.Verdict{pending, success, pending, success},
		says: []string{"suspended: Application argocd-suspended/web: "},
		play: func(p *player) {
			p.startArgo(automated)
			p.settle(1)
			p.push("main", strings.Replace(neverReady, "spec:\n", "spec:\n  paused: true\n", 1))
			p.awaitHealth("web", "Suspended")
			p.settle(2)
			p.awaitSynced("web", p.push("main", configMap("2")))
			p.settle(2)
		},
	},
	{
		// People delete the objects of the target repeatedly. Argo CD creates them again.
		name: "argocd-self-heal", phases: []deployment.Verdict{pending, success, pending, success, pending, success},
		play: func(p *player) {
			p.startArgo(automated)
			p.settle(2)
			for range 2 {
				p.cluster.Delete(p, "v1", "ConfigMap", p.namespace, "web")
				p.awaitSync("web", "OutOfSync", "")
				p.awaitSync("web", "Synced", "")
				p.settle(3)
			}
		},
	},
	{
		// The Application has two sources, one of which is the folder.
		name: "argocd-two-sources", phases: []deployment.Verdict{pending, success, pending, success},
		play: func(p *player) {
			p.push("main", configMap("1"))
			more := func(value string) map[string]string {
				return map[string]string{"canary/more.yaml": strings.Replace(configMap(value), "web", "more", 1)}
			}
			head := p.deliver(more("1"))
			p.cluster.Write(p, p.applicationOf("fleet", "sources: ["+p.source("web")+", "+p.folder()+"]", automated))
			p.awaitSynced("fleet", head)
			p.settle(2)
			p.awaitSynced("fleet", p.deliver(more("2")))
			p.settle(2)
		},
	},
	{
		name: "argocd-rollback", phases: []deployment.Verdict{pending, success, pending, success, pending, success},
		play: func(p *player) {
			p.startArgo(automated)
			p.settle(2)
			p.awaitSynced("fleet", p.deliver(p.application(automatedMore)))
			p.awaitSynced("web", "")
			p.settle(2)
			p.awaitSynced("fleet", p.deliver(p.application(automated)))
			p.awaitSynced("web", "")
			p.settle(3)
		},
	},
	{
		// A hook never ends, so the operation continues until people terminate it.
		name: "argocd-hook-hangs", deadline: 30 * time.Second,
		phases: []deployment.Verdict{pending, success, pending, failure, pending, success},
		says:   []string{"Application argocd-hook-hangs/web: ", "an operation is running"},
		play: func(p *player) {
			p.startArgo(automated)
			p.settle(1)
			p.push("main", configMap("2")+"---\n"+hook)
			p.await("Application", "web", "running", func(o *unstructured.Unstructured) bool {
				return strings.Contains(textAt(o, "status", "operationState", "message"), "waiting for completion of hook")
			})
			p.settle(7)
			fixed := p.push("main", configMap("3"))
			p.settle(1)
			p.cluster.Patch(p, p.object("Application", "web"), `{"status": {"operationState": {"phase": "Terminating"}}}`)
			p.awaitSynced("web", fixed)
			p.settle(2)
		},
	},
	{
		name: "argocd-controllers-restart", phases: []deployment.Verdict{pending, success},
		play: func(p *player) {
			p.startArgo(automated)
			p.settle(1)
			p.cluster.Stop(apiserver.ApplicationController)
			p.cluster.Run(apiserver.ApplicationController)
			p.settle(4)
		},
	},
}

// broken is an object that can't be parsed. It needs a kind, since Argo CD ignores files that do not look like objects.
const broken = "apiVersion: v1\nkind: ConfigMap\nmetadata: [\n"

// refused is an object that no API server accepts.
const refused = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {Not A Key: x}\n"

// hook is a Job that runs before a sync, and never ends.
const hook = `apiVersion: batch/v1
kind: Job
metadata: {name: hook, annotations: {argocd.argoproj.io/hook: PreSync}}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: hook, image: hook}]}}}
`

// source returns a folder of the workload's repo as a source of an Application.
func (p *player) source(folder string) string {
	return fmt.Sprintf("{repoURL: %q, path: %s, targetRevision: main}", p.shop.url, folder)
}

// folder returns the folder of the GitOps repo as a source of an Application.
func (p *player) folder() string {
	return fmt.Sprintf("{repoURL: %q, path: canary, targetRevision: prod, directory: {recurse: true}}", p.gitops.url)
}

// applicationOf returns an Application whose field source or sources is from.
func (p *player) applicationOf(name, from, policy string) string {
	return fmt.Sprintf(`apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: %s, namespace: %s}
spec:
  project: default
  destination: {server: https://kubernetes.default.svc, namespace: %[2]s}
  %s
  syncPolicy:
    {%s}
`, name, p.namespace, from, policy)
}

// application returns the files of the target web: an Application of the workload's repo.
func (p *player) application(policy string) map[string]string {
	return map[string]string{"canary/web/application.yaml": p.applicationOf("web", "source: "+p.source("web"), policy)}
}

// followArgo creates the Application with which an admin of Argo CD makes the cluster follow the folder.
func (p *player) followArgo(policy string) {
	p.Helper()
	p.cluster.Write(p, p.applicationOf("fleet", "source: "+p.folder(), policy))
}

// startArgo delivers a healthy target, and waits until it runs.
func (p *player) startArgo(policy string) {
	p.Helper()
	workload, head := p.push("main", configMap("1")), p.deliver(p.application(policy))
	p.followArgo(automated)
	p.awaitSynced("fleet", head)
	p.awaitSynced("web", workload)
}

// awaitSynced waits until an Application is healthy and synced. If a commit is named, it must be synced to the commit.
func (p *player) awaitSynced(name, commit string) {
	p.Helper()
	p.await("Application", name, "synced to "+commit, func(o *unstructured.Unstructured) bool {
		_, asked := o.Object["operation"]
		return textAt(o, "status", "sync", "status") == "Synced" && textAt(o, "status", "health", "status") == "Healthy" &&
			strings.Contains(revisionsOf(o), commit) && !asked
	})
}

// awaitSync waits until an Application has a sync status. If a commit is named, it must be compared with the commit.
func (p *player) awaitSync(name, status, commit string) {
	p.Helper()
	p.await("Application", name, status, func(o *unstructured.Unstructured) bool {
		return textAt(o, "status", "sync", "status") == status &&
			strings.Contains(revisionsOf(o), commit)
	})
}

func (p *player) awaitHealth(name, health string) {
	p.Helper()
	p.await("Application", name, health, func(o *unstructured.Unstructured) bool {
		return textAt(o, "status", "health", "status") == health
	})
}

func (p *player) awaitCondition(name, kind string) {
	p.Helper()
	p.await("Application", name, kind, func(o *unstructured.Unstructured) bool { return conditionOf(o, kind) != nil })
}

// breakDeployment writes the status that kube-controller-manager writes if the Deployment web exceeds its
// progressDeadlineSeconds.
func (p *player) breakDeployment() {
	p.Helper()
	o := p.object("Deployment", "web")
	o.SetAPIVersion("apps/v1")
	p.cluster.Patch(p, o, `{"status": {"observedGeneration": 1, "conditions": [{
		"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded",
		"message": "ReplicaSet \"web\" has timed out progressing."}]}}`, "status")
}

// revisionsOf returns the commits that an Application was compared with.
func revisionsOf(o *unstructured.Unstructured) string {
	all, _, _ := unstructured.NestedStringSlice(o.Object, "status", "sync", "revisions")
	return strings.Join(append(all, textAt(o, "status", "sync", "revision")), " ")
}

func textAt(o *unstructured.Unstructured, path ...string) string {
	text, _, _ := unstructured.NestedString(o.Object, path...)
	return text
}

// TestArgoCD plays each scenario with real Argo CD, and checks the verdict meanwhile. With -record, it writes the
// objects that Argo CD wrote into a file for [TestTimelines].
func TestArgoCD(t *testing.T) {
	cluster := apiserver.StartArgoCD(t)
	for _, s := range argoScenarios {
		t.Run(s.name, func(t *testing.T) {
			if s.name != "argocd-controllers-restart" {
				t.Parallel()
			}
			s.run(t, cluster, "Application")
		})
	}
}

// TestApplicationSince: an Application has its health since a time that retries, comparisons and self-healing do not
// change. Each row selects a recorded state of the Application web, and names the field with this time. The last state
// that matches is taken.
func TestApplicationSince(t *testing.T) {
	t.Parallel()
	operation := func(o *unstructured.Unstructured, phase string, finished, retried bool) bool {
		_, ended, _ := unstructured.NestedString(o.Object, "status", "operationState", "finishedAt")
		_, again, _ := unstructured.NestedInt64(o.Object, "status", "operationState", "retryCount")
		return textAt(o, "status", "operationState", "phase") == phase && ended == finished && again == retried
	}
	begun := []string{"operationState", "startedAt"}
	for name, test := range map[string]struct {
		scenario string
		is       func(o *unstructured.Unstructured) bool
		health   deployment.Health
		since    []string // path below status; "history" stands for its last entry, a condition's type for the condition
	}{
		"healthy since it was healed": {
			"self-heal", func(o *unstructured.Unstructured) bool { return textAt(o, "status", "sync", "status") == "Synced" },
			deployment.Healthy, []string{"operationState", "finishedAt"},
		},
		"degraded since its revision was deployed": {
			"degraded", func(o *unstructured.Unstructured) bool {
				return textAt(o, "status", "health", "status") == "Degraded" && operation(o, "Succeeded", true, false)
			}, deployment.Failed, []string{"history", "deployedAt"},
		},
		"failing since the operation began, before a retry": {
			"sync-fails", func(o *unstructured.Unstructured) bool { return operation(o, "Running", true, true) },
			deployment.Failed, begun,
		},
		"failing since the operation began, during a retry": {
			"sync-fails", func(o *unstructured.Unstructured) bool { return operation(o, "Running", false, true) },
			deployment.Failed, begun,
		},
		"failed since the operation began, after the last retry": {
			"sync-fails", func(o *unstructured.Unstructured) bool {
				return operation(o, "Failed", true, true) && conditionOf(o, "SyncError") == nil
			}, deployment.Failed, begun,
		},
		"failed since automated sync refused the commit": {
			"sync-fails", func(o *unstructured.Unstructured) bool { return conditionOf(o, "SyncError") != nil },
			deployment.Failed, []string{"SyncError", "lastTransitionTime"},
		},
		"progressing since the operation began": {
			"hook-hangs", func(o *unstructured.Unstructured) bool {
				return operation(o, "Running", false, false) && strings.Contains(
					textAt(o, "status", "operationState", "message"), "waiting for completion of hook")
			}, deployment.Progressing, begun,
		},
		// The time of the condition changes with its message.
		"comparison that fails, since the last deployment": {
			"does-not-build", func(o *unstructured.Unstructured) bool {
				message, _ := conditionOf(o, "ComparisonError")["message"].(string)
				return strings.Contains(message, "(cached)")
			}, deployment.Failed, []string{"history", "deployedAt"},
		},
	} {
		var found *unstructured.Unstructured
		for _, e := range readTimeline(t, "argocd-"+test.scenario).Events {
			if o := (&unstructured.Unstructured{Object: e.Object}); o.GetName() == "web" && test.is(o) {
				found = o
			}
		}
		if found == nil {
			t.Errorf("%s: no recorded Application matches", name)
			continue
		}
		at := textAt(found, append([]string{"status"}, test.since...)...)
		if history, there, _ := unstructured.NestedSlice(found.Object, "status", "history"); there && at == "" {
			last, _ := history[len(history)-1].(map[string]any)
			at, _ = last[test.since[1]].(string)
		}
		if c := conditionOf(found, test.since[0]); c != nil {
			at, _ = c[test.since[1]].(string)
		}
		health, since := kubernetes.ApplicationStatus(found.Object, time.Now())
		if text := since.Format(time.RFC3339); health != test.health || text != at || at == "" {
			t.Errorf("%s: %s since %s, want %s since %s", name, health, text, test.health, at)
		}
	}
}
