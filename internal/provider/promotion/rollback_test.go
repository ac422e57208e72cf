package promotion_test

import (
	"strings"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// rollsBack configures the environment to roll back by itself, according to the reports of the variable reports.
func (p *promotionRoot) rollsBack() {
	p.Write("reports.tf", `
variable "reports" {
  type    = any
  default = null
}

data "kalypso_deployment_state" "this" {
  gitops_repo       = local.gitops_repo
  source            = { reports = coalesce(var.reports, []) }
  progress_deadline = try(var.reports[0].state, "") == "failed" ? "1ms" : "1000000h"
}
`)
	p.Write("rollback_override.tf", `
data "kalypso_promotion" "this" {
  rollback = var.reports == null ? null : {
    observed = data.kalypso_deployment_state.this
    after    = try(var.rules.after_failure, null)
  }
}
`)
}

// reports makes the cluster of folder large report that it runs, or fails with, what the branch contains.
func (p *promotionRoot) reports(state string) {
	p.T.Helper()
	head := gitserver.Rev(p.T, p.gitAt, "prod")
	p.Set("reports", []any{map[string]any{
		"cluster": "edge-1", "folder": "large", "revision": "prod@sha1:" + head, "state": state,
		"time": time.Now().UTC().Format(time.RFC3339), "message": "image of @team is gone, closes #1",
	}})
}

// promotes expects that a commit is promoted, while no cluster has reported anything about it.
func (p *promotionRoot) promotes(commit string) {
	p.T.Helper()
	p.Set("reports", nil)
	p.expect("promote", commit)
}

// If a commit breaks a cluster, the environment rolls back by itself. The record contains this decision, so a run
// without an observation keeps it. The environment does not roll back again before it has succeeded once.
func TestAccPromotionRollback(t *testing.T) {
	t.Parallel()
	byPushAndByPullRequest(t, func(t *testing.T, p *promotionRoot) {
		testRollback(t, p)
	})
	t.Run("files", func(t *testing.T) {
		t.Parallel()
		testRollback(t, newPromotionRootOfFiles(t))
	})
}

func testRollback(t *testing.T, p *promotionRoot) {
	t.Helper()
	p.rollsBack()
	oldest := p.commit()
	p.expect("promote", oldest)
	first := p.commit()
	p.expect("promote", first)
	p.reports("current")
	p.expect("up_to_date", first)

	bad := p.commit()
	p.promotes(bad)
	p.reports("failed")
	p.rules("after_failure", "500000h")
	p.expect("up_to_date", bad)
	p.rules("hold", "an incident")
	p.expect("frozen", bad)
	p.rules("approved", []string{bad})
	p.expect("up_to_date", bad)
	p.rules()
	seen := p.expect("rollback", first)
	acc.ExpectTexts(t, seen.Summary, "Roll back environment", `folder "large" has been failing since`,
		`folder "large", cluster "edge-1"`, "image of @team is gone")
	acc.ExpectTexts(t, seen.Reason, "automatic rollback: "+bad[:12]+" is rolled back",
		`folder "large" has been failing since`)
	if strings.Contains(seen.Reason+p.message(), "image of") {
		t.Errorf("the reason contains text of a cluster: %s\n%s", seen.Reason, p.message())
	}
	if !p.merges {
		acc.ExpectTexts(t, p.message(), "- automatic rollback: "+bad[:12]+" is rolled back", "has been failing since")
	}
	if r := p.record().Promotion; r.Decision != "rollback" || r.By != "rollback" || r.RolledBack != bad || !r.Unsettled {
		t.Errorf("the record says %+v", r)
	}
	p.Set("reports", nil)
	seen = p.expect("up_to_date", first)
	if len(seen.Skipped) != 1 || seen.Skipped[0].Commit != bad || seen.By != "rollback" || seen.Unproven != "" {
		t.Errorf("the promotion is %+v", seen)
	}

	// If the environment fails again, there is only a warning.
	p.reports("failed")
	p.expectUnchanged("The environment fails after an automatic rollback", "has not succeeded since")
	p.expect("up_to_date", first)
	p.reports("current")
	seen = p.run()
	if p.merges { // the success is recorded by the next pull request
		if !p.record().Promotion.Unsettled || seen.Commit != first {
			t.Errorf("the record says %+v", p.record().Promotion)
		}
	} else {
		if p.record().Promotion.Unsettled || seen.Commit != first || p.record().Promotion.By != "rollback" {
			t.Errorf("the record says %+v", p.record().Promotion)
		}
		acc.ExpectTexts(t, p.message(), "The environment succeeded after an automatic rollback.")
		p.expectUnchanged()
		p.reports("failed")
		p.expect("rollback", oldest)
		p.reports("current")
		p.expect("up_to_date", oldest)
	}

	// A newer commit is promoted. The record then contains no rollback, also with pull requests.
	fix := p.commit()
	p.reports("current")
	p.apply()
	p.Set("reports", nil)
	p.expect("up_to_date", fix)
	if r := p.record().Promotion; r.Unsettled || r.By != "" || r.RolledBack != "" {
		t.Errorf("the record says %+v", r)
	}
}

// An environment can't roll back from its first commit. It is frozen until the gates of a newer commit are open.
func TestAccPromotionRollbackOfFirstCommit(t *testing.T) {
	t.Parallel()
	byPushAndByPullRequest(t, func(t *testing.T, p *promotionRoot) {
		p.rollsBack()
		gate := after("stage")
		first := p.commit()
		p.status(first, "success", "")
		p.rules("after", gate)
		p.expect("promote", first)
		p.reports("failed")
		p.ownChange("small")
		p.expectUnchanged("The environment is frozen", `folder "large" has been failing since`, "no earlier delivery")
		fix := p.commit()
		p.expectUnchanged("The environment is frozen")
		p.status(fix, "success", "")
		if p.merges {
			p.Set("reports", nil) // people merge once the clusters report again
		}
		p.apply()
		p.Set("reports", nil)
		p.expect("up_to_date", fix)
	})
}

// Wrong arguments are errors at their attribute, and an observation that is not known yet defers the decision.
func TestAccPromotionRollbackBadInput(t *testing.T) {
	t.Parallel()
	p := newPromotionRootOfFiles(t)
	p.rollsBack()
	p.expect("promote", p.commit())
	p.reports("failed")
	p.rules("after_failure", "soon")
	p.ExpectError([]string{"Invalid duration", `"soon" is not a duration`}, "plan", "-no-color")
	p.rules()
	whole := "data.kalypso_deployment_state.this"
	for observed, says := range map[string][]string{
		`merge(` + whole + `, { gitops_repo = { repo = var.gitops, branch = "stage" } })`: {
			"Observation of another location", `branch "stage"`, `branch "prod"`,
		},
		`merge(` + whole + `, { head = null })`:               {"Missing head"},
		`merge(` + whole + `, { verdict = "good" })`:          {"Invalid verdict", `"good"`},
		`merge(` + whole + `, { observed_at = "yesterday" })`: {"Invalid time", "yesterday"},
		`{ head = "x", verdict = "success", folders = {} }`:   {"Missing GitOps repo", "Missing time"},
		`merge(` + whole + `, { folders = { large = { } } })`: {"Missing total", "Invalid verdict"},
	} {
		p.Write("z_override.tf",
			"data \"kalypso_promotion\" \"this\" {\n  rollback = {\n    observed = "+observed+"\n  }\n}\n")
		p.ExpectError(append(says, "data.kalypso_promotion.this"), "plan", "-no-color")
	}
	p.Write("id.tf", "resource \"terraform_data\" \"id\" {\n  input = timestamp()\n}\n")
	p.Write("z_override.tf", `
data "kalypso_promotion" "this" {
  rollback = {
    observed = data.kalypso_deployment_state.this
    after    = terraform_data.id.output == "" ? "1h" : "2h"
  }
}
`)
	if plan := p.Succeed("plan", "-no-color").Text(); !strings.Contains(plan, "(known after apply)") {
		t.Errorf("the plan:\n%s", plan)
	}
}
