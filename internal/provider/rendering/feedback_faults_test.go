package rendering_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/githubfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/protocol"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// feedbackRun is a rendering with feedback to teams on a fake GitHub, which runs through Terraform's protocol.
type feedbackRun struct {
	*acc.ProtocolRun
	fake  *githubfake.Server
	on    *githubfake.Repo
	team  *githubfake.Repo
	given map[string]any
}

func newFeedbackRun(t *testing.T) *feedbackRun {
	t.Helper()
	fake := githubfake.New(t)
	w := &feedbackRun{acc.NewRenderingRun(t), fake, fake.AddRepo(t, "acme/gitops"), fake.AddRepo(t, "acme/mono"), nil}
	gitserver.Seed(t, w.on.Path, "dev", map[string]string{"README.md": "GitOps\n"})
	w.Config = map[string]any{"github": map[string]any{"base_url": fake.URL, "token": fake.Token}}
	w.given = fleetArguments("", "1")
	delete(w.given, "workloads")
	maps.Copy(w.given, map[string]any{
		"gitops_repo": map[string]any{"repo": w.on.URL, "branch": "dev"}, "create_branch": false, "preview": "none",
		"on_assignment_error": "keep", "guardrails": map[string]any{"max_kept": "100%", "max_removed": "100%"},
		"templates": map[string]any{
			"r": map[string]any{"name": "r", "type": "reconciler", "manifests": []any{
				"# r: {{ .Namespace }} {{ with .Manifests.breaks }}{{ $.Manifests.none }}{{ end }}\n"}},
			"n": map[string]any{"name": "n", "type": "namespace", "manifests": []any{"# n: {{ .Namespace }}\n"}},
			"c": map[string]any{"name": "c", "type": "config", "manifests": []any{"# c: {{ .Namespace }}\n"}},
		},
		"feedback": map[string]any{
			"status": map[string]any{"context": "kalypso/dev"}, "issues": map[string]any{"repo": w.team.URL},
		},
	})
	return w
}

// push commits n workloads of the team. The first workloads are broken, as many as the parameter broken says.
func (w *feedbackRun) push(n, broken int) (commit string) {
	w.T.Helper()
	files, manifests := map[string]string{}, map[string]any{}
	for i := range n {
		breaks := ""
		if i < broken {
			breaks = "breaks: data"
		}
		name := fmt.Sprintf("w%03d", i)
		files[name+".yaml"] = acc.KalypsoYAML("Workload", name,
			"{deploymentTargets: [{name: perf, environment: dev, manifests: {"+breaks+"}}]}")
		manifests[w.team.URL+"@main:"+name+".yaml"] = files[name+".yaml"]
	}
	commit = gitserver.Seed(w.T, w.team.Path, "main", files)
	w.given["manifests"], w.given["sources"] = manifests, map[string]any{w.team.URL + "@main:.": commit}
	return commit
}

// plans refreshes the state, and plans the arguments.
func (w *feedbackRun) plans() (*protocol.Plan, protocol.Diagnostics) {
	w.T.Helper()
	s := w.Start()
	if ds := s.Refresh(w.T.Context(), &w.Resource); ds.HasErrors() {
		w.T.Fatalf("refresh: %s", ds)
	}
	return s.Plan(w.T.Context(), &w.Resource, w.given)
}

// applies plans and applies, and returns the warnings of the apply. The test fails unless the line is the planned
// feedback_status.
func (w *feedbackRun) applies(line string) string {
	w.T.Helper()
	plan, ds := w.plans()
	if plan == nil {
		w.T.Fatalf("plan:\n%s", ds)
	}
	if got := protocol.Lines(plan.Planned)["feedback_status"]; got != fmt.Sprintf("%q", line) {
		w.T.Errorf("the planned feedback_status is %s, want %q", got, line)
	}
	after, ds := w.Start().Apply(w.T.Context(), plan, w.given)
	if ds.HasErrors() {
		w.T.Fatalf("apply: %s", ds)
	}
	w.Resource = *after
	return ds.String()
}

