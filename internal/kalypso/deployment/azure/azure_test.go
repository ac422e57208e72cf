package azure_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/azure"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/clusters/azurefake"
)

const (
	sha  = "0123456789abcdef0123456789abcdef01234567"
	repo = "https://github.com/acme/gitops"
	good = "stage@sha1:" + sha
)

var rendering = deployment.Rendering{Repo: repo, Branch: "stage", Path: "fleet", Folders: []string{"large", "small"}}

// startServer starts a server, and returns it with a source that reads from it. TestMain makes this process trust the
// one certificate that all these servers have.
func startServer(t *testing.T) (*azurefake.Server, azure.Source) {
	t.Helper()
	s := azurefake.New(t)
	return s, azure.Source{
		Config: azure.Config{
			TenantID:                 azurefake.Tenant,
			ClientID:                 azurefake.Client,
			ClientSecret:             azurefake.Secret,
			DisableInstanceDiscovery: true,
			Endpoint:                 azure.Endpoint{ActiveDirectoryAuthorityHost: s.URL, ResourceManagerEndpoint: s.URL},
		},
		Scope: azure.Scope{Subscriptions: []string{"s"}, ManagementGroups: []string{"m"}},
	}
}

func TestMain(m *testing.M) {
	certificate, err := writeCA()
	if err != nil {
		panic(err)
	}
	_ = os.Setenv("SSL_CERT_FILE", certificate)
	code := m.Run()
	_ = os.Remove(certificate)
	os.Exit(code)
}

const configurations, connected = "kubernetesconfigurationresources", "resources"

// withProperties sets properties of a row, which are given as names and values in turn.
func withProperties(row map[string]any, pairs ...any) map[string]any {
	properties, _ := row["properties"].(map[string]any)
	for i := 0; i < len(pairs); i += 2 {
		properties[fmt.Sprint(pairs[i])] = pairs[i+1]
	}
	return row
}

func statuses(all ...any) []any { return all }

