package rendering_test

import (
	"fmt"
	"html"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/githubfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// feedbackRoot is a root module with a rendering on a fake GitHub, whose workload "shop" is in the repo of a team.
type feedbackRoot struct {
	*rendering
	fake        *githubfake.Server
	team        *githubfake.Repo
	environment string
	commit      string // of the team's repo
}

func newFeedbackRoot(t *testing.T, fake *githubfake.Server, team *githubfake.Repo, environment string) *feedbackRoot {
	t.Helper()
	acc.NeedTerraform(t)
	on := fake.AddRepo(t, "acme/gitops-"+environment)
	gitserver.Seed(t, on.Path, "dev", map[string]string{"README.md": "GitOps\n"})
	h := &feedbackRoot{newRendering(t, on.Path), fake, team, environment, ""}
	h.setDestination("repo", on.URL)
	h.Set("github", map[string]any{"base_url": fake.URL, "token": fake.Token})
	h.Set("environment", environment)
	h.keep("guardrails", map[string]any{"max_kept": "100%", "unscheduled": "warn"}, "feedback", map[string]any{
		"status": map[string]any{"context": "kalypso/" + environment},
		"issues": map[string]any{"labels": []string{"kalypso"}},
	})
	return h
}

// shop returns the team's document, a workload with a target in each environment. broken says how a target fails.
func shop(name, label string, broken map[string]string) string {
	var targets []string
	for _, environment := range []string{"dev", "stage"} {
		schema := ""
		if broken[environment] == "schema" {
			schema = `'{"required": ["none"]}'`
		}
		targets = append(targets, fmt.Sprintf("{name: perf, labels: {type: %q}, environment: %s, manifests: {breaks: %q}, "+
			"configSchemas: [%s]}", label, environment, strings.TrimPrefix(broken[environment], "schema"), schema))
	}
	return acc.KalypsoYAML("Workload", name, "{deploymentTargets: ["+strings.Join(targets, ", ")+"]}")
}

// push commits the team's document.
func push(t *testing.T, team *githubfake.Repo, document string) string {
	t.Helper()
	return gitserver.Seed(t, team.Path, "main", map[string]string{"workload.yaml": document})
}

// reads makes the rendering read a commit of the team.
func (h *feedbackRoot) reads(commit, document string) {
	h.T.Helper()
	h.commit = commit
	h.keep("guardrails", map[string]any{"max_kept": "100%", "unscheduled": "warn"},
		"manifests", map[string]string{h.team.URL + "@main:workload.yaml": document},
		"sources", map[string]string{h.team.URL + "@main:.": commit})
}

// expectFeedback applies. It fails the test unless the plan shows the line, and the next plan is empty and sends no
// request to the host.
func (h *feedbackRoot) expectFeedback(line string, commits int) acc.Output {
	h.T.Helper()
	plan := h.Succeed("plan", "-no-color")
	if shown := `"` + line + `"`; line != "" && !strings.Contains(plan.Text(), shown) {
		h.T.Errorf("the plan does not say %s:\n%s", shown, plan.Text())
	}
	out := h.expectCommits(commits)
	h.fake.ResetLog()
	h.ExpectEmptyPlan()
	h.Apply()
	if asked := h.fake.Requests(); len(asked) > 0 {
		h.T.Errorf("an apply without a change sends %d requests, first %+v", len(asked), asked[0])
	}
	return out
}

// expectStatus fails the test unless the status of the team's commit has the state, and its description begins with the
// text.
func (h *feedbackRoot) expectStatus(state, text string) {
	h.T.Helper()
	context := "kalypso/" + h.environment
	if s, _ := h.team.Status(h.commit, context); s.State != state || !strings.HasPrefix(s.Description, text) {
		h.T.Errorf("the status is %s %q, want %s %q", s.State, s.Description, state, text)
	}
}

// issuesOf returns the number, the title, the state and the comments of each issue.
func issuesOf(repo *githubfake.Repo) (all []string) {
	for _, i := range repo.Issues.All() {
		all = append(all, fmt.Sprintf("%d %s closed=%t %q", i.Number, i.Title, i.Closed, i.Comments))
	}
	return all
}

func expectIssues(t *testing.T, repo *githubfake.Repo, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, issuesOf(repo)); diff != "" {
		t.Errorf("the issues (-want +got):\n%s", diff)
	}
}

var (
	htmlTag = regexp.MustCompile(`<[^>]*>`)
	// markdownMarks are the marks of Markdown in an issue that a page does not show, and its comments.
	markdownMarks = regexp.MustCompile("(?m)`|^- |<!-- .* -->")
	readFrom      = regexp.MustCompile(` from \S+`)
)

