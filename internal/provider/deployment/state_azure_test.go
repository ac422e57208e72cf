package deployment_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/clusters/azurefake"
)

// azure makes the module read its reports from a fake Azure.
func (d *deploymentRoot) azure(s *azurefake.Server, secret string) {
	d.T.Helper()
	d.Env = append(d.Env, "SSL_CERT_FILE="+s.CA)
	d.OwnProcess()
	d.Write("provider.tf", `
variable "azure" {
  type = any
}
provider "kalypso" {
  azure = var.azure
}
`)
	d.Set("azure", s.Provider(secret))
	d.Set("source_of_reports", map[string]any{
		"azure_resource_graph": map[string]any{"subscriptions": []string{"s"}, "management_groups": []string{}},
	})
}

// The Flux configurations in Azure Resource Graph decide the verdict, which can't be success without a configuration.
// If Azure does not answer, the verdict is pending, with a warning. If Azure refuses the request, the plan fails.
// Neither output, log nor state contains the secret.
func TestAccDeploymentStateAzure(t *testing.T) {
	t.Parallel()
	d := newDeploymentRoot(t)
	d.Set("gitops_repo", map[string]any{"repo": "file://" + d.repo, "branch": "stage", "path": "fleet"})
	commit := d.render(nil, map[string]string{"large": "one"})
	s := azurefake.New(t)
	d.azure(s, azurefake.Secret)
	d.OwnProcess("TF_LOG=TRACE")
	row := func(cluster, commit string) map[string]any {
		return azurefake.Configuration(cluster, "file://"+d.repo, "stage", "./fleet/large", "stage@sha1:"+commit)
	}
	d.Set("options", map[string]any{"expected": map[string]any{"large": map[string]any{
		"clusters": []string{strings.ToLower(azurefake.AKS("a")), azurefake.Cluster("b")},
	}}})

	if seen := d.look(); seen.Verdict != "pending" || seen.Folders["large"].Missing != 2 {
		t.Errorf("no configuration: %+v", seen)
	}
	s.Set("kubernetesconfigurationresources", row(azurefake.AKS("a"), commit), row(azurefake.Cluster("b"), commit))
	s.Set("resources", azurefake.Connected("b", "Connected"))
	if seen := d.look(); seen.Verdict != "success" || seen.Folders["large"].Current != 2 {
		t.Errorf("compliant: %+v", seen)
	}
	s.Set("resources", azurefake.Connected("b", "Offline"))
	if diff := cmp.Diff([]string{"offline " + azurefake.Cluster("b")}, d.look().states()); diff != "" {
		t.Errorf("offline (-want +got):\n%s", diff)
	}
	// The source does not answer in time.
	broken := azurefake.Error(http.StatusServiceUnavailable, "ServiceUnavailable", "x")
	s.Instead(broken, broken, broken, broken, broken, broken)
	d.Set("options", map[string]any{"timeouts": map[string]any{"read": "5s"}})
	if out := d.Apply().Text(); !strings.Contains(out, "A source did not answer") ||
		!strings.Contains(out, "Azure Resource Graph: no answer in time") ||
		!strings.Contains(out, `"verdict" = "pending"`) ||
		!strings.Contains(out, "no answer: Azure Resource Graph") {
		t.Errorf("no answer: %s", out)
	}
	s.Instead()
	d.Set("options", map[string]any{})
	s.Instead(
		azurefake.Error(
			http.StatusForbidden,
			"AuthorizationFailed",
			"The client does not have authorization over the subscription",
		),
	)
	d.ExpectError(
		[]string{
			"A source can't be used",
			"HTTP 403 AuthorizationFailed",
			"does not have authorization over the subscription",
		},
		"plan",
		"-no-color",
	)
	s.Instead(
		azurefake.Page(
			map[string]any{
				"totalRecords":    3,
				"count":           1,
				"data":            []any{row(azurefake.AKS("a"), commit)},
				"facets":          []any{},
				"resultTruncated": "true",
			},
		),
	)
	d.ExpectError([]string{"A source can't be used", "the answer is incomplete"}, "plan", "-no-color")

	d.azure(s, "canary-wrong")
	d.ExpectError([]string{"rejects the credential"}, "plan", "-no-color")
	d.Set("azure", map[string]any{"client_secret": "canary-alone"})
	d.ExpectError([]string{"Azure can't be used", "need tenant_id and client_id"}, "plan", "-no-color")
	d.Set("azure", map[string]any{"environment": "moon"})
	d.ExpectError([]string{`"public" "usgovernment" "china"`}, "plan", "-no-color")
	d.Set("azure", nil)
	d.Set("source_of_reports", map[string]any{"azure_resource_graph": map[string]any{}})
	d.ExpectError([]string{"Missing scope"}, "plan", "-no-color")

	for name, data := range acc.FilesBelow(t, d.Folder) {
		if name != "terraform.tfvars.json" && strings.Contains(string(data), "canary") {
			t.Errorf("%s contains a secret", name)
		}
	}
	if strings.Contains(d.Printed.String(), "canary") {
		t.Error("a secret was printed")
	}
}