// TestReports reads Flux configurations in each state.
func TestReports(t *testing.T) {
	t.Parallel()
	s, source := startServer(t)
	s.Date = "Sat, 31 Jan 2026 12:02:00 GMT"
	row := func(cluster string) map[string]any {
		return azurefake.Configuration(azurefake.AKS(cluster), repo, "stage", "./fleet/large", good)
	}
	source0 := azurefake.Status("GitRepository", "fleet", "Compliant", "", "stored artifact")
	s.Set(
		configurations,
		row("compliant"),
		withProperties(
			row("other-url"),
			"gitRepository",
			map[string]any{"url": "https://GitHub.com/Acme/GitOps.git", "repositoryRef": map[string]any{"branch": "stage"}},
		),
		withProperties(
			row("over-ssh"),
			"gitRepository",
			map[string]any{"url": "ssh://git@github.com/acme/gitops/", "repositoryRef": map[string]any{"branch": "stage"}},
		),
		withProperties(row("no-statuses"), "statuses", nil),
		withProperties(row("pending"), "complianceState", "Pending", "statuses", nil),
		withProperties(row("unknown"), "complianceState", "Unknown", "statuses", nil),
		withProperties(row("non-compliant"), "complianceState", "Non-Compliant", "statuses", nil, "errorMessage",
			"no rights"),
		withProperties(row("suspended"), "suspend", true),
		withProperties(row("says-suspended"), "complianceState", "Suspended", "statuses", nil),
		withProperties(row("not-provisioned"), "provisioningState", "Failed", "errorMessage", "no extension"),
		// The fetched revision is ahead of the applied one.
		withProperties(row("fetched"), "sourceSyncedCommitId", "stage@sha1:"+strings.Repeat("a", 40)),
		withProperties(row("its-kustomization"), "complianceState", "Non-Compliant", "statuses", statuses(source0,
			azurefake.Status("Kustomization", "fleet-cluster", "Non-Compliant", "", "kustomize build failed"))),
		withProperties(row("a-child"), "complianceState", "Non-Compliant", "statuses", statuses(source0,
			azurefake.Status("Kustomization", "fleet-cluster", "Compliant", "", "Applied revision: "+good),
			azurefake.Status("Kustomization", "shop", "Compliant", "fleet-cluster", "Applied revision: main/x"),
			azurefake.Status("HelmRelease", "shop", "Non-Compliant", "shop", "install retries exhausted"))),
		withProperties(row("its-source"), "complianceState", "Non-Compliant", "statuses", statuses(
			azurefake.Status("GitRepository", "fleet", "Non-Compliant", "", "authentication required"),
			azurefake.Status("Kustomization", "fleet-cluster", "Compliant", "", "Applied revision: "+good))),
		withProperties(
			row("two-folders"),
			"complianceState",
			"Non-Compliant",
			"kustomizations",
			map[string]any{"a": map[string]any{"path": "fleet/large"}, "b": map[string]any{"path": "fleet/small/"}},
			"statuses",
			statuses(source0,
				azurefake.Status("Kustomization", "fleet-a", "Compliant", "", "Applied revision: "+good),
				azurefake.Status("Kustomization", "fleet-b", "Non-Compliant", "", "boom"),
				azurefake.Status("HelmRelease", "x", "Non-Compliant", "fleet-b", "boom too")),
		),
		azurefake.Configuration(azurefake.Cluster("arc"), repo, "stage", "./fleet/large", good),
		azurefake.Configuration(azurefake.Cluster("arc-offline"), repo, "stage", "./fleet/large", good),
		azurefake.Configuration(azurefake.Cluster("arc-gone"), repo, "stage", "./fleet/large", good),
		azurefake.Configuration(azurefake.AKS("other-branch"), repo, "prod", "./fleet/large", good),
		azurefake.Configuration(azurefake.AKS("other-repo"), repo+"-labs", "stage", "./fleet/large", good),
		azurefake.Configuration(azurefake.AKS("other-path"), repo, "stage", "./large", good),
		withProperties(
			row("a-tag"),
			"gitRepository",
			map[string]any{"url": repo, "repositoryRef": map[string]any{"branch": "stage", "tag": "v1"}},
		),
		withProperties(row("no-reference"), "gitRepository", map[string]any{"url": repo}),
		withProperties(row("a-bucket"), "gitRepository", nil),
	)
	s.Set(connected, azurefake.Connected("arc", "Connected"), azurefake.Connected("arc-offline", "Offline"))
	reports, err := source.Reports(t.Context(), rendering)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range reports {
		cluster := r.Cluster[strings.LastIndex(r.Cluster, "/")+1:]
		got = append(got, strings.TrimSpace(fmt.Sprintf("%s %s %s: %s %s", cluster, r.Folder, r.Object, r.Health, r.Message)))
		if !r.Now.Equal(time.Date(2026, 1, 31, 12, 2, 0, 0, time.UTC)) || r.Recorded ||
			r.Time.Format(time.RFC3339) != "2026-01-31T12:01:00Z" {
			t.Errorf("%s: the times are %s, %s", cluster, r.Now, r.Time)
		}
		if revision := deployment.ParseRevision(r.Revision); !r.Nested && revision.Hash != sha {
			t.Errorf("%s: revision %q", cluster, r.Revision)
		}
	}
	of := "large Kustomization fleet-cluster: "
	fetches := " large GitRepository flux-system/fleet: current"
	want := []string{
		"compliant " + of + "current",
		"compliant" + fetches,
		"other-url " + of + "current",
		"other-url" + fetches,
		"over-ssh " + of + "current",
		"over-ssh" + fetches,
		"no-statuses " + of + "current",
		"pending " + of + "progressing",
		"unknown " + of + "progressing",
		"non-compliant " + of + "failed no rights",
		"suspended " + of + "suspended",
		"suspended" + fetches,
		"says-suspended " + of + "suspended",
		"not-provisioned " + of + "failed no extension",
		"not-provisioned" + fetches,
		"fetched " + of + "current",
		"fetched" + fetches,
		"its-kustomization " + of + "failed kustomize build failed",
		"its-kustomization" + fetches,
		"a-child " + of + "current",
		"a-child" + fetches,
		"a-child large Kustomization flux-system/shop: current",
		"a-child large HelmRelease flux-system/shop: failed install retries exhausted",
		"its-source " + of + "current",
		"its-source large GitRepository flux-system/fleet: failed authentication required",
		"two-folders large Kustomization fleet-a: current",
		"two-folders" + fetches,
		"two-folders small Kustomization fleet-b: failed boom",
		"two-folders small GitRepository flux-system/fleet: current",
		"two-folders small HelmRelease flux-system/x: failed boom too",
		"arc " + of + "current",
		"arc" + fetches,
		"arc-offline " + of + "offline its connectivity is Offline",
		"arc-offline large GitRepository flux-system/fleet: offline its connectivity is Offline",
		"arc-gone " + of + "offline its connectivity is unknown: it is not among the connected clusters",
		"arc-gone large GitRepository flux-system/fleet: offline its connectivity is unknown: it is not among the " +
			"connected clusters",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("reports (-want +got):\n%s", diff)
	}
	for _, r := range reports {
		unhealthy := r.Health == deployment.Failed || r.Health == deployment.Progressing
		if unhealthy && strings.HasPrefix(r.Object, "Kustomization") && !r.Since.IsZero() {
			t.Errorf("%s %s: the time %s, which each retry renews, is returned for the deadline", r.Cluster, r.Object, r.Since)
		}
	}
	if r := reports[0]; r.Cluster != azurefake.AKS("compliant") || r.Since.Format(time.RFC3339) != "2026-01-31T12:00:30Z" {
		t.Errorf("%+v", r)
	}
}

