package baserepo_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/baserepo"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/baserepo/document"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/pullrequest"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/strategy"
	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion"
)

const (
	older = "5523a85f37d12c0c7c10ab6616644db089fcd6f7"
	newer = "42f2c201b96055faead8da72a126ec3e8fe30296"
)

// TestDecide specifies the actions of an apply for each state.
func TestDecide(t *testing.T) {
	const other = "1111111111111111111111111111111111111111"
	at := baserepo.EnvironmentBranch{Repo: "https://github.com/acme/control-plane", Branch: "stage"}
	file, err := document.New(document.BaseRepo{
		Name: "main", Repo: "https://github.com/acme/control-plane", Branch: "main", Path: ".", Commit: older,
	})
	if err != nil {
		t.Fatal(err)
	}
	current, wanted := string(file), strings.Replace(string(file), older, newer, 1)
	pull := pullrequest.Settings{BranchPrefix: "deployment/"}
	state := func(change func(*baserepo.State)) *baserepo.State {
		s := &baserepo.State{At: at, Head: "head", File: current, Commit: older, Delivered: older, Since: "head"}
		if change != nil {
			change(s)
		}
		return s
	}
	proposed := func(state githost.PullRequestState, change func(*baserepo.Proposal)) func(*baserepo.State) {
		return func(s *baserepo.State) {
			s.Proposal = &baserepo.Proposal{
				Number: 7, State: state, Commit: newer, From: current, File: wanted, Settings: pull,
			}
			if change != nil {
				change(s.Proposal)
			}
		}
	}
	open := func(change func(*baserepo.Proposal)) *baserepo.State { return state(proposed(githost.Open, change)) }
	freeze := func(d *baserepo.Desired) {
		d.Promotion.Reason = promotion.Reason{Decision: promotion.Frozen, Summary: "An incident.\nMore."}
	}
	writes := baserepo.Decision{Write: true, File: wanted, FileKnown: true}
	keeps, stays := baserepo.Decision{File: wanted, FileKnown: true}, baserepo.Decision{File: current, FileKnown: true}
	for name, tc := range map[string]struct {
		desired func(*baserepo.Desired)
		state   *baserepo.State
		want    baserepo.Decision
	}{
		"a create writes the promoted commit": {nil, nil, baserepo.Decision{Write: true}},
		"another commit":                      {nil, state(nil), writes},
		"the same commit":                     {func(d *baserepo.Desired) { d.Promotion.Commit = older }, state(nil), stays},
		"nothing is promoted yet": {func(d *baserepo.Desired) { d.Promotion.Commit = "" }, nil,
			baserepo.Decision{IdleReason: "Nothing is promoted to the environment yet."}},
		"the promotion is removed": {func(d *baserepo.Desired) { d.Promotion.Commit = "" }, open(nil),
			baserepo.Decision{IdleReason: "Nothing is promoted to the environment yet."}},
		"the first promotion": {nil, &baserepo.State{At: at}, baserepo.Decision{Write: true}},
		"frozen":              {freeze, state(nil), baserepo.Decision{IdleReason: "An incident."}},
		"frozen, and people pinned a different commit": {freeze, state(func(s *baserepo.State) { s.Delivered = other }),
			baserepo.Decision{IdleReason: "An incident."}},
		"frozen, with an open pull request": {freeze, open(nil),
			baserepo.Decision{Write: true, Withhold: true, IdleReason: "An incident."}},
		"frozen, with a pull request that must wait": {freeze,
			open(func(p *baserepo.Proposal) { p.Withheld = "An incident." }),
			baserepo.Decision{IdleReason: "An incident."}},
		"a pull request that had to wait": {nil, open(func(p *baserepo.Proposal) { p.Withheld = "An incident." }), writes},
		"another branch": {func(d *baserepo.Desired) { d.At.Branch = "prod" }, state(nil),
			baserepo.Decision{Write: true}},
		"another form of URL": {func(d *baserepo.Desired) { d.At.Repo += ".git" }, state(nil), writes},
		"the pinned commit stays": {func(d *baserepo.Desired) { d.Promotion.Decision = promotion.Hold }, state(nil),
			stays},
		"people pinned a different commit": {nil, state(func(s *baserepo.State) { s.Delivered = other }),
			baserepo.Decision{Write: true, File: wanted, FileKnown: true, Drifted: true}},
		"people pinned the promoted commit": {func(d *baserepo.Desired) { d.Promotion.Commit = older },
			state(func(s *baserepo.State) { s.Delivered = other }),
			baserepo.Decision{Write: true, File: current, FileKnown: true}},
		"an open pull request":                    {nil, open(nil), keeps},
		"an open pull request without its branch": {nil, open(func(p *baserepo.Proposal) { p.Broken = true }), writes},
		"an open pull request of another commit":  {nil, open(func(p *baserepo.Proposal) { p.Commit = other }), writes},
		"an open pull request of another file":    {nil, open(func(p *baserepo.Proposal) { p.From = "" }), writes},
		"an open pull request with other settings": {nil, open(func(p *baserepo.Proposal) { p.Settings.Draft = true }),
			writes},
		"a pull request that stays open": {
			func(d *baserepo.Desired) { d.Promotion.Decision, d.Promotion.Commit = promotion.UpToDate, older },
			open(nil), keeps,
		},
		"a pull request to wait for": {func(d *baserepo.Desired) { d.PullRequest.Wait = true }, open(nil), writes},
		"a pull request to close": {func(d *baserepo.Desired) { d.Promotion.Commit = older }, open(nil),
			baserepo.Decision{Write: true, File: current, FileKnown: true}},
		"push replaces the pull request": {func(d *baserepo.Desired) { d.Strategy = strategy.Push }, open(nil), writes},
		"a closed pull request": {nil, state(proposed(githost.Closed, nil)),
			baserepo.Decision{File: wanted, FileKnown: true, Closed: 7}},
		"a closed pull request is reopened": {func(d *baserepo.Desired) { d.PullRequest.Reopen = true },
			state(proposed(githost.Closed, nil)), writes},
		"the file does not exist": {nil, state(func(s *baserepo.State) { s.File, s.Commit, s.Delivered = "", "", "" }),
			baserepo.Decision{Write: true, Err: baserepo.ErrNoFile}},
		"the file has another base": {func(d *baserepo.Desired) {
			d.Promotion.Repo = "https://git.acme.io/other"
		}, state(nil),
			baserepo.Decision{Write: true, Err: baserepo.ErrOtherBase}},
	} {
		d := &baserepo.Desired{
			At: at, Promotion: promotion.Promotion{Commit: newer}, Strategy: strategy.PullRequest, PullRequest: pull,
		}
		if tc.desired != nil {
			tc.desired(d)
		}
		if diff := cmp.Diff(tc.want, baserepo.Decide(d, tc.state), cmpopts.EquateErrors()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
