package rendering_test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// TestAccRenderingServerOutOfSpace: if the server has no space, or another problem, the error names the problem and
// says what to do. The state does not change, and the next apply works.
func TestAccRenderingServerOutOfSpace(t *testing.T) {
	t.Parallel()
	r := newRendering(t, gitserver.InitBare(t))
	server, url := gitserver.Serve(t, r.repo)
	r.setDestination("repo", url)
	r.options("create_branch", true)
	r.expectCommits(1)

	// An empty answer does not mean that the branch was deleted.
	server.Fail(gitserver.Fault{
		Service: "git-upload-pack", Method: http.MethodPost, Times: -1, Status: http.StatusOK, Body: []byte("0000"),
	})
	r.expectRefused([]string{"Empty answer from the server", "check the server"}, "plan")
	server.ClearFaults()
	r.ExpectEmptyPlan()

	r.Set("value", "2")
	lock := filepath.Join(r.repo, "refs", "heads", "dev.lock")
	if err := os.WriteFile(lock, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	locked := []string{"The branch is locked on the server", "dev.lock", "remove the lock file"}
	r.expectRefused(locked, "apply", "-auto-approve")
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}

	push := gitserver.Fault{
		Service: "git-receive-pack", Method: http.MethodPost, Status: http.StatusOK,
		Body: []byte(gitserver.FalseReport("dev")),
	}
	server.Fail(push)
	r.expectRefused([]string{"Pushed commit not found on the branch", "apply again"}, "apply", "-auto-approve")

	push.Status = http.StatusInsufficientStorage
	server.Fail(push)
	r.expectRefused([]string{"No space left on the server", "free space"}, "apply", "-auto-approve")

	push.Status = http.StatusTooManyRequests
	server.Fail(push)
	r.expectRefused([]string{"The server limits requests", "raise timeouts"}, "apply", "-auto-approve")

	// If only the answer is lost, the apply finds its commit on the branch.
	server.DropAnswer()
	r.expectCommits(1)
}
