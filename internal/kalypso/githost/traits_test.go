package githost_test

import (
	"errors"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
)

// TestTraitsCheck: the error lists all invalid reviewers. If there are none, it lists the invalid labels, and if there
// are none of these, it is about the merge method.
func TestTraitsCheck(t *testing.T) {
	t.Parallel()
	traits := githost.Traits{
		Host: "Forge", Block: "forge", Noun: "proposal", Repository: "acme/gitops",
		CheckReviewer: githost.CheckTeam("acme"), CheckLabel: func(label string) error { return errors.New("no " + label) },
		Methods: []githost.MergeMethod{githost.Squash}, OtherMethods: " here",
	}
	for name, tt := range map[string]struct {
		settings githost.Settings
		want     string
		field    githost.Field
	}{
		"valid settings": {settings: githost.Settings{Reviewers: []string{"ann", "ACME/team"}, AutoMerge: githost.Squash}},
		"no settings":    {},
		"invalid reviewers": {githost.Settings{Reviewers: []string{"a/b", "ann", "c/d"}, Labels: []string{"x"},
			AutoMerge: "x"},
			"ask for reviews in acme/gitops: the host rejected the request: team a/b does not belong to acme, the owner " +
				"of the repo\nask for reviews in acme/gitops: the host rejected the request: team c/d does not belong to " +
				"acme, the owner of the repo", githost.FieldReviewers},
		"invalid label": {githost.Settings{Labels: []string{"x"}, AutoMerge: "x"},
			"label proposals of acme/gitops: the host rejected the request: no x", githost.FieldLabels},
		"unsupported merge method": {githost.Settings{AutoMerge: githost.Rebase},
			`enable auto-merge in acme/gitops: the host rejected the request: Forge can't merge by "rebase" here`,
			githost.FieldAutoMerge},
	} {
		err := traits.CheckSupport(tt.settings)
		var e *githost.Error
		switch {
		case tt.want == "" && err == nil:
		case err == nil || err.Error() != tt.want || !errors.As(err, &e) || e.Field != tt.field || e.Host != "Forge":
			t.Errorf("%s: got %v\nwant %s at %q", name, err, tt.want, tt.field)
		}
	}
}

// TestTraitsPages: the pages of commits and comparisons have the usual paths. A host may have a path of its own for
// comparisons.
func TestTraitsPages(t *testing.T) {
	t.Parallel()
	traits := githost.Traits{Pages: "https://forge.io/acme/gitops/"}
	if got := traits.CommitURL("a b"); got != "https://forge.io/acme/gitops/commit/a%20b" {
		t.Errorf("the page of a commit is %s", got)
	}
	if got := traits.CompareURL("a", "b/c"); got != "https://forge.io/acme/gitops/compare/a...b%2Fc" {
		t.Errorf("the page of a comparison is %s", got)
	}
	traits.ComparePage = func(from, to string) string { return "diff?" + from + "=" + to }
	if got := traits.CompareURL("a", "b"); got != "https://forge.io/acme/gitops/diff?a=b" {
		t.Errorf("the host's own page of a comparison is %s", got)
	}
}
