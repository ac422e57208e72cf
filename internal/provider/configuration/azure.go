package configuration

import (
	"strings"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/azure"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// azureAttribute configures access to Azure.
var azureAttribute = optionalObject("How `source.azure_resource_graph` of `kalypso_deployment_state` reaches Azure, "+
	"and as whom `azure_devops.entra` signs in. Without a client, the credential comes from the environment, as for "+
	"other Azure tools: `AZURE_*` variables, a managed identity, or `az login`. To trust other certificates than the "+
	"system's, set the environment variable `SSL_CERT_FILE` to a file with them.", map[string]schema.Attribute{
	"tenant_id":     optionalText("ID of the tenant."),
	"client_id":     optionalText("ID of the client (the application). With `client_secret` or `use_oidc`."),
	"client_secret": optionalSecret("Secret of the client."),
	"use_oidc": optionalBool("Whether to use the pipeline's token instead of a secret: from the file in " +
		"`AZURE_FEDERATED_TOKEN_FILE`, from `ARM_OIDC_TOKEN`, or from GitHub Actions for a job with the permission " +
		"`id-token: write`."),
	"environment": schema.StringAttribute{
		Optional: true,
		MarkdownDescription: "The cloud. One of `" + strings.Join(
			azure.Environments,
			"`, `",
		) + "`; the default is `" + azure.Environments[0] + "`.",
		Validators: []validator.String{stringvalidator.OneOf(azure.Environments...)},
	},
	"endpoint": optionalObject("URLs to use instead of the cloud's own URLs, as for a private cloud.",
		map[string]schema.Attribute{
			"active_directory_authority_host": optionalText(
				"URL of the authority, such as `https://login.microsoftonline.com/`.",
			),
			"resource_manager_endpoint": optionalText(
				"URL of the resource manager, such as `https://management.azure.com/`.",
			),
			"resource_manager_audience": optionalText(
				"Audience of the resource manager's tokens. The default is `resource_manager_endpoint`, else the cloud's " +
					"audience.",
			),
		}),
	"disable_instance_discovery": optionalBool(
		"Whether not to ask Microsoft whether the authority is valid, because Microsoft does not " +
			"know the authority of a private cloud. The default is `false`.",
	),
})

// azureSettings configures access to Azure.
type azureSettings struct {
	azure.Config
	Unknown bool // some value is not known yet
}

// readAzure reads the argument azure.
func readAzure(d tfvalue.Decoder) azureSettings {
	given, ok := d.Object("azure")
	if !ok {
		return azureSettings{}
	}
	all := azureSettings{Unknown: !d.Known("azure")}
	given.Read(&all.Config)
	if all.Unknown {
		return all
	}
	if err := all.Check(); err != nil {
		given.Report("Azure can't be used", problem.Sentence(err))
	}
	return all
}
