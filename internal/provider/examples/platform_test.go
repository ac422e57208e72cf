package examples_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/programs"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/must"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// platform is a copy of examples/platform and of examples/application-team in repos on this machine, with the jobs of
// a pipeline.
type platform struct {
	*runner
	repos    string // the folder of the bare repos platform, shop and gitops
	reports  string
	pipeline pipeline
}

// pipeline returns jobs of the platform's pipeline in a clone.
type pipeline struct {
	plan  func(p *platform, folder, environment string) job
	apply func(p *platform, folder, environment string) job
	page  func(p *platform, folder string) job
}

func newPlatform(t *testing.T, backend string, with pipeline) *platform {
	t.Helper()
	p := &platform{runner: newRunner(t), repos: t.TempDir(), reports: t.TempDir(), pipeline: with}
	p.env = append(p.env, "TF_VAR_reports="+p.reports)
	local := "provider \"kalypso\" {\n  allow_local_repos = true\n}\n"
	for _, repo := range []string{"platform", "shop", "gitops"} {
		gitserver.InitBareAt(t, p.repo(repo))
	}
	p.push("shop", "main", p.copied("application-team"))
	files := p.copied("platform")
	for _, folder := range []string{"", "page/", "check/"} {
		files[folder+"local_override.tf"] = gitserver.File{Mode: "100644", Content: local}
	}
	for _, folder := range []string{"", "page/"} {
		files[folder+"backend_override.tf"] = gitserver.File{Mode: "100644", Content: backend}
	}
	p.push("platform", "main", files)
	return p
}

func (p *platform) repo(name string) string { return filepath.Join(p.repos, name) }

// copied returns the files of an example, with the URLs of the repos on this machine.
func (p *platform) copied(example string) map[string]gitserver.File {
	p.t.Helper()
	files := map[string]gitserver.File{}
	root := filepath.Join(acc.Examples, example)
	must.Succeed(p.t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		mode := "100644"
		if info, err := entry.Info(); err == nil && info.Mode()&0o100 != 0 {
			mode = "100755"
		}
		name, err := filepath.Rel(root, path)
		files[filepath.ToSlash(name)] = gitserver.File{
			Mode: mode, Content: strings.ReplaceAll(acc.ReadFile(p.t, path), "https://github.com/acme", "file://"+p.repos),
		}
		return err
	}))
	return files
}

// push commits files on a branch, which begins at main, and returns the commit.
func (p *platform) push(repo, branch string, files map[string]gitserver.File) string {
	p.t.Helper()
	if main := gitserver.Rev(p.t, p.repo(repo), "main"); branch != "main" {
		gitserver.Git(p.t, p.repo(repo), "branch", "--force", branch, main)
	}
	return gitserver.SeedFiles(p.t, p.repo(repo), branch, "Change", files)
}

// edit changes a text in a file, or replaces the file if was is empty, and commits it on a branch.
func (p *platform) edit(repo, branch, file, was, is string) string {
	p.t.Helper()
	text := gitserver.Tree(p.t, p.repo(repo), "main")[file]
	if !strings.Contains(text, was) {
		p.t.Fatalf("%s of %s has no %q:\n%s", file, repo, was, text)
	}
	if was != "" {
		is = strings.Replace(text, was, is, 1)
	}
	return p.push(repo, branch, map[string]gitserver.File{file: {Mode: "100644", Content: is}})
}

// apply runs the job apply of an environment, and returns what it printed.
func (p *platform) apply(environment string) string {
	p.t.Helper()
	folder := p.clone(p.repo("platform"), "main")
	printed, ok := p.run(folder, p.pipeline.apply(p, folder, environment))
	if !ok {
		p.t.Fatalf("the job apply of %s fails:\n%s", environment, printed)
	}
	return printed
}

