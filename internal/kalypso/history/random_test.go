package history_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/rollout"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/seeds"
)

// simulatedDelivery is a delivery of the simulated pipeline.
type simulatedDelivery struct {
	first, last        int // the first and the last commit, as numbers on the branch
	started, delivered int // minutes; delivered is -1 if the delivery is not complete
	commit             int // the number of the promoted commit, or -1
	tree               string
	folders            map[string]string // the folders before the delivery
	record             record.Record
}

// pipeline simulates the pipeline of an environment: it makes commits, and knows which delivery each commit belongs to.
type pipeline struct {
	*rand.Rand
	now     int              // minutes
	sources []int            // the minutes of the control plane's commits
	branch  []history.Commit // oldest first
	folders map[string]string
	record  *record.Record
	made    []simulatedDelivery
	open    *plan // the rollout under way
	content int
	seen    []observedVerdict
}

// observedVerdict is an observed verdict on the clusters.
type observedVerdict struct {
	head    int // the number of the commit at the head
	verdict string
	since   int // minutes
	at      int
}

// plan is an incomplete rollout, with the folders that are still to be written.
type plan struct {
	record record.Record // the record once the rollout is complete
	want   map[string]string
	left   []string
}

func sourceHash(n int) string { return fmt.Sprintf("%040x", 0xc0de00+n) }

func numberOf(hash string) int {
	n := 0
	if hash == "" {
		return -1
	}
	_, _ = fmt.Sscanf(hash, "%x", &n)
	return n - 0xc0de00
}

func minute(n int) time.Time {
	return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(n) * time.Minute)
}

func treeOf(folders map[string]string) string {
	var all []string
	for name, hash := range folders {
		all = append(all, name+"="+hash)
	}
	sort.Strings(all)
	return strings.Join(all, ",")
}

// targetOf returns the hash of the final tree of a record's rollout, or "".
func targetOf(r *record.Record) string {
	if r.Rollout == nil {
		return ""
	}
	return r.Rollout.TargetTreeHash
}

// commit commits the present folders and record to the branch.
func (p *pipeline) commit() int {
	p.now += p.IntN(90)
	c := history.Commit{Hash: fmt.Sprintf("%040x", 0xb0000+len(p.branch)), Time: minute(p.now),
		Author: fmt.Sprintf("P%d <p@acme.io>", p.IntN(3)), Subject: fmt.Sprint("change ", len(p.branch))}
	if p.record != nil {
		r := *p.record
		c.Record, c.Folders = &r, maps.Clone(p.folders)
	}
	p.branch = append(p.branch, c)
	return len(p.branch) - 1
}

// deliver commits a new delivery, or if continues is set the next part of the last delivery.
func (p *pipeline) deliver(before map[string]string, continues bool) {
	at := p.commit()
	if !continues {
		p.made = append(p.made, simulatedDelivery{first: at, started: p.now, folders: before})
	}
	d := &p.made[len(p.made)-1]
	d.last, d.commit, d.tree, d.record = at, numberOf(p.record.PromotedCommit), treeOf(p.folders), *p.record
	d.delivered = p.now
	if p.record.Rollout.UnderWay() {
		d.delivered = -1
	}
}

// newFolders returns the folders of the next tree, some of them with new content.
func (p *pipeline) newFolders() map[string]string {
	want := map[string]string{}
	for _, name := range []string{"edge", "large", "small"} {
		if was, there := p.folders[name]; there && p.IntN(3) > 0 {
			want[name] = was
		} else if there || p.IntN(3) == 0 {
			p.content++
			want[name] = fmt.Sprint("content ", p.content)
		}
	}
	return want
}

// writeAll writes all folders of a tree in one commit.
func (p *pipeline) writeAll(want map[string]string, r record.Record) {
	before := p.folders
	changes := p.record == nil || treeOf(before) != treeOf(want) || p.record.PromotedCommit != r.PromotedCommit
	p.folders, p.record, p.open = maps.Clone(want), &r, nil
	if changes {
		p.deliver(before, false)
	} else {
		p.commit()
	}
}

// begin begins a rollout in waves.
func (p *pipeline) begin(want map[string]string, r record.Record) {
	p.content++
	r.Rollout = &rollout.Progress{TargetTreeHash: fmt.Sprint("target ", p.content), Complete: true}
	p.open = &plan{record: r, want: want, left: slices.Sorted(maps.Keys(want))}
	p.wave(true)
}

