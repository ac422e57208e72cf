package source_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet/fleetyaml"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/golden"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// goldenVariables returns the variables of the module testdata/TestAccControlPlane.
func goldenVariables(h *acc.GitHost, controlPlanes map[string]string) map[string]any {
	return map[string]any{"url": h.URL, "password": acc.GitHostPassword, "control_planes": controlPlanes}
}

// goldenRepos creates the repos of a golden fleet: <name> with the branch main and the branch of the environment,
// <name>-gitops, and a repo for each one that a registration names. It returns the promoted commit, or "" if the
// BaseRepo pins no commit. It changes only the URLs in registrations, BaseRepo and GitOpsRepo, which become URLs of the
// host.
func goldenRepos(h *acc.GitHost, g *golden.Fleet) (promoted string) {
	h.T.Helper()
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
		objects, _, ps := fleetyaml.Parse(h.T.Context(), problem.Origin{Key: path}, text)
		if err := ps.Err(); err != nil {
			h.T.Fatal(err)
		}
		for _, o := range objects {
			if r, ok := o.(*fleet.WorkloadRegistration); ok {
				repo := name + "-" + r.Name
				text = replaceURL(text, r.Repo, h.RepoURL(repo))
				files := map[string]string{}
				for file, document := range registered[r.Name] {
					files[filepath.Join(r.Path, file)] = document
				}
				if len(files) == 0 { // the Workloads of this registration are of other environments
					files[filepath.Join(r.Path,
						"w.yaml")] = "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: Workload\nmetadata: {name: of-" + r.Name + "}\n" +
						"spec: {deploymentTargets: [{name: t, environment: elsewhere}]}\n"
				}
				h.Commit(repo, r.Branch, files)
			}
		}
		base[path] = text
	}
	promoted = h.Commit(name, "main", base)
	promotes := regexp.MustCompile(`commit:.*`)
	if !promotes.MatchString(branch["base-repo.yaml"]) {
		promoted = ""
	}
	branch["base-repo.yaml"] = promotes.ReplaceAllString(
		anyURL.ReplaceAllString(branch["base-repo.yaml"], h.RepoURL(name)),
		"commit: "+promoted)
	branch["gitops-repo.yaml"] = anyURL.ReplaceAllString(branch["gitops-repo.yaml"], h.RepoURL(name+"-gitops"))
	h.Commit(name, environment, branch)
	return promoted
}

var anyURL = regexp.MustCompile(`https://[^"'\s,}]+`)

// replaceURL replaces a URL, but not longer URLs that start with it.
func replaceURL(text, old, with string) string {
	return regexp.MustCompile(regexp.QuoteMeta(old)+`(["'\s,}]|$)`).ReplaceAllString(text, with+"$1")
}

// TestAccControlPlaneGolden creates the repos of every small golden fleet and renders them through the data source.
func TestAccControlPlaneGolden(t *testing.T) {
	t.Parallel()
	r := acc.NewRootFrom(t, "testdata/TestAccControlPlane")
	h := acc.NewGitHost(t, gitserver.WithFilter())
	environments, wanted := map[string]string{}, map[string]map[string]string{}
	for _, g := range golden.WithTree(t) {
		environments[g.Name], wanted[g.Name] = g.Summary.Environment, g.Tree
		promoted := goldenRepos(h, g)
		if promoted != "" {
			g.Tree[acc.PromotedCommitPath] = promoted
		}
		if len(g.Existing) > 0 {
			keepExisting(h, g.Name+"-gitops", g.Summary.Environment, g.Existing, g.Tree)
		} else {
			h.Commit(g.Name+"-gitops", "main", map[string]string{"README.md": "GitOps\n"})
		}
	}
	r.Write("terraform.tfvars.json", acc.ToJSON(t, goldenVariables(h, environments)))
	r.Apply()
	r.ExpectEmptyPlan()
	for name, want := range wanted {
		if diff := cmp.Diff(want, acc.RenderedFiles(t, h.Dir(name+"-gitops"), environments[name])); diff != "" {
			t.Errorf("%s (-expected +branch):\n%s", name, diff)
		}
	}
}

