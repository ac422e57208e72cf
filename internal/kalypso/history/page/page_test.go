package page_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/observation"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/page"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion"
)

// Without a store there are no runs, so the cells of the fleet show deployment states and deliveries.
func TestCellsWithoutStore(t *testing.T) {
	histories, states := shop()
	for i := range histories {
		histories[i].Versions, histories[i].Runs = nil, nil
	}
	states[0].Targets = map[string]deployment.TargetCount{"web": {}}
	states[1].Targets = map[string]deployment.TargetCount{"web": {Current: 2, Total: 3}}
	states[2].Targets = map[string]deployment.TargetCount{
		"web": {Current: 9, Total: 9, Versions: map[string]int{"1.0": 7, "1.1": 2}}}
	states[2].Clusters = map[string][]deployment.Followed{
		"store-ber-1": {{Folder: "store", State: "failed"}}, "store-ber-2": {{Folder: "store", State: "current"}},
	}
	got := read(t, histories, states)
	fleet := got.all("table", "class=fleet")[0]
	want := []string{
		"Name | dev | stage | prod",
		"Deployment targets 1",
		"web | 0 | 2 of 3 progressing | 1.0 9 current +1 Versions 1.0 current 7 clusters 1.1 current 2 clusters",
	}
	if diff := cmp.Diff(want, fleet.rows()[:3]); diff != "" {
		t.Errorf("targets (-want +got)\n%s", diff)
	}
	var stores []string
	for _, c := range got.cells("store") {
		stores = append(stores, c.all("summary")[0].text())
	}
	promoted := func(i int) string { return histories[i].Deployments[0].PromotedCommit[:7] }
	want = []string{
		promoted(0) + " 4 2026-11-20 02:30Z current ahead",
		// Stage shows the delivery before: the rollout under way has not reached the cluster type.
		histories[1].Deployments[1].PromotedCommit[:7] + " 10 of 12 2026-11-20 16:10Z progressing 1 behind",
		promoted(2) + " 17 of 20 2026-11-20 14:55Z failed ahead",
	}
	if diff := cmp.Diff(want, stores); diff != "" {
		t.Errorf("stores (-want +got)\n%s", diff)
	}
	card := got.cells("store")[2].all("div")[0].text()
	for _, want := range []string{
		"Clusters failed store-ber-1 unhealthy: Deployment shop-checkout/api: 1 of 3 replicas",
		"current store-ber-2 Deliveries that changed this folder 2026-11-20 13:30Z promotion " + promoted(2),
	} {
		if !strings.Contains(card, want) {
			t.Errorf("no %q in: %s", want, card)
		}
	}
	// Without deployment states, the cells show deliveries.
	if got := read(t, histories[:1], nil).cells("store")[0].all("summary")[0].text(); got !=
		promoted(0)+" 2026-11-19 10:30Z" {
		t.Errorf("a cell without a state: %s", got)
	}
}

// The page shows a failure that clusters report as failed, even before the deadline and even if the store does not have
// it yet. It shows it in the rows of the deployment target and the cluster type, in the bar, and under "Wrong now".
func TestReportedFailures(t *testing.T) {
	state := page.DeploymentState{
		Name: "prod", Verdict: "pending", Complete: true, ObservedAt: now,
		Folders: map[string]deployment.FolderState{
			"store": {Counts: deployment.Counts{Total: 5, Current: 3, Progressing: 2, Failing: 1}},
		},
		Problems: []deployment.Problem{
			{Cluster: "edge-1", Folder: "store", State: "progressing", Message: "unhealthy: crash", Failing: true},
			{Cluster: "edge-2", Folder: "store", State: "progressing", Message: "not ready"},
		},
		Targets: map[string]deployment.TargetCount{
			"shop-api": {Total: 5, Current: 2, Failed: 2, Versions: map[string]int{"1.0": 4, "1.1": 1}},
			"shop-db":  {Total: 5, Current: 3},
			"shop-web": {Total: 5, Current: 2, Failed: 2},
		},
		Clusters: map[string][]deployment.Followed{
			"edge-1": {{Folder: "store", State: "progressing"}}, "edge-2": {{Folder: "store", State: "progressing"}},
		},
	}
	store := page.History{Name: "prod", Complete: true, Versions: []history.VersionCount{
		{Target: "shop-web", Version: "1.0", State: "current", Clusters: 5, Since: ago(hour)}}}
	for name, tt := range map[string]struct {
		histories []page.History
		rows      map[string]string // the texts of rows of the fleet
	}{
		"without a store": {nil, map[string]string{"shop-web": "2 of 5 failed"}},
		"with a store":    {[]page.History{store}, map[string]string{"shop-web": "1.0 5 failed"}},
	} {
		got := read(t, tt.histories, []page.DeploymentState{state})
		tt.rows["store"], tt.rows["shop-db"] = "3 of 5 failed", "3 of 5 progressing"
		tt.rows["shop-api"] = "1.0 2 of 5 failed +1"
		for row, want := range tt.rows {
			cell := got.cells(row)[0]
			if open := cell.all("summary"); len(open) > 0 {
				cell = open[0]
			}
			if cell.text() != want {
				t.Errorf("%s, %s: %s, want %s", name, row, cell.text(), want)
			}
		}
		wrong := got.section("wrong").all("table")[0].rows()[1:]
		want := []string{
			"failed | prod | shop-api, shop-web | the deployment state reports failed clusters | 2 clusters | ",
			"failed | prod | store | unhealthy: crash | edge-1 | ",
		}
		if diff := cmp.Diff(want, wrong); diff != "" {
			t.Errorf("%s, wrong now (-want +got)\n%s", name, diff)
		}
		if text := got.section("wrong").text(); strings.Contains(text, "No problems in this data") ||
			!strings.Contains(text, "In progress 1") {
			t.Errorf("%s: %s", name, text)
		}
		if text := got.cells("shop-api")[0].all("div")[0].text(); text != "Versions 1.0 4 clusters 1.1 1 cluster" {
			t.Errorf("%s: %s", name, text)
		}
		if text := got.cells("store")[0].all("div")[0].text(); text != "Clusters failed edge-1 unhealthy: crash "+
			"progressing edge-2 not ready" {
			t.Errorf("%s: %s", name, text)
		}
		if bar := got.section("environments").all("svg")[0].Attr; bar[2].Val != "3 current, 1 failed, 1 progressing" {
			t.Errorf("%s: the bar is %v", name, bar)
		}
	}
}

