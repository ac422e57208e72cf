package kubernetes

import (
	"cmp"
	"context"
	"reflect"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/giturl"
)

const (
	argoGroup = "argoproj.io"
	inCluster = "in-cluster" // Argo CD's name for its own cluster
	ownServer = "https://kubernetes.default.svc"
)

// argoCD adds the reports of Argo CD Applications. there is false if the cluster has no Argo CD.
func (k *cluster) argoCD(ctx context.Context) (there bool, err error) {
	applications, err := k.list(ctx, argoGroup, "applications")
	if err != nil || !applications.served {
		return false, err
	}
	for _, o := range applications.objects {
		err := ctx.Err()
		if err == nil {
			err = k.application(object{o})
		}
		if err != nil {
			return true, err
		}
	}
	return true, nil
}

// application adds a report for each source of an Application that is a folder of the rendering.
func (k *cluster) application(o object) error {
	revisions := o.texts("status", "sync", "revisions")
	if len(o.objects("spec", "sources")) == 0 {
		revisions = []string{o.text("status", "sync", "revision")}
	}
	for i, source := range o.applicationSources() {
		folder, inside := k.of.FolderOf(source.text("path"))
		if !inside || !giturl.SameAcrossTransports(source.text("repoURL"), k.of.Repo) ||
			!k.isBranch(source.text("targetRevision")) {
			continue
		}
		r := deployment.Report{Cluster: k.destination(o), Folder: folder, Object: o.name(), Now: k.date.now()}
		if i < len(revisions) {
			r.Revision = revisions[i]
		}
		o.applicationStatus(k.date.now()).fill(&r)
		namespace := ""
		if r.Cluster != k.name {
			namespace = otherCluster
		}
		if err := k.addReport(r, namespace); err != nil {
			return err
		}
	}
	return nil
}

// isBranch reports whether a target revision may be the rendering's branch. With HEAD, the synced commit decides.
func (k *cluster) isBranch(revision string) bool {
	return revision == "" || revision == "HEAD" || strings.TrimPrefix(revision, "refs/heads/") == k.of.Branch
}

// destination names the cluster that an Application deploys to. A cluster other than Argo CD's own is appended to the
// name.
func (k *cluster) destination(o object) string {
	name, server := o.text("spec", "destination", "name"), strings.TrimSuffix(o.text("spec", "destination", "server"), "/")
	switch {
	case name == inCluster, name == "" && (server == "" || server == ownServer):
		return k.name
	case name != "":
		return k.name + "/" + name
	}
	return k.name + "/" + server
}

// applicationSources returns the sources that an Application syncs, as GetSource of Argo CD's ApplicationSpec does.
func (o object) applicationSources() []object {
	if sources := o.objects("spec", "sources"); len(sources) > 0 {
		return sources
	}
	if hydrated := o.at("spec", "sourceHydrator"); len(hydrated.Object) > 0 {
		return []object{{unstructured.Unstructured{Object: map[string]any{
			"repoURL":        hydrated.text("drySource", "repoURL"),
			"path":           hydrated.text("syncSource", "path"),
			"targetRevision": hydrated.text("syncSource", "targetBranch"),
		}}}}
	}
	return []object{o.at("spec", "source")}
}

// compared reports whether Argo CD compared the cluster with the sources and the destination in the current spec. It
// does so at once if these fields differ (needRefreshAppStatus in its controller/appcontroller.go).
func (o object) compared() bool {
	to := o.at("status", "sync", "comparedTo")
	before := to.objects("sources")
	if len(before) == 0 {
		before = []object{to.at("source")}
	}
	return slices.EqualFunc(o.applicationSources(), before, sameContent) &&
		sameContent(o.at("spec", "destination"), to.at("destination"))
}

// sameContent reports whether two objects are equal except for empty fields, which Argo CD omits.
func sameContent(a, b object) bool {
	return reflect.DeepEqual(withoutEmpty(a.Object), withoutEmpty(b.Object))
}

// withoutEmpty returns a value without fields that are empty, or nil if it is empty itself.
func withoutEmpty(v any) any {
	switch v := v.(type) {
	case map[string]any:
		kept := map[string]any{}
		for name, field := range v {
			field = withoutEmpty(field)
			if field != nil {
				kept[name] = field
			}
		}
		if len(kept) > 0 {
			return kept
		}
	case []any:
		kept := make([]any, len(v))
		for i := range v {
			kept[i] = withoutEmpty(v[i])
		}
		if len(kept) > 0 {
			return kept
		}
	default:
		if v != nil && !reflect.ValueOf(v).IsZero() {
			return v
		}
	}
	return nil
}

