package deployment_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/limit"
)

var now = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func ago(d time.Duration) time.Time { return now.Add(-d) }

// hash returns the full hash of a named commit.
func hash(name string) string {
	return fmt.Sprintf("%x", name+strings.Repeat("\x00", 20-len(name)))[:40]
}

// commit is a commit of a history that a test makes up, with the trees of its folders.
type commit struct {
	name    string
	parents string // names of commits, separated by blanks
	age     time.Duration
	trees   map[string]string
}

// branchOf returns a branch whose head is the first commit.
func branchOf(commits ...commit) deployment.GitOpsBranch {
	trees := map[string]map[string]string{}
	var all []deployment.Commit
	for _, c := range commits {
		made := deployment.Commit{Hash: hash(c.name), Time: ago(c.age)}
		for p := range strings.FieldsSeq(c.parents) {
			made.Parents = append(made.Parents, hash(p))
		}
		all, trees[made.Hash] = append(all, made), c.trees
	}
	b := deployment.GitOpsBranch{
		Name:     "stage",
		Head:     hash(commits[0].name),
		Complete: true,
		Folders:  map[string]deployment.ExpectedFolder{},
	}
	b.History = deployment.NewHistory(b.Head, all, func(commit, folder string) string { return trees[commit][folder] })
	for name, tree := range commits[0].trees {
		b.Folders[name] = deployment.ExpectedFolder{Tree: tree}
	}
	return b
}

// line returns a branch without merges. Its commits have these trees of the folder drone, the newest first. The head is
// 90 minutes old.
func line(trees ...string) deployment.GitOpsBranch {
	var commits []commit
	for i, tree := range trees {
		c := commit{
			name:  fmt.Sprint("c", len(trees)-i),
			age:   90*time.Minute + time.Duration(i)*time.Hour,
			trees: map[string]string{"drone": tree},
		}
		if i < len(trees)-1 {
			c.parents = fmt.Sprint("c", len(trees)-i-1)
		}
		commits = append(commits, c)
	}
	return branchOf(commits...)
}

// fresh returns a branch whose head changed the folder drone ten minutes ago.
func fresh() deployment.GitOpsBranch {
	return branchOf(
		commit{"c2", "c1", 10 * time.Minute, map[string]string{"drone": "B"}},
		commit{"c1", "", 5 * time.Hour, map[string]string{"drone": "A"}},
	)
}

// at returns a report of a cluster that is healthy at the named commit.
func at(cluster, name string) deployment.Report {
	return deployment.Report{
		Cluster:  cluster,
		Folder:   "drone",
		Revision: "stage@sha1:" + hash(name),
		Health:   deployment.Healthy,
		Now:      now,
		Time:     ago(time.Minute),
		Recorded: true,
	}
}

func (e edit) report(r deployment.Report) deployment.Report { e(&r); return r }

type edit func(*deployment.Report)

func health(h deployment.Health) edit  { return func(r *deployment.Report) { r.Health = h } }
func since(d time.Duration) edit       { return func(r *deployment.Report) { r.Since = ago(d) } }
func reportedAgo(d time.Duration) edit { return func(r *deployment.Report) { r.Time = ago(d) } }
func revision(text string) edit        { return func(r *deployment.Report) { r.Revision = text } }
func message(text string) edit         { return func(r *deployment.Report) { r.Message = text } }
func folder(name string) edit          { return func(r *deployment.Report) { r.Folder = name } }
func live(r *deployment.Report)        { r.Recorded, r.Time = false, time.Time{} }

func with(r deployment.Report, edits ...edit) deployment.Report {
	for _, e := range edits {
		r = e.report(r)
	}
	return r
}

func number(n int) *int { return &n }

// rules returns the default rules.
func rules() deployment.Rules {
	return deployment.Rules{Deadline: deployment.DefaultDeadline, StaleAfter: deployment.DefaultStaleAfter}
}

func limits(failed, unavailable string) deployment.Rules {
	r := rules()
	r.MaxFailed, r.MaxUnavailable = parseLimit(failed), parseLimit(unavailable)
	return r
}

