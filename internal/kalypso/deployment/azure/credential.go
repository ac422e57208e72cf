package azure

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/redact"
)

// Config says how Azure is reached, and as whom.
type Config struct {
	TenantID, ClientID, ClientSecret string
	UseOIDC                          bool   // with the token of the pipeline, in place of a secret
	Environment                      string // one of [Environments]; "": the first
	Endpoint                         Endpoint
	DisableInstanceDiscovery         bool // of the authority, as private clouds need it
}

// Endpoint is what of a cloud lies elsewhere; "": as in the environment.
type Endpoint struct {
	ActiveDirectoryAuthorityHost, ResourceManagerEndpoint, ResourceManagerAudience string
}

var clouds = map[string]cloud.Configuration{
	"public": cloud.AzurePublic, "usgovernment": cloud.AzureGovernment, "china": cloud.AzureChina,
}

// Environments are the clouds that are known by name, the default first.
var Environments = []string{"public", "usgovernment", "china"}

// Check says what does not go together, or nil. Nothing is contacted.
func (c Config) Check() error {
	for name, text := range map[string]string{
		"active_directory_authority_host": c.Endpoint.ActiveDirectoryAuthorityHost,
		"resource_manager_endpoint":       c.Endpoint.ResourceManagerEndpoint,
	} {
		if u, err := url.Parse(text); text != "" && (err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil) {
			return fmt.Errorf("endpoint.%s is no https URL", name)
		}
	}
	switch {
	case c.Environment != "" && !slices.Contains(Environments, c.Environment):
		return fmt.Errorf("environment %q is not one of %s", c.Environment, strings.Join(Environments, ", "))
	case c.ClientSecret != "" && c.UseOIDC:
		return errors.New("both client_secret and use_oidc are set; remove one of them")
	case (c.ClientSecret != "" || c.UseOIDC) && (c.TenantID == "" || c.ClientID == ""):
		return errors.New("client_secret and use_oidc need tenant_id and client_id")
	case c.ClientID != "" && c.ClientSecret == "" && !c.UseOIDC:
		return errors.New("client_id needs client_secret or use_oidc; without both, leave it out, and the environment says who asks")
	}
	return nil
}

// cloud is the cloud with the endpoints that lie elsewhere.
func (c Config) cloud() cloud.Configuration {
	made := clouds[Environments[0]]
	if c.Environment != "" {
		made = clouds[c.Environment]
	}
	made.Services = maps.Clone(made.Services)
	if c.Endpoint.ActiveDirectoryAuthorityHost != "" {
		made.ActiveDirectoryAuthorityHost = c.Endpoint.ActiveDirectoryAuthorityHost
	}
	manager := made.Services[cloud.ResourceManager]
	if c.Endpoint.ResourceManagerEndpoint != "" {
		manager.Endpoint = strings.TrimSuffix(c.Endpoint.ResourceManagerEndpoint, "/")
		manager.Audience = manager.Endpoint
	}
	if c.Endpoint.ResourceManagerAudience != "" {
		manager.Audience = c.Endpoint.ResourceManagerAudience
	}
	made.Services[cloud.ResourceManager] = manager
	return made
}

// credential returns who asks: a client with its secret, a client with the token of the pipeline, or whoever the
// environment names. It adds the pipeline's token to secrets.
func (c Config) credential(options azcore.ClientOptions, secrets *redact.Secrets) (azcore.TokenCredential, error) {
	switch {
	case c.ClientSecret != "":
		return azidentity.NewClientSecretCredential(c.TenantID, c.ClientID, c.ClientSecret, &azidentity.ClientSecretCredentialOptions{
			ClientOptions: options, DisableInstanceDiscovery: c.DisableInstanceDiscovery,
		})
	case c.UseOIDC:
		assertion := func(ctx context.Context) (string, error) {
			token, err := pipelineToken(ctx)
			secrets.Add(token)
			return token, err
		}
		return azidentity.NewClientAssertionCredential(c.TenantID, c.ClientID, assertion, &azidentity.ClientAssertionCredentialOptions{
			ClientOptions: options, DisableInstanceDiscovery: c.DisableInstanceDiscovery,
		})
	}
	return azidentity.NewDefaultAzureCredential(&azidentity.DefaultAzureCredentialOptions{
		ClientOptions: options, DisableInstanceDiscovery: c.DisableInstanceDiscovery, TenantID: c.TenantID,
	})
}

// maxToken bounds the answer that holds a pipeline's token.
const maxToken = 1 << 20

// errNoToken says where a token is looked for.
var errNoToken = errors.New("use_oidc finds no token: neither AZURE_FEDERATED_TOKEN_FILE nor ARM_OIDC_TOKEN is set, nor what GitHub Actions sets " +
	"for a job with permission id-token: write (ACTIONS_ID_TOKEN_REQUEST_URL)")

// pipelineToken is the token that the pipeline gives this run: in a file, in the environment, or from GitHub Actions.
func pipelineToken(ctx context.Context) (string, error) {
	if file := os.Getenv("AZURE_FEDERATED_TOKEN_FILE"); file != "" {
		token, err := os.ReadFile(file) //nolint:gosec // the pipeline names it
		if err != nil {
			return "", errors.New("the file that AZURE_FEDERATED_TOKEN_FILE names can't be read")
		}
		return strings.TrimSpace(string(token)), nil
	}
	if token := os.Getenv("ARM_OIDC_TOKEN"); token != "" {
		return token, nil
	}
	from, bearer := os.Getenv("ACTIONS_ID_TOKEN_REQUEST_URL"), os.Getenv("ACTIONS_ID_TOKEN_REQUEST_TOKEN")
	if from == "" || bearer == "" {
		return "", errNoToken
	}
	return requestToken(ctx, from, bearer)
}

// requestToken asks GitHub Actions for a token.
func requestToken(ctx context.Context, from, bearer string) (string, error) {
	failed := errors.New("GitHub Actions gives this job no token; it needs the permission id-token: write")
	at, err := url.Parse(from)
	if err != nil {
		return "", failed
	}
	query := at.Query()
	query.Set("audience", "api://AzureADTokenExchange")
	at.RawQuery = query.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return "", failed
	}
	req.Header.Set("Authorization", "Bearer "+bearer)
	resp, err := transport(&redact.Secrets{}).Do(req)
	if err != nil {
		return "", failed
	}
	defer resp.Body.Close()
	var answer struct{ Value string }
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxToken)).Decode(&answer); err != nil || answer.Value == "" {
		return "", failed
	}
	return answer.Value, nil
}
