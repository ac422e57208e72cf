package page_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/observation"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/page"
)

// now is the time at which the data was read.
var now = time.Date(2026, 11, 20, 16, 30, 0, 0, time.UTC)

func ago(d time.Duration) time.Time { return now.Add(-d) }

const (
	hour = time.Hour
	day  = 24 * time.Hour
)

// commit returns the n-th commit of the control plane.
func commit(n int) string {
	return fmt.Sprintf("%07x%033x", 0x9e3779b*uint64(n+1)%0xfffffff, n) //nolint:gosec // small numbers
}

// shop returns the fleet of a shop. It has three environments; prod has a failed target and a lost cluster.
func shop() ([]page.History, []page.DeploymentState) {
	gitops := func(branch string) destination.Destination {
		return destination.Destination{Repo: "https://github.com/acme/gitops", Branch: branch, Path: "."}
	}
	var histories []page.History
	var states []page.DeploymentState
	for i, env := range []string{"dev", "stage", "prod"} {
		h := page.History{
			Environment: env, GitOpsRepo: gitops(env), Complete: true, RecordedUntil: now,
			ControlPlane: destination.Destination{Repo: "https://github.com/acme/control-plane", Branch: "main"},
		}
		h.Deployments = shopDeployments(i)
		h.Metrics = shopMetrics(h.Deployments)
		s := page.DeploymentState{
			Environment: env, GitOpsRepo: gitops(env), ObservedAt: now, Verdict: "success",
			PromotedCommit: h.Deployments[0].PromotedCommit, Folders: map[string]deployment.FolderState{},
			Summary: "4 of 4 cluster types deployed",
		}
		for k, name := range []string{"edge", "hub", "lab", "store"} {
			n := []int{3, 2, 1, 4}[k] * (1 + 2*i)
			s.Folders[name] = deployment.FolderState{Counts: deployment.Counts{Total: n, Current: n}, Verdict: "success",
				Since: ago(time.Duration(5+11*i+3*k) * hour)}
		}
		shopTargets(&h, i)
		histories, states = append(histories, h), append(states, s)
	}
	stage, prod := &states[1], &states[2]
	stage.Verdict, stage.Summary = "pending", "3 of 4 cluster types deployed, store is in progress"
	stage.Folders["store"] = deployment.FolderState{Counts: deployment.Counts{Total: 12, Current: 10, Progressing: 2},
		Verdict: "pending", Since: ago(20 * time.Minute)}
	for _, cluster := range []string{"store-ber-2", "store-ham-1"} {
		stage.Problems = append(stage.Problems, deployment.Problem{Cluster: cluster, Folder: "store", State: "progressing",
			Message: "it runs an older tree of the folder"})
	}
	prod.Verdict, prod.Summary = "failure", "2 of 4 cluster types deployed, store failed"
	prod.Folders["store"] = deployment.FolderState{
		Counts:  deployment.Counts{Total: 20, Current: 17, Failed: 2, Offline: 1},
		Verdict: "failure", Since: ago(95 * time.Minute)}
	prod.Folders["edge"] = deployment.FolderState{Counts: deployment.Counts{Total: 15, Current: 14, Missing: 1},
		Verdict: "pending", Since: ago(9 * hour)}
	prod.Problems = []deployment.Problem{
		{Cluster: "store-ber-1", Folder: "store", State: "failed", Message: "unhealthy: Deployment shop-checkout/api: " +
			"1 of 3 replicas available, back-off restarting failed container"},
		{Cluster: "store-muc-4", Folder: "store", State: "failed", Message: "unhealthy: Deployment shop-checkout/api: " +
			"1 of 3 replicas available, back-off restarting failed container"},
		{Cluster: "edge-17", Folder: "edge", State: "missing", Message: "expected, but no source reports it"},
		{Cluster: "store-osl-2", Folder: "store", State: "offline", Message: "disconnected since 3 hours"},
	}
	return histories, states
}