// wave writes the next folder of the rollout.
func (p *pipeline) wave(first bool) {
	before, open := p.folders, p.open
	p.folders = maps.Clone(p.folders)
	if len(open.left) > 0 {
		p.folders[open.left[0]], open.left = open.want[open.left[0]], open.left[1:]
	}
	next := *p.record
	next.Rollout = &rollout.Progress{TargetTreeHash: open.record.Rollout.TargetTreeHash}
	if len(open.left) == 0 {
		next = open.record
		p.folders, p.open = maps.Clone(open.want), nil
	}
	changes := treeOf(before) != treeOf(p.folders) || p.record.PromotedCommit != next.PromotedCommit
	begun := !first && targetOf(&p.made[len(p.made)-1].record) == targetOf(&next)
	p.record = &next
	switch {
	case begun && (changes || !next.Rollout.UnderWay()), changes:
		p.deliver(before, begun)
	default:
		p.commit()
	}
}

// step simulates some time, in which the clusters may be observed, and one commit to the branch.
func (p *pipeline) step() {
	p.now += p.IntN(600)
	if n := len(p.branch); n > 0 && p.IntN(2) == 0 {
		p.seen = append(p.seen, observedVerdict{max(0, n-1-p.IntN(3)*p.IntN(2)), []string{"success", "failure", "pending",
			"success"}[p.IntN(4)], max(0, p.now-p.IntN(300)), p.now})
	}
	if p.IntN(2) == 0 {
		p.sources = append(p.sources, p.now)
	}
	newest := sourceHash(len(p.sources) - 1)
	own := func() record.Record {
		r := record.Record{Environment: "prod"}
		if p.record != nil {
			r = *p.record
			r.Rollout = nil
		}
		return r
	}
	promote := func() record.Record {
		r := own()
		r.PromotedCommit, r.Promotion.RolledBack, r.Promotion.Explanation = newest, "", fmt.Sprint(
			"gates hold for ",
			newest,
		)
		r.Promotion.Decision = promotion.Promote
		if p.IntN(4) == 0 {
			r.Promotion.Decision, r.Promotion.Explanation = "", ""
		}
		return r
	}
	switch n := p.IntN(16); {
	case p.record == nil:
		p.writeAll(p.newFolders(), promote())
	case p.open != nil && n < 11:
		p.wave(false)
	case n < 3: // the environment's own change
		p.writeAll(p.newFolders(), own())
	case n < 5:
		p.writeAll(p.newFolders(), promote())
	case n < 8:
		p.begin(p.newFolders(), promote())
	case n < 9: // its own change in waves
		p.begin(p.newFolders(), own())
	case n < 11: // people commit something else
		p.commit()
	case n < 13: // people revert the last delivery, or their revert of it
		if len(p.made) > 1 {
			back := p.branch[p.made[len(p.made)-2].last]
			p.writeAll(back.Folders, *back.Record)
		}
	case n < 15: // a pin to an earlier commit
		if was := numberOf(p.record.PromotedCommit); was > 0 {
			r := own()
			r.Promotion.RolledBack, r.Promotion.Decision = r.PromotedCommit, promotion.Pinned
			r.PromotedCommit = sourceHash(p.IntN(was))
			p.writeAll(p.newFolders(), r)
		}
	default: // the environment is removed
		p.folders, p.record, p.open = nil, nil, nil
		p.commit()
	}
}

// expectation describes a delivery, with a text for each field.
type expectation struct {
	First, Last, Started, Delivered, Kind, Promoted, Previous, Commits, Folders, Reason, Lead string
	Running, Failed, Restored                                                                 string
}

func stamp(minutes int) string {
	if minutes < 0 {
		return ""
	}
	return minute(minutes).Format(time.RFC3339)
}

// median returns the median, in seconds, of values in minutes.
func median(minutes []int) string {
	if len(minutes) == 0 {
		return "none"
	}
	sort.Ints(minutes)
	sum := minutes[(len(minutes)-1)/2] + minutes[len(minutes)/2]
	return fmt.Sprint(sum * 60 / 2)
}

