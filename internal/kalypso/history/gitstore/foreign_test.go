package gitstore_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// atPlace queries the environment at the place of [observed], as the data source does.
func atPlace(path string) history.Query {
	return history.Query{Repo: "https://acme.io/gitops", Branch: "prod", Path: path, Until: at(12, 1, 0), Limit: 10}
}

// It is an error if people put an entry, such as a submodule, where records belong. Otherwise the environment would
// look as if it had no records.
func TestForeignEntries(t *testing.T) {
	t.Parallel()
	const commit = "0123456789012345678901234567890123456789"
	for path, entry := range map[string]gitserver.File{
		"fleet/runs/prod/2026/01/02/000000Z-0123456789ab.jsonl": {Mode: "160000", Content: commit},
		"fleet/runs/prod/2026/01/03/000000Z-0123456789ab.jsonl": {Mode: "120000", Content: "../README.md"},
		"fleet/runs/prod/2026/02":                               {Mode: "160000", Content: commit},
		"fleet/runs/prod/2027":                                  {Mode: "120000", Content: "2026"},
		"fleet/runs/prod/2026/01/01/old.jsonl":                  {Mode: "100644", Content: "{}"},
		"fleet/runs/prod/2099/01/01/000000Z-0123456789ab.jsonl": {Mode: "100644"}, // a copy of the record with another name
		"fleet/runs/prod":                                       {Mode: "160000", Content: commit},
		"fleet/runs":                                            {Mode: "160000", Content: commit},
		"fleet":                                                 {Mode: "100644", Content: "a file"},
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			repo := gitserver.InitBare(t)
			s := open(t, repo, "fleet/runs", gitbranch.Author{})
			now := observed(at(1, 1, 0), map[string]string{"c1": "1"})
			record(t, s, nil, now)
			names, contents := files(t, repo)
			if entry.Mode == "100644" && entry.Content == "" {
				entry.Content = contents[names[0]]
			}
			gitserver.SeedFiles(t, repo, branch, "Foreign", map[string]gitserver.File{path: entry})
			before := gitserver.Rev(t, repo, branch)
			_, lastErr := s.Snapshot(t.Context(), "prod")
			_, readErr := s.Read(t.Context(), atPlace("."))
			_, recordErr := s.Record(t.Context(), history.Write{Previous: now, Observation: observed(at(1, 5, 0), nil)})
			for call, err := range map[string]error{"Snapshot": lastErr, "Read": readErr, "Record": recordErr} {
				if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "remove it") {
					t.Errorf("%s: %v\ndoes not name %s", call, err, path)
				}
			}
			if gitserver.Rev(t, repo, branch) != before {
				t.Error("the branch was changed")
			}
		})
	}
}

// Foreign files, such as a README, are ignored if their names can't be taken for records.
func TestForeignFilesAreIgnored(t *testing.T) {
	t.Parallel()
	repo := gitserver.InitBare(t)
	s := open(t, repo, ".", gitbranch.Author{})
	gitserver.Seed(t, repo, branch, map[string]string{"README.md": "a", "docs/2026/notes.md": "b", "prod/README.md": "c",
		"prod/.gitattributes": "d", "prod/2026/01/README.md": "e"})
	if past, err := s.Read(t.Context(), atPlace(".")); err != nil || !past.RecordedUntil.IsZero() {
		t.Errorf("%+v, %v", past, err)
	}
	record(t, s, nil, observed(at(1, 1, 0), map[string]string{"c1": "1"}))
	if past, err := s.Read(t.Context(), atPlace(".")); err != nil || len(past.Runs) != 1 {
		t.Errorf("%+v, %v", past, err)
	}
}

// A broken file of an environment is an error only for this environment. If a query by location finds no environment
// there, an environment without a readable file is an error too, since it may be the right one.
func TestBrokenFileOfAnotherEnvironment(t *testing.T) {
	t.Parallel()
	repo := gitserver.InitBare(t)
	s := open(t, repo, ".", gitbranch.Author{})
	for _, environment := range []string{"dev", "prod"} {
		now := observed(at(1, 1, 0), map[string]string{"c1": "1"})
		now.Environment = environment
		if environment == "dev" {
			now.Path = "dev"
		}
		record(t, s, nil, now)
	}
	const broken = "dev/2026/02/01/000000Z-0123456789ab.jsonl"
	gitserver.Seed(t, repo, branch, map[string]string{broken: "<<<<<<< HEAD"})
	read := func(path string) string {
		past, err := s.Read(t.Context(), atPlace(path))
		if err != nil {
			return err.Error()[:strings.Index(err.Error(), ",")]
		}
		return past.Environment
	}
	got := []string{read("."), read("dev"), read("nowhere")}
	if diff := cmp.Diff([]string{"prod", "file " + broken + " is not a record", ""}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}

	names, _ := files(t, repo)
	gitserver.Seed(t, repo, branch, map[string]string{names[0]: "broken, too"})
	got = []string{read("."), read("dev"), read("nowhere")}
	unknown := "file " + broken + " is not a record"
	if diff := cmp.Diff([]string{"prod", unknown, unknown}, got); diff != "" {
		t.Errorf("without a readable file of dev (-want +got)\n%s", diff)
	}
}

// A file in which a run begins after its observation is an error. Otherwise the run would hide all later runs of its
// instance.
func TestRunBeginsAfterObservation(t *testing.T) {
	t.Parallel()
	repo := gitserver.InitBare(t)
	s := open(t, repo, ".", gitbranch.Author{})
	now := observed(at(1, 1, 0), map[string]string{"c1": "1"})
	record(t, s, nil, now)
	names, contents := files(t, repo)
	moment := `"since":"` + now.ObservedAt.Format(time.RFC3339)
	gitserver.Seed(t, repo, branch,
		map[string]string{names[0]: strings.Replace(contents[names[0]], moment, `"since":"9999-01-01T00:00:00Z`, 1)})
	later := observed(at(1, 2, 0), map[string]string{"c1": "2"})
	_, err := s.Record(t.Context(), history.Write{Previous: now, Observation: later})
	_, readErr := s.Read(t.Context(), atPlace("."))
	for _, err := range []error{err, readErr} {
		if want := fmt.Sprintf("line 2 of file %s begins a run after", names[0]); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v\ndoes not contain %s", err, want)
		}
	}
}