// expectNoRequests fails the test unless the next plan has no change and sends no request to the host's API.
func (w *feedbackRun) expectNoRequests() {
	w.T.Helper()
	w.fake.ResetLog()
	if plan, ds := w.plans(); plan == nil || plan.Changes() || strings.Contains(ds.String(), "Teams") {
		w.T.Errorf("the next plan has a change, or warns:\n%s", ds)
	}
	if asked := w.fake.Requests(); len(asked) > 0 {
		w.T.Errorf("the next plan sends %d requests, first %+v", len(asked), asked[0])
	}
}

// open returns the titles of the open issues.
func (w *feedbackRun) open() (titles []string) {
	for _, i := range w.team.Issues.All() {
		if !i.Closed {
			titles = append(titles, i.Title)
		}
	}
	return titles
}

// TestFeedbackOf200FailingWorkloads: if 200 workloads fail at once, 20 workloads get an issue, and one more issue lists
// the others. A workload in this list gets no issue of its own later. All issues are closed once the workloads render.
func TestFeedbackOf200FailingWorkloads(t *testing.T) {
	t.Parallel()
	w := newFeedbackRun(t)
	w.push(200, 0)
	w.applies("feedback: 1 status")
	commit := w.push(200, 200)
	w.applies("feedback: 1 status, 21 issues opened")
	w.expectNoRequests()
	titles := w.open()
	if len(titles) != 21 || titles[0] != "Workload `w000` fails to render in `dev`" ||
		titles[20] != "180 more workloads fail to render in `dev`" {
		t.Errorf("%d issues: %q", len(titles), titles)
	}
	list := w.team.Issues.All()[20].Body
	if !strings.Contains(list, "- `w020: target perf: Template r: ") || !strings.Contains(list, "- `w199: ") ||
		strings.Contains(list, "w019") {
		t.Errorf("the list:\n%s", list)
	}
	status, _ := w.team.Status(commit, "kalypso/dev")
	text := status.Description
	if !strings.HasPrefix(text, "200 workloads fail: w000: target perf: ") || len([]rune(text)) != 140 {
		t.Errorf("the status is %q", text)
	}

	w.push(200, 100)
	w.applies("feedback: 1 status, 1 issue edited")
	w.expectNoRequests()
	if list := w.team.Issues.All()[20]; list.Closed || !strings.Contains(list.Title, "80 more") {
		t.Errorf("the list is %+v", list)
	}
	w.push(200, 0)
	w.applies("feedback: 1 status, 21 issues closed")
	w.expectNoRequests()
	if titles := w.open(); len(titles) > 0 {
		t.Errorf("these issues stay open: %q", titles)
	}
}

// TestFeedbackHostFails: a host that is down, or a credential without rights, never fails an apply, and the next apply
// gives the missing feedback. If the host's answer to a new issue is lost, the next apply finds the issue by its
// marker.
func TestFeedbackHostFails(t *testing.T) {
	t.Parallel()
	w := newFeedbackRun(t)
	down := githubfake.ServerError(http.StatusServiceUnavailable, 3600)
	w.fake.Fail("", "/statuses", -1, down)
	for run, line := range []string{"feedback: 1 status, 1 issue opened", "feedback: 1 status, 1 issue opened again",
		"feedback: 1 status, 1 issue opened"} {
		w.push(3+run, 1)
		before := len(gitserver.Log(t, w.on.Path, "dev"))
		warned := w.applies(line)
		for _, text := range []string{"was not sent: GitHub can't be reached", "the next apply tries again"} {
			if !strings.Contains(warned, text) {
				t.Errorf("no warning with %q:\n%s", text, warned)
			}
		}
		if got := len(gitserver.Log(t, w.on.Path, "dev")) - before; got != 1 {
			t.Errorf("run %d made %d commits", run, got)
		}
	}
	if plan, _ := w.plans(); plan == nil || !plan.Changes() {
		t.Error("the next plan has no feedback to give")
	}
	w.fake.ClearFailures()

	w.fake.Fail("", "/issues", -1, githubfake.Forbidden("Resource not accessible by personal access token"))
	warned := w.applies("feedback: 1 status, 1 issue opened again")
	if strings.Count(warned, "Some feedback to teams") != 1 || !strings.Contains(warned, "GitHub denies the request") ||
		!strings.Contains(warned, "the permission issues: read") {
		t.Errorf("the warnings are:\n%s", warned)
	}
	w.fake.ClearFailures()
	w.fake.Fail(http.MethodPost, "/issues", 1, hostfake.AnswerLost())
	if warned := w.applies("feedback: 1 issue opened"); !strings.Contains(warned, "GitHub can't be reached") {
		t.Errorf("the warnings are:\n%s", warned)
	}
	w.fake.ClearFailures()
	if warned := w.applies("feedback: 1 issue opened again"); strings.Contains(warned, "Teams") {
		t.Errorf("the apply warns:\n%s", warned)
	}
	w.expectNoRequests()
	if titles := w.open(); len(titles) != 1 {
		t.Errorf("%q were opened", titles)
	}
	w.Resource = protocol.Resource{Type: w.Resource.Type} // the state is lost
	w.given["adopt"] = true
	w.push(5, 1)
	plan, _ := w.plans()
	after, ds := w.Start().Apply(t.Context(), plan, w.given)
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	w.Resource = *after
	if titles := w.open(); len(titles) != 1 || len(w.team.Issues.All()) != 1 {
		t.Errorf("%q were opened", titles)
	}
	w.expectNoRequests()
}

