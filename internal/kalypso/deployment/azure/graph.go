package azure

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/resourcegraph/armresourcegraph"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/clock"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/redact"
)

// Bounds of what Azure Resource Graph may answer.
const (
	pageSize  = 1000 // the most that it gives
	maxRows   = 100000
	maxAnswer = 64 << 20 // bytes of a page
	tries     = 5        // after an answer that says to come back, or none
)

// graph is a conversation with Azure Resource Graph.
type graph struct {
	client  *armresourcegraph.Client
	scope   Scope
	secrets *redact.Secrets
	now     time.Time // by Azure's clock, at the last answer
}

// connect makes a conversation. Nothing is contacted.
func connect(config Config, scope Scope) (*graph, error) {
	if err := config.Check(); err != nil {
		return nil, err
	}
	g := &graph{scope: scope, secrets: &redact.Secrets{}}
	g.secrets.Add(config.ClientSecret)
	options := azcore.ClientOptions{
		Cloud: config.cloud(), Transport: transport(g.secrets),
		Retry:     policy.RetryOptions{MaxRetries: tries, RetryDelay: time.Second},
		Telemetry: policy.TelemetryOptions{ApplicationID: "terraform-kalypso"},
	}
	credential, err := config.credential(options, g.secrets)
	if err != nil {
		return nil, g.explain(err)
	}
	g.client, err = armresourcegraph.NewClient(credential, &arm.ClientOptions{ClientOptions: options, DisableRPRegistration: true})
	if err != nil {
		return nil, g.explain(err)
	}
	return g, nil
}

// errPage is an answer of which a page is missing: nothing may be concluded from it.
var errPage = errors.New("the answer lacks a page")

// query reads all pages of a query into rows, which have to be ordered by their IDs.
func query[T any](ctx context.Context, g *graph, text string, id func(T) string) ([]T, error) {
	var all []T
	seen := map[string]bool{}
	request := armresourcegraph.QueryRequest{
		Query: &text, Subscriptions: pointers(g.scope.Subscriptions), ManagementGroups: pointers(g.scope.ManagementGroups),
		Options: &armresourcegraph.QueryRequestOptions{
			ResultFormat: pointer(armresourcegraph.ResultFormatObjectArray), Top: pointer(int32(pageSize)),
		},
	}
	read := int64(0)
	for {
		page, quota, err := g.page(ctx, request)
		if err != nil {
			return nil, err
		}
		rows, err := rowsOf[T](page)
		if err != nil {
			return nil, err
		}
		read += int64(len(rows))
		for _, row := range rows {
			key := strings.ToLower(id(row))
			if key == "" {
				return nil, errors.New("the answer holds a row without an ID")
			}
			if !seen[key] { // between two pages a row may move to the second
				seen[key], all = true, append(all, row)
			}
		}
		switch {
		case len(all) > maxRows:
			return nil, fmt.Errorf("the answer has more than %d rows; narrow subscriptions or management_groups", maxRows)
		case page.SkipToken == nil || *page.SkipToken == "":
			return all, complete(page, read)
		case len(rows) == 0:
			return nil, fmt.Errorf("%w: an empty one says that more follow", errPage)
		}
		request.Options.SkipToken = page.SkipToken
		if err := clock.Sleep(ctx, quota); err != nil {
			return nil, err
		}
	}
}

// complete is an error where the last page does not end the answer.
func complete(page *armresourcegraph.QueryResponse, read int64) error {
	truncated := page.ResultTruncated != nil && *page.ResultTruncated == armresourcegraph.ResultTruncatedTrue
	switch {
	case truncated:
		return fmt.Errorf("%w: it is truncated, and names no next one", errPage)
	case page.TotalRecords != nil && read < *page.TotalRecords:
		return fmt.Errorf("%w: %d of %d rows came", errPage, read, *page.TotalRecords)
	}
	return nil
}

// page reads one page, and says how long to wait before the next.
func (g *graph) page(ctx context.Context, request armresourcegraph.QueryRequest) (*armresourcegraph.QueryResponse, time.Duration, error) {
	var raw *http.Response
	answer, err := g.client.Resources(policy.WithCaptureResponse(ctx, &raw), request, nil)
	if err != nil {
		return nil, 0, g.explain(err)
	}
	if at, err := http.ParseTime(raw.Header.Get("Date")); err == nil {
		g.now = at
	}
	return &answer.QueryResponse, quotaPause(raw.Header), nil
}

