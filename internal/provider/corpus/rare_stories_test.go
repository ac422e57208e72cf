package corpus_test

import (
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// rareStories lists kinds of stories for situations that are rare in the other kinds: moves that succeed, waves of
// another promoted commit, pull requests that people close and an apply reopens, and reverts. They have a shard of
// their own, so that the recordings of the other shards do not change.
func rareStories(template string) []story {
	reopened := func(w *world) {
		onGitHub(template)(w)
		w.setting("delivery")["reopen"] = true
	}
	return []story{
		{"moves", 7, renderingOnGit(template, allKinds, func(*world) {}), slices.Concat(fleetEdits[:4], pathEdits),
			(*world).mend},
		{"waves of a commit", 7, renderingOnGit(template, allKinds, func(w *world) {
			w.addClusterType("2")
			w.args["rollout"], w.config, w.reports, w.verdict = w.stages(), w.observe, true, "current"
			w.promoteCommit()
		}), commitEdits, (*world).mend},
		{"closed pull requests", 7, reopened, slices.Concat(fleetEdits[:2], closingEdits), (*world).mend},
		{"reverts", 7, renderingOnGit(template, allKinds, func(*world) {}), revertEdits, (*world).takeValue},
	}
}

var pathEdits = []edit{
	{"path", 8, func(w *world) { w.destination()["path"] = pick(w, ".", "clusters", "envs/dev") }},
	{"branch", 3, func(w *world) { w.destination()["branch"] = pick(w, "dev", "live") }},
	{"on_move", 1, func(w *world) { w.args["on_move"] = pick(w, "keep", "remove") }},
	{"people change a file beside ours", 2, func(w *world) { w.push(w.branch(), "apps/a.yaml", w.name("a: ")+"\n") }},
}

// promoteCommit promotes another commit, which changes all cluster types.
func (w *world) promoteCommit() {
	w.args["promoted_commit"] = hash(w.name("commit"))
	w.configs()["all"] = config("all", nil, args{"value": w.name("v")})
}

var commitEdits = []edit{
	{"another commit", 3, (*world).promoteCommit},
	{"the same commit", 5, func(*world) {}},
	{"time goes by", 3, func(w *world) { w.now = w.now.Add(soakTime) }},
	{"clusters fail", 1, func(w *world) { w.reports, w.verdict = true, "failed" }},
	{"clusters work", 2, func(w *world) { w.verdict = "current" }},
}

var closingEdits = []edit{
	{"people close", 8, withPull(func(w *world, p hostfake.PullRequest) { w.on.Close(w.t, p.Number) })},
	{"people merge", 2, withPull(func(w *world, p hostfake.PullRequest) { w.merge(p, "merge") })},
	{"reopen", 2, func(w *world) { w.setting("delivery")["reopen"] = w.chance(70) }},
}

// takeValue sets one of two values, so that the fleet renders the tree of an earlier step again.
func (w *world) takeValue() {
	w.configs()["all"] = config("all", nil, args{"value": pick(w, "1", "2")})
}

var revertEdits = []edit{
	{"value", 6, (*world).takeValue},
	{"nothing", 1, func(*world) {}},
	{"people take back a delivery", 4, func(w *world) {
		if gitserver.TryGit(w.repo, "show", "refs/heads/"+w.branch()+"^1:"+w.record()) != "" { // not the first delivery
			w.resetBranch()
		}
	}},
}
