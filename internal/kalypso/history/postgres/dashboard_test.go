package postgres_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/observation"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/pgserver"
)

// day returns a time of January 2026.
func day(n int) time.Time { return time.Date(2026, 1, n, 0, 0, 0, 0, time.UTC) }

// recordFleet records some days of three environments. In prod, a promotion fails on the second day and is rolled back
// on the fourth. live is recorded at the present time.
func recordFleet(t *testing.T, s history.Store) {
	t.Helper()
	last := map[string]*observation.Observation{}
	observe := func(environment string, at time.Time, deliveries []history.Delivery, clusters ...string) {
		t.Helper()
		now := &observation.Observation{Environment: environment, Repo: "https://acme.io/gitops", Branch: environment,
			Path: ".", ObservedAt: at, Verdict: "success", Head: "head"}
		for _, text := range clusters { // cluster target version state message
			part := strings.SplitN(text, " ", 5)
			now.Groups = append(now.Groups, observation.Group{
				Place: observation.Place{ClusterType: "large", Target: part[1]},
				Condition: observation.Condition{State: part[3], Version: observation.Version{
					Version: part[2], Content: "tree " + part[2], Commit: "0123456789abcdef " + part[2],
					Workload: "web", Application: "store", Workspace: "shop"}},
				Members: []observation.Member{{Cluster: part[0], Message: strings.Join(part[4:], "")}}})
		}
		now.Sort()
		_, err := s.Record(t.Context(), history.Write{Previous: last[environment], Observation: now, Deliveries: deliveries})
		if err != nil {
			t.Fatal(err)
		}
		last[environment] = now
	}
	seconds, commits := func(n int) *int { return &n }, 2
	first := history.Delivery{FirstCommit: "f1", Commit: "f1", StartedAt: day(1), DeliveredAt: day(1), Kind: "first",
		Author: "A <a@acme.io>", PromotedCommit: "aaaaaaaaaaaa0000", Reason: "begin", LeadTimeSeconds: nil}
	failed := history.Delivery{FirstCommit: "f2", Commit: "f2", StartedAt: day(2), DeliveredAt: day(2).Add(time.Hour),
		Author: "A <a@acme.io>", Kind: "promotion", PromotedCommit: "bbbbbbbbbbbb0000", PreviousCommit: first.PromotedCommit,
		Commits: &commits, LeadTimeSeconds: seconds(5400), Reason: "ci is green", Failed: true, FailedAt: day(3),
		RestoredAt: day(4)}
	back := history.Delivery{FirstCommit: "f3", Commit: "f3", StartedAt: day(4), DeliveredAt: day(4), Kind: "rollback",
		PromotedCommit: first.PromotedCommit, RunningAt: day(4)}
	observe("dev", day(1), []history.Delivery{first}, "d1 shop-web 1.0 current")
	observe("dev", day(3), nil, "d1 shop-web 1.2 current", "d1 shop-db 9 current")
	observe("prod", day(1), []history.Delivery{first}, "p1 shop-web 1.0 current", "o'hare shop-web 1.0 current")
	observe("prod", day(2), []history.Delivery{first, failed}, "p1 shop-web 1.1 progressing",
		"o'hare shop-web 1.0 current")
	observe("prod", day(3), []history.Delivery{first, failed}, "p1 shop-web 1.1 failed no such image",
		"o'hare shop-web 1.0 current", "p1  v0 failed shop-web fails")
	observe("prod", day(4), []history.Delivery{first, failed, back}, "p1 shop-web 1.0 current",
		"o'hare shop-web 1.0 offline", "p2 shop-web 1.0 current")
	observe("live", time.Now().Truncate(time.Second), nil, "l1 shop-web 2.0 current")
}

