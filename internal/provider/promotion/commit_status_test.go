package promotion_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/githubfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

const statusAddress = "kalypso_commit_status.this"

// statusRoot is a root module that sets a status on a fake GitHub.
type statusRoot struct {
	*acc.Root
	fake   *githubfake.Server
	on     *githubfake.Repo
	commit string
}

func newStatusRoot(t *testing.T) *statusRoot {
	t.Helper()
	s := &statusRoot{Root: acc.NewRootFrom(t, "testdata/TestAccCommitStatus"), fake: githubfake.New(t)}
	s.on = s.fake.AddRepo(t, "acme/control-plane")
	s.commit = gitserver.Seed(t, s.on.Path, "main", map[string]string{"README.md": "hello\n"})
	s.Vars = map[string]any{
		"github": map[string]any{"base_url": s.fake.URL, "token": s.fake.Token},
		"repo":   s.on.URL,
		"commit": s.commit,
	}
	s.set("state", "pending")
	return s
}

// set sets variables. The parameters are names, each with its value.
func (s *statusRoot) set(pairs ...any) {
	s.T.Helper()
	for i := 0; i < len(pairs); i += 2 {
		s.Set(fmt.Sprint(pairs[i]), pairs[i+1])
	}
}

// expectStatus compares the commit's status on GitHub, and how often it was set.
func (s *statusRoot) expectStatus(context, state string, posted int) {
	s.T.Helper()
	if last, n := s.on.Status(s.commit, context); last.State != state || n != posted {
		s.T.Errorf("the status is %q, set %d times, want %q and %d", last.State, n, state, posted)
	}
}

// attributes returns the status in the state of the module.
func (s *statusRoot) attributes() map[string]any {
	s.T.Helper()
	return s.StateFile().Resources[0].Instances[0].Attributes
}

// changes fails the test unless an apply changes the status in place.
func (s *statusRoot) changes() {
	s.T.Helper()
	if o := s.Apply(); !strings.Contains(o.Text(), "0 added, 1 changed, 0 destroyed") {
		s.T.Errorf("the apply: %s", o.Text())
	}
}

// A status is created, planned without changes, updated in place, imported and corrected after drift. A new commit or
// context is an update too: nothing is replaced, and the old status stays. New timeouts set no status. A destroy leaves
// the status on the commit.
func TestAccCommitStatusLifecycle(t *testing.T) {
	t.Parallel()
	s := newStatusRoot(t)
	s.set("repo", s.on.URL+".git")
	if o := s.Apply(); !strings.Contains(o.Text(), "1 added, 0 changed, 0 destroyed") {
		t.Errorf("the apply: %s", o.Text())
	}
	s.expectStatus("kalypso/dev", "pending", 1)
	s.ExpectEmptyPlan()

	s.set("state", "success", "description", "Rolled out", "target_url", "https://ci.acme.io/runs/1")
	s.changes()
	s.expectStatus("kalypso/dev", "success", 2)
	s.ExpectEmptyPlan()

	was := s.attributes()
	if was["state"] != "success" {
		t.Errorf("the state contains %v", was)
	}
	s.EmptyState()
	for id, said := range map[string]string{
		s.on.URL + "@main#kalypso/dev":         "Invalid import ID",
		s.on.URL + "@" + s.commit + "#another": "Cannot import non-existent remote object",
	} {
		s.ExpectError([]string{said}, "import", "-no-color", statusAddress, id)
	}
	s.Succeed("import", "-no-color", statusAddress, s.on.URL+".git@"+s.commit+"#kalypso/dev")
	if diff := cmp.Diff(was, s.attributes()); diff != "" {
		t.Errorf("the import (-was +got):\n%s", diff)
	}

	s.on.SetStatus("", s.commit, "Kalypso/DEV", "failure") // another account sets it, in different case
	s.changes()
	s.expectStatus("kalypso/dev", "success", 3)
	s.ExpectEmptyPlan()

	first := s.commit
	s.commit = gitserver.Seed(t, s.on.Path, "main", map[string]string{"README.md": "two\n"})
	s.set("commit", s.commit, "context", "kalypso/dev2")
	s.changes()
	s.expectStatus("kalypso/dev2", "success", 1)
	if last, n := s.on.Status(first, "kalypso/dev"); last.State != "success" || n != 3 {
		t.Errorf("the old commit's status is %q, set %d times", last.State, n)
	}
	s.set("timeouts", map[string]any{"create": "5m", "read": "5m", "update": "5m"})
	s.Apply()
	s.expectStatus("kalypso/dev2", "success", 1)
	s.set("github", map[string]any{"base_url": s.fake.URL + "/api/v3/", "token": s.fake.Token})
	s.ExpectEmptyPlan()
	s.Succeed("destroy", "-no-color", "-auto-approve")
	s.expectStatus("kalypso/dev2", "success", 1)
	gitserver.Fsck(t, s.on.Path)
}

