package kubernetes

import (
	"cmp"
	"strings"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
)

// Facts about Flux's controllers, on which the rules below rest (kustomize-controller v1.9, source-controller v1.9,
// helm-controller v1.6, and the objects that testdata/timelines records from them):
//
//   - Each condition has the generation of the object that it was set for. status.observedGeneration moves only once a
//     reconciliation succeeds or gives up, and is -1 until then. A controller writes the conditions first, and the rest
//     of the status, such as the artifact and status.observedGeneration, in a second request. In between, a source is
//     Ready with its former artifact. The message of its condition ArtifactInStorage names the revision.
//   - kustomize-controller sets Ready to Unknown at the start of each reconciliation, and so renews its
//     lastTransitionTime, whether it retries a failure or confirms a success.
//   - kustomize-controller keeps in status.history, latest first, one entry for each digest of the objects that it
//     built and each result, with the times of the first and the last reconciliation.
//   - A Kustomization stays Ready on the last artifact if its source can't be fetched, is suspended or is gone.
//   - source-controller sets Ready to Unknown only while it fetches for a new generation, a new revision or a request.
//     A failing source has the condition FetchFailed, which a retry with the same result leaves as it is.
const (
	succeeded   = "ReconciliationSucceeded" // status of an entry of a Kustomization's history, and reason of Ready
	progressing = "Progressing"             // reason of Ready during a reconciliation
)

// busy is the delay with which a busy controller may begin a reconciliation.
const busy = 10 * time.Second

// status is the health of an object as its controller reports it, with the arguments of [deployment.Report].
type status struct {
	health  deployment.Health
	since   time.Time
	message string
}

// with merges the status of an object and that of its source: the worse one decides. If both failed, the source is the
// cause. An object that is suspended stays so, whatever its source does.
func (s status) with(source status) status {
	worse := source.health.WorseThan(s.health) || s.health == deployment.Failed && source.health == s.health
	if !worse || s.health == deployment.Suspended {
		return s
	}
	return source
}

func (s status) fill(r *deployment.Report) {
	r.Health, r.Since, r.Message = s.health, s.since, s.message
}

// readyStatus returns the status of the latest generation of a Flux object from its condition Ready. since is only set
// for states that end by themselves in a moment.
func (o object) readyStatus(now time.Time) status {
	ready := o.condition("Ready")
	settled := o.number("status", "observedGeneration")
	seen := cmp.Or(ready.number("observedGeneration"), settled)
	switch {
	case o.GetDeletionTimestamp() != nil:
		return status{deployment.Progressing, now, "being deleted"}
	case o.flag("spec", "suspend"):
		return status{health: deployment.Suspended, message: "its reconciliation is suspended"}
	case seen != o.GetGeneration():
		return status{deployment.Progressing, now, "its controller has not observed its latest change"}
	}
	switch ready.text("status") {
	case "True":
		if settled != o.GetGeneration() {
			return status{deployment.Progressing, now, "its controller is writing its status"}
		}
		return status{health: deployment.Healthy}
	case "False":
		return status{health: deployment.Failed, message: ready.text("message")}
	}
	message := cmp.Or(o.condition("Reconciling").text("message"), ready.text("message"),
		"its controller has not set its condition Ready")
	return status{health: deployment.Progressing, message: message}
}

// kustomizationStatus returns the status of a Kustomization without that of its source.
func (o object) kustomizationStatus(source object, now time.Time) status {
	own := o.readyStatus(now)
	history := o.objects("status", "history")
	fetched := source.time("status", "artifact", "lastUpdateTime")
	failed := len(history) > 0 && history[0].text("lastReconciledStatus") != succeeded
	switch {
	case own.health == deployment.Progressing && o.confirms(history):
		own = status{health: deployment.Healthy}
	case own.health == deployment.Healthy && failed:
		own = status{deployment.Progressing, now, "its controller is writing its status"}
	}
	if own.health == deployment.Healthy {
		own.since = healthySince(history, fetched, parseDuration(o.text("spec", "interval")))
		return own
	}
	if !own.since.IsZero() {
		return own
	}
	own.since = unhealthySince(history, fetched, source.text("status", "artifact", "revision"))
	if own.health == deployment.Progressing && failed {
		// The condition with the cause of the last failure is kept until the check is repeated.
		own.message += "; the last one ended with " + history[0].text("lastReconciledStatus")
		if healthy := o.condition("Healthy"); healthy.text("status") == "False" {
			own.message += ": " + healthy.text("message")
		}
	}
	return own
}

