package describe

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/clock"
)

// Deployments describes a history in Markdown: the metrics, and at most limit deliveries, newest first.
func Deployments(h history.History, limit int) string {
	w := &writer{}
	if h.Environment == "" {
		w.line("Nothing was delivered yet.")
		return w.b.String()
	}
	w.line("## Deployments of environment %s\n", code(h.Environment))
	w.line("From %s until %s.", moment(h.Since), moment(h.Until))
	if !h.Complete {
		w.line("\nThe branch has more commits than are read, so older deployments are missing.")
	}
	m := h.Metrics
	rate := none
	if m.ChangeFailureRate != nil {
		rate = fmt.Sprintf("%.1f %%", 100**m.ChangeFailureRate)
	}
	w.line("\n| Deployments | Per day | Lead time | Change failure rate | Time to restore |\n|---|---|---|---|---|")
	w.line("| %d | %.2f | %s | %s | %s |",
		m.Deployments, m.DeploymentsPerDay, span(m.LeadTimeSeconds), rate, span(m.TimeToRestoreSeconds))
	if len(h.Deliveries) == 0 {
		return w.b.String()
	}
	w.line("\n| Started | Delivered | Kind | Promoted commit | Commits | Lead time | Outcome | Reason | Changes |")
	w.line("|---|---|---|---|---|---|---|---|---|")
	for _, d := range first(h.Deliveries, limit) {
		commits := none
		if d.Commits != nil {
			commits = fmt.Sprint(*d.Commits)
		}
		promoted := none
		if d.PromotedCommit != "" {
			promoted = code(short(d.PromotedCommit))
		}
		reason, _, _ := strings.Cut(d.Reason, "\n")
		w.line("| %s | %s | %s | %s | %s | %s | %s | %s | %s |",
			moment(d.StartedAt), moment(d.DeliveredAt), d.Kind, promoted, commits, span(d.LeadTimeSeconds),
			outcome(d), cell(code(delivery.Truncate(reason))), changes(d))
	}
	if left := len(h.Deliveries) - limit; left > 0 {
		w.line("\n… and %s.", problem.Count(left, "more deployment"))
	}
	return w.b.String()
}

// changes names the objects that a delivery changed.
func changes(d *history.Delivery) string {
	texts := lists.Map(d.Changes, func(object string) string { return cell(code(delivery.Truncate(object))) })
	return cmp.Or(strings.Join(texts, ", "), none)
}

// none replaces a value that is unknown or absent.
const none = "–"

func moment(t time.Time) string {
	if t.IsZero() {
		return none
	}
	return t.UTC().Format(time.RFC3339)
}

func span(seconds *int) string {
	if seconds == nil {
		return none
	}
	return clock.Format(time.Duration(*seconds) * time.Second)
}

func outcome(d *history.Delivery) string {
	switch {
	case d.Failed && d.RestoredAt.IsZero():
		return "failed"
	case d.Failed:
		return "failed, restored " + moment(d.RestoredAt)
	case !d.Complete():
		return "not complete"
	}
	return "delivered"
}