// TestAccFeedbackInGuide: the pictures in the guide For application teams show the statuses and the issue that a team
// gets if it needs a value that the platform does not set. Times, and the URL of the team's repo, are not compared.
func TestAccFeedbackInGuide(t *testing.T) {
	t.Parallel()
	fake := githubfake.New(t)
	dev := newFeedbackRoot(t, fake, fake.AddRepo(t, "acme/shop"), "dev")
	plain := func(text string) string {
		text = strings.Join(strings.Fields(acc.TimeInPlan.ReplaceAllString(text, "<time>")), " ")
		return readFrom.ReplaceAllString(text, " from <file>")
	}
	expectShown := func(page, element, want string) {
		t.Helper()
		text := acc.ReadFile(t, filepath.Join(acc.Examples, "pictures", page))
		found := regexp.MustCompile(`(?s)data-text="` + element + `">(.*?)</(?:span|article)>`).FindStringSubmatch(text)
		if found == nil {
			t.Fatalf("%s has no element %s", page, element)
		}
		shown := html.UnescapeString(htmlTag.ReplaceAllString(found[1], ""))
		if diff := cmp.Diff(plain(want), plain(shown)); diff != "" {
			t.Errorf("%s, %s; after a change run scripts/pictures.sh (-product +picture):\n%s", page, element, diff)
		}
	}
	for _, step := range []struct{ schema, state string }{
		{"", "success"}, {`'{"required": ["DATABASE_URL"]}'`, "failure"},
	} {
		document := acc.KalypsoYAML("Workload", "shop", "{deploymentTargets: [{name: web, labels: {type: large}, "+
			"environment: dev, configSchemas: ["+step.schema+"]}]}")
		dev.commit = gitserver.Seed(t, dev.team.Path, "main", map[string]string{"workload/workload.yaml": document})
		dev.keep("guardrails", map[string]any{"max_kept": "100%"},
			"manifests", map[string]string{dev.team.URL + "@main:workload/workload.yaml": document},
			"sources", map[string]string{dev.team.URL + "@main:workload": dev.commit})
		dev.Apply()
		s, _ := dev.team.Status(dev.commit, "kalypso/dev")
		if s.State != step.state {
			t.Errorf("the status is %s, want %s", s.State, step.state)
		}
		expectShown("status.html", step.state, s.Description)
	}
	issues := dev.team.Issues.All()
	if len(issues) != 1 {
		t.Fatalf("the issues are %q", issuesOf(dev.team))
	}
	expectShown("issue.html", "title", markdownMarks.ReplaceAllString(issues[0].Title, ""))
	expectShown("issue.html", "body", markdownMarks.ReplaceAllString(issues[0].Body, ""))
}

// TestAccFeedback: a team breaks its target in two environments. It gets statuses on its commits, and an issue for each
// environment. It closes one of the issues, and later fixes the target.
func TestAccFeedback(t *testing.T) {
	t.Parallel()
	fake := githubfake.New(t)
	team := fake.AddRepo(t, "acme/shop")
	dev := newFeedbackRoot(t, fake, team, "dev")

	document := shop("shop", "large", nil)
	dev.reads(push(t, team, document), document)
	dev.expectFeedback("feedback: 1 status", 1)
	dev.expectStatus("success", "1 target on 1 cluster type")
	dev.reads(push(t, team, document+"# a comment\n"), document) // the same objects
	dev.expectFeedback("feedback: 1 status again", 0)
	dev.expectStatus("success", "1 target on 1 cluster type")

	document = shop("shop", "large", map[string]string{"dev": "data", "stage": "data"})
	dev.reads(push(t, team, document), document)
	dev.expectFeedback("feedback: 1 status, 1 issue opened", 1)
	dev.expectStatus("failure", `target perf: Template reconciler: Template rendering failed: `)
	stage := newFeedbackRoot(t, fake, team, "stage")
	stage.reads(dev.commit, document)
	stage.expectFeedback("feedback: 1 status, 1 issue opened", 1)
	stage.expectStatus("failure", "target perf: ")
	dev.expectStatus("failure", "target perf: ")
	inDev, inStage := "1 Workload `shop` fails to render in `dev` ", "2 Workload `shop` fails to render in `stage` "
	expectIssues(t, team, inDev+"closed=false []", inStage+"closed=false []")
	first := team.Issues.All()[0]
	for _, text := range []string{
		"`large / shop-perf: kept, failing since 20", "`Template \"reconciler\" from fleet.yaml, ",
		"```\n", "`workload.yaml`", "Fix the workload"} {
		if !strings.Contains(first.Body, text) {
			t.Errorf("the issue does not contain %q:\n%s", text, first.Body)
		}
	}
	if diff := cmp.Diff([]string{"kalypso"}, first.Labels); diff != "" {
		t.Errorf("the labels of the issue (-want +got):\n%s", diff)
	}

	// An issue that people closed stays closed until the failure is another one.
	_, _ = team.Issues.Update(1, func(i *hostfake.Issue) { i.Closed = true })
	dev.reads(push(t, team, document+"# try\n"), document)
	dev.expectFeedback("feedback: 1 status", 0)
	expectIssues(t, team, inDev+"closed=true []", inStage+"closed=false []")
	document = shop("shop", "large", map[string]string{"dev": "schema", "stage": "data"})
	dev.reads(push(t, team, document), document)
	dev.expectFeedback("feedback: 1 status, 1 issue edited", 0)
	expectIssues(t, team, inDev+"closed=false []", inStage+"closed=false []")

	// A workload that no policy places has the status pending.
	document = shop("shop", "tiny", map[string]string{"stage": "data"})
	dev.reads(push(t, team, document), document)
	dev.expectFeedback("feedback: 1 status, 1 issue closed", 1)
	dev.expectStatus("pending", "no policy places target perf; nearest: type=large")
	inDev += "closed=true [\"Environment `dev` renders this workload again.\"]"
	expectIssues(t, team, inDev, inStage+"closed=false []")

	// A renamed workload that fails has another issue.
	document = shop("store", "large", map[string]string{"stage": "data"})
	dev.reads(push(t, team, document), document)
	dev.expectFeedback("feedback: 1 status", 1)
	stage.reads(dev.commit, document)
	stage.expectFeedback("feedback: 1 status, 1 issue opened, 1 closed", 1)
	expectIssues(t, team, inDev, inStage+"closed=true [\"Environment `stage` no longer reports on this workload.\"]",
		"3 Workload `store` fails to render in `stage` closed=false []")
	stage.options("manifests", nil, "sources", nil) // the workload is removed
	stage.expectFeedback("feedback: 1 issue closed", 1)
	if issues := team.Issues.All(); !issues[2].Closed {
		t.Errorf("the issue of a removed workload stays open: %+v", issues[2])
	}
}