// deliver applies in each environment, and its clusters report that they run the result.
func (p *platform) deliver(environments ...string) {
	p.t.Helper()
	for _, environment := range environments {
		p.apply(environment)
		var reports []any
		for _, folder := range []string{"large", "small"} {
			reports = append(reports, map[string]string{
				"cluster": environment + "-" + folder, "folder": folder, "state": "current",
				"time":     time.Now().UTC().Format(time.RFC3339),
				"revision": environment + "@sha1:" + gitserver.Rev(p.t, p.repo("gitops"), environment),
			})
		}
		programs.WriteFile(p.t, filepath.Join(p.reports, environment+".json"), acc.ToJSON(p.t, reports))
	}
}

// level returns the value LOG_LEVEL that the shop gets in an environment.
func (p *platform) level(environment string) string {
	p.t.Helper()
	if gitserver.Rev(p.t, p.repo("gitops"), environment) == "" {
		return "none"
	}
	values := gitserver.Tree(p.t, p.repo("gitops"), environment)["large/shop-web/platform-config.yaml"]
	found := regexp.MustCompile(`LOG_LEVEL: (.*)`).FindStringSubmatch(values)
	if found == nil {
		return ""
	}
	return found[1]
}

func (p *platform) wantLevels(when, dev, stage, prod string) {
	p.t.Helper()
	got := fmt.Sprintf("%s %s %s", p.level("dev"), p.level("stage"), p.level("prod"))
	if want := fmt.Sprintf("%s %s %s", dev, stage, prod); got != want {
		p.t.Errorf("%s: LOG_LEVEL is %s in dev, stage and prod, want %s", when, got, want)
	}
}

func workflowOf(folder, name string) string { return filepath.Join(folder, ".github/workflows", name) }

// github runs the jobs of .github/workflows/fleet.yaml.
var github = pipeline{
	plan: func(p *platform, folder, environment string) job {
		j := p.githubJob(workflowOf(folder, "fleet.yaml"), "plan", map[string]string{"matrix.environment": environment})
		j.env["GITHUB_STEP_SUMMARY"] = filepath.Join(folder, "summary.md")
		return j
	},
	apply: func(p *platform, folder, environment string) job {
		return p.githubJob(workflowOf(folder, "fleet.yaml"), "apply", map[string]string{"matrix.environment": environment})
	},
	page: func(p *platform, folder string) job {
		return p.githubJob(workflowOf(folder, "fleet.yaml"), "page", nil)
	},
}

// gitlab runs the jobs of .gitlab-ci.yml.
var gitlab = pipeline{
	plan: func(p *platform, folder, environment string) job {
		return p.gitlabJob(filepath.Join(folder, ".gitlab-ci.yml"), "plan", map[string]string{
			"ENVIRONMENT": environment, "CI_API_V4_URL": p.server + "/api/v4", "CI_PROJECT_ID": "1", "CI_MERGE_REQUEST_IID": "7",
			"CI_JOB_TOKEN": "job", "CI_MERGE_REQUEST_DIFF_BASE_SHA": "origin/main", "COMMENT_TOKEN": "comment",
		})
	},
	apply: func(p *platform, folder, environment string) job {
		return p.gitlabJob(filepath.Join(folder, ".gitlab-ci.yml"), "apply", map[string]string{
			"ENVIRONMENT": environment, "CI_API_V4_URL": p.server + "/api/v4", "CI_PROJECT_ID": "1", "CI_JOB_TOKEN": "job",
		})
	},
	page: func(p *platform, folder string) job {
		return p.gitlabJob(filepath.Join(folder, ".gitlab-ci.yml"), "pages", map[string]string{
			"CI_API_V4_URL": p.server + "/api/v4", "CI_PROJECT_ID": "1", "CI_JOB_TOKEN": "job",
		})
	},
}

const httpBackend = "terraform {\n  backend \"http\" {}\n}\n"

// The repo to copy goes from its first commit to prod, with a change, a freeze and a rollback, and publishes the fleet
// page. The test runs the commands of its workflow.
func TestAccPlatform(t *testing.T) {
	t.Parallel()
	p := newPlatform(t, httpBackend, github)
	p.story()
	for _, environment := range []string{"dev", "stage", "prod"} {
		buildFolders(t, acc.RenderedFiles(t, p.repo("gitops"), environment))
	}
}