// A status whose commit no longer exists is planned again. A repo that is not visible is an error.
func TestAccCommitStatusAbsence(t *testing.T) {
	t.Parallel()
	s := newStatusRoot(t)
	s.Apply()
	s.fake.AddToken("canary-foreign", "eve", nil)
	s.set("github", map[string]any{"base_url": s.fake.URL, "token": "canary-foreign"})
	s.ExpectError(
		[]string{
			"Repo not found, or not visible",
			"GitHub gives the same answer for both",
			"Read status kalypso/dev of commit " + s.commit,
			"(HTTP 404)",
		},
		"plan",
		"-no-color",
	)
	s.set("github", map[string]any{"base_url": s.fake.URL, "token": "canary-wrong"})
	s.ExpectError([]string{"GitHub does not accept the credential", "Bad credentials"}, "plan", "-no-color")
	s.set("github", map[string]any{"base_url": s.fake.URL, "token": s.fake.Token})
	s.ExpectEmptyPlan()

	gitserver.Git(t, s.on.Path, "update-ref", "-d", "refs/heads/main")
	gitserver.Git(t, s.on.Path, "-c", "gc.pruneExpire=now", "gc", "--quiet")
	gitserver.Git(t, s.on.Path, "prune", "--expire=now")
	o := s.Succeed("plan", "-no-color")
	for _, said := range []string{"The commit no longer exists", "No commit found for SHA", "1 to add"} {
		if !strings.Contains(o.Text(), said) {
			t.Errorf("the plan does not say %q: %s", said, o.Text())
		}
	}
	s.ExpectError([]string{"Commit not found"}, "apply", "-no-color", "-auto-approve")
	s.commit = gitserver.Seed(t, s.on.Path, "main", map[string]string{"README.md": "new\n"})
	s.set("commit", s.commit)
	s.Apply()
	s.expectStatus("kalypso/dev", "pending", 1)
	s.expectNoCanary()
}

// The resource waits for a failing backend as long as the backend asks for it, within timeouts. A failed update leaves
// the state unchanged.
func TestAccCommitStatusFailingBackend(t *testing.T) {
	t.Parallel()
	s := newStatusRoot(t)
	s.fake.Fail("POST", "/statuses/", 1, githubfake.SecondaryRateLimit(429, 1))
	s.fake.Fail("POST", "/statuses/", 1, hostfake.Dropped())
	s.Apply()
	s.expectStatus("kalypso/dev", "pending", 1)

	s.fake.Fail("POST", "/statuses/", -1, githubfake.ServerError(502, 0))
	s.set("state", "success", "timeouts", map[string]any{"update": "5s"})
	s.ExpectError(
		[]string{"GitHub can't be reached", "Bad Gateway", "Set status kalypso/dev of commit " + s.commit},
		"apply",
		"-no-color",
		"-auto-approve",
	)
	s.fake.ClearFailures()
	s.fake.Fail("POST", "/statuses/", 1, githubfake.Forbidden("Resource not accessible by integration"))
	s.ExpectError(
		[]string{"GitHub denies the request", "Resource not accessible by integration"},
		"apply",
		"-no-color",
		"-auto-approve",
	)
	s.changes() // the failed updates were not stored
	s.expectStatus("kalypso/dev", "success", 2)
	s.ExpectEmptyPlan()
	s.expectNoCanary()
}

// An app can set statuses too. Neither output nor state contains its key.
func TestAccCommitStatusByApp(t *testing.T) {
	t.Parallel()
	s := newStatusRoot(t)
	app := s.fake.AddApp(t)
	s.set("github", map[string]any{"base_url": s.fake.URL, "app": map[string]any{
		"id": app.ID, "installation_id": app.InstallationID, "private_key": app.PrivateKey,
	}})
	s.Apply()
	s.expectStatus("kalypso/dev", "pending", 1)
	s.ExpectEmptyPlan()
	s.fake.Fail("", "/access_tokens", -1, githubfake.ServerError(404, 0))
	s.ExpectError([]string{"get a token for installation " + app.InstallationID}, "plan", "-no-color")
	s.expectNoCanary("PRIVATE KEY", "ghs_", "eyJhbGciOi") // the last text begins each signed token
}

// expectNoCanary fails the test if a secret was printed or is in the state.
func (s *statusRoot) expectNoCanary(more ...string) {
	s.T.Helper()
	state := acc.ReadFile(s.T, filepath.Join(s.Folder, "terraform.tfstate"))
	for _, secret := range append(more, "canary") {
		if strings.Contains(s.Printed.String()+state, secret) {
			s.T.Errorf("%q was printed or is in the state", secret)
		}
	}
}

