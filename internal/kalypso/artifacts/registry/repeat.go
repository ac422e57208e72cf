package registry

import (
	"context"
	"errors"
	"slices"

	"oras.land/oras-go/v2/registry/remote/errcode"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/httpapi"
)

// attempts bounds the attempts of [Client.Repeat]: they take a minute and a half.
const attempts = 8

// Repeat calls upload again after a temporary failure. An upload has several requests, and can't go on in the middle:
// the server may have kept a part of what it received. So no request in it is repeated by itself.
func (c *Client) Repeat(ctx context.Context, upload func(ctx context.Context) error) error {
	for attempt := 1; ; attempt++ {
		err := upload(httpapi.Once(ctx))
		if !temporary(err) || attempt == attempts {
			return err
		}
		wait := httpapi.Backoff(attempt)
		if c.access.OnRetry != nil {
			c.access.OnRetry(ctx, c.access.Secrets.Error(err), wait)
		}
		if c.access.Clock.Sleep(ctx, wait) != nil {
			return err
		}
	}
}

// temporary reports whether an upload may succeed later. A registry may not find a blob that it has just received, if
// other uploads of the same blob end at that moment.
func temporary(err error) bool {
	var answer *errcode.ErrorResponse
	return errors.Is(err, githost.ErrUnavailable) ||
		errors.As(err, &answer) && slices.ContainsFunc(answer.Errors, func(e errcode.Error) bool {
			return e.Code == errcode.ErrorCodeManifestBlobUnknown || e.Code == errcode.ErrorCodeBlobUnknown
		})
}
