package kubernetes

import (
	"context"
	"strings"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/repourl"
)

const (
	argoGroup = "argoproj.io"
	inCluster = "in-cluster" // Argo CD's name for its own cluster
	ownServer = "https://kubernetes.default.svc"
)

// argoCD adds the reports of Argo CD Applications. there is false if the cluster has no Argo CD.
func (k *cluster) argoCD(ctx context.Context) (there bool, err error) {
	applications, err := k.list(ctx, argoGroup, "applications")
	if err != nil || !applications.there {
		return false, err
	}
	for _, o := range applications.objects {
		if err := ctx.Err(); err != nil {
			return true, err
		}
		k.application(object{o})
	}
	return true, nil
}

// application adds a report for each source of an Application that is a folder of the rendering.
func (k *cluster) application(o object) {
	sources, revisions := o.objects("spec", "sources"), o.texts("status", "sync", "revisions")
	compared := o.objects("status", "sync", "comparedTo", "sources")
	if len(sources) == 0 {
		sources, revisions = []object{o.at("spec", "source")}, []string{o.text("status", "sync", "revision")}
		compared = []object{o.at("status", "sync", "comparedTo", "source")}
	}
	for i, source := range sources {
		folder, inside := k.of.FolderOf(source.text("path"))
		if !inside || !repourl.SameAcrossTransports(source.text("repoURL"), k.of.Repo) ||
			!k.isBranch(source.text("targetRevision")) {
			continue
		}
		r := deployment.Report{Cluster: k.destination(o), Folder: folder, Object: o.name(), Now: k.date.now()}
		if i < len(revisions) {
			r.Revision = revisions[i]
		}
		r.Health, r.Since, r.Message = o.health()
		if r.Health == deployment.Healthy && (i >= len(compared) || !sameSource(compared[i], source)) {
			r.Health, r.Message = deployment.Progressing, "Argo CD has not observed its latest change"
		}
		namespace := ""
		if r.Cluster != k.name {
			namespace = otherCluster
		}
		k.addReport(r, namespace)
	}
}

// isBranch reports whether a target revision may be the rendering's branch. With HEAD, the synced commit decides.
func (k *cluster) isBranch(revision string) bool {
	return revision == "" || revision == "HEAD" || strings.TrimPrefix(revision, "refs/heads/") == k.of.Branch
}

func sameSource(a, b object) bool {
	for _, field := range []string{"repoURL", "path", "targetRevision"} {
		if a.text(field) != b.text(field) {
			return false
		}
	}
	return true
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

// health returns the health of an Application. It is Healthy if it is Synced and Healthy, no operation is running, and
// Argo CD compared it after the last operation ended.
func (o object) health() (health deployment.Health, since time.Time, message string) {
	state, operation := o.at("status", "health"), o.at("status", "operationState")
	ended := operation.time("finishedAt")
	since, message = later(state.time("lastTransitionTime"), ended), state.text("message")
	phase := operation.text("phase")
	_, asked := o.Object["operation"]
	fault := o.firstError()
	switch {
	case state.text("status") == "Suspended":
		return deployment.Suspended, since, message
	case o.GetDeletionTimestamp() != nil:
		return deployment.Progressing, since, "being deleted"
	case fault != "":
		return deployment.Failed, since, fault
	case asked, phase == "Running", phase == "Terminating":
		return deployment.Progressing, since, "an operation is running"
	case phase == "Failed", phase == "Error":
		return deployment.Failed, since, operation.text("message")
	case ended.After(o.time("status", "reconciledAt")):
		return deployment.Progressing, since, "not compared since the last operation ended"
	case o.text("status", "sync", "status") != "Synced":
		return deployment.Progressing, since, "not synced: " + o.text("status", "sync", "status")
	}
	switch state.text("status") {
	case "Healthy":
		return deployment.Healthy, since, ""
	case "Degraded":
		return deployment.Failed, since, message
	}
	return deployment.Progressing, since, message
}

// firstError returns the first condition whose type ends in Error.
func (o object) firstError() string {
	for _, c := range o.objects("status", "conditions") {
		if strings.HasSuffix(c.text("type"), "Error") {
			return c.text("type") + ": " + c.text("message")
		}
	}
	return ""
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
