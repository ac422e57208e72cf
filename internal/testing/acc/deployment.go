package acc

import (
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/clusters/azurefake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/gitserver"
)

// Azure makes the module ask a fake Azure.
func (d *DeploymentRoot) Azure(s *azurefake.Server, secret string) {
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
	d.Set("azure", map[string]any{
		"tenant_id":                  azurefake.Tenant,
		"client_id":                  azurefake.Client,
		"client_secret":              secret,
		"disable_instance_discovery": true,
		"endpoint": map[string]any{
			"active_directory_authority_host": s.URL,
			"resource_manager_endpoint":       s.URL,
			"resource_manager_audience":       s.URL,
		},
	})
	d.Set(
		"source_of_reports",
		map[string]any{
			"azure_resource_graph": map[string]any{"subscriptions": []string{"s"}, "management_groups": []string{}},
		},
	)
}

// DeploymentRoot is a root module that observes the branch "stage" of a repo.
type DeploymentRoot struct {
	*Root
	Repo string
	vars map[string]any
}

// NewDeploymentRoot creates such a module from a copy of a folder.
func NewDeploymentRoot(t *testing.T, folder string) *DeploymentRoot {
	t.Helper()
	d := &DeploymentRoot{NewRootFrom(t, folder), gitserver.InitBare(t), map[string]any{}}
	d.Write("terraform.tf", TerraformBlock)
	d.Set("gitops_repo", map[string]any{"repo": "file://" + d.Repo, "branch": "stage", "path": "fleet"})
	return d
}

// Set sets a variable.
func (d *DeploymentRoot) Set(name string, value any) {
	d.T.Helper()
	d.vars[name] = value
	d.Write("terraform.tfvars.json", ToJSON(d.T, d.vars))
}

// Render commits a rendering to the branch: the contents of the cluster types' folders, with targets of these names.
func (d *DeploymentRoot) Render(record map[string]any, folders map[string]string) string {
	d.T.Helper()
	all := map[string]any{
		"version":         1,
		"environment":     "stage",
		"cluster_types":   []string{},
		"promoted_commit": strings.Repeat("c", 40),
	}
	files := map[string]string{"README.md": "GitOps\n"}
	var names []string
	for name, content := range folders {
		names = append(names, name)
		files["fleet/"+name+"/shop-web/namespace.yaml"] = content
	}
	all["cluster_types"] = names
	for key, value := range record {
		all[key] = value
	}
	files["fleet/"+RecordPath] = ToJSON(d.T, all)
	return gitserver.Seed(d.T, d.Repo, "stage", files)
}