// applicationStatus returns the status of an Application. It is Healthy if it is Synced and Healthy, no operation is
// running, and Argo CD compared it with its current spec after the last operation ended.
//
// What Argo CD v3.2 writes, in its controller/appcontroller.go unless another file is named:
//
//   - setOperationState: operationState.startedAt stays through all retries of an operation, finishedAt does not. An
//     operation that failed and waits for its next attempt has the phase Running and finishedAt; it has retryCount.
//   - persistAppStatus: health.lastTransitionTime moves only if the status changes, and is set nowhere else. In v3.2
//     health has no message; in v3.6 it has one again.
//   - processAppRefreshQueueItem: reconciledAt moves with each comparison, and is the time at which it began. An
//     operation that ends asks for one.
//   - SyncAppState in controller/sync.go: status.history gets an entry with deployedAt for each operation that synced
//     everything, but not for one that healed some resources.
//   - SetConditions in pkg/apis/application/v1alpha1/types.go: a condition keeps its lastTransitionTime while its
//     message stays. getManifestCacheEntry in reposerver/repository/repository.go gives a failure that it repeats from
//     its cache another message, for an hour, so a ComparisonError can look young for ever.
//   - CompareAppState in controller/state.go: with a ComparisonError, sync.status is Unknown, sync.revision is the
//     target revision, no commit, and the health is what it was.
func (o object) applicationStatus(now time.Time) status {
	state, operation := o.at("status", "health"), o.at("status", "operationState")
	begun, ended := operation.time("startedAt"), operation.time("finishedAt")
	deployed := ended
	if history := o.objects("status", "history"); len(history) > 0 {
		deployed = history[len(history)-1].time("deployedAt")
	}
	changed := state.time("lastTransitionTime")
	phase := operation.text("phase")
	retried := operation.number("retryCount") > 0
	_, asked := o.Object["operation"]
	health, fault := state.text("status"), o.firstError()
	switch running := phase == "Running" || phase == "Terminating"; {
	case health == "Suspended":
		message := cmp.Or(state.text("message"), "its health is Suspended")
		return status{deployment.Suspended, deployment.Later(changed, ended), message}
	case o.GetDeletionTimestamp() != nil:
		return status{health: deployment.Progressing, message: "being deleted"}
	case fault.Object != nil:
		message := fault.text("type") + ": " + fault.text("message")
		since := fault.time("lastTransitionTime")
		if fault.text("type") == "ComparisonError" {
			since = deployed // each comparison may fail with another message
		}
		return status{deployment.Failed, since, message}
	case running && (!ended.IsZero() || retried):
		return status{deployment.Failed, begun, operation.text("message")}
	case running:
		return status{deployment.Progressing, begun, "an operation is running"}
	case asked:
		return status{deployment.Progressing, now, "an operation is about to begin"}
	case phase == "Failed", phase == "Error":
		return status{deployment.Failed, begun, operation.text("message")}
	case !o.compared():
		return status{deployment.Progressing, deployed, "Argo CD has not observed its latest change"}
	case ended.After(o.time("status", "reconciledAt")):
		return status{deployment.Progressing, ended, "not compared since the last operation ended"}
	case o.text("status", "sync", "status") != "Synced":
		return status{deployment.Progressing, deployed, "not synced: " + o.text("status", "sync", "status")}
	}
	message := cmp.Or(state.text("message"), "its health is "+cmp.Or(health, "unknown"))
	switch health {
	case "Healthy":
		return status{health: deployment.Healthy, since: deployment.Later(changed, ended)}
	case "Degraded":
		// A container that crashes again and again moves the health between Degraded and Progressing.
		return status{deployment.Failed, deployed, message}
	}
	return status{deployment.Progressing, deployment.Later(changed, deployed), message}
}

// firstError returns the first condition whose type ends in Error.
func (o object) firstError() object {
	for _, c := range o.objects("status", "conditions") {
		if strings.HasSuffix(c.text("type"), "Error") {
			return c
		}
	}
	return object{}
}
