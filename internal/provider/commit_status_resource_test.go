package provider_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/config"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/githubfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/gitserver"
)

const statusAddress = "kalypso_commit_status.this"

// statusRoot is a root module that sets a status on a fake GitHub.
type statusRoot struct {
	*root
	fake   *githubfake.Server
	on     *githubfake.Repo
	commit string
	vars   map[string]any
}

func newStatusRoot(t *testing.T) *statusRoot {
	t.Helper()
	s := &statusRoot{root: newRootFrom(t, "testdata/TestAccCommitStatus"), fake: githubfake.New(t)}
	s.on = s.fake.AddRepo(t, "acme/control-plane")
	s.commit = gitserver.Seed(t, s.on.Path, "main", map[string]string{"README.md": "hello\n"})
	s.write("terraform.tf", terraformBlock)
	s.vars = map[string]any{
		"github": map[string]any{"base_url": s.fake.URL, "token": s.fake.Token},
		"repo":   s.on.URL,
		"commit": s.commit,
	}
	s.set("state", "pending")
	return s
}

// set sets variables: name, value, name, value, and so on.
func (s *statusRoot) set(pairs ...any) {
	s.t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		s.vars[fmt.Sprint(pairs[i])] = pairs[i+1]
	}
	text, err := json.Marshal(s.vars)
	if err != nil {
		s.t.Fatal(err)
	}
	s.write("terraform.tfvars.json", string(text))
}

// expectStatus compares the commit's status on GitHub, and how often it was set.
func (s *statusRoot) expectStatus(context, state string, posted int) {
	s.t.Helper()
	if got, n := s.on.Status(s.commit, context); got != state || n != posted {
		s.t.Errorf("the status is %q, set %d times, want %q and %d", got, n, state, posted)
	}
}

// A status is created, planned without changes, updated in place, imported and corrected after others changed it.
// Destroy leaves it.
func TestAccCommitStatus(t *testing.T) {
	needTerraform(t)
	fake := githubfake.New(t)
	on := fake.AddRepo(t, "acme/control-plane")
	commit := gitserver.Seed(t, on.Path, "main", map[string]string{"README.md": "hello\n"})
	check := func(want string, posted int) func(*testing.T) {
		return func(t *testing.T) {
			t.Helper()
			if got, n := on.Status(commit, "kalypso/dev"); got != want || n != posted {
				t.Errorf("the status is %q, set %d times, want %q and %d", got, n, want, posted)
			}
		}
	}
	step := func(before func(), action plancheck.ResourceActionType, state string,
		more config.Variables) resource.TestStep {
		variables := config.Variables{
			"github": config.ObjectVariable(
				map[string]config.Variable{"base_url": config.StringVariable(fake.URL), "token": config.StringVariable(fake.Token)},
			),
			"repo": config.StringVariable(
				on.URL + ".git",
			),
			"commit": config.StringVariable(commit),
			"state":  config.StringVariable(state),
		}
		for name, v := range more {
			variables[name] = v
		}
		return resource.TestStep{
			// The configuration has a provider block, so the step needs the provider.
			ProtoV6ProviderFactories: factories,
			PreConfig:                before,
			ConfigDirectory:          config.StaticDirectory("testdata/TestAccCommitStatus"),
			ConfigVariables:          variables,
			ConfigPlanChecks: resource.ConfigPlanChecks{
				PreApply:             []plancheck.PlanCheck{plancheck.ExpectResourceAction(statusAddress, action)},
				PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()},
			},
			ConfigStateChecks: []statecheck.StateCheck{
				statecheck.ExpectKnownValue(statusAddress, tfjsonpath.New("state"), knownvalue.StringExact(state)),
			},
		}
	}
	told := config.Variables{
		"description": config.StringVariable("Rolled out"),
		"target_url":  config.StringVariable("https://ci.acme.io/runs/1"),
	}
	import1 := step(nil, plancheck.ResourceActionNoop, "success", told)
	import1.ConfigPlanChecks, import1.ConfigStateChecks = resource.ConfigPlanChecks{}, nil
	import1.ResourceName, import1.ImportState = statusAddress, true
	import1.ImportStateVerify, import1.ImportStateVerifyIdentifierAttribute = true, "commit"
	import1.ImportStateId = on.URL + ".git@" + commit + "#kalypso/dev"
	wrong := import1
	wrong.ImportStateVerify, wrong.ImportStateId = false, on.URL+"@main#kalypso/dev"
	wrong.ExpectError = says("Invalid import ID")
	absent := wrong
	absent.ImportStateId, absent.ExpectError = on.URL+"@"+commit+"#another", says(
		"Cannot import non-existent remote object",
	)
	resource.Test(t, resource.TestCase{
		Steps: []resource.TestStep{
			step(nil, plancheck.ResourceActionCreate, "pending", nil),
			step(func() { check("pending", 1)(t) }, plancheck.ResourceActionNoop, "pending", nil),
			step(nil, plancheck.ResourceActionUpdate, "success", told),
			import1,
			wrong,
			absent,
			// Somebody else sets it, in different case.
			step(
				func() { check("success", 2)(t); on.SetStatus(commit, "Kalypso/DEV", "failure") },
				plancheck.ResourceActionUpdate,
				"success",
				told,
			),
			step(func() { check("success", 3)(t) }, plancheck.ResourceActionNoop, "success", told),
		},
	})
	check("success", 3)(t)
	gitserver.Fsck(t, on.Path)
}

