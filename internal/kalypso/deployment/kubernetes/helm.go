package kubernetes

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/versions"
)

// helmReleaseStatus returns the status of a HelmRelease with those of its chart and of the chart's own source.
//
// Unlike kustomize-controller, helm-controller leaves Ready as it is while it finds a release in sync
// (AtomicRelease.Reconcile in its internal/reconcile), so the time of Ready is that of the release. It sets Ready to
// Unknown for each install and upgrade, and so renews the time with each retry of a failed one.
func (k *cluster) helmReleaseStatus(ctx context.Context, o object) (status, error) {
	own := o.readyStatus(k.date.now())
	if own.health == deployment.Healthy {
		own.since = o.condition("Ready").time("lastTransitionTime")
	}
	chart := o.reference("spec", "chartRef")
	if chart.Name == "" {
		namespace, name, made := strings.Cut(o.text("status", "helmChart"), "/")
		if !made {
			return own.with(status{health: deployment.Progressing, message: "its controller has not made its chart yet"}), nil
		}
		chart = versions.Reference{Kind: "HelmChart", Namespace: namespace, Name: name}
	}
	source, there, err := k.source(ctx, chart)
	if err != nil {
		return status{}, err
	}
	if own.health != deployment.Healthy && own.since.IsZero() {
		own.since = source.time("status", "artifact", "lastUpdateTime")
	}
	applied := cmp.Or(o.text("status", "lastAttemptedRevisionDigest"), o.text("status", "lastAttemptedRevision"))
	own, err = k.withSource(ctx, own, chart, applied, time.Time{})
	if err != nil || !there || chart.Kind != "HelmChart" {
		return own, err
	}
	of := source.reference("spec", "sourceRef")
	repo, _, err := k.source(ctx, of)
	if err != nil {
		return status{}, err
	}
	if repo.GetKind() == "HelmRepository" && repo.text("spec", "type") == "oci" {
		return own, nil // source-controller writes no status: it only names a registry
	}
	return k.withSource(ctx, own, of, source.text("status", "observedSourceArtifactRevision"), time.Time{})
}
