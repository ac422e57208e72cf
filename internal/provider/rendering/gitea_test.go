package rendering_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/giteaserver"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// onGitea makes a module use the Gitea that tests share in place of GitHub, with a token. Without git_credentials, the
// provider signs in with Git with the token too.
func onGitea(r *acc.Root, token string) {
	r.T.Helper()
	r.Write("gitea_override.tf", fmt.Sprintf(
		"provider \"kalypso\" {\n  github          = null\n  git_credentials = null\n"+
			"  gitea           = { base_url = %q, token = %q }\n}\n", giteaserver.Shared(r.T).URL, token))
}

// send pushes all branches of a local repo to Gitea.
func send(t *testing.T, local string, to *giteaserver.Repo) {
	t.Helper()
	gitserver.Git(t, local, "push", "--quiet", "--force", "--all", to.Remote())
}

// receive copies the branches of a repo on Gitea into a local repo.
func receive(t *testing.T, local string, from *giteaserver.Repo) {
	t.Helper()
	gitserver.Git(t, local, "fetch", "--quiet", "--prune", from.Remote(), "+refs/heads/*:refs/heads/*")
}

// TestAccGiteaRendering: a rendering is reviewed on Gitea, and merged once its check has passed.
func TestAccGiteaRendering(t *testing.T) {
	t.Parallel()
	acc.NeedTerraform(t)
	on := giteaserver.Shared(t).AddRepo(t, "gitops", "ann")
	local := gitserver.InitBare(t)
	gitserver.Seed(t, local, "dev", map[string]string{"README.md": "hello\n"})
	send(t, local, on)
	on.Require("dev", "ci")
	r := newRendering(t, local)
	r.setDestination("repo", on.URL)
	delivery := func(pairs ...any) {
		all := map[string]any{"strategy": "pull_request"}
		for i := 0; i < len(pairs); i += 2 {
			all[fmt.Sprint(pairs[i])] = pairs[i+1]
		}
		r.options("delivery", all)
	}
	delivery("reviewers", []string{"ann", on.Owner + "/platform"}, "labels", []string{"Env: dev"}, "auto_merge", "squash")
	for token, texts := range map[string][]string{
		"":      {"No credential for Gitea", "has no token for Gitea. Set token in gitea of the provider."},
		"wrong": {"Gitea does not accept the credential", "Check token in gitea of the provider."},
	} {
		onGitea(r.Root, token)
		r.ExpectError(texts, "plan", "-no-color")
	}
	onGitea(r.Root, on.Token)
	r.Apply()
	r.ExpectEmptyPlan()
	pull := func() map[string]any {
		t.Helper()
		one, _ := r.Rendered()["pull_request"].(map[string]any)
		return one
	}
	if got := pull(); got["state"] != "open" || got["url"] != on.URL+"/pulls/1" || r.Rendered()["delivered"] != false {
		t.Fatalf("the state: %v", r.Rendered())
	}
	at := len(on.Requests())
	r.Set("value", "2")
	r.Apply()
	r.ExpectEmptyPlan()
	for _, request := range on.Requests()[at:] {
		if request.Method == "DELETE" || strings.HasSuffix(request.Path, "/merge") {
			t.Errorf("the auto-merge is set again: %s %s", request.Method, request.Path)
		}
	}
	head, _ := pull()["head_commit"].(string)
	on.SetStatus("ann", head, "ci", "success")
	on.AwaitMerge(t, 1)
	r.Apply("-refresh-only")
	receive(t, local, on)
	if now := r.Rendered(); now["delivered"] != true || pull()["state"] != "merged" ||
		now["commit_sha"] != gitserver.Rev(t, local, "dev") || pull()["merge_commit"] != now["commit_sha"] {
		t.Fatalf("the state: %v", now)
	}
	r.ExpectEmptyPlan()
	if got := gitserver.Tree(t, local, "dev"); len(got) < 5 {
		t.Errorf("the branch contains %v", got)
	}

	on.Require("dev")
	delivery()
	r.Set("value", "3")
	r.Apply()
	number, _ := pull()["number"].(float64)
	on.Change(t, int(number), map[string]any{"state": "closed"})
	r.Apply("-refresh-only")
	if pull()["state"] != "closed" {
		t.Errorf("the state: %v", r.Rendered())
	}
	if plan := r.Terraform("plan", "-no-color", "-detailed-exitcode"); !strings.Contains(plan.Text(), "was closed") {
		t.Errorf("the plan: %s", plan.Text())
	}
	on.Change(t, int(number), map[string]any{"state": "open", "title": "WIP: theirs"})
	r.Apply()
	r.ExpectEmptyPlan()
}

// TestAccGiteaFeedback: on Gitea, a team gets feedback when it breaks a target, and when it has fixed the target.
func TestAccGiteaFeedback(t *testing.T) {
	t.Parallel()
	acc.NeedTerraform(t)
	on := giteaserver.Shared(t).AddRepo(t, "gitops", "ann")
	local := gitserver.InitBare(t)
	gitserver.Seed(t, local, "dev", map[string]string{"README.md": "hello\n"})
	r := newRendering(t, local)
	r.setDestination("repo", on.URL)
	onGitea(r.Root, on.Token)
	for _, step := range []struct {
		breaks, told, status, issue string
		comments                    int
	}{
		{"", "feedback: 1 status", "success", "", 0},
		{"data", "feedback: 1 status, 1 issue opened", "failure", "open", 0},
		{"", "feedback: 1 status, 1 issue closed", "success", "closed", 1},
	} {
		document := shop("shop", "large", map[string]string{"dev": step.breaks})
		commit := gitserver.Seed(t, local, "team", map[string]string{"workload.yaml": document})
		send(t, local, on)
		r.keep("guardrails", map[string]any{"max_kept": "100%"},
			"manifests", map[string]string{on.URL + "@team:workload.yaml": document},
			"sources", map[string]string{on.URL + "@team:.": commit},
			"feedback", map[string]any{
				"status": map[string]any{"context": "kalypso/dev"}, "issues": map[string]any{"labels": []string{"kalypso"}},
			})
		r.Apply()
		r.ExpectEmptyPlan()
		receive(t, local, on)
		if told := r.Rendered()["feedback_status"]; told != step.told {
			t.Errorf("feedback_status is %v, want %s", told, step.told)
		}
		var statuses []struct{ Status, Context, Description string }
		on.API.Send(t, "GET", "/commits/"+commit+"/statuses", nil, &statuses)
		if len(statuses) != 1 || statuses[0].Status != step.status || statuses[0].Context != "kalypso/dev" {
			t.Errorf("the statuses are %+v, want %s", statuses, step.status)
		}
		if step.issue == "" {
			continue
		}
		var issue struct {
			State, Title string
			Comments     int
			Labels       []struct{ Name string }
		}
		on.API.Send(t, "GET", "/issues/1", nil, &issue)
		if issue.State != step.issue || issue.Comments != step.comments || len(issue.Labels) != 1 {
			t.Errorf("the issue is %+v, want it %s", issue, step.issue)
		}
	}
}
