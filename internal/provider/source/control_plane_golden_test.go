package provider_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/gitserver"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/golden"
)

// gitHost is a Git server, behind a password, with bare repos that are created by the first push.
type gitHost struct {
	*gitserver.Server
	t *testing.T
}

const gitHostPassword = "canary-host"

func newGitHost(t *testing.T, options ...gitserver.Option) *gitHost {
	t.Helper()
	return &gitHost{gitserver.New(t, t.TempDir(), append(options, gitserver.WithBasic("me", gitHostPassword))...), t}
}

func (h *gitHost) dir(name string) string {
	h.t.Helper()
	dir := filepath.Join(h.Root, name)
	if len(globAny(h.t, dir)) == 0 {
		gitserver.InitBareAt(h.t, dir)
	}
	return dir
}

func globAny(t *testing.T, pattern string) []string {
	t.Helper()
	all, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func (h *gitHost) url(name string) string { return h.URL + "/" + name }

func (h *gitHost) commit(name, branch string, files map[string]string) string {
	h.t.Helper()
	return gitserver.Seed(h.t, h.dir(name), branch, files)
}

// variables returns the variables of the module testdata/TestAccControlPlane.
func (h *gitHost) variables(controlPlanes map[string]string) map[string]any {
	return map[string]any{"url": h.URL, "password": gitHostPassword, "control_planes": controlPlanes}
}

// goldenRepos creates the repos of a golden fleet: <name> with the branches main and that of the environment,
// <name>-gitops, and one for each repo that a registration names. It returns the promoted commit, or "" if the BaseRepo
// pins none. It replaces only the URLs in registrations, BaseRepo and GitOpsRepo with the host's.
func (h *gitHost) goldenRepos(g *golden.Fleet) (promoted string) {
	h.t.Helper()
	base, branch, registered := map[string]string{}, map[string]string{}, map[string]map[string]string{}
	name, environment := g.Name, g.Summary.Environment
	for path, text := range g.Objects {
		switch parts := strings.SplitN(path, "/", 3); parts[0] {
		case "base":
			base[strings.TrimPrefix(path, "base/")] = text
		case "workloads":
			if registered[parts[1]] == nil {
				registered[parts[1]] = map[string]string{}
			}
			registered[parts[1]][parts[2]] = text
		default:
			branch[path] = text
		}
	}
	for path, text := range base {
		objects, _, ps := fleet.ParseYAML(h.t.Context(), problem.Origin{Key: path}, text)
		if err := ps.Err(); err != nil {
			h.t.Fatal(err)
		}
		for _, o := range objects {
			if r, ok := o.(*fleet.WorkloadRegistration); ok {
				repo := name + "-" + r.Name
				text = replaceURL(text, r.Repo, h.url(repo))
				files := map[string]string{}
				for file, document := range registered[r.Name] {
					files[filepath.Join(r.Path, file)] = document
				}
				if len(files) == 0 { // whose Workloads are of other environments
					files[filepath.Join(r.Path,
						"w.yaml")] = "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: Workload\nmetadata: {name: of-" + r.Name + "}\n" +
						"spec: {deploymentTargets: [{name: t, environment: elsewhere}]}\n"
				}
				h.commit(repo, r.Branch, files)
			}
		}
		base[path] = text
	}
	promoted = h.commit(name, "main", base)
	promotes := regexp.MustCompile(`commit:.*`)
	if !promotes.MatchString(branch["base-repo.yaml"]) {
		promoted = ""
	}
	branch["base-repo.yaml"] = promotes.ReplaceAllString(anyURL.ReplaceAllString(branch["base-repo.yaml"], h.url(name)),
		"commit: "+promoted)
	branch["gitops-repo.yaml"] = anyURL.ReplaceAllString(branch["gitops-repo.yaml"], h.url(name+"-gitops"))
	h.commit(name, environment, branch)
	return promoted
}

var anyURL = regexp.MustCompile(`https://[^"'\s,}]+`)

// replaceURL replaces a URL, but not longer ones that start with it.
func replaceURL(text, old, with string) string {
	return regexp.MustCompile(regexp.QuoteMeta(old)+`(["'\s,}]|$)`).ReplaceAllString(text, with+"$1")
}

// TestAccControlPlaneGolden creates the repos of every small golden fleet and renders them through the data source.
func TestAccControlPlaneGolden(t *testing.T) {
	t.Parallel()
	r := newRootFrom(t, "testdata/TestAccControlPlane")
	r.write("terraform.tf", terraformBlock)
	h := newGitHost(t, gitserver.WithFilter())
	environments, wanted := map[string]string{}, map[string]map[string]string{}
	for _, g := range golden.WithTree(t) {
		environments[g.Name], wanted[g.Name] = g.Summary.Environment, g.Tree
		promoted := h.goldenRepos(g)
		if promoted != "" {
			g.Tree[promotedCommitPath] = promoted
		}
		if len(g.Existing) > 0 {
			h.existing(g.Name+"-gitops", g.Summary.Environment, g.Existing, g.Tree)
		} else {
			h.commit(g.Name+"-gitops", "main", map[string]string{"README.md": "GitOps\n"})
		}
	}
	r.write("terraform.tfvars.json", toJSON(t, h.variables(environments)))
	r.apply()
	r.expectEmptyPlan()
	for name, want := range wanted {
		if diff := cmp.Diff(want, rendered(t, h.dir(name+"-gitops"), environments[name])); diff != "" {
			t.Errorf("%s (-expected +branch):\n%s", name, diff)
		}
	}
}

// TestAccControlPlaneGoldenLarge does the same with the large golden fleet and its promoted commit. It compares the
// hash of all files.
func TestAccControlPlaneGoldenLarge(t *testing.T) {
	t.Parallel()
	g := golden.Named(t, "large-10k")
	h := newGitHost(t, gitserver.WithFilter())
	promoted := h.goldenRepos(g)
	h.commit(g.Name+"-gitops", "main", map[string]string{"README.md": "GitOps\n"})
	r := newRootFrom(t, "testdata/TestAccControlPlane")
	r.write("terraform.tf", terraformBlock)
	variables := h.variables(map[string]string{g.Name: g.Summary.Environment})
	variables["preview"] = "none"
	r.write("terraform.tfvars.json", toJSON(t, variables))
	r.apply()
	files := rendered(t, h.dir(g.Name+"-gitops"), g.Summary.Environment)
	if files[promotedCommitPath] != promoted {
		t.Errorf("the promoted commit is %q, want %s", files[promotedCommitPath], promoted)
	}
	commit, err := g.Promoted()
	if err != nil {
		t.Fatal(err)
	}
	files[promotedCommitPath] = commit
	if got := golden.SHA256(files); got != g.Summary.TreeSHA256 {
		t.Errorf("the tree's SHA-256 is %s, want %s", got, g.Summary.TreeSHA256)
	}
}

// existing commits files to the branch that a tree will be delivered to. It adds the files that must stay to the
// expected ones.
func (h *gitHost) existing(repo, branch string, files, wanted map[string]string) {
	h.t.Helper()
	h.commit(repo, branch, files)
	keepOthers(files, wanted)
}

// sample creates the repos of the real control plane, with the registration and the policy that the golden fleet
// sample-dev adds. It sets the BaseRepo's commit to the head of main, and returns it.
func (h *gitHost) sample() (promoted string) {
	h.t.Helper()
	additions := golden.Named(h.t, "sample-dev").Objects
	read := func(repo, branch string, added ...string) map[string]string {
		files := readTree(h.t, filepath.Join(samples, repo, branch))
		for _, at := range added {
			files[strings.TrimPrefix(at, "base/")] = additions[at]
		}
		for path, text := range files {
			if strings.HasPrefix(path, "workloads/") || strings.HasSuffix(path, "-repo.yaml") {
				files[path] = strings.ReplaceAll(text, "https://github.com/microsoft", h.URL)
			}
		}
		return files
	}
	promoted = h.commit("kalypso-control-plane", "main", read("kalypso-control-plane", "main",
		"base/workloads/hello-world-app.yaml"))
	dev := read("kalypso-control-plane", "dev", "scheduling/application-clusters/functional-test-policy.yaml")
	dev["base-repo.yaml"] = regexp.MustCompile(`commit: .*`).ReplaceAllString(dev["base-repo.yaml"], "commit: "+promoted)
	h.commit("kalypso-control-plane", "dev", dev)
	h.commit("kalypso-control-plane", "stage", read("kalypso-control-plane", "stage"))
	for _, repo := range []string{"kalypso-app-src", "kalypso-svc-src"} {
		h.commit(repo, "main", readTree(h.t, filepath.Join(samples, repo, "main")))
	}
	return promoted
}

// expectMove moves an application's repo and fails the test unless the plan shows which registration moved, from which
// commit to which, and the effect on the assignments.
func (h *gitHost) expectMove(r *root) {
	h.t.Helper()
	workload := readFile(h.t, filepath.Join(samples, "kalypso-app-src", "main", "workload", "workload.yaml"))
	from := gitserver.Rev(h.t, h.dir("kalypso-app-src"), "main")
	to := h.commit("kalypso-app-src", "main", map[string]string{"workload/workload.yaml": strings.Replace(workload,
		"name: functional-test", "name: canary", 1)})
	planned := r.succeed("plan", "-no-color").text()
	for _, text := range []string{
		"- `hello-world-app` from `" + h.url("kalypso-app-src") + "`: `" + from[:7] + "` → `" + to[:7] +
			"` (`workload/workload.yaml#hello-world-app`)",
		"| `drone` | `hello-world-app-canary` | `hello-world-app-functional-test` | |",
	} {
		if !strings.Contains(planned, text) {
			h.t.Errorf("the plan after the application moved does not say %q:\n%s", text, planned)
		}
	}
}

// TestAccControlPlaneSample renders dev of the real control plane, with the registration and the policy that the golden
// fleet adds, to branches that the operator wrote: that of the samples, and that of sample-dev-existing.
func TestAccControlPlaneSample(t *testing.T) {
	t.Parallel()
	for name, existing := range map[string]map[string]string{
		"samples":             readTree(t, filepath.Join(samples, "kalypso-gitops", "dev")),
		"sample-dev-existing": golden.Named(t, "sample-dev-existing").Existing,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newGitHost(t)
			promoted := h.sample()
			stage := readTree(t, filepath.Join(samples, "kalypso-gitops", "stage"))
			h.commit("kalypso-gitops", "stage", stage)
			wanted := golden.Named(t, "sample-dev").Tree
			wanted[promotedCommitPath] = promoted
			h.existing("kalypso-gitops", "dev", existing, wanted)

			r := newRootFrom(t, "testdata/TestAccControlPlane")
			r.write("terraform.tf", terraformBlock)
			r.write("terraform.tfvars.json", toJSON(t, h.variables(map[string]string{"kalypso-control-plane": "dev"})))
			r.apply()
			r.expectEmptyPlan()
			if diff := cmp.Diff(wanted, rendered(t, h.dir("kalypso-gitops"), "dev")); diff != "" {
				t.Errorf("dev (-expected +branch):\n%s", diff)
			}
			if diff := cmp.Diff(stage, rendered(t, h.dir("kalypso-gitops"), "stage")); diff != "" {
				t.Errorf("stage, which is not touched (-expected +branch):\n%s", diff)
			}
			h.expectMove(r)
		})
	}
}
