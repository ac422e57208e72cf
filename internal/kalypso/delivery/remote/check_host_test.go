package remote_test

import (
	"errors"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/pullrequest"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// TestCheckHost: a plan checks whether the host supports the settings of the pull request. This takes no request.
func TestCheckHost(t *testing.T) {
	t.Parallel()
	r := newReviewed(t)
	for name, tt := range map[string]struct {
		settings             pullrequest.Settings
		repo                 string // empty for the repo of the rendering
		reviewers, autoMerge bool   // whether these are refused
	}{
		"no settings": {},
		"valid settings": {settings: pullrequest.Settings{Reviewers: []string{"acme/team"},
			AutoMerge: githost.Squash}},
		"team of another organization": {settings: pullrequest.Settings{Reviewers: []string{"other/team"}}, reviewers: true},
		"unsupported method":           {settings: pullrequest.Settings{AutoMerge: "fast-forward"}, autoMerge: true},
		"unknown settings": {settings: pullrequest.Settings{Reviewers: []string{unknown.Text},
			AutoMerge: unknown.Text}},
		"repo on no known host": {settings: pullrequest.Settings{Reviewers: []string{"other/team"}},
			repo: "https://git.acme.io/acme/gitops"}, // reported later, when the branch is read
	} {
		d := r.desired
		d.Strategy, d.PullRequest = destination.PullRequest, tt.settings
		if tt.repo != "" {
			d.Destination.Repo = tt.repo
		}
		err := r.remote.CheckHost(&d)
		var host *githost.Error
		refused := errors.As(err, &host)
		if (refused && host.Field == githost.FieldReviewers) != tt.reviewers ||
			(refused && host.Field == githost.FieldAutoMerge) != tt.autoMerge ||
			err != nil && !tt.reviewers && !tt.autoMerge {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := len(r.fake.Requests()); n != 0 {
		t.Errorf("the host got %d requests", n)
	}
}