// A new commit, context or repo is an update: nothing is replaced, and the old status stays. New timeouts set no
// status.
func TestAccCommitStatusMoves(t *testing.T) {
	t.Parallel()
	s := newStatusRoot(t)
	s.apply()
	s.expectStatus("kalypso/dev", "pending", 1)
	first := s.commit
	s.commit = gitserver.Seed(t, s.on.Path, "main", map[string]string{"README.md": "two\n"})
	s.set("commit", s.commit, "context", "kalypso/dev2")
	if o := s.apply(); !strings.Contains(o.text(), "0 added, 1 changed, 0 destroyed") {
		t.Errorf("the apply: %s", o.text())
	}
	s.expectStatus("kalypso/dev2", "pending", 1)
	if state, n := s.on.Status(first, "kalypso/dev"); state != "pending" || n != 1 {
		t.Errorf("the old commit's status is %q, set %d times", state, n)
	}
	s.set("timeouts", map[string]any{"create": "5m", "read": "5m", "update": "5m"})
	s.apply()
	s.expectStatus("kalypso/dev2", "pending", 1)
	s.set("github", map[string]any{"base_url": s.fake.URL + "/api/v3/", "token": s.fake.Token})
	s.expectEmptyPlan()
	s.succeed("destroy", "-no-color", "-auto-approve")
	s.expectStatus("kalypso/dev2", "pending", 1)
}

