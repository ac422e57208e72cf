package rendering_test

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
)

// limitedRoot renders a fleet of two cluster types and one workload with three targets, with the limits of a variable.
var limitedRoot = map[string]string{
	"main.tf": acc.TerraformBlock + `
variable "limits" {
  type    = any
  default = null
}

variable "path" {
  default = "./apps"
}

resource "kalypso_environment_rendering" "this" {
  environment   = "dev"
  delivery      = { strategy = "none" }
  limits        = var.limits
  cluster_types = {
    for name in ["large", "small"] : name => { name = name, reconciler = "r", namespace_service = "n" }
  }
  templates = {
    r = { name = "r", type = "reconciler", manifests = [file("${path.module}/reconciler.yaml")] }
    n = { name = "n", type = "namespace", manifests = ["# {{ .Namespace }}\n"] }
  }
  scheduling_policies = {
    all = {
      name                       = "all"
      deployment_target_selector = { match_all = true }
      cluster_type_selector      = { match_all = true }
    }
  }
  workloads = { app = { name = "app", deployment_targets = [
    for name in ["a", "b", "c"] : { name = name, environment = "dev", manifests = { path = var.path } }
  ] } }
  manifests = { "empty.yaml" = "# nothing" }
}
`,
	"reconciler.yaml": kustomization + "spec: { path: {{ .Manifests.path | quote }} }\n",
}

// kustomization is the beginning of an object in a template.
const kustomization = "apiVersion: g.io/v1\nkind: Kustomization\nmetadata: { name: {{ .Namespace }} }\n"

// TestAccLimits sets each limit to the size of the fleet, which is accepted, and to a smaller value, for which the plan
// has an error that names the limit.
func TestAccLimits(t *testing.T) {
	t.Parallel()
	r := acc.NewRoot(t, limitedRoot)
	r.Apply()
	r.ExpectEmptyPlan()
	r.Apply("-var", `limits={assignments = 6, targets_per_workload = 3, file_size = "1Ki", manifests = "9"}`)
	r.ExpectEmptyPlan("-var", `limits={assignments = 6, targets_per_workload = 3, file_size = "1Ki", manifests = "9"}`)
	for limits, want := range map[string][]string{
		`{assignments = 5}`: {"Too many assignments", "6 assignments; limits.assignments allows 5"},
		`{targets_per_workload = 2}`: {"Too many deployment targets",
			`3 deployment targets in environment "dev"; limits.targets_per_workload allows 2`},
		`{file_size = "32"}`:   {"Template rendering failed", "limits.file_size allows 32 bytes"},
		`{manifests = "8"}`:    {"Too much Kalypso YAML", "9 bytes; limits.manifests allows 8 bytes", "empty.yaml"},
		`{assignments = 0}`:    {"Invalid limit", "0 is less than 1"},
		`{file_size = "1 MB"}`: {"Invalid limit", "512Ki, 1Mi or 100M"},
	} {
		r.ExpectError(want, "plan", "-no-color", "-var", "limits="+limits)
	}
}

// TestAccTeamText plans texts of a team that would be harmful if a template or YAML interpreted them.
func TestAccTeamText(t *testing.T) {
	t.Parallel()
	r := acc.NewRoot(t, limitedRoot)
	r.Apply("-var", `path=a: "b" # c`)
	r.ExpectError([]string{"Invalid text", "contains {{", "workloads[\"app\"]"}, "plan", "-no-color", "-var",
		"path={{ .ConfigData.V }}")
	r.ExpectError([]string{"Invalid text", "line break (U+000A)"}, "plan", "-no-color", "-var", "path=a\nkind: Secret")
	r.Write("reconciler.yaml", kustomization+"spec: { path: {{ .Manifests.path }} }\n")
	r.ExpectError([]string{
		"Template rendering failed", `manifests["path"] = "a, kind: Secret"`, "{{ .Manifests.path | quote }}",
		"large / app-a",
	},
		"plan", "-no-color", "-var", "path=a, kind: Secret")
}

// TestAccMessageLimit validates YAML that fits into one message of Terraform's protocol once but not three times:
// without the check, the second plan would fail.
func TestAccMessageLimit(t *testing.T) {
	t.Parallel()
	r := acc.NewRoot(t, limitedRoot)
	r.Write("main.tf", strings.ReplaceAll(limitedRoot["main.tf"], `"# nothing"`, `file("${path.module}/big.yaml")`))
	r.Write("big.yaml", strings.Repeat("# "+strings.Repeat("x", 97)+"\n", 900_000))
	r.ExpectError([]string{"Too much YAML for Terraform", "have 90 MB", "leaves 89 MB"}, "validate", "-no-color")
}

// slowRoot returns a root module whose plan renders for minutes.
func slowRoot(t *testing.T) *acc.Root {
	t.Helper()
	r := acc.NewRoot(t, limitedRoot)
	main := strings.ReplaceAll(limitedRoot["main.tf"], `["a", "b", "c"]`, "[for i in range(1000) : \"t${i}\"]")
	r.Write("main.tf", main)
	loops := "{{ if .Namespace }}{{ range 700 }}{{ range 700 }}{{ end }}{{ end }}{{ end }}"
	r.Write("reconciler.yaml", "# {{ .Namespace }}"+loops+"\n")
	return r
}

// TestAccTimeoutOfPlan: a timeout ends a plan that renders for minutes, and the error names the timeouts.
func TestAccTimeoutOfPlan(t *testing.T) {
	t.Parallel()
	r := slowRoot(t)
	main := acc.ReadFile(t, filepath.Join(r.Folder, "main.tf"))
	r.Write("main.tf", strings.Replace(main, "  limits ", "  timeouts = { create = \"2s\" }\n  limits ", 1))
	start := time.Now()
	r.ExpectError([]string{"Timeout exceeded", "Raise timeouts"}, "plan", "-no-color")
	if took := time.Since(start); took > 40*time.Second {
		t.Errorf("the rendering took %s to stop", took)
	}
}

// TestAccInterrupt interrupts a plan that renders for minutes.
func TestAccInterrupt(t *testing.T) {
	t.Parallel()
	r := slowRoot(t)
	r.StartProviders()
	r.Env = append(r.Env, "TF_LOG_PROVIDER=DEBUG")
	cmd := r.Command("plan", "-no-color")
	out, in := io.Pipe()
	cmd.Stdout, cmd.Stderr = in, in
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		ended <- cmd.Wait()
		in.Close()
	}()
	var printed strings.Builder
	var interrupted time.Time
	for lines := bufio.NewScanner(out); lines.Scan(); {
		printed.WriteString(lines.Text() + "\n")
		if strings.Contains(lines.Text(), "tf_rpc=PlanResourceChange") && interrupted.IsZero() {
			interrupted = time.Now()
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := <-ended; err == nil || !strings.Contains(printed.String(), "Rendering was stopped") {
		t.Errorf("%v\n%.5000s", err, printed.String())
	}
	if took := time.Since(interrupted); took > 20*time.Second {
		t.Errorf("the rendering took %s to stop", took)
	}
}
