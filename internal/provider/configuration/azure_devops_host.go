package configuration

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/giturl"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/azuredevops"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/httpapi"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// azureDevOpsBlock is the name of the argument azure_devops.
const azureDevOpsBlock = "azure_devops"

// The environment variables with the token for Azure DevOps Services, in order of precedence, if none is configured;
// and the variables with the URL of the only organisation that may get it.
var (
	azureDevOpsTokenVariables  = []string{"AZDO_PERSONAL_ACCESS_TOKEN", "SYSTEM_ACCESSTOKEN"}
	azureDevOpsServerVariables = []string{"AZDO_ORG_SERVICE_URL", "SYSTEM_COLLECTIONURI"}
)

// readAzureDevOps reads the argument azure_devops, as one of the hosts. Without token, entra and base_url, it takes the
// token of the environment. logins sign in with Entra; nil: the token is the credential.
func readAzureDevOps(d tfvalue.Decoder, logins *entraLogins) hostSettings {
	h := hostSettings{
		name: "Azure DevOps", block: azureDevOpsBlock, noun: pullRequestNoun, source: "token or entra",
		public: "https://dev.azure.com",
	}
	signsIn := false
	if given, ok := h.readBlock(d, "https://tfs.acme.io/tfs/Main"); ok {
		entra, known := given.Bool("entra")
		signsIn = entra || !known
		if h.token != "" && entra {
			for _, argument := range []string{"token", "entra"} {
				given.Report("Two credentials for Azure DevOps", "token and entra are both set. Remove one of them.",
					problem.Attr(argument))
			}
		}
	}
	if h.token == "" && h.server == "" && !signsIn {
		h.token, h.organizations = azureDevOpsEnvironment(os.Getenv)
	}
	switch {
	case logins != nil:
		h.credential = "the block azure of the provider, which azure_devops.entra uses"
	case h.server != "":
		h.credential = "token in azure_devops of the provider"
	default:
		h.credential = "token or entra in azure_devops of the provider, or the environment variable " +
			azureDevOpsTokenVariables[0]
	}
	h.hasCredential = h.token != "" || logins != nil
	h.create = func(access httpapi.Access, anonymous bool) (githost.Host, error) {
		c := azuredevops.Config{Access: access}
		if !anonymous {
			c.Organizations = h.organizations
		}
		if !anonymous && logins != nil {
			c.Entra = logins.token
		}
		return azuredevops.New(c)
	}
	return h
}

// azureDevOpsEnvironment returns the token in the environment, and the organisations that may get it; none: all. If a
// variable names another server, there is no token.
func azureDevOpsEnvironment(variable func(string) string) (token string, organizations []string) {
	for _, name := range azureDevOpsServerVariables {
		text := variable(name)
		if text == "" {
			continue
		}
		at, err := giturl.Parse(strings.TrimRight(text, "/") + "/project/_git/repo")
		repo, ok := at.AzureRepo()
		if err != nil || !ok || at.Scheme != giturl.SchemeHTTPS {
			return "", nil
		}
		organizations = append(organizations, repo.Organization)
	}
	if len(organizations) == 2 && !strings.EqualFold(organizations[0], organizations[1]) {
		return "", nil // two organisations: it is unknown which of them the token is for
	}
	for _, name := range azureDevOpsTokenVariables {
		token = variable(name)
		if token != "" {
			return token, organizations
		}
	}
	return "", nil
}

// whyWithheld returns why the credential is not used for a repo of the host: it is for other organisations only. It
// returns "" if the credential is used.
func (h *hostSettings) whyWithheld(repo string) string {
	at, err := giturl.Parse(repo)
	if err != nil || len(h.organizations) == 0 {
		return ""
	}
	of, _ := at.AzureRepo()
	if slices.ContainsFunc(h.organizations, func(one string) bool { return strings.EqualFold(one, of.Organization) }) {
		return ""
	}
	return fmt.Sprintf("the token of the environment is for the organisation %s alone, and the repo is in %s",
		h.organizations[0], of.Organization)
}

// token returns a token for the API. If the server refused a token, it returns another one.
func (e *entraLogins) token(ctx context.Context, refused string) (string, error) {
	token, err := e.tokens.Token(ctx, refused)
	if errors.Is(err, deployment.ErrNoAnswer) {
		err = fmt.Errorf("%w: %w", githost.ErrUnavailable, err)
	}
	return token, err
}
