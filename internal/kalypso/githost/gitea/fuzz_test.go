package gitea_test

import (
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/gitea"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/httpapi"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostingtest"
)

// TestRecording checks that the operations still send the requests whose answers [FuzzAnswers] changes.
func TestRecording(t *testing.T) { hostingtest.CheckRecording(t, hosts.Gitea) }

// FuzzAnswers: whatever the host answers, an operation has a result, or an error of the host.
func FuzzAnswers(f *testing.F) {
	hostingtest.FuzzAnswers(f, func(a httpapi.Access) (githost.Host, error) { return gitea.New(a) })
}
