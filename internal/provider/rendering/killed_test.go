package rendering_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/githubfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/protocol"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/seeds"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// killedRun is a rendering whose applies are killed. It renders the commit of a promotion, keeps the targets that fail
// to render, and runs through Terraform's protocol.
type killedRun struct {
	*acc.ProtocolRun
	*rand.Rand
	fake    *githubfake.Server
	on      *githubfake.Repo // with the branches main of the control plane and dev of the rendering
	given   map[string]any
	rules   map[string]any // of the promotion
	commits []string       // of the control plane, oldest first
	broken  map[string]bool
	types   []string // the cluster types
	pulls   bool     // the rendering is delivered by pull requests
	waves   bool     // the rendering is delivered in waves
	own     int      // a value of the environment
	points  int      // the number of points at which an apply is killed, see kill
	// team has the workloads a, b and c, and gets feedback about them. Nil: no repo has them, and no team gets feedback.
	team *githubfake.Repo
	*publishing
	*recordedRuns
	kills int      // the number of applies that were killed
	log   []string // what happened
}

// workloads are those that can fail to render.
var workloads = []string{"a", "b", "c"}

// stageContext is the context of the status that opens the gate of a commit.
const stageContext = "stage environment"

func newKilledRun(t *testing.T, seed uint64) *killedRun {
	t.Helper()
	fake := githubfake.New(t)
	r := &killedRun{
		ProtocolRun: acc.NewRenderingRun(t), Rand: rand.New(rand.NewPCG(seed, 3)), fake: fake,
		on: fake.AddRepo(t, "acme/gitops"), rules: map[string]any{"after": map[string]any{"stage": map[string]any{}}},
		broken: map[string]bool{}, types: []string{"large", "small"}, points: 3,
	}
	gitserver.Seed(t, r.on.Path, "dev", map[string]string{"README.md": "GitOps\n"})
	r.Config = map[string]any{"github": map[string]any{"base_url": fake.URL, "token": fake.Token}}
	r.commit("success")
	r.given = fleetArguments("", "1")
	for _, name := range []string{"workloads", "manifests", "cluster_types"} {
		delete(r.given, name)
	}
	maps.Copy(r.given, map[string]any{
		"gitops_repo": map[string]any{"repo": r.on.URL, "branch": "dev"}, "create_branch": false, "on_drift": "fail",
		"preview": "assignments", "delivery": map[string]any{"strategy": "push"}, "on_assignment_error": "keep",
		"guardrails": map[string]any{"max_kept": "100%", "max_removed": "100%", "allow_empty": true, "emptied": "ignore"},
		"templates": map[string]any{
			"r": map[string]any{"name": "r", "type": "reconciler", "manifests": []any{
				"# r: {{ .Namespace }} {{ with .Manifests.breaks }}{{ $.Manifests.none }}{{ end }}\n"}},
			"n": map[string]any{"name": "n", "type": "namespace", "manifests": []any{"# n: {{ .Namespace }}\n"}},
			"c": map[string]any{"name": "c", "type": "config", "manifests": []any{
				"# v: {{ .ConfigData.v }}, own: {{ .ConfigData.own }}\n"}},
		},
	})
	return r
}

// byPullRequest lets the run deliver by pull requests.
func (r *killedRun) byPullRequest() {
	r.pulls = true
	r.given["delivery"] = map[string]any{"strategy": "pull_request", "reopen": true}
}

// inWaves lets the run deliver one cluster type after the other.
func (r *killedRun) inWaves() {
	r.waves = true
	r.given["rollout"] = map[string]any{"stages": []any{map[string]any{
		"name": "all", "cluster_type_selector": map[string]any{"match_all": true}, "max_concurrency": "1",
	}}}
}

func (r *killedRun) did(format string, a ...any) { r.log = append(r.log, fmt.Sprintf(format, a...)) }

