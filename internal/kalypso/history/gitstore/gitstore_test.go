package gitstore_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/signing"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/gitstore"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/observation"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/slow"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/signingkey"
)

const branch = "history"

func open(t *testing.T, repo, path string, author gitbranch.Author) *gitstore.Store {
	t.Helper()
	client, err := gitremote.NewClient(nil)
	if err != nil {
		t.Fatal(err)
	}
	author.Name, author.Email = "Kalypso", signingkey.Email
	s, err := gitstore.Open(client, "file://"+repo, branch, path, author)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// at returns a time of 2026.
func at(month time.Month, day, hour int) time.Time {
	return time.Date(2026, month, day, hour, 0, 0, 0, time.UTC)
}

// observed returns an observation of clusters, each of which runs a version.
func observed(when time.Time, versions map[string]string) *observation.Observation {
	o := &observation.Observation{Environment: "prod", Repo: "https://acme.io/gitops", Branch: "prod", Path: ".",
		ObservedAt: when, Verdict: "success", Head: "0123"}
	for cluster, version := range versions {
		o.Groups = append(o.Groups, observation.Group{Place: observation.Place{ClusterType: "large", Target: "web"},
			Condition: observation.Condition{State: "current",
				Version: observation.Version{Version: version, Content: "tree" + version}},
			Members: []observation.Member{{Cluster: cluster}}})
	}
	o.Sort()
	return o
}

func record(t *testing.T, s *gitstore.Store, was, now *observation.Observation) *observation.Observation {
	t.Helper()
	done, err := s.Record(t.Context(), history.Write{Previous: was, Observation: now})
	if err != nil {
		t.Fatal(err)
	}
	return done.Present
}

// files returns the files of the branch, sorted by name.
func files(t *testing.T, repo string) (names []string, contents map[string]string) {
	t.Helper()
	contents = gitserver.Tree(t, repo, branch)
	return slices.Sorted(maps.Keys(contents)), contents
}

// A record is one commit with one file. The first commit of the branch has no parent. The commits are signed if the
// author has a signer.
func TestFormat(t *testing.T) {
	t.Parallel()
	repo, key := gitserver.InitBare(t), signingkey.NewSSH(t)
	signer, err := signing.New(signing.Settings{PrivateKey: key.Private}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, repo, "fleet/history", gitbranch.Author{Signer: signer})
	first := observed(at(1, 31, 10), map[string]string{"c1": "1", "c2": "1", "c3": "2"})
	first.PromotedCommit = "cafe"
	second := observed(at(1, 31, 11), map[string]string{"c1": "1", "c2": "2"})
	second.Unanswered = nil
	second.Groups[1].Members[0].Message = "two <is> late"
	second.Groups[1].Members[0].Since = observation.Millis(at(1, 31, 11)) - 500
	second.Groups[1].Version = observation.Version{Version: "2", Content: "tree2", Commit: "abcd", Repo: "r", Path: "p",
		Workload: "w", Application: "a", Workspace: "s", Build: "b", CommittedAt: at(1, 1, 1), BuiltAt: at(1, 1, 2)}
	record(t, s, record(t, s, nil, first), second)
	names, contents := files(t, repo)
	want := map[string]string{
		"fleet/history/prod/2026/01/31/100000Z-" + first.Hash()[:12] + ".jsonl": fmt.Sprintf(
			`{"v":1,"environment":"prod","gitops_repo":"https://acme.io/gitops","branch":"prod","path":".",`+
				`"observed_at":"2026-01-31T10:00:00Z","observation":"%s","after":"","verdict":"success",`+
				`"verdict_since":"2026-01-31T10:00:00Z","head":"0123","promoted_commit":"cafe","unanswered":[]}
{"cluster_type":"large","deployment_target":"web","version":"1","content":"tree1","state":"current",`+
				`"since":"2026-01-31T10:00:00Z","clusters":["c1","c2"]}
{"cluster_type":"large","deployment_target":"web","version":"2","content":"tree2","state":"current",`+
				`"since":"2026-01-31T10:00:00Z","clusters":["c3"]}
`, first.Hash()),
		"fleet/history/prod/2026/01/31/110000Z-" + second.Hash()[:12] + ".jsonl": fmt.Sprintf(
			`{"v":1,"environment":"prod","gitops_repo":"https://acme.io/gitops","branch":"prod","path":".",`+
				`"observed_at":"2026-01-31T11:00:00Z","observation":"%s","after":"%s","verdict":"success",`+
				`"verdict_since":"2026-01-31T11:00:00Z","head":"0123","promoted_commit":"","unanswered":[]}
{"cluster_type":"large","deployment_target":"web","state":"removed","since":"2026-01-31T11:00:00Z","clusters":["c3"]}
{"cluster_type":"large","deployment_target":"web","version":"2","content":"tree2","commit":"abcd",`+
				`"committed_at":"2026-01-01T01:00:00Z","repo":"r","path":"p","workload":"w","application":"a","workspace":"s",`+
				`"build":"b","built_at":"2026-01-01T02:00:00Z","state":"current","since":"2026-01-31T10:59:59.5Z",`+
				`"message":"two <is> late","clusters":["c2"]}
`, second.Hash(), first.Hash()),
	}
	if diff := cmp.Diff(want, contents); diff != "" {
		t.Errorf("%s (-want +got)\n%s", names, diff)
	}
	commits := strings.Fields(gitserver.Git(t, repo, "rev-list", branch))
	if len(commits) != 2 || gitserver.Git(t, repo, "log", "-1", "--format=%s %ct", branch) !=
		fmt.Sprintf("Record what ran in prod: 2 changes %d\n", at(1, 31, 11).Unix()) {
		t.Error(gitserver.Git(t, repo, "log", branch))
	}
	key.VerifyCommits(t, repo, commits...)
	gitserver.Fsck(t, repo)
}

// The first file of a month lists all instances, not only changes. So does a file if Terraform's state does not match
// the store.
func TestFirstFileOfMonthIsComplete(t *testing.T) {
	t.Parallel()
	repo := gitserver.InitBare(t)
	s := open(t, repo, ".", gitbranch.Author{})
	versions := map[string]string{"c1": "1", "c2": "1", "gone": "1"}
	was := record(t, s, nil, observed(at(1, 1, 0), versions))
	delete(versions, "gone")
	versions["c1"] = "2"
	was = record(t, s, was, observed(at(1, 2, 0), versions))
	versions["c1"] = "3"
	was = record(t, s, was, observed(at(2, 1, 0), versions))
	versions["c1"] = "4"
	was = record(t, s, was, observed(at(2, 2, 0), versions))
	versions["c1"] = "5"
	record(t, s, nil, observed(at(2, 3, 0), versions))
	names, contents := files(t, repo)
	var got []string
	for _, name := range names {
		got = append(got, fmt.Sprint(strings.Contains(contents[name], `"after":""`), strings.Count(contents[name], "\n")-1))
	}
	// A complete file has a line for the version of c1 and c2 each, and one for the removed cluster.
	want := []string{"true 1", "false 2", "true 3", "false 1", "true 3"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	_ = was

	// A query for January reads files that are older than the last complete file.
	january := history.Query{Environment: "prod", Since: at(1, 10, 0), Until: at(1, 20, 0), Limit: 10}
	past, err := s.Read(t.Context(), january)
	if err != nil || len(past.Runs) != 2 || past.Runs[0].Version.Version != "2" || !past.Runs[0].Until.Equal(at(2, 1, 0)) {
		t.Errorf("%+v, %v", past.Runs, err)
	}

	// People remove the files of January. The current runs still have their beginnings, and the next record adds to them.
	gone := map[string]gitserver.File{}
	for _, name := range names[:2] {
		gone[name] = gitserver.File{}
	}
	gitserver.SeedFiles(t, repo, branch, "Retention", gone)
	versions["c1"] = "6"
	record(t, s, observed(at(2, 3, 0), map[string]string{"c1": "5", "c2": "1"}), observed(at(2, 4, 0), versions))
	past, err = s.Read(t.Context(), history.Query{Environment: "prod", Until: at(3, 1, 0), Limit: 10})
	var runs []string
	for _, r := range past.Runs {
		runs = append(runs, fmt.Sprint(r.Cluster, " ", r.Version.Version, " ", r.Since.Format("01-02")))
	}
	want = []string{"c1 6 02-04", "c1 5 02-03", "c1 4 02-02", "c1 3 02-01", "c2 1 01-01"}
	if diff := cmp.Diff(want, runs); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}

// People remove a file between two others. The provider notices the gap, so the next record lists all instances.
func TestRemovedFileInTheMiddle(t *testing.T) {
	t.Parallel()
	repo := gitserver.InitBare(t)
	s := open(t, repo, ".", gitbranch.Author{})
	was := record(t, s, nil, observed(at(1, 1, 0), map[string]string{"c1": "1", "c2": "1"}))
	was = record(t, s, was, observed(at(1, 2, 0), map[string]string{"c1": "2", "c2": "1"}))
	was = record(t, s, was, observed(at(1, 3, 0), map[string]string{"c1": "2", "c2": "2"}))
	names, _ := files(t, repo)
	gitserver.SeedFiles(t, repo, branch, "Lost", map[string]gitserver.File{names[1]: {}})
	record(t, s, was, observed(at(1, 4, 0), map[string]string{"c1": "2", "c2": "3"}))
	names, contents := files(t, repo)
	if newest := contents[names[len(names)-1]]; !strings.Contains(newest, `"after":""`) {
		t.Error(newest)
	}
	past, err := s.Read(t.Context(), history.Query{Environment: "prod", Since: at(1, 5, 0), Until: at(1, 5, 0), Limit: 9})
	if err != nil || len(past.Versions) != 2 || past.Versions[0].Version != "2" || past.Versions[1].Version != "3" {
		t.Errorf("%+v, %v", past.Versions, err)
	}
}

// TestErrors checks that errors name the file and say what to do.
func TestErrors(t *testing.T) {
	t.Parallel()
	repo := gitserver.InitBare(t)
	s := open(t, repo, ".", gitbranch.Author{})
	now := observed(at(1, 1, 0), map[string]string{"c1": "1"})
	record(t, s, nil, now)
	names, contents := files(t, repo)
	header, _, _ := strings.Cut(contents[names[0]], "\n")
	for text, want := range map[string]string{
		"<<<<<<< HEAD\n" + contents[names[0]]:        "file " + names[0] + " is not a record, restore it",
		header + "\n{\"clusters\":":                  "line 2 of file " + names[0] + " can't be parsed",
		strings.Replace(header, `"v":1`, `"v":2`, 1): "file " + names[0] + " has the format 2",
	} {
		gitserver.Seed(t, repo, branch, map[string]string{names[0]: text, "prod/README.md": "no record"})
		_, err := s.Record(t.Context(), history.Write{Previous: now, Observation: observed(at(1, 2, 0), nil)})
		_, readErr := s.Read(t.Context(), history.Query{Environment: "prod", Limit: 1})
		for _, err := range []error{err, readErr} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v\ndoes not contain %s", err, want)
			}
		}
	}
	for _, name := range []string{"a/b", "..", ".git", "."} {
		other := observed(at(1, 2, 0), nil)
		other.Environment = name
		_, err := s.Record(t.Context(), history.Write{Observation: other})
		if err == nil || !strings.Contains(err.Error(), "set environment to another name") {
			t.Errorf("environment %q: %v", name, err)
		}
	}
	// 32 MiB are some 300,000 instances with messages of their own.
	large := observed(at(1, 2, 0), nil)
	members := make([]observation.Member, 100_000)
	for i := range members {
		members[i] = observation.Member{Cluster: fmt.Sprint("cluster-", i), Message: fmt.Sprint(i, strings.Repeat("x", 300))}
	}
	large.Environment = "large"
	large.Groups = []observation.Group{{Place: observation.Place{ClusterType: "large", Target: "web"},
		Condition: observation.Condition{State: "failed"}, Members: members}}
	if _, err := s.Record(t.Context(), history.Write{Observation: large}); !errors.Is(err, history.ErrTooLarge) {
		t.Error(err)
	}
}