func parseLimit(text string) limit.Limit {
	parsed, err := limit.Parse(text)
	if err != nil {
		panic(err)
	}
	return parsed
}

func expectDrone(e deployment.Expectation) deployment.Rules {
	r := rules()
	r.Expected = map[string]deployment.Expectation{"drone": e}
	return r
}

// TestVerdicts: each row is a rule about the state of a cluster or the verdict on a folder, and a situation in which
// the rule decides.
func TestVerdicts(t *testing.T) {
	rewritten := line("B", "A")
	for _, test := range []struct {
		row, name string
		branch    deployment.GitOpsBranch
		reports   []deployment.Report
		rules     deployment.Rules
		silent    []string
		want      string // numbers of clusters by state in the folder, verdict on it; verdict on the branch
		says      string // a part of a problem as "state cluster: message|"
	}{
		{row: "the folder's tree at head, and healthy: current", branch: line("B", "A"),
			reports: []deployment.Report{at("a", "c2")},
			want:    "current 1, success; success"},
		{row: "the folder's tree at head", name: "an older commit with the same tree of the folder",
			branch:  line("B", "B", "B", "A"),
			reports: []deployment.Report{at("a", "c2")}, want: "current 1, success; success"},
		{row: "the folder's tree at head",
			name:   "a commit that was rolled back, and its tree committed again",
			branch: line("A", "B", "A"), reports: []deployment.Report{with(at("a", "c1"), live)},
			want: "failed 1, failure; failure", says: "failed a: it runs an older tree"},
		{row: "the folder's tree at head", name: "a report that is older than the head",
			branch:  line("B", "A"),
			reports: []deployment.Report{with(at("a", "c2"), reportedAgo(59*time.Minute))}, want: "current 1, success; success"},
		{row: "the folder's tree at head", name: "a merge of a branch that never had the folder's change",
			branch: branchOf(
				commit{"m", "c2 side", 2 * time.Hour, map[string]string{"drone": "B"}},
				commit{"c2", "c1", 3 * time.Hour, map[string]string{"drone": "B"}},
				commit{"side", "c1", 3 * time.Hour, map[string]string{"drone": "A"}},
				commit{"c1", "", 4 * time.Hour, map[string]string{"drone": "A"}},
			), reports: []deployment.Report{at("a", "c2")}, want: "current 1, success; success"},
		{row: "the folder's tree at head",
			name: "a merge that makes the former branch its second parent, and restores an older tree", branch: branchOf(
				commit{"m", "local c2", 2 * time.Hour, map[string]string{"drone": "A"}},
				commit{"local", "c1", 3 * time.Hour, map[string]string{"drone": "A"}},
				commit{"c2", "c1", 3 * time.Hour, map[string]string{"drone": "B"}},
				commit{"c1", "", 4 * time.Hour, map[string]string{"drone": "A"}},
			), reports: []deployment.Report{with(at("a", "c1"), live)}, want: "failed 1, failure; failure"},

		{row: "an older tree: progressing", branch: fresh(), reports: []deployment.Report{at("a", "c1")},
			want: "progressing 1, pending; pending", says: "progressing a: it runs an older tree of the folder"},
		{row: "an older tree: progressing", name: "a current cluster beside one with an older tree",
			branch: fresh(), reports: []deployment.Report{at("a", "c2"), at("b", "c1")},
			want: "current 1, progressing 1, pending; pending"},
		{row: "an older tree: progressing", name: "a healthy report, whose message is not shown", branch: fresh(),
			reports: []deployment.Report{with(at("a", "c1"), message("ok"))},
			want:    "progressing 1, pending; pending", says: "progressing a: it runs an older tree of the folder|"},
		{row: "an older tree: progressing", name: "an unhealthy report, whose message is shown", branch: fresh(),
			reports: []deployment.Report{with(at("a", "c1"), health(deployment.Failed), message("no such image"))},
			want:    "progressing 1, pending; pending",
			says:    "progressing a: it runs an older tree of the folder: no such image|"},
		{row: "an older tree: failed past the deadline", branch: line("B", "A"), reports: []deployment.Report{at("a", "c1")},
			want: "failed 1, failure; failure", says: "failed a: it runs an older tree of the folder for longer than 1h"},

		{row: "not healthy: progressing", branch: fresh(),
			reports: []deployment.Report{with(at("a", "c2"), health(deployment.Failed))},
			want:    "progressing 1, pending; pending", says: "progressing a: unhealthy"},
		{row: "not healthy for longer than the deadline: failed", branch: line("B", "A"),
			reports: []deployment.Report{with(at("a", "c2"), health(deployment.Failed), since(61*time.Minute))},
			want:    "failed 1, failure; failure"},
		{row: "not healthy", name: "a transition before the folder's commit, from which the deadline is counted",
			branch:  fresh(),
			reports: []deployment.Report{with(at("a", "c2"), health(deployment.Failed), since(3*time.Hour))},
			want:    "progressing 1, pending; pending"},
		{row: "not healthy", name: "a transition after the folder's commit, from which the deadline is counted",
			branch:  line("B", "A"),
			reports: []deployment.Report{with(at("a", "c2"), health(deployment.Progressing), since(time.Minute))},
			want:    "progressing 1, pending; pending", says: "progressing a: not ready"},
		{row: "not healthy", name: "a cluster that has not synced yet", branch: fresh(),
			reports: []deployment.Report{with(at("a", "c2"), health(deployment.Progressing), revision(""))},
			want:    "progressing 1, pending; pending"},

		{row: "more than max_failed failed: failure", branch: line("B", "A"), rules: limits("1", "0"),
			reports: []deployment.Report{at("a", "c1"), at("b", "c1"), at("c", "c2")},
			want:    "current 1, failed 2, failure; failure"},
		{row: "more than max_failed failed", name: "exactly max_failed failed clusters", branch: line("B", "A"),
			rules:   limits("1", "0"),
			reports: []deployment.Report{at("a", "c1"), at("c", "c2")}, want: "current 1, failed 1, success; success",
			says: "failed a"},
		{row: "more than max_failed failed", name: "max_failed as a percentage", branch: line("B", "A"),
			rules:   limits("40%", "0"),
			reports: []deployment.Report{at("a", "c1"), at("c", "c2")}, want: "current 1, failed 1, failure; failure"},

		{row: "a report older than stale_after: stale", branch: line("B", "A"),
			reports: []deployment.Report{with(at("a", "c2"), reportedAgo(61*time.Minute))},
			want:    "stale 1, pending; pending", says: "stale a: the report is 1h1m old"},
		{row: "a report older than stale_after", name: "a report without a time",
			branch:  line("B", "A"),
			reports: []deployment.Report{with(at("a", "c2"), func(r *deployment.Report) { r.Time = time.Time{} })},
			want:    "stale 1, pending; pending", says: "stale a: the report has no time"},
		{row: "a report older than stale_after", name: "an old time in a report that was not stored",
			branch:  line("B", "A"),
			reports: []deployment.Report{with(at("a", "c2"), live, reportedAgo(48*time.Hour))},
			want:    "current 1, success; success"},
		{row: "a cluster that is not connected, or does not answer: offline", branch: line("B", "A"),
			reports: []deployment.Report{with(at("a", "c2"), health(deployment.Offline))}, want: "offline 1, pending; pending",
			says: "offline a"},
		{row: "a cluster that does not answer", name: "an offline cluster, and a folder without a list of clusters",
			branch:  line("B", "A"),
			reports: []deployment.Report{at("a", "c2"), with(at("b", ""), health(deployment.Offline), folder(""))},
			want:    "current 1, offline 1, pending; pending", says: "offline b"},
		{row: "a cluster that does not answer", name: "an offline cluster that the folder expects",
			branch:  line("B", "A"),
			rules:   expectDrone(deployment.Expectation{Clusters: []string{"a", "b"}}),
			reports: []deployment.Report{at("a", "c2"), with(at("b", ""), health(deployment.Offline), folder(""))},
			want:    "current 1, offline 1, pending; pending"},
		{row: "a cluster that does not answer", name: "an offline cluster that no folder expects",
			branch:  line("B", "A"),
			rules:   expectDrone(deployment.Expectation{Clusters: []string{"a"}}),
			reports: []deployment.Report{at("a", "c2"), with(at("b", ""), health(deployment.Offline), folder(""))},
			want:    "current 1, success; success", says: "offline b"},

		{row: "a cluster that is expected and reports nothing: missing", branch: line("B", "A"),
			rules:   expectDrone(deployment.Expectation{Clusters: []string{"a", "b"}}),
			reports: []deployment.Report{at("a", "c2")}, want: "current 1, missing 1, pending; pending",
			says: "missing b: it is expected"},
		{row: "fewer current clusters than minimum: missing", branch: line("B", "A"),
			rules:   expectDrone(deployment.Expectation{Minimum: number(3)}),
			reports: []deployment.Report{at("a", "c2")}, want: "current 1, missing 2, pending; pending",
			says: "missing : 1 of at least 3 clusters are current"},
		{row: "fewer current clusters than minimum", name: "as many reports as minimum", branch: fresh(),
			rules:   expectDrone(deployment.Expectation{Minimum: number(2)}),
			reports: []deployment.Report{at("a", "c2"), at("b", "c1")},
			want:    "current 1, progressing 1, missing 1, pending; pending"},
		{row: "no report at all: missing", branch: line("B", "A"), want: "missing 1, pending; pending",
			says: "missing : no cluster reports"},
		{row: "no report at all", name: "max_unavailable of 100%", branch: line("B", "A"),
			rules: limits("100%", "100%"), want: "missing 1, pending; pending"},
		{row: "no report at all", name: "minimum of 0", branch: line("B", "A"),
			rules: expectDrone(deployment.Expectation{Minimum: number(0)}), want: ", success; success"},

		{row: "no report at all", name: "an object that follows a tag, which the problem names", branch: line("B", "A"),
			reports: []deployment.Report{with(at("a", "c2"), health(deployment.Elsewhere),
				message("it follows the tag \"v1\""))},
			want: "missing 1, pending; pending",
			says: `missing : no cluster reports that it follows the folder: cluster "a": it follows the tag "v1"`},
		{row: "a cluster that is expected and reports nothing: missing",
			name: "an object that follows a tag, which the problem names", branch: line("B", "A"),
			rules: expectDrone(deployment.Expectation{Clusters: []string{"a", "b"}}),
			reports: []deployment.Report{at("a", "c2"),
				with(at("b", "c2"), health(deployment.Elsewhere), message("it follows the tag \"v1\"")),
				with(at("a", "c2"), health(deployment.Elsewhere), message("it follows the tag \"v2\""))},
			want: "current 1, missing 1, pending; pending", says: `no source reports that it does: it follows the tag "v1"`},
		{row: "suspended: suspended", name: "an object without a message", branch: line("B", "A"),
			reports: []deployment.Report{with(at("a", "c2"), health(deployment.Suspended),
				func(r *deployment.Report) { r.Object = "Kustomization flux-system/fleet" })},
			want: "suspended 1, pending; pending", says: "suspended a: Kustomization flux-system/fleet|"},
		{row: "suspended: suspended", branch: line("B", "A"),
			reports: []deployment.Report{with(at("a", "c2"), health(deployment.Suspended))},
			want:    "suspended 1, pending; pending", says: "suspended a"},
		{row: "more than max_unavailable clusters offline, stale or suspended: pending", branch: line("B", "A"),
			rules: limits("0", "1"),
			reports: []deployment.Report{at("a", "c2"), with(at("b", "c2"), health(deployment.Suspended)),
				with(at("c", "c2"), health(deployment.Offline))},
			want: "current 1, suspended 1, offline 1, pending; pending"},
		{row: "more than max_unavailable clusters offline, stale or suspended",
			name:    "exactly max_unavailable stale clusters",
			branch:  line("B", "A"),
			rules:   limits("0", "50%"),
			reports: []deployment.Report{at("a", "c2"), with(at("b", "c2"), reportedAgo(2*time.Hour))},
			want:    "current 1, stale 1, success; success", says: "stale b"},

		{row: "a cluster that follows a folder which is not at head: unexpected", branch: line("B", "A"),
			reports: []deployment.Report{at("a", "c2"), with(at("b", "c2"), folder("gone"))},
			want:    "current 1, success; success", says: "unexpected b: it follows a folder that the branch does not contain"},
		{row: "a cluster that is not in the list of clusters: unexpected", branch: line("B", "A"),
			rules:   expectDrone(deployment.Expectation{Clusters: []string{"a"}}),
			reports: []deployment.Report{at("a", "c2"), at("b", "c1")}, want: "current 1, success; success",
			says: "unexpected b: the cluster is not among the expected ones"},

		{row: "a revision that is not on the branch: progressing", branch: rewritten,
			reports: []deployment.Report{at("a", "c9")},
			want:    "progressing 1, pending; pending", says: "progressing a: the commit is not on the branch"},
		{row: "a revision beyond the history that is read: progressing",
			branch:  branchOf(commit{"c2", "c1", time.Hour, map[string]string{"drone": "B"}}),
			reports: []deployment.Report{at("a", "c1")}, want: "progressing 1, pending; pending",
			says: "progressing a: the commit is not among the last 1 commits of the branch"},
		{row: "a revision beyond the history that is read",
			name: "a merged branch that begins beyond the history that is read",
			branch: branchOf(
				commit{"m", "c2 side", time.Hour, map[string]string{"drone": "B"}},
				commit{"side", "beyond", 2 * time.Hour, map[string]string{"drone": "B"}},
				commit{"c2", "", 3 * time.Hour, map[string]string{"drone": "B"}},
			), reports: []deployment.Report{at("a",
				"c2")}, want: "progressing 1, pending; pending", says: "progressing a: the last 3 commits"},
		{row: "a revision that is not on the branch", name: "a commit of another branch", branch: line("B", "A"),
			reports: []deployment.Report{with(at("a", ""), revision("prod/"+hash("c2")))},
			want:    "progressing 1, pending; pending", says: `progressing a: it follows "prod" instead of the branch "stage"`},
		{row: "a revision that is not on the branch", name: "a tag instead of a commit", branch: line("B", "A"),
			reports: []deployment.Report{with(at("a", ""), revision("v1.2"))},
			want:    "progressing 1, pending; pending", says: "progressing a: it names no commit"},

		{row: "no branch, or no record on it: pending", branch: deployment.GitOpsBranch{Name: "stage"},
			reports: []deployment.Report{at("a", "c2")}, want: "; pending"},
		{row: "a rollout under way: pending, whatever the verdicts on the folders",
			branch:  func() deployment.GitOpsBranch { b := line("B", "A"); b.Complete = false; return b }(),
			reports: []deployment.Report{at("a", "c2")}, want: "current 1, success; pending"},
		{row: "a source that does not answer in time: pending", branch: line("B", "A"),
			silent:  []string{"Azure Resource Graph"},
			reports: []deployment.Report{at("a", "c2")}, want: "current 1, pending; pending"},

		{row: "a report from the future: progressing", name: "six minutes",
			branch:  line("B", "A"),
			reports: []deployment.Report{with(at("a", "c2"), reportedAgo(-6*time.Minute))},
			want:    "progressing 1, pending; pending",
			says:    "ahead of its own clock"},
		{row: "a report from the future", name: "five minutes, which is tolerated", branch: line("B", "A"),
			reports: []deployment.Report{with(at("a", "c2"), reportedAgo(-5*time.Minute))}, want: "current 1, success; success"},
		{row: "contradictory reports: progressing", name: "two reports about one object",
			branch:  line("B", "A"),
			reports: []deployment.Report{at("a", "c2"), at("a", "c1")}, want: "progressing 1, pending; pending",
			says: "progressing a: its reports contradict each other: failed and current"},
		{row: "several reports of a cluster: the worst decides", name: "two sources", branch: line("B", "A"),
			reports: []deployment.Report{
				at("a", "c2"),
				with(at("a", "c1"), live, func(r *deployment.Report) { r.Object = "Kustomization flux-system/fleet" }),
			},
			want: "failed 1, failure; failure", says: "failed a: Kustomization flux-system/fleet: it runs an older tree"},
		{row: "several reports of a cluster", name: "the same report twice", branch: line("B", "A"),
			reports: []deployment.Report{at("a", "c2"), at("a", "c2")}, want: "current 1, success; success"},
		{row: "several reports of a cluster", name: "a stale report and a new one", branch: line("B", "A"),
			reports: []deployment.Report{with(at("a", "c1"), reportedAgo(5*time.Hour)), at("a", "c2")},
			want:    "current 1, success; success"},
		{row: "several reports of a cluster", name: "a failed object in the folder", branch: line("B", "A"),
			reports: []deployment.Report{
				with(at("a", "c2"), live), with(at("a", ""), live, health(deployment.Failed), since(2*time.Hour),
					func(r *deployment.Report) { r.Nested, r.Object = true, "Kustomization apps/shop" })},
			want: "failed 1, failure; failure", says: "failed a: Kustomization apps/shop: unhealthy for longer than 1h"},
		{row: "an expected folder that the branch does not contain: pending", branch: line("B", "A"),
			reports: []deployment.Report{at("a", "c2")},
			rules: func() deployment.Rules {
				r := rules()
				r.Expected = map[string]deployment.Expectation{"new": {}}
				return r
			}(),
			want: "current 1, success; pending",
			says: "missing : clusters are expected to follow the folder, but the branch does not contain it"},
		{row: "an expected cluster", name: "an ID of Azure in another case", branch: line("B", "A"),
			rules:   expectDrone(deployment.Expectation{Clusters: []string{"/subscriptions/S/resourceGroups/R"}}),
			reports: []deployment.Report{at("/subscriptions/s/resourcegroups/r", "c2")}, want: "current 1, success; success"},
	} {
		t.Run(strings.TrimSuffix(test.row+": "+test.name, ": "), func(t *testing.T) {
			if test.rules.Deadline == 0 {
				test.rules = rules()
			}
			world := deployment.Input{Branch: test.branch, Reports: test.reports, Rules: test.rules, Unanswered: test.silent}
			got := evaluate(t, world)
			if diff := cmp.Diff(test.want, describe(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if test.says != "" && !slices.ContainsFunc(got.Problems, func(p deployment.Problem) bool {
				return strings.Contains(fmt.Sprintf("%s %s: %s|", p.State, p.Cluster, p.Message), test.says)
			}) {
				t.Errorf("no problem says %q: %+v", test.says, got.Problems)
			}
		})
	}
}

// describe returns the numbers of clusters in the folder drone, the verdict on it, and the verdict on the branch.
func describe(o deployment.Outcome) string {
	f, there := o.Folders["drone"]
	if !there {
		return "; " + string(o.Verdict)
	}
	var counts []string
	for _, c := range []struct {
		name string
		n    int
	}{{"current", f.Current}, {"progressing", f.Progressing}, {"failed", f.Failed}, {"suspended", f.Suspended}, {"stale",
		f.Stale}, {"offline", f.Offline}, {"missing", f.Missing}} {
		if c.n > 0 {
			counts = append(counts, fmt.Sprint(c.name, " ", c.n))
		}
	}
	return strings.Join(counts, ", ") + ", " + string(f.Verdict) + "; " + string(o.Verdict)
}

func evaluate(t *testing.T, w deployment.Input) deployment.Outcome {
	t.Helper()
	o, err := deployment.Evaluate(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	return o
}