// commit adds a commit to the control plane, with a status of the stage.
func (r *killedRun) commit(state string) {
	r.commits = append(r.commits, gitserver.Seed(r.T, r.on.Path, "main",
		map[string]string{"a.yaml": fmt.Sprintf("v: %d\n", len(r.commits)+1)}))
	r.status(r.commits[len(r.commits)-1], state)
}

// status sets the status of the stage on a commit: success opens its gate, and failure closes it.
func (r *killedRun) status(commit, state string) {
	r.on.SetStatusAs("acme-ci[bot]", commit, stageContext, state, "")
	r.did("stage reports %s for commit %d", state, slices.Index(r.commits, commit)+1)
}

// arguments returns the arguments of the rendering, with the fleet at the promoted commit.
func (r *killedRun) arguments(s *protocol.Session) map[string]any {
	r.T.Helper()
	rules := map[string]any{"environment": "dev", "control_plane": map[string]any{"repo": r.on.URL, "branch": "main"},
		"gitops_repo": map[string]any{"repo": r.on.URL, "branch": "dev"}}
	maps.Copy(rules, r.rules)
	read, ds := s.ReadData(r.T.Context(), "kalypso_promotion", rules)
	if ds.HasErrors() {
		r.fatalf("promotion: %s", ds)
	}
	var attributes map[string]tftypes.Value
	var commit string
	if err := read.As(&attributes); err != nil {
		r.T.Fatal(err)
	}
	if !attributes["commit"].IsNull() {
		if err := attributes["commit"].As(&commit); err != nil {
			r.T.Fatal(err)
		}
	}
	at := slices.Index(r.commits, commit) + 1
	r.did("the promotion decides on commit %d", at)
	all, types, manifests := maps.Clone(r.given), map[string]any{}, map[string]any{}
	for _, name := range r.types {
		types[name] = map[string]any{"name": name, "reconciler": "r", "namespace_service": "n", "config_type": "c"}
	}
	manifests[fmt.Sprintf("%s@main:a.yaml", r.on.URL)] = acc.KalypsoYAML("Workload", "plain",
		"{deploymentTargets: [{name: perf, environment: dev}]}")
	manifests["config.yaml"] = fmt.Sprintf("kind: ConfigMap\napiVersion: v1\nmetadata: {name: a, labels: "+
		"{platform-config: \"true\"}}\ndata: {v: \"'%d'\", own: \"'%d'\"}\n", at, r.own)
	files, prefix, sources := map[string]string{}, "", map[string]any{}
	for _, name := range workloads {
		breaks := ""
		if r.broken[name] {
			breaks = "breaks: data"
		}
		files[name+".yaml"] = acc.KalypsoYAML("Workload", name,
			"{deploymentTargets: [{name: perf, environment: dev, manifests: {"+breaks+"}}]}")
	}
	if r.team != nil {
		prefix = r.team.URL + "@main:"
		sources[prefix+"."] = r.push(files)
	}
	for name, text := range files {
		manifests[prefix+name] = text
	}
	all["promotion"], all["cluster_types"], all["manifests"] = read, types, manifests
	if at > 0 {
		sources[r.on.URL+"@main:."] = commit
	}
	if len(sources) > 0 {
		all["sources"] = sources
	}
	r.observe(s, all)
	return all
}

// observe lets all clusters report that they run the head of the branch.
func (r *killedRun) observe(s *protocol.Session, all map[string]any) {
	if !r.waves {
		return
	}
	rollout := maps.Clone(acc.As[map[string]any](all["rollout"]))
	rollout["observed"] = r.deployment(s, false)
	all["rollout"] = rollout
}