// TestFeedbackOfLostIssues: if the apply that opened an issue was killed, or the answer was lost, and the workload is
// mended before the next apply, this one looks for the issue and closes it. A stranger's copy stays as it is.
func TestFeedbackOfLostIssues(t *testing.T) {
	t.Parallel()
	const opens = "feedback: 1 status, 1 issue opened"
	for name, apply := range map[string]func(w *feedbackRun){
		"killed": func(w *feedbackRun) {
			before := w.Resource
			w.applies(opens)
			w.Resource = before
		},
		"answer lost": func(w *feedbackRun) {
			w.fake.Fail(http.MethodPost, "/issues", 1, hostfake.AnswerLost())
			w.applies(opens)
			w.fake.ClearFailures()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFeedbackRun(t)
			w.push(2, 0)
			w.applies("feedback: 1 status")
			w.push(2, 1)
			apply(w)
			ours := w.team.Issues.All()[0]
			copied := w.team.OpenIssue(t, "eve", ours.Title, ours.Body)
			w.push(2, 0)
			w.applies("feedback: 1 status, issues of 1 repo checked")
			ours.Closed, ours.Number, ours.Author = false, copied, "eve"
			all := w.team.Issues.All()
			if diff := cmp.Diff(ours, all[1], cmpopts.EquateEmpty()); diff != "" || !all[0].Closed {
				t.Errorf("ours: %+v; the copy (-want +got):\n%s", all[0], diff)
			}
			w.expectNoRequests()
		})
	}
}

// TestFeedbackFollowsMerge: with pull requests, teams get feedback about a tree once it is merged.
func TestFeedbackFollowsMerge(t *testing.T) {
	t.Parallel()
	w := newFeedbackRun(t)
	w.given["delivery"] = map[string]any{"strategy": "pull_request", "describe": "keys"}
	commit := w.push(2, 0)
	plan, ds := w.plans()
	if plan == nil {
		t.Fatal(ds)
	}
	if got, there := protocol.Lines(plan.Planned)["feedback_status"]; there {
		t.Errorf("the plan of the pull request says %s", got)
	}
	w.Run(w.given, w.given)
	w.expectProposed(commit)
	w.on.Merge(t, w.on.PullRequests()[0].Number, "merge")
	w.applies("feedback: 1 status")
	if s, _ := w.team.Status(commit, "kalypso/dev"); s.State != "success" {
		t.Errorf("the status is %q", s.State)
	}
	w.expectNoRequests()
}

// expectProposed fails the test unless the next plan has no change, and the team's commit has no status yet.
func (w *feedbackRun) expectProposed(commit string) {
	w.T.Helper()
	if plan, ds := w.plans(); plan == nil || plan.Changes() {
		w.T.Errorf("the next plan has a change:\n%s", ds)
	}
	if s, _ := w.team.Status(commit, "kalypso/dev"); s.State != "" {
		w.T.Errorf("the status is %q before the merge", s.State)
	}
}