// With a store, a cell shows the version of most clusters, the worst state and its beginning. Opened, it shows the
// clusters and their earlier versions.
func TestCellsWithStore(t *testing.T) {
	got := read(t, first(shop()), nil)
	for row, want := range map[string]string{
		"checkout-api": "1.7.4 15 2026-11-20 14:55Z failed 2 behind",
		"cart-web":     "1.4.7 15 2026-11-19 03:30Z current 2 behind",
		"kiosk-till":   "",
	} {
		cell := got.cells(row)[2]
		if summary := cell.all("summary"); want == "" && cell.text() != "–" || want != "" && summary[0].text() != want {
			t.Errorf("%s: %s", row, cell.text())
		}
	}
	want := "Versions 1.7.4 current 13 clusters, since 2026-11-18 12:30Z 1.7.4 failed 2 clusters, " +
		"since 2026-11-20 14:55Z Clusters failed 1.7.4 edge-14, edge-15 Deployment checkout/api: 1 of 3 replicas available " +
		"current 1.7.4 edge-01, edge-02, edge-03, edge-04, edge-05, edge-06, edge-07, edge-08, edge-09, edge-10, edge-11, " +
		"edge-12, edge-13 Earlier versions 1.7.3 15 clusters, 2026-11-12 12:30Z – 2026-11-18 12:30Z"
	if diff := cmp.Diff(want, got.cells("checkout-api")[2].all("div")[0].text()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if search := got.cells("search-api")[1].all("summary")[0].text(); search !=
		"1.9.6 9 2026-11-17 08:30Z progressing 1 behind +1" {
		t.Errorf("two versions: %s", search)
	}
	row := got.cells("orders-api")[0].Parent
	want = "data-workspace=backoffice data-workload=orders data-type=edge data-differs="
	var attributes []string
	for _, a := range row.Attr {
		attributes = append(attributes, a.Key+"="+a.Val)
	}
	if diff := cmp.Diff(want, strings.Join(attributes, " ")); diff != "" {
		t.Errorf("attributes for the filters (-want +got)\n%s", diff)
	}
	var filters []string
	for _, f := range got.all("select") {
		filters = append(filters, f.Attr[0].Val+": "+f.text("option"))
	}
	want = "workspace: all, backoffice, storefront\n" +
		"workload: all, cart, catalog, checkout, identity, kiosk, loyalty, notify, orders, prices, search, stock, " +
		"telemetry\ntype: all, edge, hub, lab, store\nstate: all, current, failed, progressing"
	if diff := cmp.Diff(want, strings.Join(filters, "\n")); diff != "" {
		t.Errorf("filters (-want +got)\n%s", diff)
	}
}

func first[A, B any](a A, _ B) A { return a }

// Failures of clusters, targets and deliveries are at the top of the page, the worst first. Changes in progress have
// their own table.
func TestIssuesInOrder(t *testing.T) {
	histories, states := shop()
	got := read(t, histories, states).section("wrong")
	tables := got.all("table")
	want := []string{
		"State | Environment | Where | Details | Clusters | Since",
		"failed | prod | checkout-api | version 1.7.4: Deployment checkout/api: 1 of 3 replicas available | " +
			"edge-14, edge-15 | 2026-11-20 14:55Z",
		"failed | prod | store | unhealthy: Deployment shop-checkout/api: 1 of 3 replicas available, back-off restarting " +
			"failed container | store-ber-1, store-muc-4 | 2026-11-20 14:55Z",
		"missing | prod | edge | expected, but no source reports it | edge-17 | 2026-11-20 07:30Z",
		"offline | prod | store | disconnected since 3 hours | store-osl-2 | 2026-11-20 14:55Z",
	}
	if diff := cmp.Diff(want, tables[0].rows()); diff != "" {
		t.Errorf("wrong (-want +got)\n%s", diff)
	}
	want = []string{
		"State | Environment | Where | Details | Clusters | Since",
		"progressing | stage |  | Delivery of " + histories[1].Deployments[0].PromotedCommit[:7] +
			" is not complete: Checkout fails in the lab |  | 2026-11-20 14:30Z",
		"progressing | stage | search-api | version 1.9.5 | 3 clusters | 2026-11-17 08:30Z",
		"progressing | stage | store | it runs an older tree of the folder | store-ber-2, store-ham-1 | 2026-11-20 16:10Z",
	}
	if diff := cmp.Diff(want, tables[1].rows()); diff != "" {
		t.Errorf("in progress (-want +got)\n%s", diff)
	}
	if first := read(t, histories, states).all("main")[0].all("h2")[0].text(); first != "Problems" {
		t.Errorf("%s comes first", first)
	}
}

// "Wrong now" lists each environment whose verdict is not success, even if its state has no problems. An unknown state
// comes after failed.
func TestIssueOfEachVerdict(t *testing.T) {
	states := []page.DeploymentState{
		{Name: "a", Verdict: "pending", Summary: "no answer"},
		{Name: "b", Verdict: "failure"},
		{Name: "c", Verdict: "success"},
		{Name: "d", Verdict: "failure", Problems: []deployment.Problem{
			{State: "offline", Folder: "x"}, {State: "exploded", Folder: "y"}, {State: "failed", Folder: "z"}}},
	}
	var got []string
	unknown := []page.History{{Name: "c", Complete: true, Versions: []history.VersionCount{{Target: "web"}}}}
	for _, r := range read(t, unknown, states).section("wrong").all("table")[0].rows()[1:] {
		got = append(got, strings.Join(strings.Split(r, " | ")[:4], " "))
	}
	want := []string{"failed d z ", "pending a  no answer", "failure b  ", "exploded d y ", "offline d x "}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// Without a history, a cluster type has the promoted commit of the deployment state. Commits of GitOps branches are not
// compared, since each environment has its own branch.
func TestVersionsOfClusterTypes(t *testing.T) {
	folders := map[string]deployment.FolderState{
		"large": {Counts: deployment.Counts{Total: 1, Current: 1}, Verdict: "success"},
	}
	state := func(name string, complete bool) page.DeploymentState {
		return page.DeploymentState{
			Name:           name,
			Folders:        folders,
			PromotedCommit: commit(1),
			Complete:       complete,
			Verdict:        "success",
		}
	}
	of := func(name string, n int) page.History {
		return page.History{Name: name, Complete: true, Deployments: []history.Delivery{
			{Commit: commit(n), StartedAt: now, DeliveredAt: now, Kind: "change", Folders: []string{"large"}}}}
	}
	cells := read(t, []page.History{of("a", 5), of("b", 6)},
		[]page.DeploymentState{state("c", true), state("d", false)}).cells("large")
	if row := cells[0].Parent; len(row.Attr) != 1 || row.Attr[0].Key != "data-type" {
		t.Errorf("versions differ: %v", row.Attr)
	}
	var got []string
	for _, c := range cells {
		if open := c.all("summary"); len(open) > 0 {
			c = open[0]
		}
		got = append(got, c.text())
	}
	want := []string{commit(5)[:7] + " 2026-11-20 16:30Z", commit(6)[:7] + " 2026-11-20 16:30Z",
		commit(1)[:7] + " 1 current", "1 current"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// Of many problems, the page shows 12 at once and 188 after a click, and gives the number of the rest.
func TestManyProblems(t *testing.T) {
	state := page.DeploymentState{Name: "a", Verdict: "failure"}
	for i := range 250 {
		state.Problems = append(state.Problems, deployment.Problem{State: "failed", Folder: "f" + strconv.Itoa(i)})
	}
	wrong := read(t, nil, []page.DeploymentState{state}).section("wrong")
	tables := wrong.all("table")
	if len(tables) != 2 || len(tables[0].rows()) != 13 || len(tables[1].rows()) != 189 {
		t.Errorf("%d tables", len(tables))
	}
	for _, want := range []string{"188 more", "The fleet table below shows 50 more."} {
		if !strings.Contains(wrong.text(), want) {
			t.Errorf("no %q in: %s", want, wrong.text())
		}
	}
}

// The order of two promoted commits follows from the promotions in an environment that had both. A rollback delivers an
// older commit. If limit cut off deliveries, the order is unknown.
func TestOrderOfPromotedCommits(t *testing.T) {
	at := func(hours, n int, kind history.Kind) history.Delivery {
		return history.Delivery{StartedAt: ago(time.Duration(hours) * hour), DeliveredAt: ago(time.Duration(hours) * hour),
			PromotedCommit: commit(n), Kind: kind, Folders: []string{"large"}}
	}
	promoted := []history.Delivery{at(1, 2, "promotion"), at(2, 1, "promotion")}
	behind := []history.Delivery{at(1, 1, "promotion")}
	for _, tt := range []struct {
		name        string
		deployments []history.Delivery
		cut         int
		want        string
	}{
		{"a promotion", promoted, 0, "ahead/1 behind"},
		{"a promotion, with deliveries cut off", promoted, 3, "/"},
		{"a rollback to a commit that was not promoted", []history.Delivery{at(1, 2, "rollback"), at(2, 1, "promotion")}, 0,
			"/"},
		{"a rollback to a promoted commit",
			[]history.Delivery{at(1, 0, "rollback"), at(2, 1, "promotion"), at(3, 0, "promotion")}, 0,
			"1 behind/ahead"},
	} {
		cells := read(t, []page.History{
			{Name: "a", Complete: true, Deployments: tt.deployments, Metrics: history.Metrics{Deployments: tt.cut}},
			{Name: "b", Complete: true, Deployments: behind}}, nil).cells("large")
		if got := cells[0].text("em") + "/" + cells[1].text("em"); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// "Wrong now" lists a failed delivery until a later delivery restores the environment.
func TestFailedDelivery(t *testing.T) {
	at := func(h int, failed bool, delivered, restored bool) history.Delivery {
		d := history.Delivery{StartedAt: ago(time.Duration(h) * hour), PromotedCommit: commit(h), Failed: failed}
		if delivered {
			d.DeliveredAt = d.StartedAt
		}
		if failed {
			d.FailedAt = d.StartedAt
		}
		if restored {
			d.RestoredAt = now
		}
		return d
	}
	name := func(h int) string { return commit(h)[:7] }
	for _, tt := range []struct {
		name        string
		deployments []history.Delivery
		want        []string
	}{
		{"no deliveries", nil, nil},
		{"a good delivery after a failed one", []history.Delivery{at(1, false, true, false), at(2, true, true, true)}, nil},
		{"a failed delivery, restored", []history.Delivery{at(1, true, true, true)}, nil},
		{"two failed deliveries", []history.Delivery{at(1, true, true, false), at(2, true, true, false)},
			[]string{"failed " + name(1) + " failed"}},
		{"a failed delivery, rollback under way", []history.Delivery{at(1, false, false, false), at(2, true, true, false)},
			[]string{"failed " + name(2) + " failed", "progressing " + name(1) + " is not complete"}},
		{"an incomplete delivery, replaced by a complete one",
			[]history.Delivery{at(1, false, true, false), at(2, false, false, false)}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, table := range read(t, []page.History{{Name: "a", Complete: true, Deployments: tt.deployments}}, nil).
				section("wrong").all("table") {
				for _, r := range table.rows()[1:] {
					cells := strings.Split(r, " | ")
					what, _, _ := strings.Cut(strings.TrimPrefix(cells[3], "Delivery of "), ":")
					got = append(got, cells[0]+" "+what)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// The page distinguishes a rollback that the provider decided from a rollback by people.
func TestAutomaticRollback(t *testing.T) {
	for name, tt := range map[string]struct{ kind, by, want string }{
		"automatic rollback": {"rollback", "rollback", "automatic rollback"},
		"rollback by people": {"rollback", "", "rollback"},
		"another delivery":   {"change", "", "change"},
	} {
		histories, states := shop()
		d := histories[0].Deployments[0]
		d.Kind, d.DecidedBy = history.Kind(tt.kind), tt.by
		histories[0].Deployments[0] = d
		row := read(t, histories, states).section("e1").all("table")[0].rows()[1]
		if kind := strings.Split(row, " | ")[1]; kind != tt.want {
			t.Errorf("%s: the kind is %q, want %q", name, kind, tt.want)
		}
	}
}

// The table of an environment shows the changes, the author and the reason of each delivery. It has no mail addresses,
// and links only to repos with HTTPS.
func TestDeliveries(t *testing.T) {
	histories, states := shop()
	histories[0].GitOpsRepo.Repo = "git@github.com:acme/gitops.git"
	histories[0].ControlPlane.Repo += ".git"
	histories[1].Deployments[0].Author = "<mara@acme.io>"
	got := read(t, histories, states)
	dev := got.section("e1")
	tables := dev.all("table")
	if len(tables) != 2 || len(tables[0].rows()) != 11 || len(tables[1].rows()) != 20 {
		t.Fatalf("%d tables", len(tables))
	}
	d := histories[0].Deployments
	want := []string{
		"Started | Kind | Promoted | Commits | GitOps commit | Reason | Author | Folders | Lead time | Outcome",
		"2026-11-20 15:30Z | promotion | " + d[0].PromotedCommit[:7] + " | 1 commit | " + d[0].Commit[:7] +
			" | Raise the memory limit of search | Jonas Weber | edge | 2 h | delivered",
	}
	if diff := cmp.Diff(want, tables[0].rows()[:2]); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	var failed []string
	for _, r := range tables[0].all("tr") {
		for _, bad := range r.all("td", "class=bad") {
			failed = append(failed, bad.text())
		}
	}
	if diff := cmp.Diff("failed, restored after 19 h", strings.Join(failed, "")); diff != "" {
		t.Errorf("failed (-want +got)\n%s", diff)
	}
	var links []string
	for _, a := range tables[0].all("tr")[1].all("a") {
		links = append(links, a.Attr[0].Val)
	}
	if change := tables[0].rows()[2]; !strings.Contains(change, "| change | "+d[1].PromotedCommit[:7]+" |  | ") {
		t.Errorf("a change brings commits: %s", change)
	}
	card := got.section("environments").all("a")[0]
	if want := "https://github.com/acme/control-plane/commit/" + d[0].PromotedCommit; card.Attr[0].Val != want {
		t.Errorf("the promoted commit of dev links to %s", card.Attr[0].Val)
	}
	want = []string{"https://github.com/acme/control-plane/commit/" + d[0].PromotedCommit, d[0].CompareURL}
	if diff := cmp.Diff(want, links); diff != "" {
		t.Errorf("links (-want +got)\n%s", diff)
	}
	if heading := dev.text("p"); !strings.HasPrefix(heading, "2026-10-21 16:30Z – 2026-11-20 16:30Z . Below") {
		t.Errorf("the default window: %s", heading)
	}
	if strings.Contains(got.text(), "@acme.io") {
		t.Error("the page has mail addresses")
	}
	if lanes := got.all("svg", "role=img"); !strings.Contains(lanes[3].Attr[1].Val, "dev: 29 deliveries, 3 failed") {
		t.Errorf("the lane of dev: %v", lanes[3].Attr)
	}
}

// The four metrics are those in the data. Their trends are computed from the listed deliveries.
func TestMetrics(t *testing.T) {
	number := func(n int) *int { return &n }
	rate := 1.0 / 3
	at := func(days int, lead *int, failed bool) history.Delivery {
		start := ago(time.Duration(days) * day)
		d := history.Delivery{StartedAt: start, DeliveredAt: start, Failed: failed, LeadTimeSeconds: lead}
		if failed {
			d.FailedAt, d.RestoredAt = d.DeliveredAt, d.DeliveredAt.Add(90*time.Minute)
		}
		return d
	}
	h := page.History{Name: "prod", Complete: true, Since: "240h", Until: now.Format(time.RFC3339),
		Metrics: history.Metrics{Deployments: 3, DeploymentsPerDay: 0.5, LeadTimeSeconds: number(90061),
			ChangeFailureRate: &rate, TimeToRestoreSeconds: number(59)},
		Deployments: []history.Delivery{at(1, number(60), false), at(2, number(7200), true), at(3, nil, false),
			at(9, number(3660), false)}}
	h.Deployments[1].DeliveredAt = time.Time{} // it failed before it was complete
	metrics := func(h page.History) (got []string) {
		for _, m := range read(t, []page.History{h}, nil).all("dl", "class=metrics")[0].all("div") {
			got = append(got, m.text()+" "+m.all("path")[0].Attr[0].Val)
		}
		return got
	}
	bars := func(heights ...int) string {
		var b strings.Builder
		for i, h := range heights {
			b.WriteString("M" + strconv.Itoa(10*i+1) + " 20V" + strconv.Itoa(19-h) + "h8V20z")
		}
		return b.String()
	}
	want := []string{
		"Deployments 3 · 0.5 a day 1 → 2 " + bars(0, 18, 0, 0, 0, 0, 0, 0, 18, 0, 18, 0),
		"Lead time 1 d 1 h 1 h 1 min → 1 h " + bars(0, 9, 0, 0, 0, 0, 0, 0, 0, 18, 0, 0),
		"Change failure rate 33.3 % 0 % → 33 % " + bars(0, 0, 0, 0, 0, 0, 0, 0, 0, 18, 0, 0),
		"Time to restore 59 s – → 1 h 30 min " + bars(0, 0, 0, 0, 0, 0, 0, 0, 0, 18, 0, 0),
	}
	if diff := cmp.Diff(want, metrics(h)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	// If limit cut off the oldest deliveries, the trend begins with the oldest delivery in the list.
	h.Deployments = h.Deployments[:3]
	cut := "Deployments 3 · 0.5 a day 1 → 1 " + bars(18, 0, 0, 0, 0, 0, 0, 0, 18, 0, 0, 0)
	if diff := cmp.Diff(cut, metrics(h)[0]); diff != "" {
		t.Errorf("with deliveries cut off (-want +got)\n%s", diff)
	}
	h = page.History{Name: "prod", Complete: true}
	if diff := cmp.Diff("Lead time – "+bars(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), metrics(h)[1]); diff != "" {
		t.Errorf("without deliveries (-want +got)\n%s", diff)
	}
}

// A state and a history belong to one environment if they have the same key in their maps, and otherwise if they have
// the same location. Notes list missing data.
func TestEnvironments(t *testing.T) {
	location := func(branch string) destination.Destination {
		return destination.Destination{Repo: "https://acme.io/r", Branch: branch, Path: "."}
	}
	historyOf := func(name, environment, branch string) page.History {
		return page.History{Name: name, Environment: environment, GitOpsRepo: location(branch), Complete: true}
	}
	state := func(name, branch string) page.DeploymentState {
		at := location(branch)
		at.Path = ""
		return page.DeploymentState{Name: name, GitOpsRepo: at, Verdict: "success", Summary: "state of " + branch}
	}
	for _, tt := range []struct {
		name      string
		histories []page.History
		states    []page.DeploymentState
		want      string
	}{
		{"equal locations", []page.History{historyOf("", "prod", "b"), historyOf("", "", "c")},
			[]page.DeploymentState{state("", "c"), state("", "b")}, "prod: state of b; c: state of c"},
		{"equal keys", []page.History{historyOf("x", "prod", "b"), historyOf("y", "prod", "b2")},
			[]page.DeploymentState{state("y", "b"), state("x", "b2")}, "x: state of b2; y: state of b"},
		{"a state and a history without a counterpart", []page.History{historyOf("", "prod", "b")},
			[]page.DeploymentState{state("", "c")},
			"prod: ; c: state of c"},
		{"a name that must be escaped", []page.History{historyOf("a\u202eb", "", "b")}, nil, `a\u202eb: `},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, card := range read(t, tt.histories, tt.states).section("environments").all("li") {
				got = append(got, card.text("h3")+": "+card.text("p"))
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, "; ")); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
	for want, err := range map[string]error{
		`two histories belong to the environment "prod"`: second(htmlOf([]page.History{historyOf("", "prod", "b"),
			historyOf("prod", "", "c")}, nil)),
		`two states belong to the environment "b"`: second(
			htmlOf(nil, []page.DeploymentState{state("", "b"), state("", "b")})),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	lacking := historyOf("", "old", "b")
	lacking.Complete, lacking.Truncated = false, true
	lacking.Metrics.Deployments, lacking.Deployments = 2, []history.Delivery{{DeliveredAt: now}}
	got := read(t, []page.History{lacking}, []page.DeploymentState{state("", "c")}).section("wrong").text()
	want := "Problems No problems in this data. " +
		"old: only deliveries are known, not the versions that clusters run. " +
		"c: no history, so deliveries are not known. " +
		"old: the branch has more commits than were read, so older deliveries are missing. " +
		"old: older deliveries are missing because of limit, so the trends begin later than the metrics. " +
		"old: older runs of clusters are missing because of limit."
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("notes (-want +got)\n%s", diff)
	}
}

func second[A, B any](_ A, b B) B { return b }

// The same data gives the same bytes, in any order of versions, runs and problems.
func TestHTMLIsDeterministic(t *testing.T) {
	histories, states := shop()
	want, err := htmlOf(histories, states)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a shuffle
	for range 10 {
		for i := range histories {
			h, s := &histories[i], &states[i]
			r.Shuffle(len(h.Versions), func(a, b int) { h.Versions[a], h.Versions[b] = h.Versions[b], h.Versions[a] })
			r.Shuffle(len(h.Runs), func(a, b int) { h.Runs[a], h.Runs[b] = h.Runs[b], h.Runs[a] })
			r.Shuffle(len(s.Problems), func(a, b int) { s.Problems[a], s.Problems[b] = s.Problems[b], s.Problems[a] })
		}
		if got, err := htmlOf(histories, states); err != nil || !bytes.Equal(want, got) {
			t.Fatalf("different bytes: %v\n%s", err, cmp.Diff(string(want), string(got)))
		}
	}
}

// The Content-Security-Policy allows only the page's own style and script, by their hashes, and no request.
func TestPolicy(t *testing.T) {
	html, err := htmlOf(shop())
	if err != nil {
		t.Fatal(err)
	}
	inline := func(element string) string {
		_, text, _ := bytes.Cut(html, []byte("<"+element+">"))
		text, _, _ = bytes.Cut(text, []byte("</"+element+">"))
		sum := sha256.Sum256(text)
		return base64.StdEncoding.EncodeToString(sum[:])
	}
	want := "default-src 'none'; style-src 'sha256-" + inline("style") + "'; script-src 'sha256-" + inline("script") +
		"'; img-src data:; base-uri 'none'; form-action 'none'"
	if got := read(t, nil, nil).all("meta", "http-equiv=Content-Security-Policy")[0].Attr[1].Val; got != want {
		t.Errorf("the policy is\n%s, want\n%s", got, want)
	}
	if bytes.Contains(html, []byte(" style=")) || bytes.Contains(html, []byte(" onclick")) {
		t.Error("the policy refuses attributes with a style or a script")
	}
}

// Each text color has at least the contrast that WCAG AA asks for, 4.5, on each background where it may occur, in both
// schemes. The borders of controls have at least 3.
func TestContrast(t *testing.T) {
	style, err := os.ReadFile("page.css")
	if err != nil {
		t.Fatal(err)
	}
	light, dark, found := strings.Cut(string(style), "@media screen and (prefers-color-scheme: dark)")
	if !found {
		t.Fatal("the style has no dark scheme")
	}
	dark, _, _ = strings.Cut(dark, "\n}\n")
	variable := regexp.MustCompile(`--([a-z-]+): #([0-9a-f]{6});`)
	pairs := 0
	for scheme, text := range map[string]string{"light": light, "dark": dark} {
		colours := map[string]float64{}
		for _, v := range variable.FindAllStringSubmatch(text, -1) {
			colours[v[1]] = luminance(t, v[2])
		}
		for _, on := range []string{"page", "panel", "sunken", "ok-soft", "bad-soft", "warn-soft", "info-soft"} {
			for name, least := range map[string]float64{
				"text": 4.5, "muted": 4.5, "link": 4.5, "ok": 4.5, "bad": 4.5, "warn": 4.5, "control": 3,
			} {
				if strings.HasSuffix(on, "-soft") && name == "control" {
					continue // no control is on a tinted background
				}
				a, there := colours[name]
				b, there2 := colours[on]
				if ratio := (max(a, b) + 0.05) / (min(a, b) + 0.05); !there || !there2 || ratio < least {
					t.Errorf("%s: %s on %s has the contrast %.2f, want %.1f", scheme, name, on, ratio, least)
				}
				pairs++
			}
		}
	}
	if other := regexp.MustCompile(`(?m)^ +(color|fill|stroke|background): *#`).FindString(string(style)); other != "" {
		t.Errorf("a color that is not a variable: %s", other)
	}
	if pairs != 2*(7*6+3) {
		t.Errorf("%d pairs", pairs)
	}
}

// luminance returns the relative luminance of a colour, as WCAG 2 defines it.
func luminance(t *testing.T, hex string) float64 {
	t.Helper()
	n, err := strconv.ParseUint(hex, 16, 32)
	if err != nil {
		t.Fatal(err)
	}
	return relativeLuminance(float64(n>>16&255), float64(n>>8&255), float64(n&255))
}

// Attributes have their names in Terraform. An unknown attribute is ignored, null is the same as a missing attribute,
// and texts are escaped.
func TestDecode(t *testing.T) {
	var h page.History
	decode(t, `{"environment": "a\u202eb", "since": null, "deployments": [{"kind": "first",
		"started_at": "2026-01-01T00:00:00Z", "delivered_at": null, "commits": null, "folders": ["a\tb"], "news": 1}],
		"metrics": {"deployments": 1, "change_failure_rate": null}, "versions": null, "observation": "secret"}`, &h)
	want := page.History{Environment: `a\u202eb`, Metrics: history.Metrics{Deployments: 1},
		Deployments: []history.Delivery{{
			Kind: "first", StartedAt: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Folders: []string{`a\tb`}}}}
	if diff := cmp.Diff(want, h); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	var s page.DeploymentState
	decode(t, `{"clusters": {"a\u0000": [{"folder": "f", "revision": "x"}]},
		"folders": {"f": {"total": 3, "progressing": 2, "failing": 1, "missing": 1, "verdict": "pending", "since": null}},
		"problems": [{"cluster": "a", "folder": "f", "state": "progressing\u0000", "message": "b\nc", "failing": true}],
		"targets": {"web": {"current": 1, "total": 2, "versions": {"1\t0": 2}, "workload": "w"}}}`, &s)
	wanted := page.DeploymentState{
		Clusters: map[string][]deployment.Followed{`a\x00`: {{Folder: "f", Revision: "x"}}},
		Folders: map[string]deployment.FolderState{"f": {Verdict: "pending",
			Counts: deployment.Counts{Total: 3, Progressing: 2, Failing: 1, Missing: 1}}},
		Problems: []deployment.Problem{{Cluster: "a", Folder: "f", State: `progressing\x00`, Message: `b\nc`, Failing: true}},
		Targets: map[string]deployment.TargetCount{"web": {Current: 1, Total: 2,
			Versions: map[string]int{`1\t0`: 2}}},
	}
	if diff := cmp.Diff(wanted, s); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// decode reads data of Terraform, as the function of the provider does.
func decode(t *testing.T, text string, to any) {
	t.Helper()
	var data any
	if err := json.Unmarshal([]byte(text), &data); err != nil {
		t.Fatal(err)
	}
	if err := page.Decode(data, to); err != nil {
		t.Fatal(err)
	}
}

// All lanes share one axis, from the beginning of the earliest window to the end of the latest, with a tick for each
// day.
func TestLanesShareOneAxis(t *testing.T) {
	at := func(name string, since string, days int) page.History {
		d := history.Delivery{StartedAt: ago(time.Duration(days) * day), DeliveredAt: now, Kind: "promotion"}
		return page.History{Name: name, Since: since, Until: now.Format(time.RFC3339), Complete: true,
			Deployments: []history.Delivery{d}}
	}
	got := read(t, []page.History{at("a", "528h", 5), at("b", "2026-11-10T16:30:00Z", 10), at("c", "240h", 40)}, nil)
	var lanes []string
	for _, svg := range got.all("svg", "role=img") {
		for _, mark := range svg.all("svg") {
			lanes = append(lanes, mark.Attr[0].Val+" "+mark.Attr[1].Val)
		}
	}
	want := []string{"mark promotion 77.27%", "mark promotion 54.55%", "mark promotion 0.00%"}
	if diff := cmp.Diff(want, lanes); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	ticks := got.all("svg", "class=axis")[0].text()
	if diff := cmp.Diff("30 Oct 2 Nov 5 Nov 8 Nov 11 Nov 14 Nov 17 Nov", ticks); diff != "" {
		t.Errorf("ticks (-want +got)\n%s", diff)
	}
}

// Runs of the folder of a cluster type, without a deployment target, are in the row of the cluster type.
func TestRunsOfClusterTypes(t *testing.T) {
	run := history.Run{Cluster: "edge-1", Place: observation.Place{ClusterType: "large"}, Since: ago(day), Message: "lost",
		Condition: observation.Condition{Version: observation.Version{Version: "abc"}, State: "stale"}}
	before := run
	before.Version.Version, before.Since, before.Until = "def", ago(2*day), ago(day)
	got := read(t, []page.History{{Name: "a", Complete: true, Runs: []history.Run{run, before},
		Versions: []history.VersionCount{{Version: "abc", State: "stale", Clusters: 1}}}}, nil)
	if summary := got.cells("large")[0].all("summary")[0].text(); summary != "1 stale" {
		t.Errorf("the cell: %s", summary)
	}
	wrong := got.section("wrong").all("table")[0].rows()
	if diff := cmp.Diff("stale | a |  | version abc: lost | edge-1 | ", wrong[1]); diff != "" {
		t.Errorf("wrong (-want +got)\n%s", diff)
	}
	want := "Clusters stale abc edge-1 lost Earlier versions def 1 cluster, 2026-11-18 16:30Z – 2026-11-19 16:30Z"
	if cells := got.cells("large"); len(cells) != 1 || cells[0].all("div")[0].text() != want {
		t.Errorf("cells: %s", got.all("table", "class=fleet")[0].text())
	}
	if rows := got.all("table", "class=fleet")[0].rows(); len(rows) != 3 {
		t.Errorf("rows: %s", rows)
	}
	// If there is a deployment state, its clusters are shown: they are newer than the runs of the store.
	got = read(t, []page.History{{Name: "a", Complete: true, Runs: []history.Run{run}}}, []page.DeploymentState{{Name: "a",
		Folders:  map[string]deployment.FolderState{"large": {Counts: deployment.Counts{Total: 1, Current: 1}}},
		Clusters: map[string][]deployment.Followed{"edge-2": {{Folder: "large", State: "current"}}}}})
	if card := got.cells("large")[0].all("div")[0].text(); card != "Clusters current edge-2" {
		t.Errorf("with a state: %s", card)
	}
}

// The card of an environment lists the commits that wait for a promotion, the oldest first, with the gate and its
// reason, such as the time at which a window opens. A promotion to an environment without history and state is left
// out.
func TestWaitingCommits(t *testing.T) {
	histories, states := shop()
	prod := page.Promotion{Environment: "production", GitOpsRepo: histories[2].GitOpsRepo}
	for _, name := range []string{"five", "four", "three", "two"} {
		commit := name + "0123456789"
		prod.Waiting = append(prod.Waiting, promotion.Waiting{Commit: commit, Gate: "stage", Reason: "soaks"})
	}
	prod.Waiting = append(prod.Waiting, promotion.Waiting{
		Commit: "one0123456789", Gate: "window", Reason: "waits until 2027-01-04T00:00:00Z: <script>holidays</script>",
	})
	other := page.Promotion{Environment: "other", Waiting: prod.Waiting}
	html, err := htmlOf(histories, states, prod, other)
	if err != nil {
		t.Fatal(err)
	}
	text := string(html)
	want := []string{
		">one0123<", " is not promoted yet. Gate window: waits until 2027-01-04T00:00:00Z: &lt;script&gt;holidays",
		">two0123<", ">three01<",
	}
	for _, part := range want {
		at := strings.Index(text, part)
		if at < 0 {
			t.Fatalf("no %q, in this order", part)
		}
		text = text[at:]
	}
	if strings.Contains(string(html), ">four012<") || strings.Count(string(html), ">one0123<") != 1 {
		t.Error("too many commits wait")
	}

	// If none waits, the newest skipped commit says why nothing is promoted.
	prod.Waiting = nil
	prod.Skipped = []promotion.Skipped{{Commit: "six0123456789", Reason: "rejected: <b>"}, {Commit: "five0123456789"}}
	html, err = htmlOf(histories, states, prod)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(html), " is not promoted yet. It is skipped: rejected: &lt;b&gt;<") ||
		!strings.Contains(string(html), ">six0123<") || strings.Contains(string(html), ">five012<") {
		t.Error("the newest skipped commit is not shown alone")
	}
}