// A read has a limit for its memory: the files of an environment may have at most 256 MiB.
func TestReadLimits(t *testing.T) {
	slow.Skip(t)
	t.Parallel()
	repo := gitserver.InitBare(t)
	s := open(t, repo, ".", gitbranch.Author{})
	record(t, s, nil, observed(at(1, 1, 0), nil))
	names, contents := files(t, repo)
	padding, more := strings.Repeat(" ", 65<<20), map[string]string{}
	for i := range 4 {
		later := strings.Replace(contents[names[0]], "01-01T00:00:00Z", fmt.Sprintf("01-02T00:00:0%dZ", i), 1)
		more[fmt.Sprintf("prod/2026/01/02/00000%dZ-0123456789ab.jsonl", i)] = later + padding
	}
	gitserver.Seed(t, repo, branch, more)
	_, err := s.Read(t.Context(), history.Query{Environment: "prod", Limit: 1})
	if !errors.Is(err, history.ErrTooLarge) || !strings.Contains(err.Error(), "prod take more than 256 MiB") {
		t.Error(err)
	}
}

// Records of one second get different file names, even if their content is the same.
func TestSameSecond(t *testing.T) {
	t.Parallel()
	repo := gitserver.InitBare(t)
	s := open(t, repo, ".", gitbranch.Author{})
	var was *observation.Observation
	for i := range 5 {
		now := observed(at(1, 1, 0).Add(time.Duration(i)*time.Millisecond), map[string]string{"c1": fmt.Sprint(i % 2)})
		was = record(t, s, was, now)
	}
	names, _ := files(t, repo)
	past, err := s.Read(t.Context(), history.Query{Environment: "prod", Until: at(1, 2, 0), Limit: 9})
	if err != nil || len(names) != 5 || len(past.Runs) != 5 || past.Runs[0].Version.Version != "0" {
		t.Errorf("%v, %+v, %v", names, past.Runs, err)
	}
}
