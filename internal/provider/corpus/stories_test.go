package corpus_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/protocol"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// story is a kind of story: its beginning, its changes, and its number of steps.
type story struct {
	name  string
	steps int
	begin func(w *world)
	edits []edit
	mend  func(w *world) // repairs everything that may prevent an apply
}

// stories lists the kinds of stories. Each seed makes one story of each kind.
func stories(template string) []story {
	onGit := func(yaml []string, begin func(w *world)) func(w *world) { return renderingOnGit(template, yaml, begin) }
	return []story{
		{"push", 7, onGit(allKinds, func(*world) {}), slices.Concat(fleetEdits, fleetEdits, settingsEdits, branchEdits),
			(*world).mend},
		{"state", 7, onGit(allKinds, func(*world) {}),
			slices.Concat(fleetEdits, branchEdits, stateEdits, stateEdits, stateEdits), (*world).mend},
		{"teams", 7, onGit(allKinds, func(w *world) { w.args["on_assignment_error"] = "keep" }),
			slices.Concat(fleetEdits, teamEdits, teamEdits, teamEdits, settingsEdits[:5], branchEdits[:3]), (*world).mend},
		{"rollout", 9, onGit(allKinds, func(w *world) {
			w.addClusterType("2")
			w.args["rollout"], w.config, w.reports, w.verdict = w.stages(), w.observe, true, "current"
		}), slices.Concat(fleetEdits[:8], rolloutEdits, rolloutEdits, teamEdits, branchEdits[:4]), (*world).mend},
		{"placement", 7, onGit([]string{"configs", "templates", "workloads"}, func(w *world) {
			w.addClusterType("2")
			placementEdits[0].make(w)
		}), slices.Concat(fleetEdits, placementEdits, placementEdits, placementEdits, branchEdits[:3], stateEdits[2:3]),
			(*world).mend},
		{"unknown", 7, onGit(plainKinds, func(*world) {}),
			slices.Concat(fleetEdits, unknownEdits, unknownEdits, placementEdits[:1], branchEdits[:4]), (*world).mend},
		{"none", 4, onGit(allKinds, func(w *world) { w.setting("delivery")["strategy"] = "none" }),
			slices.Concat(fleetEdits, teamEdits, settingsEdits), (*world).mend},
		{"pull request", 9, onGitHub(template),
			slices.Concat(fleetEdits[:8], pullRequestEdits, pullRequestEdits, reviewEdits, reviewEdits, moveEdits,
				stateEdits[:3]),
			(*world).mend},
		{"pull request and more", 9, onGitHub(template),
			slices.Concat(fleetEdits[:8], fleetEdits[len(fleetEdits)-2:], settingsEdits[:8], reviewEdits, branchEdits,
				stateEdits[:4],
				stateEdits[5:]), (*world).mend},
		{"BaseRepo", 7, baseRepo(template), slices.Concat(baseRepoEdits, baseRepoEdits), (*world).mendBaseRepo},
		{"BaseRepo by pull request", 9, baseRepoOnGitHub(template),
			slices.Concat(baseRepoEdits, baseRepoEdits, pullRequestEdits, reviewEdits), (*world).mendBaseRepo},
		{"promotion", 8, promotion(template),
			slices.Concat(promotionEdits, promotionEdits, branchEdits[:4], fleetEdits[1:2]), (*world).mend},
		{"commit status", 6, commitStatus(template), commitStatusEdits, func(w *world) { w.args["state"] = "success" }},
	}
}

// renderingOnGit begins a rendering by push.
func renderingOnGit(template string, yaml []string, begin func(w *world)) func(w *world) {
	return func(w *world) {
		w.yaml = yaml
		w.onGit(template)
		w.rendering()
		begin(w)
	}
}

// onGitHub begins a rendering by pull request.
func onGitHub(template string) func(w *world) {
	return func(w *world) {
		w.onGitHub(template, "gitops")
		w.on.AddTeam("platform")
		w.yaml = allKinds
		w.rendering()
		w.setting("delivery")["strategy"] = "pull_request"
		w.args["adopt"] = w.chance(20)
		if w.chance(30) {
			w.on.Protect(w.t, "dev", "live")
		}
	}
}

const baseRepoFile = `# Which commit this environment runs.
apiVersion: scheduler.kalypso.io/v1alpha1
kind: BaseRepo
metadata:
  name: main
spec:
  branch: main
  commit: '%s'   # the workflow writes this
  path: .
  repo: https://git.acme.io/control-plane
`

func baseRepo(template string) func(w *world) {
	return func(w *world) {
		w.onGit(template)
		w.baseRepo()
	}
}

