package registry

import (
	"bytes"
	"context"
	"errors"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/registry/remote"

	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host/httpapi"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/system/clock"
)

// PushBlob uploads a blob. If the connection breaks, or the server fails, it begins another upload: the server may have
// kept a part of the first one.
func (c *Client) PushBlob(
	ctx context.Context, to *remote.Repository, blob ocispec.Descriptor, content []byte,
) error {
	for attempt := 1; ; attempt++ {
		err := to.Blobs().Push(httpapi.Once(ctx), blob, bytes.NewReader(content))
		var failed *httpapi.Failure
		again := errors.As(err, &failed) && errors.Is(failed, githost.ErrUnavailable) && attempt < httpapi.MaxRefusals
		if !again || c.sleep(ctx, failed, attempt) != nil {
			return err
		}
	}
}

// sleep waits for the next attempt.
func (c *Client) sleep(ctx context.Context, reason error, attempt int) error {
	wait := httpapi.Backoff(attempt)
	if c.settings.OnRetry != nil {
		c.settings.OnRetry(ctx, reason, wait)
	}
	if c.settings.Clock != nil {
		return c.settings.Clock.Sleep(ctx, wait)
	}
	return clock.Sleep(ctx, wait)
}