// shopDeployments returns 29 days of deliveries to an environment: dev gets one each day, stage every second day, prod
// every fourth.
func shopDeployments(environment int) []history.Delivery {
	every := []int{1, 2, 4}[environment]
	reasons := []string{
		"check run \"ci\" is success", "shop-checkout 1.8.2: retry payments", "stage ran it for 24h without a failure",
		"Raise the memory limit of search", "Approved by the release board",
	}
	authors := []string{"Mara Lind <mara@acme.io>", "Jonas Weber <jonas@acme.io>", "Kalypso <ci@acme.io>"}
	var all []history.Delivery
	for n := 28; n >= 0; n -= every {
		at := ago(time.Duration(n)*day + time.Duration(5*n%9)*hour + time.Duration(1+environment)*hour)
		c := 28 - n
		commits, lead := every, (2+(n*7)%5)*3600*(1+6*environment)
		d := history.Delivery{
			Commit: commit(100 + c), StartedAt: at, DeliveredAt: at.Add(time.Duration(20*environment) * time.Minute),
			Author: authors[c/every%3], Kind: "promotion", PromotedCommit: commit(c), Commits: &commits,
			CompareURL: "https://github.com/acme/control-plane/compare/" + commit(c-every) + "..." + commit(c),
			Folders:    []string{"edge", "hub", "lab", "store"}[:1+(c/every)%4], Reason: reasons[c/every%5],
			LeadTimeSeconds: &lead,
		}
		switch {
		case c/every%9 == 5:
			d.Kind, d.PromotedCommit = "rollback", commit(c-2*every)
			d.Reason, d.LeadTimeSeconds, d.CompareURL = "Checkout fails in the lab", nil, ""
			failed := &all[len(all)-1]
			failed.Failed, failed.FailedAt, failed.RestoredAt = true, failed.DeliveredAt.Add(hour), d.DeliveredAt
		case c/every%6 == 3:
			d.Kind, d.PromotedCommit, d.CompareURL, d.Commits = "change", commit(c-every), "", new(int)
			d.LeadTimeSeconds = nil
		}
		all = append(all, d)
	}
	slices.Reverse(all)
	if environment == 1 {
		all[0].DeliveredAt = time.Time{} // its waves are under way
	}
	return all
}

func shopMetrics(all []history.Delivery) history.Metrics {
	days, lead, rate, restore := 30.0, 4*3600, 0.0, 0
	m := history.Metrics{}
	for _, d := range all {
		if !d.DeliveredAt.IsZero() {
			m.Deployments++
		}
		if d.Failed {
			rate++
			restore = int(d.RestoredAt.Sub(d.FailedAt).Seconds())
		}
	}
	rate /= float64(len(all))
	m.DeploymentsPerDay = float64(m.Deployments) / days
	m.LeadTimeSeconds, m.ChangeFailureRate, m.TimeToRestoreSeconds = &lead, &rate, &restore
	return m
}

// shopTargets adds the versions on the clusters. Some targets have a newer version in dev than in stage, and a newer
// version in stage than in prod.
func shopTargets(h *page.History, environment int) {
	for k, target := range []string{
		"cart-web", "catalog-api", "catalog-sync", "checkout-api", "checkout-web", "identity-login", "kiosk-till",
		"loyalty-points", "notify-mail", "orders-api", "orders-archive", "prices-feed", "search-api", "search-index",
		"stock-sync", "telemetry-agent",
	} {
		workload, _, _ := strings.Cut(target, "-")
		workspace := []string{"storefront", "backoffice"}[k%2]
		patch := 9 - k%5
		if k%3 == 0 {
			patch -= environment
		}
		version := func(patch int) string { return fmt.Sprintf("1.%d.%d", 4+k%7, patch) }
		since := ago(time.Duration(3+17*environment+5*k) * hour)
		n := []int{4, 9, 15}[environment] - k%3
		v := history.VersionCount{Target: target, Version: version(patch), State: "current", Clusters: n, Since: since,
			Workload: workload, Workspace: workspace}
		for c := range n {
			run := history.Run{Cluster: fmt.Sprintf("%s-%02d", []string{"edge", "hub", "store"}[k%3], c+1),
				Since: since, Place: observation.Place{ClusterType: []string{"edge", "hub", "store"}[k%3], Target: target},
				Condition: observation.Condition{State: "current", Version: observation.Version{
					Version: v.Version, Workload: workload, Workspace: workspace}}}
			before := run
			before.Version.Version, before.Until, before.Since = version(patch-1), since, since.Add(-6*day)
			if target == "checkout-api" && environment == 2 && c > n-3 {
				run.State, run.Since = "failed", ago(95*time.Minute)
				run.Message = "Deployment checkout/api: 1 of 3 replicas available"
			}
			h.Runs = append(h.Runs, run, before)
		}
		if target == "checkout-api" && environment == 2 {
			failed := v
			failed.State, failed.Clusters, failed.Since = "failed", 2, ago(95*time.Minute)
			v.Clusters -= 2
			h.Versions = append(h.Versions, failed)
		}
		if target == "search-api" && environment == 1 {
			older := v
			older.Version, older.State, older.Clusters, v.Clusters = version(patch-1), "progressing", 3, n-3
			h.Versions = append(h.Versions, older)
		}
		h.Versions = append(h.Versions, v)
		if target == "kiosk-till" && environment == 2 {
			h.Versions = h.Versions[:len(h.Versions)-1] // not in prod yet
			h.Runs = h.Runs[:len(h.Runs)-2*n]
		}
	}
}
