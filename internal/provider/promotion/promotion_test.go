package promotion_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/githubfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// promotionRoot is a root module of environment prod, whose control plane and GitOps repo are on a fake GitHub.
type promotionRoot struct {
	*acc.Root
	fake                  *githubfake.Server
	controlPlane, gitops  *githubfake.Repo
	controlPlaneAt, gitAt string // paths of the bare repos
	now                   time.Time
	commits               int
	merges                bool             // people merge each pull request that an apply opens
	proposed              *promotionOutput // the last decision before people merged, if merges is set
}

func newPromotionRoot(t *testing.T) *promotionRoot {
	t.Helper()
	p := &promotionRoot{Root: acc.NewRootFrom(t, "testdata/TestAccPromotion"), now: time.Now().UTC().Truncate(time.Second)}
	p.fake = githubfake.New(t, hostfake.WithClock(func() time.Time { return p.now }))
	p.controlPlane, p.gitops = p.fake.AddRepo(t, "acme/control-plane"), p.fake.AddRepo(t, "acme/gitops")
	p.controlPlaneAt, p.gitAt = p.controlPlane.Path, p.gitops.Path
	p.start(map[string]any{
		"github": map[string]any{"base_url": p.fake.URL, "token": p.fake.Token}, "control_plane": p.controlPlane.URL,
		"gitops": p.gitops.URL,
	})
	return p
}

// byPushAndByPullRequest runs a test with each strategy. With pull_request, people merge each pull request that an
// apply opens.
func byPushAndByPullRequest(t *testing.T, test func(*testing.T, *promotionRoot)) {
	t.Helper()
	for _, strategy := range []string{"push", "pull_request"} {
		t.Run(strategy, func(t *testing.T) {
			t.Parallel()
			p := newPromotionRoot(t)
			if strategy == "pull_request" {
				p.reviews()
				p.merges = true
			}
			test(t, p)
		})
	}
}

// reviews makes the rendering deliver by pull request.
func (p *promotionRoot) reviews() {
	p.T.Helper()
	gitserver.Seed(p.T, p.gitAt, "prod", map[string]string{"README.md": "GitOps\n"})
	p.Set("delivery", map[string]any{"strategy": "pull_request"})
}

// apply applies the module. If merges is set, people merge the pull request that it opened, and another apply reads the
// merged branch.
func (p *promotionRoot) apply(args ...string) acc.Output {
	p.T.Helper()
	out := p.Apply(args...)
	if !p.merges {
		return out
	}
	if _, shown := p.StateFile().Outputs["promotion"]; shown {
		p.proposed = &promotionOutput{}
		p.Output("promotion", p.proposed)
	}
	all := p.gitops.PullRequests()
	if n := len(all); n > 0 && all[n-1].State == "open" {
		p.gitops.Merge(p.T, n, "merge")
		p.Apply(args...)
	}
	return out
}

// newPromotionRootOfFiles returns the same module with bare repos on this machine, which have no statuses.
func newPromotionRootOfFiles(t *testing.T) *promotionRoot {
	t.Helper()
	p := &promotionRoot{Root: acc.NewRootFrom(t, "testdata/TestAccPromotion"), now: time.Now()}
	p.controlPlaneAt, p.gitAt = gitserver.InitBare(t), gitserver.InitBare(t)
	gitserver.Seed(t, p.gitAt, "main", map[string]string{"README.md": "GitOps\n"})
	p.start(map[string]any{"control_plane": "file://" + p.controlPlaneAt, "gitops": "file://" + p.gitAt})
	return p
}

