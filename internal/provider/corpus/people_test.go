package corpus_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/githubfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/protocol"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// branchEdits lists changes that people make to the branch.
var branchEdits = []edit{
	{"people change a file of ours", 4, func(w *world) { w.push(w.branch(), w.ours(), w.name("hotfix ")+"\n") }},
	{"people remove a file of ours", 2, func(w *world) { w.push(w.branch(), w.ours(), "") }},
	{"people add a file to our folder", 2, func(w *world) {
		if file := w.ours(); file != "" {
			w.push(w.branch(), filepath.Join(filepath.Dir(file), "theirs.yaml"), "theirs\n")
		}
	}},
	{"people change a file beside ours", 3, func(w *world) { w.push(w.branch(), "apps/a.yaml", w.name("a: ")+"\n") }},
	{"people change the promoted commit", 1, func(w *world) {
		w.push(w.branch(), ".github/tracking/Promoted_Commit_Id", hash(w.name("theirs"))+"\n")
	}},
	{"people remove our record", 1, func(w *world) { w.push(w.branch(), w.record(), "") }},
	{"people break our record", 1, func(w *world) { w.push(w.branch(), w.record(), "{") }},
	{"a newer provider writes our record", 1, func(w *world) { w.push(w.branch(), w.record(), `{"version": 99}`) }},
	{"the record names another environment", 1, func(w *world) {
		if head := w.head(w.destination()); head != "" {
			record := gitserver.TryGit(w.repo, "show", head+":"+filepath.Clean(w.record()))
			w.push(w.branch(), w.record(), strings.Replace(record, `"environment": "dev"`, `"environment": "qa"`, 1))
		}
	}},
	{"people make a folder of a cluster type", 1, func(w *world) {
		w.push(w.branch(), filepath.Join(w.at(), w.anyKey(w.types()), "README.md"), pick(w, "theirs\n", operatorReadme))
	}},
	{"people reset the branch", 1, (*world).resetBranch},
	{"people delete the branch", 1, func(w *world) { w.deleteBranch(w.branch()) }},
	{"people make the branch again", 1, func(w *world) {
		if w.head(w.destination()) == "" {
			w.runGit("update-ref", "refs/heads/"+w.branch(), "refs/heads/live")
		}
	}},
}

// resetBranch resets the branch of the destination to the commit before its head.
func (w *world) resetBranch() {
	head := w.head(w.destination())
	if head == "" {
		return
	}
	parent := strings.TrimSpace(gitserver.TryGit(w.repo, "rev-parse", "--verify", "--quiet", head+"^1"))
	if parent != "" {
		w.runGit("update-ref", "refs/heads/"+w.branch(), parent)
	}
}

// operatorReadme is the README that Kalypso's operator writes into the folder of a cluster type.
const operatorReadme = "# c1\n\nThis folder contains the assignments for the cluster type c1.\n"

// stateEdits lists accidents of Terraform's state.
var stateEdits = []edit{
	{"a kill", 1, func(w *world) { w.killed = true }},
	{"the state is lost", 1, func(w *world) { w.resource = protocol.Resource{Type: w.resource.Type} }},
	{"the private state is of another version", 2, func(w *world) {
		if w.resource.Exists() {
			w.resource.Private = []byte(`{"delivery":"eyJ2ZXJzaW9uIjoxfQ=="}`) // {"version":1}
		}
	}},
	{"the private state is lost", 1, func(w *world) { w.resource.Private = nil }},
	{"the private state is damaged", 1, func(w *world) {
		if w.resource.Exists() {
			w.resource.Private = []byte(`{"delivery":"e30="}`)
		}
	}},
	{"the rendering is imported", 2, (*world).importRendering},
	{"the resource is destroyed", 1, (*world).destroy},
}