// deployment returns the state of the clusters. All report that they run the head of the branch.
func (r *killedRun) deployment(s *protocol.Session, versions bool) tftypes.Value {
	r.T.Helper()
	head := gitserver.Rev(r.T, r.on.Path, "dev")
	var reports []any
	for _, name := range r.types {
		reports = append(reports, map[string]any{
			"cluster": "of-" + name, "folder": name, "revision": "dev@sha1:" + head, "state": "current", "message": "",
			"time": time.Now().UTC().Format(time.RFC3339),
		})
	}
	seen, ds := s.ReadData(r.T.Context(), "kalypso_deployment_state", map[string]any{
		"gitops_repo": r.given["gitops_repo"], "source": map[string]any{"reports": reports}, "versions": versions,
	})
	if ds.HasErrors() {
		r.fatalf("deployment state: %s", ds)
	}
	return seen
}

func (r *killedRun) fatalf(format string, a ...any) {
	r.T.Helper()
	r.T.Fatalf("%s\n- %s", fmt.Sprintf(format, a...), strings.Join(r.log, "\n- "))
}

// run refreshes, plans and applies. It reports whether the plan changes something.
func (r *killedRun) run(ctx context.Context) (changes bool, ds protocol.Diagnostics) {
	r.T.Helper()
	s := r.Start()
	if ds := s.Refresh(r.T.Context(), &r.Resource); ds.HasErrors() {
		return false, ds
	}
	given := r.arguments(s)
	plan, ds := s.Plan(r.T.Context(), &r.Resource, given)
	if plan == nil {
		return false, ds
	}
	var published *protocol.Plan
	if r.publishing != nil {
		published, ds = r.planPublication(commitOf(r.T, plan.Planned))
		if published == nil {
			return false, ds
		}
	}
	if plan.Changes() {
		changes = true
		after, ds := r.Start().Apply(ctx, plan, given)
		if after == nil || ds.HasErrors() {
			return true, ds
		}
		r.Resource = *after
	}
	if published != nil && published.Changes() {
		changes = true
		if ds := r.publish(ctx, published, commitOf(r.T, r.Resource.State)); ds.HasErrors() {
			return true, ds
		}
	}
	if r.recordedRuns != nil && ctx.Err() == nil {
		recorded, ds := r.runRecord(ctx)
		return changes || recorded, ds
	}
	return changes, ds
}

// kill runs an apply, of which Terraform saves nothing: neither its result nor that of the refresh. The provider is
// stopped at a random point: right after a push, at a request to the host, or at the end.
func (r *killedRun) kill() {
	r.T.Helper()
	ctx, cancel := context.WithCancel(r.T.Context())
	defer cancel()
	before, publishing := r.Resource, r.publishing
	if publishing != nil {
		was := *publishing
		defer func() { *publishing = was }()
	}
	if recordedRuns := r.recordedRuns; recordedRuns != nil {
		was := recordedRuns.record
		defer func() { recordedRuns.record = was }()
	}
	point := "at its end"
	switch n := r.IntN(r.points); {
	case n == 0:
		point = "right after its push"
		r.fake.Git.Fail(gitserver.Fault{
			Service: "git-receive-pack", Method: http.MethodPost, Serve: true, BeforeAnswer: cancel,
		})
	case n == 1 && r.pulls, n == 3:
		left := 1 + r.IntN(8)
		point = fmt.Sprintf("before writing request %d to the host", left)
		for _, method := range []string{http.MethodPost, http.MethodPatch, http.MethodPut} {
			r.fake.Before(method, "", func() bool {
				left--
				if left == 0 {
					cancel()
				}
				return left <= 0
			})
		}
	case n == 1:
		r.fake.Git.DropAnswer()
		point = "at its end, after the answer to its push was lost"
	case n == 6:
		point = r.killRecord(cancel)
	case n >= 4:
		point = r.killPublication(1+r.IntN(25), cancel)
	}
	head := gitserver.Rev(r.T, r.on.Path, "dev")
	changes, ds := r.run(ctx)
	r.Resource = before
	r.fake.Git.ClearFaults()
	if publishing != nil {
		publishing.server.Fail(nil)
	}
	now := gitserver.Rev(r.T, r.on.Path, "dev")
	if now != head || (r.pulls || publishing != nil) && changes {
		r.kills++
	}
	r.did("an apply is killed %s (%t): %s", point, changes, errorsOf(ds))
	r.fake.RunBefore("POST", "/")
	r.fake.RunBefore("PATCH", "/")
	r.fake.RunBefore("PUT", "/")
}

