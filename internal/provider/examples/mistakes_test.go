package examples_test

import (
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// mistakesRoot is the root module of TestAccMistakes. Its fleet has two cluster types, two workloads, and a policy for
// each workload.
const mistakesRoot = acc.TerraformBlock + `
variable "host" {
  type = string
}

variable "password" {
  type = string
}

variable "environment" {
  type    = string
  default = "dev"
}

variable "branch" {
  type    = string
  default = "dev"
}

variable "adopt" {
  type    = bool
  default = null
}

provider "kalypso" {
  git_credentials = [{ url = var.host, username = "me", password = var.password }]
}

resource "kalypso_environment_rendering" "this" {
  environment = var.environment
  manifests   = { "fleet.yaml" = file("fleet.yaml") }
  gitops_repo = { repo = "${var.host}/gitops", branch = var.branch }
  adopt       = var.adopt
}
`

var mistakesFleet = strings.Join([]string{
	"apiVersion: scheduler.kalypso.io/v1alpha1\nkind: ClusterType\nmetadata: {name: large, labels: {size: large}}\n" +
		"spec: {reconciler: sync, namespaceService: namespace}\n",
	"apiVersion: scheduler.kalypso.io/v1alpha1\nkind: ClusterType\nmetadata: {name: small, labels: {size: small}}\n" +
		"spec: {reconciler: sync, namespaceService: namespace}\n",
	acc.KalypsoYAML("Template", "sync", `{type: reconciler, manifests: ["apiVersion: v1\nkind: ConfigMap\n`+
		`metadata: {name: sync, namespace: {{ .Namespace }}}\ndata: {path: {{ .Manifests.path }}}"]}`),
	acc.KalypsoYAML("Template", "namespace",
		`{type: namespace, manifests: ["apiVersion: v1\nkind: Namespace\nmetadata: {name: {{ .Namespace }}}"]}`),
	"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: west, labels: {platform-config: \"true\"}}\n" +
		"data: {DATABASE_URL: \"mysql://west\"}\n",
	acc.KalypsoYAML("SchedulingPolicy", "shop-web", "{deploymentTargetSelector: {labelSelector: {matchLabels: "+
		"{app: web}}}, clusterTypeSelector: {labelSelector: {matchLabels: {size: large}}}}"),
	acc.KalypsoYAML("SchedulingPolicy", "shop-api", "{deploymentTargetSelector: {labelSelector: {matchLabels: "+
		"{app: api}}}, clusterTypeSelector: {}}"),
	acc.KalypsoYAML("Workload", "web",
		"{deploymentTargets: [{name: test, environment: dev, labels: {app: web}, manifests: {path: ./web}}]}"),
	acc.KalypsoYAML("Workload", "api",
		"{deploymentTargets: [{name: test, environment: dev, labels: {app: api}, manifests: {path: ./api}}]}"),
}, "---\n")

// mistaken is a root module that was applied once, with its Git host.
type mistaken struct {
	*acc.Root
	host *acc.GitHost
}

// fleet writes the fleet with a replacement.
func (m *mistaken) fleet(old, with string) {
	m.T.Helper()
	if !strings.Contains(mistakesFleet, old) {
		m.T.Fatalf("the fleet does not contain %q", old)
	}
	m.Write("fleet.yaml", strings.Replace(mistakesFleet, old, with, 1))
}

// document returns the document of an object in the fleet.
func document(kind, name string) string {
	for d := range strings.SplitSeq(mistakesFleet, "---\n") {
		if strings.Contains(d, "kind: "+kind+"\n") && strings.Contains(d, "{name: "+name) {
			return d
		}
	}
	panic("no " + kind + " " + name)
}

// otherState is a root module with the same configuration, and a state of its own.
func (m *mistaken) otherState() *mistaken {
	m.T.Helper()
	o := &mistaken{acc.NewRoot(m.T, map[string]string{"main.tf": mistakesRoot, "fleet.yaml": mistakesFleet}), m.host}
	o.Set("host", m.host.URL)
	o.Set("password", acc.GitHostPassword)
	return o
}

// TestAccMistakes: the plan after each of the ten most usual mistakes stops, or warns if the change may be meant. It
// says what is wrong, and what to do. Once the mistake is mended, the plan is empty.
func TestAccMistakes(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		mistake string
		make    func(*mistaken)
		passes  bool     // the plan succeeds, with a warning
		says    []string // the plan
		mend    func(*mistaken)
	}{
		{mistake: "a typing error in a label", make: func(m *mistaken) { m.fleet("{app: web}}}", "{app: webb}}}") },
			says: []string{
				`Error: Deployment targets leave their last cluster types`,
				`web-test: leaves large; policy "shop-web" now selects app "webb" (did you mean "web"?)`,
				`it runs nowhere then`,
			}},
		{mistake: "a deleted policy", make: func(m *mistaken) {
			m.fleet(document("SchedulingPolicy", "shop-web")+"---\n", "")
		}, says: []string{
			`Error: Deployment targets leave their last cluster types`,
			`web-test: leaves large; policy "shop-web" is gone`,
		}},
		{mistake: "a renamed workload", make: func(m *mistaken) {
			m.fleet("kind: Workload\nmetadata: {name: web}", "kind: Workload\nmetadata: {name: website}")
		}, passes: true, says: []string{
			`Warning: A deployment target has another name`,
			`web-test → website-test: without namespace dev-large-web-test`,
			`Move the data first, or keep the old names`,
		}},
		{mistake: "the wrong branch", make: func(m *mistaken) { m.Set("branch", "dve") }, says: []string{
			`Error: Branch not found`,
			`has no branch "dve". Check the name`,
		}},
		{mistake: "another state applied", make: func(m *mistaken) {
			o := m.otherState()
			o.Set("adopt", true)
			o.fleet("./web", "./other")
			if out := o.Apply().Text(); !strings.Contains(out, "The state takes a rendering over") {
				m.T.Errorf("the other state takes the rendering over in silence:\n%s", out)
			}
		}, says: []string{
			`Error: Drift: another state applied this rendering`,
			`Render environment dev - large/web-test/reconciler.yaml`,
			`One rendering belongs to one state`,
		}, mend: func(m *mistaken) {
			m.fleet("./web", "./other")
			m.Apply() // the branch contains the tree already
		}},
		{mistake: "an expired token", make: func(m *mistaken) { m.Set("password", "expired") }, says: []string{
			`Error: Credentials refused`,
			`was used, and may have expired`,
			`check the provider's git_credentials`,
		}},
		{mistake: "an error in a template", make: func(m *mistaken) { m.fleet(".Manifests.path", ".Manifests.pth") },
			says: []string{
				`Error: Template rendering failed`,
				`template "sync", line 4: {{ .Manifests.pth }} prints a missing`,
				`large / web-test`,
			}},
		{mistake: "an empty value", make: func(m *mistaken) { m.fleet("mysql://west", "") }, passes: true,
			says: []string{
				`Warning: Config value becomes empty`,
				`DATABASE_URL Their workloads get an empty text`,
				`ConfigMap "west" from fleet.yaml`,
			}},
		{mistake: "the default workspace", make: func(m *mistaken) { m.Set("environment", "default") },
			says: []string{
				`Warning: The environment has the name of Terraform's default workspace`,
				`run terraform workspace select`,
				`Error: Change exceeds guardrails`,
			}},
		{mistake: "another workspace", make: func(m *mistaken) {
			m.Succeed("workspace", "new", "stage")
			m.Set("environment", "stage")
		}, says: []string{
			`Error: Destination is occupied`,
			`this is the rendering of environment "dev", not of "stage"`,
			`Check the workspace (terraform workspace show)`,
			`Error: Change exceeds guardrails`,
			`Environment that no workload names`,
		}, mend: func(m *mistaken) { m.Succeed("workspace", "select", "default") }},
		{mistake: "a newer provider on another machine", make: func(m *mistaken) {
			dir := m.host.Dir("gitops")
			record := gitserver.Git(m.T, dir, "show", "dev:.kalypso/rendering.json")
			m.host.Commit("gitops", "dev", map[string]string{
				".kalypso/rendering.json": strings.Replace(record, `"version": 1`, `"version": 2`, 1)})
		}, says: []string{
			`Error: The rendering's record is newer than the provider`,
			`upgrade the provider. Nothing was written`,
		}, mend: func(m *mistaken) {
			gitserver.Git(m.T, m.host.Dir("gitops"), "update-ref", "refs/heads/dev", "dev~1")
		}},
	} {
		t.Run(row.mistake, func(t *testing.T) {
			t.Parallel()
			host := acc.NewGitHost(t)
			host.Commit("gitops", "dev", map[string]string{"README.md": "# GitOps\n"})
			m := (&mistaken{&acc.Root{T: t}, host}).otherState()
			m.Apply()
			row.make(m)
			o := m.Terraform("plan", "-no-color")
			if (o.Code == 0) != row.passes {
				t.Errorf("the plan ended with %d", o.Code)
			}
			for _, text := range row.says {
				if !strings.Contains(o.Text(), text) {
					t.Errorf("the plan does not say %q:\n%s%s", text, o.Stdout, o.Stderr)
				}
			}
			for name, value := range map[string]any{"branch": "dev", "environment": "dev", "password": acc.GitHostPassword} {
				m.Set(name, value)
			}
			m.Write("fleet.yaml", mistakesFleet)
			if row.mend != nil {
				row.mend(m)
			}
			m.ExpectEmptyPlan()
		})
	}
}