func (p *promotionRoot) start(vars map[string]any) {
	p.Vars = vars
	p.rules()
	kalypso := "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: "
	gitserver.Seed(p.T, p.controlPlaneAt, "prod", map[string]string{
		"large.yaml": kalypso +
			"ClusterType\nmetadata: {name: large}\nspec: {reconciler: flux, namespaceService: namespace}\n",
		"policy.yaml": kalypso +
			"SchedulingPolicy\nmetadata: {name: all}\nspec: {deploymentTargetSelector: {}, clusterTypeSelector: {}}\n",
	})
	gitserver.Seed(p.T, p.controlPlaneAt, "main", map[string]string{
		"flux.yaml": kalypso +
			"Template\nmetadata: {name: flux}\n" +
			"spec: {type: reconciler, manifests: [\"{apiVersion: v1, kind: R, metadata: {name: r}}\\n\"]}\n",
		"namespace.yaml": kalypso +
			"Template\nmetadata: {name: namespace}\n" +
			"spec: {type: namespace, manifests: [\"{apiVersion: v1, kind: N, metadata: {name: n}}\\n\"]}\n",
		"shop.yaml": kalypso +
			"Workload\nmetadata: {name: shop}\nspec: {deploymentTargets: [{name: web, environment: prod, manifests: {repo: r, " +
			"branch: b, path: p}}]}\n",
	})
}

// rules sets the rules of the promotion, see rulesOf.
func (p *promotionRoot) rules(pairs ...any) {
	p.T.Helper()
	p.Set("rules", rulesOf(pairs...))
}

// rulesOf returns rules. The parameters are names, each with its value.
func rulesOf(pairs ...any) map[string]any {
	rules := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		rules[fmt.Sprint(pairs[i])] = pairs[i+1]
	}
	return rules
}

// after returns a gate on an environment, with these arguments.
func after(environment string, pairs ...any) map[string]any {
	gate := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		gate[fmt.Sprint(pairs[i])] = pairs[i+1]
	}
	return map[string]any{environment: gate}
}

// commit pushes a commit to main that changes what all environments render.
func (p *promotionRoot) commit() string {
	p.T.Helper()
	p.commits++
	text := fmt.Sprintf("apiVersion: scheduler.kalypso.io/v1alpha1\nkind: Template\nmetadata: {name: namespace}\n"+
		"spec: {type: namespace, manifests: [\"{apiVersion: v1, kind: N, metadata: {name: n%d}}\"]}\n", p.commits)
	return gitserver.Seed(p.T, p.controlPlaneAt, "main", map[string]string{"namespace.yaml": text})
}

// ownChange changes the configuration of environment prod only.
func (p *promotionRoot) ownChange(name string) {
	p.T.Helper()
	gitserver.Seed(p.T, p.controlPlaneAt, "prod", map[string]string{name +
		".yaml": "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: ClusterType\n" +
		"metadata: {name: " + name + "}\nspec: {reconciler: flux, namespaceService: namespace}\n"})
}

// status sets the status of environment stage.
func (p *promotionRoot) status(commit, state, description string) {
	p.controlPlane.SetStatusAs("acme-ci[bot]", commit, "stage environment", state, description)
}

// promotionOutput contains the output promotion of a run.
type promotionOutput struct {
	Commit, Current, Candidate, Decision, Summary, Reason string
	ProposedCommit                                        string `json:"proposed_commit"`
	RolledBack                                            string `json:"rolled_back"`
	By, Unproven                                          string
	Waiting                                               []struct{ Commit, Gate, Reason, By string }
	Skipped                                               []struct{ Commit, Reason string }
}

// run applies, expects that the next plan does not change the rendering, and returns the decision.
func (p *promotionRoot) run() promotionOutput {
	p.T.Helper()
	p.apply()
	seen := p.decision()
	if plan := p.Terraform("plan", "-detailed-exitcode", "-no-color").Text(); strings.Contains(plan,
		"kalypso_environment_rendering.this ") {
		p.T.Errorf("a second plan changes the rendering:\n%s", plan)
	}
	return seen
}

// decision returns the decision of the last run: if people merge, the decision before the merge.
func (p *promotionRoot) decision() (seen promotionOutput) {
	p.T.Helper()
	if p.proposed != nil {
		return *p.proposed
	}
	p.Output("promotion", &seen)
	return seen
}