func baseRepoOnGitHub(template string) func(w *world) {
	return func(w *world) {
		w.onGitHub(template, "control-plane")
		w.on.AddTeam("platform")
		w.baseRepo()
		w.setting("delivery")["strategy"] = "pull_request"
	}
}

func (w *world) baseRepo() {
	w.resource.Type = "kalypso_base_repo"
	w.args = args{"repo": w.url, "branch": "dev", "promotion": w.promotes()}
	if w.chance(80) {
		w.push("dev", "base-repo.yaml", fmt.Sprintf(baseRepoFile, hash("first")))
	}
}

func (w *world) mendBaseRepo() {
	w.args["on_drift"], w.args["branch"], w.args["promotion"] = "overwrite", "dev", w.promotes()
	if w.chance(50) {
		w.push("dev", "base-repo.yaml", fmt.Sprintf(baseRepoFile, hash("first")))
	}
}

func (w *world) promotes() args {
	return args{"commit": hash(w.name("commit")), "decision": "promote", "summary": w.name("Gate ") + " holds.",
		"control_plane": args{"repo": "https://git.acme.io/control-plane", "branch": "main"}}
}

var baseRepoEdits = []edit{
	{"nothing", 1, func(*world) {}},
	{"promote", 6, func(w *world) { w.args["promotion"] = w.promotes() }},
	{"promote nothing newer", 2, func(w *world) {
		p := w.promotes()
		p["decision"] = pick(w, "hold", "up_to_date")
		w.args["promotion"] = p
	}},
	{"another control plane", 1, func(w *world) {
		p := w.promotes()
		p["control_plane"] = args{"repo": "https://git.acme.io/another", "branch": "main"}
		w.args["promotion"] = p
	}},
	{"people pin another commit", 3, func(w *world) {
		w.push("dev", "base-repo.yaml", fmt.Sprintf(baseRepoFile, hash(w.name("theirs"))))
	}},
	{"people change another line", 2, func(w *world) {
		w.push("dev", "base-repo.yaml", "# "+w.name("line ")+"\n"+fmt.Sprintf(baseRepoFile, hash("first")))
	}},
	{"people remove the file", 1, func(w *world) { w.push("dev", "base-repo.yaml", "") }},
	{"people break the file", 1, func(w *world) { w.push("dev", "base-repo.yaml", "kind: [") }},
	{"people change another file", 1, func(w *world) { w.push("dev", "apps/a.yaml", w.name("a: ")+"\n") }},
	{"on_drift", 2, func(w *world) { w.args["on_drift"] = pick(w, "fail", "overwrite") }},
	{"branch", 1, func(w *world) { w.args["branch"] = pick(w, "dev", "dev", "live", "absent") }},
	{"commit message", 1, func(w *world) { w.args["commit_message"] = pick[any](w, nil, w.name("Message ")) }},
	{"promotion not known", 1, func(w *world) { w.args["promotion"] = w.promotes(); w.hide("promotion") }},
	{"commit not known", 1, func(w *world) { w.args["promotion"] = w.promotes(); w.hide("promotion.commit") }},
	{"the state is lost", 1, func(w *world) { w.resource = protocol.Resource{Type: w.resource.Type} }},
	{"the private state is lost", 1, func(w *world) { w.resource.Private = nil }},
	{"the resource is destroyed", 1, func(w *world) {
		s := w.session()
		plan, ds := s.Plan(w.t.Context(), &w.resource, nil)
		w.note("plan of a destroy", ds)
		if plan != nil && w.resource.Exists() {
			w.apply(w.t.Context(), plan)
		}
	}},
}

// promotion begins a rendering whose commit kalypso_promotion chooses from a control plane on the fake GitHub.
func promotion(template string) func(w *world) {
	return func(w *world) {
		w.onGitHub(template, "both")
		w.yaml = allKinds
		w.rendering()
		w.commit()
		w.rules = args{"after": args{"stage": args{}}}
		w.config = w.promote
	}
}

// commit adds a commit to the control plane.
func (w *world) commit() {
	w.commits = append(w.commits, gitserver.Seed(w.t, w.repo, "main", map[string]string{"a.yaml": w.name("a: ")}))
}

// promote reads the promotion, and gives it to the rendering.
func (w *world) promote(s *protocol.Session) {
	w.t.Helper()
	given := args{"environment": "dev", "control_plane": args{"repo": w.url, "branch": "main"},
		"gitops_repo": args{"repo": w.url, "branch": "dev"}}
	for name, rule := range w.rules {
		given[name] = rule
	}
	read, ds := s.ReadData(w.t.Context(), "kalypso_promotion", given)
	w.note("promotion", ds)
	if ds.HasErrors() {
		return
	}
	w.trace.state("promotion", read)
	var all map[string]tftypes.Value
	if err := read.As(&all); err != nil {
		w.t.Fatal(err)
	}
	w.args["promotion"] = nil
	if !all["commit"].IsNull() {
		w.args["promotion"] = read
	}
}

