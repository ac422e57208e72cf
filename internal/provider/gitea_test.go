package provider_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/gitea"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/gitserver"
)

// onGitea has a module use the Gitea that tests share in place of GitHub, with a token. There are no git_credentials:
// the API's credential serves Git.
func (r *root) onGitea(token string) {
	r.t.Helper()
	r.write("gitea_override.tf", fmt.Sprintf(
		"provider \"kalypso\" {\n  github          = null\n  git_credentials = null\n"+
			"  gitea           = { base_url = %q, token = %q }\n}\n", gitea.Shared(r.t).URL, token))
}

// send pushes all branches of a local repo to Gitea.
func send(t *testing.T, local string, to *gitea.Repo) {
	t.Helper()
	gitserver.Git(t, local, "push", "--quiet", "--force", "--all", to.Remote())
}

// receive copies the branches into a local repo of Gitea.
func receive(t *testing.T, local string, from *gitea.Repo) {
	t.Helper()
	gitserver.Git(t, local, "fetch", "--quiet", "--prune", from.Remote(), "+refs/heads/*:refs/heads/*")
}

// TestAccGiteaRendering: a rendering is reviewed and merged on Gitea, once its check has passed.
func TestAccGiteaRendering(t *testing.T) {
	t.Parallel()
	needTerraform(t)
	on := gitea.Shared(t).AddRepo(t, "gitops", "ann")
	local := gitserver.InitBare(t)
	gitserver.Seed(t, local, "dev", map[string]string{"README.md": "hello\n"})
	send(t, local, on)
	on.Require(t, "dev", "ci")
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
		r.onGitea(token)
		r.expectError(texts, "plan", "-no-color")
	}
	r.onGitea(on.Token)
	r.apply()
	r.expectEmptyPlan()
	pull := func() map[string]any {
		t.Helper()
		one, _ := r.rendered()["pull_request"].(map[string]any)
		return one
	}
	if got := pull(); got["state"] != "open" || got["url"] != on.URL+"/pulls/1" || r.rendered()["delivered"] != false {
		t.Fatalf("the state: %v", r.rendered())
	}
	at := len(on.Requests())
	r.set("value", "2")
	r.apply()
	r.expectEmptyPlan()
	for _, request := range on.Requests()[at:] {
		if request.Method == "DELETE" || strings.HasSuffix(request.Path, "/merge") {
			t.Errorf("the auto-merge is set again: %s %s", request.Method, request.Path)
		}
	}
	head, _ := pull()["head_commit"].(string)
	on.SetStatus(t, "ann", head, "ci", "success")
	on.AwaitMerge(t, 1)
	r.apply("-refresh-only")
	receive(t, local, on)
	if now := r.rendered(); now["delivered"] != true || pull()["state"] != "merged" ||
		now["commit_sha"] != gitserver.Rev(t, local, "dev") || pull()["merge_commit"] != now["commit_sha"] {
		t.Fatalf("the state: %v", now)
	}
	r.expectEmptyPlan()
	if got := gitserver.Tree(t, local, "dev"); len(got) < 5 {
		t.Errorf("the branch holds %v", got)
	}

	on.Require(t, "dev")
	delivery()
	r.set("value", "3")
	r.apply()
	number, _ := pull()["number"].(float64)
	on.Change(t, int(number), map[string]any{"state": "closed"})
	r.apply("-refresh-only")
	if pull()["state"] != "closed" {
		t.Errorf("the state: %v", r.rendered())
	}
	if plan := r.terraform("plan", "-no-color", "-detailed-exitcode"); !strings.Contains(plan.text(), "was closed") {
		t.Errorf("the plan: %s", plan.text())
	}
	on.Change(t, int(number), map[string]any{"state": "open", "title": "WIP: theirs"})
	r.apply()
	r.expectEmptyPlan()
}

// TestAccGiteaCommitStatus: a status is created, imported, and corrected after others changed it.
func TestAccGiteaCommitStatus(t *testing.T) {
	t.Parallel()
	needTerraform(t)
	on := gitea.Shared(t).AddRepo(t, "control-plane", "ann")
	local := gitserver.InitBare(t)
	s := &statusRoot{root: newRootFrom(t, "testdata/TestAccCommitStatus"), vars: map[string]any{}}
	s.commit = gitserver.Seed(t, local, "main", map[string]string{"README.md": "hello\n"})
	send(t, local, on)
	s.write("terraform.tf", terraformBlock)
	s.onGitea(on.Token)
	s.set("github", map[string]any{"base_url": "https://github.acme.io/"}, "repo", on.URL, "commit", s.commit,
		"state", "pending", "target_url", "https://ci.acme.io/runs/1")
	s.apply()
	s.expectEmptyPlan()
	s.set("state", "success", "description", "Rolled out")
	s.changes()
	s.expectEmptyPlan()
	was := s.attributes()
	s.emptyState()
	s.succeed("import", "-no-color", statusAddress, on.URL+"@"+s.commit+"#kalypso/dev")
	if now := s.attributes(); now["state"] != "success" || now["set_at"] != was["set_at"] {
		t.Errorf("imported %v, was %v", now, was)
	}
	on.SetStatus(t, "ann", s.commit, "Kalypso/DEV", "failure")
	s.changes()
	s.expectEmptyPlan()
	s.set("commit", strings.Repeat("ab", 20))
	s.expectError([]string{"Commit not found", "Set status kalypso/dev of commit abab"}, "apply", "-no-color",
		"-auto-approve")
}