// TestFeedbackDescribed: the description of a change lists the feedback that teams will get.
func TestFeedbackDescribed(t *testing.T) {
	t.Parallel()
	w := newFeedbackRun(t)
	w.push(1, 0)
	w.applies("feedback: 1 status")
	w.push(2, 1)
	plan, ds := w.plans()
	if plan == nil {
		t.Fatal(ds)
	}
	const line = `feedback: 1 status, 1 issue opened`
	if text := protocol.Lines(plan.Planned)["description"]; !strings.HasSuffix(text, line+`\n"`) {
		t.Errorf("the description is %s", text)
	}
	w.applies(line)
	w.expectNoRequests()
	// A commit that changes no object gets its status too.
	commit := gitserver.Seed(t, w.team.Path, "main", map[string]string{"README.md": "ours\n"})
	w.given["sources"] = map[string]any{w.team.URL + "@main:.": commit}
	w.applies("feedback: 1 status")
	w.expectNoRequests()
	if s, _ := w.team.Status(commit, "kalypso/dev"); s.State != "failure" {
		t.Errorf("the status is %q", s.State)
	}
	// The plan contains the commit, and so does the state, since an apply in another process than the plan renders from
	// it.
	if text := fmt.Sprint(protocol.Lines(w.Resource.State)); !strings.Contains(text, commit) {
		t.Errorf("the state does not name the commit: %s", text)
	}
	// Without feedback, the issue is closed.
	delete(w.given, "feedback")
	w.applies("feedback: 1 issue closed")
	w.expectNoRequests()
}

// TestFeedbackUnknown: if the argument feedback is known after apply, the apply still gives the feedback. A destroy
// closes the issues.
func TestFeedbackUnknown(t *testing.T) {
	t.Parallel()
	w := newFeedbackRun(t)
	w.push(2, 0)
	w.applies("feedback: 1 status")
	commit := w.push(2, 1)
	unknown := maps.Clone(w.given)
	unknown["feedback"] = map[string]any{
		"status": map[string]any{"context": protocol.Unknown}, "issues": map[string]any{"repo": w.team.URL},
	}
	plan, state := w.Run(unknown, w.given)
	if plan["feedback_status"] != "(known after apply)" ||
		state["feedback_status"] != `"feedback: 1 status, 1 issue opened"` {
		t.Errorf("the plan says %s, and the state %s", plan["feedback_status"], state["feedback_status"])
	}
	if s, _ := w.team.Status(commit, "kalypso/dev"); s.State != "failure" || len(w.open()) != 1 {
		t.Errorf("the status is %q, and %q are open", s.State, w.open())
	}
	w.expectNoRequests()
	w.given["deletion_protection"], w.given["guardrails"] = false, map[string]any{
		"max_kept": "100%", "max_removed": "100%", "allow_empty": true,
	}
	w.Run(w.given, w.given)
	w.Destroy()
	if titles := w.open(); len(titles) > 0 {
		t.Errorf("a destroy leaves %q open", titles)
	}
}

