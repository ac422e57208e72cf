package rendering_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// fluxPromotion promotes commits of a control plane to the fleet of testdata/TestFluxRollout. Each commit has its own
// values of the fleet.
const fluxPromotion = `
variable "control_plane_url" {
  type = string
}

variable "versions" {
  type = map(object({ region = string, app_branch = optional(string, "main"), note = optional(string, "") }))
}

data "kalypso_promotion" "prod" {
  environment   = "prod"
  control_plane = { repo = var.control_plane_url, branch = "main" }
  gitops_repo   = local.gitops_repo
  rollback      = { observed = data.kalypso_deployment_state.prod }
}

locals {
  version = var.versions[data.kalypso_promotion.prod.commit]
}

output "promotion" {
  value = data.kalypso_promotion.prod
}
`

const fluxPromotionOverride = `
resource "kalypso_workload" "shop" {
  deployment_targets = [{
    name        = "web"
    environment = "prod"
    manifests   = { repo = var.app_url, branch = local.version.app_branch, path = "./web" }
  }]
}

resource "kalypso_environment_rendering" "prod" {
  promotion = data.kalypso_promotion.prod
  configs = {
    all    = { name = "all", data = { REGION = local.version.region } }
    canary = { name = "canary", labels = { ring = "0" }, data = { NOTE = local.version.note } }
  }
}
`

// fluxDecision is the output of the promotion.
type fluxDecision struct{ Commit, Decision, Reason, By string }

// A rollback on real Flux: if a commit breaks the canary, the environment rolls back by itself, within the deadline and
// two reconciliations, and does not promote this commit again. An outage of a cluster whose folder the commit did not
// change causes no rollback. A commit that fixes the canary is promoted.
func TestFluxRollback(t *testing.T) {
	f := newFluxFleet(t)
	f.Write("promotion.tf", fluxPromotion)
	f.Write("promotion_override.tf", fluxPromotionOverride)
	controlPlane := filepath.Join(f.repos, "control-plane")
	gitserver.Git(t, f.repos, "init", "-q", "--bare", controlPlane)
	versions := map[string]any{}
	commit := func(version map[string]any) string {
		f.T.Helper()
		made := gitserver.Seed(f.T, controlPlane, "main", map[string]string{"version": time.Now().String()})
		versions[made] = version
		f.Set("versions", versions)
		return made
	}
	decision := func() (d fluxDecision) {
		f.T.Helper()
		f.Output("promotion", &d)
		return d
	}
	f.Set("control_plane_url", f.url+"/control-plane")
	first := commit(map[string]any{"region": "1"})
	f.step()
	f.until("the first delivery", succeeds)
	f.Set("in_waves", true)

	f.run("broken canary", func(t *testing.T) {
		begun := time.Now()
		bad := commit(map[string]any{"region": "2", "app_branch": "nope"})
		f.step()
		if f.regions() != "2 1" {
			t.Fatalf("%s on the branch", f.regions())
		}
		at, _, printed := f.until("the rollback", f.contains("1 1"))
		if took := at.Sub(begun); took > fluxDeadline+2*fluxRetry {
			t.Errorf("the rollback came after %s", took)
		}
		d := decision()
		if d.Decision != "rollback" || d.Commit != first || d.By != "rollback" ||
			!strings.Contains(d.Reason, bad[:12]+" is rolled back") ||
			!strings.Contains(d.Reason, `folder "canary" has been failing since`) {
			t.Errorf("the promotion: %+v\n%s", d, printed)
		}
		f.until("the clusters", succeeds)
		for range 10 {
			f.step()
			if d := decision(); d.Commit != first || f.regions() != "1 1" {
				t.Fatalf("%+v, with %s on the branch", d, f.regions())
			}
			time.Sleep(500 * time.Millisecond)
		}
	})
	f.run("outage of another cluster", func(t *testing.T) {
		noted := commit(map[string]any{"region": "1", "note": "of the canary"})
		f.until("the canary", func(s fluxState, _ string) bool { return decision().Commit == noted && succeeds(s, "") })
		f.follow("large", ", secretRef: {name: nope}")
		f.until("the outage", func(s fluxState, _ string) bool { return s.Folders["large"].Verdict == "failure" })
		for range 10 {
			if state, _ := f.step(); decision().Commit != noted {
				t.Fatalf("%+v causes the decision %+v", state, decision())
			}
			time.Sleep(500 * time.Millisecond)
		}
		f.follow("large", "")
		f.until("the clusters", succeeds)
	})
	f.run("commit that fixes the canary", func(t *testing.T) {
		mended := commit(map[string]any{"region": "3"})
		f.until("the fix", f.contains("3 3"))
		f.until("the clusters", succeeds)
		if d := decision(); d.Commit != mended || d.By != "" {
			t.Errorf("the promotion: %+v", d)
		}
	})
}
