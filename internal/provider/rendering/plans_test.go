package provider_test

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/gitserver"
)

// maxPlanLines limits the lines that a plan of the sample prints for the resource and for warnings, without the
// documents, so that a reviewer reads it at a glance.
const maxPlanLines = 60

// TestAccPlans compares the plans of the real control plane's environment dev with recorded ones: its adoption, commits
// that change no object, and one change of each kind. Each apply does what its plan shows, and the next plan is empty.
func TestAccPlans(t *testing.T) {
	t.Parallel()
	h := newGitHost(t)
	h.sample()
	h.commit("kalypso-gitops", "dev", readTree(t, filepath.Join(samples, "kalypso-gitops", "dev")))
	r := newRootFrom(t, "testdata/TestAccPlans")
	r.write("terraform.tf", terraformBlock)
	r.write("terraform.tfvars.json", toJSON(t, map[string]any{"url": h.URL, "password": gitHostPassword}))

	shows := func(name string) {
		t.Helper()
		const changes = 2
		o := r.terraform("plan", "-no-color", "-detailed-exitcode", "-out=plan")
		if o.code != changes {
			t.Fatalf("%s: exit code %d\n%s\n%s", name, o.code, o.stdout, o.stderr)
		}
		shown := h.shown(o.stdout)
		expectText(t, filepath.Join("testdata", "TestAccPlans", name+".txt"), shown)
		_, resource, _ := strings.Cut(documents.ReplaceAllString(shown, ""), "will perform the following actions:\n")
		resource, warnings, _ := strings.Cut(resource, "\nPlan: ")
		for what, text := range map[string]string{"resource": resource, "warnings": warnings} {
			if lines := strings.Count(text, "\n"); lines >= maxPlanLines {
				t.Errorf("the plan %s has %d lines of the %s, and should have less than %d:\n%s",
					name, lines, what, maxPlanLines, text)
			}
		}
		r.applyPlan()
		r.expectEmptyPlan()
	}
	shows("adoption")

	// Commits that change no object are no change.
	h.commit("kalypso-control-plane", "dev", map[string]string{"NOTES.md": "Nothing of the fleet.\n"})
	h.commit("kalypso-control-plane", "main", map[string]string{"NOTES.md": "Nothing of the fleet.\n"})
	o := r.terraform("plan", "-no-color", "-detailed-exitcode")
	if o.code != 0 {
		t.Errorf("a commit that changes no object: exit code %d\n%s\n%s", o.code, o.stdout, o.stderr)
	}
	expectText(t, "testdata/TestAccPlans/no_object.txt", h.shown(o.stdout))

	dev := readTree(t, filepath.Join(samples, "kalypso-control-plane", "dev"))
	edited := func(file, old, with string) map[string]string {
		t.Helper()
		if !strings.Contains(dev[file], old) {
			t.Fatalf("%s of the sample has no %q", file, old)
		}
		return map[string]string{file: strings.ReplaceAll(dev[file], old, with)}
	}
	const (
		policy      = "scheduling/platform-services/observability-policy.yaml"
		clusterType = "cluster-types/west-us/small/small-cluster-type.yaml"
		newType     = "cluster-types/west-us/tiny/tiny-cluster-type.yaml"
	)
	for _, step := range []struct {
		name  string
		files map[string]string
	}{
		{"one_value", edited("cluster-types/west-us/west-us-config.yaml", "west:8806", "west:9906")},
		{"one_policy", map[string]string{"scheduling/performance-test.yaml": strings.NewReplacer(
			"observability-policy", "performance-test", "    workspace: platform-team\n", "",
			"stack: observability", "purpose: performance-test", "size: large", "size: small").Replace(dev[policy])}},
		{"moved_target", edited(policy, "size: large", "size: small")},
		{"one_cluster_type", map[string]string{newType: strings.ReplaceAll(dev[clusterType], "name: small", "name: tiny")}},
	} {
		if step.name == "moved_target" { // which leaves the cluster type large without any
			r.write("main_override.tf", "resource \"kalypso_environment_rendering\" \"dev\" {\n"+
				"  guardrails = { emptied = \"warn\" }\n}\n")
			r.apply()
		}
		h.commit("kalypso-control-plane", "dev", step.files)
		shows(step.name)
	}

	// Errors that stop a plan.
	refuses := func(name string) {
		t.Helper()
		o := r.terraform("plan", "-no-color")
		if o.code != 1 {
			t.Errorf("%s: exit code %d\n%s\n%s", name, o.code, o.stdout, o.stderr)
		}
		expectText(t, filepath.Join("testdata", "TestAccPlans", name+".txt"), h.shown(o.stderr))
	}
	h.commit("kalypso-control-plane", "dev", edited(clusterType, "size: small", "size: medium"))
	h.commit("kalypso-control-plane", "dev", edited(policy, "size: large", "size: smal"))
	refuses("too_much_goes")
	h.commit("kalypso-control-plane", "dev", map[string]string{clusterType: dev[clusterType]})
	h.commit("kalypso-control-plane", "dev", edited(policy, "size: large", "size: small"))
	r.expectEmptyPlan()
	h.commit(
		"kalypso-gitops",
		"dev",
		map[string]string{"small/observability-prometheus/platform-config.yaml": "by hand\n"},
	)
	refuses("drift")
}