// Plan reports all errors together, each on its argument, without a request.
func TestAccCommitStatusInvalid(t *testing.T) {
	t.Parallel()
	s := newStatusRoot(t)
	s.set(
		"repo",
		"https://me:canary-in-url@acme.io/x",
		"commit",
		"main",
		"context",
		strings.Repeat("x", 256),
		"state",
		"done",
		"description",
		strings.Repeat("ü", 141),
		"target_url",
		"ci.acme.io",
		"renew_after",
		"soon",
	)
	s.ExpectError([]string{
		"contains a user name or password",
		"A full commit hash is required",
		"between 1 and 255, got: 256",
		`"pending" "success" "failure" "error"`,
		"between 1 and 140, got: 141",
		"An absolute URL is required",
		`"soon" is not a duration`,
	}, "plan", "-no-color")
	s.set("repo", "https://github.com/acme/control-plane", "commit", nil, "context", "x", "state", "success",
		"description", nil, "target_url", nil, "renew_after", nil)
	s.ExpectError([]string{
		"Repo is on no configured host",
		"Find https://github.com/acme/control-plane on the GitHub server " + s.fake.URL,
		"Missing commit", "Set commit and state, or deployment",
	}, "plan", "-no-color")
	if n := len(s.fake.Requests()); n != 0 {
		t.Errorf("GitHub got %d requests", n)
	}
}

// A commit, repo and token that are known only after apply are planned. Apply checks their values.
func TestAccCommitStatusUnknown(t *testing.T) {
	t.Parallel()
	s := newStatusRoot(t)
	s.Write(
		"main.tf",
		strings.NewReplacer(
			"var.commit",
			"terraform_data.later.output.commit",
			"var.github",
			"terraform_data.later.output.github",
			"var.target_url",
			"terraform_data.later.output.page",
		).
			Replace(
				acc.ReadFile(t, "testdata/TestAccCommitStatus/main.tf"),
			)+`
resource "terraform_data" "later" {
  input = { commit = var.commit, github = var.github, page = var.target_url }
}
`,
	)
	s.set("commit", "v1", "target_url", "https://me:canary@acme.io")
	s.ExpectError([]string{"Invalid commit", "Invalid target URL"}, "apply", "-no-color", "-auto-approve")
	s.set("target_url", nil)
	s.set("commit", s.commit)
	s.Apply()
	s.expectStatus("kalypso/dev", "pending", 1)
	s.ExpectEmptyPlan()
}

// deployment returns a deployment's state as the data source returns it.
func deployment(commit any, verdict, summary string) map[string]any {
	return map[string]any{
		"promoted_commit": commit,
		"verdict":         verdict,
		"summary":         summary,
		"observed_at":     time.Now().Format(time.RFC3339Nano),
		"folders":         map[string]any{},
	}
}

// The verdict of a deployment becomes the status of its promoted commit. A new observation of the same verdict sets no
// new status. Another promoted commit does, and so does a status that another account has set. Without a promoted
// commit, no status is set. Package status tests these rules; this test checks them with plans, the state and GitHub.
func TestAccCommitStatusDeployment(t *testing.T) {
	t.Parallel()
	s := newStatusRoot(t)
	s.set("commit", nil, "state", nil, "deployment", deployment(nil, "pending", "The branch contains no rendering."))
	if out := s.Apply().Text(); !strings.Contains(out, "No status is set") {
		t.Errorf("the apply: %s", out)
	}
	s.expectStatus("kalypso/dev", "", 0)
	s.ExpectEmptyPlan()
	s.set("deployment", deployment(s.commit, "pending", "1 of 2 clusters current."))
	s.Apply()
	s.expectStatus("kalypso/dev", "pending", 1)
	s.set("deployment", deployment(s.commit, "pending", "2 of 3 clusters current."))
	s.ExpectEmptyPlan()

	s.on.SetStatus("", s.commit, "kalypso/dev", "failure") // another account
	s.Apply()
	s.expectStatus("kalypso/dev", "pending", 3)
	first := s.commit
	s.commit = gitserver.Seed(t, s.on.Path, "main", map[string]string{"README.md": "two\n"})
	s.set("deployment", deployment(s.commit, "success", strings.Repeat("ü", 200))) // longer than GitHub accepts
	s.Apply()
	s.expectStatus("kalypso/dev", "success", 1)
	if last, n := s.on.Status(first, "kalypso/dev"); last.State != "pending" || n != 3 {
		t.Errorf("the status of the first commit is %q, set %d times", last.State, n)
	}

	s.set("commit", s.commit, "description", "x", "deployment", deployment("v1.2", "success", ""))
	s.ExpectError([]string{
		"Two statuses",
		"commit is set and comes from deployment too",
		"description is set and comes from deployment too",
		"Invalid promoted commit", "A full commit hash is required",
	}, "plan", "-no-color")
}

// A status is set again if it is older than renew_after when the plan reads it, by the host's clock. A younger status
// is not set again.
func TestAccCommitStatusRenews(t *testing.T) {
	t.Parallel()
	s := newStatusRoot(t)
	s.set("renew_after", "1h")
	s.Apply()
	s.on.AgeStatuses(s.commit, 59*time.Minute)
	s.ExpectEmptyPlan()
	s.on.AgeStatuses(s.commit, 2*time.Minute)
	s.changes()
	s.expectStatus("kalypso/dev", "pending", 2)
	s.ExpectEmptyPlan()
}