// grid runs a query. It returns a line with the names of the columns, and a line for each row.
func grid(t *testing.T, url, query string) []string {
	t.Helper()
	rows, err := pgserver.Connect(t, url).Query(t.Context(), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	var lines []string
	line := func(cells []string) { lines = append(lines, strings.Join(cells, " | ")) }
	var names []string
	for _, f := range rows.FieldDescriptions() {
		names = append(names, f.Name)
	}
	line(names)
	for rows.Next() {
		values, err := rows.Values()
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		var cells []string
		for _, v := range values {
			switch v := v.(type) {
			case nil:
				cells = append(cells, "-")
			case pgtype.Interval:
				cells = append(cells, fmt.Sprintf("%d days", v.Days))
			case time.Time:
				cells = append(cells, v.UTC().Format("01-02T15:04"))
			default:
				cells = append(cells, fmt.Sprint(v))
			}
		}
		line(cells)
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return lines
}

// dashboard is the part of Grafana's format that contains queries.
type dashboard struct {
	Panels []struct {
		Title   string
		Targets []struct{ RawSQL string }
	}
	Templating struct {
		List []struct{ Name, Type, Query string }
	}
}

func readDashboard(t testing.TB) (d dashboard) {
	t.Helper()
	text, err := os.ReadFile("../../../../examples/observability/grafana.json")
	if err == nil {
		err = json.Unmarshal(text, &d)
	}
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// grafana replaces macros and variables in queries, as Grafana's data source for PostgreSQL does.
type grafana struct {
	from, to  time.Time
	variables map[string][]string
}

var reference = regexp.MustCompile(`\$\{(\w+):sqlstring\}`)

func (g grafana) expand(t testing.TB, query string) string {
	t.Helper()
	moment := func(at time.Time) string { return at.Format("'2006-01-02T15:04:05Z'") }
	query = strings.NewReplacer("$__timeFrom()", moment(g.from), "$__timeTo()", moment(g.to)).Replace(query)
	query = reference.ReplaceAllStringFunc(query, func(text string) string {
		values, there := g.variables[reference.FindStringSubmatch(text)[1]]
		if !there {
			t.Errorf("%s: there is no such variable", text)
		}
		var quoted []string
		for _, v := range values {
			quoted = append(quoted, "'"+strings.ReplaceAll(v, "'", "''")+"'")
		}
		return strings.Join(quoted, ",")
	})
	if strings.Contains(query, "$") {
		t.Errorf("a macro of %s is not known", query)
	}
	return query
}

// Each query of the dashboard returns the versions that the clusters ran at the end of the time range.
func TestDashboard(t *testing.T) {
	t.Parallel()
	url := pgserver.Start(t).Database(t)
	recordFleet(t, open(t, url))
	g := grafana{from: day(1), to: day(3).Add(12 * time.Hour), variables: map[string][]string{
		"target": {"shop-web"}, "cluster": {"o'hare"}}}
	d := readDashboard(t)
	variables := map[string][]string{"environment": {"environment", "dev", "live", "prod"},
		"target": {"deployment_target", "shop-db", "shop-web"}, "cluster": {"cluster", "d1", "l1", "o'hare", "p1", "p2"}}
	for _, v := range d.Templating.List {
		if v.Type == "textbox" {
			g.variables[v.Name] = []string{v.Query}
		}
		if v.Type != "query" {
			continue
		}
		got := grid(t, url, g.expand(t, v.Query))
		if diff := cmp.Diff(variables[v.Name], got); diff != "" {
			t.Errorf("variable %s (-want +got)\n%s", v.Name, diff)
		}
		if g.variables[v.Name] == nil {
			g.variables[v.Name] = got[1:]
		}
		delete(variables, v.Name)
	}
	if len(variables) > 0 {
		t.Errorf("the dashboard has no variables %v", variables)
	}
	want := map[string][]string{
		"Environments": {
			"environment | clusters | deployment targets | failing | progressing | without news | recorded",
			"dev | 1 | 2 | 0 | 0 | 0 | 01-03T00:00",
			"prod | 2 | 1 | 1 | 0 | 0 | 01-04T00:00",
		},
		"Versions compared": {
			"deployment target | environment | versions",
			"shop-db | dev | 9 on 1",
			"shop-web | dev | 1.2 on 1",
			"shop-web | prod | 1.0 on 1, 1.1 on 1",
		},
		"Versions and their states": {
			"environment | deployment target | version | state | clusters | since",
			"dev | shop-db | 9 | current | 1 | 01-03T00:00",
			"dev | shop-web | 1.2 | current | 1 | 01-03T00:00",
			"prod | shop-web | 1.0 | current | 1 | 01-01T00:00",
			"prod | shop-web | 1.1 | failed | 1 | 01-03T00:00",
		},
		"Failing": {
			"environment | cluster | cluster type | deployment target | workload | workspace | version | since | message",
			"prod | p1 | large |  | web | shop | v0 | 01-03T00:00 | shop-web fails",
			"prod | p1 | large | shop-web | web | shop | 1.1 | 01-03T00:00 | no such image",
		},
		"Clusters of $target": {
			"environment | cluster | cluster type | version | commit | state | since | message",
			"dev | d1 | large | 1.2 | 0123456789ab | current | 01-03T00:00 | -",
			"prod | o'hare | large | 1.0 | 0123456789ab | current | 01-01T00:00 | -",
			"prod | p1 | large | 1.1 | 0123456789ab | failed | 01-03T00:00 | no such image",
		},
		"History of $target": {
			"environment | version | since | until | clusters | succeeded | failed",
			"dev | 1.2 | 01-03T00:00 | - | 1 | 1 | 0",
			"prod | 1.1 | 01-02T00:00 | 01-04T00:00 | 1 | 0 | 1",
			"dev | 1.0 | 01-01T00:00 | 01-03T00:00 | 1 | 1 | 0",
			"prod | 1.0 | 01-01T00:00 | 01-04T00:00 | 2 | 2 | 0",
		},
		"Deployment targets of $cluster": {
			"environment | cluster type | deployment target | version | commit | state | since | message",
			"prod | large | shop-web | 1.0 | 0123456789ab | current | 01-01T00:00 | -",
		},
		"DORA metrics": {
			"environment | deployments | per day | lead time | change failure rate | time to restore",
			"dev | 1 | 0.4 | - | 0 | -",
			"prod | 2 | 0.8 | 5400 | 0.5 | 86400",
		},
		"Deployments": {
			"environment | started | delivered | kind | promoted commit | commits | lead time | running | failed | restored | " +
				"author | reason",
			"prod | 01-02T00:00 | 01-02T01:00 | promotion | bbbbbbbbbbbb | 2 | 5400 | - | true | 01-04T00:00 | " +
				"A <a@acme.io> | ci is green",
			"dev | 01-01T00:00 | 01-01T00:00 | first | aaaaaaaaaaaa | - | - | - | false | - | A <a@acme.io> | begin",
			"prod | 01-01T00:00 | 01-01T00:00 | first | aaaaaaaaaaaa | - | - | - | false | - | A <a@acme.io> | begin",
		},
	}
	for _, p := range d.Panels {
		for _, target := range p.Targets {
			got := grid(t, url, g.expand(t, target.RawSQL))
			if p.Title == "Silent recorders" { // its result depends on the clock
				if len(got) != 3 || !strings.HasPrefix(got[1], "dev | 01-03T00:00 | ") ||
					!strings.HasPrefix(got[2], "prod | 01-04T00:00 | ") {
					t.Errorf("%s\n%s", p.Title, strings.Join(got, "\n"))
				}
			} else if diff := cmp.Diff(want[p.Title], got); diff != "" {
				t.Errorf("%s (-want +got)\n%s", p.Title, diff)
			}
			for _, name := range []string{"prod", "dev", "stage"} {
				if regexp.MustCompile(`\b` + name + `\b`).MatchString(target.RawSQL) {
					t.Errorf("%s names the environment %s", p.Title, name)
				}
			}
		}
		delete(want, p.Title)
	}
	if len(want) > 0 {
		t.Errorf("the dashboard has no panels %v", slices.Sorted(maps.Keys(want)))
	}

	// Another time range shows another past.
	g.to = day(5)
	for _, p := range d.Panels {
		if p.Title != "Failing" && p.Title != "Versions compared" {
			continue
		}
		got := grid(t, url, g.expand(t, p.Targets[0].RawSQL))[1:]
		later := map[string][]string{"Failing": {},
			"Versions compared": {"shop-db | dev | 9 on 1", "shop-web | dev | 1.2 on 1", "shop-web | prod | 1.0 on 3"}}
		if diff := cmp.Diff(later[p.Title], got); diff != "" {
			t.Errorf("%s, on the fifth day (-want +got)\n%s", p.Title, diff)
		}
	}
}
