package configuration

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	giturl "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/url"
	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host/azuredevops"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host/httpapi"
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

// azureDevOpsSettings configures the API of Azure DevOps.
type azureDevOpsSettings struct {
	Token   string
	BaseURL string // empty: Azure DevOps Services
	// Organizations are the organisations that get the token; empty: all.
	Organizations []string
	entra         *entraLogins // nil: Token is the credential
	certificates
}

// credential names the arguments with the credential.
func (a azureDevOpsSettings) credential() string {
	switch {
	case a.entra != nil:
		return "the block azure of the provider, which azure_devops.entra uses"
	case a.BaseURL != "":
		return "token in azure_devops of the provider"
	}
	return "token or entra in azure_devops of the provider, or the environment variable " + azureDevOpsTokenVariables[0]
}

// readAzureDevOps reads the argument azure_devops. Without token, entra and base_url, it takes the token of the
// environment.
func readAzureDevOps(d tfvalue.Decoder, logins *entraLogins) azureDevOpsSettings {
	a := azureDevOpsSettings{entra: logins}
	signsIn := false
	if given, ok := d.Object(azureDevOpsBlock); ok {
		a.Token, a.BaseURL = given.String("token"), given.String("base_url")
		checkBaseURL(given, a.BaseURL, "https://tfs.acme.io/tfs/Main")
		a.certificates = readCertificates(given, a.BaseURL)
		entra, known := given.Bool("entra")
		signsIn = entra || !known
		if a.Token != "" && entra {
			for _, argument := range []string{"token", "entra"} {
				given.Report("Two credentials for Azure DevOps", "token and entra are both set. Remove one of them.",
					problem.Attr(argument))
			}
		}
	}
	if a.Token == "" && a.BaseURL == "" && !signsIn {
		a.Token, a.Organizations = azureDevOpsEnvironment(os.Getenv)
	}
	return a
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
		if token = variable(name); token != "" {
			return token, organizations
		}
	}
	return "", nil
}

// settings returns Azure DevOps as one of the hosts.
func (a azureDevOpsSettings) settings() hostSettings {
	return hostSettings{
		name: "Azure DevOps", block: azureDevOpsBlock, noun: pullRequestNoun, credential: a.credential(),
		source: "token or entra", hasCredential: a.Token != "" || a.entra != nil, withheld: a.withheld,
		unknown: AnyUnknown(a.Token, a.BaseURL), server: a.BaseURL,
		public: "https://dev.azure.com", certificates: a.certificates,
		token: a.Token,
		create: func(access httpapi.Access, anonymous bool) (githost.Host, error) {
			c := azuredevops.Config{Access: access}
			if !anonymous {
				c.Organizations = a.Organizations
			}
			if !anonymous && a.entra != nil {
				c.Entra = a.entra.token
			}
			return azuredevops.New(c)
		},
	}
}

// withheld returns why a repo does not get the token: it is for other organisations.
func (a azureDevOpsSettings) withheld(repo string) string {
	at, err := giturl.Parse(repo)
	if err != nil || len(a.Organizations) == 0 {
		return ""
	}
	of, _ := at.AzureRepo()
	if slices.ContainsFunc(a.Organizations, func(one string) bool { return strings.EqualFold(one, of.Organization) }) {
		return ""
	}
	return fmt.Sprintf("the token of the environment is for the organisation %s alone, and the repo is in %s",
		a.Organizations[0], of.Organization)
}

// token returns a token for the API. If the server refused a token, it returns another one.
func (e *entraLogins) token(ctx context.Context, refused string) (string, error) {
	token, err := e.tokens.Token(ctx, refused)
	if errors.Is(err, deployment.ErrNoAnswer) {
		err = fmt.Errorf("%w: %w", githost.ErrUnavailable, err)
	}
	return token, err
}