func (w *world) importRendering() {
	w.t.Helper()
	environment, _ := w.args["environment"].(string)
	path, _ := w.destination()["path"].(string)
	if path == "" {
		path = "."
	}
	repo, _ := w.destination()["repo"].(string)
	id := environment + "@" + repo + "//" + path + "?ref=" + w.branch()
	imported, ds := w.session().Import(w.t.Context(), w.resource.Type, id)
	w.note("import", ds)
	if imported != nil && !ds.HasErrors() {
		w.resource = *imported
		w.trace.state("state", w.resource.State)
	}
}

// destroy plans and applies a destroy. The next steps create the resource again.
func (w *world) destroy() {
	w.t.Helper()
	ctx := w.t.Context()
	if w.chance(80) {
		w.args["deletion_protection"] = false
		w.step()
	}
	s := w.session()
	w.note("refresh", s.Refresh(ctx, &w.resource))
	if !w.resource.Exists() {
		return
	}
	plan, ds := s.Plan(ctx, &w.resource, nil)
	w.note("plan of a destroy", ds)
	if plan != nil {
		w.apply(ctx, plan)
	}
}

// branch returns the branch of the destination.
func (w *world) branch() string {
	branch, _ := w.destination()["branch"].(string)
	return branch
}

// at returns the path of the destination.
func (w *world) at() string {
	path, _ := w.destination()["path"].(string)
	return path
}

func (w *world) record() string { return filepath.Join(w.at(), ".kalypso/rendering.json") }

// ours returns a file of the rendering on the branch, or "" if the branch has no such file.
func (w *world) ours() string { return w.oursOn(w.branch()) }

func (w *world) oursOn(branch string) string {
	head := gitserver.Branch(w.repo, branch)
	if head == "" {
		return ""
	}
	files := slices.DeleteFunc(strings.Fields(w.runGit("ls-tree", "-r", "--name-only", head)), func(f string) bool {
		return !strings.HasPrefix(filepath.Base(filepath.Dir(f)), "w") // the folder of a deployment target
	})
	if len(files) == 0 {
		return ""
	}
	return pick(w, files...)
}

// push adds a foreign commit to a branch, if the branch exists. Empty content removes the file.
func (w *world) push(branch, path, content string) {
	w.t.Helper()
	if path == "" || gitserver.Branch(w.repo, branch) == "" {
		return
	}
	file := gitserver.File{Mode: "100644", Content: content}
	if content == "" {
		file.Mode = ""
	}
	gitserver.SeedFiles(w.t, w.repo, branch, "Change by hand", map[string]gitserver.File{filepath.Clean(path): file})
}

// runGit runs git in the repo.
func (w *world) runGit(arguments ...string) string {
	w.t.Helper()
	return strings.TrimSpace(gitserver.Git(w.t, w.repo, arguments...))
}

// deleteBranch deletes a branch of the repo, if the branch exists. In these repos, each branch is a file.
func (w *world) deleteBranch(name string) {
	_ = os.Remove(filepath.Join(w.repo, "refs", "heads", filepath.FromSlash(name)))
}

// onGitHub gives the world a repo on the fake GitHub.
func (w *world) onGitHub(template, name string) {
	w.on = w.fake.AddRepo(w.t, fmt.Sprintf("acme/%s-%d", name, w.seed))
	w.repo, w.url = w.on.Path, w.on.URL
	for _, part := range []string{"refs", "objects"} {
		if err := os.RemoveAll(filepath.Join(w.repo, part)); err != nil {
			w.t.Fatal(err)
		}
		copyRepo(w.t, filepath.Join(template, part), filepath.Join(w.repo, part))
	}
	w.trace.replace(w.fake.URL, "https://github.test", strings.TrimPrefix(w.fake.URL, "http://"), "github.test")
}

// pull returns the newest pull request, if it is in one of the states.
func (w *world) pull(states ...string) (hostfake.PullRequest, bool) {
	all := w.on.PullRequests()
	if len(all) == 0 || !slices.Contains(states, all[len(all)-1].State) {
		return hostfake.PullRequest{}, false
	}
	return all[len(all)-1], true
}