// TestAccGiteaPromotion: gates read the statuses of Gitea, and who set them.
func TestAccGiteaPromotion(t *testing.T) {
	t.Parallel()
	needTerraform(t)
	controlPlane := gitea.Shared(t).AddRepo(t, "control-plane", "ann", "bob")
	p := &promotionRoot{root: newRootFrom(t, "testdata/TestAccPromotion"), now: time.Now()}
	p.controlPlaneAt, p.gitAt = gitserver.InitBare(t), gitserver.InitBare(t)
	gitops := controlPlane.AddOwn(t, "gitops")
	gitserver.Seed(t, p.gitAt, "main", map[string]string{"README.md": "GitOps\n"})
	p.start(map[string]any{"control_plane": controlPlane.URL, "gitops": gitops.URL})
	p.onGitea(controlPlane.Token)
	send(t, p.gitAt, gitops)
	p.rules("after", after("stage"), "statuses", map[string]any{"ci": map[string]any{"by": "ann"}})
	first := p.commit()
	send(t, p.controlPlaneAt, controlPlane)
	controlPlane.SetStatus(t, "bob", first, "ci", "success")
	controlPlane.SetStatus(t, "bob", first, "stage environment", "success")
	expect := func(decision, commit string, texts ...string) {
		t.Helper()
		seen := p.run()
		wantText(t, seen.Summary+seen.Reason, texts...)
		if seen.Decision != decision || seen.Commit != commit {
			t.Errorf("it is %s %s, want %s %s\n%s", seen.Decision, seen.Commit, decision, commit, seen.Summary)
		}
	}
	expect("hold", "", `status "ci" is success by bob`, `only one by "ann" counts`)
	controlPlane.SetStatus(t, "ann", first, "ci", "success")
	expect("promote", first, `status "ci" is success by ann`)
	receive(t, p.gitAt, gitops)
	if got := p.record().PromotedCommit; got != first {
		t.Errorf("the record says %s", got)
	}
	second := p.commit()
	send(t, p.controlPlaneAt, controlPlane)
	controlPlane.SetStatus(t, "ann", second, "ci", "failure")
	controlPlane.SetStatus(t, "bob", second, "stage environment", "success")
	expect("hold", first, `"ci"`)
	controlPlane.SetStatus(t, "ann", second, "ci", "success")
	expect("promote", second)
}

// TestAccGiteaBaseRepo: the commit of a BaseRepo changes by a pull request, which people merge or close.
func TestAccGiteaBaseRepo(t *testing.T) {
	t.Parallel()
	needTerraform(t)
	on := gitea.Shared(t).AddRepo(t, "control-plane")
	r := &baseRepoRoot{root: newRootFrom(t, "testdata/TestAccBaseRepo"), at: gitserver.InitBare(t), url: on.URL}
	r.start(map[string]any{"delivery": map[string]any{"strategy": "pull_request"}})
	r.onGitea(on.Token)
	send(t, r.at, on)
	r.promote(2)
	r.apply()
	r.expectEmptyPlan()
	if r.attribute("delivered") != false {
		t.Errorf("the state is %v", r.attributesOf("kalypso_base_repo"))
	}
	on.Merge(t, 1, "rebase")
	r.apply("-refresh-only")
	receive(t, r.at, on)
	r.expectPinned(2)
	r.expectEmptyPlan()
	if r.attribute("delivered") != true || r.attribute("commit_sha") != gitserver.Rev(t, r.at, "stage") {
		t.Errorf("the state is %v", r.attributesOf("kalypso_base_repo"))
	}
	r.promote(3)
	r.apply()
	on.Change(t, 2, map[string]any{"state": "closed"})
	r.apply("-refresh-only")
	wantText(t, r.expectEmptyPlanText(), "The pull request was closed", "pull request 2")
	r.promote(4)
	r.apply()
	r.expectEmptyPlan()
	r.succeed("destroy", "-no-color", "-auto-approve")
	receive(t, r.at, on)
	r.expectPinned(2)
	if branches := gitserver.Git(t, r.at, "branch", "--list", "deployment/*"); strings.TrimSpace(branches) != "" {
		t.Errorf("it left the branches %s", branches)
	}
}