// The same with GitLab's pipeline, and the state in GitLab.
func TestAccPlatformOnGitLab(t *testing.T) {
	t.Parallel()
	p := newPlatform(t, "# The pipeline brings its own.\n", gitlab)
	p.story()
	folder := p.request("environments/stage/configs.yaml", "ENVIRONMENT: stage", "ENVIRONMENT: staging")
	for _, environment := range []string{"dev", "stage"} {
		if printed, ok := p.run(folder, p.pipeline.plan(p, folder, environment)); !ok {
			t.Fatalf("the plan of %s fails:\n%s", environment, printed)
		}
	}
	if len(*p.posted) != 1 || !strings.Contains((*p.posted)[0], "stage") {
		t.Errorf("not the plan of stage alone is posted: %q", *p.posted)
	}
}

// request returns a clone of a pull request that changes a file.
func (p *platform) request(file, was, is string) string {
	p.t.Helper()
	p.edit("platform", "change", file, was, is)
	return p.clone(p.repo("platform"), "change")
}

func (p *platform) story() {
	p.t.Helper()
	p.deliver("dev")
	if got := gitserver.Rev(p.t, p.repo("gitops"), "prod"); got != "" {
		p.t.Errorf("prod has the commit %s before stage runs it", got)
	}
	p.deliver("stage", "prod")
	p.wantLevels("after the first commit", "info", "info", "info")

	bad := p.edit("platform", "main", "base/configs/common.yaml", "info", "debug")
	p.apply("prod")
	p.wantLevels("before dev runs the change", "info", "info", "info")
	p.deliver("dev", "stage")
	p.edit("platform", "main", "overrides/prod.yaml", "", "hold: a sale until Monday\n")
	if printed := p.apply("prod"); !strings.Contains(printed, "a sale until Monday") {
		p.t.Errorf("the frozen environment does not say why:\n%s", printed)
	}
	p.wantLevels("frozen", "debug", "debug", "info")
	p.edit("platform", "main", "overrides/prod.yaml", "", "# nothing\n")
	p.deliver("dev", "stage", "prod")
	p.wantLevels("no longer frozen", "debug", "debug", "debug")

	p.edit("platform", "main", "overrides/prod.yaml", "", "rejected: {"+bad+": null}\n")
	if printed := p.apply("prod"); !strings.Contains(printed, "is rejected") {
		p.t.Errorf("the rollback does not say why:\n%s", printed)
	}
	p.wantLevels("rolled back", "debug", "debug", "info")

	folder := p.request("environments/stage/policies.yaml", "internal}", "internl}") // places no shop-worker in stage
	programs.WriteFile(p.t, filepath.Join(folder, "overrides/stage.yaml"), "hold: the holidays\n")
	if printed, ok := p.run(folder, p.pipeline.page(p, folder)); !ok {
		p.t.Fatalf("the job of the page fails:\n%s", printed)
	}
	page := acc.ReadFile(p.t, filepath.Join(folder, "public/index.html"))
	for _, want := range []string{
		"shop-web", "shop-worker", "stage", "prod", "Not placed", "must be &#34;internl&#34;", "the holidays",
	} {
		if !strings.Contains(page, want) {
			p.t.Errorf("the fleet page has no %s", want)
		}
	}
}

// The templates of the platform are those of the module templates.
func TestPlatformTemplates(t *testing.T) {
	t.Parallel()
	copies := acc.Glob(t, filepath.Join(acc.Examples, "platform/base/templates/*.yaml"))
	if len(copies) < 2 {
		t.Fatalf("the platform has the templates %v", copies)
	}
	for _, file := range copies {
		module := acc.ReadFile(t, filepath.Join(acc.Examples, "modules/templates", filepath.Base(file)))
		if diff := cmp.Diff(module, acc.ReadFile(t, file)); diff != "" {
			t.Errorf("%s (-module +platform):\n%s", file, diff)
		}
	}
}

