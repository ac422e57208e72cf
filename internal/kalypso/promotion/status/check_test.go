package status_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion/status"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// TestCheck: the commit and the state are set either by their arguments or by a deployment. An unknown value is treated
// as set. If a deployment has no promoted commit, that is only a warning.
func TestCheck(t *testing.T) {
	at := func(severity problem.Severity, argument, summary, detail string) problem.Problem {
		return problem.Problem{
			Severity: severity, Path: []problem.Step{problem.Attr(argument)}, Summary: summary, Detail: detail,
		}
	}
	missing := func(argument string) problem.Problem {
		return at(problem.Error, argument, "Missing "+argument, "Set commit and state, or deployment, which contains both.")
	}
	twice := func(argument string) problem.Problem {
		return at(problem.Error, argument, "Two statuses",
			argument+" is set and comes from deployment too. Remove one of the two.")
	}
	invalid := func(quoted string) problem.Problem {
		return at(problem.Error, "deployment", "Invalid promoted commit",
			quoted+": A full commit hash is required: 40 digits and letters from a to f.")
	}
	none := at(problem.Warning, "deployment", "No status is set",
		"The deployment has no promoted commit: nothing was promoted there yet, or the branch contains no rendering. "+
			"The status is set once it has one.")
	later := &status.Deployment{PromotedCommit: unknown.Text, Verdict: unknown.Text, Summary: unknown.Text}
	for name, tc := range map[string]struct {
		given status.Arguments
		want  problem.Problems
	}{
		"commit and state":  {given(), nil},
		"no description":    {with(given(), func(a *status.Arguments) { a.Description = "" }), nil},
		"unknown arguments": {status.Arguments{Commit: unknown.Text, State: unknown.Text}, nil},
		"no commit": {
			with(given(), func(a *status.Arguments) { a.Commit = "" }), problem.Problems{missing("commit")},
		},
		"no state": {with(given(), func(a *status.Arguments) { a.State = "" }), problem.Problems{missing("state")}},
		"no commit and no state": {
			status.Arguments{Description: "x"}, problem.Problems{missing("commit"), missing("state")},
		},
		"deployment":         {deployed(), nil},
		"unknown deployment": {status.Arguments{Deployment: later}, nil},
		"commit, state and deployment": {
			with(given(), func(a *status.Arguments) { a.Deployment = deployed().Deployment }),
			problem.Problems{twice("commit"), twice("state"), twice("description")},
		},
		"unknown commit and deployment": {
			status.Arguments{Commit: unknown.Text, Description: unknown.Text, Deployment: later},
			problem.Problems{twice("commit"), twice("description")},
		},
		"deployment without a promoted commit": {
			with(deployed(), func(a *status.Arguments) { a.Deployment.PromotedCommit = "" }), problem.Problems{none},
		},
		"deployment without a promoted commit, with an unknown verdict": {
			with(deployed(), func(a *status.Arguments) {
				a.Deployment.PromotedCommit, a.Deployment.Verdict = "", unknown.Text
			}), nil,
		},
		"deployment with a tag as promoted commit": {
			with(deployed(), func(a *status.Arguments) { a.Deployment.PromotedCommit = "v1.2" }),
			problem.Problems{invalid(`"v1.2"`)},
		},
		"deployment with a promoted commit that ends with a line break": {
			with(deployed(), func(a *status.Arguments) { a.Deployment.PromotedCommit = first + "\n" }),
			problem.Problems{invalid(`"` + first + `\n"`)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.given.Check()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestCheckTargetURL: a target URL is absolute, with http or https, and without a password.
func TestCheckTargetURL(t *testing.T) {
	for page, ok := range map[string]bool{
		"https://ci.acme.io/runs/1?a=b#c": true, "http://ci.acme.io": true, "ftp://ci.acme.io": false,
		"ci.acme.io/runs": false, "https://": false,
		"https://me:secret@ci.acme.io/": false, "": false, "javascript:alert(1)": false, "https://a b/": false,
	} {
		err := status.CheckTargetURL(page)
		if (err == nil) != ok || err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("page %q: %v", page, err)
		}
	}
}

// TestImportID: the import ID of a repo, a commit and a context is parsed to the same values. A repo may contain an @,
// and a context a #.
func TestImportID(t *testing.T) {
	for _, want := range [][3]string{
		{"https://github.com/acme/gitops", first, "kalypso/dev"},
		{"git@github.com:acme/gitops.git", first, "a#b@c"},
		{"https://github.com/acme/gitops", first, "a@" + second + "#b"},
	} {
		repo, commit, context, err := status.ParseImportID(status.ImportID(want[0], want[1], want[2]))
		if got := [3]string{repo, commit, context}; got != want || err != nil {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
	for _, id := range []string{
		"", "https://github.com/acme/gitops", "https://github.com/acme/gitops@main#kalypso/dev", "@" + first + "#x",
		"https://github.com/acme/gitops@" + first, "https://github.com/acme/gitops@" + first + "#",
		"https://github.com/acme/gitops@" + strings.ToUpper(first) + "#x", first + "#x",
	} {
		_, _, _, err := status.ParseImportID(id)
		if err == nil || !strings.HasSuffix(err.Error(),
			`" is not of the form <repo>@<commit>#<context>, with the commit's full hash`) {
			t.Errorf("%q: %v", id, err)
		}
	}
}
