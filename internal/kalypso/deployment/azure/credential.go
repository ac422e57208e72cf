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
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/redact"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/localfile"
)

// Config configures the connection to Azure and its credential.
type Config struct {
	TenantID, ClientID, ClientSecret string
	UseOIDC                          bool   // use the pipeline's token instead of a secret
	Environment                      string // one of [Environments]; default: the first
	Endpoint                         Endpoint
	DisableInstanceDiscovery         bool // of the authority; private clouds need it
}

// Endpoint overrides the URLs of a cloud. "" keeps the environment's URL.
type Endpoint struct {
	ActiveDirectoryAuthorityHost, ResourceManagerEndpoint, ResourceManagerAudience string
}

var clouds = map[string]cloud.Configuration{
	"public": cloud.AzurePublic, "usgovernment": cloud.AzureGovernment, "china": cloud.AzureChina,
}

// Environments lists the known clouds, the default first.
var Environments = []string{"public", "usgovernment", "china"}

// Check validates the configuration. It contacts no server.
func (c Config) Check() error {
	for name, text := range map[string]string{
		"active_directory_authority_host": c.Endpoint.ActiveDirectoryAuthorityHost,
		"resource_manager_endpoint":       c.Endpoint.ResourceManagerEndpoint,
	} {
		if u, err := url.Parse(text); text != "" && (err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil) {
			return fmt.Errorf("endpoint.%s is not an https URL", name)
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
		return errors.New("client_id needs client_secret or use_oidc; to use the credential from environment variables, " +
			"a managed identity or az login, remove client_id")
	}
	return nil
}

// cloud returns the cloud with the overridden endpoints.
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

// options returns the options of clients, whose transport adds the tokens that it sends to secrets.
func (c Config) options(secrets *redact.Secrets) azcore.ClientOptions {
	return azcore.ClientOptions{
		Cloud: c.cloud(), Transport: transport(secrets),
		Retry:     policy.RetryOptions{MaxRetries: maxAttempts, RetryDelay: time.Second},
		Telemetry: policy.TelemetryOptions{ApplicationID: "terraform-kalypso"},
	}
}

// credential returns the credential: a client with its secret, a client with the pipeline's token, or that of the
// environment. It adds the pipeline's token to secrets.
func (c Config) credential(options azcore.ClientOptions, secrets *redact.Secrets) (azcore.TokenCredential, error) {
	switch {
	case c.ClientSecret != "":
		return azidentity.NewClientSecretCredential(
			c.TenantID,
			c.ClientID,
			c.ClientSecret,
			&azidentity.ClientSecretCredentialOptions{
				ClientOptions: options, DisableInstanceDiscovery: c.DisableInstanceDiscovery,
			},
		)
	case c.UseOIDC:
		assertion := func(ctx context.Context) (string, error) {
			token, err := pipelineToken(ctx)
			secrets.Add(token)
			return token, err
		}
		return azidentity.NewClientAssertionCredential(
			c.TenantID,
			c.ClientID,
			assertion,
			&azidentity.ClientAssertionCredentialOptions{
				ClientOptions: options, DisableInstanceDiscovery: c.DisableInstanceDiscovery,
			},
		)
	}
	return azidentity.NewDefaultAzureCredential(&azidentity.DefaultAzureCredentialOptions{
		ClientOptions: options, DisableInstanceDiscovery: c.DisableInstanceDiscovery, TenantID: c.TenantID,
	})
}

// maxToken limits the response that contains a pipeline's token, in bytes.
const maxToken = 1 << 20

// errNoToken names the places where a token was expected.
var errNoToken = errors.New(
	"use_oidc finds no token: none of AZURE_FEDERATED_TOKEN_FILE, ARM_OIDC_TOKEN and ACTIONS_ID_TOKEN_REQUEST_URL is " +
		"set (GitHub Actions sets the last one for a job with permission id-token: write)",
)

// pipelineToken returns the token that the pipeline gives this run: from a file, the environment or GitHub Actions.
func pipelineToken(ctx context.Context) (string, error) {
	if file := os.Getenv("AZURE_FEDERATED_TOKEN_FILE"); file != "" {
		token, err := localfile.Read(file, maxToken)
		if err != nil {
			return "", fmt.Errorf("the file in AZURE_FEDERATED_TOKEN_FILE can't be read: %w", err)
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

// requestToken requests a token from GitHub Actions.
func requestToken(ctx context.Context, from, bearer string) (string, error) {
	failed := errors.New("GitHub Actions gives this job no token; it needs the permission id-token: write")
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		return "", failed
	}
	query := req.URL.Query()
	query.Set("audience", "api://AzureADTokenExchange")
	req.URL.RawQuery = query.Encode()
	req.Header.Set("Authorization", "Bearer "+bearer)
	resp, err := transport(&redact.Secrets{}).Do(req)
	if err != nil {
		return "", failed
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxToken))
	var answer struct{ Value string }
	if err != nil || json.Unmarshal(text, &answer) != nil || answer.Value == "" {
		return "", failed
	}
	return answer.Value, nil
}