// quotaPause is how long to wait where the quota of requests is used up.
func quotaPause(header http.Header) time.Duration {
	if header.Get("x-ms-user-quota-remaining") != "0" {
		return 0
	}
	var hours, minutes, seconds int
	if n, err := fmt.Sscanf(header.Get("x-ms-user-quota-resets-after"), "%d:%d:%d", &hours, &minutes, &seconds); err != nil || n != 3 {
		return 5 * time.Second // the window of the quota
	}
	return time.Duration(hours)*time.Hour + time.Duration(minutes)*time.Minute + time.Duration(seconds)*time.Second
}

// rowsOf are the rows of a page.
func rowsOf[T any](page *armresourcegraph.QueryResponse) ([]T, error) {
	text, err := json.Marshal(page.Data)
	if err != nil {
		return nil, errors.New("the answer holds no rows")
	}
	var rows []T
	if err := json.Unmarshal(text, &rows); err != nil {
		return nil, errors.New("the rows of the answer are not as Azure documents them")
	}
	if page.Count != nil && int64(len(rows)) != *page.Count {
		return nil, fmt.Errorf("%w: it says that it has %d rows, and has %d", errPage, *page.Count, len(rows))
	}
	return rows, nil
}

// explain makes an error for people: without the pages of text that the SDK prints, and without secrets. Where Azure did not
// answer, it unwraps to [deployment.ErrNoAnswer].
func (g *graph) explain(err error) error {
	var answered *azcore.ResponseError
	var unauthenticated *azidentity.AuthenticationFailedError
	first, _, _ := strings.Cut(g.secrets.Redact(err.Error()), "\n")
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return deployment.ErrNoAnswer
	case errors.Is(err, errTooLarge):
		return errTooLarge
	case errors.As(err, &answered) && (answered.StatusCode == http.StatusTooManyRequests || answered.StatusCode >= 500):
		return fmt.Errorf("%w: Azure answered HTTP %d %s", deployment.ErrNoAnswer, answered.StatusCode, answered.ErrorCode)
	case errors.As(err, &answered):
		return fmt.Errorf("the answer is HTTP %d %s%s", answered.StatusCode, answered.ErrorCode, g.words(answered.RawResponse))
	case errors.As(err, &unauthenticated):
		return errors.New("the authority does not accept the credential: " + first + g.words(unauthenticated.RawResponse))
	case strings.Contains(first, "DefaultAzureCredential"):
		return errors.New("nothing says who asks Azure: set client_id with client_secret or use_oidc in azure of the provider, or log in with az login")
	}
	return fmt.Errorf("%w: %s", deployment.ErrNoAnswer, first)
}

// words are what an answer says beside its status.
func (g *graph) words(resp *http.Response) string {
	if resp == nil {
		return ""
	}
	text, err := runtime.Payload(resp)
	if err != nil {
		return ""
	}
	var said struct {
		Error            json.RawMessage `json:"error"`
		ErrorDescription string          `json:"error_description"` // of the authority
	}
	_ = json.Unmarshal(text, &said)
	var inner struct{ Message string }
	_ = json.Unmarshal(said.Error, &inner)
	message, _, _ := strings.Cut(g.secrets.Redact(cmp.Or(inner.Message, said.ErrorDescription)), "\n")
	if message == "" {
		return ""
	}
	return ": " + deployment.Clip(message)
}

// transport follows no redirect, which would take the token along, and reads no more of an answer than it may have.
func transport(secrets *redact.Secrets) *http.Client {
	return &http.Client{
		Transport:     bounded{http.DefaultTransport, secrets},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

var errTooLarge = fmt.Errorf("an answer is larger than %d MiB; narrow subscriptions or management_groups", maxAnswer>>20)

// bounded bounds the answers, and notes the tokens that it sends: a server may repeat them.
type bounded struct {
	next    http.RoundTripper
	secrets *redact.Secrets
}

func (b bounded) RoundTrip(req *http.Request) (*http.Response, error) {
	_, token, _ := strings.Cut(req.Header.Get("Authorization"), " ")
	b.secrets.Add(token)
	resp, err := b.next.RoundTrip(req)
	if err == nil {
		resp.Body = &boundedBody{resp.Body, maxAnswer}
	}
	return resp, err
}

type boundedBody struct {
	io.ReadCloser
	left int
}

func (b *boundedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= n; b.left < 0 {
		return 0, errTooLarge
	}
	return n, err
}

func pointer[T any](v T) *T { return &v }

func pointers(texts []string) []*string {
	var all []*string
	for _, text := range texts {
		all = append(all, &text)
	}
	return all
}
