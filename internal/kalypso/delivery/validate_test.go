package delivery

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/pullrequest"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/origin"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// problemLines returns each problem as "severity path: summary".
func problemLines(ps problem.Problems) []string {
	var all []string
	for _, p := range ps {
		var at []string
		for _, step := range p.Path {
			switch step := step.(type) {
			case problem.Attr:
				at = append(at, string(step))
			case problem.Key:
				at = append(at, fmt.Sprintf("[%s]", step))
			default:
				panic(fmt.Sprintf("a path has the step %v", step))
			}
		}
		severity := map[problem.Severity]string{problem.Error: "error", problem.Warning: "warning"}[p.Severity]
		all = append(all, severity+" "+strings.Join(at, ".")+": "+p.Summary)
	}
	return all
}

// TestValidate: each row changes one argument of a valid rendering, or a few.
func TestValidate(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*Arguments)
		want   []string
	}{
		"valid arguments": {func(*Arguments) {}, nil},
		"all arguments unknown": {func(d *Arguments) {
			const u = unknown.Text
			d.Strategy, d.Destination = u, destination.Destination{Repo: u, Branch: u, Path: u}
			d.Promotion.Commit, d.Message, d.Guardrails.MaxRemoved, d.Sources = u, u, u, origin.Sources{u: u}
			d.PullRequest = pullrequest.Settings{
				BranchPrefix: u, Labels: []string{u}, Reviewers: []string{u}, Draft: true, AutoMerge: u,
			}
		}, nil},

		"no repo": {func(d *Arguments) { d.Destination = destination.Destination{Path: "."} },
			[]string{"error gitops_repo: Missing GitOps repo"}},
		"no repo needed": {func(d *Arguments) {
			d.Strategy, d.Destination = destination.None, destination.Destination{Path: "."}
		}, nil},
		"branch without a repo": {func(d *Arguments) { d.Destination.Repo = "" },
			[]string{"error gitops_repo.repo: Missing repo"}},
		"no branch": {func(d *Arguments) { d.Destination.Branch = "" },
			[]string{"error gitops_repo.branch: Missing branch"}},
		"invalid repo": {func(d *Arguments) { d.Destination.Repo = "gitops" },
			[]string{"error gitops_repo.repo: Invalid repo URL"}},
		"invalid branch": {func(d *Arguments) { d.Destination.Branch = "a..b" },
			[]string{"error gitops_repo.branch: Invalid branch name"}},
		"invalid path": {func(d *Arguments) { d.Destination.Path = "../a" },
			[]string{"error gitops_repo.path: Invalid path"}},
		"invalid promoted commit": {func(d *Arguments) { d.Promotion.Commit = "v1 v2" },
			[]string{"error promoted_commit: Invalid promoted commit"}},
		"blank message": {func(d *Arguments) { d.Message = " \n" }, []string{"error commit_message: Invalid commit message"}},
		"invalid branch prefix": {func(d *Arguments) { d.PullRequest.BranchPrefix = "a b/" },
			[]string{"error delivery.branch_prefix: Invalid branch prefix"}},
		"empty label": {func(d *Arguments) { d.PullRequest.Labels = []string{""} },
			[]string{"error delivery.labels: Invalid label"}},
		"long label": {func(d *Arguments) { d.PullRequest.Labels = []string{strings.Repeat("ä", 51)} },
			[]string{"error delivery.labels: Invalid label"}},
		"longest label": {func(d *Arguments) { d.PullRequest.Labels = []string{strings.Repeat("ä", 50)} }, nil},
		"valid reviewers": {func(d *Arguments) {
			d.PullRequest.Reviewers = []string{"octocat", "acme/platform", "bot[bot]", "ann@acme.io", `ACME\ann`}
		}, nil},
		"invalid reviewer": {func(d *Arguments) { d.PullRequest.Reviewers = []string{"a/b/c"} },
			[]string{"error delivery.reviewers: Invalid reviewer"}},
		"draft with auto-merge": {func(d *Arguments) { d.PullRequest.Draft, d.PullRequest.AutoMerge = true, "squash" },
			[]string{"error delivery.auto_merge: Conflicting arguments: draft and auto-merge"}},
		"pull requests to a local repo": {func(d *Arguments) {
			d.Strategy, d.Destination.Repo = destination.PullRequest, "file:///srv/gitops.git"
		}, []string{"error delivery.strategy: Pull requests need a Git host"}},
		"pushes to a local repo": {func(d *Arguments) { d.Destination.Repo = "file:///srv/gitops.git" }, nil},
		"valid source":           {func(d *Arguments) { d.Sources = origin.Sources{"https://acme.io/a@main:x": "abc"} }, nil},
		"source without a location": {func(d *Arguments) { d.Sources = origin.Sources{"x": "abc"} },
			[]string{"error sources.[x]: Invalid source"}},
		"source without a commit": {func(d *Arguments) { d.Sources = origin.Sources{"https://acme.io/a@main:x": ""} },
			[]string{"error sources.[https://acme.io/a@main:x]: Invalid commit"}},
		"all errors at once": {func(d *Arguments) {
			d.Destination.Branch, d.Guardrails.MaxRemoved, d.PullRequest.Reviewers = "a..b", "lots", []string{"", "!"}
		}, []string{
			"error gitops_repo.branch: Invalid branch name", "error guardrails.max_removed: Invalid limit",
			"error delivery.reviewers: Invalid reviewer", "error delivery.reviewers: Invalid reviewer",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			d := &Arguments{
				Strategy: destination.Push, Environment: "dev", Guardrails: Guardrails{MaxRemoved: DefaultMaxRemoved},
				Destination: destination.Destination{Repo: "https://acme.io/gitops", Branch: "dev", Path: "."},
				PullRequest: pullrequest.Settings{BranchPrefix: "deployment/"},
			}
			test.change(d)
			if diff := cmp.Diff(test.want, problemLines(d.Validate())); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestLimits parses limits as users write them.
func TestLimits(t *testing.T) {
	for text, most := range map[string]int{
		"0": 0, "3": 3, "12": 12, "0%": 0, "25%": 2, "100%": 10, "": 5, unknown.Text: 5,
	} {
		for removed := range 20 {
			got := Guardrails{MaxRemoved: text}.RemovedLimit().Allows(removed, 10)
			if got != (removed <= most) && removed <= 10 {
				t.Errorf("%q allows %d of 10: %v", text, removed, got)
			}
		}
		if ps := (&Arguments{Guardrails: Guardrails{MaxRemoved: text, MaxKept: text}}).Validate(); len(ps) > 0 {
			t.Error(ps)
		}
	}
	for _, text := range []string{"%", "-1", "101%", "1.5", "half", "50 %", "-1%"} {
		g := Guardrails{MaxRemoved: text, MaxKept: text}
		if ps := (&Arguments{Guardrails: g}).Validate(); len(ps) != 2 || g.RemovedLimit().Allows(1, 10) ||
			g.KeptLimit().Allows(1, 10) {
			t.Errorf("%q is accepted as a limit: %v", text, ps)
		}
	}
}

// TestSigners: the record contains the signers of only those commits that it names.
func TestSigners(t *testing.T) {
	t.Parallel()
	a := Arguments{
		Sources:  origin.Sources{"https://acme.io/app@main:.": "read", "https://acme.io/other@main:.": "unsigned"},
		Verified: map[string]string{"read": "ann", "promoted": "ben", "older": "ann", unknown.Text: unknown.Text},
	}
	a.Promotion.Commit = "promoted"
	if diff := cmp.Diff(map[string]string{"read": "ann", "promoted": "ben"}, a.Signers()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(a.Verified) != 4 {
		t.Errorf("the arguments were changed: %v", a.Verified)
	}
}