// want returns the expected deliveries that started in the window, and the expected metrics.
func (p *pipeline) want(since, until int) ([]expectation, string) {
	kinds, failed := make([]string, len(p.made)), make([]bool, len(p.made))
	for i, d := range p.made {
		kinds[i] = "first"
		if i == 0 {
			continue
		}
		one := p.made[i-1]
		kinds[i] = "change"
		if d.commit != one.commit {
			kinds[i] = "promotion"
		}
		is, was := d.record.Promotion, one.record.Promotion
		back := is.Decision == "pinned" && is.RolledBack != "" && is.RolledBack != was.RolledBack
		if i > 1 {
			two := p.made[i-2]
			back = back || d.tree == two.tree && d.tree != one.tree ||
				is.Decision == "" && d.commit == two.commit && d.commit != one.commit
		}
		if back && kinds[i-1] != "rollback" {
			kinds[i], failed[i-1] = "rollback", true
		}
	}
	running, failing := map[int]int{}, map[int]int{} // delivery to the minute since which it runs or fails
	for _, s := range p.seen {
		of := -1
		for i, d := range p.made {
			if d.first <= s.head {
				of = i
			}
		}
		if _, met := running[of]; s.verdict == "success" && !met {
			running[of] = s.since
		}
		if _, met := failing[of]; s.verdict == "failure" && !met && of >= 0 {
			failing[of], failed[of] = s.since, true
		}
	}
	var all []expectation
	var leads, restores []int
	complete, broken, counted := 0, 0, 0
	there := map[int]bool{} // the control plane's commits that are promoted already
	for i, d := range p.made {
		previous, known := -1, true
		var brought []int
		if i == 0 {
			for n := 0; n <= d.commit; n++ {
				there[n] = true
			}
		} else {
			previous = p.made[i-1].commit
			for n := previous + 1; n <= d.commit; n++ {
				if !there[n] {
					there[n], brought = true, append(brought, d.delivered-p.sources[n])
				}
			}
		}
		if d.delivered < 0 {
			brought = slices.Clone(brought)
		}
		e := expectation{First: p.branch[d.first].Hash, Last: p.branch[d.last].Hash, Started: stamp(d.started),
			Delivered: stamp(d.delivered), Kind: kinds[i], Commits: fmt.Sprint(len(brought), known), Lead: "none"}
		if d.commit >= 0 {
			e.Promoted = sourceHash(d.commit)
		}
		if previous >= 0 {
			e.Previous = sourceHash(previous)
		}
		after := p.branch[d.last].Folders
		var changed []string
		for _, name := range []string{"edge", "large", "small"} {
			if d.folders[name] != after[name] {
				changed = append(changed, name)
			}
		}
		e.Folders = strings.Join(changed, " ")
		e.Reason = d.record.Promotion.Explanation
		if e.Reason == "" {
			e.Reason = p.branch[d.last].Subject
		}
		if d.delivered >= 0 {
			e.Lead = median(slices.Clone(brought))
		}
		if since, met := running[i]; met {
			e.Running = stamp(since)
		}
		inside := d.started >= since && d.started < until
		if failed[i] {
			at, good := d.delivered, -1
			if at < 0 {
				at = d.started
			}
			if since, met := failing[i]; met {
				at = since
			}
			for j := len(p.made) - 1; j > i; j-- {
				if p.made[j].delivered >= 0 && !failed[j] {
					good = p.made[j].delivered
					if since, met := running[j]; met {
						good = since
					}
				}
			}
			e.Failed, e.Restored = stamp(at), stamp(good)
			if inside && good >= 0 {
				restores = append(restores, good-at)
			}
		}
		if !inside {
			continue
		}
		all = append([]expectation{e}, all...)
		if d.delivered >= 0 {
			complete++
			leads = append(leads, brought...)
		}
		if failed[i] {
			broken++
		}
		if failed[i] || d.delivered >= 0 {
			counted++
		}
	}
	rate := "none"
	if counted > 0 {
		rate = fmt.Sprintf("%.6f", float64(broken)/float64(counted))
	}
	return all, fmt.Sprintf("%d, %.6f a day, lead %s, rate %s, restore %s", complete,
		float64(complete)/(float64(until-since)/1440), median(leads), rate, median(restores))
}

// describe describes the deliveries and metrics of a history as [pipeline.want] does.
func describe(h history.History) ([]expectation, string) {
	text := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return t.Format(time.RFC3339)
	}
	seconds := func(n *int) string {
		if n == nil {
			return "none"
		}
		return fmt.Sprint(*n)
	}
	var all []expectation
	for _, d := range h.Deliveries {
		commits := 0
		if d.Commits != nil {
			commits = *d.Commits
		}
		all = append(all, expectation{
			First: d.FirstCommit, Last: d.Commit, Started: text(d.StartedAt), Delivered: text(d.DeliveredAt),
			Kind:     string(d.Kind),
			Promoted: d.PromotedCommit, Previous: d.PreviousCommit, Commits: fmt.Sprint(commits, d.Commits != nil),
			Folders: strings.Join(d.Folders, " "), Reason: d.Reason, Lead: seconds(d.LeadTimeSeconds), Failed: text(d.FailedAt),
			Running: text(d.RunningAt), Restored: text(d.RestoredAt),
		})
	}
	m, rate := h.Metrics, "none"
	if m.ChangeFailureRate != nil {
		rate = fmt.Sprintf("%.6f", *m.ChangeFailureRate)
	}
	return all, fmt.Sprintf("%d, %.6f a day, lead %s, rate %s, restore %s", m.Deployments, m.DeploymentsPerDay,
		seconds(m.LeadTimeSeconds), rate, seconds(m.TimeToRestoreSeconds))
}

