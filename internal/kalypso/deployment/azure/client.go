package azure

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/resourcegraph/armresourcegraph"
	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/redact"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/clock"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/webproxy"
)

// Limits on queries and on the responses of Azure Resource Graph.
const (
	pageSize         = 1000 // maximum of the service
	maxRows          = 1_000_000
	maxResponseBytes = 64 << 20 // of a page
	maxReported      = 1 << 30  // bytes of the reports of all Flux configurations
	maxAttempts      = 5        // after "try again later" or no response
)

// client queries Azure Resource Graph.
type client struct {
	client  *arm.Client
	scope   Scope
	secrets *redact.Secrets
	now     time.Time // Azure's clock at the last response
}

// connect returns a client without contacting Azure. The configuration must be valid, see [Config.Check].
func connect(config Config, scope Scope) (*client, error) {
	g := &client{scope: scope, secrets: &redact.Secrets{}}
	g.secrets.Add(config.ClientSecret)
	options := config.options(g.secrets)
	credential, err := config.credential(options, g.secrets)
	if err != nil {
		return nil, explain(err, g.secrets)
	}
	g.client, err = arm.NewClient("armresourcegraph", "v1.0.0", credential,
		&arm.ClientOptions{ClientOptions: options, DisableRPRegistration: true})
	if err != nil {
		return nil, explain(err, g.secrets)
	}
	return g, nil
}

// errIncomplete means that rows of the answer are missing, so the answer can't be used.
var errIncomplete = errors.New("the answer is incomplete")

// answerPage is a page of an answer, with rows of a type: armresourcegraph.QueryResponse decodes them as any, and each
// has to be encoded and decoded again.
type answerPage[T any] struct {
	Count           *int64 `json:"count"`
	TotalRecords    *int64 `json:"totalRecords"`
	ResultTruncated string `json:"resultTruncated"`
	SkipToken       string `json:"$skipToken"`
	Data            []T    `json:"data"`
}

// query reads all pages of a query, and visits each row once, up to the first error. The query must order its rows by
// ID.
func query[T interface{ id() string }](ctx context.Context, g *client, text string, visit func(T) error) error {
	seen := map[[sha256.Size]byte]bool{} // hashes of IDs, which are long
	request := armresourcegraph.QueryRequest{
		Query: &text, Subscriptions: pointers(g.scope.Subscriptions), ManagementGroups: pointers(g.scope.ManagementGroups),
		Options: &armresourcegraph.QueryRequestOptions{
			ResultFormat: new(armresourcegraph.ResultFormatObjectArray), Top: new(int32(pageSize)),
		},
	}
	read := int64(0)
	for {
		page, quota, err := readPage[T](ctx, g, request)
		if err != nil {
			return err
		}
		read += int64(len(page.Data))
		for _, row := range page.Data {
			if row.id() == "" {
				return errors.New("the answer contains a row without an ID")
			}
			key := sha256.Sum256([]byte(strings.ToLower(row.id())))
			if !seen[key] { // a row may move to the next page between two requests
				seen[key] = true
				if err := visit(row); err != nil {
					return err
				}
			}
		}
		switch {
		case len(seen) > maxRows:
			return fmt.Errorf("the answer has more than %d rows; narrow subscriptions or management_groups", maxRows)
		case page.SkipToken == "":
			return page.complete(read)
		case len(page.Data) == 0:
			return fmt.Errorf("%w: an empty page announces more rows", errIncomplete)
		}
		request.Options.SkipToken = &page.SkipToken
		if err := clock.Sleep(ctx, quota); err != nil {
			return err
		}
	}
}

// complete returns an error if the last page does not end the answer.
func (page *answerPage[T]) complete(read int64) error {
	switch {
	case page.ResultTruncated == string(armresourcegraph.ResultTruncatedTrue):
		return fmt.Errorf("%w: it is truncated without a link to the next page", errIncomplete)
	case page.TotalRecords != nil && read < *page.TotalRecords:
		return fmt.Errorf("%w: it contains %d of %d rows", errIncomplete, read, *page.TotalRecords)
	}
	return nil
}

