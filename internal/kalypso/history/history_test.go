package history_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/rollout"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion"
)

// branchOf returns a branch with a commit each hour. A commit is "" if it has no record. Otherwise it is a tree, the
// number of the promoted commit, and optionally a word: "pin" for a pin that rolls back, "again" for the same pin as in
// the commit before, "bare" for a record without a reason, "wave" for a wave of a rollout, "done" for the last wave,
// "itself" for an automatic rollback, and "returned" for a rollout that was rolled back.
func branchOf(commits ...string) []history.Commit {
	var branch []history.Commit
	rolledBack, before := "", ""
	for i, text := range commits {
		c := history.Commit{Hash: fmt.Sprint("commit ", i), Time: minute(60 * i), Subject: "subject"}
		var tree, more string
		number := -1
		if _, _ = fmt.Sscan(text, &tree, &number, &more); tree != "" {
			c.Record = &record.Record{Environment: "prod", PromotedCommit: sourceHash(number),
				Promotion: promotion.Reason{Decision: promotion.Promote}}
			c.Folders = map[string]string{"large": tree}
			switch more {
			case "pin":
				rolledBack = before
				c.Record.Promotion.Decision, c.Record.Promotion.RolledBack = promotion.Pinned, rolledBack
			case "again":
				c.Record.Promotion.Decision, c.Record.Promotion.RolledBack = promotion.Pinned, rolledBack
			case "itself": // with a change of the environment's own
				c.Record.Promotion.Decision, c.Record.Promotion.By = promotion.Rollback, promotion.ByRollback
			case "returned":
				c.Record.Rollout = &rollout.Progress{RolledBack: "folder fails"}
			case "bare":
				c.Record.Promotion.Decision = ""
			case "wave":
				c.Record.Rollout = &rollout.Progress{TargetTreeHash: "target"}
			case "done":
				c.Record.Rollout = &rollout.Progress{TargetTreeHash: "target", Complete: true}
			}
			before = c.Record.PromotedCommit
		}
		branch = append([]history.Commit{c}, branch...)
	}
	return branch
}

func TestKindsOfDeliveries(t *testing.T) {
	for name, test := range map[string]struct {
		commits []string
		want    string // the kinds of the deliveries, oldest first, with "…" if one is not complete and "!" if it failed
	}{
		"promotions and changes": {[]string{"a 1", "b 2", "c 2", "c 3"},
			"first promotion change promotion"},
		"commits that do not change the rendering": {[]string{"a 1", "a 1", "a 1"}, "first"},
		"a revert": {[]string{"a 1", "b 2", "a 1"}, "first promotion! rollback"},
		"a revert of a revert": {[]string{"a 1", "b 2", "a 1", "b 2", "a 1"},
			"first promotion! rollback promotion! rollback"},
		"an automatic rollback": {[]string{"a 1", "b 2", "c 3", "d 2 itself", "e 2 itself"},
			"first promotion promotion! rollback(rollback) change"},
		"two automatic rollbacks": {[]string{"a 1", "b 2", "c 3", "d 2 itself", "e 1 itself"},
			"first promotion promotion! rollback(rollback)! rollback(rollback)"},
		"an automatic rollback of a rollout": {[]string{"a 1", "b 1 wave", "c 1 returned"},
			"first change…! rollback(rollback)"},
		"a pin":                {[]string{"a 1", "b 2", "c 3", "d 1 pin"}, "first promotion promotion! rollback"},
		"a change after a pin": {[]string{"a 1", "b 2", "c 1 pin", "d 1 again"}, "first promotion! rollback change"},
		"a promotion without a change of the tree": {[]string{"a 1", "b 2", "b 1"}, "first promotion promotion"},
		"a record without a reason":                {[]string{"a 1", "b 2", "c 1 bare"}, "first promotion! rollback"},
		"a removed environment":                    {[]string{"a 1", "", "a 1"}, "first change"},
		"a complete rollout":                       {[]string{"a 1", "b 1 wave", "c 1 wave", "c 2 done"}, "first promotion"},
		"a rollout whose last wave is empty":       {[]string{"a 1", "b 1 wave", "b 1 done"}, "first change"},
		"an abandoned rollout":                     {[]string{"a 1", "b 1 wave", "a 1"}, "first change…! rollback"},
		"a rollout under way":                      {[]string{"a 1", "b 1 wave"}, "first change…"},
	} {
		h := history.Of(history.Input{Branch: branchOf(test.commits...), Complete: true, Until: minute(1e6)})
		var got []string
		for _, d := range h.Deliveries {
			text := string(d.Kind)
			if d.DecidedBy != "" {
				text += "(" + d.DecidedBy + ")"
			}
			if !d.Complete() {
				text += "…"
			}
			if d.Failed {
				text += "!"
			}
			got = append([]string{text}, got...)
		}
		if text := strings.Join(got, " "); text != test.want {
			t.Errorf("%s: %s, want %s", name, text, test.want)
		}
	}
}

// The commits of a delivery are unknown if the control plane is not read, or lacks the promoted commit.
func TestUnknownCommits(t *testing.T) {
	branch := branchOf("a 1", "b 2")
	for name, test := range map[string]struct {
		controlPlane []history.Source
		known        bool
	}{
		"no control plane":                 {},
		"control plane without the commit": {[]history.Source{{Hash: sourceHash(2), Time: minute(0)}}, false},
		"control plane with both commits":  {[]history.Source{{Hash: sourceHash(2)}, {Hash: sourceHash(1)}}, true},
	} {
		h := history.Of(history.Input{Branch: branch, Complete: true, ControlPlane: test.controlPlane, Until: minute(1e6)})
		if d := h.Deliveries[0]; (d.Commits != nil) != test.known || (d.LeadTimeSeconds != nil) != test.known {
			t.Errorf("%s: %v commits, with the lead time %v", name, d.Commits, d.LeadTimeSeconds)
		}
	}
}

// The lead time is the median of the commits' ages. Of an even number it is the mean of the middle two, rounded down to
// seconds.
func TestLeadTime(t *testing.T) {
	for _, test := range []struct {
		ages []time.Duration
		want int
	}{
		{[]time.Duration{3 * time.Second, time.Second, 2 * time.Second}, 2},
		{[]time.Duration{2 * time.Second, time.Second}, 1},
		{[]time.Duration{-1500 * time.Millisecond}, -2},
	} {
		if got := history.MetricsOf(nil, test.ages).LeadTimeSeconds; got == nil || *got != test.want {
			t.Errorf("%v: %v, want %d", test.ages, got, test.want)
		}
	}
}