// A pull request plans each environment that it touches, with its own base/. The plan shows the changed lines.
func TestAccPlatformPlans(t *testing.T) {
	t.Parallel()
	p := newPlatform(t, httpBackend, github)
	p.deliver("dev")
	for _, change := range []struct{ file, was, is, want string }{
		{"README.md", "# A platform", "# Our platform", "[]"},
		{"environments/stage/configs.yaml", "ENVIRONMENT: stage", "ENVIRONMENT: staging", `["stage"]`},
		{"overrides/prod.yaml", "", "hold: wait\n", `["prod"]`},
		{"page/main.tf", "720h", "1440h", "[]"},
		{"check/main.tf", "# Shows", "# Prints", "[]"},
		{"main.tf", "# Renders", "# Builds", `["dev","prod","stage"]`},
		{"base/configs/common.yaml", "info", "debug", `["dev","prod","stage"]`},
	} {
		folder := p.request(change.file, change.was, change.is)
		touched := p.githubJob(workflowOf(folder, "fleet.yaml"), "touched", nil)
		touched.env["GITHUB_OUTPUT"] = filepath.Join(t.TempDir(), "output")
		if printed, ok := p.run(folder, touched); !ok {
			t.Fatalf("a change of %s: %s", change.file, printed)
		}
		if got := strings.TrimSpace(acc.ReadFile(t, touched.env["GITHUB_OUTPUT"])); got != "environments="+change.want {
			t.Errorf("a change of %s touches %s, want %s", change.file, got, change.want)
		}
		if change.file != "base/configs/common.yaml" {
			continue
		}
		printed, ok := p.run(folder, p.pipeline.plan(p, folder, "dev"))
		if !ok {
			t.Fatalf("the plan fails:\n%s", printed)
		}
		summary := acc.ReadFile(t, filepath.Join(folder, "summary.md"))
		for _, want := range []string{"## dev", "-  LOG_LEVEL: info", "+  LOG_LEVEL: debug", "3 folders"} {
			if !strings.Contains(summary, want) {
				t.Errorf("the summary has no %q:\n%s", want, summary)
			}
		}
	}

	// A pull request that only decides shows what the decision does.
	folder := p.request("overrides/dev.yaml", "", "holt: an incident\n")
	if printed, ok := p.run(folder, p.pipeline.plan(p, folder, "dev")); ok ||
		!strings.Contains(printed, "overrides/dev.yaml has the unknown key holt") {
		t.Errorf("an override with a typing error:\n%s", printed)
	}
	folder = p.request("overrides/dev.yaml", "", "hold: an incident\n")
	if printed, ok := p.run(folder, p.pipeline.plan(p, folder, "dev")); !ok {
		t.Fatalf("the plan of a decision fails:\n%s", printed)
	}
	summary := acc.ReadFile(t, filepath.Join(folder, "summary.md"))
	for _, want := range []string{"Warning: The environment is frozen", "an incident", "Nothing changes."} {
		if !strings.Contains(summary, want) {
			t.Errorf("the summary of a decision has no %q:\n%s", want, summary)
		}
	}
	folder = p.request("environments/prod/configs.yaml", "ENVIRONMENT: prod", "ENVIRONMENT: live")
	if printed, ok := p.run(folder, p.pipeline.plan(p, folder, "prod")); !ok {
		t.Fatalf("the plan of a new environment fails:\n%s", printed)
	}
	if summary := acc.ReadFile(t, filepath.Join(folder, "summary.md")); !strings.Contains(summary, "A new environment: ") {
		t.Errorf("the summary of a new environment:\n%s", summary)
	}

	p.apply("dev")
	p.wantLevels("after plans only", "info", "none", "none")
}

