package schemas_test

import (
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// TestPullRequestValue: only an open pull request is shown as queued.
func TestPullRequestValue(t *testing.T) {
	t.Parallel()
	queue := &githost.QueuePlace{}
	for want, pr := range map[string]githost.PullRequest{
		"open": {State: githost.Open}, "queued": {State: githost.Open, Queue: queue},
		"merged": {State: githost.Merged, Queue: queue},
	} {
		value, _ := schemas.PullRequestValue(&pr).(tfvalue.Values)
		if got := value["state"]; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
