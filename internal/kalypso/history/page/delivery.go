package page

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// delivery is a row of a timeline.
type delivery struct {
	*history.Delivery
	Promoted, GitOps commit
	Class            string // the kind, or failed
	X                string // where it lies on the axis
	By               string // the author without the address
	Changed          string // the folders
	Count            string // of commits
	Took             string // the lead time
}

func newDelivery(h *History, d *history.Delivery) *delivery {
	row := &delivery{
		Delivery: d,
		Promoted: commit{d.PromotedCommit, commitURL(h.ControlPlane.Repo, d.PromotedCommit)},
		GitOps:   commit{d.Commit, commitURL(h.GitOpsRepo.Repo, d.Commit)},
		Class:    "change",
	}
	name, _, _ := strings.Cut(d.Author, "<")
	row.By = strings.TrimSpace(name)
	switch {
	case d.Failed:
		row.Class = "failed"
	case d.Kind == history.First || d.Kind == history.Promotion || d.Kind == history.Rollback:
		row.Class = string(d.Kind)
	}
	row.Changed = problem.First(d.Folders, 4)
	if d.Commits != nil && *d.Commits > 0 {
		row.Count = problem.Count(*d.Commits, "commit")
	}
	if d.LeadTimeSeconds != nil {
		row.Took = span(float64(*d.LeadTimeSeconds))
	}
	return row
}

// Label describes the kind of the delivery.
func (d *delivery) Label() string {
	if d.Kind == history.Rollback && d.DecidedBy == promotion.ByRollback {
		return "automatic rollback"
	}
	return string(d.Kind)
}

// Outcome describes how the delivery ended.
func (d *delivery) Outcome() string {
	switch {
	case d.Failed && !d.RestoredAt.IsZero() && !d.FailedAt.IsZero():
		return "failed, restored after " + span(d.RestoredAt.Sub(d.FailedAt).Seconds())
	case d.Failed && !d.RestoredAt.IsZero():
		return "failed, restored"
	case d.Failed:
		return "failed"
	case !d.Complete():
		return "not complete"
	}
	return "delivered"
}

// shownDeliveries is the number of deliveries that are visible without a click.
const shownDeliveries = 10

// Recent returns the newest deliveries.
func (e *environment) Recent() []*delivery {
	return e.Deliveries[:min(shownDeliveries, len(e.Deliveries))]
}

// Older returns the deliveries after the recent ones.
func (e *environment) Older() []*delivery { return e.Deliveries[len(e.Recent()):] }

// Tally counts the deliveries by their outcome, for people who can't see the lane.
func (e *environment) Tally() string {
	failed := 0
	for _, d := range e.Deliveries {
		if d.Failed {
			failed++
		}
	}
	text := fmt.Sprintf("%s: %d deliveries", e.Name, len(e.Deliveries))
	if failed > 0 {
		text += fmt.Sprintf(", %d failed", failed)
	}
	return text + ". The table below lists them."
}

// tick is a day on the axis of the lanes.
type tick struct{ X, Label string }

// axis gives all histories the same window. It returns at most 8 days of it, at equal distances.
func axis(all []*environment) []tick {
	var whole window
	for _, e := range all {
		if e.History == nil {
			continue
		}
		if whole.From.IsZero() || e.Window.From.Before(whole.From) {
			whole.From = e.Window.From
		}
		whole.To = deployment.Later(whole.To, e.Window.To)
	}
	if whole.To.IsZero() {
		return nil
	}
	for _, e := range all {
		for _, d := range e.Deliveries {
			d.X = fmt.Sprintf("%.2f%%", 100*whole.part(d.StartedAt))
		}
	}
	const maxTicks, day = 8, 24 * time.Hour
	from, to := whole.From.UTC().Truncate(day).Add(day), whole.To
	step := day * time.Duration(math.Ceil(float64(to.Sub(from))/float64(day)/maxTicks))
	var ticks []tick
	for t := from; step > 0 && t.Before(to); t = t.Add(step) {
		if part := whole.part(t); part < 0.96 { // further right, the text would not fit on the page
			ticks = append(ticks, tick{fmt.Sprintf("%.2f%%", 100*part), t.Format("2 Jan")})
		}
	}
	return ticks
}