// TestQueries: the queries use only where, project and order, and select configurations by the rendering's repo.
func TestQueries(t *testing.T) {
	t.Parallel()
	s, source := startServer(t)
	s.Set(configurations, azurefake.Configuration(azurefake.Cluster("arc"), repo, "stage", "./fleet/large", good))
	if _, err := source.Reports(t.Context(), rendering); err != nil {
		t.Fatal(err)
	}
	quoted := rendering
	quoted.Repo = `https://github.com/acme/it's\odd.git`
	if _, err := source.Reports(t.Context(), quoted); err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, q := range s.Queries() {
		texts = append(texts, q.Query)
		if diff := cmp.Diff(
			[]string{"s", "m", "objectArray"},
			[]string{q.Subscriptions[0], q.ManagementGroups[0], q.Options.ResultFormat},
		); diff != "" ||
			q.Options.Top != 1000 {
			t.Errorf("(-want +got):\n%s\n%+v", diff, q)
		}
	}
	if diff := cmp.Diff([]string{
		"kubernetesconfigurationresources\n| where type == 'microsoft.kubernetesconfiguration/fluxconfigurations'\n" +
			"| where properties.gitRepository.url contains 'acme/gitops'\n| project id, properties\n| order by id asc",
		"resources\n| where type == 'microsoft.kubernetes/connectedclusters'\n| project id, connectivityStatus = " +
			"properties.connectivityStatus\n| order by id asc",
		"kubernetesconfigurationresources\n| where type == 'microsoft.kubernetesconfiguration/fluxconfigurations'\n" +
			`| where properties.gitRepository.url contains 'acme/it\'s\\odd'` + "\n| project id, properties\n| order by id asc",
	}, texts); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestAzureRepos: clusters that follow a repo in Azure Repos are found whichever of the repo's URLs they use.
func TestAzureRepos(t *testing.T) {
	t.Parallel()
	s, source := startServer(t)
	of := rendering
	of.Repo = "https://dev.azure.com/acme/My%20Project/_git/GitOps"
	urls := []string{
		of.Repo, "https://acme.visualstudio.com/DefaultCollection/My%20Project/_git/gitops",
		"git@ssh.dev.azure.com:v3/acme/My%20Project/gitops", "ssh://git@ssh.dev.azure.com/v3/acme/My%20Project/GitOps",
	}
	var rows []any
	for i, url := range append(urls, "https://dev.azure.com.evil.io/acme/My%20Project/_git/GitOps") {
		rows = append(rows, azurefake.Configuration(azurefake.AKS(fmt.Sprint(i)), url, "stage", "./fleet/large", good))
	}
	s.Set(configurations, rows...)
	reports, err := source.Reports(t.Context(), of)
	clusters := map[string]bool{}
	for _, r := range reports {
		clusters[r.Cluster] = true
	}
	if err != nil || len(clusters) != len(urls) {
		t.Errorf("reports of %v, %v", clusters, err)
	}
	for _, url := range urls {
		_, text, _ := strings.Cut(s.Queries()[0].Query, "contains '")
		text, _, _ = strings.Cut(text, "'")
		if text == "" || !strings.Contains(strings.ToLower(url), strings.ToLower(text)) {
			t.Errorf("the query does not find %s: it asks for %q", url, text)
		}
	}
}

// TestPages reads all pages of 5,000 configurations, although the server throttles, its quota is used up, and it fails
// for a short time.
func TestPages(t *testing.T) {
	t.Parallel()
	s, source := startServer(t)
	var rows []any
	for i := range 5000 {
		rows = append(
			rows,
			azurefake.Configuration(
				azurefake.AKS(fmt.Sprintf("c%04d", i)),
				repo,
				"stage",
				fmt.Sprintf("./fleet/ct%03d", i%200),
				good,
			),
		)
	}
	s.Set(configurations, rows...)
	pass := func(http.ResponseWriter, *http.Request) {}
	s.Instead(azurefake.Throttled(1), pass, azurefake.UsedUp(1), azurefake.Error(http.StatusBadGateway, "BadGateway", "x"))
	begin := time.Now()
	reports, err := source.Reports(t.Context(), rendering)
	if err != nil || len(reports) != 2*5000 {
		t.Fatalf("%d reports, %v", len(reports), err)
	}
	if took := time.Since(begin); took < 2*time.Second {
		t.Errorf("after %s: the source did not wait as long as the server asked", took)
	}
	if n := len(s.Queries()); n != 7 {
		t.Errorf("%d requests", n)
	}
}

// TestQuota: if the quota is used up, the next page is only requested when the quota is renewed.
func TestQuota(t *testing.T) {
	t.Parallel()
	s, source := startServer(t)
	s.PageSize = 1
	s.Set(configurations, azurefake.Configuration(azurefake.AKS("a"), repo, "stage", "./fleet/large", good),
		azurefake.Configuration(azurefake.AKS("b"), repo, "stage", "./fleet/large", good))
	s.Instead(azurefake.UsedUp(2))
	begin := time.Now()
	if _, err := source.Reports(t.Context(), rendering); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begin); took < 2*time.Second {
		t.Errorf("the second page was requested after %s", took)
	}
}