// expect runs the module, and compares the decision and the commit.
func (p *promotionRoot) expect(decision, commit string) promotionOutput {
	p.T.Helper()
	seen := p.run()
	if seen.Decision != decision || seen.Commit != commit {
		p.T.Errorf("the decision is %s %s, want %s %s\n%s", seen.Decision, seen.Commit, decision, commit, seen.Summary)
	}
	if commit == "" {
		return seen
	}
	if got := strings.TrimSpace(gitserver.Git(p.T, p.gitAt, "show",
		"prod:.github/tracking/Promoted_Commit_Id")); got != commit {
		p.T.Errorf("the branch tracks %s", got)
	}
	if got := p.record().PromotedCommit; got != commit {
		p.T.Errorf("the record has %s", got)
	}
	return seen
}

type promotedRecord struct {
	PromotedCommit string `json:"promoted_commit"`
	Promotion      struct {
		Decision, Summary, By string
		RolledBack            string `json:"rolled_back"`
		Unsettled             bool
	}
}

func (p *promotionRoot) record() promotedRecord {
	p.T.Helper()
	var r promotedRecord
	if err := json.Unmarshal([]byte(gitserver.Git(p.T, p.gitAt, "show", "prod:"+acc.RecordPath)), &r); err != nil {
		p.T.Fatal(err)
	}
	return r
}

// message returns the message of the last commit on the GitOps branch.
func (p *promotionRoot) message() string {
	return gitserver.Git(p.T, p.gitAt, "log", "-1", "--format=%B", "prod")
}

// soaks reports every 30 minutes, for four hours, that stage runs a commit.
func (p *promotionRoot) soaks(commit string) {
	p.T.Helper()
	p.now = p.now.Add(time.Minute)
	p.status(commit, "success", "")
	for range 8 {
		p.now = p.now.Add(30 * time.Minute)
		p.status(commit, "success", "")
	}
}

// The walkthrough of the guide: a promotion, a failure in stage, a hotfix past the closed gate, the fix, a rollback,
// and the first promotion after it. A closed gate never stops the environment's own changes, and a second run changes
// nothing.
func TestAccPromotionWalkthrough(t *testing.T) {
	t.Parallel()
	p := newPromotionRoot(t)
	gate := after("stage", "soak", "4h", "by", "acme-ci[bot]")
	p.rules("after", gate)
	first := p.commit()
	if seen := p.expect("hold", ""); len(seen.Waiting) == 0 {
		t.Errorf("nothing waits: %s", seen.Summary)
	}

	p.soaks(first)
	p.expect("promote", first)
	acc.ExpectTexts(t, p.message(), "Promoted commit: "+first, `- status "stage environment" is success by acme-ci[bot]`,
		"soaked for 4h since")
	if r := p.record(); r.Promotion.Decision != "promote" || !strings.Contains(r.Promotion.Summary, "acme-ci[bot]") {
		t.Errorf("the record does not say why: %+v", r)
	}

	bad := p.commit()
	p.status(bad, "failure", "Failed to deploy")
	p.ownChange("small")
	seen := p.expect("hold", first)
	acc.ExpectTexts(t, seen.Summary, "1 newer commit waits", `is failure by acme-ci[bot]`, `("Failed to deploy")`)
	if seen.Candidate != bad || seen.Waiting[0].By != "acme-ci[bot]" || seen.Waiting[0].Gate != "stage" {
		t.Errorf("the promotion is %+v", seen)
	}
	if !strings.Contains(gitserver.Git(t, p.gitAt, "ls-tree", "-r", "--name-only", "prod"), "small/shop-web/") {
		t.Error("the environment's own change is not delivered")
	}
	if r := p.record(); r.Promotion.Decision != "promote" {
		t.Errorf("the environment's own change removed the reason of the promotion: %+v", r)
	}

	hotfix := p.commit()
	p.rules("after", gate, "approved", []string{hotfix})
	p.expect("promote", hotfix)
	acc.ExpectTexts(t, p.message(), "approved: no gate is needed")

	fix := p.commit()
	p.rules("after", gate)
	p.now = p.now.Add(time.Minute)
	p.status(fix, "success", "")
	p.expect("hold", hotfix)
	p.now = p.now.Add(4 * time.Hour)
	p.expect("hold", hotfix) // the pipeline has set no status since then, so nothing proves the soak
	p.status(fix, "success", "")
	acc.ExpectTexts(t, p.expect("hold", hotfix).Summary, "its soak began again, because no good status came from ")
	p.soaks(fix)
	p.expect("promote", fix)

	p.rules("after", gate, "pinned_commit", first)
	p.expect("pinned", first)
	acc.ExpectTexts(t, p.message(), "by pinned_commit")
	if r := p.record(); r.Promotion.RolledBack != fix {
		t.Errorf("the record does not name commit %s as rolled back: %+v", fix, r)
	}
	p.rules("after", gate)
	if seen := p.expect("up_to_date", first); len(seen.Skipped) != 3 ||
		!strings.Contains(seen.Skipped[0].Reason, "rolled back") {
		t.Errorf("the promotion skips %+v", seen.Skipped)
	}
	newer := p.commit()
	p.soaks(newer)
	p.expect("promote", newer)
	if r := p.record(); r.Promotion.RolledBack != "" {
		t.Errorf("the record still names a commit as rolled back: %+v", r)
	}
}