// TestAccFeedbackOfMany: 200 workloads fail at once, while the host is down for three runs, and then the credential has
// no rights. No apply fails. Once the host answers, 20 workloads get an issue, and one more lists the rest.
func TestAccFeedbackOfMany(t *testing.T) {
	t.Parallel()
	fake := githubfake.New(t)
	team := fake.AddRepo(t, "acme/shop")
	dev := newFeedbackRoot(t, fake, team, "dev")
	reads := func(broken int, comment string) {
		t.Helper()
		files, manifests := map[string]string{}, map[string]string{}
		for i := range 200 {
			name := fmt.Sprintf("w%03d", i)
			breaks := map[string]string{}
			if i < broken {
				breaks["dev"] = "data"
			}
			files[name+".yaml"] = shop(name, "large", breaks)
			manifests[team.URL+"@main:"+name+".yaml"] = files[name+".yaml"]
		}
		files["README.md"] = comment
		dev.commit = gitserver.Seed(t, team.Path, "main", files)
		dev.keep("guardrails", map[string]any{"max_kept": "100%", "max_removed": "100%"}, "manifests", manifests,
			"sources", map[string]string{team.URL + "@main:.": dev.commit}, "preview", "none")
	}
	reads(0, "")
	dev.expectFeedback("feedback: 1 status", 1)

	fake.Fail("", "/statuses", -1, githubfake.ServerError(http.StatusServiceUnavailable, 3600))
	for run := range 3 {
		reads(200, fmt.Sprintf("Run %d\n", run))
		out := dev.Succeed("apply", "-auto-approve", "-no-color")
		for _, want := range []string{"Some feedback to teams", "GitHub can't be reached", "the next apply tries again"} {
			if !strings.Contains(out.Text(), want) {
				t.Errorf("run %d has no warning with %q:\n%s", run, want, out.Text())
			}
		}
	}
	fake.ClearFailures()
	fake.Fail("", "/issues", -1, githubfake.Forbidden("Resource not accessible by personal access token"))
	out := dev.Succeed("apply", "-auto-approve", "-no-color")
	if !strings.Contains(out.Text(), "the permission issues: read") {
		t.Errorf("no scope in the warning:\n%s", out.Text())
	}
	if issues := issuesOf(team); len(issues) > 0 {
		t.Errorf("without rights, %q were opened", issues)
	}
	fake.ClearFailures()
	dev.expectFeedback("", 0)
	dev.expectStatus("failure", "200 workloads fail: w000: target perf: ")
	if issues := team.Issues.All(); len(issues) != 21 || issues[20].Title != "180 more workloads fail to render in `dev`" {
		t.Errorf("the issues: %q", issuesOf(team))
	}
	reads(0, "Mended\n")
	dev.expectFeedback("feedback: 1 status, 21 issues closed", 1)
	for _, issue := range team.Issues.All() {
		if !issue.Closed {
			t.Errorf("the issue stays open: %s", issue.Title)
		}
	}
}