// TestRowOnTwoPages: while pages are read, a row may move to the next page. It is returned once.
func TestRowOnTwoPages(t *testing.T) {
	t.Parallel()
	s, source := startServer(t)
	page := func(token string, names ...string) http.HandlerFunc {
		var rows []any
		for _, name := range names {
			rows = append(rows, azurefake.Configuration(azurefake.AKS(name), repo, "stage", "./fleet/large", good))
		}
		answer := map[string]any{
			"totalRecords": 3, "count": len(rows), "data": rows, "facets": []any{}, "resultTruncated": "false",
		}
		if token != "" {
			answer["$skipToken"] = token
		}
		return azurefake.Page(answer)
	}
	s.Instead(page("x", "a", "b"), page("", "B", "c"))
	reports, err := source.Reports(t.Context(), rendering)
	var clusters []string
	for _, r := range reports {
		if strings.HasPrefix(r.Object, "Kustomization") {
			clusters = append(clusters, r.Cluster)
		}
	}
	want := []string{azurefake.AKS("a"), azurefake.AKS("b"), azurefake.AKS("c")}
	if diff := cmp.Diff(want, clusters); err != nil || diff != "" {
		t.Errorf("(-want +got):\n%s\n%v", diff, err)
	}
}

// TestErrors: an incomplete or malformed answer is an error that says what to fix. If Azure does not answer, the error
// is [deployment.ErrNoAnswer]. No error contains a secret.
func TestErrors(t *testing.T) {
	t.Parallel()
	one := azurefake.Configuration(azurefake.AKS("a"), repo, "stage", "./fleet/large", good)
	page := func(pairs ...any) http.HandlerFunc {
		p := map[string]any{"totalRecords": 1, "count": 1, "data": []any{one}, "facets": []any{}, "resultTruncated": "false"}
		for i := 0; i < len(pairs); i += 2 {
			p[fmt.Sprint(pairs[i])] = pairs[i+1]
		}
		return azurefake.Page(p)
	}
	broken := azurefake.Error(http.StatusInternalServerError, "InternalServerError", "x")
	for name, test := range map[string]struct {
		instead []http.HandlerFunc
		config  func(*azure.Config)
		within  time.Duration
		want    string
		silent  bool // the error is ErrNoAnswer
	}{
		"truncated answer": {instead: []http.HandlerFunc{page("resultTruncated", "true")},
			want: "the answer is incomplete: it is truncated"},
		"missing rows": {instead: []http.HandlerFunc{page("totalRecords", 3)},
			want: "the answer is incomplete: it contains 1 of 3 rows"},
		"page with fewer rows than it announces": {instead: []http.HandlerFunc{page("count", 2)},
			want: "the answer is incomplete: a page announces 2 rows and contains 1"},
		"expired token of a page": {instead: []http.HandlerFunc{page("$skipToken", "x", "totalRecords", 2),
			azurefake.Error(400, "BadRequest", "the token expired")}, want: "HTTP 400 BadRequest: the token expired"},
		"empty page": {instead: []http.HandlerFunc{page("$skipToken", "x", "totalRecords", 2),
			page("data", []any{}, "count", 0, "$skipToken", "y")}, want: "the answer is incomplete: an empty page"},
		"text instead of rows": {instead: []http.HandlerFunc{page("data", "none")}, want: "the format that Azure documents"},
		"row without an ID": {instead: []http.HandlerFunc{page("data", []any{map[string]any{}})},
			want: "a row without an ID"},
		"missing rights": {instead: []http.HandlerFunc{azurefake.Error(403, "AuthorizationFailed",
			"The client does not have authorization")},
			want: "HTTP 403 AuthorizationFailed: The client does not have authorization"},
		"wrong secret": {config: func(c *azure.Config) { c.ClientSecret = "canary-wrong" },
			want: "rejects the credential"},
		"server down until the deadline": {instead: slices.Repeat([]http.HandlerFunc{broken}, 11),
			within: 2 * time.Second, want: "no answer in time", silent: true},
		"throttled until the deadline": {instead: []http.HandlerFunc{azurefake.Throttled(50)}, within: time.Second,
			want: "no answer in time", silent: true},
		"server down until the last attempt": {
			instead: slices.Repeat([]http.HandlerFunc{retrySoon(http.StatusBadGateway)}, 6),
			want:    "HTTP 502 Busy", silent: true},
		"throttled until the last attempt": {
			instead: slices.Repeat([]http.HandlerFunc{retrySoon(http.StatusTooManyRequests)}, 6),
			want:    "HTTP 429 Busy", silent: true},
		"unreachable server": {config: func(c *azure.Config) { c.Endpoint.ResourceManagerEndpoint = "https://127.0.0.1:9" },
			within: 2 * time.Second, want: "no answer in time", silent: true},
		"redirect": {instead: []http.HandlerFunc{func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://127.0.0.1:9", http.StatusFound)
		}}, want: "HTTP 302"},
		"answer with the token": {instead: []http.HandlerFunc{func(w http.ResponseWriter, r *http.Request) {
			azurefake.Error(400, "BadRequest", "you sent "+r.Header.Get("Authorization"))(w, r)
		}}, want: "you sent Bearer (secret)"},
		"answer of 100 MB": {instead: []http.HandlerFunc{huge, huge, huge, huge, huge, huge},
			want: "a response is larger than 64 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, source := startServer(t)
			s.Set(configurations, one)
			s.Instead(test.instead...)
			if test.config != nil {
				test.config(&source.Config)
			}
			ctx := t.Context()
			if test.within > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, test.within)
				defer cancel()
			}
			reports, err := source.Reports(ctx, rendering)
			if err == nil || reports != nil || !strings.Contains(err.Error(), test.want) ||
				errors.Is(err, deployment.ErrNoAnswer) != test.silent {
				t.Errorf("%d reports, silent %v: %v", len(reports), errors.Is(err, deployment.ErrNoAnswer), err)
			}
			if err != nil && strings.Contains(err.Error(), "canary") {
				t.Errorf("the error contains a secret: %v", err)
			}
		})
	}
}