// metric is one of the four metrics, with its trend.
type metric struct {
	Label, Value string
	Bars         string // the path of the trend
	Halves       string // the trend in words
}

// parts is the number of bars of a trend.
const parts = 12

// newMetrics returns the four metrics. A trend divides the window into equal parts. It has one value for each part: the
// number of deliveries that started in it, the median of their times, or the share of failed deliveries.
func newMetrics(m history.Metrics, deliveries []*delivery, w window) []metric {
	value := func(p *int) string {
		if p == nil {
			return none
		}
		return span(float64(*p))
	}
	perDay, failures := fmt.Sprintf("%d · %.2g a day", m.Deployments, m.DeploymentsPerDay), none
	if m.ChangeFailureRate != nil {
		failures = fmt.Sprintf("%.1f %%", 100**m.ChangeFailureRate)
	}
	var all []metric
	for _, measure := range []struct {
		label, value string
		of           func(history.Metrics) *float64
		text         func(float64) string
	}{
		{"Deployments", perDay, func(m history.Metrics) *float64 { return number(&m.Deployments) },
			func(n float64) string { return fmt.Sprint(n) }},
		{"Lead time", value(m.LeadTimeSeconds),
			func(m history.Metrics) *float64 { return number(m.LeadTimeSeconds) }, span},
		{"Change failure rate", failures, func(m history.Metrics) *float64 { return m.ChangeFailureRate },
			func(rate float64) string { return fmt.Sprintf("%.0f %%", 100*rate) }},
		{"Time to restore", value(m.TimeToRestoreSeconds),
			func(m history.Metrics) *float64 { return number(m.TimeToRestoreSeconds) }, span},
	} {
		heights := lists.Map(split(deliveries, w, parts), func(part history.Metrics) float64 {
			return *cmp.Or(measure.of(part), new(0.0))
		})
		known := false
		halves := lists.Map(split(deliveries, w, 2), func(half history.Metrics) string {
			value := measure.of(half)
			if value == nil {
				return none
			}
			known = true
			return measure.text(*value)
		})
		row := metric{Label: measure.label, Value: measure.value, Bars: trend(heights)}
		if known {
			row.Halves = strings.Join(halves, " → ")
		}
		all = append(all, row)
	}
	return all
}

// metricsOf returns the metrics of deliveries, as the data source computes them, but from one lead time of each.
func metricsOf(all []*delivery) history.Metrics {
	var leads []time.Duration
	for _, d := range all {
		if d.LeadTimeSeconds != nil {
			leads = append(leads, time.Duration(*d.LeadTimeSeconds)*time.Second)
		}
	}
	return history.MetricsOf(lists.Map(all, func(d *delivery) *history.Delivery { return d.Delivery }), leads)
}

func number(n *int) *float64 {
	if n == nil {
		return nil
	}
	return new(float64(*n))
}

// split returns the metrics of the deliveries in each of the equal parts of the window in which they started.
func split(deliveries []*delivery, w window, n int) []history.Metrics {
	groups := make([][]*delivery, n)
	for _, d := range deliveries {
		i := min(int(w.part(d.StartedAt)*float64(n)), n-1)
		groups[i] = append(groups[i], d)
	}
	return lists.Map(groups, metricsOf)
}

// trend draws a bar for each height, 10 units wide, in a box 20 units high. Zero is drawn as a thin line.
func trend(heights []float64) string {
	var b strings.Builder
	highest := cmp.Or(slices.Max(heights), 1)
	for i, h := range heights {
		top := 19 - math.Round(18*h/highest)
		fmt.Fprintf(&b, "M%d 20V%gh8V20z", 10*i+1, top)
	}
	return b.String()
}