// TestFeedbackInput: if a host would not accept the feedback, the plan has an error at the argument.
func TestFeedbackInput(t *testing.T) {
	t.Parallel()
	base := newFeedbackRun(t)
	base.push(1, 0)
	status := func(context any) map[string]any {
		return map[string]any{"status": map[string]any{"context": context}}
	}
	issues := func(pairs ...any) map[string]any {
		given := map[string]any{}
		for i := 0; i < len(pairs); i += 2 {
			given[fmt.Sprint(pairs[i])] = pairs[i+1]
		}
		return map[string]any{"issues": given}
	}
	const repo = `AttributeName("feedback").AttributeName("issues").AttributeName("repo")`
	const labels, context = "Attribute: feedback.issues.labels", "Attribute: feedback.status.context"
	noHost, noLabel := []string{"Repo is on no configured host", repo}, []string{"Invalid label", labels}
	onAzure := []string{"opens no issues on Azure DevOps", "Attribute: feedback.issues.repo"}
	allAzure := []string{"Issues need another host", "Attribute: feedback.issues"}
	for name, tt := range map[string]struct {
		feedback any
		strategy string
		want     []string
	}{
		"status":                  {feedback: status("kalypso/dev")},
		"issues of each workload": {feedback: issues()},
		"labels":                  {feedback: issues("labels", []any{"kalypso", "my team"})},
		"unknown feedback":        {feedback: protocol.Unknown},
		"unknown context":         {feedback: status(protocol.Unknown)},
		"unknown repo and labels": {feedback: issues("repo", protocol.Unknown, "labels", protocol.Unknown)},
		"no delivery": {status("x"), "none",
			[]string{"Feedback needs a delivery", `AttributeName("feedback")`}},
		"blank context":              {feedback: status(" "), want: []string{"Invalid context", context}},
		"long context":               {feedback: status(strings.Repeat("x", 256)), want: []string{"at most 255", context}},
		"context of the environment": {feedback: status("Dev environment"), want: []string{"the environment's own", context}},
		"another server":             {feedback: issues("repo", "https://git.acme.io/a/b"), want: noHost},
		"local folder":               {feedback: issues("repo", "file:///srv/a"), want: noHost},
		"no URL":                     {feedback: issues("repo", "acme"), want: []string{"Repo can't be used", repo}},
		"Azure DevOps":               {feedback: issues("repo", "https://dev.azure.com/acme/p/_git/r"), want: onAzure},
		"comma in a label":           {feedback: issues("labels", []any{"a,b"}), want: noLabel},
		"empty label":                {feedback: issues("labels", []any{""}), want: noLabel},
		"long label":                 {feedback: issues("labels", []any{strings.Repeat("x", 51)}), want: noLabel},
		"all workloads from Azure":   {feedback: issues(), strategy: "azure", want: allAzure},
	} {
		t.Run(name, func(t *testing.T) {
			w := *base
			w.ProtocolRun = &acc.ProtocolRun{T: t, Config: base.Config, Resource: base.Resource}
			w.given = maps.Clone(base.given)
			w.given["feedback"] = tt.feedback
			switch tt.strategy {
			case "azure":
				from := "https://dev.azure.com/acme/p/_git/r@main:"
				w.given["manifests"] = map[string]any{from + "w.yaml": acc.WorkloadDocument("w", "perf")}
				w.given["sources"] = map[string]any{from + ".": strings.Repeat("ab", 20)}
			case "none":
				w.given["delivery"] = map[string]any{"strategy": "none"}
			}
			plan, ds := w.plans()
			if (plan == nil) != (len(tt.want) > 0) {
				t.Errorf("the plan's diagnostics:\n%s", ds)
			}
			if i := slices.IndexFunc(tt.want, func(text string) bool { return !strings.Contains(ds.String(), text) }); i >= 0 {
				t.Errorf("no %q in:\n%s", tt.want[i], ds)
			}
		})
	}
}

// TestFeedbackServerWithoutBlock: workloads on servers without a credential in the provider cause one warning.
func TestFeedbackServerWithoutBlock(t *testing.T) {
	t.Parallel()
	w := newFeedbackRun(t)
	w.push(1, 0)
	manifests, sources := map[string]any{}, map[string]any{}
	for name, server := range map[string]string{"one": "git.acme.io", "two": "git.acme.io", "three": "gitlab.com"} {
		from := "https://" + server + "/teams/" + name + "@main:"
		manifests[from+"w.yaml"], sources[from+"."] = acc.WorkloadDocument(name, "perf"), strings.Repeat("ab", 20)
	}
	w.given["manifests"], w.given["sources"] = manifests, sources
	plan, ds := w.plans()
	if plan == nil || strings.Count(ds.String(), "Some teams get no feedback") != 1 ||
		!strings.Contains(ds.String(), "https://git.acme.io/teams/one: ") ||
		!strings.Contains(ds.String(), "https://git.acme.io/teams/two: ") ||
		!strings.Contains(ds.String(), "https://gitlab.com/teams/three: the provider has no credential for GitLab") {
		t.Errorf("the warnings are:\n%s", ds)
	}
}