// withPull returns an edit that changes the newest pull request, if it is open.
func withPull(change func(w *world, p hostfake.PullRequest)) func(*world) {
	return func(w *world) {
		if p, open := w.pull("open"); open {
			change(w, p)
		}
	}
}

// reviewEdits lists changes that people make to pull requests.
var reviewEdits = []edit{
	{"people merge", 8, withPull(func(w *world, p hostfake.PullRequest) { w.merge(p, "merge") })},
	{"people squash", 4, withPull(func(w *world, p hostfake.PullRequest) { w.merge(p, "squash") })},
	{"people rebase", 2, withPull(func(w *world, p hostfake.PullRequest) { w.merge(p, "rebase") })},
	{"people close", 5, withPull(func(w *world, p hostfake.PullRequest) { w.on.Close(w.t, p.Number) })},
	{"people reopen", 1, func(w *world) {
		if p, closed := w.pull("closed"); closed && gitserver.Branch(w.repo, p.Head) == p.HeadCommit {
			w.on.Reopen(w.t, p.Number)
		}
	}},
	{"people edit the text", 2, withPull(func(w *world, p hostfake.PullRequest) {
		w.on.Edit(w.t, p.Number, p.Title, p.Body+"\nSee also "+w.name("ticket ")+".")
	})},
	{"people remove the marker", 1, withPull(func(w *world, p hostfake.PullRequest) {
		w.on.Edit(w.t, p.Number, p.Title, "A change.")
	})},
	{"people approve", 1, withPull(func(w *world, p hostfake.PullRequest) {
		w.on.Review(w.t, p.Number, "octocat", "platform")
	})},
	{"people request a merge", 1, withPull(func(w *world, p hostfake.PullRequest) {
		w.on.Require(p.Base, "ci")
		w.on.AutoMerge(w.t, p.Number, "octocat", "squash")
	})},
	{"checks pass", 2, withPull(func(w *world, p hostfake.PullRequest) {
		w.on.SetStatus("", p.HeadCommit, "ci", "success")
	})},
	{"checks are required", 1, func(w *world) { w.on.Require("dev", "ci") }},
	{"checks are not required", 1, func(w *world) { w.on.Require("dev") }},
	{"people retarget", 1, withPull(func(w *world, p hostfake.PullRequest) { w.on.Retarget(w.t, p.Number, "live") })},
	{"people push to our branch", 2, withPull(func(w *world, p hostfake.PullRequest) {
		w.push(p.Head, w.oursOn(p.Head), w.name("review ")+"\n")
	})},
	{"people push beside ours to our branch", 1, withPull(func(w *world, p hostfake.PullRequest) {
		w.push(p.Head, "apps/theirs.yaml", w.name("b: ")+"\n")
	})},
	{"people update our branch", 1, withPull(func(w *world, p hostfake.PullRequest) { w.updateBranch(p) })},
	{"people delete our branch", 2, withPull(func(w *world, p hostfake.PullRequest) { w.deleteBranch(p.Head) })},
	{"people open one from our branch", 1, func(w *world) {
		if p, ended := w.pull("closed", "merged"); ended {
			if head := gitserver.Branch(w.repo, p.Head); head != "" && head != gitserver.Branch(w.repo, "live") {
				w.push(p.Head, "apps/eve.yaml", w.name("e: ")+"\n")
				w.on.Open(w.t, "eve", p.Head, "dev", "Theirs", "Something else")
			}
		}
	}},
	{"people change the promoted commit on the target", 1, func(w *world) {
		w.push("dev", ".github/tracking/Promoted_Commit_Id", hash(w.name("theirs"))+"\n")
	}},
	{"a kill", 1, func(w *world) { w.killed = true }},
	{
		"GitHub takes no pull request",
		2,
		func(w *world) { w.fake.Fail("POST", "/pulls", 1, githubfake.Forbidden("Nope")) },
	},
	{"GitHub's answer is lost", 1, func(w *world) { w.fake.Fail("POST", "/pulls", 1, hostfake.AnswerLost()) }},
	{"GitHub takes no edit", 1, func(w *world) { w.fake.Fail("PATCH", "/pulls/", 1, githubfake.Forbidden("Nope")) }},
	{"GitHub takes no labels", 1, func(w *world) { w.fake.Fail("POST", "/labels", 1, githubfake.Forbidden("Nope")) }},
	{"people are faster", 2, func(w *world) {
		w.between = func() { withPull(func(w *world, p hostfake.PullRequest) { w.merge(p, "merge") })(w) }
	}},
	{"people close meanwhile", 1, func(w *world) {
		w.between = func() { withPull(func(w *world, p hostfake.PullRequest) { w.on.Close(w.t, p.Number) })(w) }
	}},
}

