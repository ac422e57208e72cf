package github

import (
	"context"
	"crypto/rsa"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/go-github/v53/github"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/httpapi"
)

// App is a GitHub App with its installation.
type App struct {
	ID             string // or its client ID
	InstallationID string
	PrivateKey     string // PEM, PKCS #1 or PKCS #8
}

const (
	// The app's own token is dated one minute back, since clocks may differ. It is valid for less than GitHub's maximum of
	// ten minutes.
	issuedBefore = time.Minute
	validFor     = 9 * time.Minute
	// An installation token is renewed this long before it expires, so that it stays valid for a whole push.
	renewBefore = 10 * time.Minute
)

// installation issues tokens of an app's installation.
type installation struct {
	id     int64
	server *httpapi.API
	api    *github.Client // authenticates as the app

	mu     sync.Mutex
	tokens map[scope]installationToken
}

type installationToken struct {
	value   string
	expires time.Time
}

func newInstallation(app App, server *httpapi.API, rest *url.URL) (*installation, error) {
	id, err := strconv.ParseInt(app.InstallationID, 10, 64)
	if err != nil {
		return nil, errors.New("the installation ID of the GitHub App is not a number")
	}
	key, err := jwt.ParseRSAPrivateKeyFromPEM([]byte(app.PrivateKey))
	if err != nil {
		return nil, errors.New("the private key of the GitHub App is not an RSA key in PEM format without a passphrase, " +
			"as GitHub issues it")
	}
	auth := httpapi.Authorization{Set: httpapi.Bearer, Credential: func(context.Context) (string, error) {
		token, err := sign(app.ID, key, server.Clock.Now())
		server.Secrets.Add(token)
		return token, err
	}}
	tokens := map[scope]installationToken{}
	return &installation{id: id, server: server, tokens: tokens, api: restClient(server, rest, auth)}, nil
}

// get returns a token for the scope of the request, valid for at least [renewBefore].
func (i *installation) get(ctx context.Context) (string, error) {
	of := scopeOf(ctx)
	i.mu.Lock()
	defer i.mu.Unlock()
	if t := i.tokens[of]; t.value != "" && i.server.Clock.Now().Add(renewBefore).Before(t.expires) {
		return t.value, nil
	}
	var given github.InstallationToken
	req, err := i.api.NewRequest(http.MethodPost, fmt.Sprintf("app/installations/%d/access_tokens", i.id), of.request())
	if err == nil {
		_, err = i.api.Do(ctx, req, &given)
	}
	if err != nil {
		op := fmt.Sprintf("get a token for installation %d of the GitHub App with %s", i.id, of)
		return "", i.server.Error(op, err)
	}
	i.server.Secrets.Add(given.GetToken())
	i.tokens[of] = installationToken{given.GetToken(), given.GetExpiresAt().Time}
	return given.GetToken(), nil
}

// forget drops a token that GitHub rejected.
func (i *installation) forget(token string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	maps.DeleteFunc(i.tokens, func(_ scope, t installationToken) bool { return t.value == token })
}

// sign returns the JSON Web Token that authenticates the app.
func sign(id string, key *rsa.PrivateKey, now time.Time) (string, error) {
	token, err := jwt.NewWithClaims(jwt.SigningMethodRS256, jwt.RegisteredClaims{
		Issuer: id, IssuedAt: jwt.NewNumericDate(now.Add(-issuedBefore)), ExpiresAt: jwt.NewNumericDate(now.Add(validFor)),
	}).SignedString(key)
	if err != nil {
		return "", &githost.Error{Op: "sign as the GitHub App", Kind: githost.ErrUnauthenticated, Cause: err}
	}
	return token, nil
}