var promotionEdits = []edit{
	{"a commit", 5, (*world).commit},
	{"a commit runs in stage", 6, func(w *world) {
		w.on.SetStatusAs("acme-ci[bot]", pick(w, w.commits...), "stage environment", "success", "")
	}},
	{"a commit fails in stage", 2, func(w *world) {
		w.on.SetStatusAs("acme-ci[bot]", pick(w, w.commits...), "stage environment", "failure", "broken")
	}},
	{"a commit is deployed to stage", 1, func(w *world) {
		w.on.SetStatusAs("octocat", pick(w, w.commits...), "stage environment", "pending", "Deployed")
	}},
	{"hold", 1, func(w *world) { w.rules["hold"] = pick[any](w, nil, nil, "A freeze") }},
	{"pinned commit", 1, func(w *world) { w.rules["pinned_commit"] = pick[any](w, nil, nil, w.commits[0]) }},
	{"approved", 1, func(w *world) { w.rules["approved"] = []any{pick(w, w.commits...)} }},
	{"rejected", 1, func(w *world) {
		w.rules["rejected"] = pick[any](w, nil, args{pick(w, w.commits...): nil})
	}},
	{"soak", 1, func(w *world) { w.rules["after"] = args{"stage": args{"soak": pick[any](w, nil, "30m")}} }},
	{"by", 1, func(w *world) { w.rules["after"] = args{"stage": args{"by": pick[any](w, nil, "acme-ci[bot]")}} }},
	{"dwell", 1, func(w *world) { w.rules["dwell"] = pick[any](w, nil, "1h") }},
	{"no gate", 1, func(w *world) { delete(w.rules, "after") }},
	{"time goes by", 2, func(w *world) { w.now = w.now.Add(time.Hour) }},
}

func commitStatus(template string) func(w *world) {
	return func(w *world) {
		w.onGitHub(template, "status")
		w.resource.Type = "kalypso_commit_status"
		w.commit()
		w.args = args{"repo": w.url, "commit": w.commits[0], "context": "kalypso/dev", "state": "pending"}
	}
}

var commitStatusEdits = []edit{
	{"nothing", 1, func(*world) {}},
	{"state", 3, func(w *world) {
		w.args["commit"], w.args["deployment"] = pick(w, w.commits...), nil
		w.args["state"] = pick(w, "pending", "success", "failure", "error")
	}},
	{"description", 2, func(w *world) {
		w.args["description"] = pick[any](w, nil, w.name("text "), strings.Repeat("ä", 140))
	}},
	{"target URL", 1, func(w *world) { w.args["target_url"] = pick[any](w, nil, "https://ci.acme.io/"+w.name("run-")) }},
	{"context", 1, func(w *world) { w.args["context"] = pick(w, "kalypso/dev", "kalypso/DEV", "other") }},
	{"a commit", 1, func(w *world) { w.commit(); w.args["commit"] = w.commits[len(w.commits)-1] }},
	{"a deployment", 3, func(w *world) {
		w.args["commit"], w.args["state"], w.args["description"] = nil, nil, nil
		last := w.commits[len(w.commits)-1]
		w.args["deployment"] = args{
			"promoted_commit": pick[any](w, nil, w.commits[0], w.commits[0], last),
			"verdict":         pick(w, "success", "pending", "failure"),
			"summary":         pick(w, w.name("All good "), strings.Repeat("long words ", 20)+w.name("x")),
		}
	}},
	{"renew_after", 1, func(w *world) { w.args["renew_after"] = pick[any](w, nil, "30m", "2h") }},
	{"time goes by", 2, func(w *world) { w.now = w.now.Add(time.Hour) }},
	{"others set the status", 2, func(w *world) {
		w.on.SetStatus("", pick(w, w.commits...), "kalypso/dev", pick(w, "success", "failure"))
	}},
	{"commit not known", 1, func(w *world) {
		if w.args["commit"] != nil {
			w.hide("commit")
		}
	}},
	{"deployment not known", 1, func(w *world) {
		if w.args["deployment"] != nil {
			w.hide("deployment")
		}
	}},
	{"the state is lost", 1, func(w *world) { w.resource = protocol.Resource{Type: w.resource.Type} }},
	{"wrong state", 1, func(w *world) { w.args["state"] = "good" }},
}
