package rendering_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
)

// maxPlanLines limits the lines that a plan of the sample prints for the resource and for warnings, without the
// documents, so that a reviewer reads it at a glance.
const maxPlanLines = 60

// TestAccPlans compares the plans of the real control plane's environment dev with recorded ones: its adoption, commits
// that change no object, and one change of each kind. Each apply does what its plan shows, and the next plan is empty.
func TestAccPlans(t *testing.T) {
	t.Parallel()
	h := acc.NewGitHost(t)
	h.Sample()
	h.Commit("kalypso-gitops", "dev", acc.ReadTree(t, filepath.Join(acc.Samples, "kalypso-gitops", "dev")))
	r := acc.NewRootFrom(t, "testdata/TestAccPlans")
	r.Write("terraform.tfvars.json", acc.ToJSON(t, map[string]any{"url": h.URL, "password": acc.GitHostPassword}))

	shows := func(name string) {
		t.Helper()
		const changes = 2
		o := r.Terraform("plan", "-no-color", "-detailed-exitcode", "-out=plan")
		if o.Code != changes {
			t.Fatalf("%s: exit code %d\n%s\n%s", name, o.Code, o.Stdout, o.Stderr)
		}
		shown := h.Shown(o.Stdout)
		acc.ExpectText(t, filepath.Join("testdata", "TestAccPlans", name+".txt"), shown)
		_, resource, _ := strings.Cut(documents.ReplaceAllString(shown, ""), "will perform the following actions:\n")
		resource, warnings, _ := strings.Cut(resource, "\nPlan: ")
		for what, text := range map[string]string{"resource": resource, "warnings": warnings} {
			if lines := strings.Count(text, "\n"); lines >= maxPlanLines {
				t.Errorf("the plan %s has %d lines of the %s, and should have less than %d:\n%s",
					name, lines, what, maxPlanLines, text)
			}
		}
		r.ApplyPlan()
		r.ExpectEmptyPlan()
	}
	shows("adoption")

	// After commits that change no object, the plan is empty.
	h.Commit("kalypso-control-plane", "dev", map[string]string{"NOTES.md": "Nothing of the fleet.\n"})
	h.Commit("kalypso-control-plane", "main", map[string]string{"NOTES.md": "Nothing of the fleet.\n"})
	o := r.Terraform("plan", "-no-color", "-detailed-exitcode")
	if o.Code != 0 {
		t.Errorf("a commit that changes no object: exit code %d\n%s\n%s", o.Code, o.Stdout, o.Stderr)
	}
	acc.ExpectText(t, "testdata/TestAccPlans/no_object.txt", h.Shown(o.Stdout))

	dev := acc.ReadTree(t, filepath.Join(acc.Samples, "kalypso-control-plane", "dev"))
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
		if step.name == "moved_target" { // it leaves the cluster type large without a target
			r.Write("main_override.tf", "resource \"kalypso_environment_rendering\" \"dev\" {\n"+
				"  guardrails = { emptied = \"warn\" }\n}\n")
			r.Apply()
		}
		h.Commit("kalypso-control-plane", "dev", step.files)
		shows(step.name)
	}

	// Errors that stop a plan.
	refuses := func(name string) {
		t.Helper()
		o := r.Terraform("plan", "-no-color")
		if o.Code != 1 {
			t.Errorf("%s: exit code %d\n%s\n%s", name, o.Code, o.Stdout, o.Stderr)
		}
		acc.ExpectText(t, filepath.Join("testdata", "TestAccPlans", name+".txt"), h.Shown(o.Stderr))
	}
	h.Commit("kalypso-control-plane", "dev", edited(clusterType, "size: small", "size: medium"))
	h.Commit("kalypso-control-plane", "dev", edited(policy, "size: large", "size: smal"))
	refuses("too_much_goes")
	h.Commit("kalypso-control-plane", "dev", map[string]string{clusterType: dev[clusterType]})
	h.Commit("kalypso-control-plane", "dev", edited(policy, "size: large", "size: small"))
	r.ExpectEmptyPlan()
	h.Commit(
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
		for _, file := range acc.Glob(t, filepath.Join("testdata", folder, "*.txt")) {
			seen.WriteString(acc.ReadFile(t, file))
		}
	}
	for _, file := range acc.Glob(t, "../../kalypso/delivery/describe/testdata/*.md") {
		seen.WriteString(acc.ReadFile(t, file))
	}
	for _, guide := range []string{"reading-a-plan", "waves"} {
		excerpts := acc.Excerpts.FindAllStringSubmatch(acc.ReadFile(t, "../../../docs/guides/"+guide+".md"), -1)
		if len(excerpts) == 0 {
			t.Errorf("the guide %s shows no plan", guide)
		}
		for _, excerpt := range excerpts {
			if !strings.Contains(seen.String(), excerpt[1]) {
				t.Errorf("the guide %s shows a text that no recorded plan contains:\n%s", guide, excerpt[1])
			}
		}
	}
}

// documents matches the attribute manifests in a plan.
var documents = regexp.MustCompile(`(?ms)^      [+~] manifests .*?\n        }\n`)
