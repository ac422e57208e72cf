package rendering_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

var refusedChange = regexp.MustCompile(`accepted_changes = \["([a-z]+-[0-9a-f]{12})"\]`)

// refusedID expects a plan to be refused with all of the texts and one ID to accept, and returns the ID.
func (r *rendering) refusedID(texts []string) string {
	r.T.Helper()
	ids := r.refusedIDs(texts)
	if len(ids) != 1 {
		r.T.Fatalf("the plan names the IDs %v", ids)
	}
	return ids[0]
}

// refusedIDs expects a plan to be refused with all of the texts, and returns the IDs to accept, sorted.
func (r *rendering) refusedIDs(texts []string) (ids []string) {
	r.T.Helper()
	r.expectRefused(texts, "plan")
	for _, found := range refusedChange.FindAllStringSubmatch(r.Terraform("plan", "-no-color").Text(), -1) {
		ids = append(ids, found[1])
	}
	slices.Sort(ids)
	return ids
}

// TestAccRenderingAcceptedChanges: the ID in an error allows the refused change, in plan and apply, and no other
// change.
func TestAccRenderingAcceptedChanges(t *testing.T) {
	t.Parallel()
	r := newRendering(t, gitserver.InitBare(t))
	r.options("create_branch", true, "deletion_protection", false)
	r.Set("targets", map[string]string{"a": "large", "b": "large", "c": "small"})
	r.expectCommits(1)

	// Drift. Another commit of people has another ID.
	byHand := func(content string) {
		t.Helper()
		gitserver.SeedFiles(t, r.repo, "dev", "By hand", map[string]gitserver.File{
			"large/app-a/reconciler.yaml": {Mode: "100644", Content: content},
		})
	}
	drifted := []string{"Drift: rendered folders changed outside Terraform"}
	byHand("one")
	first := r.refusedID(drifted)
	byHand("two")
	r.options("accepted_changes", []string{first})
	second := r.refusedID(drifted)
	if first == second || !strings.HasPrefix(second, "drift-") {
		t.Errorf("the IDs are %s and %s", first, second)
	}
	r.options("accepted_changes", []string{first, second})
	r.expectCommits(1)
	if out := r.Succeed("plan", "-no-color"); !strings.Contains(out.Text(), "Accepted changes are no longer needed") {
		t.Errorf("the plan does not note that the IDs are no longer needed:\n%s", out.Stdout)
	}

	// If a branch or a repo does not exist, the error says only that, and nothing about folders that the move would
	// remove. If other people own folders at the destination, this error and the error about the move come together.
	r.options("accepted_changes", nil, "create_branch", nil)
	for _, typo := range []struct{ argument, value, says string }{
		{"branch", "dve", "Branch not found"}, {"repo", "file://" + r.repo + ".typo", "Repo not found"},
	} {
		r.setDestination(typo.argument, typo.value)
		r.expectRefused([]string{typo.says, strings.TrimPrefix(typo.value, "file://")}, "plan")
		if out := r.Terraform("plan", "-no-color"); strings.Contains(out.Text(), "guardrails") {
			t.Errorf("a typo in the %s is reported as a guardrail:\n%s", typo.argument, out.Stderr)
		}
	}
	gitserver.Seed(t, r.repo, "live", map[string]string{"large/README.md": "Of people.\n"})
	r.setDestination("branch", "live", "repo", "file://"+r.repo)
	both := r.refusedIDs([]string{
		"Folders are not owned by this rendering", "Change exceeds guardrails", "moves away", "on_move",
	})
	if len(both) != 2 || !strings.HasPrefix(both[0], "move-") || !strings.HasPrefix(both[1], "occupied-") {
		t.Fatalf("the plan names the IDs %v", both)
	}
	r.options("accepted_changes", both)
	r.Apply()
	r.ExpectEmptyPlan()
	if files := gitserver.Tree(t, r.repo, "live"); files["large/README.md"] == "Of people.\n" ||
		files["small/app-c/reconciler.yaml"] == "" {
		t.Errorf("the new branch contains %v", files)
	}
	if files := gitserver.Tree(t, r.repo, "dev"); len(files) > 0 {
		t.Errorf("the previous branch contains %v", files)
	}
	r.options("accepted_changes", []string{"drift-3F2A"})
	r.ExpectError([]string{"Invalid ID of a change"}, "plan", "-no-color")
}

