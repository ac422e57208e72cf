package source

import (
	"cmp"
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/baserepo"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/baserepo/document"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/drift"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/resources"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// baseRepoResults are the computed attributes.
var baseRepoResults = []string{"content", "commit_sha", "delivered", "pull_request"}

// baseRepoKnown reports whether all arguments that the decision depends on are known.
func baseRepoKnown(m resources.Model) bool {
	return m.Decoder().Known("repo", "branch", "promotion", "delivery", "on_drift", "commit_message")
}

// desiredBaseRepo converts the arguments, and reports errors in the known ones.
func desiredBaseRepo(m resources.Model, diags *diag.Diagnostics) *baserepo.Desired {
	var ps problem.Problems
	given := m.Reporting(&ps)
	promotion := schemas.ReadPromotion(given)
	block, _ := given.Object("delivery")
	d := &baserepo.Desired{
		At:          baserepo.EnvironmentBranch{Repo: given.String("repo"), Branch: given.String("branch")},
		Message:     given.String("commit_message"),
		Strategy:    destination.Strategy(baseRepoStrategies.Or(block.String("strategy"))),
		OnDrift:     drift.Reaction(schemas.DriftReactions.Or(given.String("on_drift"))),
		PullRequest: schemas.ReadPullRequestSettings(block),
	}
	if promotion == nil {
		ps = append(ps, problem.Problem{
			Summary: "Missing promotion",
			Detail:  "promotion names the commit to promote. Pass a kalypso_promotion, or an object with commit.",
			Path:    []problem.Step{problem.Attr("promotion")},
		})
	} else {
		d.Promotion = *promotion
	}
	ps = append(ps, d.Validate()...)
	tfvalue.AppendProblems(diags, ps)
	return d
}

// planBaseRepoResults plans the computed attributes.
func planBaseRepoResults(m, state resources.Model, d *baserepo.Desired, decision baserepo.Decision) {
	switch {
	case decision.Withhold:
		m.Keep(state, baseRepoResults...)
		m.SetUnknown("pull_request") // Terraform doesn't apply a plan without a change
		return
	case !decision.Write:
		keepBaseRepoResults(m, state)
		if state != nil {
			m.Keep(state, "promotion")
		}
		return
	}
	m.SetUnknown(baseRepoResults...)
	if decision.FileKnown {
		m.Set(tfvalue.Values{"content": decision.File})
	}
	if d.Strategy == destination.Push {
		m.Set(tfvalue.Values{"delivered": true, "pull_request": nil})
	}
}

// keepBaseRepoResults plans the results of the last apply, or null if there was none.
func keepBaseRepoResults(m, state resources.Model) {
	m.Set(tfvalue.Values{"content": nil, "commit_sha": nil, "delivered": false, "pull_request": nil})
	if state != nil {
		m.Keep(state, baseRepoResults...)
	}
}

// setBaseRepoResult sets the results of an apply or a refresh.
func setBaseRepoResult(m resources.Model, found *baserepo.Result) {
	file := found.State.File
	if p := found.State.Proposal; p != nil && p.State == githost.Open {
		file = p.File
	}
	m.Set(tfvalue.Values{
		"content": tfvalue.OrNil(file), "commit_sha": tfvalue.OrNil(found.Commit), "delivered": found.Commit != "",
	})
	if found.PullRequest != nil || m["pull_request"].IsUnknown() {
		m.Set(tfvalue.Values{"pull_request": schemas.PullRequestValue(found.PullRequest)})
	}
}

// baseRepoKey is the key in private state of the file and the pull request as they were last read.
const baseRepoKey = "base_repo"

// readPrior returns the BaseRepo as the last run stored it in the private state, or else as the state shows it.
func readPrior(ctx context.Context, c *resources.Call) *baserepo.State {
	if s := resources.GetPrivate[baserepo.State](ctx, c.Private, baseRepoKey, c.Diags); s.Head != "" {
		return &s
	}
	promotion, _ := c.State.Decoder().Object("promotion")
	return &baserepo.State{
		At:    baserepo.EnvironmentBranch{Repo: c.State.Text("repo"), Branch: c.State.Text("branch")},
		Since: c.State.Text("commit_sha"), Delivered: promotion.String("commit"),
	}
}

// baseRepoImportForm is the form of an import ID.
const baseRepoImportForm = "<repo>?ref=<branch>"

// parseBaseRepoID parses an import ID.
func parseBaseRepoID(id string) (baserepo.EnvironmentBranch, error) {
	at, err := destination.Parse(id)
	if err == nil && at.Path != "." {
		err = fmt.Errorf("it names a path, and %s lies at the root", document.File)
	}
	if err != nil {
		err = fmt.Errorf("%q: %w; the form is %s", cmp.Or(id, "the ID"), err, baseRepoImportForm)
	}
	return baserepo.EnvironmentBranch{Repo: at.Repo, Branch: at.Branch}, err
}