// promotionBlock matches the data source of testdata/TestAccPromotion.
var promotionBlock = regexp.MustCompile(`(?s)data "kalypso_promotion" .*?\n}\n`)

// Wrong arguments of a promotion cause an error, or a hold with a reason. Nothing is written.
func TestAccPromotionBadInput(t *testing.T) {
	t.Parallel()
	p := newPromotionRoot(t)
	first := p.commit()
	p.expect("promote", first)
	newer := p.commit()
	p.status(newer, "success", "")
	head := gitserver.Rev(t, p.gitAt, "prod")
	fork := gitserver.Seed(t, p.controlPlaneAt, "fork", map[string]string{"a": "b"})
	files := "file://" + gitserver.InitBare(t)

	// One plan has a data source for each case, and shows all errors.
	p.Write("cases.tf", "variable \"cases\" {\n  type = any\n}\n"+strings.NewReplacer(
		`"this" {`, "\"case\" {\n  for_each = var.cases\n",
		"var.control_plane", "try(each.value.control_plane, var.control_plane)",
		"var.rules", "each.value.rules",
	).Replace(promotionBlock.FindString(acc.ReadFile(t, "testdata/TestAccPromotion/main.tf"))))
	cases, errors := map[string]any{}, map[string][]string{}
	for name, tc := range map[string]struct {
		rules        []any
		controlPlane string
		says         []string
	}{
		"a pin outside of main": {rules: []any{"pinned_commit", fork},
			says: []string{"Pinned commit not on the branch", fork, "and forks are not on it"}},
		"an environment after itself": {rules: []any{"after", after("prod")},
			says: []string{"Environment is its own predecessor", `Environment "prod" can't come after itself`}},
		"the environment's own status as gate": {rules: []any{"after", after("stage", "context", "Prod Environment")},
			says: []string{"Environment is its own predecessor"}},
		"soak without statuses": {rules: []any{"after", after("stage", "soak", "4h")},
			controlPlane: files,
			says:         []string{"No statuses in this repo", "deployed"}},
		"soak together with deployed": {rules: []any{"after", after("stage", "soak", "4h", "deployed",
			map[string]any{"verdict": "success", "promoted_commit": newer})},
			says: []string{"Conflicting arguments", "soak belongs to a status"}},
		"a blank by": {rules: []any{"after", after("stage", "by", "")}, says: []string{"Blank argument", "by is blank"}},
		"a blank context": {rules: []any{"after", after("stage", "context", " ")},
			says: []string{"Blank argument", "context is blank"}},
		"a blank status": {rules: []any{"statuses", []string{" "}}, says: []string{"Invalid status", "is blank"}},
		"a status without by": {rules: []any{"statuses", map[string]any{"ci": map[string]any{"by": " "}}},
			says: []string{"Blank argument", "by is blank"}},
		"a status with another argument": {rules: []any{"statuses", map[string]any{"ci": map[string]any{"context": "x"}}},
			says: []string{"Unsupported argument", `"context" is not one of by`}},
		"a text in place of statuses": {rules: []any{"statuses", "ci"},
			says: []string{"Wrong type", "a list of names, or a map"}},
		"renewed_within without a soak": {rules: []any{"after", after("stage", "renewed_within", "1h")},
			says: []string{"Missing soak", "renewed_within says how often"}},
		"a blank hold": {rules: []any{"hold", " "}, says: []string{"Missing reason", "hold is blank"}},
		"a short commit": {rules: []any{"approved", []string{"abc"}}, says: []string{"Invalid commit",
			"full commit hash"}},
		"an invalid duration": {rules: []any{"dwell", "4 hours"}, says: []string{"Invalid duration"}},
	} {
		at := map[string]any{"rules": rulesOf(tc.rules...)}
		if tc.controlPlane != "" {
			at["control_plane"] = tc.controlPlane
		}
		cases[name], errors[fmt.Sprintf("data.kalypso_promotion.case[%q]", name)] = at, tc.says
	}
	p.Set("cases", cases)
	p.ExpectErrors(errors, "plan", "-no-color")
	p.Set("cases", map[string]any{})
	for name, tc := range map[string]struct {
		rules []any
		says  []string
	}{
		"an unknown context": {[]any{"after", after("stage", "context", "staging")},
			[]string{"check the name: the names in use are", "stage environment"}},
		"by an app without a status": {[]any{"after", after("stage", "by", "acme-cd[bot]")},
			[]string{`"acme-cd[bot]" set none of the latest statuses`}},
		"a deleted control plane branch": {[]any{"branch", "trunk", "after", after("stage")},
			[]string{`has no branch "trunk"`}},
		"an unknown status": {[]any{"statuses", []string{"ci"}},
			[]string{"no status and no check run, and no other commit has one"}},
		"an approved commit of a fork": {[]any{"approved", []string{fork}, "after", after("edge")},
			[]string{"approved names " + fork}},
		"an approved commit in a rejected range": {[]any{"approved", []string{newer}, "rejected",
			map[string]any{newer: nil}}, []string{"rejected"}},
	} {
		t.Log(name)
		p.rules(tc.rules...)
		seen := p.run()
		if seen.Commit != first {
			t.Errorf("%s: the promotion takes %s", name, seen.Commit)
		}
		acc.ExpectTexts(t, seen.Summary, tc.says...)
	}
	p.controlPlane.SetStatusAs("eve", first, "prod environment", "success", "")
	p.rules("hold", "freeze")
	acc.ExpectTexts(t, p.apply().Text(), "Unexpected reporter of the environment's status", "by eve at")
	if got := gitserver.Rev(t, p.gitAt, "prod"); got != head {
		t.Errorf("there are new commits: %s", gitserver.Git(t, p.gitAt, "log", "--oneline", "prod"))
	}
	gitserver.Seed(t, p.gitAt, "prod", map[string]string{acc.RecordPath: "{"})
	p.ExpectError([]string{"The promoted commit can't be read"}, "plan", "-no-color", "-refresh=false")
}