// TestAccRenderingOrphaned: one letter in the label of a policy, or a policy that is deleted, would take four of 28
// deployment targets off all nine cluster types. The plan fails with the policy. Its ID lets the change pass, in the
// plan and the apply. Once the policy is corrected instead, nothing changes.
func TestAccRenderingOrphaned(t *testing.T) {
	t.Parallel()
	const clusterTypes, workloads, folders = 9, 7, 9 * 7 * 4
	policy := func(app string) string {
		return acc.KalypsoYAML("SchedulingPolicy", "shop-"+app, fmt.Sprintf(
			"{deploymentTargetSelector: {labelSelector: {matchLabels: {app: %s}}}, clusterTypeSelector: {}}", app))
	}
	apps := []string{"web", "api", "job", "db", "log", "mail", "auth"}
	document := func(policies map[string]string) string {
		var all []string
		for i := range clusterTypes {
			all = append(all, acc.KalypsoYAML("ClusterType", fmt.Sprint("type-", i),
				"{reconciler: sync, namespaceService: sync-namespace}"))
		}
		all = append(all,
			acc.KalypsoYAML("Template", "sync", `{type: reconciler, manifests: ["# {{ .Namespace }}"]}`),
			acc.KalypsoYAML("Template", "sync-namespace", `{type: namespace, manifests: ["# {{ .Namespace }}"]}`))
		for i, app := range apps[:workloads] {
			var targets []string
			for n := range 4 {
				targets = append(targets, fmt.Sprintf("{name: t%d, environment: dev, labels: {app: %s}, manifests: {}}", n, app))
			}
			all = append(all, acc.KalypsoYAML("Workload", fmt.Sprint("w", i),
				"{deploymentTargets: ["+strings.Join(targets, ", ")+"]}"))
		}
		for _, app := range apps {
			if text, changed := policies[app]; changed {
				all = append(all, text)
			} else {
				all = append(all, policy(app))
			}
		}
		return strings.Join(slices.DeleteFunc(all, func(d string) bool { return d == "" }), "---\n")
	}
	r := acc.NewRoot(t, map[string]string{"fleet.yaml": document(nil), "main.tf": acc.TerraformBlock + `
variable "accepted" {
  type    = list(string)
  default = []
}

resource "kalypso_environment_rendering" "dev" {
  environment      = "dev"
  manifests        = { fleet = file("fleet.yaml") }
  gitops_repo      = { repo = "file://` + gitserver.InitBare(t) + `", branch = "dev" }
  create_branch    = true
  accepted_changes = var.accepted
}
`})
	r.Apply()
	if n := r.Rendered()["assignment_count"]; fmt.Sprint(n) != fmt.Sprint(folders) {
		t.Fatalf("%v folders, want %d", n, folders)
	}
	plan := func() string { return acc.TerraformWords(r.Terraform("plan", "-no-color").Text()) }
	var accept string
	for _, mistake := range []struct{ policy, says string }{
		{strings.Replace(policy("web"), "app: web", "app: webb", 1),
			`policy "shop-web" now selects app "webb" (did you mean "web"?)`},
		{"", `policy "shop-web" is gone`},
	} {
		r.Write("fleet.yaml", document(map[string]string{"web": mistake.policy}))
		out := plan()
		acc.ExpectTexts(t, out, "Deployment targets leave their last cluster types",
			"4 deployment targets leave their last cluster types of environment \"dev\"",
			"w0-t0: leaves type-0 and 8 more cluster types; "+mistake.says, "w0-t3: leaves type-0", "guardrails.orphaned")
		if strings.Contains(out, "w1-t0") || strings.Contains(out, "Deployment targets that no policy places") {
			t.Errorf("the plan names a target that stays, or the same targets twice:\n%s", out)
		}
		ids := refusedChange.FindAllStringSubmatch(out, -1)
		if len(ids) != 1 || !strings.HasPrefix(ids[0][1], "orphaned-") {
			t.Fatalf("the plan names the IDs %v", ids)
		}
		accept = ids[0][1]
		if o := r.Terraform("apply", "-auto-approve", "-no-color"); o.Code == 0 {
			t.Fatalf("the apply passes:\n%s", o.Text())
		}
		r.Write("fleet.yaml", document(nil))
		r.ExpectEmptyPlan()
	}
	r.Write("fleet.yaml", document(map[string]string{"web": ""}))
	r.Set("accepted", []string{accept})
	r.Succeed("plan", "-no-color", "-out=plan")
	r.ApplyPlan()
	if n := r.Rendered()["assignment_count"]; fmt.Sprint(n) != fmt.Sprint(folders-4*clusterTypes) {
		t.Errorf("%v folders stay", n)
	}
}

// TestAccRenderingRefusedTogether: for a rendering that is new to Terraform and renders nothing, one plan lists what is
// wrong with the tree and what is wrong on the branch. So one round of accepted_changes suffices.
func TestAccRenderingRefusedTogether(t *testing.T) {
	t.Parallel()
	repo := gitserver.InitBare(t)
	gitserver.Seed(t, repo, "dev", map[string]string{"large/app-a/theirs.yaml": "a: 1\n"})
	r := newRendering(t, repo)
	r.Set("targets", map[string]string{})
	ids := r.refusedIDs([]string{
		"The tree would be empty", "Folders are not owned by this rendering", "The change removes the only deployment target",
	})
	var kinds []string
	for _, id := range ids {
		kind, _, _ := strings.Cut(id, "-")
		kinds = append(kinds, kind)
	}
	if want := []string{"empty", "occupied", "removed"}; !slices.Equal(kinds, want) {
		t.Fatalf("the plan names the IDs %v, want %v", ids, want)
	}
	r.options("accepted_changes", ids)
	r.Apply()
	if files := gitserver.Tree(t, repo, "dev"); files["large/app-a/theirs.yaml"] != "" {
		t.Errorf("the branch contains %v", files)
	}
}
