package azure

import (
	"context"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/redact"
)

// devOpsScope is the scope of the tokens that Azure DevOps Services accept.
const devOpsScope = "499b84ac-1321-427f-aa17-267ca6975798/.default"

// renewBefore is the time before its end at which a token is replaced.
const renewBefore = 10 * time.Minute

// TokenSource gets tokens of Microsoft Entra for Azure DevOps, and keeps the last one. It is safe for concurrent use.
type TokenSource struct {
	config  Config
	now     func() time.Time
	secrets *redact.Secrets

	turn    chan struct{} // contains one value while no goroutine uses the fields below
	token   string
	renewAt time.Time
}

// NewTokenSource returns a source of tokens with the credential of the configuration, which must be valid. It contacts
// no server. It adds the credential and the tokens to secrets.
func NewTokenSource(config Config, now func() time.Time, secrets *redact.Secrets) *TokenSource {
	secrets.Add(config.ClientSecret)
	s := &TokenSource{config: config, now: now, secrets: secrets, turn: make(chan struct{}, 1)}
	s.turn <- struct{}{}
	return s
}

// Token returns a token. It asks for a new one ten minutes before the last one ends, and if a server refused the last
// one. An error wraps [deployment.ErrNoAnswer] if Entra did not answer.
func (s *TokenSource) Token(ctx context.Context, refused string) (string, error) {
	select {
	case <-s.turn:
		defer func() { s.turn <- struct{}{} }()
	case <-ctx.Done():
		return "", deployment.ErrNoAnswer
	}
	if s.token != "" && s.token != refused && s.now().Before(s.renewAt) {
		return s.token, nil
	}
	// A credential of the library keeps its tokens longer, so each token needs a credential of its own.
	credential, err := s.config.credential(s.config.options(s.secrets), s.secrets)
	if err != nil {
		return "", explain(err, s.secrets)
	}
	got, err := credential.GetToken(ctx, policy.TokenRequestOptions{Scopes: []string{devOpsScope}})
	switch {
	case ctx.Err() != nil: // the library's error does not show that
		return "", deployment.ErrNoAnswer
	case err != nil:
		return "", explain(err, s.secrets)
	}
	s.secrets.Add(got.Token)
	s.token, s.renewAt = got.Token, got.ExpiresOn.Add(-renewBefore)
	return s.token, nil
}