// TestGuidePlans: the guides show the plans that the tests recorded.
func TestGuidePlans(t *testing.T) {
	t.Parallel()
	var seen strings.Builder
	for _, folder := range []string{
		"TestAccPlans", "TestAccRolloutPlans", "TestAccShortPlans", "TestAccUnknownClusterType",
	} {
		for _, file := range globAny(t, filepath.Join("testdata", folder, "*.txt")) {
			seen.WriteString(readFile(t, file))
		}
	}
	for _, guide := range []string{"reading-a-plan", "provisioning-clusters", "waves"} {
		excerpts := shown.FindAllStringSubmatch(readFile(t, "../../docs/guides/"+guide+".md"), -1)
		if len(excerpts) == 0 {
			t.Errorf("the guide %s shows nothing", guide)
		}
		for _, excerpt := range excerpts {
			if !strings.Contains(seen.String(), excerpt[1]) {
				t.Errorf("the guide %s shows what no test of plans has seen:\n%s", guide, excerpt[1])
			}
		}
	}
}

// documents returns the attribute manifests of a plan.
var documents = regexp.MustCompile(`(?ms)^      [+~] manifests .*?\n        }\n`)

var noise = regexp.MustCompile(`(?ms)^\S+: (Reading\.\.\.|Read complete|Refreshing state).*?\n` +
	`|^Warning: Provider development overrides.*?published\nreleases\.\n\n?|^─+\n.*\z`)

// printed returns the part of a plan's output that depends only on the configuration.
func printed(plan string) string { return strings.TrimSpace(noise.ReplaceAllString(plan, "")) + "\n" }

// shown returns a plan's output, with names that are the same in every run.
func (h *gitHost) shown(plan string) string {
	h.t.Helper()
	names := []string{h.URL, "https://github.com/acme"}
	for _, repo := range globAny(h.t, filepath.Join(h.Root, "*")) {
		branches := strings.Fields(gitserver.Git(h.t, repo, "for-each-ref", "--format=%(refname:short)"))
		for _, branch := range branches {
			commits := strings.Fields(gitserver.Git(h.t, repo, "rev-list", "--reverse", branch))
			for i, commit := range commits {
				name := sha256.Sum256(fmt.Appendf(nil, "%s %s %d", filepath.Base(repo), branch, i))
				names = append(names, commit, fmt.Sprintf("%x", name)[:len(commit)])
			}
		}
	}
	shown := strings.NewReplacer(names...).Replace(printed(plan))
	return changeID.ReplaceAllString(shown, `"$1-3f2a9c41d07b"`)
}

// changeID matches the ID of a refused change, which is a hash with the destination.
var changeID = regexp.MustCompile(`"([a-z]+)-[0-9a-f]{12}"`)