// confirms reports whether the controller is repeating a reconciliation that was applied and healthy the last time: of
// the same generation and revision. Failures before the objects are built leave no entry in the history, so the
// reconciliation must be the first one that was due since the last success.
func (o object) confirms(history []object) bool {
	ready, applied := o.condition("Ready"), o.text("status", "lastAppliedRevision")
	if ready.text("status") != "Unknown" || ready.text("reason") != progressing || len(history) == 0 || applied == "" ||
		o.number("status", "observedGeneration") != o.GetGeneration() ||
		ready.number("observedGeneration") != o.GetGeneration() ||
		o.text("status", "lastAttemptedRevision") != applied ||
		history[0].text("lastReconciledStatus") != succeeded || history[0].text("metadata", "revision") != applied {
		return false
	}
	interval := parseDuration(o.text("spec", "interval"))
	retry := interval
	if text := o.text("spec", "retryInterval"); text != "" {
		retry = parseDuration(text)
	}
	// Flux moves the interval by up to 5%, and its times are whole seconds. A reconciliation that begins later than the
	// earliest retry of a failure may be a retry. So a late controller looks like a slow reconciliation.
	due := interval + interval/20 + busy
	firstRetry := interval - interval/20 + retry - time.Second
	return ready.time("lastTransitionTime").Sub(history[0].time("lastReconciled")) <= min(due, firstRetry)
}

// healthySince returns the time since when a Kustomization is healthy with the objects that it applied: the first
// reconciliation of their digest. If it reconciled another digest after that, or failed, it is the time at which the
// artifact that ended this was fetched, or the time at which the next reconciliation was due if that is earlier: later
// artifacts have the same digest. A Flux without history, before 2.7, only has the time of the artifact.
func healthySince(history []object, fetched time.Time, interval time.Duration) time.Time {
	if len(history) == 0 {
		return fetched
	}
	since := history[0].time("firstReconciled")
	var other time.Time
	for _, before := range history[1:] {
		other = deployment.Later(other, before.time("lastReconciled"))
	}
	if !other.After(since) {
		return since
	}
	if due := other.Add(interval); fetched.After(due) {
		return due
	}
	return deployment.Later(other, fetched)
}

// unhealthySince returns the beginning of the deadline of a Kustomization that is not healthy: the time at which its
// source's artifact came, or the last success if that is later. An artifact that brought nothing new to a failing
// Kustomization does not count.
func unhealthySince(history []object, fetched time.Time, revision string) time.Time {
	since := fetched
	if len(history) > 0 && history[0].text("metadata", "revision") == revision {
		first := history[0].time("firstReconciled")
		if history[0].text("lastReconciledStatus") != succeeded && !first.IsZero() && first.Before(since) {
			since = first
		}
	}
	return deployment.Later(since, lastSuccess(history))
}

// lastSuccess returns the time of the last successful reconciliation, or zero.
func lastSuccess(history []object) time.Time {
	var last time.Time
	for _, h := range history {
		if h.text("lastReconciledStatus") == succeeded {
			last = deployment.Later(last, h.time("lastReconciled"))
		}
	}
	return last
}

// sourceStatus returns the status of a source for an object that applied one of its revisions. It is Healthy if the
// latest artifact is the applied one, and the source could be fetched.
func (o object) sourceStatus(applied string, now time.Time) status {
	fetched := o.time("status", "artifact", "lastUpdateTime")
	s := o.readyStatus(now)
	s.since = cmp.Or(s.since, fetched)
	stored := o.condition("ArtifactInStorage").text("message")
	switch revision := o.text("status", "artifact", "revision"); {
	case s.health == deployment.Failed && o.number("status", "observedGeneration") == o.GetGeneration():
		// It could be fetched before. A source that never could be fetched fails since the folder contains it.
		s.since = deployment.Later(fetched, o.condition("FetchFailed").time("lastTransitionTime"))
	case s.health == deployment.Failed:
	case s.health == deployment.Progressing && s.since.Equal(fetched):
		s.since = deployment.Later(fetched, o.condition("Ready").time("lastTransitionTime")) // fetching a new revision
	case s.health == deployment.Suspended:
		s.message = "it is suspended"
	case s.health != deployment.Healthy:
	case revision == "":
		s = status{deployment.Progressing, now, "it has no artifact"}
	case stored != "" && !strings.Contains(stored, revision):
		s = status{deployment.Progressing, now, "its controller is writing its status"}
	case applied == "":
		s.health, s.message = deployment.Progressing, "its artifact "+revision+" is not applied yet"
	// A HelmRelease has only the digest.
	case revision != applied && !strings.HasSuffix(revision, "@"+applied):
		s.health, s.message = deployment.Progressing, "its artifact is "+revision+", and "+applied+" is applied"
	}
	if s.health != deployment.Healthy {
		s.message = o.name() + ": " + s.message
	}
	return s
}