// tolerant makes the decoder of encoding/json/v2, which is twice as fast, accept what encoding/json accepts.
var tolerant = jsonv2.JoinOptions(jsonv2.MatchCaseInsensitiveNames(true), jsonv1.MatchCaseSensitiveDelimiter(true),
	jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// readPage reads one page and returns the wait before the next one.
func readPage[T any](
	ctx context.Context,
	g *client,
	request armresourcegraph.QueryRequest,
) (*answerPage[T], time.Duration, error) {
	text, header, err := g.post(ctx, request)
	if err != nil {
		return nil, 0, explain(err, g.secrets)
	}
	if at, err := http.ParseTime(header.Get("Date")); err == nil {
		g.now = at
	}
	page, err := parsePage[T](text)
	if err != nil {
		return nil, 0, err
	}
	return page, quotaPause(header), nil
}

func parsePage[T any](text []byte) (*answerPage[T], error) {
	page := &answerPage[T]{}
	if err := jsonv2.Unmarshal(text, page, tolerant); err != nil {
		return nil, errors.New("the rows of the answer don't have the format that Azure documents")
	}
	if page.Count != nil && int64(len(page.Data)) != *page.Count {
		return nil, fmt.Errorf("%w: a page announces %d rows and contains %d", errIncomplete, *page.Count, len(page.Data))
	}
	return page, nil
}

// queryPath is the path of the operation Client.Resources of armresourcegraph.
const queryPath = "/providers/Microsoft.ResourceGraph/resources?api-version=2024-04-01"

// post sends a query, and returns body and header of the response. A status other than 200 is an error.
func (g *client) post(ctx context.Context, request armresourcegraph.QueryRequest) ([]byte, http.Header, error) {
	req, err := runtime.NewRequest(ctx, http.MethodPost, strings.TrimSuffix(g.client.Endpoint(), "/")+queryPath)
	if err != nil {
		return nil, nil, err
	}
	req.Raw().Header.Set("Accept", "application/json")
	if err := runtime.MarshalAsJSON(req, request); err != nil {
		return nil, nil, err
	}
	resp, err := g.client.Pipeline().Do(req) //nolint:bodyclose // Payload and NewResponseError close it
	if err != nil {
		return nil, nil, err
	}
	if !runtime.HasStatusCode(resp, http.StatusOK) {
		return nil, nil, runtime.NewResponseError(resp)
	}
	text, err := runtime.Payload(resp)
	return text, resp.Header, err
}

// quotaPause returns the wait if the request quota is used up.
func quotaPause(header http.Header) time.Duration {
	if header.Get("x-ms-user-quota-remaining") != "0" {
		return 0
	}
	var hours, minutes, seconds int
	after := header.Get("x-ms-user-quota-resets-after")
	if _, err := fmt.Sscanf(after, "%d:%d:%d", &hours, &minutes, &seconds); err != nil {
		return 5 * time.Second // the window of the quota
	}
	return time.Duration(hours)*time.Hour + time.Duration(minutes)*time.Minute + time.Duration(seconds)*time.Second
}

// explain turns an error of the SDK into a short one without secrets. It wraps [deployment.ErrNoAnswer] if Azure did
// not answer.
func explain(err error, secrets *redact.Secrets) error {
	var answered *azcore.ResponseError
	var unauthenticated *azidentity.AuthenticationFailedError
	first, _, _ := strings.Cut(secrets.Redact(err.Error()), "\n")
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return deployment.ErrNoAnswer
	case errors.As(err, new(*http.MaxBytesError)):
		return errTooLarge
	case errors.As(err, &answered) && (answered.StatusCode == http.StatusTooManyRequests || answered.StatusCode >= 500):
		return fmt.Errorf("%w: Azure answered HTTP %d %s", deployment.ErrNoAnswer, answered.StatusCode, answered.ErrorCode)
	case errors.As(err, &answered):
		return fmt.Errorf(
			"the answer is HTTP %d %s%s",
			answered.StatusCode,
			answered.ErrorCode,
			serverMessage(answered.RawResponse, secrets),
		)
	case errors.As(err, &unauthenticated):
		message := serverMessage(unauthenticated.RawResponse, secrets)
		return errors.New("the authority rejects the credential: " + first + message)
	case strings.Contains(first, "DefaultAzureCredential"):
		return errors.New(
			"no Azure credential is configured: set client_id with client_secret or use_oidc in the provider's azure " +
				"argument, or run az login",
		)
	}
	return fmt.Errorf("%w: %s", deployment.ErrNoAnswer, first)
}

// serverMessage returns the message of a response.
func serverMessage(resp *http.Response, secrets *redact.Secrets) string {
	if resp == nil {
		return ""
	}
	text, err := runtime.Payload(resp)
	if err != nil {
		return ""
	}
	var answer struct {
		Error            json.RawMessage `json:"error"`
		ErrorDescription string          `json:"error_description"` // from the authority
	}
	_ = json.Unmarshal(text, &answer)
	var inner struct{ Message string }
	_ = json.Unmarshal(answer.Error, &inner)
	message, _, _ := strings.Cut(secrets.Redact(cmp.Or(inner.Message, answer.ErrorDescription)), "\n")
	if message == "" {
		return ""
	}
	return ": " + deployment.OneLine(message)
}

// transport returns a client that limits the size of responses and records the tokens that it sends. It follows no
// redirects, which would forward the token.
func transport(secrets *redact.Secrets) *http.Client {
	return &http.Client{
		Transport:     bounded{webproxy.Transport(), secrets},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

var errTooLarge = fmt.Errorf(
	"a response is larger than %d MiB; narrow subscriptions or management_groups",
	maxResponseBytes>>20,
)

// bounded limits the size of responses and adds the tokens that it sends to secrets, because a server may echo them.
type bounded struct {
	next    http.RoundTripper
	secrets *redact.Secrets
}

func (b bounded) RoundTrip(req *http.Request) (*http.Response, error) {
	_, token, _ := strings.Cut(req.Header.Get("Authorization"), " ")
	b.secrets.Add(token)
	resp, err := b.next.RoundTrip(req)
	if err == nil {
		resp.Body = http.MaxBytesReader(nil, resp.Body, maxResponseBytes)
	}
	return resp, err
}

func pointers(texts []string) []*string {
	var all []*string
	for _, text := range texts {
		all = append(all, &text)
	}
	return all
}
