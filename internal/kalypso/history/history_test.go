package history_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion"
)

// branchOf returns a branch with a commit each hour. A commit is "" without a record, or a tree, the promoted commit's
// number and more: "pin" for a pin that rolls back, "again" for the same pin as in the commit before, "bare" for a
// record without a reason, "wave" for a wave of a rollout, "done" for the last one.
func branchOf(commits ...string) []history.Commit {
	var branch []history.Commit
	rolledBack, before := "", ""
	for i, text := range commits {
		c := history.Commit{Hash: fmt.Sprint("commit ", i), Time: minute(60 * i), Subject: "subject"}
		var tree, more string
		number := -1
		if _, _ = fmt.Sscan(text, &tree, &number, &more); tree != "" {
			c.Rendering = &history.Rendering{Environment: "prod", Promotion: promotion.Promotion{
				Commit: sourceHash(number), Reason: promotion.Reason{Decision: promotion.Promote}}}
			c.Folders = map[string]string{"large": tree}
			switch more {
			case "pin":
				rolledBack = before
				c.Rendering.Promotion.Decision, c.Rendering.Promotion.RolledBack = promotion.Pinned, rolledBack
			case "again":
				c.Rendering.Promotion.Decision, c.Rendering.Promotion.RolledBack = promotion.Pinned, rolledBack
			case "itself": // with a change of the environment's own
				c.Rendering.Promotion.Decision, c.Rendering.Promotion.By = promotion.Rollback, promotion.ByRollback
			case "returned":
				c.Rendering.RolledBack, c.Rendering.Promotion.By = true, promotion.ByRollback
			case "bare":
				c.Rendering.Promotion.Decision = ""
			case "wave":
				c.Rendering.Target, c.Rendering.UnderWay = "target", true
			case "done":
				c.Rendering.Target = "target"
			}
			before = c.Rendering.Promotion.Commit
		}
		branch = append([]history.Commit{c}, branch...)
	}
	return branch
}

func TestKinds(t *testing.T) {
	for name, test := range map[string]struct {
		commits []string
		want    string // kinds, oldest first, with "!" after those that failed and "…" after those that are not complete
	}{
		"promotions and changes": {[]string{"a 1", "b 2", "c 2", "c 3"},
			"first promotion change promotion"},
		"a commit that changes nothing of the rendering": {[]string{"a 1", "a 1", "a 1"}, "first"},
		"a revert": {[]string{"a 1", "b 2", "a 1"}, "first promotion! rollback"},
		"a revert of a revert": {[]string{"a 1", "b 2", "a 1", "b 2", "a 1"},
			"first promotion! rollback promotion! rollback"},
		"it goes back by itself": {[]string{"a 1", "b 2", "c 3", "d 2 itself", "e 2 itself"},
			"first promotion promotion! rollback(rollback) change"},
		"it goes back by itself twice": {[]string{"a 1", "b 2", "c 3", "d 2 itself", "e 1 itself"},
			"first promotion promotion! rollback(rollback)! rollback(rollback)"},
		"a rollout goes back by itself": {[]string{"a 1", "b 1 wave", "c 1 returned"},
			"first change…! rollback(rollback)"},
		"a pin":                      {[]string{"a 1", "b 2", "c 3", "d 1 pin"}, "first promotion promotion! rollback"},
		"a change after a pin":       {[]string{"a 1", "b 2", "c 1 pin", "d 1 again"}, "first promotion! rollback change"},
		"a commit without tree":      {[]string{"a 1", "b 2", "b 1"}, "first promotion promotion"},
		"a bare record":              {[]string{"a 1", "b 2", "c 1 bare"}, "first promotion! rollback"},
		"the environment is removed": {[]string{"a 1", "", "a 1"}, "first change"},
		"waves":                      {[]string{"a 1", "b 1 wave", "c 1 wave", "c 2 done"}, "first promotion"},
		"the last wave is empty":     {[]string{"a 1", "b 1 wave", "b 1 done"}, "first change"},
		"an abandoned rollout":       {[]string{"a 1", "b 1 wave", "a 1"}, "first change…! rollback"},
		"a rollout under way":        {[]string{"a 1", "b 1 wave"}, "first change…"},
	} {
		h := history.Of(history.Input{Branch: branchOf(test.commits...), Complete: true, Until: minute(1e6)})
		var got []string
		for _, d := range h.Deliveries {
			text := string(d.Kind)
			if d.By != "" {
				text += "(" + d.By + ")"
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

// Without the control plane, or if it lost a commit, the commits of a delivery are unknown.
func TestUnknownCommits(t *testing.T) {
	branch := branchOf("a 1", "b 2")
	for name, test := range map[string]struct {
		controlPlane []history.Source
		known        bool
	}{
		"none": {},
		"lost": {[]history.Source{{Hash: sourceHash(2), Time: minute(0)}}, false},
		"read": {[]history.Source{{Hash: sourceHash(2)}, {Hash: sourceHash(1)}}, true},
	} {
		h := history.Of(history.Input{Branch: branch, Complete: true, ControlPlane: test.controlPlane, Until: minute(1e6)})
		if d := h.Deliveries[0]; d.Known != test.known || (d.LeadTime() != nil) != test.known {
			t.Errorf("%s: known is %t, with the lead time %v", name, d.Known, d.LeadTime())
		}
	}
}

// A median of an even number is the mean of the middle two, and seconds are rounded down.
func TestLeadTime(t *testing.T) {
	delivered := minute(60)
	for _, test := range []struct {
		ages []time.Duration
		want time.Duration
	}{
		{[]time.Duration{3 * time.Second, time.Second, 2 * time.Second}, 2 * time.Second},
		{[]time.Duration{2 * time.Second, time.Second}, time.Second},
		{[]time.Duration{-1500 * time.Millisecond}, -2 * time.Second},
	} {
		d := history.Delivery{Delivered: delivered}
		for _, age := range test.ages {
			d.Commits = append(d.Commits, history.Source{Time: delivered.Add(-age)})
		}
		if got := d.LeadTime(); got == nil || *got != test.want {
			t.Errorf("%v: %v, want %s", test.ages, got, test.want)
		}
	}
}