// While a host does not answer, the promotion waits with a warning, and the environment's own changes are delivered.
func TestAccPromotionHostDoesNotAnswer(t *testing.T) {
	t.Parallel()
	p := newPromotionRoot(t)
	first := p.commit()
	p.expect("promote", first)
	p.rules("after", after("stage"))
	newer := p.commit()
	p.status(newer, "success", "")
	p.fake.Fail("POST", "/graphql", 1000, hostfake.Failure{Status: 401, Body: `{"message":"Bad credentials"}`})
	p.ownChange("small")
	p.apply()
	if out := p.Succeed("plan", "-no-color").Text(); !strings.Contains(out, "The statuses can't be read") {
		t.Errorf("no warning:\n%s", out)
	}
	if r := p.record(); r.PromotedCommit != first {
		t.Errorf("the promoted commit is %s", r.PromotedCommit)
	}
	if !strings.Contains(gitserver.Git(t, p.gitAt, "ls-tree", "-r", "--name-only", "prod"), "small/shop-web/") {
		t.Error("the environment's own change is not delivered")
	}
}

// Without a host, deployed passes on the state of the previous environment.
func TestAccPromotionDeployed(t *testing.T) {
	t.Parallel()
	p := newPromotionRootOfFiles(t)
	first := p.commit()
	deployed := func(verdict, commit string) map[string]any {
		return after("edge", "deployed", map[string]any{"verdict": verdict, "promoted_commit": commit})
	}
	p.rules("after", deployed("pending", first))
	p.expect("hold", "")
	p.rules("after", deployed("success", first))
	p.expect("promote", first)
	p.expect("up_to_date", first)
	newer := p.commit()
	p.expect("hold", first)
	p.rules("after", deployed("success", newer), "hold", "freeze")
	p.expect("frozen", first)
	p.rules("after", deployed("success", newer))
	p.expect("promote", newer)
}