// errorsOf returns the errors among diagnostics.
func errorsOf(ds protocol.Diagnostics) string {
	return slices.DeleteFunc(slices.Clone(ds), func(d *tfprotov6.Diagnostic) bool {
		return d.Severity != tfprotov6.DiagnosticSeverityError
	}).String()
}

// merge merges the newest pull request if it is open.
func (r *killedRun) merge() {
	if all := r.on.PullRequests(); len(all) > 0 && all[len(all)-1].State == "open" && !all[len(all)-1].Draft {
		method := []string{"merge", "squash", "rebase"}[r.IntN(3)]
		r.on.Merge(r.T, all[len(all)-1].Number, method)
		r.did("people merge pull request %d (%s)", all[len(all)-1].Number, method)
	}
}

// change changes something that the next apply delivers, unless the promotion is frozen or pinned.
func (r *killedRun) change() {
	switch r.IntN(9) {
	case 0, 1, 2, 3:
		r.commit("success")
	case 4, 5, 6:
		name := workloads[r.IntN(len(workloads))]
		r.broken[name] = !r.broken[name]
		r.did("workload %s is broken: %t", name, r.broken[name])
	case 7:
		r.own++
		r.did("the environment's own value is %d", r.own)
	case 8:
		if len(r.types) == 2 {
			r.types = []string{"drone", "large", "small"}
		} else {
			r.types = []string{"large", "small"}
		}
		r.did("the cluster types are %v", r.types)
	}
}

// event changes what people and gates say, but nothing on the rendering's branch, except that people merge.
func (r *killedRun) event() {
	pick := func() string { return r.commits[r.IntN(len(r.commits))] }
	last := r.commits[len(r.commits)-1]
	switch r.IntN(12) {
	case 0, 1, 2:
		r.status(last, "failure")
	case 3:
		r.status(pick(), []string{"success", "failure"}[r.IntN(2)])
	case 4:
		r.rule("approved", []any{pick()})
	case 5:
		r.rule("approved", []any{last})
	case 6:
		r.rule("pinned_commit", pick())
	case 7, 8:
		r.rule("pinned_commit", nil)
	case 9:
		r.rule("hold", []any{nil, "a freeze"}[r.IntN(2)])
	case 10:
		r.given["on_drift"] = []string{"fail", "overwrite"}[r.IntN(2)]
		r.did("on_drift is %s", r.given["on_drift"])
	default:
		r.change()
	}
	if r.pulls && r.IntN(3) == 0 {
		r.merge()
	}
}

func (r *killedRun) rule(name string, value any) {
	r.rules[name] = value
	if value == nil {
		delete(r.rules, name)
	}
	r.did("%s of the promotion is %v", name, value)
}

// mostApplies limits the applies until the plan is empty: the waves of three cluster types, and one more.
const mostApplies = 6

// settle applies until the plan is empty. Nothing may be refused.
func (r *killedRun) settle() {
	r.T.Helper()
	for range mostApplies {
		changes, ds := r.run(r.T.Context())
		if ds.HasErrors() {
			r.fatalf("a run without foreign commits is refused:\n%s", ds)
		}
		r.did("an apply: %t", changes)
		if !changes {
			return
		}
		if r.pulls {
			r.merge()
		}
	}
	r.fatalf("the plan is not empty after %d applies", mostApplies)
}

// chain makes random events and kills, and reports how many applies were killed. Each round ends with an empty plan.
func (r *killedRun) chain(rounds int) int {
	r.T.Helper()
	r.settle()
	for range rounds {
		for range 1 + r.IntN(2) {
			r.change()
			r.kill()
			for range r.IntN(3) {
				r.event()
			}
		}
		r.settle()
		r.calm()
		if r.publishing != nil {
			r.settle()
			r.expectPublished()
			r.expectFeedback()
		}
		if r.recordedRuns != nil {
			r.expectRecorded()
		}
		if r.IntN(3) == 0 {
			r.expectRefused()
		}
	}
	return r.kills
}