// TestAccControlPlaneGoldenLarge does the same with the large golden fleet and its promoted commit. It compares the
// hash of all files.
func TestAccControlPlaneGoldenLarge(t *testing.T) {
	t.Parallel()
	g := golden.Named(t, "large-10k")
	h := acc.NewGitHost(t, gitserver.WithFilter())
	promoted := goldenRepos(h, g)
	h.Commit(g.Name+"-gitops", "main", map[string]string{"README.md": "GitOps\n"})
	r := acc.NewRootFrom(t, "testdata/TestAccControlPlane")
	variables := goldenVariables(h, map[string]string{g.Name: g.Summary.Environment})
	variables["preview"] = "none"
	r.Write("terraform.tfvars.json", acc.ToJSON(t, variables))
	r.Apply()
	files := acc.RenderedFiles(t, h.Dir(g.Name+"-gitops"), g.Summary.Environment)
	if files[acc.PromotedCommitPath] != promoted {
		t.Errorf("the promoted commit is %q, want %s", files[acc.PromotedCommitPath], promoted)
	}
	files[acc.PromotedCommitPath] = g.Promoted()
	if got := golden.SHA256(files); got != g.Summary.TreeSHA256 {
		t.Errorf("the tree's SHA-256 is %s, want %s", got, g.Summary.TreeSHA256)
	}
}

// keepExisting commits files to the branch that a tree will be delivered to. It adds the files that must stay to the
// wanted files.
func keepExisting(h *acc.GitHost, repo, branch string, files, wanted map[string]string) {
	h.T.Helper()
	h.Commit(repo, branch, files)
	acc.KeepForeign(files, wanted)
}

// expectMove pushes a commit to an application's repo, and fails the test unless the plan shows which registration
// moved, from which commit to which, and the effect on the assignments.
func expectMove(h *acc.GitHost, r *acc.Root) {
	h.T.Helper()
	workload := acc.ReadFile(h.T, filepath.Join(acc.Samples, "kalypso-app-src", "main", "workload", "workload.yaml"))
	from := gitserver.Rev(h.T, h.Dir("kalypso-app-src"), "main")
	to := h.Commit("kalypso-app-src", "main", map[string]string{"workload/workload.yaml": strings.Replace(workload,
		"name: functional-test", "name: canary", 1)})
	planned := r.Succeed("plan", "-no-color").Text()
	for _, text := range []string{
		"- `hello-world-app` from `" + h.RepoURL("kalypso-app-src") + "`: `" + from[:7] + "` → `" + to[:7] +
			"` (`workload/workload.yaml#hello-world-app`)",
		"`hello-world-app-functional-test` → `hello-world-app-canary`, so this namespace goes",
	} {
		if !strings.Contains(planned, text) {
			h.T.Errorf("the plan after the commit of the application does not say %q:\n%s", text, planned)
		}
	}
}

// TestAccControlPlaneSample renders dev of the real control plane, with the registration and the policy that the golden
// fleet adds, to branches that the operator wrote, in the samples and in sample-dev-existing.
func TestAccControlPlaneSample(t *testing.T) {
	t.Parallel()
	for name, existing := range map[string]map[string]string{
		"samples":             acc.ReadTree(t, filepath.Join(acc.Samples, "kalypso-gitops", "dev")),
		"sample-dev-existing": golden.Named(t, "sample-dev-existing").Existing,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := acc.NewGitHost(t)
			promoted := h.Sample()
			stage := acc.ReadTree(t, filepath.Join(acc.Samples, "kalypso-gitops", "stage"))
			h.Commit("kalypso-gitops", "stage", stage)
			wanted := golden.Named(t, "sample-dev").Tree
			wanted[acc.PromotedCommitPath] = promoted
			keepExisting(h, "kalypso-gitops", "dev", existing, wanted)

			r := acc.NewRootFrom(t, "testdata/TestAccControlPlane")
			r.Write("terraform.tfvars.json", acc.ToJSON(t,
				goldenVariables(h, map[string]string{"kalypso-control-plane": "dev"})))
			r.Apply()
			r.ExpectEmptyPlan()
			if diff := cmp.Diff(wanted, acc.RenderedFiles(t, h.Dir("kalypso-gitops"), "dev")); diff != "" {
				t.Errorf("dev (-expected +branch):\n%s", diff)
			}
			if diff := cmp.Diff(stage, acc.RenderedFiles(t, h.Dir("kalypso-gitops"), "stage")); diff != "" {
				t.Errorf("stage, which must not change (-before +after):\n%s", diff)
			}
			expectMove(h, r)
		})
	}
}
