package status_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/status"
)

// TestCheck: the commit and the state come either from their arguments or from a deployment. A value that is not known
// yet counts as set. Only a deployment may lack the commit; that is a warning.
func TestCheck(t *testing.T) {
	at := func(severity fleet.Severity, argument, summary, detail string) fleet.Problem {
		return fleet.Problem{
			Severity: severity, Path: []fleet.Step{fleet.Attr(argument)}, Summary: summary, Detail: detail,
		}
	}
	missing := func(argument string) fleet.Problem {
		return at(fleet.Error, argument, "Missing "+argument, "Set commit and state, or deployment, which contains both.")
	}
	twice := func(argument string) fleet.Problem {
		return at(fleet.Error, argument, "Two statuses",
			argument+" is set and comes from deployment too. Remove one of the two.")
	}
	invalid := func(quoted string) fleet.Problem {
		return at(fleet.Error, "deployment", "Invalid promoted commit",
			quoted+": A full commit hash is required: 40 digits and letters from a to f.")
	}
	none := at(fleet.Warning, "deployment", "No status is set",
		"The deployment has no promoted commit: nothing was promoted there yet, or the branch contains no rendering. "+
			"The status is set once it has one.")
	unknown := &status.Deployment{PromotedCommit: fleet.Unknown, Verdict: fleet.Unknown, Summary: fleet.Unknown}
	for name, tc := range map[string]struct {
		given status.Arguments
		want  fleet.Problems
	}{
		"given":             {given(), nil},
		"no description":    {with(given(), func(a *status.Arguments) { a.Description = "" }), nil},
		"unknown arguments": {status.Arguments{Commit: fleet.Unknown, State: fleet.Unknown}, nil},
		"no commit":         {with(given(), func(a *status.Arguments) { a.Commit = "" }), fleet.Problems{missing("commit")}},
		"no state":          {with(given(), func(a *status.Arguments) { a.State = "" }), fleet.Problems{missing("state")}},
		"nothing": {
			status.Arguments{Description: "x"}, fleet.Problems{missing("commit"), missing("state")},
		},
		"deployed":           {deployed(), nil},
		"unknown deployment": {status.Arguments{Deployment: unknown}, nil},
		"both": {
			with(given(), func(a *status.Arguments) { a.Deployment = deployed().Deployment }),
			fleet.Problems{twice("commit"), twice("state"), twice("description")},
		},
		"both, not known yet": {
			status.Arguments{Commit: fleet.Unknown, Description: fleet.Unknown, Deployment: unknown},
			fleet.Problems{twice("commit"), twice("description")},
		},
		"no promoted commit": {
			with(deployed(), func(a *status.Arguments) { a.Deployment.PromotedCommit = "" }), fleet.Problems{none},
		},
		"no promoted commit, and no verdict yet": {
			with(deployed(), func(a *status.Arguments) {
				a.Deployment.PromotedCommit, a.Deployment.Verdict = "", fleet.Unknown
			}), nil,
		},
		"promoted tag": {
			with(deployed(), func(a *status.Arguments) { a.Deployment.PromotedCommit = "v1.2" }),
			fleet.Problems{invalid(`"v1.2"`)},
		},
		"promoted hash with a line break": {
			with(deployed(), func(a *status.Arguments) { a.Deployment.PromotedCommit = first + "\n" }),
			fleet.Problems{invalid(`"` + first + `\n"`)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.given.Check(), cmpopts.IgnoreUnexported(fleet.Step{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestCheckTargetURL: a target URL is absolute, a web page's, and without a password.
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

// TestImportID: an ID is read back as what identifies the status. A repo may contain an @, and a context a #.
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