// A status whose commit no longer exists is planned again. A repo that is not visible is an error.
func TestAccCommitStatusAbsence(t *testing.T) {
	t.Parallel()
	s := newStatusRoot(t)
	s.apply()
	s.fake.AddToken("canary-foreign", "eve", nil)
	s.set("github", map[string]any{"base_url": s.fake.URL, "token": "canary-foreign"})
	s.expectError(
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
	s.expectError([]string{"GitHub does not accept the credential", "Bad credentials"}, "plan", "-no-color")
	s.set("github", map[string]any{"base_url": s.fake.URL, "token": s.fake.Token})
	s.expectEmptyPlan()

	gitserver.Git(t, s.on.Path, "update-ref", "-d", "refs/heads/main")
	gitserver.Git(t, s.on.Path, "-c", "gc.pruneExpire=now", "gc", "--quiet")
	gitserver.Git(t, s.on.Path, "prune", "--expire=now")
	o := s.succeed("plan", "-no-color")
	for _, said := range []string{"The commit is gone", "No commit found for SHA", "1 to add"} {
		if !strings.Contains(o.text(), said) {
			t.Errorf("the plan does not say %q: %s", said, o.text())
		}
	}
	s.expectError([]string{"Commit not found"}, "apply", "-no-color", "-auto-approve")
	s.commit = gitserver.Seed(t, s.on.Path, "main", map[string]string{"README.md": "new\n"})
	s.set("commit", s.commit)
	s.apply()
	s.expectStatus("kalypso/dev", "pending", 1)
	s.expectNoCanary()
}

// The resource waits for a failing backend as long as it asks, within timeouts. A failed update leaves the state
// unchanged.
func TestAccCommitStatusFailingBackend(t *testing.T) {
	t.Parallel()
	s := newStatusRoot(t)
	s.fake.Fail("POST", "/statuses/", 1, githubfake.SecondaryRateLimit(429, 1))
	s.fake.Fail("POST", "/statuses/", 1, githubfake.Dropped())
	s.apply()
	s.expectStatus("kalypso/dev", "pending", 1)

	s.fake.Fail("POST", "/statuses/", -1, githubfake.ServerError(502, 0))
	s.set("state", "success", "timeouts", map[string]any{"update": "1s"})
	s.expectError(
		[]string{"GitHub can't be reached", "Bad Gateway", "Set status kalypso/dev of commit " + s.commit},
		"apply",
		"-no-color",
		"-auto-approve",
	)
	s.fake.ClearFailures()
	s.fake.Fail("POST", "/statuses/", 1, githubfake.Forbidden("Resource not accessible by integration"))
	s.expectError(
		[]string{"GitHub denies the request", "Resource not accessible by integration"},
		"apply",
		"-no-color",
		"-auto-approve",
	)
	if plan := s.terraform("plan", "-no-color", "-detailed-exitcode"); plan.code != 2 {
		t.Errorf("the failed update was stored: %s", plan.text())
	}
	s.apply()
	s.expectStatus("kalypso/dev", "success", 2)
	s.expectEmptyPlan()
	s.expectNoCanary()
}

// An app can set statuses too. Nothing that remains contains its key.
func TestAccCommitStatusByApp(t *testing.T) {
	t.Parallel()
	s := newStatusRoot(t)
	app := s.fake.AddApp(t)
	s.set("github", map[string]any{"base_url": s.fake.URL, "app": map[string]any{
		"id": app.ID, "installation_id": app.InstallationID, "private_key": app.PrivateKey,
	}})
	s.apply()
	s.expectStatus("kalypso/dev", "pending", 1)
	s.expectEmptyPlan()
	s.fake.Fail("", "/access_tokens", -1, githubfake.ServerError(404, 0))
	s.expectError([]string{"get a token for installation " + app.InstallationID}, "plan", "-no-color")
	s.expectNoCanary("PRIVATE KEY", "ghs_", "eyJhbGciOi") // as a signed token begins
}

// expectNoCanary fails the test if a secret was printed or is in the state.
func (s *statusRoot) expectNoCanary(more ...string) {
	s.t.Helper()
	state := readFile(s.t, filepath.Join(s.folder, "terraform.tfstate"))
	for _, secret := range append(more, "canary") {
		if strings.Contains(s.printed.String()+state, secret) {
			s.t.Errorf("%q was printed or is in the state", secret)
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
	)
	s.expectError([]string{
		"contains a user name or password",
		"A full commit hash is required",
		"between 1 and 255, got: 256",
		`"pending" "success" "failure" "error"`,
		"between 1 and 140, got: 141",
		"An absolute URL is required",
	}, "plan", "-no-color")
	s.set(
		"repo",
		"https://github.com/acme/control-plane",
		"commit",
		s.commit,
		"context",
		"x",
		"state",
		"success",
		"description",
		nil,
		"target_url",
		nil,
	)
	s.expectError(
		[]string{
			"Repo is not on the GitHub server",
			"Find https://github.com/acme/control-plane on the GitHub server " + s.fake.URL,
		},
		"plan",
		"-no-color",
	)
	s.set("repo", s.on.URL, "commit", nil)
	s.expectError([]string{"Missing commit", "Set commit and state, or deployment"}, "plan", "-no-color")
	if n := len(s.fake.Requests()); n != 0 {
		t.Errorf("GitHub was asked %d times", n)
	}
}

// A commit, repo and token that are known only after apply are planned. Apply checks their values.
func TestAccCommitStatusUnknown(t *testing.T) {
	t.Parallel()
	s := newStatusRoot(t)
	s.write(
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
				readFile(t, "testdata/TestAccCommitStatus/main.tf"),
			)+`
resource "terraform_data" "later" {
  input = { commit = var.commit, github = var.github, page = var.target_url }
}
`,
	)
	s.set("commit", "v1", "target_url", "https://me:canary@acme.io")
	s.expectError([]string{"Invalid commit", "Invalid target URL"}, "apply", "-no-color", "-auto-approve")
	s.set("target_url", nil)
	s.set("commit", s.commit)
	s.apply()
	s.expectStatus("kalypso/dev", "pending", 1)
	s.expectEmptyPlan()
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

// The verdict of a deployment becomes the status of its promoted commit. Values that change with every check change
// nothing. Another verdict, another commit or a status of others sets a new one. Without a promoted commit, no status
// is set.
func TestAccCommitStatusDeployment(t *testing.T) {
	t.Parallel()
	s := newStatusRoot(t)
	s.set("commit", nil, "state", nil, "deployment", deployment(nil, "pending", "The branch holds no rendering."))
	if out := s.apply().text(); !strings.Contains(out, "No status is set") {
		t.Errorf("the apply: %s", out)
	}
	s.expectStatus("kalypso/dev", "", 0)
	s.expectEmptyPlan()
	s.set("deployment", deployment(s.commit, "pending", "1 of 2 clusters current."))
	s.apply()
	s.expectStatus("kalypso/dev", "pending", 1)
	// Another time and other counts with the same verdict change nothing.
	s.set("deployment", deployment(s.commit, "pending", "2 of 3 clusters current."))
	s.expectEmptyPlan()
	s.apply()
	s.expectStatus("kalypso/dev", "pending", 1)
	long := strings.Repeat("ü", 200)
	s.set("deployment", deployment(s.commit, "success", long))
	s.apply()
	s.expectStatus("kalypso/dev", "success", 2)
	s.set("deployment", deployment(s.commit, "success", "3 of 3 clusters current."))
	s.expectEmptyPlan()

	s.on.SetStatus(s.commit, "kalypso/dev", "failure") // somebody else
	s.apply()
	s.expectStatus("kalypso/dev", "success", 4)
	first := s.commit
	s.commit = gitserver.Seed(t, s.on.Path, "main", map[string]string{"README.md": "two\n"})
	s.set("deployment", deployment(s.commit, "failure", "0 of 3 clusters current."))
	s.apply()
	s.expectStatus("kalypso/dev", "failure", 1)
	if state, n := s.on.Status(first, "kalypso/dev"); state != "success" || n != 4 {
		t.Errorf("the commit before has %q, set %d times", state, n)
	}

	s.set("commit", s.commit, "description", "x")
	s.expectError(
		[]string{"Two statuses", "commit is set and comes from deployment too",
			"description is set and comes from deployment too"},
		"plan",
		"-no-color",
	)
	s.set("commit", nil, "description", nil, "deployment", deployment("v1.2", "success", ""))
	s.expectError([]string{"Invalid promoted commit", "A full commit hash is required"}, "plan", "-no-color")
}

// A status that is older than renew_after when plan reads it, by the host's clock, is set again; a younger one is not.
func TestAccCommitStatusRenews(t *testing.T) {
	t.Parallel()
	s := newStatusRoot(t)
	s.set("renew_after", "1h")
	s.apply()
	s.expectEmptyPlan()
	s.on.AgeStatuses(s.commit, 59*time.Minute)
	s.expectEmptyPlan()
	s.on.AgeStatuses(s.commit, 2*time.Minute)
	if out := s.apply().text(); !strings.Contains(out, "0 added, 1 changed, 0 destroyed") {
		t.Errorf("the apply: %s", out)
	}
	s.expectStatus("kalypso/dev", "pending", 2)
	s.expectEmptyPlan()

	s.set("commit", nil, "state", nil, "deployment", deployment(s.commit, "success", "All."))
	s.apply()
	s.expectStatus("kalypso/dev", "success", 3)
	s.on.AgeStatuses(s.commit, 2*time.Hour)
	s.apply()
	s.expectStatus("kalypso/dev", "success", 4)
	s.expectEmptyPlan()
	s.set("renew_after", "soon")
	s.expectError([]string{`"soon" is not a duration`}, "plan", "-no-color")
}