// merge merges a pull request, if Git can.
func (w *world) merge(p hostfake.PullRequest, method string) {
	if p.Draft || method == "rebase" && !w.rebases(p) || !w.merges(p) {
		w.did("it can't be merged")
		return
	}
	w.on.Merge(w.t, p.Number, method)
}

// merges reports whether head and base merge without a conflict.
func (w *world) merges(p hostfake.PullRequest) bool {
	out := gitserver.TryGit(w.repo, "merge-tree", "--write-tree", "refs/heads/"+p.Base, p.HeadCommit)
	return out != ""
}

// rebases reports whether the head has no merge commit and is one commit ahead, so that a rebase conflicts only if a
// merge does.
func (w *world) rebases(p hostfake.PullRequest) bool {
	return w.runGit("rev-list", "--count", "refs/heads/"+p.Base+".."+p.HeadCommit) == "1"
}

// updateBranch merges the target into our branch, as GitHub's button does.
func (w *world) updateBranch(p hostfake.PullRequest) {
	out := gitserver.TryGit(w.repo, "merge-tree", "--write-tree", p.HeadCommit, "refs/heads/"+p.Base)
	tree, _, _ := strings.Cut(out, "\n")
	if tree == "" {
		return
	}
	commit := w.runGit("commit-tree", tree, "-m", "Merge branch '"+p.Base+"'", "-p", p.HeadCommit,
		"-p", "refs/heads/"+p.Base)
	w.runGit("update-ref", "refs/heads/"+p.Head, commit)
}

// pullRequestEdits lists changes of the settings of pull requests.
var pullRequestEdits = []edit{
	{"labels", 2, func(w *world) {
		w.setting("delivery")["labels"] = pick[any](w, nil, []any{"platform"}, []any{"a", "b"})
	}},
	{"reviewers", 2, func(w *world) {
		w.setting("delivery")["reviewers"] = pick[any](w, nil, []any{"octocat"}, []any{"octocat", "acme/platform"})
	}},
	{"draft", 1, func(w *world) { w.setting("delivery")["draft"] = w.chance(40) }},
	{"auto_merge", 1, func(w *world) { w.setting("delivery")["auto_merge"] = pick[any](w, nil, "squash", "merge") }},
	{"reopen", 2, func(w *world) { w.setting("delivery")["reopen"] = w.chance(60) }},
	{"branch_prefix", 1, func(w *world) { w.setting("delivery")["branch_prefix"] = pick[any](w, nil, "bot/") }},
	{"commit message", 1, func(w *world) { w.args["commit_message"] = pick[any](w, nil, w.name("Message ")) }},
	{"push, not a pull request", 1, func(w *world) { w.setting("delivery")["strategy"] = "push" }},
	{"a pull request", 3, func(w *world) { w.setting("delivery")["strategy"] = "pull_request" }},
}

// moveEdits lists moves to the other branch. A rendering with an open pull request can only move once the pull request
// is merged.
var moveEdits = []edit{
	{"people merge, and the rendering moves", 10, func(w *world) {
		if p, open := w.pull("open"); open {
			w.merge(p, "merge")
		}
		other := map[string]string{"dev": "live", "live": "dev"}
		if to := other[w.branch()]; to != "" {
			w.destination()["branch"] = to
		}
	}},
}
