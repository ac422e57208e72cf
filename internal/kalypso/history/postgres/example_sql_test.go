package postgres_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/gitstore"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/pgserver"
)

// exampleSQL returns the blocks of SQL in the README of examples/observability, by their first line.
func exampleSQL(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../../../../examples/observability/README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := map[string]string{}
	for _, m := range regexp.MustCompile("(?s)```sql\n-- (.*?)\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		blocks[m[1]] = m[2]
	}
	if n := bytes.Count(text, []byte("```sql")); n != len(blocks) {
		t.Errorf("%d of %d blocks of SQL begin with a comment of their own", len(blocks), n)
	}
	return blocks
}

// TestExampleSQL runs each block of SQL in the README of examples/observability, and checks its result.
func TestExampleSQL(t *testing.T) {
	t.Parallel()
	url := pgserver.Start(t).Database(t)
	recordFleet(t, open(t, url))
	blocks := exampleSQL(t)
	take := func(name string) string {
		t.Helper()
		text, there := blocks[name]
		if !there {
			t.Fatalf("the README has no SQL %q", name)
		}
		delete(blocks, name)
		return text
	}

	for name, want := range map[string][]string{
		"Environments State: which versions run, in which state, on how many clusters": {
			"environment | workspace | application | workload | deployment_target | version | state | clusters | since",
			"dev | shop | store | web | shop-db | 9 | current | 1 | 01-03T00:00",
			"dev | shop | store | web | shop-web | 1.2 | current | 1 | 01-03T00:00",
			"live | shop | store | web | shop-web | 2.0 | current | 1 | " + today(t, url),
			"prod | shop | store | web | shop-web | 1.0 | current | 2 | 01-04T00:00",
			"prod | shop | store | web | shop-web | 1.0 | offline | 1 | 01-04T00:00",
		},
		"Environment Discrepancies: dev and prod side by side": {
			"deployment_target | dev | prod | prod clusters | successful",
			"shop-db | 9 | - | 0 | 0",
			"shop-web | 1.2 | 1.0 | 3 | 2",
		},
		"Cluster State: what one cluster runs": {
			"deployment_target | version | commit | state | since | message",
			"shop-web | 1.0 | 0123456789abcdef 1.0 | current | 01-04T00:00 | -",
		},
		"Environment History: the versions of each deployment target over time": {
			"deployment_target | version | since | clusters | success | failure | in progress",
			"shop-web | 1.1 | 01-02T00:00 | 1 | 0 | 1 | 1",
			"shop-web | 1.0 | 01-01T00:00 | 3 | 3 | 0 | 0",
		},
		"As of a moment": {
			"cluster | deployment_target | version | state",
			"o'hare | shop-web | 1.0 | current",
			"p1 | shop-web | 1.1 | progressing",
		},
		"How long each version took to reach the clusters": {
			"deployment_target | version | took | clusters",
			"shop-web | 1.0 | 3 days | 3",
		},
		"Alert: fails for an hour": {"environment | deployment_target | version | clusters"},
		`Alert: no new record (with renew_after = "24h")`: {
			"environment | recorded", "dev | 01-03T00:00", "prod | 01-04T00:00",
		},
		"Alert: a deployment fails, and is not restored": {"environment | promoted_commit | failed_at | reason"},
	} {
		if diff := cmp.Diff(want, grid(t, url, take(name))); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}

	checkExampleOnGit(t, url, take("DuckDB: the runs in the files of prod"), take("The runs, from the view runs"))

	pgserver.Exec(t, url, "CREATE ROLE writer LOGIN PASSWORD 'w'", "CREATE ROLE reader LOGIN PASSWORD 'r'",
		take("The rights of a writer, which is the user of the provider, and of a reader, such as Grafana"))
	as := func(user string) string {
		return strings.Replace(url, pgserver.User+":"+pgserver.Password, user+":"+user[:1], 1)
	}
	later := observed(1, "later")
	later.Environment = "test"
	mustRecord(t, open(t, as("writer")), nil, later)
	if rows := pgserver.Select(t, as("reader"), "SELECT version FROM kalypso.runs WHERE cluster = 'c1'"); len(rows) != 1 {
		t.Errorf("the reader sees %v", rows)
	}

	// Retention keeps a run that has not ended and the last observation of an environment, however old they are.
	pgserver.Exec(t, url, "UPDATE kalypso.run SET since = since - interval '3 years', until = until - interval '3 years'",
		"UPDATE kalypso.observation SET observed_at = observed_at - interval '3 years'",
		"UPDATE kalypso.environment SET observed_at = observed_at - interval '3 years'", take("Retention of two years"))
	left := pgserver.Select(t, url, "SELECT environment, count(*), count(until) FROM kalypso.runs GROUP BY 1 ORDER BY 1")
	if diff := cmp.Diff([]string{"dev 2 0", "live 1 0", "prod 3 0", "test 1 0"}, left); diff != "" {
		t.Errorf("runs after the retention (-want +got)\n%s", diff)
	}
	if n := pgserver.Select(t, url, "SELECT count(*) FROM kalypso.observation"); n[0] != "4" {
		t.Errorf("retention leaves %s observations", n[0])
	}
	if len(blocks) > 0 {
		t.Errorf("not tested: %v", slices.Sorted(maps.Keys(blocks)))
	}
}