// strangers are people who may push to the branch, and copy our commits' messages: what each changes on the branch.
var strangers = map[string]func(r *killedRun) map[string]string{
	"a file": func(r *killedRun) map[string]string {
		return map[string]string{"large/plain-perf/platform-config.yaml": fmt.Sprintf("hotfix %d\n", r.IntN(1000))}
	},
	"a file beside the targets": func(r *killedRun) map[string]string {
		return map[string]string{"small/theirs.yaml": fmt.Sprintf("theirs %d\n", r.IntN(1000))}
	},
	"the promoted commit in the record": func(r *killedRun) map[string]string {
		r.commit("failure")
		before := gitserver.Tree(r.T, r.on.Path, "dev")[acc.RecordPath]
		return map[string]string{acc.RecordPath: promotedCommit.ReplaceAllString(before,
			`"promoted_commit": "`+r.commits[len(r.commits)-1]+`"`)}
	},
}

var (
	promotedCommit = regexp.MustCompile(`"promoted_commit": "[0-9a-f]{40}"`)
	driftID        = regexp.MustCompile(`"(drift-[0-9a-f]{12})"`)
)

// expectRefused lets a stranger change the branch after an apply that was killed. The next apply must be refused, until
// people accept exactly this change.
func (r *killedRun) expectRefused() {
	r.T.Helper()
	names := slices.Sorted(maps.Keys(strangers))
	name := names[r.IntN(len(names))]
	r.given["on_drift"] = "fail"
	r.change()
	r.kill()
	message := gitserver.Git(r.T, r.on.Path, "log", "-1", "--format=%B", "dev")
	files := map[string]gitserver.File{}
	for path, content := range strangers[name](r) {
		files[path] = gitserver.File{Mode: "100644", Content: content}
	}
	gitserver.SeedFiles(r.T, r.on.Path, "dev", strings.TrimSpace(message), files)
	r.did("a stranger changes %s, and copies our message", name)
	_, ds := r.run(r.T.Context())
	id := driftID.FindStringSubmatch(ds.String())
	if !ds.HasErrors() || id == nil || !strings.Contains(ds.String(), "Drift: ") {
		r.fatalf("the stranger's commit is not refused:\n%s", ds)
	}
	r.given["accepted_changes"] = []any{id[1]}
	r.did("people accept %s", id[1])
	r.settle()
	delete(r.given, "accepted_changes")
	r.settle()
}

// calm ends the freeze and the pin, so that the next changes are delivered.
func (r *killedRun) calm() {
	r.rule("hold", nil)
	r.rule("pinned_commit", nil)
}

// TestKilledApplies: whatever happens around applies that are killed, the next applies end with an empty plan, as long
// as only this rendering writes to its folders. People need not accept anything, whether on_drift is fail or overwrite.
func TestKilledApplies(t *testing.T) {
	var kills atomic.Int64
	for name, setup := range map[string]func(*killedRun){
		"push": func(*killedRun) {}, "pull request": (*killedRun).byPullRequest, "waves": (*killedRun).inWaves,
		"publication, feedback and records": func(r *killedRun) { r.publishes(); r.records() },
	} {
		t.Run(name, func(t *testing.T) {
			usual := 3
			if testing.Short() {
				usual = 1
			}
			for seed := range seeds.Of(t, usual, 40) {
				t.Run(fmt.Sprint(seed), func(t *testing.T) {
					t.Parallel()
					r := newKilledRun(t, seed)
					setup(r)
					kills.Add(int64(r.chain(4)))
				})
			}
		})
	}
	t.Cleanup(func() { t.Logf("%d applies were killed", kills.Load()) })
}