// A pull request contains the reason of the promotion.
func TestAccPromotionPullRequest(t *testing.T) {
	t.Parallel()
	p := newPromotionRoot(t)
	gitserver.Seed(t, p.gitAt, "prod", map[string]string{"README.md": "GitOps\n"})
	first := p.commit()
	p.rules("after", after("stage", "by", "acme-ci[bot]"))
	p.status(first, "pending", "Deployed")
	p.Set("delivery", map[string]any{"strategy": "pull_request"})
	if seen := p.run(); seen.Decision != "promote" || seen.Commit != first {
		t.Errorf("the decision is %s %s", seen.Decision, seen.Commit)
	}
	pulls := p.gitops.PullRequests()
	if len(pulls) != 1 {
		t.Fatalf("%d pull requests", len(pulls))
	}
	acc.ExpectTexts(t, pulls[0].Body, "**Promoted commit:**", `status "stage environment" is pending by acme-ci[bot]`)
	p.gitops.Merge(t, pulls[0].Number, "squash")
	p.expect("up_to_date", first)
}

// The plan of a promotion fits a screen, with preview = "summary", as in the guide's root module.
func TestAccPromotionPlan(t *testing.T) {
	t.Parallel()
	p := newPromotionRoot(t)
	p.Set("preview", "summary")
	p.rules("after", after("stage"))
	first := p.commit()
	p.status(first, "success", "")
	p.expect("promote", first)
	newer := p.commit()
	p.status(newer, "success", "")
	p.Write("outputs.tf", "")
	p.apply("-refresh-only") // forgets the outputs
	out := p.Succeed("plan", "-no-color").Stdout
	p.expectPlan(out, map[string]string{first: "<first>", first[:12]: "<first>", newer: "<newer>", newer[:12]: "<newer>",
		p.fake.URL:                 "https://github.acme.io",
		p.now.Format(time.RFC3339): "<time>"})
	change, _, _ := strings.Cut(actions(out), "\nPlan: ")
	if lines := strings.Count(strings.TrimSpace(change), "\n") + 1; lines >= 40 {
		t.Errorf("the plan has %d lines:\n%s", lines, out)
	}
}

// actions returns the part of a plan's output that follows the headline of the actions, which contains the name of the
// CLI.
func actions(plan string) string {
	_, after, _ := strings.Cut(plan, "will perform the following actions:\n")
	return after
}

// expectPlan compares a plan with the recorded plan in testdata, after it has replaced each text in names by its name.
func (p *promotionRoot) expectPlan(out string, names map[string]string) {
	p.T.Helper()
	out = actions(out)
	texts := slices.SortedFunc(maps.Keys(names), func(a, b string) int { return len(b) - len(a) })
	for _, text := range texts {
		out = strings.ReplaceAll(out, text, names[text])
	}
	out = hashDigits.ReplaceAllString(out, "<hash>")
	file := filepath.Join("testdata", "TestAccPromotion", "plan.txt")
	if *acc.Update {
		if err := os.WriteFile(file, []byte(out), 0o600); err != nil {
			p.T.Fatal(err)
		}
	}
	if diff := cmp.Diff(acc.ReadFile(p.T, file), out); diff != "" {
		p.T.Errorf("the plan differs (-want +got):\n%s", diff)
	}
}

// hashDigits matches the hashes of trees, commits and folders.
var hashDigits = regexp.MustCompile(`\b([0-9a-f]{40}|[0-9a-f]{12})\b`)
