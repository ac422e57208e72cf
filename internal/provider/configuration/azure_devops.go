package configuration

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/provider/schema"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/azure"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/giturl"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// azureDevOpsAttribute configures access to Azure DevOps.
var azureDevOpsAttribute = optionalObject("Access to the API of Azure DevOps, and to its repos over HTTPS. Without "+
	"`token`, `entra` and `base_url`, the environment variable `AZDO_PERSONAL_ACCESS_TOKEN`, or else "+
	"`SYSTEM_ACCESSTOKEN`, is the token for Azure DevOps Services (dev.azure.com and visualstudio.com). If "+
	"`AZDO_ORG_SERVICE_URL` or `SYSTEM_COLLECTIONURI` names an organisation, the token is sent only to that "+
	"organisation.", withCertificates(map[string]schema.Attribute{
	"token": optionalSecret(
		"A personal access token with the scopes Code (read, write, status) and, to request reviews, " +
			"Identity (read); or the token of a pipeline, `System.AccessToken`.",
	),
	"base_url": optionalText("URL of a collection of an Azure DevOps Server, such as `https://tfs.acme.io/tfs/Main`, " +
		"version 2022.1 or newer. The default is Azure DevOps Services."),
	"entra": optionalBool("Whether to sign in with a token of Microsoft Entra. The credential of `azure` requests it: " +
		"a client with a secret, the pipeline's token, a managed identity, or `az login`. Git uses it for repos that no " +
		"`git_credentials` serve. It conflicts with `token`. The default is `false`."),
}))

// readEntra reads azure_devops.entra. It is known only if the credential is.
func readEntra(d tfvalue.Decoder, credential azureSettings) (entra, known bool) {
	given, _ := d.Object(azureDevOpsBlock)
	entra, known = given.Bool("entra")
	return entra, known && (!entra || !credential.Unknown)
}

// entraLogins signs in to Azure Repos with tokens of Entra.
type entraLogins struct{ tokens *azure.TokenSource }

// serves reports whether a repo gets a token: it is on Azure DevOps Services, over HTTPS.
func (e *entraLogins) serves(repo string) bool {
	at, err := giturl.Parse(repo)
	return e != nil && err == nil && at.Scheme == giturl.SchemeHTTPS && at.IsAzure()
}

func (e *entraLogins) login(ctx context.Context, refused gitremote.Login) (gitremote.Login, error) {
	token, err := e.tokens.Token(ctx, refused.Bearer)
	if err != nil {
		kind := gitremote.ErrUnauthorized
		if errors.Is(err, deployment.ErrNoAnswer) {
			kind = gitremote.ErrUnreachable
		}
		err = fmt.Errorf("%w: Microsoft Entra: %w", kind, err)
	}
	return gitremote.Login{Bearer: token, Source: "azure_devops.entra of the provider"}, err
}