// An application team calls the check on its pull request. It shows where each deployment target runs, and why not
// elsewhere, as the guide For application teams shows it. It fails if a target runs nowhere, or fails to render, and if
// there is no such registration.
func TestAccApplicationTeam(t *testing.T) {
	t.Parallel()
	p := newPlatform(t, httpBackend, github)
	caller := acc.ReadFile(t, workflowOf(p.clone(p.repo("shop"), "main"), "kalypso.yaml"))
	registration := regexp.MustCompile(`registration: (\S+)`).FindStringSubmatch(caller)
	if registration == nil || strings.Count(strings.TrimSpace(caller), "\n") >= 15 {
		t.Fatalf("the team's workflow names no registration, or has more than 15 lines:\n%s", caller)
	}
	check := func(registration, commit string) (summary string, ok bool) {
		t.Helper()
		folder := p.clone(p.repo("platform"), "main")
		j := p.githubJob(workflowOf(folder, "check-workload.yaml"), "check",
			map[string]string{"inputs.registration": registration, "github.sha": commit})
		j.env["GITHUB_STEP_SUMMARY"] = filepath.Join(folder, "summary.md")
		printed, ok := p.run(folder, j)
		text, err := os.ReadFile(j.env["GITHUB_STEP_SUMMARY"])
		if err != nil {
			t.Fatalf("the check prints\n%s", printed)
		}
		return string(text), ok
	}
	main := gitserver.Rev(t, p.repo("shop"), "main")
	summary, ok := check(registration[1], main)
	if !ok {
		t.Errorf("the check fails:\n%s", summary)
	}
	const guide = "../../../docs/guides/application-teams.md"
	wantShown(t, guide, summary[:strings.Index(summary, "## shop in stage")])

	const file = "workload/workload.yaml"
	summary, ok = check("shop", p.edit("shop", "nowhere", file, "exposure: public", "exposure: partners"))
	if ok {
		t.Errorf("the check passes although a target runs nowhere:\n%s", summary)
	}
	wantShown(t, guide, summary[:strings.Index(summary, "| shop-web | small")],
		summary[strings.Index(summary, "**"):strings.Index(summary, "## shop in stage")])
	summary, ok = check("shop", p.edit("shop", "schema", file, "DATABASE_HOST", "DATABASE_URL"))
	if ok {
		t.Errorf("the check passes although a target fails to render:\n%s", summary)
	}
	_, failure, _ := strings.Cut(summary, "**")
	wantShown(t, guide, "**"+failure[:strings.Index(failure, "\n\n")])
	mistaken := strings.NewReplacer("environment: stage", "environment: stagee", "configSchemas:", "configSchema:",
		"deploymentTarget: web}", "deploymentTarget: wbe}").Replace(gitserver.Tree(t, p.repo("shop"), "main")[file])
	files := map[string]gitserver.File{file: {Mode: "100644", Content: mistaken}}
	summary, ok = check("shop", p.push("shop", "mistakes", files))
	for _, want := range []string{
		"**shop-web is for environment stagee, which does not exist.** There are: dev, stage, prod.",
		"**shop-worker on large requires shop-wbe:** ", "Unknown fields",
	} {
		if ok || !strings.Contains(summary, want) {
			t.Errorf("with mistakes, the check passes: %t, or does not say %q:\n%s", ok, want, summary)
		}
	}
	summary, ok = check("shop", p.edit("shop", "no-targets", file, "deploymentTargets:\n", "deploymentTarget:\n"))
	if ok || !strings.Contains(summary, "**The Workload has no deployment targets.**") {
		t.Errorf("without targets, the check passes: %t\n%s", ok, summary)
	}
	summary, ok = check("shp", main)
	if ok || !strings.Contains(summary, "There is no registration shp. There are: shop.") {
		t.Errorf("without the registration, the check prints\n%s", summary)
	}
}

// wantShown fails the test unless a page shows the texts.
func wantShown(t *testing.T, page string, texts ...string) {
	t.Helper()
	shown := acc.ReadFile(t, page)
	for _, text := range texts {
		if !strings.Contains(shown, strings.TrimSpace(text)) {
			t.Errorf("%s does not show\n%s", page, text)
		}
	}
}