// retrySoon returns a handler that answers with an error and allows another attempt at once.
func retrySoon(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After-Ms", "1")
		azurefake.Error(code, "Busy", "x")(w, r)
	}
}

// huge answers with 100 MB.
func huge(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	part := []byte(strings.Repeat(" ", 1<<20))
	for range 100 {
		if _, err := w.Write(part); err != nil {
			return
		}
	}
}

// TestOIDC: with use_oidc, the source authenticates to Azure with the token of a pipeline. The token comes from a file,
// an environment variable or GitHub Actions.
func TestOIDC(t *testing.T) {
	s, source := startServer(t)
	source.Config.ClientSecret, source.Config.UseOIDC = "", true
	s.Set(configurations)
	if _, err := source.Reports(
		t.Context(),
		rendering,
	); err == nil ||
		!strings.Contains(err.Error(), "use_oidc finds no token") {
		t.Errorf("without a token: %v", err)
	}
	file := t.TempDir() + "/token"
	if err := os.WriteFile(file, []byte("canary-assertion\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"AZURE_FEDERATED_TOKEN_FILE": file, "ARM_OIDC_TOKEN": "canary-assertion"} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, value)
			if _, err := source.Reports(t.Context(), rendering); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("refused token", func(t *testing.T) {
		t.Setenv("ARM_OIDC_TOKEN", "canary-refused")
		_, err := source.Reports(t.Context(), rendering)
		if err == nil || !strings.Contains(err.Error(), "Invalid client secret provided: (secret)") ||
			strings.Contains(err.Error(), "canary") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("GitHub Actions", func(t *testing.T) {
		actions := newActions(t)
		t.Setenv("ACTIONS_ID_TOKEN_REQUEST_URL", actions+"/token?api-version=1")
		t.Setenv("ACTIONS_ID_TOKEN_REQUEST_TOKEN", "canary-request")
		if _, err := source.Reports(t.Context(), rendering); err != nil {
			t.Error(err)
		}
		t.Setenv("ACTIONS_ID_TOKEN_REQUEST_TOKEN", "canary-other")
		if _, err := source.Reports(
			t.Context(),
			rendering,
		); err == nil || !strings.Contains(err.Error(), "id-token: write") ||
			strings.Contains(err.Error(), "canary") {
			t.Errorf("refused request for a token: %v", err)
		}
	})
}

// TestCheck: Check reports conflicting settings without a request to a server.
func TestCheck(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]azure.Config{
		"":                                   {},
		"one of public, usgovernment, china": {Environment: "moon"},
		"both client_secret and use_oidc":    {TenantID: "t", ClientID: "c", ClientSecret: "canary", UseOIDC: true},
		"need tenant_id and client_id":       {ClientSecret: "canary"},
		"client_id needs client_secret":      {ClientID: "c"},
		"endpoint is not an https URL":       {Endpoint: azure.Endpoint{ResourceManagerEndpoint: "http://x"}},
		"active_directory_authority_host is": {Endpoint: azure.Endpoint{ActiveDirectoryAuthorityHost: "https://u:p@x"}},
	} {
		err := c.Check()
		if (err == nil) != (want == "") ||
			err != nil && (!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "canary")) {
			t.Errorf("%q: %v", want, err)
		}
	}
}

// TestAppliedRevisions: if versions are asked for, the reports contain the revisions that the objects in the folder
// applied.
func TestAppliedRevisions(t *testing.T) {
	t.Parallel()
	s, source := startServer(t)
	s.Set(configurations, withProperties(
		azurefake.Configuration(azurefake.AKS("a"), repo, "stage", "./fleet/large", good),
		"statuses", statuses(
			azurefake.Status("Kustomization", "fleet-cluster", "Compliant", "", "Applied revision: "+good),
			azurefake.Status("GitRepository", "shop", "Compliant", "fleet-cluster", "stored artifact for revision 'x'"),
			azurefake.Status("Kustomization", "shop", "Compliant", "fleet-cluster", "Applied revision: main@sha1:x"),
			azurefake.Status("Kustomization", "bill", "Non-Compliant", "fleet-cluster", "kustomize build failed"),
			azurefake.Status("HelmRelease", "web", "Compliant", "fleet-cluster",
				"Helm upgrade succeeded for release apps/web.v2 with chart web@1.2.3"),
			azurefake.Status("HelmRelease", "broken", "Non-Compliant", "fleet-cluster",
				"Helm install failed for release apps/web.v2 with chart web@1.2.3: boom"))))
	for _, versions := range []bool{false, true} {
		of := rendering
		of.Versions = versions
		reports, err := source.Reports(t.Context(), of)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for _, r := range reports {
			if _, name, _ := strings.Cut(r.Object, "/"); r.Nested && r.Revision != "" {
				got[name] = r.Revision
			}
		}
		want := map[string]string{}
		if versions {
			want = map[string]string{"shop": "main@sha1:x", "web": "1.2.3"}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("versions %t (-want +got):\n%s", versions, diff)
		}
	}
}
