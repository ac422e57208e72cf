package describe_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/describe"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/rollout"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion"
)

func TestDeployments(t *testing.T) {
	at := func(hour int) time.Time { return time.Date(2026, 1, 1, hour, 0, 0, 0, time.UTC) }
	recordOf := func(commit, reason, tree string) (*record.Record, map[string]string) {
		return &record.Record{Environment: "prod", PromotedCommit: commit,
			Promotion: promotion.Reason{Explanation: reason}}, map[string]string{"large": tree}
	}
	in := history.Input{Complete: true, Since: at(2), Until: at(26), ControlPlane: []history.Source{
		{Hash: commit("2"), Time: at(1)}, {Hash: commit("1"), Time: at(0)}}}
	for i, c := range []struct{ commit, reason, tree string }{
		{commit("1"), "", "a"}, {commit("2"), "check run \"ci\" | is success\nand more", "b"}, {commit("1"), "", "a"},
	} {
		r, folders := recordOf(c.commit, c.reason, c.tree)
		in.Branch = append([]history.Commit{{Hash: commit("a"), Time: at(1 + i), Subject: "Render @all <b>", Record: r,
			Folders: folders}}, in.Branch...)
	}
	waves, folders := recordOf(commit("1"), "", "c")
	waves.Rollout = &rollout.Progress{TargetTreeHash: "t"}
	in.Branch = append([]history.Commit{{Hash: commit("b"), Time: at(5), Subject: "First wave", Record: waves,
		Changes: []string{"template a|b", "config west: A, B"}, Folders: folders}}, in.Branch...)
	const head = "## Deployments of environment `prod`\n\nFrom 2026-01-01T02:00:00Z until 2026-01-02T02:00:00Z.\n\n" +
		"| Deployments | Per day | Lead time | Change failure rate | Time to restore |\n|---|---|---|---|---|\n" +
		"| 2 | 2.00 | 1h | 50.0 % | 1h |\n\n" +
		"| Started | Delivered | Kind | Promoted commit | Commits | Lead time | Outcome | Reason | Changes |\n" +
		"|---|---|---|---|---|---|---|---|---|\n" +
		"| 2026-01-01T05:00:00Z | – | change | `1111111` | 0 | – | " +
		"not complete | `First wave` | `template a\\|b`, `config west: A, B` |\n"
	for limit, want := range map[int]string{
		100: head +
			"| 2026-01-01T03:00:00Z | 2026-01-01T03:00:00Z | rollback | `1111111` | 0 | – | " +
			"delivered | `Render @all <b>` | – |\n" +
			"| 2026-01-01T02:00:00Z | 2026-01-01T02:00:00Z | promotion | `2222222` | 1 | 1h | " +
			"failed, restored 2026-01-01T03:00:00Z | `check run \"ci\" \\| is success` | – |\n",
		1: head + "\n… and 2 more deployments.\n",
	} {
		if diff := cmp.Diff(want, describe.Deployments(history.Of(in), limit)); diff != "" {
			t.Errorf("limit %d: (-want +got)\n%s", limit, diff)
		}
	}
	none := history.Of(history.Input{Since: at(0), Until: at(1)})
	if got := describe.Deployments(none, 1); got != "Nothing was delivered yet.\n" {
		t.Errorf("text for an empty branch: %s", got)
	}
	in.Branch, in.Complete = in.Branch[:2], false
	missing := "\n\nThe branch has more commits than are read, so older deployments are missing.\n"
	if got := describe.Deployments(history.Of(in), 1); !strings.Contains(got, missing) {
		t.Errorf("text for an incomplete history: %s", got)
	}
}
