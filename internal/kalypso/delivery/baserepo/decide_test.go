package baserepo_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/baserepo"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/baserepo/document"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/pullrequest"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion"
)

const (
	older = "5523a85f37d12c0c7c10ab6616644db089fcd6f7"
	newer = "42f2c201b96055faead8da72a126ec3e8fe30296"
)

// TestDecide specifies what an apply does, which follows from the arguments and the state. In the usual case, the state
// has an older commit than the promotion.
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
		"create":                  {nil, nil, baserepo.Decision{Write: true}},
		"another promoted commit": {nil, state(nil), writes},
		"same promoted commit":    {func(d *baserepo.Desired) { d.Promotion.Commit = older }, state(nil), stays},
		"no promoted commit yet": {func(d *baserepo.Desired) { d.Promotion.Commit = "" }, nil,
			baserepo.Decision{IdleReason: "Nothing is promoted to the environment yet."}},
		"no promoted commit, open pull request": {func(d *baserepo.Desired) { d.Promotion.Commit = "" }, open(nil),
			baserepo.Decision{IdleReason: "Nothing is promoted to the environment yet."}},
		"first promoted commit": {nil, &baserepo.State{At: at}, baserepo.Decision{Write: true}},
		"frozen environment":    {freeze, state(nil), baserepo.Decision{IdleReason: "An incident."}},
		"frozen environment, people pinned a different commit": {freeze,
			state(func(s *baserepo.State) { s.Delivered = other }),
			baserepo.Decision{IdleReason: "An incident."}},
		"frozen environment, open pull request": {freeze, open(nil),
			baserepo.Decision{Write: true, Withhold: true, IdleReason: "An incident."}},
		"frozen environment, withheld pull request": {freeze,
			open(func(p *baserepo.Proposal) { p.Withheld = "An incident." }),
			baserepo.Decision{IdleReason: "An incident."}},
		"withheld pull request": {nil, open(func(p *baserepo.Proposal) { p.Withheld = "An incident." }), writes},
		"another branch": {func(d *baserepo.Desired) { d.At.Branch = "prod" }, state(nil),
			baserepo.Decision{Write: true}},
		"other notation of the URL": {func(d *baserepo.Desired) { d.At.Repo += ".git" }, state(nil), writes},
		"promotion that holds": {func(d *baserepo.Desired) { d.Promotion.Decision = promotion.Hold }, state(nil),
			stays},
		"people pinned a different commit": {nil, state(func(s *baserepo.State) { s.Delivered = other }),
			baserepo.Decision{Write: true, File: wanted, FileKnown: true, Drifted: true}},
		"people pinned the promoted commit": {func(d *baserepo.Desired) { d.Promotion.Commit = older },
			state(func(s *baserepo.State) { s.Delivered = other }),
			baserepo.Decision{Write: true, File: current, FileKnown: true}},
		"open pull request":                    {nil, open(nil), keeps},
		"open pull request without our branch": {nil, open(func(p *baserepo.Proposal) { p.Broken = true }), writes},
		"open pull request for another commit": {nil, open(func(p *baserepo.Proposal) { p.Commit = other }), writes},
		"open pull request from another file":  {nil, open(func(p *baserepo.Proposal) { p.From = "" }), writes},
		"open pull request with other settings": {nil, open(func(p *baserepo.Proposal) { p.Settings.Draft = true }),
			writes},
		"open pull request, promotion that is up to date": {
			func(d *baserepo.Desired) { d.Promotion.Decision, d.Promotion.Commit = promotion.UpToDate, older },
			open(nil), keeps,
		},
		"open pull request, wait is set": {func(d *baserepo.Desired) { d.PullRequest.Wait = true }, open(nil), writes},
		"open pull request, promotion of the delivered commit": {func(d *baserepo.Desired) { d.Promotion.Commit = older },
			open(nil),
			baserepo.Decision{Write: true, File: current, FileKnown: true}},
		"open pull request, strategy push": {func(d *baserepo.Desired) { d.Strategy = destination.Push }, open(nil), writes},
		"closed pull request": {nil, state(proposed(githost.Closed, nil)),
			baserepo.Decision{File: wanted, FileKnown: true, Closed: 7}},
		"closed pull request, reopen is set": {func(d *baserepo.Desired) { d.PullRequest.Reopen = true },
			state(proposed(githost.Closed, nil)), writes},
		"missing file": {nil, state(func(s *baserepo.State) { s.File, s.Commit, s.Delivered = "", "", "" }),
			baserepo.Decision{Write: true, Err: baserepo.ErrNoFile}},
		"file with another base": {func(d *baserepo.Desired) {
			d.Promotion.Repo = "https://git.acme.io/other"
		}, state(nil),
			baserepo.Decision{Write: true, Err: baserepo.ErrOtherBase}},
	} {
		d := &baserepo.Desired{
			At: at, Promotion: promotion.Promotion{Commit: newer}, Strategy: destination.PullRequest, PullRequest: pull,
		}
		if tc.desired != nil {
			tc.desired(d)
		}
		if diff := cmp.Diff(tc.want, baserepo.Decide(d, tc.state), cmpopts.EquateErrors()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