// TestRandomHistories simulates pipelines, and compares the history of each with its deliveries.
func TestRandomHistories(t *testing.T) {
	kinds := map[string]int{}
	for seed := range seeds.Of(t, 1000, 20000) {
		p := &pipeline{Rand: rand.New(rand.NewPCG(seed, 37)), sources: []int{0}}
		for range p.IntN(60) {
			p.step()
		}
		since := p.IntN(p.now + 1)
		until := since + 1 + p.IntN(p.now+1)
		if p.IntN(2) == 0 {
			since, until = 0, p.now+1
		}
		in := history.Input{Branch: slices.Clone(p.branch), Complete: true, Since: minute(since), Until: minute(until)}
		slices.Reverse(in.Branch)
		for n, at := range p.sources {
			in.ControlPlane = append([]history.Source{{Hash: sourceHash(n), Time: minute(at)}}, in.ControlPlane...)
		}
		for i, s := range p.seen {
			in.Observed = append(in.Observed, history.RecordedVerdict{
				At: minute(i), Head: p.branch[s.head].Hash, Verdict: s.verdict,
				VerdictSince: minute(s.since)})
		}
		in.Observed = append(in.Observed, history.RecordedVerdict{
			Head: "of a branch before a force-push", Verdict: "failure"})
		wanted, metrics := p.want(since, until)
		h := history.Of(in)
		deliveries, gotMetrics := describe(h)
		if diff := cmp.Diff(wanted, deliveries); diff != "" || metrics != gotMetrics {
			t.Fatalf("seed %d: (-want +got)\n%s\nmetrics %s, want %s", seed, diff, gotMetrics, metrics)
		}
		for _, d := range deliveries {
			kinds[d.Kind]++
			if d.Delivered == "" {
				kinds["not complete"]++
			}
			if d.Failed != "" {
				kinds["failed"]++
			}
		}
		if len(p.branch) > 1 {
			p.checkCut(t, seed, in)
		}
	}
	for _, what := range []string{"first", "rollback", "promotion", "change", "not complete", "failed"} {
		if kinds[what] < 100 && !seeds.Single() {
			t.Errorf("only %d deliveries are %s", kinds[what], what)
		}
	}
}

// checkCut checks the history of a branch whose older commits were not read. It has only deliveries that began after
// the oldest commit that was read, and is not complete if the window begins before that commit. A rollout that was
// incomplete at that commit is left out, since it may have begun earlier.
func (p *pipeline) checkCut(t *testing.T, seed uint64, in history.Input) {
	t.Helper()
	oldest := p.IntN(len(p.branch))
	in.Branch, in.Complete = in.Branch[:len(p.branch)-oldest], false
	h := history.Of(in)
	underWay := ""
	if r := p.branch[oldest].Record; r != nil && r.Rollout.UnderWay() {
		underWay = r.Rollout.TargetTreeHash
	}
	var wanted, found []string
	next := slices.IndexFunc(p.made, func(d simulatedDelivery) bool { return d.first > oldest })
	for i, d := range slices.Backward(p.made) {
		at := minute(d.started)
		begun := i == next && underWay != "" && targetOf(p.branch[d.first].Record) == underWay
		if d.first > oldest && !begun && !at.Before(in.Since) && at.Before(in.Until) {
			wanted = append(wanted, p.branch[d.first].Hash+" "+p.branch[d.last].Hash)
		}
	}
	for _, d := range h.Deliveries {
		found = append(found, d.FirstCommit+" "+d.Commit)
		if d.Kind == history.First && p.made[0].first <= oldest && p.branch[oldest].Record != nil {
			t.Errorf("seed %d: %s is reported as the first delivery of a branch that is cut off", seed, d.FirstCommit)
		}
	}
	if diff := cmp.Diff(wanted, found); diff != "" {
		t.Fatalf("seed %d, cut off: (-want +got)\n%s", seed, diff)
	}
	if complete := p.branch[oldest].Time.Before(in.Since); h.Complete != complete {
		t.Fatalf("seed %d: complete is %t", seed, h.Complete)
	}
}