// today returns the time at which the environment live was recorded, as [grid] writes it.
func today(t *testing.T, url string) string {
	t.Helper()
	return strings.TrimPrefix(grid(t, url, "SELECT since FROM kalypso.runs WHERE environment = 'live'")[1], " ")
}

// checkExampleOnGit runs the README's query over the files of a Git branch, and compares the result with the view. The
// README uses DuckDB, which reads the files with a function. Here a table with the same columns contains their lines.
func checkExampleOnGit(t *testing.T, url, view, query string) {
	t.Helper()
	repo := gitserver.InitBare(t)
	client, err := gitremote.NewClient(nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := gitstore.Open(client, "file://"+repo, "history", ".", gitbranch.Author{Name: "K", Email: "k@acme.io"})
	if err != nil {
		t.Fatal(err)
	}
	recordFleet(t, s)
	pattern := regexp.MustCompile(`read_json\('(.*?)'`).FindStringSubmatch(view)
	if pattern == nil {
		t.Fatalf("the view does not read files: %s", view)
	}
	name := regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(pattern[1]), `\*`, "[^/]*") + "$")
	pgserver.Exec(t, url, "CREATE TABLE starts (cluster_type text, deployment_target text, version text, state text, "+
		"since timestamptz, cluster text)")
	for file, text := range gitserver.Tree(t, repo, "history") {
		if !name.MatchString(file) {
			continue
		}
		for line := range strings.Lines(text) {
			var found struct {
				ClusterType      string    `json:"cluster_type"`
				DeploymentTarget string    `json:"deployment_target"`
				Version          *string   `json:"version"`
				State            *string   `json:"state"`
				Since            time.Time `json:"since"`
				Clusters         []string  `json:"clusters"`
			}
			if err := json.Unmarshal([]byte(line), &found); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			for _, cluster := range found.Clusters {
				if found.State == nil {
					t.Errorf("%s has clusters without a state: %s", file, line)
				}
				_, err := pgserver.Connect(t, url).Exec(t.Context(), "INSERT INTO starts VALUES ($1, $2, $3, $4, $5, $6)",
					found.ClusterType, found.DeploymentTarget, found.Version, found.State, found.Since, cluster)
				if err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	want := grid(t, url, "SELECT cluster, cluster_type, deployment_target, version, state, since, until "+
		"FROM kalypso.runs WHERE environment = 'prod' ORDER BY since, cluster, deployment_target")
	if diff := cmp.Diff(want, grid(t, url, query)); diff != "" || len(want) < 6 {
		t.Errorf("over the files of the branch (-want +got)\n%s", diff)
	}
}
