package azure_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/azure"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/redact"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/clusters/azurefake"
)

func fakeConfig(s *azurefake.Server, secret string) azure.Config {
	return azure.Config{
		TenantID: azurefake.Tenant, ClientID: azurefake.Client, ClientSecret: secret, DisableInstanceDiscovery: true,
		Endpoint: azure.Endpoint{ActiveDirectoryAuthorityHost: s.URL},
	}
}

// TestTokenSource: a token is used until ten minutes before it expires, or until a server refuses it. Many callers at
// the same time share one request.
func TestTokenSource(t *testing.T) {
	s := azurefake.New(t)
	now := time.Now()
	secrets := &redact.Secrets{}
	tokens := azure.NewTokenSource(fakeConfig(s, azurefake.Secret), func() time.Time { return now },
		secrets)
	token := func(refused string, want int) {
		t.Helper()
		got, err := tokens.Token(t.Context(), refused)
		if err != nil || got != azurefake.DevOpsToken(want) {
			t.Fatalf("got %s, %v, want token %d", got, err, want)
		}
	}
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() { _, _ = tokens.Token(t.Context(), "") })
	}
	all.Wait()
	token("", 1)
	now = now.Add(49 * time.Minute)
	token("", 1)
	token(azurefake.DevOpsToken(1), 2)
	for range 20 { // all report the first token as refused, which is already replaced
		all.Go(func() { _, _ = tokens.Token(t.Context(), azurefake.DevOpsToken(1)) })
	}
	all.Wait()
	token("", 2)
	for range 20 {
		all.Go(func() { _, _ = tokens.Token(t.Context(), azurefake.DevOpsToken(2)) })
	}
	all.Wait()
	token("", 3)
	now = now.Add(2 * time.Minute)
	token("", 4)
	if n := s.DevOpsTokens(); n != 4 {
		t.Errorf("%d tokens were requested", n)
	}
	if got := secrets.Redact(azurefake.DevOpsToken(3) + " " + azurefake.Secret); strings.Contains(got, "canary") {
		t.Errorf("the secrets are not redacted: %s", got)
	}
}

// TestTokenErrors: a rejected credential is an error of its own. If the authority does not answer or the context ends,
// the error is [deployment.ErrNoAnswer].
func TestTokenErrors(t *testing.T) {
	s := azurefake.New(t)
	secrets := &redact.Secrets{}
	source := func(secret string) *azure.TokenSource {
		return azure.NewTokenSource(fakeConfig(s, secret), time.Now, secrets)
	}
	_, err := source("canary-wrong").Token(t.Context(), "")
	if err == nil || errors.Is(err, deployment.ErrNoAnswer) || strings.Contains(err.Error(), "canary") ||
		!strings.Contains(err.Error(), "AADSTS7000215") {
		t.Errorf("wrong secret: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := source(azurefake.Secret).Token(ctx, ""); !errors.Is(err, deployment.ErrNoAnswer) {
		t.Errorf("after the end of the context: %v", err)
	}
	s.Close()
	ctx, cancel = context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := source(azurefake.Secret).Token(ctx, ""); !errors.Is(err, deployment.ErrNoAnswer) {
		t.Errorf("server that does not answer: %v", err)
	}
}
