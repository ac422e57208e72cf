package baserepo_test

import (
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/baserepo"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
)

// TestRejectedPush: the error of a rejected push says exactly once that delivery.strategy = "pull_request" lets people
// merge the change.
func TestRejectedPush(t *testing.T) {
	for _, reason := range []string{
		"pre-receive hook declined",
		"TF402455: Pushes to this branch are not permitted; you must use a pull request to update this branch.",
	} {
		p := baserepo.ErrorProblem(baserepo.EnvironmentBranch{}, &gitremote.RejectedError{Reason: reason})
		if p.Summary != "The server refused the push" || !strings.Contains(p.Detail, reason) ||
			strings.Count(p.Detail, `delivery.strategy = "pull_request"`) != 1 {
			t.Errorf("%s: %s", p.Summary, p.Detail)
		}
	}
}
